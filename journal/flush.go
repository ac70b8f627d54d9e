package journal

import (
	"context"
	"slices"
	"time"
)

// flusher is what only the flush loop knows.
type flusher struct {
	seq       uint64    // of the last sealed segment
	lastFlush time.Time // when the last batch was sealed
}

// Reasons of a flush.
const (
	flushSize     = "size"
	flushLinger   = "linger"
	flushPressure = "pressure"
	flushClosing  = "closing"
	flushNote     = "burnt"
	flushReceipts = "receipts"
)

// decision is what the flush loop does next: seal for a reason, end, or look
// again at a time (zero: when woken).
type decision struct {
	reason string
	end    bool
	at     time.Time
}

// flushLoop seals batches into segments and hands each to a putter and, in seq
// order, to the committer.
func (w *writer) flushLoop(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil { // what is not sealed by then is surely not stored
		w.mu.Lock()
		next := w.decide(time.Now())
		var s *sealed
		if next.reason != "" {
			s = w.take(next.reason, time.Now())
		}
		w.mu.Unlock()
		if next.end {
			close(w.finished)
			return nil
		}
		if s != nil {
			s.seal(w)
			// Neither send ever waits: take admits no more segments than the
			// channels have room for.
			if len(s.batch.topics) > 0 {
				w.sealed <- s
			}
			w.puts <- s
			continue
		}
		var due <-chan time.Time
		if !next.at.IsZero() {
			timer.Reset(time.Until(next.at))
			due = timer.C
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-due:
		}
	}
	return ctx.Err()
}

// decide is the whole policy of flushing. Guarded by mu.
func (w *writer) decide(now time.Time) decision {
	if w.inPut >= maxPuts {
		return decision{} // woken when a putter is free
	}
	// A note is never held back by undecided segments: they wait for it. When
	// there are too many of them, it goes in a segment of its own.
	noteAt, note := w.ledger.notesDue()
	if note && !noteAt.After(now) {
		return decision{reason: flushNote}
	}
	d := decision{}
	if note {
		d.at = noteAt
	}
	if w.undecided >= maxUndecided || w.resumed != nil {
		return d
	}
	if reason, at := w.batchDue(now); reason != "" {
		return decision{reason: reason}
	} else if !at.IsZero() {
		d.at = sooner(d.at, at)
	}
	receiptsAt, receipts := w.ledger.receiptsDue()
	if w.closing && w.open == nil && w.undecided == 0 {
		switch {
		case w.inPut == 0 && w.ledger.settled():
			return decision{end: true}
		case receipts && !w.ledger.receiptsAfter.After(now):
			return decision{reason: flushReceipts}
		case receipts:
			receiptsAt = w.ledger.receiptsAfter
		}
	}
	if receipts && w.open == nil {
		if !receiptsAt.After(now) {
			return decision{reason: flushReceipts}
		}
		d.at = sooner(d.at, receiptsAt)
	}
	return d
}

// batchDue says why a batch is to be sealed now, or else when; never when there
// is none. Guarded by mu.
func (w *writer) batchDue(now time.Time) (reason string, at time.Time) {
	switch {
	case len(w.full) > 0:
		return flushSize, time.Time{}
	case w.open == nil:
		return "", time.Time{}
	case w.closing:
		return flushClosing, time.Time{}
	case w.crowded():
		return flushPressure, time.Time{}
	case w.options.Linger == 0:
		if w.inPut == 0 {
			return flushLinger, time.Time{}
		}
		return "", time.Time{} // woken when the PUT is done
	}
	at = w.open.openedAt.Add(lingerFor(w.options.Linger, w.flusher.lastFlush.Sub(w.open.openedAt)))
	if at.After(now) {
		return "", at
	}
	return flushLinger, time.Time{}
}

// lingerFor returns how long a batch stays open for others to join, when the
// last flush was sinceLast from its opening (negative: before). An idle writer
// answers at once, and a busy one never seals more than one batch a linger.
func lingerFor(linger, sinceLast time.Duration) time.Duration {
	return min(max(sinceLast+linger, min(minLinger, linger)), linger)
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// take makes the next segment out of the oldest batch, if there is one, and of
// what the ledger has to tell. Guarded by mu.
func (w *writer) take(reason string, now time.Time) *sealed {
	b := newBatch(now)
	if (w.open != nil || len(w.full) > 0) && w.undecided < maxUndecided && w.resumed == nil {
		b = w.oldest()
		w.flusher.lastFlush = now
	}
	w.flusher.seq++
	s := &sealed{seq: w.flusher.seq, batch: b, putDone: make(chan struct{}), sealedAt: now}
	// The requests were promised an answer within the timeout of their joining;
	// the first of them joined when the batch opened.
	s.deadline = later(b.openedAt.Add(w.options.AppendTimeout), now.Add(w.options.AppendTimeout/10))
	s.undecided = len(b.topics)
	s.note = w.ledger.expect(s.seq)
	s.cargo = w.ledger.take(s.seq, b.topics)
	s.receipts = slices.Clip(w.ledger.receipts)
	s.states = slices.Clip(w.ledger.states)
	w.inPut++
	if len(b.topics) > 0 {
		w.undecided++
		w.metrics.undecided.Set(float64(w.undecided))
	}
	w.metrics.flushes.WithLabelValues(reason).Inc()
	return s
}

// oldest takes the batch that is sealed next; there is one. Guarded by mu.
func (w *writer) oldest() *batch {
	if len(w.full) > 0 {
		b := w.full[0]
		w.full = w.full[1:]
		return b
	}
	b := w.open
	w.open = nil
	return b
}
