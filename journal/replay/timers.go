package replay

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// Deferred messages. A commit puts a delayed block down; its receipt has no count
// and says where those blocks are. A firing makes an index entry of them; its
// receipt is one like those of commits, but proves nothing about the commits of
// the segment's writer, for it was not written by their order. A recall is a
// control record.

// Recall is the body of a control record: a delayed message was taken away.
type Recall struct {
	Topic    uuid.UUID `json:"topic"`
	Writer   uuid.UUID `json:"writer"`
	Seq      uint64    `json:"seq"`
	Position int64     `json:"position"` // of its block
}

// timerID names a delayed block.
type timerID struct {
	commit   commitID
	position int64
}

// timerLog is what the log says of delayed blocks.
type timerLog struct {
	armed    map[commitID][]segment.Receipt // runs of blocks that a commit put down
	fired    map[commitID][]segment.Receipt // entries over such blocks, newest epoch per run
	recalled map[timerID]bool
}

func newTimerLog() timerLog {
	return timerLog{
		armed: map[commitID][]segment.Receipt{}, fired: map[commitID][]segment.Receipt{}, recalled: map[timerID]bool{},
	}
}

// delayed says whether the receipt is of a firing: the bytes that it indexes are
// delayed blocks.
func (l *log) delayed(r *segment.Receipt) bool {
	s := l.segments[r.Writer][r.Seq]
	if s == nil || r.Count == 0 {
		return false
	}
	i, found := slices.BinarySearchFunc(s.Footer.Blocks, r.Position, func(b segment.Block, at int64) int {
		return cmp.Compare(b.Position, at)
	})
	return found && s.Footer.Blocks[i].Deferred()
}

// addFiring keeps, of the receipts over the same bytes, that of the highest epoch:
// after a recovery that did not know of a firing, the message fired again.
func (l *log) addFiring(r segment.Receipt) {
	id := commitID{r.Topic, r.Writer, r.Seq}
	for _, k := range l.timers.fired[id] {
		if overlap(&k, &r) && k.Epoch >= r.Epoch {
			return
		}
	}
	known := slices.DeleteFunc(l.timers.fired[id], func(k segment.Receipt) bool { return overlap(&k, &r) })
	l.timers.fired[id] = append(known, r)
}

func overlap(a, b *segment.Receipt) bool {
	return a.Position < b.Position+b.Length && b.Position < a.Position+a.Length
}

// put is a delayed block that a commit put down.
type put struct {
	segment  *Segment
	block    *segment.Block
	storedAt int64 // when it was put down
}

func (p *put) commit(topic uuid.UUID) commitID {
	return commitID{topic, p.segment.Footer.Writer, p.segment.Footer.Seq}
}

// puts returns the delayed blocks of a topic that were put down: by a commit that
// a receipt decides, or by the unreceipted ones of tails, unless their request was
// refused.
func (l *log) puts(topic uuid.UUID, tails []*Segment, refused func(*Segment) map[request]bool) []put {
	var out []put
	unreceipted := make(map[*Segment]bool, len(tails))
	for _, s := range tails {
		unreceipted[s] = true
	}
	for _, s := range l.blocks[topic] {
		id := commitID{topic, s.Footer.Writer, s.Footer.Seq}
		_, isDecided := l.receipts[id]
		for i := range s.Footer.Blocks {
			b := &s.Footer.Blocks[i]
			if b.Topic != topic || !b.Deferred() || b.Kind != segment.Messages {
				continue
			}
			switch run, known := covering(l.timers.armed[id], b); {
			case known:
				out = append(out, put{s, b, run.StoredAt})
			case unreceipted[s] && (b.Identity == nil || !refused(s)[requestOf(b.Identity)]),
				isDecided && l.damaged, l.firedOver(id, b):
				// With receipts lost, better twice than never.
				out = append(out, put{s, b, s.Footer.CreatedAt})
			}
		}
	}
	return out
}

func (l *log) firedOver(id commitID, b *segment.Block) bool {
	_, found := covering(l.timers.fired[id], b)
	return found
}

// covering returns the receipt whose bytes include the block.
func covering(receipts []segment.Receipt, b *segment.Block) (segment.Receipt, bool) {
	for _, r := range receipts {
		if r.Queue == b.Queue && r.Position <= b.Position && b.Position < r.Position+r.Length {
			return r, true
		}
	}
	return segment.Receipt{}, false
}

// waiting returns the timers among puts that have neither fired nor been recalled.
func (l *log) waiting(topic uuid.UUID, puts []put) []meta.Timer {
	var out []meta.Timer
	for _, p := range puts {
		id, b := p.commit(topic), p.block
		if b.Due == 0 || l.firedOver(id, b) || l.timers.recalled[timerID{id, b.Position}] {
			continue
		}
		out = append(out, meta.Timer{ID: b.DueID, Due: b.Due, Entry: meta.Entry{
			Queue: b.Queue, Count: b.Count, Segment: meta.SegmentRef{Writer: id.writer, Seq: id.seq},
			Position: b.Position, Length: b.Length, Tags: b.Tags,
		}})
	}
	slices.SortFunc(out, func(a, b meta.Timer) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), compareIDs(a.ID, b.ID))
	})
	return out
}

// putReceipts proves what the tails put down, for the next replay.
func putReceipts(t meta.Topic, tails []*Segment, puts []put) []segment.Receipt {
	var out []segment.Receipt
	unreceipted := make(map[*Segment]bool, len(tails))
	for _, s := range tails {
		unreceipted[s] = true
	}
	for _, p := range puts {
		if !unreceipted[p.segment] {
			continue
		}
		b := p.block
		if n := len(out); n > 0 && out[n-1].Writer == p.segment.Footer.Writer && out[n-1].Seq == p.segment.Footer.Seq &&
			out[n-1].Queue == b.Queue && out[n-1].Position+out[n-1].Length == b.Position {
			out[n-1].Length += b.Length
			continue
		}
		out = append(out, segment.Receipt{
			Writer: p.segment.Footer.Writer, Seq: p.segment.Footer.Seq, Topic: t.ID, Epoch: t.Epoch,
			Queue: b.Queue, Position: b.Position, Length: b.Length, StoredAt: p.storedAt,
		})
	}
	return out
}
