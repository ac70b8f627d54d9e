package group_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

func TestReceivedMessagesAreHiddenUntilTheyAreAcknowledged(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", numbered(5)...)
	first := n.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.MaxMessages = 3 }))
	wantBodies(t, first, "0", "1", "2")
	second := n.receive(ask("billing", "orders"))
	wantBodies(t, second, "3", "4")
	wantBodies(t, n.receive(ask("billing", "orders")))
	// 1 and 2 are finished, but 0 is not: it holds the progress.
	for _, err := range n.ack("billing", first[1], first[2], second[0]) {
		must(t, err)
	}
	if got := n.offset("billing", 0); got != 0 {
		t.Errorf("progress %d with the first message unfinished, want 0", got)
	}
	for _, err := range n.ack("billing", first[0], first[0], first[1]) { // again is fine
		must(t, err)
	}
	if got := n.offset("billing", 0); got != 4 {
		t.Errorf("progress %d, want 4: the first unfinished message", got)
	}
}

func TestAnAckThroughAnotherGatewayCountsAfterTheFirstDied(t *testing.T) {
	p := newPlant(t)
	first, second := p.gateway(), p.gateway()
	topic := first.topic("orders", 1)
	first.group("billing", time.Minute)
	first.send(topic, 0, "", "a", "b")
	got := first.receive(ask("billing", "orders"))
	first.kill()
	for _, err := range second.ack("billing", got...) {
		must(t, err)
	}
	if got := second.offset("billing", 0); got != 2 {
		t.Errorf("progress %d, want 2", got)
	}
}

func TestWhatIsNotAcknowledgedInTimeComesAgain(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", 150*time.Millisecond, func(g *meta.Group) { g.NackDelaysMS = []int64{0} })
	n.send(topic, 0, "", "a", "b")
	first := n.receive(ask("billing", "orders"))
	must(t, n.ack("billing", first[1])[0])
	again := n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 5 * time.Second }))
	wantBodies(t, again, "a")
	if again[0].Attempt != 2 || first[0].Attempt != 1 {
		t.Errorf("attempts %d and %d, want 1 and 2", first[0].Attempt, again[0].Attempt)
	}
	err := n.ack("billing", first[0])[0]
	var why *group.ReceiptError
	if !errors.As(err, &why) || !errors.Is(err, group.ErrReceiptSuperseded) || why.Attempt != 1 || why.Current != 2 {
		t.Errorf("the old receipt: %v, want superseded", err)
	}
}

func TestAReceiptExpiresExactlyAtItsDeadline(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", 50*time.Millisecond)
	n.send(topic, 0, "", "a")
	got := n.receive(ask("billing", "orders"))[0]
	for {
		now, err := n.db.Now(t.Context())
		must(t, err)
		if now > got.Deadline {
			break
		}
	}
	err := n.ack("billing", got)[0]
	var why *group.ReceiptError
	if !errors.As(err, &why) || !errors.Is(err, group.ErrReceiptExpired) || why.Deadline != got.Deadline || why.Now <= why.Deadline {
		t.Errorf("after the deadline: %v, want expired", err)
	}
}

func TestANackGivesAMessageBackAfterItsDelay(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, func(g *meta.Group) { g.NackDelaysMS = []int64{3_600_000} })
	n.send(topic, 0, "", "a", "b")
	got := n.receive(ask("billing", "orders"))
	now := int64(0)
	results, err := n.Nack(t.Context(), "billing", []group.NackItem{{Receipt: got[0].Receipt, DelayMS: &now}, {Receipt: got[1].Receipt}})
	must(t, err)
	for _, r := range results {
		must(t, r.Err)
	}
	again := n.await(ask("billing", "orders"))
	wantBodies(t, again, "a")
	if again[0].Attempt != 2 {
		t.Errorf("attempt %d, want 2", again[0].Attempt)
	}
	wantBodies(t, n.receive(ask("billing", "orders"))) // b waits for an hour
	late := int64(group.MaxInvisible.Milliseconds() + 1)
	results, err = n.Nack(t.Context(), "billing", []group.NackItem{{Receipt: again[0].Receipt, DelayMS: &late}})
	must(t, err)
	if _, ok := errors.AsType[*journal.InvalidError](results[0].Err); !ok {
		t.Errorf("a delay of more than a day: %v", results[0].Err)
	}
}

