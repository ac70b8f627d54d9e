package replay

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// Transactions. What begins one and what it came to are control records; its half
// messages are deferred blocks. A committed one's blocks are indexed after its
// decision is durable, so blocks of an undecided transaction have no offsets.

// Decision is the body of a control record: what a transaction came to. Of several
// the newest counts: an older one was never confirmed by the metadata server,
// which gives a transaction one decision, or is that nobody decided it in time.
type Decision struct {
	ID        uuid.UUID `json:"id"`
	Group     string    `json:"group"`
	State     string    `json:"state"` // committed, rolled_back or expired
	Reason    string    `json:"reason,omitempty"`
	DecidedAt int64     `json:"decided_at"`
}

// Producers are the transactions of one producer group as replayed.
type Producers struct {
	Group        string
	Transactions []meta.Transaction // by id
}

// orphanKept is how long half messages wait for the record that begins their
// transaction: it may be on its way.
const orphanKept = int64(10 * 60 * 1000)

// transactionLog is what the log says of transactions.
type transactionLog struct {
	begun     map[uuid.UUID]meta.Transaction
	decisions map[uuid.UUID]Decision
	halves    map[uuid.UUID]map[uuid.UUID][]foundHalf // transaction → topic → its blocks
}

// foundHalf is a block of half messages as the log has it.
type foundHalf struct {
	half    meta.Half
	waiting bool // it has no offsets
}

func newTransactionLog() transactionLog {
	return transactionLog{
		begun: map[uuid.UUID]meta.Transaction{}, decisions: map[uuid.UUID]Decision{},
		halves: map[uuid.UUID]map[uuid.UUID][]foundHalf{},
	}
}

func (t *transactionLog) add(s *Segment) {
	for _, begun := range s.Transactions {
		t.begun[begun.ID] = begun
	}
	for _, d := range s.Decisions {
		if old, known := t.decisions[d.ID]; !known || d.DecidedAt > old.DecidedAt {
			t.decisions[d.ID] = d
		}
	}
}

// halfPut says what is to be done with a block of half messages that was put down.
type halfPut struct {
	*put
	decided bool // of its transaction
	keep    bool // its pointer, or its place, is to be put down again
	fired   bool // it has offsets
	due     bool // its transaction is committed: it may have got offsets that no receipt tells
}

// halvesOf judges the half messages among puts.
func (l *log) halvesOf(topic uuid.UUID, puts []put) []halfPut {
	var out []halfPut
	for i := range puts {
		p := &puts[i]
		if p.block.Transaction == uuid.Nil {
			continue
		}
		h := halfPut{put: p, fired: l.firedOver(p.commit(topic), p.block)}
		d, decided := l.transactions.decisions[p.block.Transaction]
		h.decided = decided
		_, begun := l.transactions.begun[p.block.Transaction]
		switch {
		case decided && d.State == meta.TxCommitted:
			h.due = !h.fired
			h.keep = h.due || l.opts.Now-d.DecidedAt < meta.TransactionKept.Milliseconds()
		case decided && d.State == meta.TxExpired:
			h.keep = !h.fired && l.opts.Now-d.DecidedAt < meta.ExpiredKept.Milliseconds()
		case decided:
		default:
			h.keep = !h.fired && (begun || l.opts.Now-segment.MessageTime(p.block.Transaction) < orphanKept)
		}
		out = append(out, h)
	}
	return out
}

// halfStates returns what is to be put down of half messages, given the finished
// queues, and notes them for their transactions.
func (l *log) halfStates(t meta.Topic, queues map[uint32]*queueLog, halves []halfPut) []meta.HalfState {
	var out []meta.HalfState
	for _, h := range halves {
		if !h.keep && h.decided {
			continue
		}
		id, b := h.commit(t.ID), h.block
		half := meta.Half{ID: b.DueID, Queue: b.Queue, Count: b.Count, First: -1}
		state := meta.HalfState{ID: b.DueID, Queue: b.Queue, Count: b.Count}
		if h.fired {
			half.First, half.Epoch = queues[b.Queue].offsetOf(h.segment, b), t.Epoch
			state.Placed, state.Epoch, state.First = true, half.Epoch, half.First
		} else {
			state.Entry = meta.Entry{
				Queue: b.Queue, Count: b.Count, Segment: meta.SegmentRef{Writer: id.writer, Seq: id.seq},
				Position: b.Position, Length: b.Length, Tags: b.Tags,
			}
		}
		l.transactions.note(b.Transaction, t.ID, foundHalf{half: half, waiting: !h.fired})
		if h.keep && half.First >= -1 {
			out = append(out, state)
		}
	}
	return out
}

