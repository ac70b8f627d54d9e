package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// big makes a request that holds a little more than n bytes.
func (r *writerRig) big(topic meta.Topic, n int) *Draft {
	r.t.Helper()
	d := r.draft(topic, 0, 0, "")
	if err := d.Add(&Message{Body: bytes.Repeat([]byte("x"), n)}); err != nil {
		r.t.Fatal(err)
	}
	return d
}

func TestFullBufferRefusesAndRecovers(t *testing.T) {
	const buffer = 1 << 20
	bubble(t, Options{Linger: 10 * time.Millisecond, BufferBytes: buffer, SegmentBytes: 64 << 10}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		release := make(chan struct{})
		r.store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.Hold(release)})
		var taken []*Pending
		var err error
		for range 1000 {
			var p *Pending
			if p, err = r.journal.Enqueue(r.big(topic, 10_000), Durable); err != nil {
				break
			}
			taken = append(taken, p)
			synctest.Wait()
		}
		if !errors.Is(err, ErrBufferFull) {
			t.Fatalf("after %d requests: got error %v, want a full buffer", len(taken), err)
		}
		if held := r.writer.held; held > buffer || held < buffer/2 {
			t.Errorf("%d bytes are held of %d", held, buffer)
		}
		if got := r.store.Calls(faulty.Put); got != maxPuts {
			t.Errorf("%d PUTs in flight, want %d", got, maxPuts)
		}
		close(release)
		for i, p := range taken {
			if got := mustOffset(t, p); got != int64(i) {
				t.Errorf("request %d got offset %d", i, got)
			}
		}
		if held := r.writer.held; held != 0 {
			t.Errorf("%d bytes are held when all is decided", held)
		}
		mustOffset(t, r.enqueue(topic, "again"))
	})
}

func TestCrowdedBufferIsFlushedEarly(t *testing.T) {
	bubble(t, Options{Linger: 20 * time.Second, BufferBytes: 100_000}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.enqueue(topic, "warm"))
		began := time.Now()
		p, err := r.journal.Enqueue(r.big(topic, 32_000), Durable)
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if got := r.store.Calls(faulty.Put); got != 1 {
			t.Errorf("%d PUTs below three quarters, want 1", got)
		}
		for range 2 {
			if _, err := r.journal.Enqueue(r.big(topic, 32_000), Durable); err != nil {
				t.Fatal(err)
			}
		}
		mustOffset(t, p)
		if took := time.Since(began); took != time.Second {
			t.Errorf("a crowded buffer was flushed after %v, want at once", took)
		}
	})
}

func TestOneRequestAboveTheBufferIsRefusedAlone(t *testing.T) {
	bubble(t, Options{BufferBytes: 1000}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		if _, err := r.journal.Enqueue(r.big(topic, 2000), Durable); !errors.Is(err, ErrBufferFull) {
			t.Errorf("got error %v, want a full buffer", err)
		}
		mustOffset(t, r.enqueue(topic, "a"))
	})
}

func TestBufferedAckAnswersWithIDsAtOnce(t *testing.T) {
	bubble(t, Options{Linger: time.Second}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		d := r.draft(topic, AnyQueue, 3, "a")
		began := time.Now()
		a, err := r.journal.Append(t.Context(), d, None)
		if err != nil || time.Since(began) != 0 {
			t.Fatalf("got %v after %v", err, time.Since(began))
		}
		ids := map[string]bool{}
		for i := range a.Len() {
			id, _, offset := a.At(i)
			ids[id.String()] = true
			if offset != -1 {
				t.Errorf("message %d: offset %d before it can be known", i, offset)
			}
		}
		if len(ids) != 3 {
			t.Errorf("%d different ids for 3 messages", len(ids))
		}
		pass(time.Second)
		r.redis.change(topic.ID, func(m *modelTopic) {
			if m.next[0] != 3 {
				t.Errorf("%d messages were stored, want 3", m.next[0])
			}
		})
	})
}

func TestCloseFlushesAndWritesReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWriterRig(t, Options{Linger: 20 * time.Second})
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.enqueue(topic, "warm"))
		last := r.enqueue(topic, "last")
		began := time.Now()
		if err := r.close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("closing took %v", took)
		}
		if got := mustOffset(t, last); got != 1 {
			t.Errorf("the last request got offset %d, want 1", got)
		}
		if got := fmt.Sprint(r.receipts()); got != "[1 2]" {
			t.Errorf("receipts of segments %s in the bucket, want [1 2]", got)
		}
		if _, err := r.journal.Enqueue(r.draft(topic, 0, 1, "late"), Durable); !errors.Is(err, ErrDraining) {
			t.Errorf("an append after closing: got error %v, want draining", err)
		}
	})
}

func TestCloseSaysThatTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWriterRig(t, Options{})
		topic := r.newTopic("orders", 1)
		r.store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.Hold(nil)})
		p := r.enqueue(topic, "a")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := r.close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want the deadline", err)
		}
		mustFail(t, p, ErrOutcomeUnknown)
	})
}

func TestIdleWriterWritesItsReceiptsOnceAndRests(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.segmentOf(topic, "a"))
		mustOffset(t, r.segmentOf(topic, "b"))
		pass(receiptDelay / 2)
		if got := r.store.Calls(faulty.Put); got != 2 {
			t.Errorf("%d PUTs before the writer is idle for long, want 2", got)
		}
		pass(time.Hour)
		if got := r.store.Calls(faulty.Put); got != 3 {
			t.Errorf("%d PUTs after an idle hour, want 3: two segments and their receipts", got)
		}
		if got := fmt.Sprint(r.receipts()); got != "[1 1 2]" && got != "[1 2]" {
			t.Errorf("receipts of segments %s in the bucket", got)
		}
	})
}

func TestReceiptsAreRepeatedUntilTheyAreDurable(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.segmentOf(topic, "a"))
		release := make(chan struct{})
		r.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: r.key(2), Fault: faulty.Hold(release)})
		second := r.segmentOf(topic, "b") // carries the receipt of the first, held
		third := r.segmentOf(topic, "c")  // must carry it too
		if got := fmt.Sprint(r.receipts()); got != "[1]" {
			t.Errorf("receipts %s in the bucket, want the first one in segment 3", got)
		}
		close(release)
		mustOffset(t, second)
		mustOffset(t, third)
	})
}

func TestTopicStateTravelsWithItsFirstMessages(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.segmentOf(topic, "a"))
		mustOffset(t, r.segmentOf(topic, "b"))
		topic.Version = 2
		mustOffset(t, r.segmentOf(topic, "c"))
		var states []int
		for i, f := range r.footers() {
			for _, b := range f.Blocks {
				if b.Kind == segment.Control {
					states = append(states, i+1)
				}
			}
		}
		if got := fmt.Sprint(states); got != "[1 3]" {
			t.Errorf("segments %s hold the topic's state, want [1 3]: the first use of each version", got)
		}
	})
}

func TestControlRecordIsAnsweredWhenDurable(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		if err := r.journal.Control(t.Context(), controlTopic, meta.Topic{Name: "orders"}); err != nil {
			t.Fatal(err)
		}
		if got := r.controls(); got != 1 {
			t.Errorf("%d control records in the bucket when it was answered, want 1", got)
		}
		if r.writer.held != 0 {
			t.Errorf("%d bytes are held for a stored record", r.writer.held)
		}
	})
}

// controls counts the control records in the bucket.
func (r *writerRig) controls() (n uint32) {
	for _, f := range r.footers() {
		for _, b := range f.Blocks {
			if b.Kind == segment.Control {
				n += b.Count
			}
		}
	}
	return n
}

func TestControlRecordThatDidNotArriveIsOwed(t *testing.T) {
	for name, fault := range map[string]faulty.Fault{
		"not stored":     faulty.FailBefore(objstore.ErrNotStored),
		"outcome unsure": faulty.Hold(nil),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
				r.store.Add(&faulty.Rule{Op: faulty.Put, Times: 3, Fault: fault})
				err := r.journal.Control(t.Context(), controlTopic, meta.Topic{Name: "orders"})
				if !errors.Is(err, ErrOutcomeUnknown) || errors.Is(err, ErrUnavailable) {
					t.Errorf("got error %v, want only outcome unknown: the state is in force", err)
				}
				pass(5 * time.Minute)
				if got := r.controls(); got != 1 {
					t.Errorf("%d control records in the bucket, want the owed one", got)
				}
				puts := r.store.Calls(faulty.Put)
				pass(time.Hour)
				if got := r.store.Calls(faulty.Put); got != puts {
					t.Errorf("%d more PUTs when nothing is owed", got-puts)
				}
			})
		})
	}
}

func TestClosePaysWhatIsOwed(t *testing.T) {
	bubble(t, Options{Linger: time.Second}, func(t *testing.T, r *writerRig) {
		r.store.Add(&faulty.Rule{Op: faulty.Put, Times: 1, Fault: faulty.FailBefore(objstore.ErrNotStored)})
		if err := r.journal.Control(t.Context(), controlTopic, meta.Topic{Name: "orders"}); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("got error %v, want outcome unknown", err)
		}
		if err := r.writer.finish(t.Context(), r.ran); err != nil {
			t.Fatal(err)
		}
		if got := r.controls(); got != 1 {
			t.Errorf("%d control records in the bucket after closing, want 1", got)
		}
	})
}
