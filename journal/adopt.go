package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// Adoption says what Adopt did for one writer.
type Adoption struct {
	Segments int // found in the bucket
	Commits  int // made on the writer's behalf
	Messages int // that became readable by them
	Timers   int // delayed and half messages that were put down by them
}

// Adopt commits, on behalf of a dead writer and in the order of its seqs, the
// segments that it stored and did not commit (DESIGN 9). Burnt seqs stay
// burnt. It is idempotent, also against a late commit of the writer itself:
// each commit is applied once, and the writer gets the receipt of this one.
func (j *Journal) Adopt(ctx context.Context, writer uuid.UUID) (Adoption, error) {
	scan, err := scanLog(ctx, j.store, "log/"+writer.String()+"/", j.log)
	if err != nil {
		return Adoption{}, err
	}
	slices.SortFunc(scan.segments, func(a, b replay.Segment) int { return cmp.Compare(a.Footer.Seq, b.Footer.Seq) })
	burnt := map[uint64]bool{}
	for _, s := range scan.segments {
		for _, seq := range s.Footer.Burnt {
			burnt[seq] = true
		}
	}
	a := adopter{journal: j, last: map[uuid.UUID]uint64{}, receipted: map[uuid.UUID]uint64{}, done: Adoption{Segments: len(scan.segments)}}
	for _, s := range scan.segments {
		for _, r := range s.Footer.Receipts {
			if r.Writer == writer {
				a.receipted[r.Topic] = max(a.receipted[r.Topic], r.Seq)
			}
		}
	}
	for _, s := range scan.segments {
		if burnt[s.Footer.Seq] {
			continue
		}
		if err := a.adopt(ctx, &s.Footer); err != nil {
			return a.done, errors.Join(err, a.logReceipts(ctx))
		}
	}
	return a.done, a.logReceipts(ctx)
}

type adopter struct {
	journal  *Journal
	last     map[uuid.UUID]uint64 // topic → the writer's last committed seq
	receipts []segment.Receipt
	done     Adoption

	// receipted is the last seq that the writer's own footers prove to have been
	// committed, per topic. A Redis that does not know of it has lost data.
	receipted map[uuid.UUID]uint64
}

// adopt commits what one segment holds of each topic, where it is not committed.
func (a *adopter) adopt(ctx context.Context, f *segment.Footer) error {
	for _, c := range commitsOf(f) {
		last, known := a.last[c.Topic]
		if !known {
			seqs, err := a.journal.meta.LastSeqs(ctx, c.Topic)
			if err != nil && !errors.Is(err, ErrTopicNotFound) {
				return fmt.Errorf("read the commits of topic %s: %w", c.Topic, err)
			}
			last = seqs[f.Writer]
			a.last[c.Topic] = last
		}
		if last >= f.Seq {
			continue
		}
		if err := a.commit(ctx, c); err != nil {
			return fmt.Errorf("adopt segment %d of writer %s for topic %s: %w", f.Seq, f.Writer, c.Topic, err)
		}
	}
	return nil
}

func (a *adopter) commit(ctx context.Context, c meta.Commit) error {
	t, err := a.journal.meta.TopicByID(ctx, c.Topic)
	if errors.Is(err, ErrTopicNotFound) {
		return nil // deleted: nobody asks for it any more
	}
	if err != nil {
		return err
	}
	if c.Seq <= a.receipted[c.Topic] {
		a.journal.guard.suspect("the receipts of writer " + c.Writer.String())
		return fmt.Errorf("%w: redis does not know of segment %d, which has a receipt", ErrRecovering, c.Seq)
	}
	for {
		c.Epoch = t.Epoch
		r := a.journal.meta.Commit(ctx, []meta.Commit{c})[0]
		var epoch *meta.EpochError
		switch {
		case errors.As(r.Err, &epoch) && epoch.Current != t.Epoch:
			t.Epoch = epoch.Current
			continue
		case errors.Is(r.Err, ErrTopicNotFound), errors.Is(r.Err, meta.ErrApplied):
			return nil
		case r.Err != nil:
			return r.Err
		}
		a.last[c.Topic] = c.Seq
		a.done.Commits++
		for _, e := range r.Entries {
			a.done.Messages += int(e.Count)
		}
		for _, t := range r.Armed {
			a.done.Timers += int(t.Count)
		}
		a.receipts = append(a.receipts, receiptsOf(c, r)...)
		return nil
	}
}

// logReceipts makes the offsets that were given durable in a segment of a
// writer of its own.
func (a *adopter) logReceipts(ctx context.Context) error {
	if len(a.receipts) == 0 {
		return nil
	}
	return writeLog(ctx, a.journal.store, nil, a.receipts)
}

// commitsOf returns the commits of a segment, one per topic, as its writer
// would have made them.
func commitsOf(f *segment.Footer) []meta.Commit {
	var out []meta.Commit
	for i := range f.Blocks {
		b := &f.Blocks[i]
		if b.Kind != segment.Messages {
			continue
		}
		t := slices.IndexFunc(out, func(c meta.Commit) bool { return c.Topic == b.Topic })
		if t < 0 {
			t = len(out)
			out = append(out, meta.Commit{Topic: b.Topic, Writer: f.Writer, Seq: f.Seq})
		}
		c := &out[t]
		if b.Deferred() {
			c.Timers = append(c.Timers, timerOf(b, requestIndex(c, b.Identity)))
			continue
		}
		q := slices.IndexFunc(c.Queues, func(q meta.QueueCommit) bool { return q.Queue == b.Queue })
		if q < 0 {
			q = len(c.Queues)
			c.Queues = append(c.Queues, meta.QueueCommit{Queue: b.Queue})
		}
		c.Queues[q].Chunks = append(c.Queues[q].Chunks, meta.CommitChunk{
			Count: b.Count, Position: b.Position, Length: b.Length, Tags: b.Tags, Request: requestIndex(c, b.Identity),
		})
	}
	return out
}

// requestIndex returns where the request of an identified block is in c,
// adding it when it is new; −1 for a block without identity.
func requestIndex(c *meta.Commit, id *segment.Identity) int {
	if id == nil {
		return -1
	}
	whole := *id
	whole.Part = 0
	for i, r := range c.Requests {
		if r.Identity == whole {
			return i
		}
	}
	c.Requests = append(c.Requests, meta.Request{Identity: whole, IDBase: id.IDBase})
	return len(c.Requests) - 1
}
