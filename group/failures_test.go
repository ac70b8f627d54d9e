package group_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// retrying is a group whose messages come again after these waits, and that gives
// up after so many attempts.
func retrying(attempts int64, delays ...int64) func(*meta.Group) {
	return func(g *meta.Group) { g.MaxAttempts, g.NackDelaysMS = attempts, delays }
}

// firing does a coordinator's work for the retry topic of billing.
func (n *gateway) firing() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if topic, err := n.db.Topic(ctx, journal.RetryTopic("billing")); err == nil {
				_, _ = n.journal.Fire(ctx, topic.ID) // tried again
			}
		}
	})
	n.t.Cleanup(func() { cancel(); running.Wait() })
}

func (n *gateway) nack(items ...group.NackItem) []group.ReceiptResult {
	n.t.Helper()
	results, err := n.Nack(n.t.Context(), "billing", items)
	must(n.t, err)
	return results
}

func (n *gateway) retries(due bool) []group.Failure {
	n.t.Helper()
	list, _, _, err := n.Retries(n.t.Context(), "billing", due, 0, 0, 100)
	must(n.t, err)
	return list
}

func (n *gateway) dead(f group.FailureFilter) []group.Failure {
	n.t.Helper()
	list, _, err := n.DeadLetters(n.t.Context(), "billing", f, 0, 100)
	must(n.t, err)
	return list
}

// What is given back does not hold the queue up: it is in the retry topic, comes
// again when it is due, looks as it did, and is a dead letter after exactly the
// attempts that the group allows.
func TestWhatIsGivenBackGoesThroughTheRetryTopicToTheDeadLetters(t *testing.T) {
	n := newPlant(t).gateway()
	n.firing()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(3, 1000))
	n.send(topic, 0, "paid", "a", "b")
	got := n.receive(ask("billing", "orders"))
	must(t, n.ack("billing", got[1])[0])
	before := time.Now()
	result := n.nack(group.NackItem{Receipt: got[0].Receipt, Reason: "no stock"})[0]
	if result.Err != nil || result.Dead || result.Deadline < before.UnixMilli()+900 {
		t.Fatalf("nack: %+v", result)
	}
	if at := n.offset("billing", 0); at != 2 {
		t.Errorf("the queue is held up at %d", at)
	}
	waiting := n.retries(false)
	if len(waiting) != 1 || waiting[0].Attempts != 1 || waiting[0].Reason != "no stock" || waiting[0].Origin.Topic != "orders" ||
		waiting[0].Origin.Offset != 0 || waiting[0].At != result.Deadline || string(waiting[0].Record.Body) != "a" {
		t.Fatalf("waiting: %+v", waiting)
	}
	for attempt := int64(2); attempt <= 3; attempt++ {
		again := n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))
		m := again[0]
		if len(again) != 1 || m.Attempt != attempt || m.Topic != "orders" || m.Queue != 0 || m.Offset != 0 || m.Record.ID != got[0].Record.ID ||
			string(m.Record.Tag) != "paid" || len(m.Record.Properties) != 0 || m.StoredAt != got[0].StoredAt {
			t.Fatalf("attempt %d: %+v", attempt, again)
		}
		if due := n.retries(true); len(due) != 1 || !due[0].Due {
			t.Errorf("due: %+v", due)
		}
		if wait := time.Since(before); wait < 900*time.Millisecond {
			t.Errorf("it came after %v", wait)
		}
		before = time.Now()
		result = n.nack(group.NackItem{Receipt: m.Receipt})[0]
		must(t, result.Err)
		if result.Dead != (attempt == 3) {
			t.Errorf("after attempt %d: %+v", attempt, result)
		}
	}
	list := n.dead(group.FailureFilter{})
	if len(list) != 1 || list[0].Attempts != 3 || list[0].Reason != group.ReasonNacked || list[0].MessageID != got[0].Record.ID {
		t.Errorf("dead letters: %+v", list)
	}
	if left := n.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 1500 * time.Millisecond })); len(left) > 0 {
		t.Errorf("it came again: %+v", left)
	}
	if left := append(n.retries(false), n.retries(true)...); len(left) > 0 {
		t.Errorf("retries are left: %+v", left)
	}
}

