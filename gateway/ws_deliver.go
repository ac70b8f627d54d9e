package gateway

import (
	"errors"
	"time"

	"github.com/bucketmq/bucketmq/journal"
)

const (
	// deliverItems and deliverBytes bound what is read for a client at a time.
	deliverItems = 256
	deliverBytes = 256 << 10
	// retryFeedAfter is how soon a subscription is looked after that met a fault.
	retryFeedAfter = time.Second
)

// wake says that there may be something to deliver.
func (s *socket) wake() {
	s.mu.Lock()
	s.wakeLocked()
	s.mu.Unlock()
}

// wakeLocked needs mu.
func (s *socket) wakeLocked() {
	s.pump = true
	s.resumePump()
}

// resumePump starts a goroutine that delivers, unless there is one, or the
// client has enough to read. It needs mu.
func (s *socket) resumePump() {
	if s.pump && !s.pumping && !s.outbox.last && s.outbox.queued() <= deliverBelow {
		s.pumping = true
		s.hub.running.Go(s.deliver)
	}
}

// retry wakes subscriptions that met a fault.
func (s *socket) retry(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subs {
		if !sub.retryAt.IsZero() && now.After(sub.retryAt) {
			sub.retryAt = time.Time{}
			s.wakeLocked()
		}
	}
}

// deliver reads for every subscription that may receive, a part at a time and
// in turn, until there is nothing more or the client has enough to read.
func (s *socket) deliver() {
	var few [4]*subscription
	for {
		s.mu.Lock()
		if !s.pump || s.outbox.last || s.outbox.queued() > deliverBelow {
			s.pumping = false
			s.mu.Unlock()
			return
		}
		s.pump = false
		ready := s.readyLocked(few[:0])
		s.mu.Unlock()
		for _, sub := range ready {
			sub.advance()
		}
	}
}

// readyLocked lists the subscriptions that may receive something, and tells
// those that may not for want of credit. It needs mu.
func (s *socket) readyLocked(ready []*subscription) []*subscription {
	for _, sub := range s.subs {
		if sub.news.Swap(false) {
			sub.behind = true
		}
		switch {
		case !sub.behind || !sub.retryAt.IsZero():
		case sub.consumer != nil: // there may be other news than messages
			ready = append(ready, sub)
		case sub.paused:
		case sub.mayReceive():
			ready = append(ready, sub)
		case !sub.stalled:
			sub.stalled = true
			s.hub.metrics.stalls.Inc()
			s.appendOpLocked(append(appendSub(nil, "stalled", "", sub.name), `,"reason":"credit"}`...))
		}
	}
	return ready
}

// advance delivers one part of what every feed has.
func (sub *subscription) advance() {
	if sub.consumer != nil {
		sub.advanceConsumer()
		return
	}
	sub.reading.Lock()
	defer sub.reading.Unlock()
	behind := false
	for _, f := range sub.feeds {
		more, err := sub.read(f)
		if err != nil {
			sub.fault(err)
			return
		}
		behind = behind || more
	}
	s := sub.socket
	s.mu.Lock()
	if f := sub.feeds[0]; sub.pump == nil && f.follower == nil {
		behind = true // it has left a pump meanwhile
	}
	if sub.behind = behind; behind {
		s.pump = true
	}
	s.mu.Unlock()
	if !behind && len(sub.feeds) == 1 {
		sub.share()
	}
}

// ensure gives a feed that has left a pump a follower of its own. It is not
// ready when a pump reads for it. It needs reading.
func (sub *subscription) ensure(f *feed) (ready bool, err error) {
	s := sub.socket
	s.mu.Lock()
	shared, cursor := sub.pump != nil, f.cursor
	s.mu.Unlock()
	if shared || f.follower != nil {
		return !shared, nil
	}
	follower, err := sub.follow(f, journal.Position{}, cursor)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	ended := sub.gone || s.outbox.last
	if !ended {
		f.follower = follower
	}
	s.mu.Unlock()
	if ended {
		follower.Close()
	}
	return !ended, nil
}

// read delivers one part of a feed and reports whether there is more. It needs
// reading.
func (sub *subscription) read(f *feed) (more bool, err error) {
	s := sub.socket
	s.mu.Lock()
	items, bytes, may := sub.creditItems, sub.creditBytes, sub.mayReceive() && !sub.gone && !s.outbox.last
	s.mu.Unlock()
	if !may {
		return true, nil
	}
	if ready, err := sub.ensure(f); !ready {
		return err != nil, err
	}
	batch, err := f.follower.Poll(s.ctx, int(min(items, deliverItems)), min(bytes, deliverBytes))
	if err != nil {
		return true, err
	}
	if len(batch.Items)+len(batch.Gaps) > 0 {
		sub.send(f, batch, f.follower.Cursor())
	}
	return !batch.CaughtUp, nil
}

// fault ends a subscription that cannot go on, or lets it rest for a while.
func (sub *subscription) fault(err error) {
	s := sub.socket
	if errors.Is(err, journal.ErrDraining) || s.ctx.Err() != nil {
		return // the socket ends
	}
	s.mu.Lock()
	switch {
	case sub.gone:
		s.mu.Unlock()
		return
	case passing(err):
		sub.retryAt = time.Now().Add(retryFeedAfter)
		s.mu.Unlock()
		return
	}
	sub.gone = true
	delete(s.subs, sub.name)
	text := append(appendSub(nil, "unsubscribed", "", sub.name), `,"problem":`...)
	s.appendOpLocked(append(append(text, s.problem(err)...), '}'))
	s.mu.Unlock()
	sub.end()
}

// send queues what a follower returned, and takes its credit. It needs reading.
func (sub *subscription) send(f *feed, batch *journal.Batch, cursor string) {
	s := sub.socket
	r := run{items: len(batch.Items), bytes: bodyBytes(batch.Items)}
	out, gap := takeBuffer(), takeBuffer()
	defer out.release()
	defer gap.release()
	s.mu.Lock()
	f.cursor = cursor
	all := sub.cursor()
	s.mu.Unlock()
	if r.items > 0 {
		r.encode(out, s.hub.shared, f.topic, batch, sub.base64, s.bin, all)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.gone || s.outbox.last {
		return
	}
	for _, g := range batch.Gaps {
		gap.b = append(appendSub(gap.b[:0], "gap", "", sub.name), ',')
		s.appendOpLocked(append((&topicGap{f.topic.Name, g}).appendTo(gap.b), '}'))
	}
	if r.items > 0 {
		s.hub.metrics.sent.Add(float64(r.items))
		var space [len(headRoom)]byte
		s.queueLocked(sub.takeRun(space[:0], &r), r.rest)
	}
}

// runOf counts the items at the front that are consecutive in one queue, and
// were stored together if that matters.
func runOf(items []journal.Item, together bool) int {
	n := 1
	for n < len(items) && items[n].Queue == items[0].Queue && items[n].Offset == items[0].Offset+int64(n) &&
		(!together || items[n].StoredAt == items[0].StoredAt) {
		n++
	}
	return n
}
