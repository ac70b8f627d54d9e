package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// told is what a producer knows of one of its transactions.
type told struct {
	id       string
	commit   bool // it asked for a commit, not a rollback
	answered bool
}

// dealer begins and decides transactions through a server until that is gone.
func dealer(t *testing.T, url string, worker int, until <-chan struct{}) (known map[string]told) {
	t.Helper()
	known = map[string]told{}
	cl, err := client.New(client.Options{URL: url})
	if err != nil {
		t.Error(err)
		return known
	}
	for n := 0; ; n++ {
		select {
		case <-until:
			return known
		default:
		}
		body := fmt.Sprintf("%d-%d", worker, n)
		var m client.Message
		m.SetBody([]byte(body))
		tx, err := cl.Begin(t.Context(), client.NewTransaction{ProducerGroup: "sellers", Topics: []client.TopicMessages{
			{Topic: "deals", Messages: []client.Message{m}}, {Topic: "stock", Messages: []client.Message{m}},
		}}, "")
		if err != nil {
			return known
		}
		deal := told{id: tx.ID, commit: n%3 != 0}
		if deal.commit {
			_, err = cl.Commit(t.Context(), tx.ID, false)
		} else {
			_, err = cl.Rollback(t.Context(), tx.ID)
		}
		deal.answered = err == nil
		known[body] = deal
	}
}

// A gateway and the leader are killed while they decide hundreds of
// transactions, and then Redis loses everything: an answer that was given holds,
// a repetition tells what became of the others, and in each topic exactly the
// committed ones are there, once.
func TestKilledGatewayAndLeaderLeaveNoTransactionHalfDone(t *testing.T) {
	redis, s3 := redistest.New(t), s3test.New(t)
	env := []string{
		"BUCKETMQ_REDIS=redis://" + redis.Addr(), "BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket,
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey,
		"BUCKETMQ_WRITER_TIMEOUT=6s", "BUCKETMQ_LEADER_LEASE=1s",
	}
	victim, other := startServer(t, env, "gateway"), startServer(t, env, "gateway")
	coordinator := func() *bench.Child {
		c, err := bench.Start(t.Context(), binary, env, "coordinator", "--management-listen", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Kill)
		return c
	}
	leader := coordinator()
	succeed(t, victim.URL, "", "topic", "create", "deals", "--queues", "2", "--type", "transaction")
	succeed(t, victim.URL, "", "topic", "create", "stock", "--queues", "1", "--type", "mixed")

	until := make(chan struct{})
	var mu sync.Mutex
	deals := map[string]told{}
	var dealers sync.WaitGroup
	for worker := range 12 {
		dealers.Go(func() {
			known := dealer(t, victim.URL, worker, until)
			mu.Lock()
			defer mu.Unlock()
			for body, deal := range known {
				deals[body] = deal
			}
		})
	}
	time.Sleep(3 * time.Second) // of deals
	leader.Kill()
	victim.Kill()
	close(until)
	dealers.Wait()
	coordinator()

	cl, err := client.New(client.Options{URL: other.URL})
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		unknown := 0
		want := map[string]bool{}
		for body, deal := range deals {
			tx := decideAgain(t, cl, deal)
			if committed := tx.State == "committed"; committed != deal.commit {
				t.Errorf("%s: asked to commit: %v, answered: %v, is %s", body, deal.commit, deal.answered, tx.State)
			}
			if !deal.answered {
				unknown++
			}
			want[body] = deal.commit
		}
		t.Logf("%d transactions, %d without an answer", len(deals), unknown)
		for _, topic := range []string{"deals", "stock"} {
			waitFor(t, "exactly the committed ones in "+topic, func() bool {
				times := map[string]int{}
				for _, body := range strings.Fields(succeed(t, other.URL, "", "consume", topic)) {
					times[body]++
				}
				for body, visible := range want {
					if (times[body] == 1) != visible || times[body] > 1 {
						return false
					}
				}
				return true
			})
		}
	}
	check()
	redis.Flush()
	check()
}

// decideAgain asks once more for what was asked for, until the answer is certain.
func decideAgain(t *testing.T, cl *client.Client, deal told) (tx client.Transaction) {
	t.Helper()
	waitFor(t, "a decision", func() bool {
		var err error
		if deal.commit {
			tx, err = cl.Commit(t.Context(), deal.id, false)
		} else {
			tx, err = cl.Rollback(t.Context(), deal.id)
		}
		var problem *client.Problem
		if errors.As(err, &problem) && problem.Status < 500 {
			t.Fatalf("%+v: %v", deal, err)
		}
		return err == nil
	})
	return tx
}
