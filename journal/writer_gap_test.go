package journal

import (
	"slices"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

// checkNoGap fails the test when a commit goes out while an earlier segment is
// neither in the bucket nor listed as given up by one that is: a recovery in
// that moment would leave the committed segment out.
func checkNoGap(t *testing.T, r *writerRig) func(meta.Commit) error {
	return func(c meta.Commit) error {
		explained := map[uint64]bool{}
		for _, f := range r.footers() {
			explained[f.Seq] = true
			for _, seq := range f.Burnt {
				explained[seq] = true
			}
		}
		for seq := uint64(1); seq < c.Seq; seq++ {
			if !explained[seq] {
				t.Errorf("segment %d is committed while %d is missing", c.Seq, seq)
			}
		}
		return nil
	}
}

func TestNothingIsCommittedBehindAMissingSegment(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
			topic := r.newTopic("orders", 1)
			r.redis.faults(checkNoGap(t, r), nil)
			r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Fault: faulty.FailBefore(objstore.ErrNotStored)})
			mustFail(t, r.segmentOf(topic, "a"), ErrUnavailable)
			if got := mustOffset(t, r.enqueue(topic, "b")); got != 0 {
				t.Errorf("got offset %d, want 0", got)
			}
		})
	})
	t.Run("receipts on their way", func(t *testing.T) {
		bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
			topic := r.newTopic("orders", 1)
			r.redis.faults(checkNoGap(t, r), nil)
			stored := make(chan struct{})
			r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(2), Fault: faulty.Hold(stored)})
			mustOffset(t, r.enqueue(topic, "a"))
			pass(2 * receiptDelay) // segment 2 has receipts alone
			next := r.enqueue(topic, "b")
			pass(time.Second)
			if slices.Contains(r.redis.sent(), 3) {
				t.Error("segment 3 was committed in front of 2")
			}
			close(stored)
			if got := mustOffset(t, next); got != 1 {
				t.Errorf("got offset %d, want 1", got)
			}
		})
	})
	t.Run("receipts given up", func(t *testing.T) {
		bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
			topic := r.newTopic("orders", 1)
			r.redis.faults(checkNoGap(t, r), nil)
			r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(2), Fault: faulty.Hold(nil)})
			mustOffset(t, r.enqueue(topic, "a"))
			pass(2 * receiptDelay)
			next := r.enqueue(topic, "b")
			if got := mustOffset(t, next); got != 1 {
				t.Errorf("got offset %d, want 1", got)
			}
		})
	})
}

// Where no recovery can meet the living writer, refused segments are not noted:
// a full disk would fill the footers with them.
func TestExclusiveWriterNotesOnlyWhatMayStillArrive(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond, Exclusive: true}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(1), Fault: faulty.FailBefore(objstore.ErrNotStored)})
		mustFail(t, r.segmentOf(topic, "a"), ErrUnavailable)
		mustOffset(t, r.enqueue(topic, "b"))
		if r.noted(1) {
			t.Error("a segment that never was is listed as burnt")
		}
	})
}

func TestAStoreThatRefusesEverythingIsNotNotedForEver(t *testing.T) {
	bubble(t, Options{Linger: -1}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		r.redis.faults(checkNoGap(t, r), nil)
		r.store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.FailBefore(objstore.ErrNotStored)})
		refused := 0
		for range 2 * maxBurnt {
			p, err := r.journal.Enqueue(r.draft(topic, 0, 1, "a"), Durable)
			if err != nil {
				refused++
				continue
			}
			mustFail(t, p, ErrUnavailable)
		}
		if refused < maxBurnt/2 {
			t.Errorf("%d requests refused at once", refused)
		}
		r.store.Clear()
		pass(2 * receiptDelay)
		if got := mustOffset(t, r.enqueue(topic, "b")); got != 0 {
			t.Errorf("got offset %d, want 0", got)
		}
	})
}
