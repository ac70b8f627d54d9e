package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/bucketmq/bucketmq/meta"
)

// waitFor fails the test when the condition does not come true soon.
func waitFor(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

// parked waits until n readers of the node have taken their seat and looked
// again: then only news or time can end them.
func (n *node) parked(want int) {
	n.rig.t.Helper()
	waitFor(n.rig.t, fmt.Sprint(want, " readers wait"), func() bool {
		t := n.tails.of(n.rig.topic.ID)
		if t == nil {
			return want == 0
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		known := 0
		for _, q := range t.queues {
			if q.next != unknownNext {
				known += len(q.seats)
			}
		}
		return t.subscribed && known == want
	})
}

type answer struct {
	page *Page
	err  error
	took time.Duration
	at   time.Time
}

// goRead reads in another goroutine.
func (n *node) goRead(ctx context.Context, read Read) <-chan answer {
	read.Topic = n.rig.topic
	done := make(chan answer, 1)
	go func() {
		started := time.Now()
		page, err := n.Read(ctx, read)
		done <- answer{page, err, time.Since(started), time.Now()}
	}()
	return done
}

func TestNoWakeUpIsLost(t *testing.T) {
	r := newRig(t, 4)
	producer, other := r.node().start(), r.node().start()
	const readers = 200
	var late []time.Duration
	for round := range 3 {
		var answers []<-chan answer
		offsets := make([]int64, 4)
		for queue := range offsets {
			page, err := producer.Read(t.Context(), Read{Topic: r.topic, Queue: uint32(queue), Offset: 1 << 50, Clamp: true})
			if err != nil {
				t.Fatal(err)
			}
			offsets[queue] = page.Next
		}
		for i := range readers {
			n := []*node{producer, other}[i%2]
			queue := uint32(i) % 4
			answers = append(answers, n.goRead(t.Context(), Read{Queue: queue, Offset: offsets[queue], Wait: 20 * time.Second}))
		}
		time.Sleep(rand.N(50 * time.Millisecond)) // the moment of storing is random: nothing is waited for
		var all []msg
		for queue := range uint32(4) {
			all = append(all, msg{queue: queue, body: fmt.Sprint("round ", round)})
		}
		producer.put(all...)
		stored := time.Now()
		for _, done := range answers {
			a := <-done
			if a.err != nil || a.page.Status != Found || string(a.page.Messages[0].Record.Body) != fmt.Sprint("round ", round) {
				t.Fatalf("round %d: got %+v, %v", round, a.page, a.err)
			}
			late = append(late, max(0, a.at.Sub(stored)))
		}
	}
	slices.Sort(late)
	if p99 := late[len(late)*99/100]; p99 > 300*time.Millisecond {
		t.Errorf("p99 of waking is %v, want at most 300ms", p99)
	}
}

func TestTailCostsNoGetWhereItWasWrittenAndOneElsewhere(t *testing.T) {
	r := newRig(t, 2)
	producer, other := r.node().start(), r.node().start()
	for round := range int64(5) {
		var answers []<-chan answer
		for queue := range uint32(2) {
			for range 5 {
				answers = append(answers,
					producer.goRead(t.Context(), Read{Queue: queue, Offset: round, Wait: 20 * time.Second}),
					other.goRead(t.Context(), Read{Queue: queue, Offset: round, Wait: 20 * time.Second}))
			}
		}
		producer.parked(10)
		other.parked(10)
		lookups := testutil.ToFloat64(producer.metrics.lookups)
		ref := producer.put(msg{queue: 0, body: "x"}, msg{queue: 1, body: "x"})
		for _, done := range answers {
			if a := <-done; a.err != nil || a.page.Status != Found {
				t.Fatalf("got %+v, %v", a.page, a.err)
			}
		}
		if got := r.gets(ref); got != 1 {
			t.Errorf("round %d: 20 readers on 2 nodes cost %d GETs, want 1", round, got)
		}
		if got := testutil.ToFloat64(producer.metrics.lookups) - lookups; got != 0 {
			t.Errorf("round %d: waking 10 readers cost %v look-ups, want 0", round, got)
		}
	}
	if got := testutil.ToFloat64(producer.metrics.gets.WithLabelValues("ok")); got != 0 {
		t.Errorf("the producing node sent %v GETs, want 0", got)
	}
}

func TestOtherTagsDoNotWake(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	b := n.goRead(t.Context(), Read{Wait: 20 * time.Second, Filter: tags(t, "b")})
	none := n.goRead(t.Context(), Read{Wait: 1500 * time.Millisecond, Filter: tags(t, "none")})
	n.parked(2)
	for i := range 10 {
		n.put(msg{tag: "a", body: fmt.Sprint(i)})
	}
	if got := testutil.ToFloat64(n.metrics.wakeups); got != 0 {
		t.Errorf("ten messages of another tag woke the readers %v times, want 0", got)
	}
	stored := time.Now()
	n.put(msg{tag: "b", body: "this"})
	a := <-b
	if a.err != nil || a.page.Status != Found || string(a.page.Messages[0].Record.Body) != "this" || a.page.Next != 11 {
		t.Fatalf("got %+v, %v, want the message with tag b", a.page, a.err)
	}
	if took := a.at.Sub(stored); took > 50*time.Millisecond {
		t.Errorf("the message took %v to the waiting reader, want at most 50ms", took)
	}
	a = <-none
	if a.err != nil || a.page.Status != NoMatch || a.page.Next != 11 {
		t.Fatalf("got %+v, %v, want no_match with everything passed", a.page, a.err)
	}
	if a.took < 1500*time.Millisecond || a.took > 2500*time.Millisecond {
		t.Errorf("the wait took %v, want 1.5 s to 2.5 s", a.took)
	}
}

func TestAWaitEndsInTimeWithNothingNew(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	n.put(msg{body: "x"})
	a := <-n.goRead(t.Context(), Read{Offset: 1, Wait: 300 * time.Millisecond})
	if a.err != nil || a.page.Status != NoNew || a.page.Next != 1 || a.page.Max != 1 {
		t.Fatalf("got %+v, %v, want no_new at 1", a.page, a.err)
	}
	if a.took < 300*time.Millisecond || a.took > 1300*time.Millisecond {
		t.Errorf("took %v, want 300 ms and at most a second more", a.took)
	}
	n.parked(0)
}

func TestOneWakeUpPerSegment(t *testing.T) {
	r := newRig(t, 8)
	n := r.node().start()
	f, err := n.Follow(t.Context(), FollowOptions{Topic: r.topic})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	first := make(chan *Batch, 1)
	go func() {
		b, err := f.Next(context.Background(), 0, 0)
		if err != nil {
			t.Error(err)
		}
		first <- b
	}()
	n.parked(8)
	var all []msg
	for queue := range uint32(8) {
		all = append(all, many(20, queue, "", fmt.Sprint(queue, "/"))...)
	}
	n.put(all...)
	if b := <-first; len(b.Items) != 100 {
		t.Errorf("got %d messages, want the 100 that fit", len(b.Items))
	}
	if got := testutil.ToFloat64(n.metrics.wakeups); got != 1 {
		t.Errorf("a segment with 160 messages for 8 queues woke the follower %v times, want 1", got)
	}
}

func TestNoticesThatNeverComeAreMadeUpForByLookingAgain(t *testing.T) {
	r := newRig(t, 1)
	producer, deaf := r.node().start(), r.node()
	deaf.feed = deaf.db.NewFeed(func(meta.Notice) {})
	deaf.recheckEvery = 200 * time.Millisecond
	deaf.start()
	waiting := deaf.goRead(t.Context(), Read{Wait: 20 * time.Second})
	filtered := deaf.goRead(t.Context(), Read{Wait: 20 * time.Second, Filter: tags(t, "b")})
	deaf.parked(2)
	producer.put(many(3, 0, "a", "x")...)
	if a := <-waiting; a.err != nil || a.page.Status != Found || a.took > 5*time.Second {
		t.Fatalf("got %+v, %v after %v, want the messages", a.page, a.err, a.took)
	}
	if got := testutil.ToFloat64(deaf.metrics.wakeups); got != 1 {
		t.Errorf("looking again woke %v readers, want only the one whom it concerns", got)
	}
	for range lookupEntries + 5 { // more than one look-up tells
		producer.put(msg{tag: "a"})
	}
	producer.put(msg{tag: "b", body: "this"})
	if a := <-filtered; a.err != nil || a.page.Status != Found || string(a.page.Messages[0].Record.Body) != "this" {
		t.Fatalf("got %+v, %v, want the message with tag b", a.page, a.err)
	}
	if testutil.ToFloat64(deaf.metrics.rechecks.WithLabelValues("missed")) == 0 {
		t.Error("the lost notices were not counted")
	}
}

func TestMessagesComeThoughTheFeedIsCutAgainAndAgain(t *testing.T) {
	r := newRig(t, 1)
	producer, other := r.node().start(), r.node().start()
	cut := func() { r.redis.Client().ClientKillByFilter(context.Background(), "TYPE", "pubsub") }
	for offset := range int64(5) {
		waiting := other.goRead(t.Context(), Read{Offset: offset, Wait: 20 * time.Second})
		other.parked(1)
		cut()
		producer.put(msg{body: "x"})
		cut()
		if a := <-waiting; a.err != nil || a.page.Status != Found || a.took > 5500*time.Millisecond {
			t.Fatalf("got %+v, %v after %v, want the message within 5 s", a.page, a.err, a.took)
		}
	}
}

func TestWaitersSurviveALossOfRedisAndOfTheStore(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	waiting := n.goRead(t.Context(), Read{Wait: 25 * time.Second})
	short := n.goRead(t.Context(), Read{Wait: time.Second})
	n.parked(2)
	resume := r.redis.Pause()
	a := <-short
	if a.err != nil || a.page.Status != NoNew || a.took > 2*time.Second {
		t.Errorf("got %+v, %v after %v, want no_new in time", a.page, a.err, a.took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	if _, err := n.Find(ctx, r.topic, 0, 0); err == nil {
		t.Error("a look-up succeeded without Redis")
	}
	cancel()
	resume()
	n.put(msg{body: "x"})
	if a := <-waiting; a.err != nil || a.page.Status != Found {
		t.Errorf("got %+v, %v, want the message after Redis is back", a.page, a.err)
	}
	r.redis.Kill()
	if _, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: 1}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("reading without Redis: %v, want ErrUnavailable", err)
	}
	r.redis.Start()
	waitFor(t, "an empty Redis answers that it is recovering", func() bool {
		_, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: 1})
		return errors.Is(err, ErrRecovering)
	})
}

