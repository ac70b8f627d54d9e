package journal_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// sink takes segments as a store would and forgets them: the benchmarks measure
// the journal. What Open reads it remembers.
type sink struct{ *objstore.Memory }

func (s sink) Put(ctx context.Context, key string, body []byte) error {
	if _, _, err := segment.ParseObjectKey(key); err == nil {
		return nil
	}
	return s.Memory.Put(ctx, key, body)
}

func benchJournal(b *testing.B) (*journal.Journal, meta.Topic) {
	b.Helper()
	db, err := meta.Open(b.Context(), redistest.New(b).Options())
	if err != nil {
		b.Fatal(err)
	}
	j, err := journal.Open(b.Context(), journal.Options{
		Store: sink{objstore.NewMemory()}, Meta: db, Linger: -1, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- j.Run(context.Background()) }()
	b.Cleanup(func() {
		if err := j.Close(context.Background()); err != nil {
			b.Error(err)
		}
		if err := <-ran; err != nil {
			b.Error(err)
		}
		db.Close()
	})
	topic, err := j.PutTopic(b.Context(), meta.Topic{Name: "orders", Queues: 8})
	if err != nil {
		b.Fatal(err)
	}
	return j, topic
}

// benchAppend keeps requests in flight as a busy gateway has them.
func benchAppend(b *testing.B, inFlight, messages int, fill func(*journal.Draft)) {
	j, topic := benchJournal(b)
	b.ReportAllocs()
	b.SetBytes(int64(messages) * 1024)
	window := make(chan *journal.Pending, inFlight)
	settle := func(p *journal.Pending) {
		if _, err := p.Wait(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		d, err := j.NewDraft(topic)
		if err != nil {
			b.Fatal(err)
		}
		fill(d)
		p, err := j.Enqueue(d, journal.Durable)
		if err != nil {
			b.Fatal(err)
		}
		if len(window) == inFlight {
			settle(<-window)
		}
		window <- p
	}
	for len(window) > 0 {
		settle(<-window)
	}
	b.ReportMetric(float64(b.N*messages)/b.Elapsed().Seconds(), "msg/s")
}

func BenchmarkAppendSingle(b *testing.B) {
	m := journal.Message{Queue: journal.AnyQueue, Text: true, Tag: []byte("paid"), Body: bytes.Repeat([]byte("x"), 1024)}
	benchAppend(b, 1000, 1, func(d *journal.Draft) {
		if err := d.Add(&m); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkAppendBatch(b *testing.B) {
	m := journal.Message{Queue: journal.AnyQueue, Text: true, Tag: []byte("paid"), Body: bytes.Repeat([]byte("x"), 1024)}
	benchAppend(b, 64, 100, func(d *journal.Draft) {
		for range 100 {
			if err := d.Add(&m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendBatchByKey(b *testing.B) {
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e")}
	m := journal.Message{Queue: journal.AnyQueue, Text: true, Body: bytes.Repeat([]byte("x"), 1024)}
	benchAppend(b, 64, 100, func(d *journal.Draft) {
		for i := range 100 {
			m.OrderingKey = keys[i%len(keys)]
			if err := d.Add(&m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendFramed(b *testing.B) {
	var records []byte
	for range 100 {
		records = segment.AppendRecord(records, &segment.Record{Tag: []byte("paid"), Body: bytes.Repeat([]byte("x"), 1024)})
	}
	benchAppend(b, 64, 100, func(d *journal.Draft) {
		// The journal keeps the bytes: a gateway reads each request into new ones.
		body := make([]byte, len(records))
		copy(body, records)
		if err := d.AddFramed(body, journal.AnyQueue); err != nil {
			b.Fatal(err)
		}
	})
}
