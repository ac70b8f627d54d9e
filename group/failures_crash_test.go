package group_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

// Whoever gives a message back, and however often: it is stored once per attempt.
func TestARetryIsMadeOncePerAttempt(t *testing.T) {
	p := newPlant(t)
	n, other := p.gateway(), p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(16, 3_600_000))
	n.send(topic, 0, "", numbered(20)...)
	for _, m := range n.receive(ask("billing", "orders")) {
		var all sync.WaitGroup
		done := make(chan error, 4)
		for i := range 4 {
			all.Go(func() {
				results, err := []*gateway{n, other}[i%2].Nack(t.Context(), "billing", []group.NackItem{{Receipt: m.Receipt}})
				if err == nil {
					err = results[0].Err
				}
				done <- err
			})
		}
		all.Wait()
		close(done)
		good := 0
		for err := range done {
			if err == nil {
				good++
			} else if !errors.Is(err, group.ErrReceiptSuperseded) {
				t.Errorf("nack: %v", err)
			}
		}
		if good == 0 {
			t.Errorf("none was accepted")
		}
	}
	if at := n.offset("billing", 0); at != 20 {
		t.Errorf("offset %d", at)
	}
	if list := n.retries(false); len(list) != 20 {
		t.Errorf("%d retries, want 20", len(list))
	}
}

// A process that dies between taking a message back and storing it elsewhere leaves
// it in its place, where the next one finds and moves it; never before it is due
// is it delivered.
func TestWhatACrashLeftBetweenNackAndRetryIsMoved(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.firing()
	topic := n.topic("orders", 1)
	g := n.group("billing", time.Minute, retrying(16, 2500))
	n.send(topic, 0, "", "a")
	got := n.receive(ask("billing", "orders"))
	started := time.Now()
	results, rest, err := n.BeginNack(t.Context(), "billing", []group.NackItem{{Receipt: got[0].Receipt}})
	must(t, err)
	must(t, results[0].Err)
	if rest == nil || n.offset("billing", 0) != 0 { // and rest is never called
		t.Fatalf("the message does not move")
	}
	// heldFor is over.
	view, errs := n.db.SharedPeek(t.Context(), []meta.SharedQueue{{Group: g.ID, Topic: topic.ID}}, 1, "")
	must(t, errs[0])
	if view[0].DueIn > 2500*time.Millisecond {
		t.Errorf("it rests for %v", view[0].DueIn)
	}
	other := p.gateway()
	again := other.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))
	if again[0].Attempt != 2 || time.Since(started) < 2400*time.Millisecond {
		t.Errorf("after %v: %+v", time.Since(started), again)
	}
	must(t, other.ack("billing", again[0])[0])
	if left := n.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 300 * time.Millisecond })); len(left) > 0 {
		t.Errorf("it came twice: %+v", left)
	}
}

// A store that refuses keeps a message where it is; a nack that says dead_letter
// is refused then and may be repeated.
func TestNothingIsLostWhenARetryCannotBeStored(t *testing.T) {
	p := newPlant(t)
	store := faulty.Wrap(p.store)
	n := p.gateway(func(o *journal.Options) { o.Store, o.AppendTimeout = store, 500*time.Millisecond })
	n.firing()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(16, 1000))
	n.send(topic, 0, "", "a", "b")
	got := n.receive(ask("billing", "orders"))
	must(t, n.nack(group.NackItem{Receipt: got[0].Receipt})[0].Err) // makes the topics
	first := n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))[0]
	store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.FailBefore(errors.New("503 slow down"))})
	r := n.nack(group.NackItem{Receipt: first.Receipt}, group.NackItem{Receipt: got[1].Receipt, DeadLetter: true})
	if r[0].Err != nil || r[1].Err == nil || r[1].Dead {
		t.Fatalf("nack: %+v", r)
	}
	store.Clear()
	deadline := time.Now().Add(10 * time.Second)
	for r := n.nack(group.NackItem{Receipt: got[1].Receipt, DeadLetter: true}); r[0].Err != nil; r = n.nack(group.NackItem{Receipt: got[1].Receipt, DeadLetter: true}) {
		if time.Now().After(deadline) {
			t.Fatalf("the nack again: %v", r[0].Err)
		}
	}
	if list := bodiesOfFailures(n.dead(group.FailureFilter{})); list != "b" {
		t.Errorf("dead letters %q", list)
	}
	if again := n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second })); string(again[0].Record.Body) != "a" || again[0].Attempt != 3 {
		t.Errorf("again: %+v", again)
	}
}

