package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// putLoop stores one segment after the other; maxPuts of them run.
func (w *writer) putLoop(ctx context.Context) error {
	for s := range w.puts {
		err := w.put(ctx, s)
		w.putDecided(s, err)
	}
	return nil
}

// put stores a segment. Its error is ErrUnavailable when the object surely is
// not and never will be in the store, and ErrOutcomeUnknown otherwise.
func (w *writer) put(ctx context.Context, s *sealed) (err error) {
	began := time.Now()
	ctx, span := tracer.Start(ctx, "segment.put", trace.WithAttributes(
		attribute.Int64("bucketmq.segment.seq", int64(s.seq)), attribute.Int("bucketmq.segment.bytes", len(s.object))))
	defer func() {
		result := "stored"
		if err != nil {
			result = "not_stored"
			if errors.Is(err, ErrOutcomeUnknown) {
				result = "unknown"
			}
			span.SetStatus(codes.Error, err.Error())
		}
		w.metrics.putSeconds.WithLabelValues(result).Observe(time.Since(began).Seconds())
		span.End()
	}()
	ctx, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	return w.putUntil(ctx, segment.ObjectKey(w.id, s.seq), s.object)
}

// putUntil sends the same bytes under the same key until the store has a sure
// answer or ctx ends. Once one try has ended without a sure answer, a later
// "not stored" is true of that later try only.
func (w *writer) putUntil(ctx context.Context, key string, object []byte) error {
	unsure := false
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := w.store.Put(ctx, key, object)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, objstore.ErrExists):
			// The key is ours alone and its bytes never change.
			return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
		case errors.Is(err, objstore.ErrNotStored):
			if !unsure {
				return fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
		default:
			unsure = true
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// putDecided tells ledger, committer, flusher and the senders of control
// records what became of a PUT. One that was given up is burnt: its seq is never
// used again and it is never committed. Where no recovery meets a living writer,
// a missing segment is only a danger as long as it may still arrive.
func (w *writer) putDecided(s *sealed, err error) {
	now := time.Now()
	w.mu.Lock()
	w.inPut--
	if err == nil {
		w.ledger.stored(s.cargo)
		w.ledger.settle(s.note)
	} else {
		w.ledger.missed(s.seq, s.cargo, now)
		for _, c := range s.batch.controls {
			w.ledger.owe(c.controlRecord)
		}
		if !w.options.Exclusive || errors.Is(err, ErrOutcomeUnknown) && len(s.batch.topics) > 0 {
			w.ledger.burn(s.note)
			w.metrics.burnt.Inc()
		} else {
			w.ledger.settle(s.note)
		}
	}
	if len(s.batch.topics) == 0 {
		w.hold(-s.batch.held) // nothing of it is to be decided
	}
	w.metrics.receipts.Set(float64(len(w.ledger.receipts)))
	w.signal()
	w.mu.Unlock()
	if err != nil {
		w.log.Error("segment given up", "seq", s.seq, "bytes", len(s.object), "error", err)
	}
	for _, c := range s.batch.controls {
		c.err = err
		close(c.done)
	}
	s.putErr = err
	close(s.putDone)
}
