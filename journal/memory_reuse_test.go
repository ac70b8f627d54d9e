package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// bodyAt is what the message at an offset says: of changing length, so that what
// lies in the same memory next is never the same.
func bodyAt(queue uint32, offset int64) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d:%06d;", queue, offset), 60+int(offset*7%90))
}

// checkPage holds a page to what was stored and returns how many messages it has.
func checkPage(page *journal.Page, queue uint32) (n int64, err error) {
	check := func(offset int64, r *segment.Record) error {
		if want := bodyAt(queue, offset); !bytes.Equal(r.Body, want) || string(r.Tag) != "even" && string(r.Tag) != "odd" {
			return fmt.Errorf("queue %d, offset %d has tag %q and body %.40q of %d bytes, want %.40q of %d",
				queue, offset, r.Tag, r.Body, len(r.Body), want, len(want))
		}
		n++
		return nil
	}
	for i := range page.Messages {
		if err := check(page.Messages[i].Offset, &page.Messages[i].Record); err != nil {
			return n, err
		}
	}
	for _, run := range page.Runs {
		offset := run.First
		for r, err := range segment.Records(run.Raw) {
			if err == nil {
				err = check(offset, &r)
			}
			if err != nil {
				return n, err
			}
			offset++
		}
		if offset != run.First+int64(run.Count) {
			return n, fmt.Errorf("the run of %d from %d on has %d records", run.Count, run.First, offset-run.First)
		}
	}
	return n, nil
}

// Readers whose cache is far too small read what was stored, in every way to
// read, while segments are written, pushed out and loaded into the same memory.
func TestReadersNeverSeeMemoryThatIsUsedAgain(t *testing.T) {
	journal.PoisonMemory(t)
	files, err := objstore.OpenFilesystem(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	small := func(o *journal.Options) {
		o.Store, o.SegmentBytes, o.CacheBytes, o.Linger = files, 128<<10, 500<<10, time.Millisecond
	}
	p := newPlant(t)
	nodes := []*process{p.start(small), p.start(small)}
	const queues, messages, batch = 2, 2000, 25
	topic := nodes[0].topic(t, "busy", queues)
	odd, err := filter.ParseTags("odd")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for queue := range uint32(queues) {
		all.Go(func() {
			for offset := int64(0); offset < messages && !t.Failed(); {
				if err := appendFrom(t, nodes[0], topic, queue, offset, batch); err != nil {
					t.Errorf("append: %v", err)
					return
				}
				offset += batch
			}
		})
	}
	for i := range 12 {
		read := journal.Read{Topic: topic, Queue: uint32(i % queues), Raw: i%4 >= 2, Wait: 10 * time.Second}
		want := int64(messages)
		if i >= 8 {
			read.Filter, want = odd, messages/2
		}
		node := nodes[i/2%2]
		all.Go(func() {
			got := int64(0)
			for read.Offset < messages && !t.Failed() {
				read.MaxMessages = 1 + rand.IntN(150)
				page, err := node.Read(t.Context(), read)
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				// The cache is turned over while this page is held.
				if other, err := node.Read(t.Context(), journal.Read{Topic: topic, Queue: read.Queue, Offset: rand.Int64N(read.Offset + 1), MaxMessages: 100}); err == nil {
					other.Release()
				}
				n, err := checkPage(page, read.Queue)
				if err != nil {
					t.Error(err)
					return
				}
				got += n
				read.Offset = page.Next
				page.Release()
			}
			if got != want && !t.Failed() {
				t.Errorf("reader %d got %d messages, want %d", i, got, want)
			}
		})
	}
	all.Wait()
}

// appendFrom appends the messages of some offsets.
func appendFrom(t *testing.T, node *process, topic meta.Topic, queue uint32, offset int64, count int) error {
	d, err := node.NewDraft(topic)
	if err != nil {
		return err
	}
	for i := range count {
		tag := []byte([]string{"even", "odd"}[(offset+int64(i))%2])
		if err := d.Add(&journal.Message{Queue: int64(queue), Tag: tag, Body: bodyAt(queue, offset+int64(i))}); err != nil {
			return err
		}
	}
	a, err := node.Append(t.Context(), d, journal.Durable)
	if err != nil {
		return err
	}
	if _, _, first := a.At(0); first != offset {
		return fmt.Errorf("stored at %d, want %d", first, offset)
	}
	return nil
}
