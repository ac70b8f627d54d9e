package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// settle acts on one result: it answers the topic's requests, or says that the
// same commit has to be sent again, and why.
func (c *committer) settle(ctx context.Context, d *topicCommit, r *meta.CommitResult) (again bool, err error) {
	var epoch *meta.EpochError
	label := "retry"
	defer func() { c.w.metrics.commits.WithLabelValues(label).Inc() }()
	switch {
	case r.Err == nil:
		label = "applied"
		if r.Repeated {
			label = "repeated"
		}
		c.learn(d.commit.Topic, r.Epoch, r.Entries)
		c.w.decided(d, receiptsOf(d.commit, *r), func(t *topicBatch) { d.answer(r); close(t.done) })
		return false, nil
	case errors.As(r.Err, &epoch):
		// Nothing was changed, so the commit may go into the epoch of now.
		label = "epoch"
		c.learn(d.commit.Topic, epoch.Current, nil)
		return true, r.Err
	case errors.Is(r.Err, meta.ErrTopicNotFound):
		// Deleted, or lost with the rest of Redis: only the store's generation
		// tells, and while it cannot be read nothing is decided.
		if lost, err := c.w.lost(ctx); err != nil || lost {
			return true, r.Err
		}
		if errors.Is(r.Err, meta.ErrTopicAbsent) && !d.sought {
			// No tombstone: a failover may have lost the topic. The bucket
			// knows, and after one recovery its answer stands.
			d.sought = true
			c.w.suspect("a commit to topic " + d.commit.Topic.String() + ", of which there is no trace")
			return true, r.Err
		}
		label = "topic_not_found"
		delete(c.known, d.commit.Topic)
		c.fail(d, ErrTopicNotFound)
		return false, nil
	case errors.Is(r.Err, meta.ErrRolledBack):
		// Unless what is known is older than a recovery that ended meanwhile.
		label = "rolled_back"
		if _, era := c.w.paused(); era == c.era {
			c.w.suspect("a commit to topic " + d.commit.Topic.String())
		}
		return true, r.Err
	case errors.Is(r.Err, meta.ErrRecovering):
		// Of the whole store or of this topic: only then is it for the guard.
		label = "recovering"
		_, err := c.w.lost(ctx)
		return true, errors.Join(r.Err, err)
	case errors.Is(r.Err, meta.ErrCorrupt):
		label = "corrupt"
		if !d.sought {
			d.sought = true
			c.w.suspect("a malformed index of topic " + d.commit.Topic.String())
		}
		return true, r.Err
	case errors.Is(r.Err, meta.ErrApplied):
		// Stored, but where is no longer known: never success without offsets.
		label = "applied_unknown"
		c.fail(d, fmt.Errorf("%w: %w", ErrOutcomeUnknown, r.Err))
		return false, nil
	case errors.Is(r.Err, meta.ErrQueueFull):
		label = "queue_full"
		c.fail(d, fmt.Errorf("%w: %w", ErrUnavailable, r.Err))
		return false, nil
	}
	return true, r.Err
}

func (c *committer) fail(d *topicCommit, err error) {
	c.w.decided(d, nil, func(t *topicBatch) { t.fail(err) })
}

// decided ends a topic's share of a segment: its receipts are noted first, then
// its keys may come again, then its requests are answered.
func (w *writer) decided(d *topicCommit, receipts []segment.Receipt, answer func(*topicBatch)) {
	s := d.segment
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger.addReceipts(receipts, time.Now())
	w.metrics.receipts.Set(float64(len(w.ledger.receipts)))
	for _, r := range d.topic.requests {
		if r.identity.Keyed() {
			delete(w.keys, inFlightKey{d.commit.Topic, r.identity.Key})
		}
		if _, conditional := r.identity.Expected(); conditional && len(receipts) > 0 {
			r.proof, r.era = w.ledger.await(true), w.era
		}
	}
	if s.undecided--; s.undecided == 0 {
		w.undecided--
		w.metrics.undecided.Set(float64(w.undecided))
		w.hold(-s.batch.held)
	}
	answer(d.topic)
	w.signal()
}

