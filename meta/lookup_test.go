package meta_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var lookupCases = []testCase{
	{"LookupFindsEveryOffset", lookupFindsEveryOffset},
	{"LookupTimeIsALowerBound", lookupTimeIsALowerBound},
	{"LookupOfAnEmptyQueue", lookupOfAnEmptyQueue},
}

// queueOf makes n entries of one queue, each of 1 to 4 messages from min on; every third shares
// its time with the one before.
func queueOf(queue uint32, n int, min int64) meta.QueueSnapshot {
	q := meta.QueueSnapshot{Min: min, Next: min}
	w := uuid.New()
	at := int64(1_700_000_000_000)
	for i := range n {
		count := uint32(i%4 + 1)
		if i%3 != 0 {
			at += 10
		}
		q.Next += int64(count)
		q.Entries = append(q.Entries, meta.Entry{Queue: queue, Next: q.Next, Count: count, StoredAt: at,
			Segment: meta.SegmentRef{Writer: w, Seq: uint64(i + 1)}, Position: 64, Length: 1000, Tags: uint64(i)})
	}
	return q
}

func restoreQueue(t testing.TB, db *meta.DB, q meta.QueueSnapshot) meta.Topic {
	t.Helper()
	topic := newTopic(t, db, 1)
	check(t, db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1, Queues: map[uint32]meta.QueueSnapshot{0: q}}))
	return topic
}

func lookupFindsEveryOffset(t *testing.T, e engine) {
	q := queueOf(0, 1100, 500)
	topic := restoreQueue(t, e.db, q)
	at := 0
	for offset := q.Min - 1; offset <= q.Next; offset++ {
		if offset > q.Min+40 && offset < q.Next-40 && offset%97 != 0 {
			continue
		}
		win, err := e.db.Lookup(t.Context(), topic.ID, 0, offset, 3)
		check(t, err)
		if win.Min != q.Min || win.Next != q.Next || win.Epoch != 1 {
			t.Fatalf("bounds at %d: %+v", offset, win)
		}
		if offset < q.Min || offset >= q.Next {
			if len(win.Entries) != 0 {
				t.Errorf("entries outside the queue, at %d", offset)
			}
			continue
		}
		for q.Entries[at].Next <= offset {
			at++
		}
		equal(t, "entries", win.Entries, q.Entries[at:min(at+3, len(q.Entries))])
	}
}

func lookupTimeIsALowerBound(t *testing.T, e engine) {
	q := queueOf(0, 300, 500)
	topic := restoreQueue(t, e.db, q)
	for at := q.Entries[0].StoredAt - 5; at <= q.Entries[299].StoredAt+5; at += 5 {
		want := q.Next
		for _, entry := range q.Entries {
			if entry.StoredAt >= at {
				want = entry.First()
				break
			}
		}
		got, win, err := e.db.LookupTime(t.Context(), topic.ID, 0, at, 2)
		check(t, err)
		if got != want || (want < q.Next) != (len(win.Entries) > 0) {
			t.Fatalf("at %d: got offset %d and %d entries, want %d", at, got, len(win.Entries), want)
		}
	}
	got, _, err := e.db.LookupTime(t.Context(), topic.ID, 0, -1<<60, 1)
	check(t, err)
	equal(t, "before all times", got, q.Min)
	got, _, err = e.db.LookupTime(t.Context(), topic.ID, 0, 1<<62, 1)
	check(t, err)
	equal(t, "after all times", got, q.Next)
}

func lookupOfAnEmptyQueue(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	win, err := e.db.Lookup(t.Context(), topic.ID, 1, 0, 5)
	check(t, err)
	equal(t, "window", win, meta.Window{Epoch: 1, Entries: []meta.Entry{}})
	offset, _, err := e.db.LookupTime(t.Context(), topic.ID, 1, 5, 5)
	check(t, err)
	equal(t, "by time", offset, 0)
	if _, err := e.db.Lookup(t.Context(), uuid.New(), 0, 0, 1); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("unknown topic: got %v", err)
	}
	if _, _, err := e.db.Bounds(t.Context(), uuid.New(), []uint32{0}); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("bounds of an unknown topic: got %v", err)
	}
}