// A consumer that dies at every attempt gets a message exactly max_attempts times,
// wherever it comes from.
func TestAConsumerThatDiesAtEveryAttemptGetsAMessageSoManyTimes(t *testing.T) {
	for _, wait := range []int64{0, 1000} {
		for _, ordered := range []bool{false, true} {
			t.Run(fmt.Sprintf("wait=%d ordered=%v", wait, ordered), func(t *testing.T) {
				t.Parallel()
				p := newPlant(t)
				n, other := p.gateway(), p.gateway()
				n.firing()
				topic := n.topic("orders", 1)
				n.group("billing", 100*time.Millisecond, retrying(3, wait), func(g *meta.Group) { g.Ordered = ordered })
				n.send(topic, 0, "", "poison")
				for attempt := int64(1); attempt <= 3; attempt++ {
					got := []*gateway{n, other}[attempt%2].await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))
					if len(got) != 1 || got[0].Attempt != attempt {
						t.Fatalf("attempt %d: %+v", attempt, got)
					}
				}
				deadline := time.Now().Add(10 * time.Second)
				for len(n.dead(group.FailureFilter{})) == 0 && time.Now().Before(deadline) {
					if got := other.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 200 * time.Millisecond })); len(got) > 0 {
						t.Fatalf("one more attempt: %+v", got)
					}
				}
				list := n.dead(group.FailureFilter{})
				if len(list) != 1 || list[0].Attempts != 3 || list[0].Reason != group.ReasonExpired {
					t.Fatalf("dead letters %+v", list)
				}
				if got := n.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 300 * time.Millisecond })); len(got) > 0 {
					t.Errorf("it came again: %+v", got)
				}
				if at := n.offset("billing", 0); !ordered && wait > 0 && at != 1 {
					t.Errorf("the queue is held up at %d", at)
				}
			})
		}
	}
}

func TestDeadLettersAreFilteredRedrivenAndPurged(t *testing.T) {
	p := newPlant(t)
	n, other := p.gateway(), p.gateway()
	n.firing()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", "a", "b", "c", "d")
	got := n.receive(ask("billing", "orders"))
	var items []group.NackItem
	for i, m := range got {
		items = append(items, group.NackItem{Receipt: m.Receipt, DeadLetter: true, Reason: []string{"bad", "ugly"}[i%2]})
	}
	for _, r := range n.nack(items...) {
		if r.Err != nil || !r.Dead {
			t.Fatalf("nack: %+v", r)
		}
	}
	if at := n.offset("billing", 0); at != 4 {
		t.Errorf("offset %d", at)
	}
	for filter, want := range map[group.FailureFilter]string{
		{}: "a b c d", {Reason: "bad"}: "a c", {Reason: "none"}: "", {MessageID: got[1].Record.ID}: "b", {Topic: "other"}: "", {From: time.Now().Add(time.Hour).UnixMilli()}: "",
	} {
		if list := bodiesOfFailures(other.dead(filter)); list != want {
			t.Errorf("%+v: %q, want %q", filter, list, want)
		}
	}
	first, next, err := n.DeadLetters(t.Context(), "billing", group.FailureFilter{}, 0, 3)
	must(t, err)
	rest, end, err := n.DeadLetters(t.Context(), "billing", group.FailureFilter{}, next, 3)
	must(t, err)
	if bodiesOfFailures(first) != "a b c" || bodiesOfFailures(rest) != "d" || end != -1 {
		t.Errorf("pages %q, %q, then %d", bodiesOfFailures(first), bodiesOfFailures(rest), end)
	}

	request := group.HandleRequest{Group: "billing", FailureFilter: group.FailureFilter{Reason: "bad"}, DryRun: true}
	if h, err := n.Redrive(t.Context(), request); err != nil || h.Matched != 2 || h.Done != 0 || len(n.dead(group.FailureFilter{})) != 4 {
		t.Errorf("dry run: %+v, %v", h, err)
	}
	request.DryRun, request.Rate = false, 2
	began := time.Now()
	if h, err := n.Redrive(t.Context(), request); err != nil || h.Done != 2 || h.Next != -1 {
		t.Errorf("redrive: %+v, %v", h, err)
	}
	if list := bodiesOfFailures(other.dead(group.FailureFilter{})); list != "b d" {
		t.Errorf("left after the redrive: %q", list)
	}
	var again []group.Received
	for len(again) < 2 {
		again = append(again, n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))...)
	}
	wantBodies(t, again, "a", "c")
	if took := time.Since(began); took < 450*time.Millisecond {
		t.Errorf("at two a second, two came within %v", took)
	}
	if again[0].Attempt != 1 || again[0].Record.ID != got[0].Record.ID || again[0].Topic != "orders" {
		t.Errorf("redriven: %+v", again[0])
	}
	if h, err := other.Purge(t.Context(), group.HandleRequest{Group: "billing", FailureFilter: group.FailureFilter{MessageID: got[1].Record.ID}}); err != nil || h.Done != 1 {
		t.Errorf("purge: %+v, %v", h, err)
	}
	if list := bodiesOfFailures(p.gateway().dead(group.FailureFilter{})); list != "d" {
		t.Errorf("left after the purge: %q", list)
	}
	// A new dead letter is not taken for one that was handled.
	must(t, n.nack(group.NackItem{Receipt: again[0].Receipt, DeadLetter: true})[0].Err)
	if list := bodiesOfFailures(other.dead(group.FailureFilter{})); list != "d a" {
		t.Errorf("after another: %q", list)
	}
}