func TestExtendKeepsBothReceiptsGood(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", 200*time.Millisecond)
	n.send(topic, 0, "", "a", "b")
	got := n.receive(ask("billing", "orders"))
	var extended []string
	for _, m := range got {
		results, err := n.Extend(t.Context(), "billing", []group.ExtendItem{{Receipt: m.Receipt, Invisible: time.Minute}})
		must(t, err)
		must(t, results[0].Err)
		if results[0].Deadline < m.Deadline+30_000 {
			t.Errorf("extended until %d, it was %d", results[0].Deadline, m.Deadline)
		}
		extended = append(extended, results[0].Receipt)
	}
	for {
		now, err := n.db.Now(t.Context())
		must(t, err)
		if now > got[1].Deadline {
			break
		}
	}
	wantBodies(t, n.receive(ask("billing", "orders"))) // they stay hidden
	results, err := n.Ack(t.Context(), "billing", []string{got[0].Receipt, extended[1]})
	must(t, err)
	for _, r := range results {
		must(t, r.Err)
	}
	if got := n.offset("billing", 0); got != 2 {
		t.Errorf("progress %d, want 2", got)
	}
}

func TestReceiptsCannotBeMade(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.group("audit", time.Minute)
	n.send(topic, 0, "", "a")
	receipt := n.receive(ask("billing", "orders"))[0].Receipt
	forged := []string{"", "x", strings.Repeat("A", 100), receipt + "A", receipt[1:]}
	for i := range receipt {
		c := byte('A')
		if receipt[i] == 'A' {
			c = 'B'
		}
		forged = append(forged, receipt[:i]+string(c)+receipt[i+1:])
	}
	results, err := n.Ack(t.Context(), "billing", forged)
	must(t, err)
	for i, r := range results {
		if !errors.Is(r.Err, group.ErrReceiptInvalid) {
			t.Errorf("%q: %v, want ErrReceiptInvalid", forged[i], r.Err)
		}
	}
	results, err = n.Ack(t.Context(), "audit", []string{receipt})
	must(t, err)
	if !errors.Is(results[0].Err, group.ErrReceiptInvalid) {
		t.Errorf("another group's receipt: %v", results[0].Err)
	}
	must(t, n.ack("billing", group.Received{Receipt: receipt})[0])
}

func TestAnOrderedGroupWaitsForTheMessageBefore(t *testing.T) {
	p := newPlant(t)
	n, other := p.gateway(), p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, func(g *meta.Group) { g.Ordered = true })
	n.send(topic, 0, "", numbered(4)...)
	two := func(attempt string) group.ReceiveRequest {
		return ask("billing", "orders", func(r *group.ReceiveRequest) { r.MaxMessages, r.AttemptID = 2, attempt })
	}
	first := n.receive(two("a1"))
	wantBodies(t, first, "0", "1")
	wantBodies(t, other.receive(two("a2")))
	lost := other.receive(two("a1")) // the answer was lost: the same again, and not counted
	wantBodies(t, lost, "0", "1")
	if lost[0].Attempt != 1 {
		t.Errorf("attempt %d after a lost answer, want 1", lost[0].Attempt)
	}
	must(t, n.ack("billing", first[1])[0])
	wantBodies(t, other.receive(two("a2"))) // 0 is still out
	must(t, n.ack("billing", lost[0])[0])
	wantBodies(t, other.receive(two("a2")), "2", "3")
}

func TestAReceiveTakesOnlyWhatPassesItsFilter(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	for i := range 6 {
		n.send(topic, 0, []string{"even", "odd"}[i%2], fmt.Sprint(i))
	}
	odd := ask("billing", "orders", func(r *group.ReceiveRequest) { r.Subscriptions[0].SQL = "TAGS = 'odd'" })
	got := n.receive(odd)
	wantBodies(t, got, "1", "3", "5")
	for _, err := range n.ack("billing", got...) {
		must(t, err)
	}
	if got := n.offset("billing", 0); got != 6 {
		t.Errorf("progress %d, want 6: what is rejected is finished", got)
	}
	var mismatch *meta.SubscriptionMismatchError
	if _, err := n.Receive(t.Context(), ask("billing", "orders")); !errors.As(err, &mismatch) || mismatch.Current[0].SQL == "" {
		t.Errorf("another filter: %v, want a mismatch", err)
	}
}

