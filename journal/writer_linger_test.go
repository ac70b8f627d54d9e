package journal

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketmq/bucketmq/objstore/faulty"
)

func TestLingerIsMeasuredFromTheLastFlush(t *testing.T) {
	const linger = 100 * time.Millisecond
	for _, c := range []struct {
		linger, sinceLast, want time.Duration
	}{
		{linger, -time.Hour, minLinger},
		{linger, -linger, minLinger},
		{linger, -99 * time.Millisecond, minLinger},
		{linger, -98 * time.Millisecond, minLinger},
		{linger, -30 * time.Millisecond, 70 * time.Millisecond},
		{linger, 0, linger},
		{linger, 50 * time.Millisecond, linger},
		{time.Millisecond, -time.Hour, time.Millisecond},
	} {
		if got := lingerFor(c.linger, c.sinceLast); got != c.want {
			t.Errorf("linger %v, last flush %v ago: got %v, want %v", c.linger, -c.sinceLast, got, c.want)
		}
	}
}

func TestIdleWriterAnswersAtOnceAndBusyOneOnceALinger(t *testing.T) {
	bubble(t, Options{Linger: 100 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		pass(time.Second)
		var took []time.Duration
		for i := range 3 {
			began := time.Now()
			mustOffset(t, r.enqueue(topic, fmt.Sprint(i)))
			took = append(took, time.Since(began))
		}
		want := []time.Duration{minLinger, 100 * time.Millisecond, 100 * time.Millisecond}
		if fmt.Sprint(took) != fmt.Sprint(want) {
			t.Errorf("three appends one after the other took %v, want %v", took, want)
		}
	})
}

func TestWithoutLingerABatchGrowsWhileAnotherIsInFlight(t *testing.T) {
	bubble(t, Options{Linger: -1}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		release := make(chan struct{})
		r.store.Add(&faulty.Rule{Op: faulty.Put, Times: 1, Fault: faulty.Hold(release)})
		first := r.enqueue(topic, "a")
		synctest.Wait()
		second, third := r.enqueue(topic, "b"), r.enqueue(topic, "c")
		pass(time.Second)
		if got := r.store.Calls(faulty.Put); got != 1 {
			t.Errorf("%d PUTs while the first is in flight, want 1", got)
		}
		close(release)
		for i, p := range []*Pending{first, second, third} {
			if got := mustOffset(t, p); got != int64(i) {
				t.Errorf("request %d got offset %d", i, got)
			}
		}
		if got := r.store.Calls(faulty.Put); got != 2 {
			t.Errorf("%d PUTs, want 2: both waiting requests share a segment", got)
		}
	})
}

func TestFullSegmentIsNotHeldBack(t *testing.T) {
	bubble(t, Options{Linger: time.Minute, SegmentBytes: 1000}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 1)
		mustOffset(t, r.enqueue(topic, "warm"))
		began := time.Now()
		p, err := r.journal.Enqueue(r.draft(topic, 0, 30, "full"), Durable)
		if err != nil {
			t.Fatal(err)
		}
		mustOffset(t, p)
		if took := time.Since(began); took != 0 {
			t.Errorf("a full segment waited %v", took)
		}
	})
}

func TestMessagesWithoutAChoiceShareAQueuePerSegment(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, r *writerRig) {
		topic := r.newTopic("orders", 3)
		var queues []uint32
		for i := range 4 {
			var batch []*Pending
			for k := range 3 {
				p, err := r.journal.Enqueue(r.draft(topic, AnyQueue, 2, fmt.Sprint(i, k)), Durable)
				if err != nil {
					t.Fatal(err)
				}
				batch = append(batch, p)
			}
			for k, p := range batch {
				a, err := p.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				_, queue, _ := a.At(1)
				if k == 0 {
					queues = append(queues, queue)
				} else if queue != queues[i] {
					t.Errorf("segment %d: request %d went to queue %d, the first one to %d", i, k, queue, queues[i])
				}
			}
		}
		if got := fmt.Sprint(queues); got != "[0 1 2 0]" {
			t.Errorf("queues by segment: got %s, want [0 1 2 0]", got)
		}
	})
}
