package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// Waiting is a delayed message that is not readable yet.
type Waiting struct {
	Due    int64 // Unix milliseconds by Redis' clock
	Stored       // Offset is −1 and StoredAt 0: it has none yet
}

// Waiting lists up to limit delayed messages of a topic, first those that are due
// first: those due at from (Unix milliseconds) or later, without the first skip of
// those due at from. One that cannot be read has its id alone. ErrTopicNotFound,
// ErrRecovering, ErrUnavailable.
func (j *Journal) Waiting(ctx context.Context, topic meta.Topic, from int64, skip, limit int) ([]Waiting, error) {
	timers, err := j.meta.ListTimers(ctx, topic.ID, from, skip, limit)
	if err != nil {
		return nil, unavailable(err)
	}
	list := make([]Waiting, 0, len(timers))
	for i := range timers {
		w, err := j.reader.waiting(ctx, topic.ID, &timers[i])
		if isContextError(err) {
			return nil, err
		}
		if err != nil {
			j.log.Warn("a delayed message cannot be read", "topic", topic.Name, "id", timers[i].ID, "err", err)
			w = Waiting{Due: timers[i].Due, Stored: Stored{Offset: -1, Record: segment.Record{ID: timers[i].ID}}}
		}
		list = append(list, w)
	}
	return list, nil
}

// waiting reads the message of a timer.
func (r *reader) waiting(ctx context.Context, topic uuid.UUID, t *meta.Timer) (Waiting, error) {
	e := t.Entry
	e.Next = int64(e.Count) // as if it were the first of its queue
	o, err := r.object(ctx, topic, &e, cold)
	if err != nil {
		return Waiting{}, err
	}
	defer o.release()
	for sp, err := range o.spans(topic, &e) {
		if err != nil {
			return Waiting{}, err
		}
		b, err := o.block(topic, e.Queue, sp)
		if err != nil {
			return Waiting{}, err
		}
		raw := slices.Clone(b.from(0))
		record, n, err := segment.DecodeRecord(raw)
		if err != nil {
			return Waiting{}, err
		}
		return Waiting{Due: t.Due, Stored: Stored{Offset: -1, Record: record, Raw: raw[:n:n]}}, nil
	}
	return Waiting{}, fmt.Errorf("%w: no block of the message", ErrUnavailable)
}
