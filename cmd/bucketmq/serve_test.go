package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

func TestServeProduceConsume(t *testing.T) {
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	succeed(t, server.URL, "", "topic", "create", "orders", "--queues", "2", "--attribute", "team=shop, eu")
	succeed(t, server.URL, "first\nsecond\r\n\ngrüße", "produce", "orders", "--tag", "paid", "--ordering-key", "k", "--property", "source=a=b")
	succeed(t, server.URL, "\x00\xff\n", "produce", "orders", "--whole", "--queue", "1", "--tag", "raw")

	if got, want := succeed(t, server.URL, "", "consume", "orders", "--tags", "paid"), "first\nsecond\r\n\ngrüße\n"; got != want {
		t.Errorf("consume --tags paid: got %q, want %q", got, want)
	}
	if got, want := succeed(t, server.URL, "", "consume", "orders", "--tags", "raw"), "\x00\xff\n\n"; got != want {
		t.Errorf("consume --tags raw: got %q, want %q", got, want)
	}
	line, _, _ := strings.Cut(succeed(t, server.URL, "", "consume", "orders", "--json", "--limit", "1"), "\n")
	first := decode[client.Stored](t, line)
	if *first.Body != "first" || first.Tag != "paid" || first.Properties["source"] != "a=b" || first.OrderingKey != "k" || first.MessageID == "" {
		t.Errorf("first message: %s", line)
	}
	second := succeed(t, server.URL, "", "consume", "orders", "--queue", fmt.Sprint(first.Queue), "--from", fmt.Sprint(first.Offset+1), "--limit", "1")
	if second != "second\r\n" {
		t.Errorf("from the offset after the first: %q", second)
	}
	if got := succeed(t, server.URL, "", "consume", "orders", "--from", "latest"); got != "" {
		t.Errorf("from latest: %q", got)
	}
	if got := succeed(t, server.URL, "", "consume", "orders", "--from", "1h", "--meta", "--tags", "paid"); strings.Count(got, "\tpaid\t") != 4 {
		t.Errorf("from an hour ago, with --meta: %q", got)
	}
}

func TestTopicCommands(t *testing.T) {
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	created := decode[client.Topic](t, succeed(t, server.URL, "", "topic", "create", "orders", "--queues", "3", "--retention", "1h", "--json"))
	if created.Queues != 3 || created.RetentionMS != 3600_000 || created.ETag == "" {
		t.Errorf("created: %+v", created)
	}
	if o := command(t, []string{"BUCKETMQ_URL=" + server.URL}, "", "topic", "create", "orders"); o.code != exitFailure {
		t.Errorf("creating it again: exit code %d, %s", o.code, o.stderr)
	}
	succeed(t, server.URL, "", "topic", "create", "orders", "--if-not-exists")
	if got := succeed(t, server.URL, "", "topic", "update", "orders", "--queues", "4", "--if-match", created.ETag); !strings.Contains(got, "4 queues, kept 1h") {
		t.Errorf("update: %q", got)
	}
	if o := command(t, []string{"BUCKETMQ_URL=" + server.URL}, "", "topic", "update", "orders", "--queues", "5", "--if-match", created.ETag); o.code != exitFailure {
		t.Errorf("update of an old version: exit code %d", o.code)
	}
	if got := succeed(t, server.URL, "", "topic", "list"); !strings.Contains(got, "NAME") || !strings.Contains(got, "orders") {
		t.Errorf("list: %q", got)
	}
	if got := succeed(t, server.URL, "", "topic", "describe", "orders"); strings.Count(got, "\n3  ") != 1 || !strings.Contains(got, "QUEUE") {
		t.Errorf("describe: %q", got)
	}
	if o := command(t, []string{"BUCKETMQ_URL=" + server.URL}, "", "topic", "delete", "orders"); o.code != exitUsage {
		t.Errorf("delete without --yes and nobody to ask: exit code %d", o.code)
	}
	succeed(t, server.URL, "", "topic", "delete", "orders", "--yes")
	o := command(t, []string{"BUCKETMQ_URL=" + server.URL}, "x\n", "produce", "orders")
	if o.code != exitFailure || !strings.Contains(o.stderr, "(topic_not_found, request ") || !strings.Contains(o.stderr, "topic create") {
		t.Errorf("produce to a deleted topic: exit code %d, %s", o.code, o.stderr)
	}
}

func TestConsumeFollowPrintsWhatComesAndOutlivesARestart(t *testing.T) {
	data := t.TempDir()
	address := freeAddress(t)
	server := startFixed(t, data, address)
	succeed(t, server.URL, "", "topic", "create", "orders", "--queues", "2")
	succeed(t, server.URL, "old\n", "produce", "orders")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	env := &environment{ctx: ctx, stdin: strings.NewReader(""), stdout: write, stderr: io.Discard}
	ended := make(chan int, 1)
	go func() {
		ended <- run(env, []string{"consume", "orders", "--follow", "--url", server.URL})
		write.Close()
	}()
	lines := newLines(read)
	lines.expect(t, "old")
	succeed(t, server.URL, "new\n", "produce", "orders")
	lines.expect(t, "new")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	server = startFixed(t, data, address)
	succeed(t, server.URL, "after\n", "produce", "orders")
	lines.expect(t, "after")
	cancel()
	if code := <-ended; code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
}

