package transaction

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// abortTimeout bounds the undoing of a beginning that failed.
const abortTimeout = 5 * time.Second

// Draft is a transaction before it begins. It is filled, and begun once.
type Draft struct {
	engine *Engine
	tx     meta.Transaction
	drafts []*journal.Draft
}

// Draft starts a transaction of a producer group. checkAfter is when producers are
// first asked about it; zero = DefaultCheckAfter. reference is the producer's own
// name for it, which checks tell. *journal.InvalidError.
func (e *Engine) Draft(group string, checkAfter time.Duration, reference string) (*Draft, error) {
	if err := ValidateGroup(group); err != nil {
		return nil, err
	}
	if checkAfter == 0 {
		checkAfter = DefaultCheckAfter
	}
	if checkAfter < 0 || checkAfter > MaxCheckAfter {
		return nil, &journal.InvalidError{Index: -1, Field: "check_after_ms", Code: journal.CodeOutOfRange, Detail: "1 to 3600000"}
	}
	if len(reference) > MaxReference {
		return nil, &journal.InvalidError{Index: -1, Field: "reference", Code: journal.CodeTooLong, Detail: fmt.Sprintf("at most %d bytes", MaxReference)}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make a transaction id: %w", err)
	}
	return &Draft{engine: e, tx: meta.Transaction{
		ID: id, Group: group, State: meta.TxBegun, CheckAfter: max(checkAfter.Milliseconds(), 1), Reference: reference,
	}}, nil
}

// Topic begins the messages that go to one topic. A topic comes once.
// *journal.InvalidError: its type takes no transactions, or there are too many.
func (d *Draft) Topic(t meta.Topic) (*journal.Draft, error) {
	if len(d.drafts) == MaxTopics {
		return nil, &journal.InvalidError{Index: -1, Field: "topics", Code: journal.CodeTooMany, Detail: fmt.Sprintf("a transaction sends to at most %d topics", MaxTopics)}
	}
	for _, other := range d.drafts {
		if other.Topic().ID == t.ID {
			return nil, &journal.InvalidError{Index: -1, Field: "topics", Code: journal.CodeInvalid, Detail: "topic " + t.Name + " comes twice"}
		}
	}
	draft, err := d.engine.journal.NewDraft(t)
	if err != nil {
		return nil, err
	}
	if err := draft.Half(d.tx.ID); err != nil {
		return nil, err
	}
	d.drafts = append(d.drafts, draft)
	return draft, nil
}

// check tests the limits of the whole.
func (d *Draft) check() error {
	messages, size := 0, 0
	for _, draft := range d.drafts {
		messages += draft.Len()
		size += draft.Size()
	}
	invalid := func(code, detail string) error {
		return &journal.InvalidError{Index: -1, Field: "topics", Code: code, Detail: detail}
	}
	switch {
	case messages == 0:
		return invalid(journal.CodeRequired, "a transaction has at least one message")
	case messages > journal.MaxBatchMessages:
		return invalid(journal.CodeTooMany, fmt.Sprintf("a transaction has at most %d messages", journal.MaxBatchMessages))
	case size > journal.MaxBatchBytes:
		return invalid(journal.CodeTooLarge, fmt.Sprintf("the messages of a transaction take at most %d bytes", journal.MaxBatchBytes))
	}
	return nil
}

// Begin stores the half messages and opens the transaction. After an error nothing
// of it ever becomes readable, unless that is ErrOutcomeUnknown and a producer
// commits it when it is asked. ErrTooMany, *journal.InvalidError, and the errors of
// an append.
func (d *Draft) Begin(ctx context.Context) (meta.Transaction, error) {
	t, err := d.begin(ctx)
	if err != nil {
		d.engine.metrics.transactions.WithLabelValues("failed").Inc()
		return t, err
	}
	d.engine.metrics.transactions.WithLabelValues("begun").Inc()
	return t, nil
}

