package journal

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// ledger is what the writer still has to tell the bucket, in the footers and
// control blocks of coming segments. A thing told counts only once a segment
// that carries it is durable; until then every segment that is sealed carries
// it again. So the receipts in the bucket are always a prefix: whoever finds
// one finds all earlier ones of the writer.
//
// It is guarded by writer.mu.
type ledger struct {
	receipts   []segment.Receipt
	first      uint64    // number of receipts[0], counted over the writer's life
	receiptsAt time.Time // when the newest one was added
	told       []tolding // who waits until receipts are durable
	onTheWay   uint64    // receipts before this number are in a segment being PUT

	// states are control records whose own segment did not arrive. They are in
	// force in Redis already, so the bucket has to learn of them all the same.
	states  []controlRecord
	owed    uint64 // number of states[0], counted over the writer's life
	stateBy uint64 // seq of a segment being PUT that carries all of states; 0 = none

	burnt  []*burntNote
	noteBy uint64              // seq of a segment being PUT that carries all of burnt; 0 = none
	topics map[uuid.UUID]int64 // topic → version that the bucket knows from us

	// unsettled are the segments, by seq, that are neither durable nor noted as
	// given up. Recovery applies no segment of a living writer behind a missing
	// one, so nothing behind the first of them may be committed.
	unsettled []*burntNote

	// After a segment failed, none is sealed just for what it carried before:
	receiptsAfter, notesAfter time.Time
}

// burntNote says that a seq is given up, whether its PUT may still succeed or
// surely has not, and whether its segment has messages or none.
//
// Before any later segment is committed, a segment that lists the burnt seq
// must be durable. Otherwise: the later commit is acknowledged, Redis is lost,
// and only then the object of the burnt seq lands; recovery would find it in
// front of acknowledged messages and give it offsets, after its producer was
// told "unknown", sent it again, and was answered. With the note in the bucket
// first, whoever can see the later segment can see that the burnt one is void.
// And where the object is missing: recovery would take the later segment for one
// that waits for it, leave it out, and give its offsets to others.
type burntNote struct {
	seq   uint64
	noted chan struct{} // closed once seq, or a segment that lists it, is durable
}

// cargo is what one sealed segment carries of the ledger.
type cargo struct {
	receipts uint64 // receipts before this number
	states   uint64 // states before this number
	notes    []*burntNote
	topics   []meta.Topic
}

func newLedger() ledger { return ledger{topics: make(map[uuid.UUID]int64)} }

func (l *ledger) addReceipts(r []segment.Receipt, now time.Time) {
	l.receipts = append(l.receipts, r...)
	l.receiptsAt = now
}

func (l *ledger) end() uint64 { return l.first + uint64(len(l.receipts)) }

// tolding waits until the receipts before a number are durable.
type tolding struct {
	before uint64
	prompt bool // somebody waits to be answered
	done   chan struct{}
}

// await returns a channel that is closed once all receipts added so far are durable.
// They are not kept back for others to join them when that is to be prompt.
func (l *ledger) await(prompt bool) <-chan struct{} {
	t := tolding{before: l.end(), prompt: prompt, done: make(chan struct{})}
	l.told = append(l.told, t)
	return t.done
}

// owe keeps a control record until a segment has taken it to the bucket.
func (l *ledger) owe(record controlRecord) {
	l.states = append(l.states, record)
	l.stateBy = 0
}

// expect takes note of a segment that is being made.
func (l *ledger) expect(seq uint64) *burntNote {
	note := &burntNote{seq: seq, noted: make(chan struct{})}
	l.unsettled = append(l.unsettled, note)
	return note
}

// settle ends the waiting of those behind: what became of the segment is known
// to the bucket, or does not matter.
func (l *ledger) settle(note *burntNote) {
	if i := slices.Index(l.unsettled, note); i >= 0 {
		l.unsettled = slices.Delete(l.unsettled, i, i+1)
		close(note.noted)
	}
}

// before returns what must happen before seq may be committed; nil: nothing.
func (l *ledger) before(seq uint64) <-chan struct{} {
	if len(l.unsettled) > 0 && l.unsettled[0].seq < seq {
		return l.unsettled[0].noted
	}
	return nil
}

// burn notes that a segment is given up.
func (l *ledger) burn(note *burntNote) {
	l.burnt = append(l.burnt, note)
	l.noteBy = 0
}

// take returns what segment seq, with messages of these topics, has to carry.
func (l *ledger) take(seq uint64, topics []*topicBatch) cargo {
	carried := cargo{receipts: l.end(), states: l.owed + uint64(len(l.states)), notes: slices.Clone(l.burnt)}
	for _, t := range topics {
		// The bucket never holds messages of a topic whose state it does not hold.
		if l.topics[t.topic.ID] < t.topic.Version {
			carried.topics = append(carried.topics, t.topic)
		}
	}
	l.onTheWay = carried.receipts
	if len(l.burnt) > 0 {
		l.noteBy = seq
	}
	if len(l.states) > 0 {
		l.stateBy = seq
	}
	return carried
}

// stored takes off what the durable segment carried.
func (l *ledger) stored(carried cargo) {
	if carried.receipts > l.first {
		// Never moved in place: a segment being sealed may still read them.
		l.receipts = l.receipts[carried.receipts-l.first:]
		l.first = carried.receipts
	}
	l.told = slices.DeleteFunc(l.told, func(t tolding) bool {
		if t.before > l.first {
			return false
		}
		close(t.done)
		return true
	})
	if carried.states > l.owed {
		l.states = l.states[carried.states-l.owed:]
		l.owed = carried.states
	}
	for _, t := range carried.topics {
		l.topics[t.ID] = max(l.topics[t.ID], t.Version)
	}
	for _, note := range carried.notes {
		if i := slices.Index(l.burnt, note); i >= 0 {
			l.burnt = slices.Delete(l.burnt, i, i+1)
			l.settle(note)
		}
	}
}

// missed makes what a segment that did not arrive carried due again.
func (l *ledger) missed(seq uint64, carried cargo, now time.Time) {
	l.onTheWay = l.first
	l.receiptsAfter = now.Add(receiptDelay)
	if len(carried.notes) > 0 {
		l.notesAfter = now.Add(receiptDelay)
	}
	if l.noteBy == seq {
		l.noteBy = 0
	}
	if l.stateBy == seq {
		l.stateBy = 0
	}
}

// notesDue returns from when on a segment must be sealed because commits wait
// for its notes; false: none.
func (l *ledger) notesDue() (time.Time, bool) {
	return l.notesAfter, len(l.burnt) > 0 && l.noteBy == 0
}

// receiptsDue returns from when on a segment must be sealed for the receipts
// and states alone; false: none.
func (l *ledger) receiptsDue() (time.Time, bool) {
	if len(l.states) > 0 && l.stateBy == 0 {
		return l.receiptsAfter, true
	}
	due := l.receiptsAt.Add(receiptDelay)
	if slices.ContainsFunc(l.told, func(t tolding) bool { return t.prompt && t.before > l.onTheWay }) {
		due = l.receiptsAfter
	}
	return later(due, l.receiptsAfter), l.onTheWay < l.end()
}

// settled says that the bucket knows all there is to know.
func (l *ledger) settled() bool {
	return len(l.receipts) == 0 && len(l.states) == 0 && len(l.burnt) == 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
