package main

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

func TestBenchPrintsOneLine(t *testing.T) {
	for _, args := range [][]string{
		{"produce", "--mode", "json"}, {"produce", "--mode", "framed"}, {"produce", "--mode", "single"},
		{"read", "--mode", "json"}, {"read", "--mode", "framed"},
		{"tail", "--via", "poll"}, {"tail", "--via", "sse"}, {"tail", "--via", "ws"}, {"e2e"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args = append([]string{"bench"}, args...)
			o := command(t, nil, "", append(args, "--duration", "400ms", "--connections", "4", "--batch", "10")...)
			if o.code != 0 || strings.Count(o.stdout, "\n") != 1 {
				t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			r := decode[bench.Result](t, o.stdout)
			if r.Messages == 0 || r.Errors != 0 || r.LatencyMS == nil || r.LatencyMS.P50 <= 0 ||
				r.AllocationsPerMessage == nil || r.StorePuts == nil || r.CPUMicrosPerMessage == nil {
				t.Errorf("result: %s", o.stdout)
			}
		})
	}
}

func TestEveryGoalIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute; the full run has it")
	}
	t.Chdir("../..") // .bin is where make puts the servers
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	// A goal without a measurement is an error of the run.
	goals, err := bench.Goals(ctx, bench.GoalsOptions{Binary: binary, Rounds: 1, Step: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, g := range goals {
		rows[g.Row] = true
		if (g.Note == "") == (len(g.Rounds) == 0) {
			t.Errorf("%s has %d samples, note %q", g.Figure, len(g.Rounds), g.Note)
		}
		if g.Median < 0 && !strings.Contains(g.Figure, "above") && !strings.Contains(g.Figure, "resident") && !strings.Contains(g.Figure, "further") { // those are differences
			t.Errorf("%s is %v", g.Figure, g.Median)
		}
	}
	for row := 1; row <= 17; row++ {
		if !rows[strconv.Itoa(row)] {
			t.Errorf("row %d has no figure", row)
		}
	}
}

func TestBenchMeasuresAGatewayOnRedisAndABucket(t *testing.T) {
	redis, s3 := redistest.New(t), s3test.New(t)
	o := command(t, []string{"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey}, "",
		"bench", "produce", "--redis", "redis://"+redis.Addr(), "--s3-endpoint", s3.Endpoint, "--s3-bucket", s3.Bucket,
		"--duration", "600ms", "--connections", "8", "--batch", "20")
	if o.code != 0 || strings.Count(o.stdout, "\n") != 1 {
		t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	fields := decode[map[string]any](t, o.stdout)
	for _, name := range []string{
		"store_puts", "store_gets", "store_lists", "redis_bytes_per_message",
		"allocations_per_message", "allocated_bytes_per_message", "cpu_us_per_message", "resident_mib",
	} {
		if _, number := fields[name].(float64); !number {
			t.Errorf("%s is %v, want a number", name, fields[name])
		}
	}
	r := decode[bench.Result](t, o.stdout)
	if r.Errors != 0 || r.Messages < 20 || r.Messages != 20*r.Requests {
		t.Errorf("%d messages in %d requests, %d errors: %s", r.Messages, r.Requests, r.Errors, r.FirstError)
	}
	if l := r.LatencyMS; l == nil || l.P50 <= 0 || l.P99 < l.P50 || l.P999 < l.P99 {
		t.Errorf("latency %+v", l)
	}
	if *r.StorePuts < 1 || *r.StorePuts > r.Requests {
		t.Errorf("%d PUTs for %d requests", *r.StorePuts, r.Requests)
	}
	if *r.AllocationsPerMessage <= 0 || *r.CPUMicrosPerMessage <= 0 {
		t.Errorf("%v allocations and %v µs a message", *r.AllocationsPerMessage, *r.CPUMicrosPerMessage)
	}
}
