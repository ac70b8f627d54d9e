package journal

import (
	"bytes"
	"testing"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// TestDraftsAllocateByRequestAndNotByMessage pins the goal of 0.2 allocations a
// message in a batch, for what a draft costs until it joins.
func TestDraftsAllocateByRequestAndNotByMessage(t *testing.T) {
	slack := 1.0
	if raceEnabled {
		slack = 3 // it empties pools at random
	}
	topic := meta.Topic{Queues: 4}
	m := Message{Queue: AnyQueue, Text: true, Tag: []byte("paid"), Keys: []byte("a b"), Body: bytes.Repeat([]byte("x"), 1024)}
	m.Properties = segment.AppendProperty(m.Properties, "k", "v")
	keyed := m
	keyed.OrderingKey = []byte("a")
	records := framed(make([]string, 100)...)
	for name, c := range map[string]struct {
		limit float64
		fill  func(d *Draft) error
	}{
		"one message":    {4, func(d *Draft) error { return d.Add(&m) }},
		"batch":          {20, func(d *Draft) error { return addAll(d, &m) }},
		"batch by key":   {20, func(d *Draft) error { return addAll(d, &keyed) }},
		"batch, framed":  {20, func(d *Draft) error { return d.AddFramed(records, AnyQueue) }},
		"framed, by key": {20, func(d *Draft) error { return d.AddFramed(framedByKey, AnyQueue) }},
	} {
		got := testing.AllocsPerRun(100, func() {
			d := draftTo(t, topic)
			if err := c.fill(d); err != nil {
				t.Fatal(err)
			}
			if name != "batch, framed" { // whose bytes are the caller's
				d.release()
			}
		})
		if got > slack*c.limit {
			t.Errorf("%s: %.0f allocations, want at most %.0f", name, got, slack*c.limit)
		}
	}
}

func TestExpectedMessagesStayWhereTheyWereEncoded(t *testing.T) {
	m := Message{Queue: AnyQueue, Body: bytes.Repeat([]byte("x"), 1024)}
	d := draftTo(t, meta.Topic{Queues: 4})
	d.Expect(120 << 10)
	if err := d.Add(&m); err != nil {
		t.Fatal(err)
	}
	first := &d.parts[0].records.b[0]
	if err := addAll(d, &m); err != nil {
		t.Fatal(err)
	}
	if &d.parts[0].records.b[0] != first {
		t.Error("the messages were copied to another buffer")
	}
	m.OrderingKey = []byte("a")
	keyed := draftTo(t, meta.Topic{Queues: 4})
	keyed.Expect(120 << 10)
	if err := keyed.Add(&m); err != nil {
		t.Fatal(err)
	}
	if got := keyed.held(); got > 4096 {
		t.Errorf("one message of many queues holds %d bytes, want no more than it needs", got)
	}
}

func addAll(d *Draft, m *Message) error {
	for range 100 {
		if err := d.Add(m); err != nil {
			return err
		}
	}
	return nil
}

var framedByKey = func() []byte {
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = string(rune('a' + i%7))
	}
	return framed(keys...)
}()
