package group

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// sessionQueue is a queue that a session consumes.
type sessionQueue struct {
	Assignment                // as it was last seen; Offset is what is committed
	news       atomic.Bool    // there may be messages to read
	read       []journal.Item // Poll's; read and not delivered yet
	dueAt      time.Time      // Poll's; when the first of read is due; zero: now
	next       int64          // Poll's; everything before it was delivered, or is in read
	begun      bool           // Poll's; others is known
	others     []int64        // Poll's; how far other connections were given its messages
	marked     int64          // Poll's; how far it is noted that this one was

	// The rest is guarded by the session's mu.
	follower *journal.Follower // used by Poll alone; nil: to be made
	flight   []delivery        // not finished, by offset; finished ones only behind an unfinished one
	held     int               // of flight, those that are not finished
	bytes    int64             // of those
	done     int64             // everything before it was delivered
	stalled  string            // what the client was told
}

// delivery is a message that was delivered and is not finished, or waits behind one.
type delivery struct {
	offset, bytes, attempt int64
	spared                 int64 // of attempt, deliveries that were no attempts
	finished               bool
	unhandled              bool      // when it is delivered again, the last one was no attempt
	again                  time.Time // given back: when it is delivered again; zero: it was not
}

// sessionTopic is what a session needs to read a topic.
type sessionTopic struct {
	topic    meta.Topic
	filter   filter.Filter
	settings meta.Settings
}

// limits of a queue, with their defaults.
func (t *sessionTopic) limits() (messages int, bytes, span int64, batch int) {
	s := &t.settings
	return cmp.Or(s.ThresholdMessages, DefaultThresholdMessages), cmp.Or(s.ThresholdBytes, DefaultThresholdBytes),
		cmp.Or(s.MaxSpan, DefaultMaxSpan), cmp.Or(s.PullBatch, DefaultPullBatch)
}

// room is what the client can take.
type room struct {
	messages int
	bytes    int64
	taken    int
}

func (r *room) full() bool { return r.messages <= 0 || r.bytes <= 0 }

func (r *room) take(bytes int64) {
	r.messages--
	r.bytes -= bytes
	r.taken++
}

// progress is the smallest offset that is not finished. It needs mu.
func (q *sessionQueue) progress() int64 {
	if len(q.flight) > 0 {
		return q.flight[0].offset
	}
	return q.done
}

// busy says that the client has messages of the queue: those that it gave back
// need not be waited for. It needs mu.
func (q *sessionQueue) busy() bool {
	return slices.ContainsFunc(q.flight, func(d delivery) bool { return !d.finished && d.again.IsZero() })
}

// find returns the delivery of an offset. It needs mu.
func (q *sessionQueue) find(offset int64) *delivery {
	i, ok := slices.BinarySearchFunc(q.flight, offset, func(d delivery, offset int64) int { return cmp.Compare(d.offset, offset) })
	if !ok {
		return nil
	}
	return &q.flight[i]
}

// finish marks a delivery as finished. It needs mu.
func (q *sessionQueue) finish(d *delivery) {
	if d.finished {
		return
	}
	d.finished = true
	q.held--
	q.bytes -= d.bytes
	n := 0
	for n < len(q.flight) && q.flight[n].finished {
		n++
	}
	q.flight = slices.Delete(q.flight, 0, n)
}

// wakeAt is when the queue has something by itself after a moment; zero: never.
// It needs mu, and is for Poll alone.
func (q *sessionQueue) wakeAt(after time.Time) (at time.Time) {
	if q.dueAt.After(after) {
		at = q.dueAt
	}
	for i := range q.flight {
		if d := &q.flight[i]; !d.finished && d.again.After(after) && (at.IsZero() || d.again.Before(at)) {
			at = d.again
		}
	}
	return at
}

// unfollow ends the reading of a queue.
func (s *Session) unfollow(q *sessionQueue) {
	s.mu.Lock()
	f := q.follower
	q.follower = nil
	s.mu.Unlock()
	if f != nil {
		f.Close()
	}
}

