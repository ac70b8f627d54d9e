package group

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	// lateBy is how much longer than it may wait a receive takes at most.
	lateBy = 800 * time.Millisecond
	// scanAtLeast is how long a receive that does not wait goes on looking for
	// messages that pass its filter.
	scanAtLeast = 400 * time.Millisecond
	// retryAfter is how soon a waiting receive tries again after a fault.
	retryAfter = time.Second
	// patience is how much later still a receive may be after one that ran out of
	// time: a store that is slow, or has lost an object, must not keep a group from
	// ever going on.
	patience = 4 * time.Second
)

// ReceiveRequest asks for messages of a group that is consumed in shared mode.
type ReceiveRequest struct {
	Group string
	// Subscriptions are what the group consumes: all its members say the same.
	// Topic and Tags or SQL count.
	Subscriptions []meta.Subscription
	MaxMessages   int           // at most MaxReceive, which is also what 0 stands for
	MaxBytes      int64         // of the records; the first message always comes. 0 = journal.DefaultReadBytes
	Wait          time.Duration // for the first message, at most journal.MaxWait
	Invisible     time.Duration // MinInvisible to MaxInvisible; 0 = the group's
	// AttemptID names the attempt to receive, in an ordered group: whoever asks
	// again with the same one gets the same messages again while they are hidden,
	// and they do not count as delivered twice. It is for answers that were lost.
	AttemptID string
}

// ReceiveReply is what was received. Queues come one after the other, each in
// the order of its offsets.
type ReceiveReply struct {
	Messages []Received
	Gaps     []ReceiveGap // what was passed over because it is no longer there: loss is never silent
}

// Received is a message that is the receiver's until Deadline.
type Received struct {
	Topic string
	Queue uint32
	journal.Stored
	Receipt  string // for Ack, Nack and Extend
	Attempt  int64  // how often the message was given to a receiver, this time included
	Deadline int64  // Unix milliseconds by the clock of Redis
}

// ReceiveGap says that the messages of a queue from From up to To cannot be had.
type ReceiveGap struct {
	Topic    string
	Queue    uint32
	From, To int64
	Reason   string // one of journal's Gap constants
}

// Receive hides messages for the receiver and returns them: first those whose
// time is up, then new ones. It waits up to Wait for the first, and no longer
// than a second more; only after a receive that ran out of time, because the store
// is slow, the next one takes longer. An empty reply says that there was none.
//
// *journal.InvalidError; meta.ErrGroupNotFound; *meta.SubscriptionMismatchError
// and meta.ErrGroupQueued: others of the group consume something else, or in
// another way; ErrBroadcasting; journal.ErrTopicNotFound; journal.ErrUnavailable
// and ErrRecovering: ask again later.
func (e *sharedEngine) Receive(ctx context.Context, req ReceiveRequest) (*ReceiveReply, error) {
	started := time.Now()
	if err := req.check(); err != nil {
		return nil, err
	}
	late := lateBy
	if _, slow := e.slow.LoadAndDelete(req.Group); slow {
		late += patience
	}
	inner, cancel := context.WithDeadlineCause(ctx, started.Add(req.Wait+late), journal.ErrUnavailable)
	defer cancel()
	r, err := e.newReceiver(inner, req)
	if err != nil {
		return nil, err
	}
	reply, err := r.receive(inner, req, started)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		e.slow.Store(req.Group, nil)
	}
	if err != nil && ctx.Err() == nil && inner.Err() != nil && !passing(err) {
		err = fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
	}
	if err == nil && ctx.Err() != nil { // nobody is there to take it
		e.giveBack(r.group, reply)
		return nil, context.Cause(ctx)
	}
	return reply, err
}

func (r *receiver) receive(ctx context.Context, req ReceiveRequest, started time.Time) (*ReceiveReply, error) {
	if err := r.enter(ctx, req.Wait); err != nil {
		return nil, err
	}
	until := started.Add(max(req.Wait, scanAtLeast))
	l, err := r.look(ctx, until, req.MaxMessages, req.MaxBytes)
	if done, reply, err := l.verdict(err, req.Wait == 0); done {
		return reply, err
	}
	return r.wait(ctx, l, started.Add(req.Wait), req)
}

// wait takes a seat among those who wait for the group's messages, looks again,
// and only then waits, so that no message is missed in between.
func (r *receiver) wait(ctx context.Context, l *look, deadline time.Time, req ReceiveRequest) (*ReceiveReply, error) {
	r.e.metrics.waiting.Inc()
	defer r.e.metrics.waiting.Dec()
	var s *seat
	defer func() { s.leave() }()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		var err error
		if s, err = r.sit(ctx, s, l); err != nil && !passing(err) {
			return nil, err
		}
		l, err = r.look(ctx, deadline, req.MaxMessages, req.MaxBytes)
		if done, reply, err := l.verdict(err, !time.Now().Before(deadline)); done {
			return reply, err
		}
		select {
		case <-s.called():
		case <-s.again(l, err):
		case <-timer.C:
			return &ReceiveReply{}, nil
		case <-r.e.drained:
			return &ReceiveReply{}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// giveBack makes messages that were granted and never delivered visible again.
func (e *sharedEngine) giveBack(g meta.Group, reply *ReceiveReply) {
	if len(reply.Messages) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lateBy)
	defer cancel()
	receipts := make([]string, len(reply.Messages))
	for i := range reply.Messages {
		receipts[i] = reply.Messages[i].Receipt
	}
	if err := e.undo(ctx, g, receipts); err != nil {
		e.Log.Warn("messages that nobody took stay hidden until their deadline", "messages", len(receipts), "error", err)
	}
}

func (req *ReceiveRequest) check() error {
	if req.MaxMessages == 0 {
		req.MaxMessages = MaxReceive
	}
	if req.MaxBytes <= 0 {
		req.MaxBytes = journal.DefaultReadBytes
	}
	switch {
	case req.MaxMessages < 0 || req.MaxMessages > MaxReceive:
		return invalid("max_messages", journal.CodeOutOfRange, fmt.Sprintf("a receive returns 1 to %d messages", MaxReceive))
	case req.Wait < 0 || req.Wait > journal.MaxWait:
		return invalid("wait_ms", journal.CodeOutOfRange, fmt.Sprintf("a receive waits up to %d ms", journal.MaxWait.Milliseconds()))
	case len(req.AttemptID) > MaxAttemptID:
		return invalid("attempt_id", journal.CodeTooLong, fmt.Sprintf("an attempt id has at most %d bytes", MaxAttemptID))
	case req.Invisible != 0:
		return checkInvisible(-1, req.Invisible)
	}
	return nil
}

func checkInvisible(index int, d time.Duration) error {
	if d < MinInvisible || d > MaxInvisible {
		return &journal.InvalidError{Index: index, Field: "invisible_ms", Code: journal.CodeOutOfRange, Detail: fmt.Sprintf(
			"a message is hidden for %d to %d ms", MinInvisible.Milliseconds(), MaxInvisible.Milliseconds())}
	}
	return nil
}

func invalid(field, code, detail string) error {
	return &journal.InvalidError{Index: -1, Field: field, Code: code, Detail: detail}
}
