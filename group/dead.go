package group

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Limits of calls about messages that failed.
const (
	MaxFailures = 1000 // that one call handles
	// scanFailures bounds how many a call looks at.
	scanFailures = 10_000
	// MaxRedriveRate is the most messages per second that a redrive can be told.
	MaxRedriveRate = 10_000
)

// Failure is a message that a group is to get again, or gave up.
type Failure struct {
	Origin
	journal.Stored       // as it was where it comes from
	At             int64 // when it comes again, or became a dead letter, Unix milliseconds
	Due            bool  // of a retry: it is due, and not finished yet
	Number         int64 // of a dead letter: its place among them; of a retry that is due, too
}

// FailureFilter picks failures; the zero value all.
type FailureFilter struct {
	Topic     string // where they come from
	Reason    string
	MessageID uuid.UUID
	From, To  int64 // of At, Unix milliseconds; To 0: no end
}

func (f *FailureFilter) matches(x *Failure) bool {
	return (f.Topic == "" || f.Topic == x.Topic) && (f.Reason == "" || f.Reason == x.Reason) &&
		(f.MessageID == uuid.Nil || f.MessageID == x.MessageID) && x.At >= f.From && (f.To == 0 || x.At < f.To)
}

// DeadLetters returns up to limit dead letters of a group from a number on, oldest
// first, and from where to go on; −1: there are no more. It is bounded: fewer than
// limit, or none, do not mean that there are no more. meta.ErrGroupNotFound.
func (g *Groups) DeadLetters(ctx context.Context, name string, f FailureFilter, from int64, limit int) ([]Failure, int64, error) {
	definition, err := g.Get(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	topic, exists, err := g.deadTopic(ctx, definition)
	if err != nil || !exists {
		return nil, -1, err
	}
	return g.deadLetters(ctx, topic, f, from, limit)
}

func (g *Groups) deadTopic(ctx context.Context, definition meta.Group) (t meta.Topic, exists bool, err error) {
	t, err = g.options.Journal.Topic(ctx, journal.DeadLetterTopic(definition.Name))
	if errors.Is(err, journal.ErrTopicNotFound) || err == nil && !journal.OwnedBy(t, definition.ID) {
		return t, false, nil
	}
	return t, err == nil, err
}

func (g *Groups) deadLetters(ctx context.Context, topic meta.Topic, f FailureFilter, from int64, limit int) (list []Failure, next int64, err error) {
	for looked := 0; looked < scanFailures; {
		page, err := g.options.Journal.Read(ctx, journal.Read{
			Topic: topic, Offset: from, MaxMessages: journal.MaxReadMessages, Clamp: true,
		})
		if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
			from, looked = corrupt.Next, looked+1
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if len(page.Messages) == 0 {
			return list, -1, nil
		}
		skip, err := g.notDead(ctx, topic, page)
		if err != nil {
			return nil, 0, err
		}
		for i := range page.Messages {
			m := page.Messages[i]
			from, looked = m.Offset+1, looked+1
			x := Failure{At: m.StoredAt, Number: m.Offset}
			x.Origin, x.Stored = OriginOf(m)
			if x.Origin.Topic == "" || skip[i] || !f.matches(&x) {
				continue
			}
			if list = append(list, x); len(list) == limit {
				return list, from, nil
			}
		}
	}
	return list, from, nil
}

// notDead says which messages of a page are handled.
func (g *Groups) notDead(ctx context.Context, topic meta.Topic, page *journal.Page) ([]bool, error) {
	known, err := g.handled.known(ctx, g.options.Journal, topic)
	if err != nil {
		return nil, err
	}
	defer known.mu.Unlock()
	skip := make([]bool, len(page.Messages))
	for i := range page.Messages {
		skip[i] = known.has(page.Messages[i].Offset)
	}
	return skip, nil
}

// HandleRequest picks dead letters to be handled.
type HandleRequest struct {
	Group string
	FailureFilter
	After  int64 // numbers from here on
	Limit  int   // at most MaxFailures, which is also what 0 stands for
	Rate   int   // of a redrive: messages per second; 0: all at once
	DryRun bool
}

// Handled is what a call came to.
type Handled struct {
	Matched int64 // dead letters that the request picked
	Done    int64 // of them, those handled; 0 when it was a dry run
	Next    int64 // where to go on; −1: there are no more
}

// Redrive gives dead letters to the group once more, with all their attempts: they
// go to its retry topic. Repeating it gives none twice.
func (g *Groups) Redrive(ctx context.Context, r HandleRequest) (Handled, error) {
	if r.Rate < 0 || r.Rate > MaxRedriveRate {
		return Handled{}, invalid("rate", journal.CodeOutOfRange, fmt.Sprintf("0 to %d", MaxRedriveRate))
	}
	return g.handle(ctx, r, func(ctx context.Context, definition meta.Group, list []Failure) ([]error, error) {
		_, now, err := g.options.Journal.RedisNow()
		if err != nil {
			return nil, err
		}
		moving := make([]failed, len(list))
		for i := range list {
			x := &list[i]
			moving[i] = failed{topic: x.Topic, queue: x.Queue, stored: x.Stored, reason: ReasonRedriven, redriven: x.Number + 1, due: now}
			if r.Rate > 0 {
				moving[i].due += int64(i) * time.Second.Milliseconds() / int64(r.Rate)
			}
		}
		return g.failed.move(ctx, definition, moving), nil
	})
}

// Purge drops dead letters for good.
func (g *Groups) Purge(ctx context.Context, r HandleRequest) (Handled, error) {
	return g.handle(ctx, r, func(_ context.Context, _ meta.Group, list []Failure) ([]error, error) {
		return make([]error, len(list)), nil
	})
}

func (g *Groups) handle(ctx context.Context, r HandleRequest, do func(context.Context, meta.Group, []Failure) ([]error, error)) (Handled, error) {
	if r.Limit == 0 {
		r.Limit = MaxFailures
	}
	if r.Limit < 0 || r.Limit > MaxFailures {
		return Handled{}, invalid("limit", journal.CodeOutOfRange, fmt.Sprintf("1 to %d", MaxFailures))
	}
	definition, err := g.Get(ctx, r.Group)
	if err != nil {
		return Handled{}, err
	}
	topic, exists, err := g.deadTopic(ctx, definition)
	if err != nil || !exists {
		return Handled{Next: -1}, err
	}
	list, next, err := g.deadLetters(ctx, topic, r.FailureFilter, r.After, r.Limit)
	h := Handled{Matched: int64(len(list)), Next: next}
	if err != nil || r.DryRun || len(list) == 0 {
		return h, err
	}
	errs, err := do(ctx, definition, list)
	if err != nil {
		return Handled{}, err
	}
	var done []int64
	var failure error
	for i, err := range errs {
		if err != nil {
			failure = err
			continue
		}
		done = append(done, list[i].Number)
	}
	if len(done) > 0 {
		if err := g.failed.writeHandled(ctx, topic, done); err != nil {
			return Handled{}, err
		}
	}
	h.Done = int64(len(done))
	if failure != nil && h.Done == 0 {
		return Handled{}, failure
	}
	return h, nil
}

// Retries returns up to limit messages that the group is to get again: those that
// wait, by when they come, and with due those whose time has come and that are not
// finished, in their order. from and skip are where to go on, as of the call
// before.
func (g *Groups) Retries(ctx context.Context, name string, due bool, from int64, skip, limit int) (list []Failure, next int64, nextSkip int, err error) {
	definition, err := g.Get(ctx, name)
	if err != nil {
		return nil, 0, 0, err
	}
	topic, exists, err := g.failed.retry(ctx, definition)
	if err != nil || !exists {
		return nil, -1, 0, unavailable(err)
	}
	if due {
		list, next, err = g.dueRetries(ctx, definition, topic, from, limit)
		return list, next, 0, err
	}
	waiting, err := g.options.Journal.Waiting(ctx, topic, from, skip, limit)
	if err != nil {
		return nil, 0, 0, err
	}
	for _, w := range waiting {
		if w.Due == from {
			skip++
		} else {
			from, skip = w.Due, 1
		}
		x := Failure{At: w.Due, Number: -1}
		x.Origin, x.Stored = OriginOf(w.Stored)
		list = append(list, x)
	}
	if len(waiting) < limit {
		from = -1
	}
	return list, from, skip, nil
}

func (g *Groups) dueRetries(ctx context.Context, definition meta.Group, topic meta.Topic, from int64, limit int) (list []Failure, next int64, err error) {
	if from == 0 {
		records, err := g.options.Meta.Offsets(ctx, definition.ID, topic.ID)
		if err != nil {
			return nil, 0, unavailable(err)
		}
		for _, r := range records {
			from = r.Offset
		}
	}
	page, err := g.options.Journal.Read(ctx, journal.Read{Topic: topic, Offset: from, MaxMessages: limit, Clamp: true})
	if err != nil {
		return nil, 0, err
	}
	for _, m := range page.Messages {
		x := Failure{At: m.StoredAt, Due: true, Number: m.Offset}
		x.Origin, x.Stored = OriginOf(m)
		list = append(list, x)
	}
	if next = page.Next; next >= page.Max {
		next = -1
	}
	return list, next, nil
}
