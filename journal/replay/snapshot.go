package replay

import (
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// memos is how many commits of a writer may ask for their receipt again.
const memos = 8

// snapshot is what Redis is to hold of the topic.
func (l *log) snapshot(t meta.Topic, queues map[uint32]*queueLog, tails []*Segment, puts []put) meta.TopicSnapshot {
	s := meta.TopicSnapshot{
		Topic:   t,
		Queues:  map[uint32]meta.QueueSnapshot{},
		Writers: map[uuid.UUID]meta.WriterMemo{},
		Dedupe:  l.dedupe(t.ID, queues, puts),
	}
	for n, q := range queues {
		if len(q.entries) > 0 {
			s.Queues[n] = meta.QueueSnapshot{Next: q.end(), Entries: q.entries}
		}
	}
	for pair, seq := range l.receipted {
		if pair[0] == t.ID {
			s.Writers[pair[1]] = meta.WriterMemo{Seq: seq}
		}
	}
	for _, seg := range tails {
		w := s.Writers[seg.Footer.Writer]
		w.Seq = max(w.Seq, seg.Footer.Seq)
		if m, ok := memo(t.ID, seg, queues, puts); ok {
			w.Recent = append(w.Recent, m)
			w.Recent = w.Recent[max(0, len(w.Recent)-memos):]
		}
		s.Writers[seg.Footer.Writer] = w
	}
	return s
}

// memo is the receipt of a commit that was applied here. A writer that is still
// alive repeats its commit and is answered by it; so there is none when a
// request of it was left out, and the writer then says that the outcome is unknown.
func memo(topic uuid.UUID, s *Segment, queues map[uint32]*queueLog, puts []put) (meta.Memo, bool) {
	m := meta.Memo{Seq: s.Footer.Seq, Firsts: map[uint32]int64{}}
	counts := map[uint32]uint32{}
	delayed := 0
	for _, b := range s.Footer.Blocks {
		switch {
		case b.Kind != segment.Messages || b.Topic != topic:
		case b.Deferred():
			delayed++
		default:
			counts[b.Queue] += b.Count
		}
	}
	for _, p := range puts {
		if p.segment == s {
			delayed--
			m.StoredAt = p.storedAt
		}
	}
	if delayed != 0 {
		return m, false // a request of it was left out
	}
	some := len(counts) > 0 || m.StoredAt != 0
	for n, count := range counts {
		if queues[n] == nil {
			return m, false
		}
		i := slices.IndexFunc(queues[n].given, func(e meta.Entry) bool { return e.Segment.Seq == s.Footer.Seq && e.Segment.Writer == s.Footer.Writer })
		if i < 0 {
			return m, false
		}
		first := queues[n].given[i]
		m.Firsts[n], m.StoredAt = first.First(), first.StoredAt
		for ; i < len(queues[n].given) && queues[n].given[i].Segment == first.Segment; i++ {
			count -= queues[n].given[i].Count
		}
		if count != 0 {
			return m, false
		}
	}
	return m, some
}
