package journal_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

func half(s string) (b [16]byte) {
	sum := sha256.Sum256([]byte(s))
	return [16]byte(sum[:16])
}

func key(name, body string) segment.Identity {
	return segment.Identity{Kind: segment.IdentityKey, Key: half(name), Body: half(body)}
}

func producer(name string, epoch, seq int64) segment.Identity {
	return segment.Identity{Kind: segment.IdentityProducer, Key: half(name), Epoch: epoch, Seq: seq}
}

func TestTwoJournalsOnOneQueueKeepItDenseAndEveryConnectionInOrder(t *testing.T) {
	p := newPlant(t)
	nodes := []*process{p.start(), p.start()}
	nodes[0].topic(t, "orders", 1)
	const connections, each = 8, 40
	var clients sync.WaitGroup
	places := make([]map[string]at, connections)
	for c := range connections {
		places[c] = map[string]at{}
		clients.Go(func() {
			for i := range each {
				body := fmt.Sprintf("%d-%04d", c, i)
				where, _, err := nodes[c%2].send(t.Context(), "orders", body, 0)
				if err != nil {
					t.Errorf("send %s: %v", body, err)
					return
				}
				places[c][body] = where
			}
		})
	}
	clients.Wait()
	bodies, _ := nodes[1].all(t, "orders", 0)
	if len(bodies) != connections*each {
		t.Errorf("%d messages in the queue, want %d", len(bodies), connections*each)
	}
	last := map[string]string{}
	for offset, body := range bodies {
		c, _, _ := strings.Cut(body, "-")
		if body <= last[c] {
			t.Errorf("%s comes after %s", body, last[c])
		}
		last[c] = body
		if where := places[int(c[0]-'0')][body]; where != (at{0, int64(offset)}) {
			t.Errorf("%s is at %d and was answered with %+v", body, offset, where)
		}
	}
}

func TestKeySentAgainThroughAnotherJournalGetsTheFirstAnswer(t *testing.T) {
	p := newPlant(t)
	a, b := p.start(), p.start()
	a.topic(t, "orders", 4)
	id := key("k", "body")
	first, duplicate, err := a.send(t.Context(), "orders", "body", journal.AnyQueue, id)
	if err != nil || duplicate {
		t.Fatalf("first sending: duplicate %v, %v", duplicate, err)
	}
	a.mustSend(t, "orders", "between", int64(first.queue))
	for i, node := range []*process{a, b, b} {
		again, duplicate, err := node.send(t.Context(), "orders", "body", journal.AnyQueue, id)
		if err != nil || !duplicate || again != first {
			t.Errorf("sending %d: got %+v, duplicate %v, %v; want %+v", i+2, again, duplicate, err, first)
		}
	}
	if _, _, err := b.send(t.Context(), "orders", "other", journal.AnyQueue, key("k", "other")); !errors.Is(err, journal.ErrKeyReused) {
		t.Errorf("the key with another body: got error %v", err)
	}
	if bodies, _ := b.all(t, "orders", first.queue); len(bodies) != 2 {
		t.Errorf("the queue holds %q, want two messages", bodies)
	}
}

func TestKeyWhoseFirstSendingIsUnknownIsStoredOnce(t *testing.T) {
	p := newPlant(t)
	a, b := p.start(func(o *journal.Options) { o.AppendTimeout = 300 * time.Millisecond }), p.start()
	a.topic(t, "orders", 1)
	// The object is stored, its answer is lost until the segment is given up.
	p.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: segment.KeyPrefix, Times: 1, Fault: faulty.HoldAfter(nil)})
	id := key("k", "body")
	if _, _, err := a.send(t.Context(), "orders", "body", 0, id); !errors.Is(err, journal.ErrOutcomeUnknown) {
		t.Fatalf("got error %v, want outcome unknown", err)
	}
	first, duplicate, err := b.send(t.Context(), "orders", "body", 0, id)
	if err != nil || duplicate {
		t.Fatalf("sent again: duplicate %v, %v", duplicate, err)
	}
	for _, node := range []*process{a, b} {
		var again at
		for again, duplicate, err = node.send(t.Context(), "orders", "body", 0, id); errors.Is(err, journal.ErrKeyInFlight); {
			again, duplicate, err = node.send(t.Context(), "orders", "body", 0, id)
		}
		if err != nil || !duplicate || again != first {
			t.Errorf("sent once more: got %+v, duplicate %v, %v; want %+v", again, duplicate, err, first)
		}
	}
	if bodies, _ := b.all(t, "orders", 0); !slices.Equal(bodies, []string{"body"}) {
		t.Errorf("the queue holds %q", bodies)
	}
}