// apply makes the session's queues those of a reply, and tells what is new.
func (s *Session) apply(ctx context.Context, reply *HeartbeatReply, push *Push) error {
	now := map[sharedPlace]Assignment{}
	for _, list := range [][]Assignment{reply.Assignments, reply.Revoking} {
		for _, a := range list {
			now[sharedPlace{a.TopicID, a.Queue}] = a
		}
	}
	events := map[string][]Assignment{}
	var closed []*sessionQueue
	stopped := false
	s.mu.Lock()
	for place, q := range s.queues {
		a, owned := now[place]
		switch {
		case !owned || a.Epoch != q.Epoch:
			events[EventRevoked] = append(events[EventRevoked], q.Assignment)
			delete(s.queues, place)
			closed = append(closed, q)
		case a.Version != q.Version: // it was reset
			events[EventAssigned] = append(events[EventAssigned], a)
			s.queues[place] = newSessionQueue(a)
			closed = append(closed, q)
		default:
			if a.State == meta.StateRevoking && q.State != meta.StateRevoking {
				events[EventRevoking] = append(events[EventRevoking], a)
			}
			stopped = stopped || a.Stopped && !q.Stopped
			q.Assignment = a
		}
	}
	for place, a := range now {
		if s.queues[place] == nil {
			events[EventAssigned] = append(events[EventAssigned], a)
			s.queues[place] = newSessionQueue(a)
		}
	}
	s.order = s.order[:0:0]
	for _, q := range s.queues {
		s.order = append(s.order, q)
	}
	slices.SortFunc(s.order, func(a, b *sessionQueue) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Queue, b.Queue))
	})
	s.mu.Unlock()
	for _, q := range closed {
		s.unfollow(q)
	}
	if stopped { // what was finished of it counts, and nothing more comes
		s.g.commits.flushMember(ctx, s.m.ID)
	}
	for _, kind := range []string{EventRevoked, EventRevoking, EventAssigned} {
		if queues := events[kind]; len(queues) > 0 {
			slices.SortFunc(queues, func(a, b Assignment) int { return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Queue, b.Queue)) })
			push.Events = append(push.Events, Event{Kind: kind, Generation: reply.Generation, Queues: queues})
		}
	}
	return nil
}

func newSessionQueue(a Assignment) *sessionQueue {
	return &sessionQueue{Assignment: a, next: a.Offset, done: a.Offset}
}

// deliver adds what a queue has for the client: first what was given back and is
// due, then what follows.
func (s *Session) deliver(ctx context.Context, q *sessionQueue, r *room, push *Push) error {
	if q.State == meta.StateRevoking {
		return nil
	}
	if q.Stopped {
		if q.news.Load() {
			s.tellStalled(q, StalledStopped, push)
		}
		return nil
	}
	t, err := s.topic(ctx, q.Topic)
	if err != nil {
		return err
	}
	if err := s.deliverAgain(ctx, &t, q, r, push); err != nil {
		return err
	}
	if err := s.beginQueue(ctx, q); err != nil {
		return err
	}
	s.mu.Lock()
	follows := q.follower != nil
	s.mu.Unlock()
	if !follows {
		if err := s.follow(ctx, &t, q); err != nil {
			return err
		}
	}
	if !q.dueAt.IsZero() && time.Now().Before(q.dueAt) || len(q.read) == 0 && !q.news.Load() {
		return nil
	}
	if r.full() {
		push.Waiting = true
		return nil
	}
	free := s.free(q, &t)
	if free <= 0 {
		if !s.ordered {
			s.tellStalled(q, StalledInFlight, push)
		}
		return nil
	}
	s.tellStalled(q, "", push)
	if len(q.read) == 0 {
		if err := s.fetch(ctx, q, min(free, r.messages), r.bytes, push); err != nil {
			return err
		}
	}
	s.take(q, &t, r, min(free, r.messages), push)
	if rest := len(q.read) > 0 && q.dueAt.IsZero() || q.news.Load(); rest {
		push.More = push.More || !r.full() // where too much is in flight, the next look says so
		push.Waiting = push.Waiting || r.full()
	}
	return s.storeExcess(ctx)
}

// free is how many messages more may be in flight.
func (s *Session) free(q *sessionQueue, t *sessionTopic) int {
	messages, bytes, span, batch := t.limits()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ordered && len(q.flight) > 0, q.bytes > bytes:
		return 0
	case !s.ordered && len(q.flight) > 0 && q.next-q.flight[0].offset > span:
		return 0
	}
	return min(messages-q.held, batch)
}

