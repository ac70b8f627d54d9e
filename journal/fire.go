package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// recallError gives an error of the timers the meaning it has for a caller. A
// recall is repeatable, so what is not known is unavailable.
func recallError(err error) error {
	if errors.Is(err, ErrDelivered) || errors.Is(err, ErrTimerUnknown) {
		return err
	}
	return unavailable(err)
}

// RedisNow returns bounds of Redis' clock, by which messages are due, in Unix
// milliseconds; it is seldom asked. ErrUnavailable.
func (j *Journal) RedisNow() (low, high int64, err error) { return j.clock.now() }

// Firing says what one call of Fire did.
type Firing struct {
	Messages int     // that became readable
	Late     []int64 // per message, how long after it was due, in milliseconds
	More     bool    // others may be due already
	Next     int64   // when the next one is due, Unix milliseconds; 0: none waits
}

// Fire makes the delayed messages of a topic readable that are due by Redis'
// clock, up to meta.MaxFire of them. It may be repeated after any error: each
// message becomes readable once, whatever replies are lost and whoever else
// fires. Its offsets are durable when LogFired has returned.
func (j *Journal) Fire(ctx context.Context, topic uuid.UUID) (Firing, error) {
	due, err := j.meta.DueTimers(ctx, topic, meta.MaxFire)
	if errors.Is(err, ErrTopicNotFound) {
		// Deleted, or lost with the rest of Redis: the guard finds out.
		if _, lost := j.guard.lost(ctx); lost != nil {
			return Firing{}, lost
		}
	}
	if err != nil {
		return Firing{}, err
	}
	f := Firing{Next: due.Next, More: due.Next != 0 && due.Next <= due.Now}
	if len(due.Broken) > 0 {
		j.log.Error("delayed messages without a place in the log", "topic_id", topic, "ids", due.Broken)
	}
	if len(due.Timers) == 0 {
		if len(due.Broken) > 0 {
			return f, fmt.Errorf("fire: %w", meta.ErrCorrupt)
		}
		return f, nil
	}
	fired, err := j.meta.FireTimers(ctx, topic, due.Epoch, due.Timers)
	if err != nil {
		return Firing{}, err
	}
	if t := j.reader.tails.of(topic); t != nil && len(fired.Entries) > 0 {
		t.apply(fired.Epoch, fired.Entries)
	}
	f.Messages = fired.Messages()
	stored := due.Now
	if n := len(fired.Entries); n > 0 {
		stored = fired.Entries[n-1].StoredAt
	}
	for _, t := range due.Timers[:min(f.Messages, len(due.Timers))] {
		f.Late = append(f.Late, stored-t.Due)
	}
	return f, nil
}

// LogFired makes the offsets that Fire gave in these topics durable: after the
// loss of Redis they are the same, and nothing fires again. Nothing is lost when
// it is never called: then those messages are put down again, under a new epoch.
func (j *Journal) LogFired(ctx context.Context, topics []uuid.UUID) error {
	for {
		var receipts []segment.Receipt
		firings := make(map[uuid.UUID][]meta.Fired, len(topics))
		more := false
		for _, topic := range topics {
			fired, err := j.meta.FiredTimers(ctx, topic)
			if err != nil {
				return err
			}
			more = more || len(fired) == meta.MaxFire
			firings[topic] = fired
			receipts = append(receipts, firedReceipts(topic, fired)...)
		}
		if len(receipts) == 0 {
			return nil
		}
		if err := j.writer.logReceipts(ctx, receipts); err != nil {
			return err
		}
		for topic, fired := range firings {
			if err := j.meta.SettleFired(ctx, topic, fired); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

func firedReceipts(topic uuid.UUID, fired []meta.Fired) []segment.Receipt {
	var out []segment.Receipt
	for _, f := range fired {
		for _, e := range f.Entries {
			out = append(out, segment.Receipt{
				Writer: e.Segment.Writer, Seq: e.Segment.Seq, Topic: topic, Epoch: f.Epoch,
				Queue: e.Queue, First: e.First(), Count: e.Count,
				Position: e.Position, Length: e.Length, StoredAt: e.StoredAt, Tags: e.Tags,
			})
		}
	}
	return out
}

// rescueFired writes down the firings that Redis still knows of, before a
// recovery reads the log and clears Redis.
func (j *Journal) rescueFired(ctx context.Context, topics map[uuid.UUID]meta.Topic) error {
	var receipts []segment.Receipt
	for id := range topics {
		for {
			fired, err := j.meta.FiredTimers(ctx, id)
			if err != nil {
				return err
			}
			receipts = append(receipts, firedReceipts(id, fired)...)
			if len(fired) > 0 {
				if err := writeLog(ctx, j.store, nil, receipts); err != nil {
					return err
				}
				receipts = nil
				if err := j.meta.SettleFired(ctx, id, fired); err != nil {
					return err
				}
			}
			if len(fired) < meta.MaxFire {
				break
			}
		}
	}
	return nil
}
