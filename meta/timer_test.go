package meta_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var timerCases = []testCase{
	{"TimerFiresOnceAndNeverEarly", timerFiresOnceAndNeverEarly},
	{"TouchingTimersBecomeOneEntry", touchingTimersBecomeOneEntry},
	{"TimersOfWithheldRequestsAreNotPutDown", timersOfWithheldRequests},
	{"RecallRacingFireHasOneWinner", recallRacingFire},
	{"RecallIsRepeatable", recallIsRepeatable},
	{"FiringsStayUntilTheyAreSettled", firingsStayUntilSettled},
	{"RestoredTimersFire", restoredTimersFire},
	{"DeletedTopicHasNoTimers", deletedTopicHasNoTimers},
	{"TimersAreNoticed", timersAreNoticed},
	{"RandomTimersMatchTheModel", randomTimersMatchTheModel},
}

// timersAt makes a commit of n timers of one queue that lie side by side.
func timersAt(topic meta.Topic, w uuid.UUID, seq uint64, queue uint32, due ...int64) meta.Commit {
	c := meta.Commit{Topic: topic.ID, Epoch: 1, Writer: w, Seq: seq}
	for i, at := range due {
		c.Timers = append(c.Timers, meta.CommitTimer{ID: uuid.Must(uuid.NewV7()), Due: at, Queue: queue, Count: 1, Position: int64(100 * i), Length: 100, Request: -1})
	}
	return c
}

func redisNow(t testing.TB, db *meta.DB) int64 {
	t.Helper()
	now, err := db.Now(t.Context())
	check(t, err)
	return now
}

// fireDue fires what is due, once.
func fireDue(t testing.TB, db *meta.DB, topic uuid.UUID) meta.Fired {
	t.Helper()
	d, err := db.DueTimers(t.Context(), topic, meta.MaxFire)
	check(t, err)
	if len(d.Timers) == 0 {
		return meta.Fired{}
	}
	f, err := db.FireTimers(t.Context(), topic, d.Epoch, d.Timers)
	check(t, err)
	return f
}

func timerFiresOnceAndNeverEarly(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	now := redisNow(t, e.db)
	c := timersAt(topic, uuid.New(), 1, 1, now+150, now+60_000, now-5)
	r := mustCommit(t, e.db, c)
	equal(t, "armed", r.Armed, c.Timers)
	if len(r.Entries) != 0 {
		t.Errorf("a commit of timers indexed %v", r.Entries)
	}
	again := mustCommit(t, e.db, c)
	equal(t, "armed when repeated", again.Armed, c.Timers)
	all := []meta.Timer{}
	for _, ct := range c.Timers {
		all = append(all, meta.Timer{ID: ct.ID, Due: ct.Due, Entry: meta.Entry{Queue: 1, Count: 1, Segment: meta.SegmentRef{Writer: c.Writer, Seq: 1}, Position: ct.Position, Length: ct.Length}})
	}
	// Whatever a caller believes, the script looks at the clock.
	f, err := e.db.FireTimers(t.Context(), topic.ID, 1, all)
	check(t, err)
	if f.Messages() != 1 || f.Entries[0].Position != 200 || f.Entries[0].First() != 0 {
		t.Fatalf("fired %+v, want only the one that is due", f.Entries)
	}
	fired := f.Entries
	for deadline := time.Now().Add(5 * time.Second); len(fired) < 2; {
		if time.Now().After(deadline) {
			t.Fatal("the second timer does not fire")
		}
		f, err := e.db.FireTimers(t.Context(), topic.ID, 1, all)
		check(t, err)
		fired = append(fired, f.Entries...)
	}
	if fired[1].StoredAt < now+150 || fired[1].First() != 1 {
		t.Errorf("fired at %d, due at %d, as %+v", fired[1].StoredAt, now+150, fired[1])
	}
	w, err := e.db.Lookup(t.Context(), topic.ID, 1, 0, 10)
	check(t, err)
	equal(t, "index", w.Entries, fired)
	d, err := e.db.DueTimers(t.Context(), topic.ID, 10)
	check(t, err)
	if len(d.Timers) != 0 || d.Next != now+60_000 {
		t.Errorf("left: %+v, want one at %d", d, now+60_000)
	}
	var wrong *meta.EpochError
	if _, err := e.db.FireTimers(t.Context(), topic.ID, 2, all); !errors.As(err, &wrong) || wrong.Current != 1 {
		t.Errorf("fire in another epoch: %v", err)
	}
}

