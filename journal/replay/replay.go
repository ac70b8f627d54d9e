// Package replay decides what the index was, from the segments alone. Given
// the footers of every segment in the bucket it returns each topic's consume
// queues with exact offsets where receipts prove them, the unreceipted tail
// behind them, and the receipts that must be made durable before anybody reads
// by the new numbers. It is pure: no I/O, no clock.
//
// The rules (DESIGN 9):
//
//   - A receipt is proof: its entry goes back to exactly that offset.
//   - Receipts of a writer are prefix-complete, so a segment without a receipt
//     but with a later receipt of its writer for the same topic was refused or
//     burnt, and is never indexed. Only where a damaged footer took receipts
//     away may it fill a gap, if it fits exactly.
//   - The unreceipted rest of one writer is applied in its commit order, which
//     is its seq order: the same offsets come out as were given before.
//   - Where two writers have an unreceipted tail on one queue their order is
//     unknown: the tail is appended in time order under a new topic epoch.
package replay

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/uuid"
)

// Segment is what replay needs to know of one object: its footer and the states
// in its control records.
type Segment struct {
	Footer   segment.Footer
	Topics   []meta.Topic
	Groups   []meta.Group
	Settings []GroupSettings
	Offsets  []GroupOffsets
	Recalls  []Recall
	// Transactions are those that began, without their half messages.
	Transactions []meta.Transaction
	Decisions    []Decision
	// Damaged: the footer was rebuilt from the blocks, so receipts and burnt
	// seqs that it held are lost.
	Damaged bool
}

// Options says under which circumstances the bucket is replayed.
type Options struct {
	// Exclusive: no writer of these segments can be alive (embedded mode holds
	// the file lock), so segments behind a gap are applied as well.
	Exclusive bool
	// Now is the time by the metadata server's clock, in Unix milliseconds. It
	// bounds which idempotency keys and producers are still remembered.
	Now int64
	// Offsets is the progress of groups that the metadata server still has. It
	// may be newer than what was logged, and is never ahead of what was consumed.
	Offsets []GroupOffsets
}

// Plan is the outcome of a replay.
type Plan struct {
	// Topics are the topics that exist, ordered by id.
	Topics []Topic
	// Orphans are topics that have messages in the bucket but whose state is
	// in no readable control record. Nothing of theirs is touched.
	Orphans []uuid.UUID
	// Ended are the topics whose last state is a tombstone, or that lost their
	// name to a later topic.
	Ended map[uuid.UUID]bool
	// Groups are the consumer groups that exist, ordered by id; EndedGroups those
	// that do no more, as in Ended.
	Groups      []Group
	EndedGroups map[uuid.UUID]bool
	// Producers are the producer groups with transactions that are of interest.
	Producers []Producers
	// Waiting are writers with segments behind a gap. A living writer commits
	// them itself; a dead one's are adopted.
	Waiting []uuid.UUID
}

// Topic is one topic as replayed.
type Topic struct {
	Snapshot meta.TopicSnapshot
	// EpochRaised says that offsets were given anew and that the topic's state
	// (already with its raised epoch and version) must be logged again.
	EpochRaised bool
	// Receipts prove the entries that this replay numbered. They must be
	// durable before the topic is opened: otherwise another replay could give
	// the same offsets to other messages.
	Receipts []segment.Receipt
	// Holes are offsets that receipts passed over and no segment explains.
	Holes []Hole
	// Renumbered has, per queue, the lowest offset that may name another message
	// than before.
	Renumbered map[uint32]int64
}

// Hole is a run of offsets [First, Next) of one queue without messages.
type Hole struct {
	Queue uint32 `json:"queue"`
	First int64  `json:"first"`
	Next  int64  `json:"next"`
}

type commitID struct {
	topic, writer uuid.UUID
	seq           uint64
}

// log is the bucket's content, indexed for the per-topic work.
type log struct {
	opts     Options
	damaged  bool // some receipts are lost with their footer
	segments map[uuid.UUID]map[uint64]*Segment
	burnt    map[uuid.UUID]map[uint64]bool
	// receipts by commit, newest epoch per run of bytes.
	receipts map[commitID][]segment.Receipt
	// receipted is the highest seq of a writer with a receipt, per topic and
	// over all topics.
	receipted    map[[2]uuid.UUID]uint64
	receiptedAny map[uuid.UUID]uint64
	// limit is the last seq of a writer that may be applied.
	limit  map[uuid.UUID]uint64
	topics map[uuid.UUID]meta.Topic
	// named is the living topic of a name: the one created last, should the
	// tombstone of an earlier one have been lost.
	named  map[string]uuid.UUID
	blocks map[uuid.UUID][]*Segment
	groups map[uuid.UUID]*groupLog
	timers timerLog

	transactions transactionLog
}