func bodiesOfFailures(list []group.Failure) string {
	var all []string
	for _, x := range list {
		all = append(all, string(x.Record.Body))
	}
	return strings.Join(all, " ")
}

// Members that own queues: what one gives back leaves its queue at once, and comes
// to whoever owns the retry topic.
func TestWhatAMemberGivesBackGoesThroughTheRetryTopic(t *testing.T) {
	n := newPlant(t).gateway()
	n.firing()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(2, 1000))
	n.send(topic, 0, "", "a", "b")
	s := n.subscribe("one", "")
	n.give(map[uint32]string{0: s.id()})
	all := s.take(2)
	s.finish(all[1])
	if r := s.Nack(t.Context(), []group.NackItem{{Receipt: all[0].Receipt}}); r[0].Err != nil || r[0].Dead {
		t.Fatalf("nack: %+v", r)
	}
	must(t, s.Commit(t.Context()))
	if at := n.offset("billing", 0); at != 2 {
		t.Errorf("the queue is held up at %d", at)
	}
	n.giveRetry(s.id())
	again := s.take(1)
	if m := again[0]; m.Topic != "orders" || m.Offset != 0 || m.Attempt != 2 || m.Record.ID != all[0].Record.ID || string(m.Record.Body) != "a" {
		t.Fatalf("again: %+v", again)
	}
	if r := s.Nack(t.Context(), []group.NackItem{{Receipt: again[0].Receipt, Reason: "still bad"}}); r[0].Err != nil || !r[0].Dead {
		t.Fatalf("the last nack: %+v", r)
	}
	if list := n.dead(group.FailureFilter{}); len(list) != 1 || list[0].Reason != "still bad" || list[0].Attempts != 2 {
		t.Errorf("dead letters: %+v", list)
	}
	reply, err := n.Poll(t.Context(), group.PollRequest{Group: "billing", Member: s.id()})
	must(t, err)
	if i := slices.IndexFunc(reply.Queues, func(a group.Assignment) bool { return a.Topic == journal.RetryTopic("billing") }); i < 0 {
		t.Errorf("queues %+v", reply.Queues)
	}
}

// giveRetry makes a member the owner of the retry topic, too.
func (n *gateway) giveRetry(member string) {
	n.t.Helper()
	g, err := n.db.Group(n.t.Context(), "billing")
	must(n.t, err)
	retry, err := n.db.Topic(n.t.Context(), journal.RetryTopic("billing"))
	must(n.t, err)
	state, err := n.db.GroupState(n.t.Context(), g.ID)
	must(n.t, err)
	must(n.t, n.db.InitOffsets(n.t.Context(), g.ID, state.Term, []meta.OffsetStart{{Topic: retry.ID}}))
	targets := []meta.Target{{Topic: retry.ID, Owner: member}}
	for _, a := range state.Assignments {
		targets = append(targets, meta.Target{Topic: a.Topic, Queue: a.Queue, Owner: a.Owner})
	}
	_, _, err = n.db.Assign(n.t.Context(), g.ID, max(1, state.Term), state.Revision, "test", targets, nil)
	must(n.t, err)
}

