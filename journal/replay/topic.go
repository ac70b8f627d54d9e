package replay

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// queueLog is one queue while its index is being found again.
type queueLog struct {
	queue     uint32
	proven    []meta.Entry          // from receipts, by offset
	tail      []meta.Entry          // unreceipted runs, oldest first; Next is not yet known
	decided   func(meta.Entry) bool // of tail: if no gap asks for it, it was not committed
	wants     map[place]int64       // of tail: offsets that entries must get, or they are left out
	entries   []meta.Entry          // the result
	given     []meta.Entry          // those of entries that were numbered here
	holes     []Hole
	raised    bool
	moved     int64                     // the first offset given anew, when raised
	bySegment map[meta.SegmentRef][]int // entries of a segment; made by offsetOf
	firing    bool                      // deferred messages may have got offsets that no receipt tells
}

// topic replays one topic.
func (l *log) topic(t meta.Topic) Topic {
	queues := map[uint32]*queueLog{}
	queueOf := func(q uint32) *queueLog {
		if queues[q] == nil {
			queues[q] = &queueLog{queue: q, decided: func(e meta.Entry) bool {
				return e.Segment.Seq < l.receipted[[2]uuid.UUID{t.ID, e.Segment.Writer}]
			}}
		}
		return queues[q]
	}
	for id, receipts := range l.receipts {
		for _, r := range receipts {
			if id.topic == t.ID {
				q := queueOf(r.Queue)
				q.proven = append(q.proven, receiptEntry(r))
				t.Epoch = max(t.Epoch, r.Epoch)
			}
		}
	}
	for id, receipts := range l.timers.fired {
		for _, r := range receipts {
			if id.topic == t.ID {
				q := queueOf(r.Queue)
				q.proven = append(q.proven, receiptEntry(r))
				t.Epoch = max(t.Epoch, r.Epoch)
			}
		}
	}
	tails := l.tails(t.ID)
	ids := newIdentities(l, t.ID)
	wants := conditions(t.ID, tails)
	for _, run := range ids.runs(tails) {
		q := queueOf(run.Queue)
		q.wants = wants
		q.tail = append(q.tail, run)
	}
	puts := l.puts(t.ID, tails, ids.refusedBefore)
	waiting := l.waiting(t.ID, puts)
	for _, timer := range waiting {
		if timer.Due <= l.opts.Now {
			queueOf(timer.Entry.Queue).firing = true
		}
		t.Queues = max(t.Queues, timer.Entry.Queue+1)
	}
	halves := l.halvesOf(t.ID, puts)
	for _, h := range halves {
		queueOf(h.block.Queue).firing = queueOf(h.block.Queue).firing || h.due
		t.Queues = max(t.Queues, h.block.Queue+1)
	}
	out := Topic{Renumbered: map[uint32]int64{}}
	for _, q := range queues {
		q.number()
		if q.raised {
			out.EpochRaised = true
			out.Renumbered[q.queue] = q.moved
		}
		out.Holes = append(out.Holes, q.holes...)
	}
	if out.EpochRaised {
		t.Epoch++
		t.Version++
	}
	for _, q := range queues {
		t.Queues = max(t.Queues, q.queue+1)
		for _, e := range q.given {
			out.Receipts = append(out.Receipts, entryReceipt(t, e))
		}
	}
	slices.SortFunc(out.Holes, func(a, b Hole) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.First, b.First))
	})
	out.Receipts = append(out.Receipts, putReceipts(t, tails, puts)...)
	out.Snapshot = l.snapshot(t, queues, tails, puts)
	out.Snapshot.Timers = waiting
	out.Snapshot.Halves = l.halfStates(t, queues, halves)
	out.Receipts = append(out.Receipts, decided(t, tails, out.Receipts)...)
	return out
}

// tails returns the topic's segments that no receipt decides and that may be
// applied, in commit order of each writer and in time order between writers.
func (l *log) tails(topic uuid.UUID) []*Segment {
	byWriter := map[uuid.UUID][]*Segment{}
	for _, s := range l.blocks[topic] {
		f := &s.Footer
		if _, isDecided := l.receipts[commitID{topic, f.Writer, f.Seq}]; isDecided ||
			l.passed(topic, f) && !l.damaged ||
			l.burnt[f.Writer][f.Seq] || f.Seq > l.limit[f.Writer] {
			continue
		}
		byWriter[f.Writer] = append(byWriter[f.Writer], s)
	}
	var heads [][]*Segment
	for _, segs := range byWriter {
		slices.SortFunc(segs, func(a, b *Segment) int { return cmp.Compare(a.Footer.Seq, b.Footer.Seq) })
		heads = append(heads, segs)
	}
	var out []*Segment
	for len(heads) > 0 { // merge: by time, but never against one writer's order
		first := 0
		for i := range heads {
			if compareTails(heads[i][0], heads[first][0]) < 0 {
				first = i
			}
		}
		out = append(out, heads[first][0])
		if heads[first] = heads[first][1:]; len(heads[first]) == 0 {
			heads = slices.Delete(heads, first, first+1)
		}
	}
	return out
}

