package group

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// ledger is a store of commits that fails for some groups.
type ledger struct {
	began time.Time
	fails map[uuid.UUID]error

	mu     sync.Mutex
	stored map[uuid.UUID][]meta.OffsetCommit // guarded by mu
	at     []time.Duration                   // guarded by mu; of each call that stored something
}

func newLedger() *ledger {
	return &ledger{began: time.Now(), stored: map[uuid.UUID][]meta.OffsetCommit{}, fails: map[uuid.UUID]error{}}
}

func (l *ledger) store(_ context.Context, group uuid.UUID, _ meta.Committer, items []meta.OffsetCommit) ([]meta.OffsetResult, error) {
	if err := l.fails[group]; err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored[group] = append(l.stored[group], items...)
	l.at = append(l.at, time.Since(l.began))
	return make([]meta.OffsetResult, len(items)), nil
}

func (l *ledger) commits() *commits { return newCommits(l.store, slog.New(slog.DiscardHandler)) }

var owner = meta.Committer{Member: "m", By: "c"}

// one is a commit in queue 0 of a topic that has no id.
func one(version, offset int64) meta.OffsetCommit {
	return meta.OffsetCommit{Version: version, Offset: offset, Epoch: 1}
}

func TestMergedCommitsAreStoredAfterTenSecondsAndThenEveryFive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		c := l.commits()
		ctx, cancel := context.WithCancel(t.Context())
		go c.run(ctx, firstFlush, flushEvery)
		group := uuid.New()
		upTo := func(at time.Duration, want int) {
			t.Helper()
			time.Sleep(at - time.Since(l.began)) // the bubble's clock
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			if got := len(l.at); got != want {
				t.Errorf("at %v: %d flushes, want %d", at, got, want)
			}
		}
		upTo(time.Second, 0)
		c.add(group, owner, one(1, 5))
		c.add(group, owner, one(1, 9))
		upTo(9900*time.Millisecond, 0)
		upTo(10*time.Second, 1)
		l.mu.Lock()
		got := slices.Clone(l.stored[group])
		l.mu.Unlock()
		if !slices.Equal(got, []meta.OffsetCommit{one(1, 9)}) {
			t.Errorf("stored %+v, want offset 9 alone", got)
		}
		c.add(group, owner, one(1, 12))
		upTo(14400*time.Millisecond, 1)
		upTo(15500*time.Millisecond, 2)
		c.add(group, owner, one(1, 13))
		upTo(18900*time.Millisecond, 2)
		upTo(21*time.Second, 3)
		cancel()
	})
}

// SEMANTICS 25 and 28, for what is pending.
func TestOnlyNewerCommitsReplacePendingOnes(t *testing.T) {
	for _, test := range []struct {
		name      string
		next      meta.OffsetCommit
		overwrite bool
		want      meta.OffsetCommit
	}{
		{"further on", one(3, 101), false, one(3, 101)},
		{"the same", one(3, 100), false, one(3, 100)},
		{"back", one(3, 99), false, one(3, 100)},
		{"a new version", one(4, 5), false, one(4, 5)},
		{"an old version", one(2, 500), false, one(3, 100)},
		{"back, where that is the policy", one(3, 99), true, one(3, 99)},
	} {
		l := newLedger()
		c, group, who := l.commits(), uuid.New(), owner
		who.Overwrite = test.overwrite
		c.add(group, who, one(3, 100))
		c.add(group, who, test.next)
		if err := c.flush(t.Context(), anyCommit); err != nil {
			t.Fatal(err)
		}
		if got := l.stored[group]; !slices.Equal(got, []meta.OffsetCommit{test.want}) {
			t.Errorf("%s: stored %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestFailedCommitsAreKeptAndOthersAreStored(t *testing.T) {
	l := newLedger()
	c, broken, sound := l.commits(), uuid.New(), uuid.New()
	l.fails[broken] = journal.ErrUnavailable
	c.add(broken, owner, one(1, 7))
	c.add(sound, owner, one(1, 3))
	if err := c.flush(t.Context(), anyCommit); !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("flush: %v, want what the broken one says", err)
	}
	if got := l.stored[sound]; !slices.Equal(got, []meta.OffsetCommit{one(1, 3)}) {
		t.Errorf("the sound group has %+v", got)
	}
	delete(l.fails, broken)
	if err := c.flush(t.Context(), anyCommit); err != nil {
		t.Fatal(err)
	}
	if got := l.stored[broken]; !slices.Equal(got, []meta.OffsetCommit{one(1, 7)}) {
		t.Errorf("after recovery the group has %+v, want 7", got)
	}
	if n := c.count(); n != 0 {
		t.Errorf("%v commits are still pending", n)
	}
}

// A commit that comes while an older one fails is not replaced by it, also where
// offsets may go back.
func TestAFailedCommitDoesNotReplaceANewerOne(t *testing.T) {
	l := newLedger()
	group, who := uuid.New(), meta.Committer{Member: "m", Overwrite: true}
	var c *commits
	first := true
	c = newCommits(func(ctx context.Context, group uuid.UUID, who meta.Committer, items []meta.OffsetCommit) ([]meta.OffsetResult, error) {
		if first {
			first = false
			c.add(group, who, one(1, 20))
			return nil, journal.ErrUnavailable
		}
		return l.store(ctx, group, who, items)
	}, slog.New(slog.DiscardHandler))
	c.add(group, who, one(1, 10))
	_ = c.flush(t.Context(), anyCommit)
	if err := c.flush(t.Context(), anyCommit); err != nil {
		t.Fatal(err)
	}
	if got := l.stored[group]; !slices.Equal(got, []meta.OffsetCommit{one(1, 20)}) {
		t.Errorf("stored %+v, want 20", got)
	}
}

func TestPendingCommitsAreBounded(t *testing.T) {
	l := newLedger()
	c, group := l.commits(), uuid.New()
	for queue := range uint32(maxPending) {
		if !c.add(group, owner, meta.OffsetCommit{Queue: queue, Version: 1, Offset: 1}) {
			t.Fatalf("queue %d found no room", queue)
		}
	}
	if c.add(group, owner, meta.OffsetCommit{Queue: maxPending, Version: 1, Offset: 1}) {
		t.Error("one more queue found room")
	}
	if !c.add(group, owner, meta.OffsetCommit{Queue: 7, Version: 1, Offset: 2}) {
		t.Error("a queue that is there already found no room")
	}
}

func TestTheIntervalIsThatOfTheProcessAndNothingIsStoredWhenNothingIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		c := l.commits()
		var calls atomic.Int32
		c.store = func(ctx context.Context, group uuid.UUID, by meta.Committer, items []meta.OffsetCommit) ([]meta.OffsetResult, error) {
			calls.Add(1)
			return l.store(ctx, group, by, items)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go c.run(ctx, firstFlush, 2*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls.Load() != 0 {
			t.Errorf("%d commits were stored with none pending", calls.Load())
		}
		c.add(uuid.New(), owner, one(1, 5))
		before := time.Now()
		for range 30 { // 2 s, give or take a tenth
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if calls.Load() > 0 {
				break
			}
		}
		if took := time.Since(before); calls.Load() != 1 || took > 2300*time.Millisecond {
			t.Errorf("%d commits after %v, want one within 2.2 s", calls.Load(), took)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls.Load() != 1 {
			t.Errorf("%d commits, want the one", calls.Load())
		}
		cancel()
	})
}