func (t *transactionLog) note(transaction, topic uuid.UUID, h foundHalf) {
	if t.halves[transaction] == nil {
		t.halves[transaction] = map[uuid.UUID][]foundHalf{}
	}
	t.halves[transaction][topic] = append(t.halves[transaction][topic], h)
}

// offsetOf returns the first offset of a block that is in the queue's index; −2:
// it is not.
func (q *queueLog) offsetOf(s *Segment, b *segment.Block) int64 {
	if q.bySegment == nil {
		q.bySegment = map[meta.SegmentRef][]int{}
		for i, e := range q.entries {
			q.bySegment[e.Segment] = append(q.bySegment[e.Segment], i)
		}
	}
	for _, i := range q.bySegment[meta.SegmentRef{Writer: s.Footer.Writer, Seq: s.Footer.Seq}] {
		e := &q.entries[i]
		if b.Position < e.Position || b.Position >= e.Position+e.Length {
			continue
		}
		first := e.First()
		for _, before := range s.Footer.Blocks {
			if before.Topic == b.Topic && before.Queue == b.Queue && before.Position >= e.Position && before.Position < b.Position {
				first += int64(before.Count)
			}
		}
		return first
	}
	return -2
}

// replayTransactions decides which transactions are still of interest and in
// which state each is, given the topics as replayed.
func (l *log) replayTransactions(plan *Plan) {
	topics := map[uuid.UUID]meta.Topic{}
	for i := range plan.Topics {
		t := plan.Topics[i].Snapshot.Topic
		topics[t.ID] = t
	}
	groups := map[string][]meta.Transaction{}
	ids := maps.Clone(l.transactions.begun)
	for id := range l.transactions.decisions {
		if _, known := ids[id]; !known { // the record that began it is lost
			ids[id] = meta.Transaction{ID: id, Group: l.transactions.decisions[id].Group, CreatedAt: segment.MessageTime(id)}
		}
	}
	for id, begun := range ids {
		if tx, keep := l.transaction(begun, l.transactions.halves[id], topics); keep {
			groups[tx.Group] = append(groups[tx.Group], tx)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		all := groups[name]
		slices.SortFunc(all, func(a, b meta.Transaction) int { return compareIDs(a.ID, b.ID) })
		plan.Producers = append(plan.Producers, Producers{Group: name, Transactions: all})
	}
}

// transaction is one transaction as replayed; false: it is of no interest.
func (l *log) transaction(tx meta.Transaction, halves map[uuid.UUID][]foundHalf, topics map[uuid.UUID]meta.Topic) (meta.Transaction, bool) {
	complete, waiting := l.fill(&tx, halves, topics)
	d, decided := l.transactions.decisions[tx.ID]
	if !decided {
		tx.State = meta.TxBegun
		if complete {
			tx.State, tx.NextCheck = meta.TxOpen, max(tx.CreatedAt+tx.CheckAfter, l.opts.Now)
		}
		return tx, true
	}
	tx.State, tx.Reason, tx.DecidedAt, tx.Logged = d.State, d.Reason, d.DecidedAt, true
	age := l.opts.Now - d.DecidedAt
	switch d.State {
	case meta.TxCommitted: // the leader settles it, as after a decision
		return tx, waiting || age < meta.TransactionKept.Milliseconds()
	case meta.TxExpired:
		return tx, age < meta.ExpiredKept.Milliseconds()
	}
	tx.Settled = true
	return tx, age < meta.TransactionKept.Milliseconds()
}

// fill completes the topics of a transaction by what was found of them.
func (l *log) fill(tx *meta.Transaction, halves map[uuid.UUID][]foundHalf, topics map[uuid.UUID]meta.Topic) (complete, waiting bool) {
	complete = true
	tx.Topics = slices.Clone(tx.Topics)
	for id := range halves {
		if !slices.ContainsFunc(tx.Topics, func(t meta.TransactionTopic) bool { return t.Topic == id }) {
			tx.Topics = append(tx.Topics, meta.TransactionTopic{Topic: id, Name: topics[id].Name})
		}
	}
	for i := range tx.Topics {
		t := &tx.Topics[i]
		found := halves[t.Topic]
		slices.SortFunc(found, func(a, b foundHalf) int { return compareIDs(a.half.ID, b.half.ID) })
		t.Halves = nil
		count := 0
		for _, h := range found {
			t.Halves = append(t.Halves, h.half)
			count += int(h.half.Count)
			waiting = waiting || h.waiting
		}
		if _, lives := topics[t.Topic]; !lives {
			t.Gone = true
			continue
		}
		t.Messages = max(t.Messages, count)
		complete = complete && count == t.Messages
	}
	return complete, waiting
}