// passed says that a later segment of the same writer was receipted for the
// topic: this one was not committed, or its receipt is lost with a footer.
func (l *log) passed(topic uuid.UUID, f *segment.Footer) bool {
	return f.Seq < l.receipted[[2]uuid.UUID{topic, f.Writer}]
}

// number gives every entry its offsets: proven ones theirs, the tail of a
// single writer those that were given before, anything else new ones.
func (q *queueLog) number() {
	slices.SortFunc(q.proven, func(a, b meta.Entry) int { return cmp.Compare(a.First(), b.First()) })
	next := int64(0)
	for i, e := range q.proven {
		if e.First() > next && (q.firing || !q.fill(next, e) && len(q.tail) > 0) || e.First() < next {
			q.renumber(next, q.proven[i:])
			return
		}
		if after := q.end(); e.First() > after {
			q.holes = append(q.holes, Hole{Queue: q.queue, First: after, Next: e.First()})
		}
		e.StoredAt = max(e.StoredAt, q.storedAt())
		q.entries = append(q.entries, e)
		next = e.Next
	}
	q.tail = slices.DeleteFunc(q.tail, q.decided)
	if len(q.tail) == 0 && !q.firing {
		return
	}
	q.raised, q.moved = q.firing || !oneWriter(q.tail), q.end()
	q.append(q.tail)
}

// end is the offset after the last entry found so far.
func (q *queueLog) end() int64 {
	if len(q.entries) == 0 {
		return 0
	}
	return q.entries[len(q.entries)-1].Next
}

// storedAt is the time of the last entry found so far: times never go back
// within a queue.
func (q *queueLog) storedAt() int64 {
	if len(q.entries) == 0 {
		return 0
	}
	return q.entries[len(q.entries)-1].StoredAt
}

// fill closes the gap from first up to a proven entry with the oldest
// unreceipted runs, if these are one writer's and fit exactly.
func (q *queueLog) fill(first int64, proven meta.Entry) bool {
	n, count, gap := 0, int64(0), proven.First()-first
	for n < len(q.tail) && count < gap {
		if q.lands(q.tail[n], first+count) {
			count += int64(q.tail[n].Count)
		}
		n++
	}
	if count != gap || !oneWriter(q.tail) {
		return false
	}
	for i := range q.tail[:n] { // the writer's clock may be ahead of Redis'
		q.tail[i].StoredAt = min(q.tail[i].StoredAt, proven.StoredAt)
	}
	q.append(q.tail[:n])
	q.tail = q.tail[n:]
	return true
}

// renumber gives new offsets from first on to the proven entries of rest, in
// their order, and to the tail, by time.
func (q *queueLog) renumber(first int64, rest []meta.Entry) {
	all := slices.Concat(rest, q.tail)
	slices.SortStableFunc(all, func(a, b meta.Entry) int { return cmp.Compare(a.StoredAt, b.StoredAt) })
	q.raised, q.moved = true, first
	q.append(all)
}

func (q *queueLog) append(entries []meta.Entry) {
	for _, e := range entries {
		if !q.lands(e, q.end()) {
			continue
		}
		e.Next, e.StoredAt = q.end()+int64(e.Count), max(e.StoredAt, q.storedAt())
		q.entries = append(q.entries, e)
		q.given = append(q.given, e)
	}
}

// lands says whether an entry may have that offset: one with a condition may have
// no other than it asks for. The verdicts that producers were told are receipts, so
// this decides only what nobody knows of.
func (q *queueLog) lands(e meta.Entry, first int64) bool {
	want, conditional := q.wants[place{e.Segment, e.Position}]
	return !conditional || want == first
}

func oneWriter(entries []meta.Entry) bool {
	for _, e := range entries {
		if e.Segment.Writer != entries[0].Segment.Writer {
			return false
		}
	}
	return true
}

func receiptEntry(r segment.Receipt) meta.Entry {
	return meta.Entry{
		Queue: r.Queue, Next: r.First + int64(r.Count), Count: r.Count, StoredAt: r.StoredAt,
		Segment:  meta.SegmentRef{Writer: r.Writer, Seq: r.Seq},
		Position: r.Position, Length: r.Length, Tags: r.Tags,
	}
}

func entryReceipt(t meta.Topic, e meta.Entry) segment.Receipt {
	return segment.Receipt{
		Writer: e.Segment.Writer, Seq: e.Segment.Seq, Topic: t.ID, Epoch: t.Epoch,
		Queue: e.Queue, First: e.First(), Count: e.Count,
		Position: e.Position, Length: e.Length, StoredAt: e.StoredAt, Tags: e.Tags,
	}
}

// decided returns the receipts of those tails that were applied without
// anything being indexed, so that they stay decided.
func decided(t meta.Topic, tails []*Segment, given []segment.Receipt) []segment.Receipt {
	var out []segment.Receipt
	for _, s := range tails {
		indexed := slices.ContainsFunc(given, func(r segment.Receipt) bool {
			return r.Writer == s.Footer.Writer && r.Seq == s.Footer.Seq
		})
		if !indexed {
			out = append(out, segment.Receipt{Writer: s.Footer.Writer, Seq: s.Footer.Seq, Topic: t.ID, Epoch: t.Epoch})
		}
	}
	return out
}