func (d *Draft) begin(ctx context.Context) (meta.Transaction, error) {
	if err := d.check(); err != nil {
		return meta.Transaction{}, err
	}
	e := d.engine
	_, now, err := e.journal.RedisNow()
	if err != nil {
		return meta.Transaction{}, err
	}
	d.tx.CreatedAt = now
	for _, draft := range d.drafts {
		t := draft.Topic()
		d.tx.Topics = append(d.tx.Topics, meta.TransactionTopic{Topic: t.ID, Name: t.Name, Messages: draft.Len(), Base: draft.ID(0),
			Halves: draft.Halves()}) // their ids; the queues are chosen later
	}
	if err := e.meta.RegisterProducers(ctx, d.tx.Group, now); err != nil {
		return meta.Transaction{}, fault(err)
	}
	// Its state comes first: whatever happens to this process, somebody rolls it back.
	begun, err := e.meta.PutTransaction(ctx, nil, d.tx, e.options.MaxOpen)
	if err != nil {
		return meta.Transaction{}, fault(err)
	}
	if err := d.store(ctx, begun); err != nil {
		e.abort(ctx, begun)
		return meta.Transaction{}, err
	}
	return d.open(ctx, begun)
}

// store makes the beginning and the half messages durable, in one segment where
// they meet.
func (d *Draft) store(ctx context.Context, begun meta.Transaction) error {
	var recorded error
	var record sync.WaitGroup
	record.Go(func() { recorded = d.engine.journal.RecordTransaction(ctx, begun) })
	defer record.Wait()
	pending := make([]*journal.Pending, 0, len(d.drafts))
	var failed error
	for _, draft := range d.drafts {
		p, err := d.engine.journal.Enqueue(draft, journal.Durable)
		if err != nil {
			failed = err
			break
		}
		pending = append(pending, p)
	}
	for _, p := range pending { // also after a failure: nothing of it is under way then
		if _, err := p.Wait(ctx); err != nil && failed == nil {
			failed = err
		}
	}
	record.Wait()
	if failed == nil {
		failed = recorded
	}
	return failed
}

// open lets the transaction be decided. A Redis that has lost it meanwhile, and
// was recovered without it, is told anew.
func (d *Draft) open(ctx context.Context, begun meta.Transaction) (meta.Transaction, error) {
	e := d.engine
	next := begun
	next.State = meta.TxOpen
	next.Topics = make([]meta.TransactionTopic, len(begun.Topics))
	for i, t := range begun.Topics {
		t.Halves = d.drafts[i].Halves()
		next.Topics[i] = t
	}
	old := &begun
	for range casTries {
		_, now, err := e.journal.RedisNow()
		if err != nil {
			return begun, unknown(err)
		}
		next.NextCheck = now + next.CheckAfter
		opened, err := e.meta.PutTransaction(ctx, old, next, 0)
		var changed *meta.TransactionChangedError
		switch {
		case err == nil:
			return opened, nil
		case !errors.As(err, &changed):
			return begun, unknown(err)
		case changed.Current == nil:
			if err := e.journal.Trusted(ctx); err != nil {
				return begun, unknown(err)
			}
			old = nil
		case changed.Current.State == meta.TxOpen: // a recovery found all of it
			return *changed.Current, nil
		case changed.Current.State == meta.TxBegun:
			old = changed.Current
		default:
			return begun, fmt.Errorf("%w: the transaction took too long to begin and is %s", journal.ErrUnavailable, changed.Current.State)
		}
	}
	return begun, unknown(errTooManyRaces)
}

// abort rolls back what failed to begin. What it does not do, the leader does.
func (e *Engine) abort(ctx context.Context, begun meta.Transaction) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	if _, err := e.giveUp(ctx, begun, meta.TxRolledBack, ReasonIncomplete); err != nil {
		e.log.Warn("a transaction that failed to begin is rolled back later", "transaction", begun.ID, "err", err)
	}
}