func TestVariablesSetEveryFlag(t *testing.T) {
	data := filepath.Join(t.TempDir(), "here")
	env := []string{"BUCKETMQ_DATA=" + data, "BUCKETMQ_LINGER=3ms", "BUCKETMQ_BUFFER_BYTES=1MiB", "BUCKETMQ_LOG_LEVEL=debug"}
	server := startServer(t, env, "serve")
	if _, err := os.Stat(data); err != nil {
		t.Errorf("BUCKETMQ_DATA was not used: %v", err)
	}
	succeed(t, server.URL, "", "topic", "create", "t")
	// Above the buffer of BUCKETMQ_BUFFER_BYTES nothing can ever be stored.
	o := command(t, []string{"BUCKETMQ_URL=" + server.URL}, strings.Repeat("x", 2<<20), "produce", "t", "--whole", "--retry-for", "0s")
	if o.code != exitFailure {
		t.Errorf("2 MiB into a buffer of 1 MiB: exit code %d, %s", o.code, o.stderr)
	}
}

func TestManagementListener(t *testing.T) {
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/debug/pprof/cmdline": 200, "/v1/info": 404} {
		if got := status(t, server.Management+path); got != want {
			t.Errorf("management %s: got %d, want %d", path, got, want)
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/", "/readyz"} {
		if got := status(t, server.URL+path); got != 404 {
			t.Errorf("public %s: got %d, want 404", path, got)
		}
	}
}

func TestStopAnswersParkedPolls(t *testing.T) {
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	succeed(t, server.URL, "", "topic", "create", "t", "--queues", "1")
	const polls = 20
	statuses := make(chan int, polls)
	for range polls {
		go func() {
			resp, err := http.Get(server.URL + "/v1/topics/t/queues/0/messages?offset=0&wait_ms=30000")
			if err != nil {
				statuses <- 0
				return
			}
			resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	waitFor(t, "the polls to park", func() bool {
		return strings.Contains(metrics(t, server), fmt.Sprintf("bucketmq_read_waiting %d", polls))
	})
	began := time.Now()
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the stop took %v", took)
	}
	for range polls {
		if got := <-statuses; got != 200 && got != 503 {
			t.Errorf("a parked poll got %d, want an answer", got)
		}
	}
}

func TestKilledServerLosesNothingAcknowledged(t *testing.T) {
	data := t.TempDir()
	type place struct {
		queue, offset int64
	}
	acknowledged := map[string]place{}
	var mu sync.Mutex
	for round := range 10 {
		server := startServer(t, nil, "serve", "--data", data)
		if round == 0 {
			succeed(t, server.URL, "", "topic", "create", "t", "--queues", "3")
		}
		var producers sync.WaitGroup
		target := 40 + 25*round // acknowledgements after which the server dies
		enough := make(chan struct{})
		var once sync.Once
		count := 0
		for p := range 4 {
			producers.Go(func() {
				cl := clientOf(t, server.URL)
				for n := 0; ; n++ {
					body := fmt.Sprintf("%d-%d-%d", round, p, n)
					m := client.Message{}
					m.SetBody([]byte(body))
					result, err := cl.Send(t.Context(), "t", []client.Message{m}, "")
					if err != nil {
						return // killed
					}
					mu.Lock()
					acknowledged[body] = place{result.Results[0].Queue, result.Results[0].Offset}
					if count++; count == target {
						once.Do(func() { close(enough) })
					}
					mu.Unlock()
				}
			})
		}
		select {
		case <-enough:
		case <-time.After(30 * time.Second):
			t.Fatal("the producers got nowhere")
		}
		server.Kill()
		producers.Wait()
	}

	server := startServer(t, nil, "serve", "--data", data)
	found := map[string]place{}
	for line := range strings.Lines(succeed(t, server.URL, "", "consume", "t", "--json")) {
		m := decode[client.Stored](t, line)
		if _, twice := found[*m.Body]; twice {
			t.Errorf("%s is stored twice", *m.Body)
		}
		found[*m.Body] = place{m.Queue, m.Offset}
	}
	for body, want := range acknowledged {
		if got, ok := found[body]; !ok {
			t.Errorf("%s was acknowledged and is lost", body)
		} else if got != want {
			t.Errorf("%s was acknowledged at %v and is at %v", body, want, got)
		}
	}
	if len(acknowledged) < 1000 {
		t.Errorf("only %d messages were acknowledged", len(acknowledged))
	}
	server.Kill()
	if o := command(t, nil, "", "fsck", "--data", data); o.code != 0 || !strings.Contains(o.stdout, "no faults") {
		t.Errorf("fsck: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

func TestFsckFindsAFlippedByte(t *testing.T) {
	data := t.TempDir()
	server := startServer(t, nil, "serve", "--data", data)
	succeed(t, server.URL, "", "topic", "create", "t", "--queues", "1")
	succeed(t, server.URL, "precious\n", "produce", "t")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	flipped := 0
	err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		at := strings.Index(string(content), "precious")
		if at < 0 {
			return nil
		}
		flipped++
		content[at] ^= 1
		return os.WriteFile(path, content, 0o600)
	})
	if err != nil || flipped != 1 {
		t.Fatalf("flipped a byte in %d files: %v", flipped, err)
	}
	o := command(t, nil, "", "fsck", "--data", data, "--json")
	report := decode[struct {
		DamagedBlocks int `json:"damaged_blocks"`
		Faults        []json.RawMessage
	}](t, o.stdout)
	if o.code != exitFailure || report.DamagedBlocks != 1 || len(report.Faults) == 0 {
		t.Errorf("exit code %d, %s", o.code, o.stdout)
	}
	if o := command(t, nil, "", "fsck", "--data", data+"/nowhere"); o.code != exitFailure {
		t.Errorf("a directory that is not there: exit code %d", o.code)
	}
}
