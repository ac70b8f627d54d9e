package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

var errLost = errors.New("reply lost")

func TestLostReplyOfAPutIsAskedAgain(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		lost := r.store.Add(&faulty.Rule{Op: faulty.Put, Times: 2, Fault: faulty.FailAfter(errLost)})
		if got := mustOffset(t, r.enqueue(topic, "a")); got != 0 {
			t.Errorf("got offset %d, want 0", got)
		}
		if lost.Hits() != 2 || r.store.CallsOf(faulty.Put, r.key(1)) != 3 {
			t.Errorf("%d replies lost, %d PUTs of the first segment; want 2 and 3", lost.Hits(), r.store.CallsOf(faulty.Put, r.key(1)))
		}
	})
}

func TestCommitsFollowSeqThoughPutsEndOutOfOrder(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		release := make(chan struct{})
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Fault: faulty.Hold(release)})
		var all []*Pending
		for i := range 4 {
			all = append(all, r.segmentOf(topic, fmt.Sprint(i)))
		}
		pass(time.Second)
		if got := r.redis.sent(); len(got) != 0 {
			t.Fatalf("segments %v were committed before segment 1 was decided", got)
		}
		close(release)
		for i, p := range all {
			if got := mustOffset(t, p); got != int64(i) {
				t.Errorf("request %d got offset %d", i, got)
			}
		}
		if got := fmt.Sprint(r.redis.sent()); got != "[1 2 3 4]" {
			t.Errorf("committed in the order %s", got)
		}
	})
}

func TestPutGivenUpIsUnknownAndNeverCommitted(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		// The object is stored, and the answer never comes.
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Fault: faulty.HoldAfter(nil)})
		first := r.segmentOf(topic, "a")
		second := r.segmentOf(topic, "b")
		began := time.Now()
		mustFail(t, first, ErrOutcomeUnknown)
		if took := time.Since(began); took > DefaultAppendTimeout {
			t.Errorf("the answer took %v", took)
		}
		if got := mustOffset(t, second); got != 0 {
			t.Errorf("the second request got offset %d, want 0", got)
		}
		if slices.Contains(r.redis.sent(), 1) {
			t.Error("the burnt segment was committed")
		}
		if !r.noted(1) {
			t.Error("no durable segment lists the burnt one")
		}
	})
}

// checkNotes fails the test when a commit goes out before every burnt segment
// in front of it is listed by a durable one.
func checkNotes(t *testing.T, r *writerRig, burnt ...uint64) func(meta.Commit) error {
	return func(c meta.Commit) error {
		for _, seq := range burnt {
			if c.Seq > seq && !r.noted(seq) {
				t.Errorf("segment %d was committed before a note of burnt segment %d was durable", c.Seq, seq)
			}
			if c.Seq == seq {
				t.Errorf("burnt segment %d was committed", seq)
			}
		}
		return nil
	}
}

func TestNoCommitBeforeTheBurntNoteIsDurable(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.redis.faults(checkNotes(t, r, 1), nil)
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Fault: faulty.Hold(nil)})
		// The segment that would carry the note is lost for a while, too.
		notes := make(chan struct{})
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(4), Times: 1, Fault: faulty.Hold(notes)})
		first := r.segmentOf(topic, "a")
		second, third := r.segmentOf(topic, "b"), r.segmentOf(topic, "c")
		mustFail(t, first, ErrOutcomeUnknown)
		pass(time.Second)
		if got := r.redis.sent(); len(got) != 0 {
			t.Errorf("segments %v were committed while the note was not durable", got)
		}
		close(notes)
		for i, p := range []*Pending{second, third} {
			// Their own time is over or not: what matters is that they are stored.
			if a, err := p.Wait(t.Context()); err == nil {
				if _, _, offset := a.At(0); offset != int64(i) {
					t.Errorf("request %d got offset %d", i, offset)
				}
			} else if !errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("request %d: %v", i, err)
			}
		}
		pass(time.Minute)
		if got := fmt.Sprint(r.redis.sent()); got != "[2 3]" {
			t.Errorf("committed %s, want [2 3]", got)
		}
	})
}

func TestNoteThatIsGivenUpIsSentAgain(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond, SegmentBytes: 1}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.redis.faults(checkNotes(t, r, 1), nil)
		// Far more segments wait than may be undecided, and the store is away
		// for longer than several notes live.
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Fault: faulty.Hold(nil)})
		var all []<-chan error
		for i := range 40 {
			all = append(all, told(t, r.segmentOf(topic, fmt.Sprint(i))))
		}
		pass(20 * time.Second)
		down := make(chan struct{})
		r.store.Clear()
		r.store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.Hold(down)})
		pass(5 * time.Minute)
		if got := r.redis.sent(); len(got) != 0 {
			t.Errorf("segments %v were committed without a note", got)
		}
		close(down)
		pass(time.Minute)
		for i, answer := range all {
			if err := <-answer; !errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("request %d: got error %v, want outcome unknown", i, err)
			}
		}
		mustOffset(t, r.enqueue(topic, "afterwards"))
	})
}

