package replay

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// identities decides which unreceipted requests are repetitions, by the rules
// of the commit script.
type identities struct {
	topic     uuid.UUID
	keys      map[[16]byte]int64 // idempotency key → stored at
	producers map[[16]byte]producer
	judged    map[*Segment]map[request]bool // by runs: which requests were refused
}

type producer struct{ epoch, seq int64 }

// newIdentities learns the identities of everything that receipts prove.
func newIdentities(l *log, topic uuid.UUID) *identities {
	ids := &identities{topic: topic, keys: map[[16]byte]int64{}, producers: map[[16]byte]producer{}, judged: map[*Segment]map[request]bool{}}
	for _, s := range l.blocks[topic] {
		receipts := l.receipts[commitID{topic, s.Footer.Writer, s.Footer.Seq}]
		for _, b := range s.Footer.Blocks {
			if b.Topic != topic || b.Identity == nil {
				continue
			}
			if r, known := covering(l.timers.armed[commitID{topic, s.Footer.Writer, s.Footer.Seq}], &b); known && b.Deferred() {
				ids.learn(b.Identity, r.StoredAt)
			}
			for _, r := range receipts {
				if r.Queue == b.Queue && r.Position <= b.Position && b.Position < r.Position+r.Length {
					ids.learn(b.Identity, r.StoredAt)
				}
			}
		}
	}
	return ids
}

func (ids *identities) learn(id *segment.Identity, storedAt int64) {
	if id.Keyed() {
		ids.keys[id.Key] = max(ids.keys[id.Key], storedAt)
		return
	}
	if p, ok := ids.producers[id.Key]; !ok || id.Epoch > p.epoch || id.Epoch == p.epoch && id.Seq > p.seq {
		ids.producers[id.Key] = producer{id.Epoch, id.Seq}
	}
}

// stored says whether a commit made at that time would index the request.
func (ids *identities) stored(id *segment.Identity, at int64) bool {
	if id.Keyed() {
		first, known := ids.keys[id.Key]
		return !known || at-first >= meta.IdempotencyWindow.Milliseconds()
	}
	p, known := ids.producers[id.Key]
	return !known || id.Epoch > p.epoch || id.Epoch == p.epoch && id.Seq == p.seq+1
}

// runs returns what commits of tails, in that order, put into the index: one
// entry per run of touching blocks of a queue, without offsets yet.
func (ids *identities) runs(tails []*Segment) []meta.Entry {
	var out []meta.Entry
	for _, s := range tails {
		refused := ids.refused(s)
		ids.judged[s] = refused
		last := map[uint32]int{} // queue → index in out of its last run in this segment that goes on
		for i := range s.Footer.Blocks {
			b := &s.Footer.Blocks[i]
			if b.Kind != segment.Messages || b.Topic != ids.topic || b.Deferred() || b.Identity != nil && refused[requestOf(b.Identity)] {
				continue
			}
			_, conditional := expected(b)
			if j, ok := last[b.Queue]; ok && !conditional && out[j].Position+out[j].Length == b.Position {
				out[j].Length += b.Length
				out[j].Count += b.Count
				out[j].Tags |= b.Tags
				continue
			}
			if last[b.Queue] = len(out); conditional {
				delete(last, b.Queue) // it is decided for itself, where it lands
			}
			out = append(out, meta.Entry{
				Queue: b.Queue, Count: b.Count, StoredAt: s.Footer.CreatedAt,
				Segment:  meta.SegmentRef{Writer: s.Footer.Writer, Seq: s.Footer.Seq},
				Position: b.Position, Length: b.Length, Tags: b.Tags,
			})
		}
	}
	return out
}

// refusedBefore returns which requests of a segment runs found to be repetitions.
func (ids *identities) refusedBefore(s *Segment) map[request]bool { return ids.judged[s] }

// request names one identified request within a topic.
type request struct {
	kind       uint8
	key        [16]byte
	epoch, seq int64
	base       uuid.UUID
}

func requestOf(id *segment.Identity) request {
	return request{kind: id.Kind, key: id.Key, epoch: id.Epoch, seq: id.Seq, base: id.IDBase}
}