// Replay computes the plan. It keeps no reference to segs after it returns.
func Replay(segs []Segment, opts Options) Plan {
	l := index(segs, opts)
	ids := make([]uuid.UUID, 0, len(l.topics))
	plan := Plan{Ended: map[uuid.UUID]bool{}, EndedGroups: map[uuid.UUID]bool{}}
	for id, t := range l.topics {
		if t.Deleted || l.named[t.Name] != id {
			plan.Ended[id] = true
			continue
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareIDs)
	for _, id := range ids {
		plan.Topics = append(plan.Topics, l.topic(l.topics[id]))
	}
	l.replayGroups(&plan)
	l.replayTransactions(&plan)
	for id := range l.blocks {
		if _, known := l.topics[id]; !known {
			plan.Orphans = append(plan.Orphans, id)
		}
	}
	for writer, seqs := range l.segments {
		for seq := range seqs {
			if seq > l.limit[writer] {
				plan.Waiting = append(plan.Waiting, writer)
				break
			}
		}
	}
	slices.SortFunc(plan.Orphans, compareIDs)
	slices.SortFunc(plan.Waiting, compareIDs)
	return plan
}

func index(segs []Segment, opts Options) *log {
	l := &log{
		opts:         opts,
		segments:     map[uuid.UUID]map[uint64]*Segment{},
		burnt:        map[uuid.UUID]map[uint64]bool{},
		receipts:     map[commitID][]segment.Receipt{},
		receipted:    map[[2]uuid.UUID]uint64{},
		receiptedAny: map[uuid.UUID]uint64{},
		limit:        map[uuid.UUID]uint64{},
		topics:       map[uuid.UUID]meta.Topic{},
		named:        map[string]uuid.UUID{},
		blocks:       map[uuid.UUID][]*Segment{},
		groups:       map[uuid.UUID]*groupLog{},
		timers:       newTimerLog(),
		transactions: newTransactionLog(),
	}
	for i := range segs {
		l.addSegment(&segs[i])
	}
	for i := range segs { // a receipt means something only beside its segment
		for _, r := range segs[i].Footer.Receipts {
			l.addReceipt(r)
		}
	}
	for _, o := range opts.Offsets {
		l.addOffsets(o)
	}
	for id, t := range l.topics {
		if other, ok := l.topics[l.named[t.Name]]; !t.Deleted && (!ok || t.CreatedAt > other.CreatedAt) {
			l.named[t.Name] = id
		}
	}
	for writer := range l.segments {
		l.limit[writer] = l.applicable(writer)
	}
	return l
}

func (l *log) addSegment(s *Segment) {
	f := &s.Footer
	l.damaged = l.damaged || s.Damaged
	if l.segments[f.Writer] == nil {
		l.segments[f.Writer] = map[uint64]*Segment{}
	}
	l.segments[f.Writer][f.Seq] = s
	for _, seq := range f.Burnt {
		if l.burnt[f.Writer] == nil {
			l.burnt[f.Writer] = map[uint64]bool{}
		}
		l.burnt[f.Writer][seq] = true
	}
	for _, r := range s.Recalls {
		l.timers.recalled[timerID{commitID{r.Topic, r.Writer, r.Seq}, r.Position}] = true
	}
	for _, t := range s.Topics {
		old, ok := l.topics[t.ID]
		// Two states of one version differ when a recovery raised the epoch
		// while a change was on its way: the raised one is the later.
		if !ok || t.Version > old.Version || t.Version == old.Version && t.Epoch > old.Epoch {
			l.topics[t.ID] = t
		}
	}
	l.addGroups(s)
	l.transactions.add(s)
	var seen []uuid.UUID
	for _, b := range f.Blocks {
		if b.Kind == segment.Messages && !slices.Contains(seen, b.Topic) {
			seen = append(seen, b.Topic)
			l.blocks[b.Topic] = append(l.blocks[b.Topic], s)
		}
	}
}

// addReceipt keeps, for each queue of a commit, the receipts of the highest
// epoch: a later epoch gave its offsets anew. Within one epoch the writer and
// who acted for it may both have written the same receipt: it counts once.
func (l *log) addReceipt(r segment.Receipt) {
	if l.delayed(&r) {
		l.addFiring(r)
		return
	}
	pair := [2]uuid.UUID{r.Topic, r.Writer}
	l.receipted[pair] = max(l.receipted[pair], r.Seq)
	l.receiptedAny[r.Writer] = max(l.receiptedAny[r.Writer], r.Seq)
	id := commitID{r.Topic, r.Writer, r.Seq}
	known := l.receipts[id]
	if r.Count == 0 {
		l.receipts[id] = known // the commit is decided, nothing of it is indexed
		if r.Length > 0 {
			l.timers.armed[id] = append(l.timers.armed[id], r)
		}
		return
	}
	for _, k := range known {
		if k.Queue != r.Queue {
			continue
		}
		overlaps := k.Position < r.Position+r.Length && r.Position < k.Position+k.Length
		if k.Epoch > r.Epoch || k.Epoch == r.Epoch && overlaps {
			return
		}
	}
	known = slices.DeleteFunc(known, func(k segment.Receipt) bool {
		return k.Queue == r.Queue && k.Epoch < r.Epoch
	})
	l.receipts[id] = append(known, r)
}

// applicable returns the last seq of a writer whose segments may be applied. A
// living writer may still be uploading a missing segment and will commit what
// follows it only then, so nothing behind a gap is touched.
func (l *log) applicable(writer uuid.UUID) uint64 {
	seqs := l.segments[writer]
	lowest, highest := ^uint64(0), uint64(0)
	for seq := range seqs {
		lowest, highest = min(lowest, seq), max(highest, seq)
	}
	if l.opts.Exclusive {
		return highest
	}
	seq := max(l.receiptedAny[writer], lowest-1)
	for seq < highest && (seqs[seq+1] != nil || l.burnt[writer][seq+1]) {
		seq++
	}
	return seq
}

func compareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }

// compareTails orders unreceipted segments of several writers by time.
func compareTails(a, b *Segment) int {
	return cmp.Or(
		cmp.Compare(a.Footer.CreatedAt, b.Footer.CreatedAt),
		compareIDs(a.Footer.Writer, b.Footer.Writer),
		cmp.Compare(a.Footer.Seq, b.Footer.Seq),
	)
}
