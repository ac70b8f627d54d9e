package gateway

import (
	"fmt"

	"github.com/bucketmq/bucketmq/journal"
)

type creditOp struct {
	opHead
	Sub string `json:"sub"`
	creditGift
}

type seekOp struct {
	opHead
	Sub   string     `json:"sub"`
	Topic *string    `json:"topic"`
	Queue *int64     `json:"queue"`
	To    *fromWhere `json:"to"`
}

// named finds a subscription. It needs mu.
func (s *socket) named(name string) (*subscription, error) {
	if sub := s.subs[name]; sub != nil {
		return sub, nil
	}
	return nil, newProblem("subscription_not_found", "there is no subscription of this name", fault{Pointer: "/sub", Code: "subscription_not_found"})
}

// credit lets more be sent.
func (s *socket) credit(text []byte) error {
	var op creditOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.named(op.Sub)
	if err != nil {
		return err
	}
	if err := op.check(max(0, sub.creditItems), max(0, sub.creditBytes), ""); err != nil {
		return err
	}
	sub.creditItems += op.Messages
	sub.creditBytes += op.Bytes
	if sub.mayReceive() {
		sub.stalled = false
	}
	s.okLocked(op.ID)
	s.wakeLocked()
	return nil
}

// mayReceive needs the socket's mu.
func (sub *subscription) mayReceive() bool {
	return !sub.paused && sub.creditItems > 0 && sub.creditBytes > 0
}

// pause stops a subscription for a while, or lets it go on.
func (s *socket) pause(text []byte, paused bool) error {
	var op subOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.named(op.Sub)
	if err != nil {
		return err
	}
	sub.paused = paused
	s.okLocked(op.ID)
	s.wakeLocked()
	return nil
}

// unsubscribe ends a subscription; nothing of it follows the answer.
func (s *socket) unsubscribe(text []byte) error {
	var op subOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	s.mu.Lock()
	sub, err := s.named(op.Sub)
	if err == nil {
		sub.gone = true
		delete(s.subs, sub.name)
		s.okLocked(op.ID)
	}
	s.mu.Unlock()
	if err == nil {
		sub.end()
	}
	return err
}

// okLocked needs mu.
func (s *socket) okLocked(id string) {
	if id != "" {
		s.appendOpLocked(append(appendHead(nil, "ok", id), '}'))
	}
}

// seek moves one queue of a topic, or all of them.
func (s *socket) seek(text []byte) error {
	var op seekOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	switch {
	case op.Topic == nil:
		return missing("topic")
	case op.To == nil:
		return missing("to")
	case op.To.Cursor != nil:
		return wrong("to/cursor", "seek knows offset, position and timestamp")
	case op.To.Offset != nil && op.Queue == nil:
		return wrong("queue", "an offset is one of a queue")
	}
	to, err := op.To.position("to", -1)
	if err != nil {
		return err
	}
	if to.Kind < 0 {
		return wrong("to", "give one of its members")
	}
	s.mu.Lock()
	sub, err := s.named(op.Sub)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if sub.consumer != nil {
		return sub.seekMember(&op, to)
	}
	sub.reading.Lock()
	defer sub.reading.Unlock()
	for _, f := range sub.feeds {
		if f.topic.Name == *op.Topic {
			return sub.move(f, &op, to)
		}
	}
	return wrong("topic", "the subscription does not have it")
}

// move makes a follower that goes on elsewhere. It needs reading.
func (sub *subscription) move(f *feed, op *seekOp, to journal.Position) error {
	s := sub.socket
	s.mu.Lock()
	if sub.pump != nil {
		sub.leavePump()
		s.wakeLocked()
	}
	place := f.cursor
	s.mu.Unlock()
	if f.follower != nil {
		place = f.follower.Cursor()
	}
	cursor, err := journal.ParseCursor(place)
	if err != nil {
		return fmt.Errorf("move a subscription: %w", err)
	}
	found := false
	for i := range cursor.Next {
		next := &cursor.Next[i]
		if op.Queue != nil && *op.Queue != int64(next.Queue) {
			continue
		}
		found = true
		if next.Offset, err = sub.socket.resolve(f, next.Queue, to); err != nil {
			return err
		}
	}
	if !found {
		return wrong("queue", "the subscription does not have it")
	}
	follower, err := sub.follow(f, journal.Position{}, cursor.String())
	if err != nil {
		return err
	}
	s.mu.Lock()
	old := follower // of a subscription that has ended meanwhile
	if !sub.gone && !s.outbox.last {
		old, f.follower, f.cursor = f.follower, follower, follower.Cursor()
		sub.behind = true
		s.okLocked(op.ID)
		s.wakeLocked()
	}
	s.mu.Unlock()
	if old == nil {
		return nil
	}
	old.Close() // not with the socket locked: the journal may be notifying it
	return nil
}

// resolve says which offset a position is in a queue.
func (s *socket) resolve(f *feed, queue uint32, to journal.Position) (int64, error) {
	switch to.Kind {
	case journal.AtOffset:
		return to.Value, nil
	case journal.AtTime:
		return s.hub.server.journal.Find(s.ctx, f.topic, queue, to.Value)
	}
	_, states, err := s.bounds(f.topic, []uint32{queue})
	if err != nil {
		return 0, err
	}
	if to.Kind == journal.Earliest {
		return states[0].Min, nil
	}
	return states[0].Next, nil
}