// In order nothing overtakes: a message that failed is tried again in its place,
// and given up there.
func TestInOrderAMessageIsGivenUpInItsPlace(t *testing.T) {
	n := newPlant(t).gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(3, 20), func(g *meta.Group) { g.Ordered = true })
	n.send(topic, 0, "", "a", "b")
	s := n.subscribe("one", "")
	n.give(map[uint32]string{0: s.id()})
	for attempt := int64(1); attempt <= 3; attempt++ {
		got := s.take(2)
		if got[0].Attempt != attempt || string(got[0].Record.Body) != "a" || string(got[1].Record.Body) != "b" {
			t.Fatalf("attempt %d: %+v", attempt, got)
		}
		r := s.Nack(t.Context(), []group.NackItem{{Receipt: got[0].Receipt}})[0]
		if r.Err != nil || r.Dead != (attempt == 3) {
			t.Fatalf("nack %d: %+v", attempt, r)
		}
		if attempt == 3 {
			s.finish(got[1])
		}
	}
	must(t, s.Commit(t.Context()))
	if at := n.offset("billing", 0); at != 2 {
		t.Errorf("offset %d", at)
	}
	if list := n.dead(group.FailureFilter{}); len(list) != 1 || list[0].Attempts != 3 {
		t.Errorf("dead letters %+v", list)
	}
}

// A message behind one that fails comes again with it, and loses no attempt by that;
// nor does one that nobody tried.
func TestOnlyWhatWasTriedCountsAsAnAttempt(t *testing.T) {
	n := newPlant(t).gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(2, 10), func(g *meta.Group) { g.Ordered = true })
	n.send(topic, 0, "", "a", "b")
	s := n.subscribe("one", "")
	n.give(map[uint32]string{0: s.id()})
	for range 3 { // a is not tried
		got := s.take(2)
		for i, r := range s.Nack(t.Context(), []group.NackItem{{Receipt: got[0].Receipt, Unhandled: true}}) {
			if r.Err != nil || r.Dead {
				t.Fatalf("unhandled %d: %+v", i, r)
			}
		}
	}
	for attempt := range 2 { // a fails twice
		got := s.take(2)
		if r := s.Nack(t.Context(), []group.NackItem{{Receipt: got[0].Receipt}})[0]; r.Err != nil || r.Dead != (attempt == 1) {
			t.Fatalf("nack of a: %+v", r)
		}
		if attempt == 1 { // b fails for the first time
			if r := s.Nack(t.Context(), []group.NackItem{{Receipt: got[1].Receipt}})[0]; r.Err != nil || r.Dead {
				t.Fatalf("nack of b: %+v", r)
			}
		}
	}
	b := s.take(1)
	if string(b[0].Record.Body) != "b" {
		t.Fatalf("got %+v", b)
	}
	if r := s.Nack(t.Context(), []group.NackItem{{Receipt: b[0].Receipt}})[0]; r.Err != nil || !r.Dead {
		t.Errorf("the second nack of b: %+v", r)
	}

	n.group("shared", time.Minute, retrying(2, 10))
	for range 4 {
		got := n.await(ask("shared", "orders"))
		results, err := n.Nack(t.Context(), "shared", []group.NackItem{{Receipt: got[0].Receipt, Unhandled: true}, {Receipt: got[1].Receipt, Unhandled: true}})
		must(t, err)
		for i, r := range results {
			if r.Err != nil || got[i].Attempt != 1 {
				t.Fatalf("unhandled: %+v of %+v", r, got[i])
			}
		}
	}
	if _, err := n.Nack(t.Context(), "shared", []group.NackItem{{Receipt: "x", Unhandled: true, DeadLetter: true}}); err != nil {
		t.Error(err) // judged per receipt
	}
}