func TestReceiversShareAndNobodyGetsAMessageTwice(t *testing.T) {
	p := newPlant(t)
	gateways := []*gateway{p.gateway(), p.gateway()}
	topic := gateways[0].topic("orders", 3)
	gateways[0].group("billing", time.Minute)
	const messages = 300
	for i := range messages {
		gateways[0].send(topic, int64(i%3), "", fmt.Sprint(i))
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var receivers sync.WaitGroup
	for i := range 8 {
		receivers.Go(func() {
			n := gateways[i%2]
			for {
				reply, err := n.Receive(t.Context(), ask("billing", "orders", func(r *group.ReceiveRequest) { r.MaxMessages = 7 }))
				if err != nil {
					t.Errorf("receive: %v", err)
					return
				}
				if len(reply.Messages) == 0 {
					return
				}
				mu.Lock()
				for _, b := range bodies(reply.Messages) {
					seen[b]++
				}
				mu.Unlock()
				for _, err := range n.ack("billing", reply.Messages...) {
					if err != nil {
						t.Errorf("ack: %v", err)
					}
				}
			}
		})
	}
	receivers.Wait()
	for b, times := range seen {
		if times != 1 {
			t.Errorf("message %s was given %d times", b, times)
		}
	}
	// A receiver may have found nothing while another was busy with the last ones.
	for got := gateways[0].receive(ask("billing", "orders")); len(got) > 0; got = gateways[0].receive(ask("billing", "orders")) {
		for _, b := range bodies(got) {
			seen[b]++
		}
	}
	if len(seen) != messages {
		t.Errorf("%d of %d messages were received", len(seen), messages)
	}
}

func TestAReceiveWaitsAndNoLonger(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 2)
	n.group("billing", time.Minute)
	began := time.Now()
	wantBodies(t, n.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 300 * time.Millisecond })))
	if took := time.Since(began); took < 300*time.Millisecond || took > 1300*time.Millisecond {
		t.Errorf("an empty receive of 300 ms took %v", took)
	}
	got := make(chan []group.Received, 1)
	go func() {
		reply, err := n.Receive(t.Context(), ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 20 * time.Second }))
		if err != nil {
			t.Errorf("receive: %v", err)
			close(got)
			return
		}
		got <- reply.Messages
	}()
	n.send(topic, 1, "", "late")
	select {
	case messages := <-got:
		wantBodies(t, messages, "late")
	case <-time.After(10 * time.Second):
		t.Fatal("the receive did not wake")
	}
}

func TestAResetDropsWhatIsInFlight(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", numbered(6)...)
	inFlight := n.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.MaxMessages = 4 }))
	plan, err := n.Reset(t.Context(), group.ResetRequest{Group: "billing", Topic: "orders", To: group.ToOffset, Value: 2, DryRun: true})
	must(t, err)
	if len(plan) != 1 || plan[0].Old != 0 || plan[0].New != 2 || n.offset("billing", 0) != 0 {
		t.Errorf("dry run: %+v, progress %d", plan, n.offset("billing", 0))
	}
	var acking sync.WaitGroup
	for range 4 {
		acking.Go(func() {
			for range 25 {
				n.ack("billing", inFlight...)
			}
		})
	}
	done, err := n.Reset(t.Context(), group.ResetRequest{Group: "billing", Topic: "orders", To: group.ToOffset, Value: 2, By: "op"})
	must(t, err)
	acking.Wait()
	if done[0].New != 2 || done[0].Version != 2 || n.offset("billing", 0) != 2 {
		t.Errorf("reset: %+v, progress %d, want 2 whatever was acknowledged", done, n.offset("billing", 0))
	}
	for _, err := range n.ack("billing", inFlight...) {
		if !errors.Is(err, group.ErrReceiptSuperseded) {
			t.Errorf("an old receipt after the reset: %v", err)
		}
	}
	wantBodies(t, n.receive(ask("billing", "orders")), "2", "3", "4", "5")
	for _, c := range []struct {
		to   string
		want int64
	}{{group.ToEarliest, 0}, {group.ToLatest, 6}, {group.ToTimestamp, 6}} {
		done, err := n.Reset(t.Context(), group.ResetRequest{Group: "billing", Topic: "orders", To: c.to, Value: time.Now().Add(time.Hour).UnixMilli()})
		must(t, err)
		if done[0].New != c.want {
			t.Errorf("%s: %+v, want %d", c.to, done, c.want)
		}
	}
	done, err = n.Reset(t.Context(), group.ResetRequest{Group: "billing", Topic: "orders", To: group.ToShift, Value: -2})
	must(t, err)
	if done[0].New != 4 {
		t.Errorf("two back: %+v", done)
	}
	var bounds *journal.BoundsError
	if _, err := n.Reset(t.Context(), group.ResetRequest{Group: "billing", Topic: "orders", To: group.ToOffset, Value: 7}); !errors.As(err, &bounds) {
		t.Errorf("beyond the end: %v", err)
	}
}