func TestDrainEndsEveryWait(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	waiting := n.goRead(t.Context(), Read{Wait: 25 * time.Second})
	f, err := n.Follow(t.Context(), FollowOptions{Topic: r.topic})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	following := make(chan error, 1)
	go func() {
		_, err := f.Next(context.Background(), 0, 0)
		following <- err
	}()
	n.parked(2)
	n.drain()
	n.drain()
	if a := <-waiting; a.err != nil || a.page.Status != NoNew {
		t.Errorf("got %+v, %v, want no_new at once", a.page, a.err)
	}
	if err := <-following; !errors.Is(err, ErrDraining) {
		t.Errorf("following ended with %v, want ErrDraining", err)
	}
	if a := <-n.goRead(t.Context(), Read{Wait: 25 * time.Second}); a.err != nil || a.took > time.Second {
		t.Errorf("a wait after draining: %v after %v, want an answer at once", a.err, a.took)
	}
}

func TestAWaitEndsWithItsRequest(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	ctx, cancel := context.WithCancel(t.Context())
	waiting := n.goRead(ctx, Read{Wait: 25 * time.Second})
	n.parked(1)
	cancel()
	if a := <-waiting; !errors.Is(a.err, context.Canceled) {
		t.Errorf("got %+v, %v, want context.Canceled", a.page, a.err)
	}
	n.parked(0)
}

func TestIdleTopicsAreForgotten(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	<-n.goRead(t.Context(), Read{Wait: time.Millisecond})
	tail := n.tails.of(r.topic.ID)
	if tail == nil {
		t.Fatal("the topic was not remembered")
	}
	if n.tails.drop(tail, time.Now().Add(-time.Hour)) || n.tails.of(r.topic.ID) == nil {
		t.Fatal("a topic that was just read was forgotten")
	}
	n.tails.drop(tail, time.Now())
	if n.tails.of(r.topic.ID) != nil {
		t.Fatal("an idle topic is still remembered")
	}
	// A reader that held on to the forgotten tail gets a new one.
	waiting := n.goRead(t.Context(), Read{Wait: 20 * time.Second})
	n.parked(1)
	n.put(msg{body: "x"})
	if a := <-waiting; a.err != nil || a.page.Status != Found {
		t.Fatalf("got %+v, %v", a.page, a.err)
	}
}