// tellStalled tells the client once why a queue rests; "" = it does not any more.
func (s *Session) tellStalled(q *sessionQueue, reason string, push *Push) {
	s.mu.Lock()
	changed := q.stalled != reason
	q.stalled = reason
	s.mu.Unlock()
	if changed && reason != "" {
		push.Events = append(push.Events, Event{Kind: EventStalled, Reason: reason, Queues: []Assignment{q.Assignment}})
	}
}

// take delivers what was read, up to the first message that is not due yet.
func (s *Session) take(q *sessionQueue, t *sessionTopic, r *room, most int, push *Push) {
	delay := time.Duration(t.settings.DelayMS) * time.Millisecond
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	q.dueAt = time.Time{}
	for ; n < len(q.read) && n < most; n++ {
		m := &q.read[n]
		size := int64(len(m.Record.Body))
		if due := time.UnixMilli(m.StoredAt).Add(delay); delay > 0 && time.Now().Before(due) {
			q.dueAt = due
			break
		}
		if r.taken > 0 && size > r.bytes {
			break
		}
		r.take(size)
		attempt := 1 + q.before(m.Offset) + failuresOf(q.Topic, &m.Stored)
		d := delivery{offset: m.Offset, bytes: size, attempt: attempt}
		over := exhausted(s.group, attempt-1)
		if over { // deliverAgain gives it up
			d.attempt, d.again, push.More = attempt-1, time.Now(), true
		}
		q.flight = append(q.flight, d)
		q.held++
		q.bytes += size
		q.done = m.Offset + 1
		if !over {
			push.Items = append(push.Items, s.pushed(q, m.Stored, attempt))
		}
	}
	q.read = q.read[n:]
	if len(q.read) == 0 {
		q.read = nil
		q.done = max(q.done, q.next)
	}
}

// pushed is a message for the client. One of the retry topic is shown as it was
// where it comes from.
func (s *Session) pushed(q *sessionQueue, m journal.Stored, attempt int64) Pushed {
	d := sessionReceipt{topic: q.TopicID, queue: q.Queue, epoch: q.Epoch, version: q.Version, offset: m.Offset, attempt: attempt}
	if journal.IsRetryTopic(q.Topic) {
		if origin, before := OriginOf(m); origin.Topic != "" {
			return Pushed{Topic: origin.Topic, Queue: origin.Queue, Stored: before, Receipt: d.String(), Attempt: attempt}
		}
	}
	return Pushed{Topic: q.Topic, Queue: q.Queue, Stored: m, Receipt: d.String(), Attempt: attempt}
}

// release gives back the queues that are being revoked and of which the client has
// nothing. What it finished of the others counts when they are taken away.
func (s *Session) release(ctx context.Context, push *Push) error {
	var released []meta.Assignment
	var gone []Assignment
	revoking := false
	s.mu.Lock()
	for _, q := range s.order {
		revoking = revoking || q.State == meta.StateRevoking
		if q.State == meta.StateRevoking && !q.busy() {
			released = append(released, meta.Assignment{Topic: q.TopicID, Queue: q.Queue, Epoch: q.Epoch})
			gone = append(gone, q.Assignment)
		}
	}
	s.mu.Unlock()
	if revoking {
		s.g.commits.flushMember(ctx, s.m.ID)
	}
	if len(released) == 0 {
		return nil
	}
	state, err := s.beat(ctx, released)
	if err != nil {
		return err
	}
	s.mu.Lock()
	var closed []*sessionQueue
	for _, a := range gone {
		place := sharedPlace{a.TopicID, a.Queue}
		closed = append(closed, s.queues[place])
		delete(s.queues, place)
	}
	s.order = slices.DeleteFunc(slices.Clone(s.order), func(q *sessionQueue) bool { return slices.Contains(closed, q) })
	s.mu.Unlock()
	for _, q := range closed {
		s.unfollow(q)
	}
	push.Events = append(push.Events, Event{Kind: EventRevoked, Generation: state.Generation, Queues: gone})
	return nil
}
