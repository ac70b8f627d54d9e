package transaction

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// sweepGroups is how many producer groups one sweep looks at; the next one goes on
	// behind them.
	sweepGroups = 500
	// sweepPage and sweepPages bound what one sweep does for one producer group.
	sweepPage, sweepPages = 200, 10
	// unsent is how long a check may be due without a producer that takes it before
	// it is put off, so that others are looked at.
	unsent = 5 * time.Second
	// forgetGroup is how long a producer group without transactions is known.
	forgetGroup = 48 * time.Hour
)

// Swept is what a sweep saw and did.
type Swept struct {
	Groups    int   // producer groups that are known
	Undecided int64 // transactions, or decided and not settled, when all groups were last looked at
	Expired   int   // in this sweep
	Settled   int   // decisions that were seen through in this sweep
}

// Sweep does what is due and no producer does: it sees decisions through, rolls
// back what did not begin, lets those expire that nobody decided, and forgets old
// ones. The leader calls it again and again; two at the same time do no harm.
func (e *Engine) Sweep(ctx context.Context) (Swept, error) {
	e.sweep.Lock()
	defer e.sweep.Unlock()
	var done Swept
	groups, total, err := e.meta.ProducerGroups(ctx, e.swept, sweepGroups)
	if err != nil {
		return done, fault(err)
	}
	now, _, err := e.journal.RedisNow()
	if err != nil {
		return done, err
	}
	done.Groups = total
	var errs []error
	for _, g := range groups {
		e.summing += g.Undecided
		if g.NextOnAgenda != 0 && g.NextOnAgenda <= now {
			errs = append(errs, e.sweepAgenda(ctx, g.Name, now, &done))
		}
		if g.NextForgetting != 0 && (g.NextForgetting <= now || g.Kept > MaxKept) {
			errs = append(errs, e.sweepKept(ctx, g.Name, now))
		}
		if g.Undecided == 0 && g.Kept == 0 && now-g.LastBegun > forgetGroup.Milliseconds() {
			errs = append(errs, e.meta.ForgetProducers(ctx, g.Name, now-forgetGroup.Milliseconds()))
		}
	}
	if e.swept += len(groups); e.swept >= total || len(groups) == 0 {
		e.undecided, e.summing, e.swept = e.summing, 0, 0
	}
	done.Undecided = e.undecided
	return done, errors.Join(errs...)
}

func (e *Engine) sweepAgenda(ctx context.Context, group string, now int64, done *Swept) error {
	for range sweepPages {
		agenda, err := e.meta.DueTransactions(ctx, meta.ProducerKeyOf(group), now, sweepPage)
		if err != nil {
			return fmt.Errorf("producer group %s: %w", group, err)
		}
		moved := 0
		for _, t := range agenda.Due {
			did, err := e.attend(ctx, t, now, done)
			if err != nil && !overtaken(err) {
				return fmt.Errorf("transaction %s of %s: %w", t.ID, group, err)
			}
			if did {
				moved++
			}
		}
		if len(agenda.Due) < sweepPage || moved == 0 {
			return nil
		}
	}
	return nil
}

// attend does what is due about one transaction, if anything is.
func (e *Engine) attend(ctx context.Context, t meta.Transaction, now int64, done *Swept) (did bool, err error) {
	switch {
	case t.State == meta.TxBegun:
		_, err = e.giveUp(ctx, t, meta.TxRolledBack, ReasonIncomplete)
	case t.State != meta.TxOpen:
		done.Settled++
		_, err = e.conclude(ctx, t)
	case now-t.CreatedAt >= e.options.Lifetime.Milliseconds():
		done.Expired++
		_, err = e.giveUp(ctx, t, meta.TxExpired, ReasonLifetime)
	case t.Checks >= e.options.MaxChecks:
		done.Expired++
		_, err = e.giveUp(ctx, t, meta.TxExpired, ReasonUnanswered)
	case now-t.NextCheck >= unsent.Milliseconds():
		next := t
		next.NextCheck = now + unsent.Milliseconds()
		_, err = e.meta.PutTransaction(ctx, &t, next, 0)
	default:
		return false, nil // a producer may take it
	}
	return true, err
}

// sweepKept forgets transactions that are of no interest any more.
func (e *Engine) sweepKept(ctx context.Context, group string, now int64) error {
	for range sweepPages {
		old, err := e.meta.ForgottenTransactions(ctx, meta.ProducerKeyOf(group), now, MaxKept, sweepPage)
		if err != nil {
			return fmt.Errorf("producer group %s: %w", group, err)
		}
		for _, t := range old {
			for _, topic := range t.Topics {
				// What failed to begin may have been put down after it was given up.
				if (t.State == meta.TxExpired || t.Reason == ReasonIncomplete) && !topic.Gone {
					if err := e.journal.DropHalves(ctx, topic.Topic, topic.Halves, false); err != nil {
						return err
					}
				}
			}
			if err := e.meta.ForgetTransaction(ctx, t); err != nil && !overtaken(err) {
				return fmt.Errorf("forget transaction %s of %s: %w", t.ID, group, err)
			}
		}
		if len(old) < sweepPage {
			return nil
		}
	}
	return nil
}
