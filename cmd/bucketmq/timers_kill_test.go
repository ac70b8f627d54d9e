package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// Two leaders in a row are killed while 10,000 delayed messages fall due, without
// a chance to log what they fired: each message is there once, and none is early.
func TestLeadersKilledWhileTimersFireFireEachOnce(t *testing.T) {
	const messages, batch = 10_000, 1000
	redis, s3 := redistest.New(t), s3test.New(t)
	env := []string{
		"BUCKETMQ_REDIS=redis://" + redis.Addr(), "BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket,
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey, "BUCKETMQ_LEADER_LEASE=1s",
	}
	server := startServer(t, env, "gateway")
	leader := func() *bench.Child {
		c, err := bench.Start(t.Context(), binary, env, "coordinator", "--management-listen", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Kill)
		return c
	}
	victim := leader()
	succeed(t, server.URL, "", "topic", "create", "later", "--queues", "1", "--type", "delay")
	cl, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	first := time.Now().Add(8 * time.Second).Truncate(time.Millisecond) // sending takes less
	due := map[string]time.Time{}
	for begin := 0; begin < messages; begin += batch {
		list := make([]client.Message, batch)
		for i := range list {
			body, at := fmt.Sprint(begin+i), first.Add(time.Duration(begin+i)*300*time.Microsecond).Truncate(time.Millisecond).UTC()
			list[i].DeliverAt, due[body] = &at, at
			list[i].SetBody([]byte(body))
		}
		if _, err := cl.Send(t.Context(), "later", list, ""); err != nil {
			t.Fatal(err)
		}
	}
	if time.Now().After(first) {
		t.Fatal("they fell due while they were sent")
	}
	var fired []int64 // at each kill
	end := func() int64 {
		page, err := cl.Read(t.Context(), client.Read{Topic: "later", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return page.MaxOffset
	}
	for range 2 {
		before := end()
		waitFor(t, "timers fire", func() bool { return end() >= before+500 })
		victim.Kill()
		fired = append(fired, end())
		victim = leader()
	}
	if fired[1] == messages {
		t.Fatalf("all had fired when a leader was killed: %d", fired)
	}
	waitFor(t, "all have fired", func() bool { return end() >= messages })
	times := map[string]int{}
	for offset := int64(0); ; {
		page, err := cl.Read(t.Context(), client.Read{Topic: "later", Offset: offset, Limit: 1000, Wait: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Messages) == 0 {
			break
		}
		for i := range page.Messages {
			body, err := page.Messages[i].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if times[string(body)]++; times[string(body)] > 1 {
				t.Errorf("%s came %d times", body, times[string(body)])
			}
			if page.Messages[i].StoredAt.Before(due[string(body)]) {
				t.Errorf("%s is early: due %v, stored %v", body, due[string(body)], page.Messages[i].StoredAt)
			}
		}
		offset = page.NextOffset
	}
	if len(times) != messages {
		t.Errorf("%d messages came, want %d", len(times), messages)
	}
	t.Logf("killed when %d had fired", fired)
}