func touchingTimersBecomeOneEntry(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	now := redisNow(t, e.db)
	c := timersAt(topic, uuid.New(), 1, 0, now-9, now-8, now-7, now-6)
	c.Timers[3].Position = 1000
	mustCommit(t, e.db, c)
	f := fireDue(t, e.db, topic.ID)
	if len(f.Entries) != 2 || f.Entries[0].Count != 3 || f.Entries[0].Length != 300 || f.Entries[1].Position != 1000 || f.Entries[1].Next != 4 {
		t.Fatalf("fired %+v", f.Entries)
	}
	// One that was recalled in between splits the run.
	c = timersAt(topic, uuid.New(), 1, 0, now-9, now-8, now-7)
	mustCommit(t, e.db, c)
	d, err := e.db.DueTimers(t.Context(), topic.ID, 10)
	check(t, err)
	_, err = e.db.RecallTimer(t.Context(), topic.ID, c.Timers[1].ID, 0)
	check(t, err)
	f, err = e.db.FireTimers(t.Context(), topic.ID, 1, d.Timers)
	check(t, err)
	if len(f.Entries) != 2 || f.Entries[0].First() != 4 || f.Entries[1].First() != 5 || f.Entries[1].Position != 200 {
		t.Fatalf("fired %+v", f.Entries)
	}
}

func timersOfWithheldRequests(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	now := redisNow(t, e.db)
	w := uuid.New()
	commit := func(seq uint64) meta.CommitResult {
		c := timersAt(topic, w, seq, 0, now-3, now-2)
		c.Requests = []meta.Request{keyRequest("a", "x")}
		c.Timers[1].Request = 0
		return mustCommit(t, e.db, c)
	}
	if r := commit(1); len(r.Armed) != 2 || r.Requests[0].Status != meta.RequestStored {
		t.Fatalf("first: %+v", r)
	}
	r := commit(2)
	if len(r.Armed) != 1 || r.Armed[0].Request != -1 || r.Requests[0].Status != meta.RequestDuplicate {
		t.Fatalf("second: %+v", r)
	}
	if f := fireDue(t, e.db, topic.ID); f.Messages() != 3 {
		t.Errorf("%d messages fire, want 3", f.Messages())
	}
}

func recallRacingFire(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w, recalled := uuid.New(), 0
	var fired int
	for n := range 200 {
		c := timersAt(topic, w, uint64(n+1), 0, redisNow(t, e.db)-1)
		mustCommit(t, e.db, c)
		var both sync.WaitGroup
		var recallErr error
		var f meta.Fired
		both.Go(func() { _, recallErr = e.db.RecallTimer(t.Context(), topic.ID, c.Timers[0].ID, c.Timers[0].Due) })
		both.Go(func() { f = fireDue(t, e.db, topic.ID) })
		both.Wait()
		switch {
		case recallErr == nil && f.Messages() == 0:
			recalled++
		case errors.Is(recallErr, meta.ErrDelivered) && f.Messages() == 1:
			fired++
		default:
			t.Fatalf("round %d: recall %v, fired %d", n, recallErr, f.Messages())
		}
	}
	t.Logf("%d recalled, %d fired", recalled, fired)
}

