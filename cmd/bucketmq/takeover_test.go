package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// commitStall forwards connections to Redis. Once armed it holds every script
// that a client calls, and what that client says after it, for ever.
type commitStall struct {
	net.Listener
	armed, held atomic.Bool
	open        sync.WaitGroup
}

func newCommitStall(t *testing.T, redis string) *commitStall {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &commitStall{Listener: l}
	ctx, cancel := context.WithCancel(context.Background())
	s.open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			s.open.Go(func() { s.forward(ctx, client, redis) })
		}
	})
	t.Cleanup(func() {
		cancel()
		l.Close()
		s.open.Wait()
	})
	return s
}

// forward serves one connection until either side ends it, or ctx.
func (s *commitStall) forward(ctx context.Context, client net.Conn, redis string) {
	defer client.Close()
	server, err := net.Dial("tcp", redis)
	if err != nil {
		return
	}
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stop()
	s.open.Go(func() {
		_, _ = io.Copy(client, server) // ends with the connection
		client.Close()
	})
	holding := false
	for part := make([]byte, 64<<10); ; {
		n, err := client.Read(part)
		if err != nil {
			return
		}
		if s.armed.Load() && bytes.Contains(bytes.ToLower(part[:n]), []byte("evalsha")) {
			holding = true
			s.held.Store(true)
		}
		if holding {
			continue
		}
		if _, err := server.Write(part[:n]); err != nil {
			return
		}
	}
}

func segments(t *testing.T, bucket objstore.Store) (n int) {
	t.Helper()
	for _, err := range bucket.List(t.Context(), "log/", "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// A gateway is killed when its segment is in the bucket and Redis has not
// heard of it: the coordinator commits it, once, and nobody sends it again.
func TestGatewayKilledBeforeItsCommitLosesNothing(t *testing.T) {
	redis, s3 := redistest.New(t), s3test.New(t)
	bucket, err := objstore.OpenS3(t.Context(), s3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bucket.Close() })
	env := func(redis string) []string {
		return []string{
			"BUCKETMQ_REDIS=redis://" + redis, "BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket,
			"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey,
		}
	}
	stall := newCommitStall(t, redis.Addr())
	victim := startServer(t, env(stall.Addr().String()), "gateway")
	other := startServer(t, env(redis.Addr()), "gateway")
	c, err := bench.Start(t.Context(), binary, append(env(redis.Addr()), "BUCKETMQ_WRITER_TIMEOUT=6s"), "coordinator", "--management-listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	succeed(t, victim.URL, "", "topic", "create", "orders", "--queues", "1")
	before := segments(t, bucket)

	stall.armed.Store(true)
	answered := make(chan string, 1)
	go func() {
		resp, err := http.Post(victim.URL+"/v1/topics/orders/messages", "application/json", strings.NewReader(`{"messages":[{"body":"survivor"}]}`))
		if err != nil {
			answered <- ""
			return
		}
		resp.Body.Close()
		answered <- resp.Status
	}()
	waitFor(t, "the segment to be stored and its commit to be on its way", func() bool {
		return stall.held.Load() && segments(t, bucket) > before
	})
	victim.Kill()
	if got := <-answered; got != "" {
		t.Errorf("the killed gateway answered %s", got)
	}
	if got := succeed(t, other.URL, "", "consume", "orders"); got != "" {
		t.Fatalf("committed before the kill: %q", got)
	}
	waitFor(t, "the message to be adopted", func() bool {
		return succeed(t, other.URL, "", "consume", "orders") != ""
	})
	succeed(t, other.URL, "after\n", "produce", "orders")
	if got := succeed(t, other.URL, "", "consume", "orders"); got != "survivor\nafter\n" {
		t.Errorf("consume: %q", got)
	}
}

func TestWriterTimeoutMustOutlastHeartbeats(t *testing.T) {
	for _, role := range []string{"serve", "coordinator"} {
		env := []string{"BUCKETMQ_REDIS=redis://127.0.0.1:1", "BUCKETMQ_S3_ENDPOINT=http://127.0.0.1:1", "BUCKETMQ_S3_BUCKET=b", "BUCKETMQ_WRITER_TIMEOUT=5s"}
		o := command(t, env, "", role)
		if o.code != exitUsage || !strings.Contains(o.stderr, "--writer-timeout 5s: want at least 6s") {
			t.Errorf("%s: exit code %d, %q", role, o.code, o.stderr)
		}
		env[3] = "BUCKETMQ_LEADER_LEASE=500ms"
		if o := command(t, env, "", role); o.code != exitUsage || !strings.Contains(o.stderr, "--leader-lease 500ms: want at least 1s") {
			t.Errorf("%s: exit code %d, %q", role, o.code, o.stderr)
		}
	}
}
