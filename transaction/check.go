package transaction

import (
	"context"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	// lookEvery is how often this process looks for checks of a producer group while
	// one of its producers waits here, unless it knows when the next one is due.
	lookEvery = time.Second
	// lookAtMost bounds how many due transactions one look examines.
	lookAtMost = 100
)

// look is what the waiting producers of one group share: so a look at Redis is
// made by one of them for all.
type look struct {
	waiting int // guarded by Engine.mu

	mu   sync.Mutex
	at   time.Time // guarded by mu; when Redis was last looked at
	next int64     // guarded by mu; when the next check is due; 0: none is known
}

// Await takes up to most checks of a producer group that are due, and waits for
// the first of them for as long as wait. The caller is a live producer of the
// group, or has one: each check that is returned counts as sent, unless it is
// given back. Any one of the group's producers gets a check. Errors are those of a
// read; a Drain or the end of ctx is none.
func (e *Engine) Await(ctx context.Context, group string, most int, wait time.Duration) ([]meta.Transaction, error) {
	l := e.enter(group)
	defer e.leave(group, l)
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		checks, again, err := e.take(ctx, l, group, most)
		if err != nil || len(checks) > 0 {
			return checks, err
		}
		timer := time.NewTimer(again)
		select {
		case <-timer.C:
			continue
		case <-deadline.C:
		case <-ctx.Done():
		case <-e.drained:
		}
		timer.Stop()
		return nil, nil
	}
}

func (e *Engine) enter(group string) *look {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.looks[group]
	if l == nil {
		l = &look{}
		e.looks[group] = l
	}
	l.waiting++
	e.metrics.producers.Inc()
	return l
}

func (e *Engine) leave(group string, l *look) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.metrics.producers.Dec()
	if l.waiting--; l.waiting == 0 {
		delete(e.looks, group)
	}
}

// take takes what is due, or says when to try again.
func (e *Engine) take(ctx context.Context, l *look, group string, most int) (checks []meta.Transaction, again time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, _, err := e.journal.RedisNow() // the earliest that it may be: no check is early
	if err != nil {
		return nil, 0, err
	}
	due := l.next != 0 && l.next <= now
	if rest := lookEvery - time.Since(l.at); rest > 0 && !due {
		return nil, e.until(l.next, now, rest), nil
	}
	agenda, err := e.meta.DueTransactions(ctx, meta.ProducerKeyOf(group), now, lookAtMost)
	if err != nil {
		return nil, 0, fault(err)
	}
	l.at, l.next = time.Now(), agenda.Next
	for _, t := range agenda.Due {
		if t.State != meta.TxOpen || t.Group != group || t.Checks >= e.options.MaxChecks || t.NextCheck > now {
			continue // the leader's
		}
		if len(checks) == most {
			l.next = now // there is more for the others
			break
		}
		next := t
		next.Checks, next.CheckedAt, next.NextCheck = t.Checks+1, now, now+e.options.CheckEvery.Milliseconds()
		sent, err := e.meta.PutTransaction(ctx, &t, next, 0)
		if overtaken(err) {
			continue // another producer has it, or it is decided
		}
		if err != nil {
			return checks, 0, fault(err)
		}
		checks = append(checks, sent)
		e.metrics.checks.Inc()
	}
	return checks, e.until(l.next, now, lookEvery), nil
}

// until is how long to sleep until a time that may not be known, at most rest.
func (e *Engine) until(next, now int64, rest time.Duration) time.Duration {
	if next > now {
		rest = min(rest, time.Duration(next-now)*time.Millisecond)
	}
	return max(rest, time.Millisecond)
}

// GiveBack says that a check did not reach its producer: it does not count and is
// due at once.
func (e *Engine) GiveBack(ctx context.Context, t meta.Transaction) error {
	next := t
	next.Checks, next.NextCheck = max(t.Checks-1, 0), t.CheckedAt
	_, err := e.meta.PutTransaction(ctx, &t, next, 0)
	if overtaken(err) {
		return nil // decided meanwhile
	}
	if err == nil {
		e.metrics.returned.Inc()
	}
	return fault(err)
}

// Answer carries out what a producer answered to a check: committed, rolled back,
// or unknown (""), which leaves it as it is until the next check.
func (e *Engine) Answer(ctx context.Context, id, state string) (meta.Transaction, error) {
	switch state {
	case meta.TxCommitted:
		return e.Commit(ctx, id, false)
	case meta.TxRolledBack:
		return e.Rollback(ctx, id)
	case "":
		return e.Transaction(ctx, id)
	}
	return meta.Transaction{}, &journal.InvalidError{Index: -1, Field: "outcome", Code: journal.CodeInvalid, Detail: "commit, rollback or unknown"}
}