func recallIsRepeatable(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	now := redisNow(t, e.db)
	c := timersAt(topic, uuid.New(), 1, 0, now+60_000)
	mustCommit(t, e.db, c)
	id := c.Timers[0].ID
	first, err := e.db.RecallTimer(t.Context(), topic.ID, id, now+60_000)
	check(t, err)
	again, err := e.db.RecallTimer(t.Context(), topic.ID, id, now+60_000)
	check(t, err)
	equal(t, "repeated recall", again, first)
	if first.Entry.Segment.Seq != 1 || first.Due != now+60_000 {
		t.Errorf("recalled %+v", first)
	}
	if _, err := e.db.RecallTimer(t.Context(), topic.ID, uuid.New(), now+60_000); !errors.Is(err, meta.ErrTimerUnknown) {
		t.Errorf("unknown timer: %v", err)
	}
	if _, err := e.db.RecallTimer(t.Context(), topic.ID, uuid.New(), now-1); !errors.Is(err, meta.ErrDelivered) {
		t.Errorf("timer of the past: %v", err)
	}
	if _, err := e.db.RecallTimer(t.Context(), uuid.New(), id, now); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("unknown topic: %v", err)
	}
}

func firingsStayUntilSettled(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	now := redisNow(t, e.db)
	mustCommit(t, e.db, timersAt(topic, uuid.New(), 1, 0, now-9))
	fireDue(t, e.db, topic.ID)
	old, err := e.db.FiredTimers(t.Context(), topic.ID)
	check(t, err)
	mustCommit(t, e.db, timersAt(topic, uuid.New(), 1, 0, now-9))
	fireDue(t, e.db, topic.ID)
	if len(old) != 1 || old[0].Messages() != 1 {
		t.Fatalf("firings: %+v", old)
	}
	check(t, e.db.SettleFired(t.Context(), topic.ID, old))
	check(t, e.db.SettleFired(t.Context(), topic.ID, old)) // of two leaders, one is late
	left, err := e.db.FiredTimers(t.Context(), topic.ID)
	check(t, err)
	if len(left) != 1 || left[0].Entries[0].First() != 1 {
		t.Errorf("left: %+v, want the second", left)
	}
	counts, err := e.db.CountTimers(t.Context(), []meta.Topic{topic, newTopic(t, e.db, 1)})
	check(t, err)
	equal(t, "counts", counts, []meta.TopicTimers{{Topic: topic.ID, Fired: 1}})
}

func restoredTimersFire(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	now := redisNow(t, e.db)
	mustCommit(t, e.db, timersAt(topic, uuid.New(), 1, 0, now-9)) // not in the snapshot
	timer := meta.Timer{ID: uuid.New(), Due: now - 1, Entry: meta.Entry{Count: 1, Segment: meta.SegmentRef{Writer: uuid.New(), Seq: 7}, Position: 5, Length: 70, Tags: 3}}
	later := timer
	later.ID, later.Due = uuid.New(), now+60_000
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: now, Timers: []meta.Timer{later, timer}}))
	f := fireDue(t, e.db, topic.ID)
	if f.Messages() != 1 || f.Entries[0].Segment != timer.Entry.Segment || f.Entries[0].Tags != 3 {
		t.Errorf("fired %+v", f.Entries)
	}
	check(t, e.db.HoldTopic(t.Context(), topic.ID, now+1))
	if _, err := e.db.DueTimers(t.Context(), topic.ID, 1); !errors.Is(err, meta.ErrRecovering) {
		t.Errorf("due timers of a held topic: %v", err)
	}
	if _, err := e.db.FireTimers(t.Context(), topic.ID, 1, []meta.Timer{later}); !errors.Is(err, meta.ErrRecovering) {
		t.Errorf("fire in a held topic: %v", err)
	}
}

func deletedTopicHasNoTimers(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	mustCommit(t, e.db, timersAt(topic, uuid.New(), 1, 0, redisNow(t, e.db)+60_000))
	_, err := e.db.DeleteTopic(t.Context(), topic.Name, 0)
	check(t, err)
	counts, err := e.db.CountTimers(t.Context(), []meta.Topic{topic})
	check(t, err)
	if len(counts) != 0 {
		t.Errorf("a deleted topic has %+v", counts)
	}
	if _, err := e.db.DueTimers(t.Context(), topic.ID, 1); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("due timers of a deleted topic: %v", err)
	}
}

