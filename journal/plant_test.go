package journal_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// plant is a store and a real Redis that any number of processes share.
type plant struct {
	t     *testing.T
	redis *redistest.Server
	store *faulty.Store
}

func newPlant(t *testing.T) *plant {
	return &plant{t: t, redis: redistest.New(t), store: faulty.Wrap(objstore.NewMemory())}
}

// process is one journal that runs.
type process struct {
	*journal.Journal
	db   *meta.DB
	stop func() // as kill -9: nothing more is written
	done chan error
}

func (p *plant) options(db *meta.DB) journal.Options {
	return journal.Options{
		Store: p.store, Meta: db, Linger: 5 * time.Millisecond, AppendTimeout: 10 * time.Second,
		Log: slog.New(slog.DiscardHandler),
	}
}

func (p *plant) start(edit ...func(*journal.Options)) *process {
	p.t.Helper()
	db, err := meta.Open(p.t.Context(), p.redis.Options())
	if err != nil {
		p.t.Fatal(err)
	}
	o := p.options(db)
	for _, e := range edit {
		e(&o)
	}
	j, err := journal.Open(p.t.Context(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	proc := &process{Journal: j, db: db, done: make(chan error, 1)}
	go func() { proc.done <- j.Run(ctx) }()
	proc.stop = sync.OnceFunc(func() {
		cancel()
		<-proc.done
		j.Drain()
		db.Close()
	})
	p.t.Cleanup(proc.stop)
	return proc
}

func (p *process) topic(t *testing.T, name string, queues uint32) meta.Topic {
	t.Helper()
	topic, err := p.PutTopic(t.Context(), meta.Topic{Name: name, Type: meta.TopicNormal, Queues: queues})
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

// at is where a message went.
type at struct {
	queue  uint32
	offset int64
}

func (p *process) send(ctx context.Context, topic, body string, queue int64, id ...segment.Identity) (at, bool, error) {
	t, err := p.Topic(ctx, topic)
	if err != nil {
		return at{}, false, err
	}
	d, err := p.NewDraft(t)
	if err != nil {
		return at{}, false, err
	}
	if err := d.Add(&journal.Message{Queue: queue, Text: true, Body: []byte(body)}); err != nil {
		return at{}, false, err
	}
	if len(id) > 0 {
		d.Identify(id[0])
	}
	a, err := p.Append(ctx, d, journal.Durable)
	if err != nil {
		return at{}, false, err
	}
	_, q, offset := a.At(0)
	return at{q, offset}, a.Duplicate, nil
}

// mustSend sends until the system takes the message: refusals that stored
// nothing are tried again.
func (p *process) mustSend(t *testing.T, topic, body string, queue int64) at {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); ; {
		where, _, err := p.send(t.Context(), topic, body, queue)
		if err == nil {
			return where
		}
		nothingStored := errors.Is(err, journal.ErrRecovering) || errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrTopicNotFound)
		if !nothingStored || time.Now().After(end) {
			t.Fatalf("send %s: %v", body, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// all reads a whole queue.
func (p *process) all(t *testing.T, name string, queue uint32) (bodies []string, epoch int64) {
	t.Helper()
	end := time.Now().Add(15 * time.Second)
	for offset := int64(0); ; {
		topic, err := p.Topic(t.Context(), name)
		var page *journal.Page
		if err == nil {
			page, err = p.Read(t.Context(), journal.Read{Topic: topic, Queue: queue, Offset: offset, MaxMessages: 1000, MaxBytes: 1 << 20})
		}
		if err != nil {
			if time.Now().After(end) {
				t.Fatalf("read %s/%d at %d: %v", name, queue, offset, err)
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		for _, m := range page.Messages {
			if m.Offset != int64(len(bodies)) {
				t.Fatalf("queue %d: offset %d after %d messages", queue, m.Offset, len(bodies))
			}
			bodies = append(bodies, string(m.Record.Body))
		}
		if page.Next >= page.Max && len(page.Messages) == 0 {
			return bodies, page.Epoch
		}
		offset = page.Next
	}
}

func checkPlaces(t *testing.T, p *process, topic string, queues uint32, want map[string]at) (epoch int64) {
	t.Helper()
	for q := range queues {
		bodies, e := p.all(t, topic, q)
		epoch = max(epoch, e)
		for offset, body := range bodies {
			if w, ok := want[body]; ok && w != (at{q, int64(offset)}) {
				t.Errorf("%s: got queue %d offset %d, want %+v", body, q, offset, w)
			}
		}
		for body, w := range want {
			if w.queue == q && (w.offset >= int64(len(bodies)) || bodies[w.offset] != body) {
				t.Errorf("%s is not at %+v", body, w)
			}
		}
	}
	return epoch
}

// damage flips a bit of a stored object; a negative index counts from its end.
func (p *plant) damage(key string, index int64) {
	p.t.Helper()
	object, err := p.store.Get(p.t.Context(), key, 0, -1)
	if err != nil {
		p.t.Fatal(err)
	}
	object = slices.Clone(object)
	object[(index+int64(len(object)))%int64(len(object))] ^= 1
	if err := errors.Join(p.store.Delete(p.t.Context(), key), p.store.Put(p.t.Context(), key, object)); err != nil {
		p.t.Fatal(err)
	}
}