// refused decides the requests of one segment, in the order of their bytes, and
// learns those that are stored.
func (ids *identities) refused(s *Segment) map[request]bool {
	refused := map[request]bool{}
	decided := map[request]bool{}
	for _, b := range s.Footer.Blocks {
		if b.Topic != ids.topic || b.Identity == nil || decided[requestOf(b.Identity)] {
			continue
		}
		r := requestOf(b.Identity)
		decided[r] = true
		if !ids.stored(b.Identity, s.Footer.CreatedAt) {
			refused[r] = true
			continue
		}
		if _, conditional := expected(&b); conditional {
			continue // whether it is stored is known where it lands
		}
		ids.learn(b.Identity, s.Footer.CreatedAt)
	}
	return refused
}

// expected returns the offset that a block must get to be indexed; false: any.
func expected(b *segment.Block) (first int64, conditional bool) {
	if b.Identity == nil {
		return 0, false
	}
	return b.Identity.Expected()
}

// conditions returns the offsets that blocks of tails must get.
func conditions(topic uuid.UUID, tails []*Segment) map[place]int64 {
	var out map[place]int64
	for _, s := range tails {
		for i := range s.Footer.Blocks {
			b := &s.Footer.Blocks[i]
			if first, conditional := expected(b); conditional && b.Topic == topic {
				if out == nil {
					out = map[place]int64{}
				}
				out[place{meta.SegmentRef{Writer: s.Footer.Writer, Seq: s.Footer.Seq}, b.Position}] = first
			}
		}
	}
	return out
}

// place is where a block is.
type place struct {
	segment  meta.SegmentRef
	position int64
}

// dedupe returns what must be remembered of identified requests, from the
// finished index: producers in the order of their sequence.
func (l *log) dedupe(topic uuid.UUID, queues map[uint32]*queueLog, puts []put) []meta.DedupeEntry {
	found := map[request]*meta.DedupeEntry{}
	for _, q := range queues {
		for _, e := range q.entries {
			if l.opts.Now-e.StoredAt < meta.ProducerWindow.Milliseconds() {
				l.collect(topic, e, found)
			}
		}
	}
	for _, p := range puts { // delayed messages have no part in the answer
		if id := p.block.Identity; id != nil && found[requestOf(id)] == nil && l.opts.Now-p.storedAt < meta.ProducerWindow.Milliseconds() {
			found[requestOf(id)] = &meta.DedupeEntry{
				Request: meta.Request{Identity: *id, IDBase: id.IDBase}, StoredAt: p.storedAt,
			}
		}
	}
	out := make([]meta.DedupeEntry, 0, len(found))
	for _, d := range found {
		id := d.Request.Identity
		age := l.opts.Now - d.StoredAt
		if id.Keyed() && age >= meta.IdempotencyWindow.Milliseconds() {
			continue
		}
		slices.SortFunc(d.Parts, func(a, b meta.Part) int {
			return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.First, b.First))
		})
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b meta.DedupeEntry) int {
		x, y := a.Request.Identity, b.Request.Identity
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), bytes.Compare(x.Key[:], y.Key[:]),
			cmp.Compare(x.Epoch, y.Epoch), cmp.Compare(x.Seq, y.Seq), cmp.Compare(a.StoredAt, b.StoredAt))
	})
	return out
}

// collect adds the identified blocks of one entry to the requests they are of.
func (l *log) collect(topic uuid.UUID, e meta.Entry, found map[request]*meta.DedupeEntry) {
	s := l.segments[e.Segment.Writer][e.Segment.Seq]
	if s == nil {
		return
	}
	first := e.First()
	for i := range s.Footer.Blocks {
		b := &s.Footer.Blocks[i]
		if b.Topic != topic || b.Queue != e.Queue || b.Position < e.Position || b.Position >= e.Position+e.Length {
			continue
		}
		if b.Identity != nil && !b.Deferred() {
			r := requestOf(b.Identity)
			d := found[r]
			if d == nil {
				d = &meta.DedupeEntry{
					Request:  meta.Request{Identity: *b.Identity, IDBase: b.Identity.IDBase},
					StoredAt: e.StoredAt,
				}
				found[r] = d
			}
			d.Parts = append(d.Parts, meta.Part{Queue: b.Queue, First: first, Count: b.Count})
		}
		first += int64(b.Count)
	}
}
