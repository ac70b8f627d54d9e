package group

import (
	"context"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Attempts of a message in a queue that is owned: each connection that was given it
// counts as one, as far as it was not finished. Redis knows how far each one came.

// beginQueue finds out how far others were given messages of a queue.
func (s *Session) beginQueue(ctx context.Context, q *sessionQueue) error {
	if q.begun || s.m.Kind != meta.KindQueue {
		return nil
	}
	others, err := s.g.options.Meta.Deliveries(ctx, s.m.definition.ID, q.TopicID, q.Queue, q.Version, s.options.connection)
	if err != nil {
		return unavailable(err)
	}
	q.begun, q.others, q.marked = true, others, q.next
	return nil
}

// before is how often others were given the message at an offset.
func (q *sessionQueue) before(offset int64) (n int64) {
	for _, next := range q.others {
		if next > offset {
			n++
		}
	}
	return n
}

// mark notes how far the client is given messages, before it is: an attempt counts
// when it is granted. Without Redis it is noted with the next ones.
func (s *Session) mark(ctx context.Context, queues []*sessionQueue) {
	if s.m.Kind != meta.KindQueue {
		return
	}
	var list []meta.Delivered
	var marked []*sessionQueue
	s.mu.Lock()
	for _, q := range queues {
		if q.begun && q.done > q.marked && len(q.flight) > 0 {
			list = append(list, meta.Delivered{
				Topic: q.TopicID, Queue: q.Queue, Epoch: q.Epoch, Version: q.Version, Progress: q.progress(), Next: q.done,
			})
			marked = append(marked, q)
		}
	}
	s.mu.Unlock()
	if len(list) == 0 {
		return
	}
	if err := s.g.options.Meta.MarkDelivered(ctx, s.m.definition.ID, s.m.ID, s.options.connection, list); err != nil {
		s.g.log.Warn("attempts are not noted", "member", s.m.ID, "err", err)
		return
	}
	for i, q := range marked {
		q.marked = list[i].Next
	}
}

// giveUp makes a dead letter of a message that others were given as often as the
// group allows; nil: it is one. It is Poll's.
func (s *Session) giveUp(ctx context.Context, q *sessionQueue, m journal.Stored, attempts int64) error {
	return s.g.failed.move(ctx, s.group, []failed{{
		topic: q.Topic, queue: q.Queue, stored: m, attempts: attempts, reason: ReasonExpired, dead: true,
	}})[0]
}

// rest has a message whose move failed wait a little.
func (d *delivery) rest() { d.again = time.Now().Add(retryAfter) }
