package main

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// cluster starts two gateways on a real Redis and a real S3 server.
func cluster(t *testing.T) (first, second *bench.Child) {
	t.Helper()
	return clusterOn(t, redistest.New(t))
}

func clusterOn(t *testing.T, redis *redistest.Server) (first, second *bench.Child) {
	t.Helper()
	s3 := s3test.New(t)
	env := []string{
		"BUCKETMQ_REDIS=redis://" + redis.Addr(),
		"BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket, "BUCKETMQ_S3_PREFIX=t1/",
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey,
	}
	return startServer(t, env, "gateway"), startServer(t, env, "gateway")
}

// bucketRequests are a process's requests to the bucket by verb, as /metrics has them.
func bucketRequests(t *testing.T, server *bench.Child) map[string]string {
	t.Helper()
	requests := map[string]string{}
	for line := range strings.Lines(metrics(t, server)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(name, "bucketmq_store_requests_total") {
			requests[name] = count
		}
	}
	if len(requests) < 4 {
		t.Fatalf("only the verbs %v are counted", requests)
	}
	return requests
}

func TestBucketIsNeverListedForMessagesAndLeftAloneWhileIdle(t *testing.T) {
	first, second := cluster(t)
	succeed(t, first.URL, "", "topic", "create", "orders", "--queues", "2")
	before := []map[string]string{bucketRequests(t, first), bucketRequests(t, second)}
	for i, server := range []*bench.Child{first, second} {
		id := decode[struct {
			MessageID string `json:"message_id"`
		}](t, succeed(t, server.URL, fmt.Sprintln("message", i), "produce", "orders", "--key", "k", "--json")).MessageID
		for _, other := range []*bench.Child{first, second} {
			succeed(t, other.URL, "", "consume", "orders")
			succeed(t, other.URL, "", "consume", "orders", "--from", "1h")
			for _, path := range []string{"search?message_id=" + id, "search?from=2026-01-01T00:00:00Z", "offsets?position=earliest"} {
				if got := status(t, other.URL+"/v1/topics/orders/"+path); got != 200 {
					t.Errorf("%s: %d", path, got)
				}
			}
		}
	}
	waitFor(t, "the receipts to be stored", func() bool {
		return strings.Contains(metrics(t, first), "bucketmq_receipts_pending 0") && strings.Contains(metrics(t, second), "bucketmq_receipts_pending 0")
	})
	rest := []map[string]string{bucketRequests(t, first), bucketRequests(t, second)}
	const list = `bucketmq_store_requests_total{verb="list"}`
	for i := range rest {
		if rest[i][list] != before[i][list] {
			t.Errorf("gateway %d listed the bucket: %v, then %v", i, before[i], rest[i])
		}
	}
	// Two parked polls are the readers of an idle system, and its clock.
	var polls sync.WaitGroup
	for _, server := range []*bench.Child{first, second} {
		polls.Go(func() {
			resp, err := http.Get(server.URL + "/v1/topics/orders/queues/0/messages?position=latest&wait_ms=6000")
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Errorf("poll: %s", resp.Status)
			}
		})
	}
	polls.Wait()
	for i, server := range []*bench.Child{first, second} {
		if got := bucketRequests(t, server); !maps.Equal(got, rest[i]) {
			t.Errorf("idle gateway %d asked the bucket: %v, then %v", i, rest[i], got)
		}
	}
}

func TestFlushedRedisIsRebuiltFromTheBucket(t *testing.T) {
	redis := redistest.New(t)
	first, second := clusterOn(t, redis)
	succeed(t, first.URL, "", "topic", "create", "orders", "--queues", "1")
	for i := range 6 {
		server := []*bench.Child{first, second}[i%2]
		succeed(t, server.URL, fmt.Sprintln("message", i), "produce", "orders")
	}
	// With every receipt in the bucket, offsets are exact whoever wrote them.
	waitFor(t, "the receipts to be stored", func() bool {
		return strings.Contains(metrics(t, first), "bucketmq_receipts_pending 0") && strings.Contains(metrics(t, second), "bucketmq_receipts_pending 0")
	})
	before := succeed(t, first.URL, "", "consume", "orders", "--json")
	redis.Flush()
	succeed(t, second.URL, "after\n", "produce", "orders") // repeated until it is stored
	for _, server := range []*bench.Child{first, second} {
		got := succeed(t, server.URL, "", "consume", "orders", "--json")
		rest, same := strings.CutPrefix(got, before)
		if !same || strings.Count(rest, "\n") != 1 || !strings.Contains(rest, `"after"`) {
			t.Errorf("consume from %s\nbefore %s\nafter  %s", server.URL, before, got)
		}
	}
}