func TestSurelyNotStoredIsUnavailable(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.store.Add(&faulty.Rule{Op: faulty.Put, Times: 1, Fault: faulty.FailBefore(objstore.ErrNotStored)})
		mustFail(t, r.segmentOf(topic, "a"), ErrUnavailable)
		if got := mustOffset(t, r.enqueue(topic, "b")); got != 0 {
			t.Errorf("got offset %d, want 0", got)
		}
	})
}

func TestNotStoredAfterAnUnsureTryStaysUnknown(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Times: 1, Fault: faulty.FailBefore(errLost)})
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Fault: faulty.FailBefore(objstore.ErrNotStored)})
		mustFail(t, r.enqueue(topic, "a"), ErrOutcomeUnknown)
		pass(time.Minute)
		if !r.noted(1) {
			t.Error("no durable segment lists the burnt one")
		}
	})
}

func TestLostReplyOfACommitIsAskedUntilDecided(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		left := 3
		r.redis.faults(nil, func(meta.Commit) error {
			if left--; left >= 0 {
				return errLost
			}
			return nil
		})
		first := r.segmentOf(topic, "a")
		second := r.segmentOf(topic, "b")
		if a, b := mustOffset(t, first), mustOffset(t, second); a != 0 || b != 1 {
			t.Errorf("got offsets %d and %d, want 0 and 1", a, b)
		}
		if got := fmt.Sprint(r.redis.sent()); got != "[1 1 1 1 2]" {
			t.Errorf("sent commits %s, want the first until it is decided, then the second", got)
		}
	})
}

func TestUndecidedCommitIsUnknownInTimeAndDecidedLater(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.redis.faults(func(meta.Commit) error { return errLost }, nil)
		first := r.segmentOf(topic, "a")
		began := time.Now()
		mustFail(t, first, ErrOutcomeUnknown)
		if took := time.Since(began); took > DefaultAppendTimeout {
			t.Errorf("told after %v", took)
		}
		second := r.enqueue(topic, "b")
		r.redis.faults(nil, nil)
		if got := mustOffset(t, second); got != 1 {
			t.Errorf("the second request got offset %d: the first must be in front of it", got)
		}
	})
}

func TestDeletedTopicFailsOnlyItsOwnRequests(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, r *writerRig) {
		gone, stays := r.newTopic("gone", 1), r.newTopic("stays", 1)
		r.redis.change(gone.ID, func(m *modelTopic) { m.gone = true })
		a, b := r.enqueue(gone, "a"), r.enqueue(stays, "b")
		mustFail(t, a, ErrTopicNotFound)
		if got := mustOffset(t, b); got != 0 {
			t.Errorf("got offset %d, want 0", got)
		}
		if got := r.store.Calls(faulty.Put); got != 1 {
			t.Errorf("%d segments for one batch", got)
		}
	})
}

func TestMissingTopicIsAskedAgainWhileRedisMayHaveLostIt(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.redis.change(topic.ID, func(m *modelTopic) { m.gone = true })
		r.writer.lost = func(context.Context) (bool, error) {
			r.writer.pause()
			return true, nil
		}
		p := r.enqueue(topic, "a")
		pass(5 * time.Second)
		if _, err := r.journal.Enqueue(r.draft(topic, 0, 1, "b"), Durable); !errors.Is(err, ErrRecovering) {
			t.Errorf("an append during the recovery: got error %v, want recovering", err)
		}
		r.redis.change(topic.ID, func(m *modelTopic) { m.gone, m.epoch = false, 2 })
		r.writer.resume()
		a, err := p.Wait(t.Context())
		if err != nil || a.Epoch != 2 {
			t.Errorf("got %+v, %v; want a success in epoch 2", a, err)
		}
	})
}

