package group

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// topic returns what the session needs to read a topic, as the settings are now.
func (s *Session) topic(ctx context.Context, name string) (sessionTopic, error) {
	if t, ok := s.topics[name]; ok {
		return t, nil
	}
	topic, err := s.g.options.Journal.Topic(ctx, name)
	if err != nil {
		return sessionTopic{}, err
	}
	consumed, err := s.g.consumed(ctx, s.m.definition, s.m.Member)
	if err != nil {
		return sessionTopic{}, err
	}
	for _, sub := range consumed {
		if sub.Topic != name {
			continue
		}
		t := sessionTopic{topic: topic, settings: s.settings[name]}
		if t.filter, err = filterOf(sub, t.settings); err != nil {
			return sessionTopic{}, err
		}
		s.mu.Lock()
		queues := s.order
		s.mu.Unlock()
		for _, q := range queues { // they follow with the filter that was
			if q.Topic != name {
				continue
			}
			if len(q.read) > 0 {
				q.next = q.read[0].Offset
			}
			q.read, q.dueAt = nil, time.Time{}
			s.unfollow(q)
		}
		s.topics[name] = t
		return t, nil
	}
	return sessionTopic{}, fmt.Errorf("group: the member does not subscribe topic %s", name)
}

// follow begins to read a queue where its progress is.
func (s *Session) follow(ctx context.Context, t *sessionTopic, q *sessionQueue) error {
	current, err := s.g.options.Journal.Topic(ctx, q.Topic)
	if err != nil {
		return err
	}
	at := journal.Cursor{Topic: q.TopicID, Epoch: current.Epoch, Next: []journal.QueueOffset{{Queue: q.Queue, Offset: q.next}}}
	q.news.Store(true)
	follower, err := s.g.options.Journal.Follow(ctx, journal.FollowOptions{
		Topic: t.topic, Queues: []uint32{q.Queue}, Cursor: at.String(), Filter: t.filter,
		Notify: func() {
			if q.news.CompareAndSwap(false, true) {
				s.options.Notify()
			}
		},
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	ended := s.ended
	if !ended {
		q.follower = follower
	}
	s.mu.Unlock()
	if ended {
		follower.Close()
	}
	return nil
}

// fetch reads a batch of a queue.
func (s *Session) fetch(ctx context.Context, q *sessionQueue, messages int, bytes int64, push *Push) error {
	s.mu.Lock()
	follower := q.follower
	s.mu.Unlock()
	if follower == nil {
		return nil // the session has ended
	}
	q.news.Store(false) // what comes from here on is announced again
	batch, err := follower.Poll(ctx, messages, bytes)
	if err != nil {
		q.news.Store(true)
		return err
	}
	if !batch.CaughtUp {
		q.news.Store(true)
	}
	for _, g := range batch.Gaps {
		s.g.metrics.skipped.WithLabelValues(g.Reason).Inc()
		push.Gaps = append(push.Gaps, ReceiveGap{Topic: q.Topic, Queue: q.Queue, From: g.From, To: g.To, Reason: g.Reason})
		if g.Reason == journal.GapBeyondEnd && s.m.Kind != meta.KindBroadcast {
			return s.backToEnd(ctx, q, g.To)
		}
	}
	q.read = batch.Items
	cursor, err := journal.ParseCursor(follower.Cursor())
	if err != nil {
		return err
	}
	q.next = cursor.Next[0].Offset
	if len(q.read) == 0 { // nothing of it passes the filter, or is left
		s.mu.Lock()
		q.done = max(q.done, q.next)
		s.commitLocked(q)
		s.mu.Unlock()
	}
	return nil
}

// backToEnd corrects progress beyond the end of a queue under a new version: it
// goes on at the end, never at the start (SEMANTICS 75).
func (s *Session) backToEnd(ctx context.Context, q *sessionQueue, end int64) error {
	_, err := s.g.options.Meta.ResetOffsets(ctx, s.m.definition.ID, "", "gateway", []meta.OffsetReset{
		{Topic: q.TopicID, Queue: q.Queue, Offset: end, IfVersion: q.Version},
	})
	s.again()
	return unavailable(err)
}

// deliverAgain delivers what was given back and is due. In order nothing overtakes
// what waits longer.
func (s *Session) deliverAgain(ctx context.Context, t *sessionTopic, q *sessionQueue, r *room, push *Push) error {
	for _, offset := range s.dueAgain(q, time.Now()) {
		if r.full() {
			push.Waiting = true
			return nil
		}
		page, err := s.g.options.Journal.Read(ctx, journal.Read{Topic: t.topic, Queue: q.Queue, Offset: offset, MaxMessages: 1, MaxBytes: 1})
		reason, err := gone(page, offset, err)
		if err != nil {
			return err
		}
		s.mu.Lock()
		d := q.find(offset)
		if d != nil && !d.again.IsZero() && reason == "" && !d.unhandled && exhausted(s.group, d.attempt-d.spared) {
			attempts := d.attempt - d.spared
			s.mu.Unlock()
			err := s.giveUp(ctx, q, page.Messages[0], attempts)
			s.mu.Lock()
			if d = q.find(offset); d != nil && !d.again.IsZero() {
				if err == nil {
					q.finish(d)
					s.commitLocked(q)
				} else {
					d.rest()
				}
			}
			s.mu.Unlock()
			continue
		}
		switch {
		case d == nil || d.again.IsZero(): // it was finished meanwhile
		case reason != "":
			q.finish(d)
			s.g.metrics.skipped.WithLabelValues(reason).Inc()
			push.Gaps = append(push.Gaps, ReceiveGap{Topic: q.Topic, Queue: q.Queue, From: offset, To: offset + 1, Reason: reason})
			s.commitLocked(q)
		default:
			d.attempt++
			if d.unhandled {
				d.spared++
			}
			d.again, d.unhandled = time.Time{}, false
			r.take(d.bytes)
			push.Items = append(push.Items, s.pushed(q, page.Messages[0], d.attempt))
		}
		s.mu.Unlock()
	}
	return nil
}

// dueAgain lists the offsets of a queue that are to be delivered again now.
func (s *Session) dueAgain(q *sessionQueue, now time.Time) (due []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range q.flight {
		d := &q.flight[i]
		if d.finished || d.again.IsZero() {
			continue
		}
		if now.Before(d.again) {
			if s.ordered {
				break
			}
			continue
		}
		due = append(due, d.offset)
	}
	return due
}

// gone says why the message at an offset cannot be had any more; "": it is the
// page's. Any other fault of the read stays an error.
func gone(page *journal.Page, offset int64, err error) (reason string, _ error) {
	bounds, outside := errors.AsType[*journal.BoundsError](err)
	switch {
	case outside && bounds.Trimmed:
		return journal.GapTrimmed, nil
	case is[*journal.CorruptError](err):
		return journal.GapCorrupt, nil
	case outside, err == nil && (len(page.Messages) == 0 || page.Messages[0].Offset != offset):
		return journal.GapBeyondEnd, nil
	}
	return "", err
}
