package group

import (
	"cmp"
	"context"
	"time"

	"github.com/bucketmq/bucketmq/journal"
)

// leaver is a message that a client gave back and that is to leave its queue.
type leaver struct {
	failed
	index           int // in the call
	queue           *sessionQueue
	offset, attempt int64
	wait            time.Duration
}

// leave moves messages to the group's retry or dead-letter topic and finishes them
// in their queue. One that cannot be moved now comes again in place after its
// wait; of a dead letter the client is told, and its receipt stays good.
func (s *Session) leave(ctx context.Context, leaving []leaver, results []ReceiptResult) {
	errs := make([]error, len(leaving))
	var list []failed
	var at []int
	_, now, clockErr := s.g.options.Journal.RedisNow()
	for i := range leaving {
		l := &leaving[i]
		if errs[i] = clockErr; errs[i] == nil {
			errs[i] = s.fetchLeaver(ctx, l)
		}
		if errs[i] == nil {
			l.due = now + l.wait.Milliseconds()
			list, at = append(list, l.failed), append(at, i)
		}
	}
	for k, err := range s.g.failed.move(ctx, s.group, list) {
		errs[at[k]] = err
	}
	moved := map[*sessionQueue]struct{}{}
	s.mu.Lock()
	for i := range leaving {
		l := &leaving[i]
		r := &results[l.index]
		d := l.queue.find(l.offset)
		pending := d != nil && !d.finished && d.attempt == l.attempt && !d.again.IsZero()
		switch {
		case errs[i] == nil:
			r.Dead = l.dead
			if pending {
				l.queue.finish(d)
				moved[l.queue] = struct{}{}
			}
		case l.dead:
			if r.Err = unavailable(errs[i]); pending {
				d.again = time.Time{}
			}
		}
	}
	s.settled(moved)
	s.mu.Unlock()
	s.wakeFor(ctx, moved)
}

// fetchLeaver reads the message.
func (s *Session) fetchLeaver(ctx context.Context, l *leaver) error {
	topic, err := s.g.options.Journal.Topic(ctx, l.topic)
	if err != nil {
		return err
	}
	page, err := s.g.options.Journal.Read(ctx, journal.Read{Topic: topic, Queue: l.failed.queue, Offset: l.offset, MaxMessages: 1, MaxBytes: 1})
	reason, err := gone(page, l.offset, err)
	if err != nil || reason != "" {
		return cmp.Or(err, error(journal.ErrUnavailable)) // one that is gone is met when it comes again
	}
	l.stored = page.Messages[0]
	return nil
}