func TestAGroupOfTheSameNameLaterHasNoFailures(t *testing.T) {
	n := newPlant(t).gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", "a", "b")
	got := n.receive(ask("billing", "orders"))
	n.nack(group.NackItem{Receipt: got[0].Receipt}, group.NackItem{Receipt: got[1].Receipt, DeadLetter: true})
	if len(n.retries(false)) != 1 || len(n.dead(group.FailureFilter{})) != 1 {
		t.Fatal("nothing failed")
	}
	must(t, n.Delete(t.Context(), "billing", 0, true))
	for _, name := range []string{journal.RetryTopic("billing"), journal.DeadLetterTopic("billing")} {
		if _, err := n.db.Topic(t.Context(), name); !errors.Is(err, meta.ErrTopicNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n.group("billing", time.Minute)
	if len(n.retries(false)) != 0 || len(n.dead(group.FailureFilter{})) != 0 {
		t.Error("it has failures")
	}
}

// Redis is restarted between the append to the retry topic and the end of the message
// in its place: it comes once, and its queue goes on.
func TestARedisRestartedBetweenAppendAndAckMakesOneRetry(t *testing.T) {
	p := &plant{t: t, redis: redistest.New(t, "--appendonly", "yes", "--appendfsync", "always"), store: objstore.NewMemory()}
	store := faulty.Wrap(p.store)
	n := p.gateway(func(o *journal.Options) { o.Store = store })
	other := p.gateway()
	other.firing()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(16, 3000))
	n.send(topic, 0, "", "a", "b")
	got := n.receive(ask("billing", "orders"))
	must(t, n.nack(group.NackItem{Receipt: got[1].Receipt, DelayMS: new(time.Hour.Milliseconds())})[0].Err) // makes the topic
	_, rest, err := n.BeginNack(t.Context(), "billing", []group.NackItem{{Receipt: got[0].Receipt}})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	store.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Fault: func(_ context.Context, next func() ([]byte, error)) ([]byte, error) {
		b, err := next()
		cancel() // the copy is stored, and nothing is finished after it
		return b, err
	}})
	rest(ctx)
	deadline := time.Now().Add(10 * time.Second)
	for len(n.retries(false)) < 2 {
		if time.Now().After(deadline) {
			t.Fatalf("the copy is not there: %+v", n.retries(false))
		}
	}
	store.Clear()
	if at := n.offset("billing", 0); at != 0 {
		t.Fatalf("the message was finished: progress %d", at)
	}
	n.kill()
	p.redis.Kill()
	p.redis.Start()
	again := other.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))
	if len(again) != 1 || string(again[0].Record.Body) != "a" || again[0].Attempt != 2 {
		t.Fatalf("again: %+v", again)
	}
	must(t, other.settled(again[0]))
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
		reply, err := other.Receive(t.Context(), ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = time.Second }))
		if err == nil && len(reply.Messages) > 0 { // an error: Redis is looked at anew after its restart
			t.Fatalf("it came once more: %+v", reply.Messages)
		}
	}
	if at := other.offset("billing", 0); at != 2 {
		t.Errorf("progress %d", at)
	}
}

// settled acknowledges a message as soon as Redis lets it.
func (n *gateway) settled(m group.Received) (err error) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		var results []group.ReceiptResult
		if results, err = n.Ack(n.t.Context(), "billing", []string{m.Receipt}); err == nil {
			if err = results[0].Err; err == nil {
				return nil
			}
		}
	}
	return err
}

// A store that takes nothing holds up what is to be moved, and nothing else.
func TestAMoveThatHangsHoldsUpNoOtherMessage(t *testing.T) {
	p := newPlant(t)
	store := faulty.Wrap(p.store)
	n := p.gateway(func(o *journal.Options) { o.Store = store })
	n.firing()
	topic := n.topic("orders", 1)
	n.group("billing", 50*time.Millisecond, retrying(16, 1000))
	n.send(topic, 0, "", "a", "b")
	one := ask("billing", "orders", func(r *group.ReceiveRequest) { r.MaxMessages = 1 })
	if got := n.receive(one); string(got[0].Record.Body) != "a" {
		t.Fatalf("received %+v", got)
	}
	g, err := n.db.Group(t.Context(), "billing")
	must(t, err)
	for due := 0; due == 0; { // its time is over
		views, errs := n.db.SharedPeek(t.Context(), []meta.SharedQueue{{Group: g.ID, Topic: topic.ID}}, 1, "")
		must(t, errs[0])
		due = len(views[0].Due)
	}
	release := make(chan struct{})
	store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.Hold(release)})
	reply, err := n.Receive(t.Context(), one)
	close(release)
	store.Clear()
	if err != nil || len(reply.Messages) != 1 || string(reply.Messages[0].Record.Body) != "b" {
		t.Errorf("while the store hangs: %+v, %v", reply, err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for seen := false; !seen; {
		reply, err := n.Receive(t.Context(), ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = time.Second }))
		if err == nil {
			for _, m := range reply.Messages {
				seen = seen || string(m.Record.Body) == "a" && m.Attempt == 2
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("what was to be moved did not come again")
		}
	}
}