func TestKeyInFlightIsRefused(t *testing.T) {
	p := newPlant(t)
	a := p.start()
	topic := a.topic(t, "orders", 1)
	release := make(chan struct{})
	p.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: segment.KeyPrefix, Times: 1, Fault: faulty.Hold(release)})
	draft := func(topic meta.Topic) *journal.Draft {
		d, err := a.NewDraft(topic)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Add(&journal.Message{Queue: journal.AnyQueue}); err != nil {
			t.Fatal(err)
		}
		d.Identify(key("k", ""))
		return d
	}
	pending, err := a.Enqueue(draft(topic), journal.Durable)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Enqueue(draft(topic), journal.Durable); !errors.Is(err, journal.ErrKeyInFlight) {
		t.Errorf("the same key: got error %v, want in flight", err)
	}
	close(release)
	if _, err := pending.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := a.Append(t.Context(), draft(topic), journal.Durable); err != nil || !again.Duplicate {
		t.Errorf("the key after its answer: %+v, %v; want a duplicate", again, err)
	}
}

func TestProducerSequenceThroughTwoJournals(t *testing.T) {
	p := newPlant(t)
	nodes := []*process{p.start(), p.start()}
	nodes[0].topic(t, "orders", 1)
	var gap *journal.GapError
	var fenced *journal.FencedError
	for i, step := range []struct {
		epoch, seq int64
		check      func(where at, duplicate bool, err error) bool
		want       string
	}{
		{1, 7, func(w at, d bool, err error) bool { return err == nil && !d && w.offset == 0 }, "stored at 0: a new producer starts anywhere"},
		{1, 8, func(w at, d bool, err error) bool { return err == nil && !d && w.offset == 1 }, "stored at 1"},
		{1, 7, func(w at, d bool, err error) bool { return err == nil && d && w.offset == 0 }, "a duplicate of 0"},
		{1, 10, func(_ at, _ bool, err error) bool { return errors.As(err, &gap) && gap.Expected == 9 }, "a gap, 9 expected"},
		{2, 0, func(w at, d bool, err error) bool { return err == nil && !d && w.offset == 2 }, "stored at 2 in the new epoch"},
		{1, 9, func(_ at, _ bool, err error) bool { return errors.As(err, &fenced) && fenced.Current == 2 }, "fenced by epoch 2"},
		{2, 1, func(w at, d bool, err error) bool { return err == nil && !d && w.offset == 3 }, "stored at 3"},
	} {
		where, duplicate, err := nodes[i%2].send(t.Context(), "orders", fmt.Sprint(i), 0, producer("p", step.epoch, step.seq))
		if !step.check(where, duplicate, err) {
			t.Errorf("epoch %d seq %d: got %+v, duplicate %v, %v; want %s", step.epoch, step.seq, where, duplicate, err, step.want)
		}
	}
	if bodies, _ := nodes[1].all(t, "orders", 0); !slices.Equal(bodies, []string{"0", "1", "4", "6"}) {
		t.Errorf("the queue holds %q", bodies)
	}
}

func TestProducerWithManyRequestsInOneSegment(t *testing.T) {
	p := newPlant(t)
	a := p.start(func(o *journal.Options) { o.Linger = 50 * time.Millisecond })
	topic := a.topic(t, "orders", 1)
	var all []*journal.Pending
	for i := range int64(20) {
		d, err := a.NewDraft(topic)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Add(&journal.Message{Body: fmt.Append(nil, i)}); err != nil {
			t.Fatal(err)
		}
		d.Identify(producer("p", 1, i/2)) // each sequence twice
		pending, err := a.Enqueue(d, journal.Durable)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pending)
	}
	for i, pending := range all {
		got, err := pending.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, offset := got.At(0); offset != int64(i/2) || got.Duplicate != (i%2 == 1) {
			t.Errorf("request %d: offset %d, duplicate %v", i, offset, got.Duplicate)
		}
	}
}