func timersAreNoticed(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	notices := make(chan meta.Notice, 100)
	feed := e.db.NewFeed(func(n meta.Notice) {
		if n.Timers == topic.ID {
			notices <- n
		}
	})
	feed.WatchTimers()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = feed.Run(ctx) }()
	defer func() { cancel(); <-done }()
	check(t, feed.Watch(within(t, 5*time.Second), topic.ID)) // confirmed after the channel of timers
	now := redisNow(t, e.db)
	mustCommit(t, e.db, timersAt(topic, uuid.New(), 1, 0, now+70_000, now+60_000))
	select {
	case n := <-notices:
		if n.TimersDue != now+60_000 {
			t.Errorf("noticed %d, want the first at %d", n.TimersDue, now+60_000)
		}
	case <-time.After(5 * time.Second):
		t.Error("nothing is noticed")
	}
}

// randomTimersMatchTheModel commits, fires and recalls at random and compares
// with what a list of timers would say.
func randomTimersMatchTheModel(t *testing.T, e engine) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	topic := newTopic(t, e.db, 3)
	w := uuid.New()
	waiting, gone := map[uuid.UUID]meta.CommitTimer{}, map[uuid.UUID]bool{}
	next := map[uint32]int64{}
	pick := func() (id uuid.UUID) {
		ids := []uuid.UUID{}
		for id := range waiting {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return cmp.Compare(a.String(), b.String()) })
		if len(ids) > 0 {
			id = ids[random.IntN(len(ids))]
		}
		return id
	}
	for step := range 120 {
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d, step %d: %s", seed, step, fmt.Sprintf(format, args...))
		}
		now := redisNow(t, e.db)
		switch random.IntN(4) {
		case 0, 1:
			queue := uint32(random.IntN(3))
			var due []int64
			for range 1 + random.IntN(4) {
				due = append(due, now-20+random.Int64N(60))
			}
			c := timersAt(topic, w, uint64(step+1), queue, due...)
			if random.IntN(2) == 0 {
				c.Queues = []meta.QueueCommit{{Queue: queue, Chunks: []meta.CommitChunk{{Count: 2, Position: 10_000, Length: 50, Request: -1}}}}
				next[queue] += 2
			}
			mustCommit(t, e.db, c)
			for _, one := range c.Timers {
				waiting[one.ID] = one
			}
		case 2:
			d, err := e.db.DueTimers(t.Context(), topic.ID, 1+random.IntN(6))
			check(t, err)
			if len(d.Timers) == 0 {
				continue
			}
			f, err := e.db.FireTimers(t.Context(), topic.ID, 1, d.Timers)
			check(t, err)
			if f.Messages() != len(d.Timers) {
				fail("%d of %d fired", f.Messages(), len(d.Timers))
			}
			for _, one := range d.Timers {
				if _, ok := waiting[one.ID]; !ok || one.Due > d.Now {
					fail("%s fires, which is not waiting or not due", one.ID)
				}
				delete(waiting, one.ID)
				gone[one.ID] = true
			}
			for _, entry := range f.Entries {
				if entry.First() != next[entry.Queue] {
					fail("queue %d goes on at %d, want %d", entry.Queue, entry.First(), next[entry.Queue])
				}
				next[entry.Queue] = entry.Next
			}
		case 3:
			id := pick()
			if id == uuid.Nil {
				continue
			}
			if _, err := e.db.RecallTimer(t.Context(), topic.ID, id, waiting[id].Due); err != nil {
				fail("recall: %v", err)
			}
			delete(waiting, id)
		}
	}
	counts, err := e.db.CountTimers(t.Context(), []meta.Topic{topic})
	check(t, err)
	left := int64(0)
	for _, c := range counts {
		left = c.Waiting
	}
	if left != int64(len(waiting)) {
		t.Errorf("seed %d: %d wait, want %d", seed, left, len(waiting))
	}
	states, err := e.db.Queues(t.Context(), topic)
	check(t, err)
	for q, state := range states {
		if state.Next != next[uint32(q)] {
			t.Errorf("seed %d: queue %d ends at %d, want %d", seed, q, state.Next, next[uint32(q)])
		}
	}
	if len(gone) == 0 {
		t.Errorf("seed %d: nothing fired", seed)
	}
}