func TestAStoppedQueueGivesNothing(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", "a", "b")
	got := n.receive(ask("billing", "orders", func(r *group.ReceiveRequest) { r.MaxMessages = 1 }))
	_, err := n.SetStopped(t.Context(), "billing", "orders", 0, true, "op")
	must(t, err)
	wantBodies(t, n.receive(ask("billing", "orders")))
	must(t, n.ack("billing", got[0])[0]) // the last progress counts
	if got := n.offset("billing", 0); got != 1 {
		t.Errorf("progress %d, want 1", got)
	}
	_, err = n.SetStopped(t.Context(), "billing", "orders", 0, false, "op")
	must(t, err)
	wantBodies(t, n.receive(ask("billing", "orders")), "b")
	if _, err = n.SetStopped(t.Context(), "billing", "orders", 5, true, "op"); !errors.Is(err, meta.ErrNoOffset) {
		t.Errorf("a queue without offset: %v", err)
	}
}

func TestWhereAGroupBegins(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.send(topic, 0, "", "old")
	time.Sleep(5 * time.Millisecond)
	n.send(topic, 0, "", "mid")
	since := n.storedAt(topic, 1)
	for from, want := range map[string][]string{
		meta.ConsumeFromFirst: {"old", "mid", "new"}, meta.ConsumeFromLast: {"new"}, meta.ConsumeFromTimestamp: {"mid", "new"},
	} {
		n.group(from, time.Minute, func(g *meta.Group) {
			if g.ConsumeFrom = from; from == meta.ConsumeFromTimestamp {
				g.ConsumeTimestamp = since
			}
		})
		if from == meta.ConsumeFromLast {
			wantBodies(t, n.receive(ask(from, "orders"))) // it registers
		}
		defer func() { wantBodies(t, n.receive(ask(from, "orders")), want...) }()
	}
	n.send(topic, 0, "", "new")
}

// storedAt is the store time of a message in queue 0.
func (n *gateway) storedAt(topic meta.Topic, offset int64) int64 {
	n.t.Helper()
	page, err := n.journal.Read(n.t.Context(), journal.Read{Topic: topic, Offset: offset, MaxMessages: 1, MaxBytes: 1})
	must(n.t, err)
	return page.Messages[0].StoredAt
}

// Everything that Redis had is gone: what was acknowledged and recorded stays so,
// the rest comes again, and nothing is skipped.
func TestSharedConsumptionGoesOnAfterTheLossOfRedis(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", numbered(10)...)
	got := n.receive(ask("billing", "orders"))
	for _, err := range n.ack("billing", got[:6]...) {
		must(t, err)
	}
	must(t, n.Close(t.Context())) // as at the end of RecordEvery
	p.redis.Flush()
	seen := map[string]bool{}
	deadline := time.Now().Add(20 * time.Second)
	for len(seen) < 4 && time.Now().Before(deadline) {
		reply, err := n.Receive(t.Context(), ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = time.Second }))
		if err != nil {
			continue // it is being recovered
		}
		for _, b := range bodies(reply.Messages) {
			seen[b] = true
		}
	}
	var all []string
	for b := range seen {
		all = append(all, b)
	}
	slices.Sort(all)
	if fmt.Sprint(all) != "[6 7 8 9]" {
		t.Errorf("received %v again, want 6 to 9", all)
	}
}