func TestTopicWithoutATraceIsLookedForInTheBucketOnce(t *testing.T) {
	for _, fault := range []error{meta.ErrTopicAbsent, meta.ErrCorrupt} {
		bubble(t, Options{}, func(t *testing.T, r *writerRig) {
			topic := r.newTopic("orders", 1)
			suspected := 0
			r.writer.suspect = func(string) { suspected++; r.writer.pause() }
			r.redis.faults(func(meta.Commit) error { return fault }, nil)
			p := r.enqueue(topic, "a")
			pass(time.Second)
			if suspected != 1 {
				t.Fatalf("%v: asked for %d recoveries, want 1", fault, suspected)
			}
			r.redis.faults(nil, nil) // the recovery has found it
			r.writer.resume()
			if got := mustOffset(t, p); got != 0 {
				t.Errorf("got offset %d, want 0", got)
			}
			if !errors.Is(fault, meta.ErrTopicAbsent) {
				return
			}
			r.redis.faults(func(meta.Commit) error { return fault }, nil)
			p = r.enqueue(topic, "b")
			pass(time.Second)
			r.writer.resume() // the recovery has not found it
			mustFail(t, p, ErrTopicNotFound)
			if suspected != 2 {
				t.Errorf("asked for %d recoveries, want 2", suspected)
			}
		})
	}
}

func TestNewEpochIsTakenOver(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.enqueue(topic, "a"))
		r.redis.change(topic.ID, func(m *modelTopic) { m.epoch, m.next[0] = 7, 0 })
		p := r.enqueue(topic, "b")
		a, err := p.Wait(t.Context())
		if err != nil || a.Epoch != 7 {
			t.Fatalf("got %+v, %v; want a success in epoch 7", a, err)
		}
		sent := len(r.redis.sent())
		mustOffset(t, r.enqueue(topic, "c"))
		if got := len(r.redis.sent()) - sent; got != 1 {
			t.Errorf("%d commits, want 1: the epoch is known by now", got)
		}
	})
}

func TestRolledBackQueueIsSuspectedAndCommittedAfterTheRecovery(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.enqueue(topic, "a"))
		r.redis.change(topic.ID, func(m *modelTopic) { m.next[0] = 0 })
		suspected := 0
		r.writer.suspect = func(string) { suspected++; r.writer.pause() }
		p := r.enqueue(topic, "b")
		pass(time.Second)
		if suspected != 1 {
			t.Errorf("suspected %d times, want once", suspected)
		}
		r.redis.change(topic.ID, func(m *modelTopic) { m.next[0] = 1 })
		r.writer.resume()
		if got := mustOffset(t, p); got != 1 {
			t.Errorf("got offset %d, want 1", got)
		}
	})
}

func TestAppliedWithoutReceiptIsNeverSuccess(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.redis.change(topic.ID, func(m *modelTopic) { m.forgets = true })
		left := 1
		r.redis.faults(nil, func(meta.Commit) error {
			if left--; left >= 0 {
				return errLost
			}
			return nil
		})
		mustFail(t, r.enqueue(topic, "a"), ErrOutcomeUnknown)
	})
}

func TestStuckTopicHoldsBackOnlyItself(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		stuck, healthy := r.newTopic("stuck", 1), r.newTopic("healthy", 1)
		r.redis.faults(func(c meta.Commit) error {
			if c.Topic == stuck.ID {
				return errLost
			}
			return nil
		}, nil)
		var waiting []*Pending
		for i := range 3 {
			waiting = append(waiting, r.enqueue(stuck, fmt.Sprint(i)))
			if got := mustOffset(t, r.enqueue(healthy, fmt.Sprint(i))); got != int64(i) {
				t.Errorf("healthy topic: request %d got offset %d", i, got)
			}
		}
		r.redis.faults(nil, nil)
		for i, p := range waiting {
			if got := mustOffset(t, p); got != int64(i) {
				t.Errorf("stuck topic: request %d got offset %d", i, got)
			}
		}
	})
}

func TestEndedContextIsUnknown(t *testing.T) {
	bubble(t, Options{Linger: 20 * time.Second}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.enqueue(topic, "warm"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.journal.Append(ctx, r.draft(topic, 0, 1, "a"), Durable)
		if !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want outcome unknown because of the deadline", err)
		}
		pass(time.Minute)
		if got := mustOffset(t, r.enqueue(topic, "b")); got != 2 {
			t.Errorf("got offset %d, want 2: a request that joined is stored", got)
		}
	})
}

func TestEndOfRunSaysWhatMayBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWriterRig(t, Options{Linger: time.Second})
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.enqueue(topic, "warm"))
		pass(time.Second)
		r.store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.HoldAfter(nil)})
		inFlight := r.segmentOf(topic, "a")
		never := r.enqueue(topic, "b")
		r.stop()
		<-r.ran
		mustFail(t, inFlight, ErrOutcomeUnknown)
		// Not sent to the store, unless it was sealed just when Run ended.
		if _, err := never.Wait(t.Context()); !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("what was not sent: got error %v, want unavailable", err)
		}
		if _, err := r.journal.Enqueue(r.draft(topic, 0, 1, "c"), Durable); !errors.Is(err, ErrDraining) {
			t.Errorf("an append after the end: got error %v, want draining", err)
		}
	})
}
