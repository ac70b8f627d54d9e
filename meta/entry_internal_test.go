package meta

import (
	"errors"
	"testing"

	"github.com/google/uuid"
)

func TestEntryRoundTrip(t *testing.T) {
	for _, e := range []Entry{
		{Queue: 3, Next: 1, Count: 1},
		{Queue: 0, Next: maxOffset, Count: 1<<32 - 1, StoredAt: 1<<47 - 1, Segment: SegmentRef{Writer: uuid.New(), Seq: maxOffset},
			Position: 1 << 40, Length: 1 << 40, Tags: 1<<64 - 1},
		{Queue: 9, Next: 77, Count: 7, StoredAt: 1_790_000_000_000, Segment: SegmentRef{Writer: uuid.New()}, Position: 64, Length: 9000},
	} {
		packed := string(appendEntry(nil, &e))
		got, err := parseEntry(e.Queue, packed)
		if err != nil || got != e {
			t.Errorf("got %+v, %v, want %+v", got, err, e)
		}
		if len(packed) > 255 {
			t.Errorf("%d bytes do not fit the feed's length byte", len(packed))
		}
		for n := range len(packed) {
			if got, err := parseEntry(e.Queue, packed[:n]); err == nil && got == e {
				t.Errorf("%d of %d bytes are the whole entry", n, len(packed))
			}
		}
	}
}

func FuzzEntry(f *testing.F) {
	f.Add(string(appendEntry(nil, &Entry{Next: 70, Count: 7, StoredAt: 5, Segment: SegmentRef{Writer: uuid.New(), Seq: 9}, Tags: 3})))
	f.Add("")
	f.Fuzz(func(t *testing.T, packed string) {
		e, err := parseEntry(1, packed)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
			return
		}
		if e.First() < 0 || e.Position < 0 || e.Length < 0 {
			t.Errorf("negative numbers in %+v", e)
		}
		again, err := parseEntry(1, string(appendEntry(nil, &e)))
		if err != nil || again != e {
			t.Errorf("written again: %+v, %v, want %+v", again, err, e)
		}
	})
}

func FuzzNews(f *testing.F) {
	f.Add("\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x01x")
	f.Fuzz(func(t *testing.T, payload string) {
		if _, entries, err := parseNews(payload); err != nil && entries != nil {
			t.Error("entries beside an error")
		}
	})
}

func FuzzReceipt(f *testing.F) {
	f.Add("4 1 1700000000000 9,8 2=D1:0190a0b0-0000-7000-8000-000000000000:4:2:0.5.2,3.9.1")
	f.Add("4 1 1700000000000 9,8 1=G5 2=K")
	f.Fuzz(func(t *testing.T, line string) {
		c := &Commit{Seq: 4, Epoch: 1, Requests: make([]Request, 2), Queues: []QueueCommit{
			{Queue: 1, Chunks: []CommitChunk{{Count: 1, Length: 9, Request: 0}}}, {Queue: 0, Chunks: []CommitChunk{{Count: 2, Length: 5, Request: 1}}}}}
		for i := range c.Requests {
			c.Requests[i].Identity.Kind = 1
		}
		p, err := planCommit(c)
		if err != nil {
			t.Fatal(err)
		}
		var res CommitResult
		err = p.readReceipt(line, &res)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrApplied) {
			t.Errorf("got %v", err)
		}
	})
}
