package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// cluster starts two gateways on a real Redis and a real S3 server.
func cluster(t *testing.T) (first, second *bench.Child) {
	t.Helper()
	redis := redistest.New(t)
	s3 := s3test.New(t)
	env := []string{
		"BUCKETMQ_REDIS=redis://" + redis.Addr(),
		"BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket, "BUCKETMQ_S3_PREFIX=t1/",
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey,
	}
	return startServer(t, env, "gateway"), startServer(t, env, "gateway")
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