// A client that dies with a message each time it gets it, and comes back as another
// member, the same one, or through another gateway, gets it max_attempts times.
func TestAMemberThatDiesAtEveryAttemptGetsAMessageSoManyTimes(t *testing.T) {
	p := newPlant(t)
	n, other := p.gateway(), p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(3, 1000), func(g *meta.Group) { g.ResumeWindowMS = 60_000 })
	n.send(topic, 0, "", "poison", "good")
	for attempt := int64(1); attempt <= 4; attempt++ {
		s := []*gateway{n, other}[attempt%2].subscribe("one", []string{"0123456789abcdef", "fedcba9876543210"}[attempt/3])
		n.give(map[uint32]string{0: s.id()})
		if attempt == 4 {
			if rest := s.take(1); string(rest[0].Record.Body) != "good" || rest[0].Attempt != 1 {
				t.Errorf("after three attempts: %+v", rest)
			}
			s.until("the message is given up", func() bool {
				_, err := s.look(1)
				must(t, err)
				return len(n.dead(group.FailureFilter{})) == 1
			})
			must(t, s.Close(t.Context()))
			break
		}
		got := s.take(1)
		if string(got[0].Record.Body) != "poison" || got[0].Attempt != attempt {
			t.Fatalf("attempt %d: %+v", attempt, got)
		}
		must(t, s.Lost(t.Context()))
	}
	if list := n.dead(group.FailureFilter{}); list[0].Attempts != 3 || list[0].Reason != group.ReasonExpired || string(list[0].Record.Body) != "poison" {
		t.Errorf("dead letters: %+v", list)
	}
	// A reset begins to count anew.
	_, err := n.Reset(t.Context(), group.ResetRequest{Group: "billing", Topic: "orders", To: group.ToEarliest})
	must(t, err)
	s := n.subscribe("two", "")
	n.give(map[uint32]string{0: s.id()})
	if got := s.take(2); got[0].Attempt != 1 || string(got[0].Record.Body) != "poison" {
		t.Errorf("after the reset: %+v", got)
	}
}

// What a producer said of a message is said of every delivery, and of the dead letter
// (PITFALLS O27); a last wait does not hold that up (O4).
func TestAMessageStaysWhatItIsThroughRetriesAndAsADeadLetter(t *testing.T) {
	n := newPlant(t).gateway()
	n.firing()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, retrying(2, 1000, 3_600_000))
	var properties segment.Properties
	for i := range 64 {
		properties = segment.AppendProperty(properties, fmt.Sprintf("名前 %d", i), []string{"", "wert ä", "🙂"}[i%3])
	}
	d, err := n.journal.NewDraft(topic)
	must(t, err)
	sent := journal.Message{
		Queue: 0, BornAt: 1_700_000_000_000, Tag: []byte("paid"), Keys: []byte("k1 k2"), OrderingKey: []byte("customer"),
		ContentType: []byte("application/x-thing"), Properties: properties, Body: []byte{0, 255, 1},
	}
	must(t, d.Add(&sent))
	_, err = n.journal.Append(t.Context(), d, journal.Durable)
	must(t, err)
	same := func(what string, r segment.Record) {
		t.Helper()
		if string(r.Tag) != "paid" || string(r.Keys) != "k1 k2" || string(r.OrderingKey) != "customer" || string(r.ContentType) != "application/x-thing" ||
			!slices.Equal(r.Properties, properties) || !slices.Equal(r.Body, sent.Body) || r.BornAt != sent.BornAt || r.Attributes != 0 {
			t.Errorf("%s: %+v", what, r)
		}
	}
	for attempt := range 2 {
		got := n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))
		same(fmt.Sprintf("attempt %d", attempt+1), got[0].Record)
		must(t, n.nack(group.NackItem{Receipt: got[0].Receipt})[0].Err)
	}
	dead := n.dead(group.FailureFilter{})
	if len(dead) != 1 {
		t.Fatalf("dead letters: %+v", dead)
	}
	same("the dead letter", dead[0].Record)
}