func TestGatewaysShareARedisCluster(t *testing.T) {
	redis := redistest.NewCluster(t)
	s3 := s3test.New(t)
	env := []string{
		"BUCKETMQ_REDIS=cluster://" + strings.Join(redis.Options().Addrs, ","),
		"BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket,
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey,
	}
	first, second := startServer(t, env, "gateway"), startServer(t, env, "gateway")
	for i := range 5 { // topics lie on different nodes
		topic := fmt.Sprintf("topic-%d", i)
		succeed(t, first.URL, "", "topic", "create", topic)
		succeed(t, first.URL, "hello\n", "produce", topic)
		if got := succeed(t, second.URL, "", "consume", topic, "--sql", "TAGS IS NULL"); got != "hello\n" {
			t.Errorf("%s: consume %q", topic, got)
		}
	}
}

func TestTwoGatewaysAreOneQueue(t *testing.T) {
	first, second := cluster(t)
	succeed(t, first.URL, "", "topic", "create", "orders", "--queues", "1")
	var want strings.Builder
	for i := range 10 {
		server := []*bench.Child{first, second}[i%2]
		succeed(t, server.URL, fmt.Sprintln("message", i), "produce", "orders")
		fmt.Fprintln(&want, "message", i)
	}
	for _, server := range []*bench.Child{first, second} {
		if got := succeed(t, server.URL, "", "consume", "orders"); got != want.String() {
			t.Errorf("consume from %s: got %q, want %q", server.URL, got, want.String())
		}
	}
}

func TestMessageReachesAFollowerOnTheOtherGateway(t *testing.T) {
	first, second := cluster(t)
	succeed(t, first.URL, "", "topic", "create", "orders", "--queues", "1")
	cl := clientOf(t, second.URL)
	type answer struct {
		page client.Page
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		page, err := cl.Read(t.Context(), client.Read{Topic: "orders", Wait: 20e9})
		answers <- answer{page, err}
	}()
	waitFor(t, "the poll to park", func() bool { return strings.Contains(metrics(t, second), "bucketmq_read_waiting 1") })
	succeed(t, first.URL, "hello\n", "produce", "orders")
	a := <-answers
	if a.err != nil || len(a.page.Messages) != 1 || *a.page.Messages[0].Body != "hello" {
		t.Errorf("got %+v, %v", a.page, a.err)
	}
}

func TestGatewayStopsCleanlyAndTheOtherGoesOn(t *testing.T) {
	first, second := cluster(t)
	succeed(t, first.URL, "", "topic", "create", "orders", "--queues", "1")
	succeed(t, first.URL, "one\n", "produce", "orders")
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	succeed(t, second.URL, "two\n", "produce", "orders")
	if got := succeed(t, second.URL, "", "consume", "orders"); got != "one\ntwo\n" {
		t.Errorf("consume: %q", got)
	}
}

func TestCoordinatorBecomesReady(t *testing.T) {
	redis := redistest.New(t)
	s3 := s3test.New(t)
	env := []string{
		"BUCKETMQ_REDIS=redis://" + redis.Addr(),
		"BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket,
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey,
	}
	c, err := bench.Start(t.Context(), binary, env, "coordinator", "--management-listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	if got := status(t, c.Management+"/readyz"); got != 200 {
		t.Errorf("readyz: %d", got)
	}
	waitFor(t, "it to lead", func() bool { return strings.Contains(metrics(t, c), "bucketmq_coordinator_leads 1") })
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}