func TestLateObjectOfABurntSegmentNeverAppears(t *testing.T) {
	p := newPlant(t)
	a := p.start(func(o *journal.Options) { o.AppendTimeout = 300 * time.Millisecond })
	a.topic(t, "orders", 1)
	want := map[string]at{"before": a.mustSend(t, "orders", "before", 0)}
	// The object is stored, but its PUT is given up; then life goes on.
	p.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: segment.KeyPrefix, Times: 1, Fault: faulty.HoldAfter(nil)})
	if _, _, err := a.send(t.Context(), "orders", "burnt", 0); !errors.Is(err, journal.ErrOutcomeUnknown) {
		t.Fatalf("got error %v, want outcome unknown", err)
	}
	want["after"] = a.mustSend(t, "orders", "after", 0)
	check := func(node *process, when string) {
		if bodies, _ := node.all(t, "orders", 0); !slices.Equal(bodies, []string{"before", "after"}) {
			t.Errorf("%s the queue holds %q", when, bodies)
		}
	}
	check(a, "at once")
	p.redis.Flush() // now only the bucket knows
	b := p.start()
	check(b, "after a recovery")
	checkPlaces(t, b, "orders", 1, want)
}

func TestDeletedTopicRefusesAndItsNameIsFree(t *testing.T) {
	p := newPlant(t)
	a, b := p.start(), p.start()
	old := a.topic(t, "orders", 1)
	b.mustSend(t, "orders", "old", 0)
	d, err := b.NewDraft(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Add(&journal.Message{Queue: journal.AnyQueue}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.DeleteTopic(t.Context(), "orders", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(t.Context(), d, journal.Durable); !errors.Is(err, journal.ErrTopicNotFound) {
		t.Errorf("an append to a deleted topic: got error %v", err)
	}
	fresh := a.topic(t, "orders", 1)
	if fresh.ID == old.ID {
		t.Error("the new topic has the id of the deleted one")
	}
	if got := b.mustSend(t, "orders", "new", 0); got.offset != 0 {
		t.Errorf("the first message of the new topic is at %d", got.offset)
	}
}

func TestTopicVersionsAreComparedAndSeenEverywhere(t *testing.T) {
	p := newPlant(t)
	a, b := p.start(), p.start()
	topic := a.topic(t, "orders", 1)
	if _, err := b.Topic(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	var exists *meta.ExistsError
	if _, err := b.PutTopic(t.Context(), meta.Topic{Name: "orders"}); !errors.As(err, &exists) || exists.Current.ID != topic.ID {
		t.Errorf("the name taken: got error %v", err)
	}
	grown := topic
	grown.Queues = 3
	grown, err := a.UpdateTopic(t.Context(), grown, topic.Version)
	if err != nil || grown.Version <= topic.Version {
		t.Fatalf("got version %d after %d, %v", grown.Version, topic.Version, err)
	}
	var conflict *meta.ConflictError
	if _, err := b.UpdateTopic(t.Context(), grown, topic.Version); !errors.As(err, &conflict) || conflict.Current.Version != grown.Version {
		t.Errorf("a stale version: got error %v", err)
	}
	shrunk := grown
	shrunk.Queues = 2
	if _, err := b.UpdateTopic(t.Context(), shrunk, 0); !errors.Is(err, meta.ErrQueueShrink) {
		t.Errorf("fewer queues: got error %v", err)
	}
	for end := time.Now().Add(10 * time.Second); ; { // by notice at once, by age after 5 s
		if seen, err := b.Topic(t.Context(), "orders"); err != nil || time.Now().After(end) {
			t.Fatalf("the other journal sees %d queues, %v", seen.Queues, err)
		} else if seen.Queues == 3 {
			break
		}
	}
}

func TestCloseLeavesEveryReceiptAndRetiresTheWriter(t *testing.T) {
	p := newPlant(t)
	a := p.start()
	a.topic(t, "orders", 1)
	a.mustSend(t, "orders", "last", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.send(ctx, "orders", "late", 0); !errors.Is(err, journal.ErrDraining) {
		t.Errorf("an append after Close: got error %v", err)
	}
	writers, _, err := a.db.Writers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(writers) != 1 || !writers[0].Retired {
		t.Errorf("registered writers: %+v, want one that is retired", writers)
	}
	receipts := 0
	for info, err := range p.store.List(ctx, segment.KeyPrefix, "") {
		if err != nil {
			t.Fatal(err)
		}
		object, err := p.store.Get(ctx, info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		f, _, err := segment.ParseFooter(object, info.Size)
		if err != nil {
			t.Fatal(err)
		}
		receipts += len(f.Receipts)
	}
	if receipts == 0 {
		t.Error("the bucket holds no receipt")
	}
}

func TestRedisOfAnotherStoreIsRefused(t *testing.T) {
	p := newPlant(t)
	a := p.start()
	other := newPlant(t)
	other.redis = p.redis
	_, err := journal.Open(t.Context(), other.options(a.db))
	if !errors.Is(err, journal.ErrWrongStore) {
		t.Errorf("got error %v, want the wrong store", err)
	}
}

func TestRedisAwayForAWhileLosesNothing(t *testing.T) {
	p := newPlant(t)
	a := p.start()
	a.topic(t, "orders", 1)
	want := map[string]at{"before": a.mustSend(t, "orders", "before", 0)}
	resume := p.redis.Pause()
	answer := make(chan error, 1)
	go func() {
		where, _, err := a.send(context.WithoutCancel(t.Context()), "orders", "during", 0)
		want["during"] = where
		answer <- err
	}()
	select {
	case err := <-answer:
		t.Errorf("answered while Redis was away: %v", err)
	case <-time.After(200 * time.Millisecond): // long enough for PUT and commit
	}
	resume()
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	checkPlaces(t, a, "orders", 1, want)
}

// When the bucket lost messages too, the end of a queue moves back once. What a
// process remembers of it must not have Redis rebuilt for ever.
func TestEndThatMovedBackIsAcceptedAfterOneRecovery(t *testing.T) {
	p := newPlant(t)
	a := p.start()
	topic := a.topic(t, "orders", 1)
	for i := range 3 {
		a.mustSend(t, "orders", fmt.Sprint(i), 0)
	}
	read := func(wait time.Duration) (*journal.Page, error) {
		return a.Read(t.Context(), journal.Read{Topic: topic, Offset: 3, MaxMessages: 10, MaxBytes: 1 << 20, Wait: wait})
	}
	if _, err := read(50 * time.Millisecond); err != nil { // the end is remembered from now on
		t.Fatal(err)
	}
	// The identity, the topic's state, three messages, and their receipts, which
	// the writer adds by itself: after that it has nothing more to say.
	for end := time.Now().Add(10 * time.Second); p.store.Calls(faulty.Put) < 6; {
		if time.Now().After(end) {
			t.Fatalf("%d PUTs, want 6", p.store.Calls(faulty.Put))
		}
		time.Sleep(10 * time.Millisecond)
	}
	first := true // holds the topic's state, and no message
	for info, err := range p.store.List(t.Context(), segment.KeyPrefix, "") {
		if err != nil {
			t.Fatal(err)
		}
		if !first {
			if err := p.store.Delete(t.Context(), info.Key); err != nil {
				t.Fatal(err)
			}
		}
		first = false
	}
	p.redis.Flush()
	var bounds *journal.BoundsError
	for end := time.Now().Add(15 * time.Second); !errors.As(errOf(read(0)), &bounds); {
		if time.Now().After(end) {
			t.Fatalf("the end is still not accepted: %v", errOf(read(0)))
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := a.mustSend(t, "orders", "new", 0); got.offset != bounds.Next {
		t.Errorf("the next message is at %d, want %d", got.offset, bounds.Next)
	}
	if lists := p.store.Calls(faulty.List); lists > 4 { // one by each recovery, and the test's
		t.Errorf("the bucket was listed %d times", lists)
	}
}

func errOf(_ *journal.Page, err error) error { return err }
