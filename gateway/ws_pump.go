package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// deliverTogether is how many sockets one goroutine delivers to.
const deliverTogether = 64

// pumpKey says what subscriptions must have in common to share a pump.
type pumpKey struct {
	topic          uuid.UUID
	queues, filter string // filter is in its normal form
	base64, bin    bool
}

func (sub *subscription) pumpKey() pumpKey {
	f := sub.feeds[0]
	queues := ""
	if len(f.queues) > 0 {
		sorted := slices.Sorted(slices.Values(f.queues))
		queues = fmt.Sprint(slices.Compact(sorted))
	}
	return pumpKey{f.topic.ID, queues, f.filter.String(), sub.base64, sub.socket.bin}
}

// pump reads a topic for all subscriptions that want the same of it and are at
// the same place: each message is read and encoded once. Whoever cannot take
// what comes, for want of credit or because it reads slowly, leaves, goes on
// with a follower of its own, and joins again when it is at the same place.
type pump struct {
	pumps    *pumps
	key      pumpKey
	topic    meta.Topic
	follower *journal.Follower // owned by run
	snapshot []*subscription   // owned by run

	// mu is taken with a socket's mu held, and nothing is locked under it.
	mu      sync.Mutex
	members []*subscription // guarded by mu; all of them are at cursor, but during a delivery
	cursor  string          // guarded by mu
	late    []*subscription // guarded by mu; to be woken when the pump rests
	news    bool            // guarded by mu; there may be something to read
	running bool            // guarded by mu; a goroutine runs run
	ended   bool            // guarded by mu
	retryAt time.Time       // guarded by mu; when to try again after a fault
}

// pumps has the pumps of a hub.
type pumps struct {
	hub   *hub
	mu    sync.Mutex // taken with a socket's mu held; a pump's mu is taken under it
	byKey map[pumpKey]*pump
}

// source says who is told of news for a follower: the subscription that made
// it, or the pump that took it over.
type source struct {
	mu   sync.Mutex
	sub  *subscription // guarded by mu; nil once pump is set
	pump *pump         // guarded by mu
}

// notify is called by the journal, which must not be kept waiting.
func (s *source) notify() {
	s.mu.Lock()
	sub, p := s.sub, s.pump
	s.mu.Unlock()
	if p != nil {
		p.wake()
		return
	}
	sub.notify()
}

func (s *source) handTo(p *pump) {
	s.mu.Lock()
	s.sub, s.pump = nil, p
	s.mu.Unlock()
}

// share lets a subscription that is caught up be served by a pump. It needs
// reading.
func (sub *subscription) share() {
	f, s := sub.feeds[0], sub.socket
	s.mu.Lock()
	if f.follower == nil || sub.gone || s.outbox.last || !sub.mayReceive() || s.wire.raw == nil {
		s.mu.Unlock()
		return
	}
	p, made := s.hub.pumps.of(sub)
	if !made && !p.join(sub) {
		s.mu.Unlock()
		return
	}
	own := f.follower
	sub.pump, f.follower = p, nil
	s.mu.Unlock()
	if made {
		f.source.handTo(p)
		p.wake() // for news that the subscription was told of
	} else {
		own.Close() // not with the socket locked: the journal may be notifying it
	}
}

// of finds the pump for a subscription, or makes one of its follower that it is
// a member of. It needs the socket's mu.
func (ps *pumps) of(sub *subscription) (p *pump, made bool) {
	key := sub.pumpKey()
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p = ps.byKey[key]; p != nil {
		return p, false
	}
	f := sub.feeds[0]
	p = &pump{pumps: ps, key: key, topic: f.topic, follower: f.follower, cursor: f.cursor, members: []*subscription{sub}}
	sub.at = 0
	ps.byKey[key] = p
	return p, true
}

// join adds a subscription that is where the pump is. It needs the socket's mu.
func (p *pump) join(sub *subscription) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended:
		return false
	case p.cursor != sub.feeds[0].cursor:
		if p.running {
			p.late = append(p.late, sub)
		}
		return false
	}
	sub.at = len(p.members)
	p.members = append(p.members, sub)
	return true
}

// leavePump makes a subscription go on by itself from where it is. It needs the
// socket's mu.
func (sub *subscription) leavePump() {
	p := sub.pump
	if p == nil {
		return
	}
	sub.pump, sub.behind = nil, true
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.members) - 1
	if sub.at > last || p.members[sub.at] != sub {
		return // the pump gave up all of them
	}
	p.members[sub.at] = p.members[last]
	p.members[sub.at].at = sub.at
	p.members[last] = nil
	p.members = p.members[:last]
	if last == 0 {
		p.start() // it ends
	}
}

// wake says that there may be something to read.
func (p *pump) wake() {
	p.mu.Lock()
	p.news = true
	p.start()
	p.mu.Unlock()
}

// start needs mu.
func (p *pump) start() {
	if !p.running && !p.ended {
		p.running = true
		p.pumps.hub.running.Go(p.run)
	}
}

