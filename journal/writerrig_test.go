package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// writerRig is a writer between a store in memory, whose faults the test
// decides, and a model of Redis, so that everything runs in synctest's time.
type writerRig struct {
	t       *testing.T
	journal *Journal
	writer  *writer
	memory  *objstore.Memory
	store   *faulty.Store
	redis   *redisModel
	stop    context.CancelFunc
	ran     chan struct{}
}

// bubble runs f in synctest's time with a writer that is closed at the end.
func bubble(t *testing.T, o Options, f func(t *testing.T, r *writerRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newWriterRig(t, o)
		defer func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if err := r.close(ctx); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		f(t, r)
	})
}

func newWriterRig(t *testing.T, o Options) *writerRig {
	r := &writerRig{t: t, memory: objstore.NewMemory(), redis: newRedisModel(), ran: make(chan struct{})}
	r.store = faulty.Wrap(r.memory)
	o.Store = r.store
	o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	o = o.withDefaults()
	m := newMetrics(nil)
	r.writer = newWriter(uuid.Must(uuid.NewV7()), o, m, o.Log)
	r.writer.commit = r.redis.commit
	r.writer.lost = func(context.Context) (bool, error) { return false, nil }
	r.writer.suspect = func(reason string) { t.Errorf("redis was suspected by %s", reason) }
	r.writer.stored = func(meta.SegmentRef, []byte) {}
	r.writer.committed = func([]meta.Commit, []meta.CommitResult) {}
	r.journal = &Journal{options: o, store: r.store, log: o.Log, metrics: m, writer: r.writer}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r.stop = cancel
	go func() {
		defer close(r.ran)
		if err := r.writer.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("run: %v", err)
		}
		r.writer.abandon()
	}()
	return r
}

func (r *writerRig) close(ctx context.Context) error {
	err := r.writer.finish(ctx, r.ran)
	r.stop()
	<-r.ran
	return err
}

// draft makes a request of n small messages, named so that they can be found.
func (r *writerRig) draft(topic meta.Topic, queue int64, n int, name string) *Draft {
	r.t.Helper()
	d, err := r.journal.NewDraft(topic)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range n {
		if err := d.Add(&Message{Queue: queue, Text: true, Body: fmt.Appendf(nil, "%s-%d", name, i)}); err != nil {
			r.t.Fatal(err)
		}
	}
	return d
}

// enqueue appends one message to queue 0.
func (r *writerRig) enqueue(topic meta.Topic, name string) *Pending {
	r.t.Helper()
	p, err := r.journal.Enqueue(r.draft(topic, 0, 1, name), Durable)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// segmentOf appends one message and lets its segment be sealed before the next.
func (r *writerRig) segmentOf(topic meta.Topic, name string) *Pending {
	r.t.Helper()
	p := r.enqueue(topic, name)
	pass(r.writer.options.Linger)
	return p
}

// mustOffset waits for a request and returns the offset of its first message.
func mustOffset(t *testing.T, p *Pending) int64 {
	t.Helper()
	a, err := p.Wait(t.Context())
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	_, _, offset := a.At(0)
	return offset
}

// told waits in the background for what a request is told, whenever that is.
func told(t *testing.T, p *Pending) <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := p.Wait(t.Context())
		answer <- err
	}()
	return answer
}

func mustFail(t *testing.T, p *Pending, want error) {
	t.Helper()
	if _, err := p.Wait(t.Context()); !errors.Is(err, want) {
		t.Fatalf("append: got error %v, want %v", err, want)
	}
}

// key is the key of the writer's segment seq.
func (r *writerRig) key(seq uint64) string { return segment.ObjectKey(r.writer.id, seq) }

// footers returns what the bucket holds, in seq order.
func (r *writerRig) footers() []segment.Footer {
	r.t.Helper()
	var footers []segment.Footer
	for info, err := range r.memory.List(context.Background(), segment.KeyPrefix, "") {
		if err != nil {
			r.t.Fatal(err)
		}
		object, err := r.memory.Get(context.Background(), info.Key, 0, -1)
		if err != nil {
			r.t.Fatal(err)
		}
		f, _, err := segment.ParseFooter(object, int64(len(object)))
		if err != nil {
			r.t.Fatal(err)
		}
		footers = append(footers, f)
	}
	return footers
}

// noted says whether a durable segment lists seq as burnt.
func (r *writerRig) noted(seq uint64) bool {
	for _, f := range r.footers() {
		for _, burnt := range f.Burnt {
			if burnt == seq {
				return true
			}
		}
	}
	return false
}

// receipts returns the seqs of the receipts in the bucket, in order.
func (r *writerRig) receipts() []uint64 {
	var seqs []uint64
	for _, f := range r.footers() {
		for _, receipt := range f.Receipts {
			seqs = append(seqs, receipt.Seq)
		}
	}
	return seqs
}

// pass lets the fake time pass.
func pass(d time.Duration) { time.Sleep(d); synctest.Wait() }

// newTopic makes a topic that the model of Redis knows.
func (r *writerRig) newTopic(name string, queues uint32) meta.Topic {
	t := meta.Topic{ID: uuid.Must(uuid.NewV7()), Name: name, Type: meta.TopicNormal, Queues: queues, Epoch: 1, Version: 1}
	r.redis.create(t)
	return t
}
