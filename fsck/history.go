package fsck

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/uuid"
)

// history is what the log tells about one writer's segments.
type history struct {
	seen      seqs   // stored
	burnt     seqs   // given up by the writer
	committed seqs   // a receipt says so
	ownMax    uint64 // the highest seq that the writer itself receipted
}

// learn takes in what a whole footer says about its own and other writers. After
// the listing it learns nothing more: what a newer segment proves, the listing may
// not have seen.
func (c *checker) learn(f *segment.Footer) {
	if c.late {
		return
	}
	own := c.history(f.Writer)
	for _, seq := range f.Burnt {
		own.burnt.add(seq, seq)
	}
	for i := range f.Receipts {
		r := &f.Receipts[i]
		c.history(r.Writer).committed.add(r.Seq, r.Seq)
		if r.Writer == f.Writer {
			own.ownMax = max(own.ownMax, r.Seq)
		}
	}
}

// missing returns the seqs that were committed and are not stored. A writer
// commits in order and never skips a seq that it did not burn, so whatever is
// below one that it receipted was committed too. A hole above is what a writer
// leaves when it dies with several segments in flight: nothing of it was
// acknowledged.
func (h *history) missing() seqs {
	var lost seqs
	if h.ownMax > 0 {
		lost.add(1, h.ownMax)
	}
	lost = lost.minus(h.burnt)
	for _, r := range h.committed {
		lost.add(r.First, r.Last)
	}
	return lost.minus(h.seen)
}

// finish compares what was seen with what must be there, writer by writer.
func (c *checker) finish(ctx context.Context) error {
	c.late = true
	ids := make([]uuid.UUID, 0, len(c.writers))
	for id := range c.writers {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range ids {
		h := c.writers[id]
		if err := c.lookAgain(ctx, id, h); err != nil {
			return err
		}
		for _, r := range h.missing() {
			c.fault(Fault{
				Kind: MissingSegment, Key: segment.ObjectKey(id, r.First),
				Detail: fmt.Sprintf("%s committed and not stored", r),
			})
		}
		c.report.Writers = append(c.report.Writers, h.summary(id))
	}
	return nil
}

// lookAgain asks once more for segments that are missing: beside a running
// writer, one may have been stored after the listing had passed its key.
func (c *checker) lookAgain(ctx context.Context, writer uuid.UUID, h *history) error {
	missing := h.missing()
	if missing.count() > maxLateLookups {
		return nil
	}
	for _, r := range missing {
		for seq := r.First; ; seq++ {
			key := segment.ObjectKey(writer, seq)
			for info, err := range c.store.List(ctx, key, "") {
				if err != nil {
					return fmt.Errorf("list %s: %w", key, err)
				}
				if info.Key != key {
					break
				}
				if err := c.check(ctx, info); err != nil {
					return err
				}
			}
			if seq == r.Last {
				break
			}
		}
	}
	return nil
}

func (h *history) summary(id uuid.UUID) Writer {
	w := Writer{Writer: id, Segments: h.seen.count(), Burnt: h.burnt, Missing: h.missing()}
	if n := len(h.seen); n > 0 {
		w.LastSeq = h.seen[n-1].Last
		var all seqs
		all.add(1, w.LastSeq)
		w.NeverStored = all.minus(h.seen).minus(h.burnt).minus(w.Missing)
	}
	return w
}
