package transaction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// casTries bounds how often a step is tried that others overtake.
const casTries = 16

var errTooManyRaces = errors.New("transaction: too many others change it")

// unknown says that a decision may have been taken, whatever the reason for not
// knowing is.
func unknown(err error) error {
	if errors.Is(err, journal.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: %w", journal.ErrOutcomeUnknown, err)
}

// Commit makes the messages of a transaction readable. It returns once they are
// and their decision is in the log, and may be repeated: the answer is the same.
// force commits one that has expired, too. *DecidedError: it was rolled back, or has
// expired. ErrNotFound. After ErrOutcomeUnknown a repetition tells.
func (e *Engine) Commit(ctx context.Context, id string, force bool) (meta.Transaction, error) {
	return e.decide(ctx, id, meta.TxCommitted, force)
}

// Rollback sees to it that nobody ever reads the messages of a transaction. It
// returns once that is in the log, and may be repeated. *DecidedError: it was
// committed. ErrNotFound. After ErrOutcomeUnknown a repetition tells.
func (e *Engine) Rollback(ctx context.Context, id string) (meta.Transaction, error) {
	return e.decide(ctx, id, meta.TxRolledBack, false)
}

func (e *Engine) decide(ctx context.Context, id, state string, force bool) (meta.Transaction, error) {
	key, tx, ok := parseID(id)
	if !ok {
		return meta.Transaction{}, fmt.Errorf("transaction %q: %w", id, ErrNotFound)
	}
	for try := range casTries {
		t, err := e.read(ctx, key, tx)
		if err != nil {
			if try > 0 && !errors.Is(err, ErrNotFound) {
				err = unknown(err)
			}
			return t, err
		}
		if t, err = e.step(ctx, t, state, force); !overtaken(err) {
			return t, err
		}
	}
	return meta.Transaction{}, unknown(errTooManyRaces)
}

func overtaken(err error) bool {
	var changed *meta.TransactionChangedError
	return errors.As(err, &changed)
}

// step takes a decision, or finds it taken, and sees it through.
func (e *Engine) step(ctx context.Context, t meta.Transaction, state string, force bool) (meta.Transaction, error) {
	reason := ""
	switch {
	case t.State == state:
		return e.conclude(ctx, t)
	case t.State == meta.TxBegun: // nobody was told its id
		return t, fmt.Errorf("transaction %s has not begun: %w", t.ID, ErrNotFound)
	case t.State == meta.TxExpired && state == meta.TxCommitted && force:
		reason = ReasonForced
	case t.State == meta.TxOpen, t.State == meta.TxExpired && state == meta.TxRolledBack:
	default:
		// Its answer is only true once it is in the log.
		t, err := e.conclude(ctx, t)
		if err != nil {
			return t, err
		}
		return t, &DecidedError{Current: t}
	}
	decided, err := e.put(ctx, t, state, reason)
	if err != nil {
		if overtaken(err) || errors.Is(err, journal.ErrRecovering) {
			return t, err // nothing was decided
		}
		return t, unknown(err)
	}
	e.metrics.transactions.WithLabelValues(state).Inc()
	return e.conclude(ctx, decided)
}

// put is the compare-and-set of a decision.
func (e *Engine) put(ctx context.Context, t meta.Transaction, state, reason string) (meta.Transaction, error) {
	_, now, err := e.journal.RedisNow()
	if err != nil {
		return t, err
	}
	next := t
	next.State, next.Reason, next.NextCheck = state, reason, 0
	next.DecidedAt = max(now, t.DecidedAt+1, t.CreatedAt)
	next.Logged, next.Placed, next.Settled = false, false, false
	decided, err := e.meta.PutTransaction(ctx, &t, next, 0)
	return decided, fault(err)
}

// giveUp takes a decision that no producer asked for, on a transaction as it was
// read.
func (e *Engine) giveUp(ctx context.Context, t meta.Transaction, state, reason string) (meta.Transaction, error) {
	decided, err := e.put(ctx, t, state, reason)
	if err != nil {
		return t, err
	}
	e.metrics.transactions.WithLabelValues(state).Inc()
	return e.conclude(ctx, decided)
}

// conclude does what is left to do about a decision: it gets into the log, then is
// confirmed (a Redis that was recovered in between may have another one), and then
// its messages become readable, or are dropped. A TransactionChangedError says that
// somebody else is at it: read it again.
func (e *Engine) conclude(ctx context.Context, t meta.Transaction) (meta.Transaction, error) {
	// A Redis that went back may not know of an earlier decision: what it says must
	// not get into the log, where the newest decision counts.
	if err := e.journal.Trusted(ctx); err != nil {
		return t, unknown(err)
	}
	if !t.Logged {
		if err := e.journal.RecordDecision(ctx, &t); err != nil {
			return t, unknown(err)
		}
		next := t
		next.Logged = true
		confirmed, err := e.meta.PutTransaction(ctx, &t, next, 0)
		if err = fault(err); err != nil {
			if overtaken(err) {
				return t, err
			}
			return t, unknown(err)
		}
		t = confirmed
	}
	if t.Settled || t.State == meta.TxExpired {
		return t, nil
	}
	return e.settle(ctx, t)
}

// settle makes the messages of a committed transaction readable, and drops what
// is put down of one that has ended. What fails after they are readable is the
// leader's to do.
func (e *Engine) settle(ctx context.Context, t meta.Transaction) (meta.Transaction, error) {
	if t.State == meta.TxCommitted && !t.Placed {
		placed, err := e.place(ctx, t)
		if err != nil {
			return t, err
		}
		t = placed
	}
	for _, topic := range t.Topics {
		if topic.Gone {
			continue
		}
		if err := e.journal.DropHalves(ctx, topic.Topic, topic.Halves, t.State == meta.TxCommitted); err != nil {
			return t, nil
		}
	}
	next := t
	next.Settled = true
	if settled, err := e.meta.PutTransaction(ctx, &t, next, 0); err == nil {
		return settled, nil
	}
	return t, nil
}

// place makes the messages of a committed transaction readable in every topic, and
// notes where they are.
func (e *Engine) place(ctx context.Context, t meta.Transaction) (meta.Transaction, error) {
	next := t
	next.Topics = slices.Clone(t.Topics)
	for i := range next.Topics {
		topic := &next.Topics[i]
		halves, err := e.journal.PlaceHalves(ctx, topic.Topic, topic.Halves)
		switch {
		case errors.Is(err, journal.ErrTopicNotFound):
			topic.Gone = true
			continue
		case err != nil:
			return t, unknown(err)
		}
		topic.Halves = halves
		for _, h := range halves {
			if h.First < 0 {
				e.log.Error("half messages of a committed transaction are not put down", "transaction", t.ID, "topic", topic.Name, "id", h.ID)
			}
		}
	}
	next.Placed = true
	placed, err := e.meta.PutTransaction(ctx, &t, next, 0)
	if err = fault(err); err != nil && !overtaken(err) {
		err = unknown(err)
	}
	return placed, err
}