// logReceipts writes receipts that are not of this writer's commits into the
// footers of its next segments and returns once they are durable.
func (w *writer) logReceipts(ctx context.Context, receipts []segment.Receipt) error {
	w.mu.Lock()
	if w.dead || w.closing {
		w.mu.Unlock()
		return ErrDraining
	}
	w.ledger.addReceipts(receipts, time.Now())
	done := w.ledger.await(false)
	w.signal()
	w.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("log receipts: %w", context.Cause(ctx))
	}
}

// receiptsOf returns what the bucket has to know of an applied commit.
func receiptsOf(c meta.Commit, r meta.CommitResult) []segment.Receipt {
	base := segment.Receipt{Writer: c.Writer, Seq: c.Seq, Topic: c.Topic, Epoch: r.Epoch, StoredAt: r.StoredAt}
	armed := armedReceipts(base, r.Armed)
	if len(r.Entries) == 0 && len(armed) == 0 {
		return []segment.Receipt{base}
	}
	receipts := make([]segment.Receipt, len(r.Entries), len(r.Entries)+len(armed))
	for i, e := range r.Entries {
		receipt := base
		receipt.Queue, receipt.First, receipt.Count = e.Queue, e.First(), e.Count
		receipt.Position, receipt.Length = e.Position, e.Length
		receipt.StoredAt, receipt.Tags = e.StoredAt, e.Tags
		receipts[i] = receipt
	}
	return append(receipts, armed...)
}

// armedReceipts says of runs of deferred blocks that they were put down.
func armedReceipts(base segment.Receipt, armed []meta.CommitTimer) []segment.Receipt {
	var out []segment.Receipt
	for _, t := range armed {
		if n := len(out); n > 0 && out[n-1].Queue == t.Queue && out[n-1].Position+out[n-1].Length == t.Position {
			out[n-1].Length += t.Length
			continue
		}
		receipt := base
		receipt.Queue, receipt.Position, receipt.Length = t.Queue, t.Position, t.Length
		out = append(out, receipt)
	}
	return out
}

// answer writes every request's answer from an applied commit.
func (d *topicCommit) answer(r *meta.CommitResult) {
	for _, request := range d.topic.requests {
		request.epoch = r.Epoch
	}
	var stored map[int]bool // by request with an identity: not answered otherwise
	if len(r.Requests) > 0 {
		stored = make(map[int]bool, len(r.Requests))
	}
	for k, q := range d.topic.queues {
		for i, o := range q.owners {
			at := d.places[k][i]
			if n := d.requestAt(k, at); n >= 0 {
				if _, seen := stored[n]; !seen {
					stored[n] = o.draft.outcome(r.Requests[n])
				}
				if !stored[n] {
					continue
				}
			}
			if at.timer {
				continue
			}
			if first := r.Firsts[d.index[k]][at.chunk]; first >= 0 {
				o.draft.parts[o.part].first = first + at.skip
			}
		}
	}
}

// requestAt returns which request of the commit the messages of a place are of.
func (d *topicCommit) requestAt(queue int, at place) int {
	if at.timer {
		return d.commit.Timers[at.chunk].Request
	}
	return d.commit.Queues[d.index[queue]].Chunks[at.chunk].Request
}

// outcome answers a request with an identity; true: it is stored, as one
// without would be.
func (d *Draft) outcome(o meta.RequestOutcome) bool {
	switch o.Status {
	case meta.RequestStored:
		return true
	case meta.RequestDuplicate:
		d.repeat(o)
	case meta.RequestGap:
		d.err = &GapError{Expected: o.Expected}
	case meta.RequestFenced:
		d.err = &FencedError{Current: o.Current}
	case meta.RequestMissed:
		d.err = &NextOffsetError{Queue: d.parts[0].queue, Expected: d.identity.Epoch, Current: o.Current}
	case meta.RequestKeyReused:
		d.err = ErrKeyReused
	default:
		d.err = fmt.Errorf("%w: the commit answered %q", ErrOutcomeUnknown, o.Status)
	}
	return false
}
