package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// Kinds of the control records of transactions.
const (
	controlTransaction = "transaction"          // a meta.Transaction that begins, without its half messages
	controlDecision    = "transaction_decision" // a replay.Decision
)

// Half makes the draft one of half messages of a transaction: they are stored, and
// readable once PlaceHalves was called. It comes before the first Add, and topics
// of type transaction and mixed alone take it: *InvalidError.
func (d *Draft) Half(transaction uuid.UUID) error {
	if d.topic.Type != meta.TopicTransaction && d.topic.Type != meta.TopicMixed {
		return fault{"topic", CodeConflict, fmt.Sprintf(
			"transactions go to topics of type transaction or mixed; %s is %s", d.topic.Name, d.topic.Type)}.at(-1)
	}
	d.half = transaction
	return nil
}

// ID returns the id of message i of the draft.
func (d *Draft) ID(i int) uuid.UUID { return segment.MessageID(d.base, i) }

// Topic is where the draft goes.
func (d *Draft) Topic() meta.Topic { return d.topic }

// Halves returns what the half messages of a draft are known by. Which queue
// messages without a choice go to is known once the draft is appended.
func (d *Draft) Halves() []meta.Half {
	out := make([]meta.Half, 0, len(d.parts))
	for i := range d.parts {
		if p := &d.parts[i]; p.count > 0 {
			out = append(out, meta.Half{ID: segment.MessageID(d.base, d.indexOf(i)), Queue: p.queue, Count: p.count, First: -1})
		}
	}
	return out
}

// RecordTransaction makes the beginning of a transaction durable. Errors are those
// of Control.
func (j *Journal) RecordTransaction(ctx context.Context, t meta.Transaction) error {
	return j.Control(ctx, controlTransaction, &t)
}

// RecordDecision makes durable what a transaction came to.
func (j *Journal) RecordDecision(ctx context.Context, t *meta.Transaction) error {
	return j.Control(ctx, controlDecision, &replay.Decision{
		ID: t.ID, Group: t.Group, State: t.State, Reason: t.Reason, DecidedAt: t.DecidedAt,
	})
}

// Trusted returns nil while Redis is the one that this process knows; else
// ErrRecovering, and Redis is recovered from the bucket.
func (j *Journal) Trusted(ctx context.Context) error {
	lost, err := j.guard.lost(ctx)
	switch {
	case err != nil:
		return unavailable(err)
	case lost:
		return ErrRecovering
	}
	return nil
}

// PlaceHalves makes half messages of a topic readable whose transaction is
// committed, and returns them with their offsets. What is readable already stays
// where it is, so it may be repeated after any error. Those of which nothing is
// put down are left as they are. ErrTopicNotFound: the topic was deleted, and they
// with it. ErrRecovering, ErrUnavailable.
func (j *Journal) PlaceHalves(ctx context.Context, topic uuid.UUID, halves []meta.Half) ([]meta.Half, error) {
	out := slices.Clone(halves)
	for part := range slices.Chunk(out, meta.MaxFire) {
		if err := j.placeHalves(ctx, topic, part); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (j *Journal) placeHalves(ctx context.Context, topic uuid.UUID, halves []meta.Half) error {
	ids := make([]uuid.UUID, len(halves))
	at := make(map[uuid.UUID]int, len(halves))
	for i, h := range halves {
		ids[i], at[h.ID] = h.ID, i
	}
	epoch, _, err := j.meta.Bounds(ctx, topic, nil)
	if err != nil {
		return j.missingTopic(ctx, err)
	}
	down, err := j.meta.Halves(ctx, topic, ids)
	if err != nil {
		return unavailable(err)
	}
	var placed []meta.HalfState
	var fired meta.Fired
	for {
		placed, fired, err = j.meta.PlaceHalves(ctx, topic, epoch, down)
		var wrong *meta.EpochError
		if errors.As(err, &wrong) && wrong.Current != epoch {
			epoch = wrong.Current
			continue
		}
		if err != nil {
			return j.missingTopic(ctx, err)
		}
		break
	}
	if t := j.reader.tails.of(topic); t != nil && len(fired.Entries) > 0 {
		t.apply(fired.Epoch, fired.Entries)
	}
	for _, p := range placed {
		if i, ok := at[p.ID]; ok && p.Placed {
			halves[i].First, halves[i].Epoch = p.First, p.Epoch
		}
	}
	if fired.Messages() > 0 {
		if err := j.meta.NotePlaced(ctx, topic); err != nil && ctx.Err() == nil {
			j.log.Warn("the leader was not told of new offsets: it finds them", "topic_id", topic, "error", err)
		}
	}
	return nil
}

// missingTopic tells a topic that was deleted from one that Redis has lost.
func (j *Journal) missingTopic(ctx context.Context, err error) error {
	if errors.Is(err, ErrTopicNotFound) {
		if lost := j.Trusted(ctx); lost != nil {
			return lost
		}
	}
	return unavailable(err)
}

// DropHalves forgets half messages of a topic that nobody ever reads; with placed
// only those that are readable, when their places are known.
func (j *Journal) DropHalves(ctx context.Context, topic uuid.UUID, halves []meta.Half, placed bool) error {
	ids := make([]uuid.UUID, len(halves))
	for i, h := range halves {
		ids[i] = h.ID
	}
	if err := j.meta.DropHalves(ctx, topic, ids, placed); err != nil {
		return unavailable(err)
	}
	return nil
}

// holdTransactions makes the transactions that Redis still has refuse everything,
// before the log is listed: a decision that is taken meanwhile finds out.
func (j *Journal) holdTransactions(ctx context.Context, term int64) (map[string]bool, error) {
	names, err := j.meta.KnownProducers(ctx)
	if err != nil {
		return nil, err
	}
	held := make(map[string]bool, len(names))
	for _, name := range names {
		if err := j.meta.HoldTransactions(ctx, name, term); err != nil {
			return nil, err
		}
		held[name] = true
	}
	return held, nil
}

// restoreTransactions writes the planned transactions into Redis.
func (j *Journal) restoreTransactions(ctx context.Context, plan replay.Plan, held map[string]bool, term int64) error {
	for _, p := range plan.Producers {
		if err := j.meta.RestoreTransactions(ctx, p.Group, term, p.Transactions); err != nil {
			return err
		}
		delete(held, p.Group)
	}
	for name := range held {
		if err := j.meta.RestoreTransactions(ctx, name, term, nil); err != nil {
			return err
		}
	}
	return nil
}