func (n *gateway) settings(name, topic string, change func(*meta.Settings)) {
	n.t.Helper()
	_, err := n.UpdateSettings(n.t.Context(), name, topic, change, group.AnyVersion)
	must(n.t, err)
}

// The live settings of a group reach also those who wait in a receive.
func TestSettingsChangeWhatReceiversGet(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	wantBodies(t, n.receive(ask("billing", "orders"))) // it begins
	got := make(chan []group.Received, 1)
	go func() {
		got <- n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 10 * time.Second }))
	}()
	n.settings("billing", "orders", func(s *meta.Settings) { s.Tags = "paid" })
	time.Sleep(50 * time.Millisecond) // the notice is on its way
	n.send(topic, 0, "new", "a")
	n.send(topic, 0, "paid", "b")
	wantBodies(t, <-got, "b")

	n.settings("billing", "orders", func(s *meta.Settings) { s.Tags, s.DelayMS = "", 500 })
	n.send(topic, 0, "", "young")
	sent := time.Now()
	wantBodies(t, n.receive(ask("billing", "orders")))
	young := n.await(ask("billing", "orders", func(r *group.ReceiveRequest) { r.Wait = 10 * time.Second }))
	wantBodies(t, young, "young")
	if took := time.Since(sent); took < 400*time.Millisecond || took > 4*time.Second {
		t.Errorf("a message with a delay of 500 ms came after %v", took)
	}

	n.settings("billing", "orders", func(s *meta.Settings) { s.DelayMS, s.ThresholdMessages = 0, 3 })
	n.send(topic, 0, "", "c", "d", "e")
	rest := n.receive(ask("billing", "orders")) // one of three is in flight, b and young
	wantBodies(t, rest, "c")
	must(t, n.ack("billing", young[0], rest[0])[0])
	wantBodies(t, n.receive(ask("billing", "orders")), "d", "e")
}

// Each client of a broadcasting group has its own progress, so nothing of the
// group can be moved or stopped.
func TestABroadcastingGroupIsNeitherResetNorStopped(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("news", time.Minute, func(g *meta.Group) { g.Mode = meta.ModeBroadcasting })
	m := n.join("news", "a", "orders").Member.ID
	n.send(topic, 0, "", "x")
	var invalid *journal.InvalidError
	for _, dry := range []bool{true, false} {
		_, err := n.Reset(t.Context(), group.ResetRequest{Group: "news", Topic: "orders", To: group.ToLatest, DryRun: dry})
		if !errors.As(err, &invalid) || invalid.Code != journal.CodeConflict {
			t.Errorf("reset: %v", err)
		}
	}
	if _, err := n.SetStopped(t.Context(), "news", "orders", 0, true, "op"); !errors.As(err, &invalid) || invalid.Field != "stopped" {
		t.Errorf("stop: %v", err)
	}
	records, err := n.db.AllOffsets(t.Context(), n.definition("news").ID)
	must(t, err)
	if len(records) != 0 {
		t.Errorf("the group has progress of its own: %+v", records)
	}
	wantPolled(t, n.poll("news", m, ""), "x")
}

func TestAQueueHasABoundedNumberInFlight(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", numbered(1000)...)
	n.send(topic, 0, "", numbered(100)...)
	var all []group.Received
	for {
		got := n.receive(ask("billing", "orders"))
		if len(got) == 0 {
			break
		}
		all = append(all, got...)
	}
	if len(all) != meta.MaxInFlight {
		t.Fatalf("%d messages are in flight, want %d", len(all), meta.MaxInFlight)
	}
	must(t, n.ack("billing", all[500])[0])
	if got := n.receive(ask("billing", "orders")); len(got) != 1 || got[0].Offset != meta.MaxInFlight {
		t.Errorf("after one was finished came %v", bodies(got))
	}
}