// run delivers until there is nothing more, and ends a pump without members.
func (p *pump) run() {
	for {
		p.mu.Lock()
		news, empty := p.news, len(p.members) == 0
		p.news = false
		rest := !news && !empty
		var late []*subscription
		if rest || empty {
			late, p.late = p.late, nil
		}
		p.running = !rest
		p.mu.Unlock()
		for _, sub := range late {
			sub.notify()
		}
		if rest || empty && p.end() {
			return
		}
		if news {
			p.step()
		}
	}
}

// end ends a pump that has no members.
func (p *pump) end() bool {
	p.pumps.mu.Lock()
	p.mu.Lock()
	p.ended = len(p.members) == 0
	if p.ended {
		p.running = false
		delete(p.pumps.byKey, p.key)
	}
	ended := p.ended
	p.mu.Unlock()
	p.pumps.mu.Unlock()
	if ended {
		p.follower.Close()
	}
	return ended
}

// step reads a run of messages and delivers it to all members.
func (p *pump) step() {
	batch, err := p.follower.Poll(p.pumps.hub.ctx, deliverItems, deliverBytes)
	switch {
	case errors.Is(err, journal.ErrDraining) || p.pumps.hub.ctx.Err() != nil:
		return // the sockets end
	case err != nil && passing(err):
		p.mu.Lock()
		p.retryAt = time.Now().Add(retryFeedAfter)
		p.mu.Unlock()
		return
	case err != nil || len(batch.Gaps) > 0:
		p.scatter() // each finds out by itself
		return
	}
	r := run{after: p.follower.Cursor(), items: len(batch.Items), bytes: bodyBytes(batch.Items)}
	out := takeBuffer()
	defer out.release()
	if r.items > 0 {
		r.encode(out, p.pumps.hub.shared, p.topic, batch, p.key.base64, p.key.bin, r.after)
	}
	p.mu.Lock()
	p.news = p.news || !batch.CaughtUp
	if r.items > 0 {
		r.before, p.cursor = p.cursor, r.after
		p.snapshot = append(p.snapshot[:0], p.members...)
	}
	p.mu.Unlock()
	p.deliver(p.snapshot, &r)
	clear(p.snapshot)
	p.snapshot = p.snapshot[:0]
}

// passing reports whether an error may be over soon.
func passing(err error) bool {
	return errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrRecovering) || errors.Is(err, context.DeadlineExceeded)
}

// scatter makes every member go on by itself.
func (p *pump) scatter() {
	p.mu.Lock()
	members := p.members
	p.members, p.cursor = nil, "" // nobody is there, so nobody joins
	p.mu.Unlock()
	for _, sub := range members {
		s := sub.socket
		s.mu.Lock()
		if sub.pump == p {
			sub.leavePump()
			s.wakeLocked()
		}
		s.mu.Unlock()
	}
}

// deliver gives a run to members, on as many processors as that is worth.
func (p *pump) deliver(members []*subscription, r *run) {
	var others sync.WaitGroup
	parts := max(1, min(runtime.GOMAXPROCS(0), len(members)/deliverTogether))
	size := (len(members) + parts - 1) / parts
	for len(members) > size {
		part := members[:size]
		members = members[size:]
		others.Go(func() { p.deliverPart(part, r) })
	}
	p.deliverPart(members, r)
	others.Wait()
}

func (p *pump) deliverPart(members []*subscription, r *run) {
	if len(members) == 0 {
		return
	}
	out := takeBuffer()
	defer out.release()
	out.b = append(append(out.b, headRoom[:]...), r.rest...)
	var w directWrite
	w.call = w.write
	delivered := 0
	for _, sub := range members {
		if sub.receive(p, r, out.b, &w) {
			delivered++
		}
	}
	p.pumps.hub.metrics.sent.Add(float64(delivered * r.items))
}

// receive delivers a run, or makes the subscription leave the pump. The run
// stands in frame behind headRoom.
func (sub *subscription) receive(p *pump, r *run, frame []byte, w *directWrite) bool {
	s := sub.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	f := sub.feeds[0]
	switch {
	case sub.pump != p || f.cursor != r.before: // it has left, and may have come back
		return false
	case sub.gone, s.outbox.last:
		return false // it is about to leave
	case !sub.mayReceive(), int64(r.items) > sub.creditItems, r.items > 1 && r.bytes > sub.creditBytes,
		s.outbox.queued() > deliverBelow:
		sub.leavePump()
		s.wakeLocked()
		return false
	}
	f.cursor = r.after
	var space [len(headRoom)]byte
	head := sub.takeRun(space[:0], r)
	start := len(headRoom) - len(head)
	copy(frame[start:], head)
	s.writeNow(frame[start:], w)
	return true
}

// retry wakes pumps that met a fault.
func (ps *pumps) retry(now time.Time) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.byKey {
		p.mu.Lock()
		if !p.retryAt.IsZero() && now.After(p.retryAt) {
			p.retryAt, p.news = time.Time{}, true
			p.start()
		}
		p.mu.Unlock()
	}
}
