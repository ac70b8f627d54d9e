package gateway

import (
	"context"
	"errors"
	"strconv"
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
		case !sub.behind || sub.paused || !sub.retryAt.IsZero():
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
	defer s.mu.Unlock()
	if sub.behind = behind; behind {
		s.pump = true
	}
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
	batch, err := f.follower.Poll(s.ctx, int(min(items, deliverItems)), min(bytes, deliverBytes))
	if err != nil {
		return true, err
	}
	if cursor := f.follower.Cursor(); len(batch.Items)+len(batch.Gaps) > 0 {
		f.cursor = cursor
		sub.send(f, batch)
	}
	return !batch.CaughtUp, nil
}

// fault ends a subscription that cannot go on, or lets it rest for a while.
func (sub *subscription) fault(err error) {
	s := sub.socket
	if errors.Is(err, journal.ErrDraining) || s.ctx.Err() != nil {
		return // the socket ends
	}
	passing := errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrRecovering) || errors.Is(err, context.DeadlineExceeded)
	s.mu.Lock()
	switch {
	case sub.gone:
		s.mu.Unlock()
		return
	case passing:
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
func (sub *subscription) send(f *feed, batch *journal.Batch) {
	s := sub.socket
	bytes := int64(0)
	for i := range batch.Items {
		bytes += int64(len(batch.Items[i].Record.Body))
	}
	var parts [][]byte
	if !s.bin {
		parts = s.hub.shared.items(f.topic, batch.Items, sub.base64)
	}
	out := takeBuffer()
	defer out.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.gone || s.outbox.last {
		return
	}
	for _, gap := range batch.Gaps {
		out.b = append(appendSub(out.b[:0], "gap", "", sub.name), ',')
		out.b = append((&topicGap{f.topic.Name, gap}).appendTo(out.b), '}')
		s.appendOpLocked(out.b)
	}
	if len(batch.Items) == 0 {
		return
	}
	sub.seq++
	sub.creditItems -= int64(len(batch.Items))
	sub.creditBytes -= bytes
	s.hub.metrics.sent.Add(float64(len(batch.Items)))
	out.b = appendSub(out.b[:0], "messages", "", sub.name)
	out.b = strconv.AppendInt(append(out.b, `,"seq":`...), sub.seq, 10)
	if s.bin {
		s.appendRecordsLocked(out, sub, f, batch)
		return
	}
	out.b = append(out.b, `,"items":[`...)
	head := len(out.b)
	out.b = sub.appendTail(append(out.b, ']'), batch)
	all := make([][]byte, 0, 2*len(parts)+2)
	all = append(all, out.b[:head])
	for i, part := range parts {
		if i > 0 {
			all = append(all, comma)
		}
		all = append(all, part)
	}
	s.appendLocked(opText, append(all, out.b[head:])...)
}

var comma = []byte{','}

// appendTail ends a messages operation.
func (sub *subscription) appendTail(dst []byte, batch *journal.Batch) []byte {
	dst = appendString(append(dst, `,"cursor":`...), []byte(sub.cursor()))
	return append(strconv.AppendBool(append(dst, `,"caught_up":`...), batch.CaughtUp), '}')
}

// appendRecordsLocked queues messages as records; the header says where each run
// of them belongs. It needs mu.
func (s *socket) appendRecordsLocked(out *buffer, sub *subscription, f *feed, batch *journal.Batch) {
	var c clock
	parts := make([][]byte, 2, len(batch.Items)+2)
	out.b = append(out.b, `,"runs":[`...)
	for rest := batch.Items; len(rest) > 0; {
		n := runOf(rest, true)
		if len(rest) < len(batch.Items) {
			out.b = append(out.b, ',')
		}
		out.b = appendString(append(out.b, `{"topic":`...), []byte(f.topic.Name))
		out.b = strconv.AppendUint(append(out.b, `,"queue":`...), uint64(rest[0].Queue), 10)
		out.b = strconv.AppendInt(append(out.b, `,"first":`...), rest[0].Offset, 10)
		out.b = strconv.AppendInt(append(out.b, `,"count":`...), int64(n), 10)
		out.b = c.append(append(out.b, `,"stored_at":"`...), rest[0].StoredAt)
		out.b = append(out.b, `"}`...)
		for i := range n {
			parts = append(parts, rest[i].Raw)
		}
		rest = rest[n:]
	}
	out.b = sub.appendTail(append(out.b, ']'), batch)
	var prefix [binPrefix]byte
	parts[0], parts[1] = appendBinPrefix(prefix[:0], len(out.b)), out.b
	s.appendLocked(opBinary, parts...)
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
