package meta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

const (
	// MaxInFlight is how many messages of one queue a group may have in flight in
	// shared consumption; then the queue gives no new ones.
	MaxInFlight = 1000
	// sharedIdle is how long after the last call of its shared consumers members
	// that own queues may join a group.
	sharedIdle = 30 * time.Second
	// sharedBy is who moved a group's progress, in its offset record.
	sharedBy = "shared"
)

var (
	// ErrSharedMoved says that a queue is not as it was peeked at any more: peek again.
	ErrSharedMoved = errors.New("meta: others have received from the queue")
	// ErrNoOffset says that the group has no offset in the queue yet.
	ErrNoOffset = errors.New("meta: group has no offset in the queue")
)

// SharedQueue names one queue of a group in shared consumption.
type SharedQueue struct {
	Group, Topic uuid.UUID
	Queue        uint32
	Ordered      bool // a message is given only when none before it is hidden
}

// What a SharedView says of its queue.
const (
	SharedFree    = "free"    // messages can be granted
	SharedBlocked = "blocked" // an ordered queue in which a message is hidden
	SharedAgain   = "again"   // Due was granted to this attempt id before and is hidden still
	SharedStopped = "stopped" // the group's consumption of the queue is stopped
)

// SharedMessage is a message in flight and how often it was granted.
type SharedMessage struct {
	Offset, Attempts int64
	NackedFor        int64 // NackedHere, or when it is to come again elsewhere, Unix ms; 0: it was not given back
}

// NackedHere is SharedMessage.NackedFor of a message that was given back, or never
// delivered, and comes again in its place.
const NackedHere = 1

// SharedView is what a receive may have of one queue.
type SharedView struct {
	State    string
	Version  int64 // of the group's offset
	Era      int64 // changes whenever what is in flight is dropped
	Position int64 // from where new messages are read
	Epoch    int64 // topic epoch of Position; 0: not known
	InFlight int64
	DueIn    time.Duration // until the next hidden message is due; 0: none is hidden
	Due      []SharedMessage
}

// SharedPeek tells what may be received of each queue, up to most due messages.
// It grants nothing. Errors are per queue: ErrNoOffset says that the group has
// no offset in the queue yet; ErrGroupNotFound, ErrRecovering.
func (db *DB) SharedPeek(ctx context.Context, queues []SharedQueue, most int, attemptID string) ([]SharedView, []error) {
	calls := make([]sharedCall, len(queues))
	for i, q := range queues {
		calls[i] = sharedCall{queue: q, args: []any{most, flag(q.Ordered), attemptID}}
	}
	views, errs := make([]SharedView, len(queues)), make([]error, len(queues))
	for i, a := range db.runShared(ctx, scriptSharedPeek, calls) {
		if errs[i] = a.err; a.err == nil {
			views[i], errs[i] = parseSharedView(a.reply)
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("peek at %s: %w", queues[i], errs[i])
		}
	}
	return views, errs
}

func parseSharedView(r reply) (SharedView, error) {
	v := SharedView{
		State: r.text(1), Version: r.number(2), Era: r.number(3), Position: r.number(4), Epoch: r.number(5),
		InFlight: r.number(6), DueIn: time.Duration(r.number(7)) * time.Millisecond,
	}
	due := reply(r.list(8))
	for i := 0; i+2 < len(due); i += 3 {
		v.Due = append(v.Due, SharedMessage{Offset: due.number(i), Attempts: due.number(i + 1), NackedFor: due.number(i + 2)})
	}
	if v.Position < 0 {
		return SharedView{}, ErrCorrupt
	}
	return v, nil
}

// SharedGrant hides messages for a receiver: what a view showed, and what was
// read behind its position.
type SharedGrant struct {
	Queue     SharedQueue
	View      SharedView
	Epoch     int64 // that the messages were read in
	Next      int64 // the position behind everything that was read; View.Position when nothing was
	Hide      time.Duration
	AttemptID string
	Due       []SharedMessage // of View.Due: to be granted again
	Gone      []SharedMessage // of View.Due: cannot be read any more and count as finished
	New       []int64         // offsets from View.Position up to Next, ascending
}

// SharedGranted is what a grant came to.
type SharedGranted struct {
	Deadline int64  // until when the messages are hidden, Unix ms
	Progress int64  // the group's offset in the queue
	Due      []bool // per message of Due: whether it was granted
}

// SharedGrant grants new messages, all or none, and each due one if nobody else
// got it. ErrSharedMoved: the queue is not as View shows it any more, nothing was
// granted. ErrGroupQueued: members that own queues have joined.
func (db *DB) SharedGrant(ctx context.Context, g SharedGrant) (SharedGranted, error) {
	args := []any{
		sharedIdle.Milliseconds(), g.View.Version, g.View.Era, g.Epoch, g.View.Position, g.Next,
		g.Hide.Milliseconds(), MaxInFlight, flag(g.Queue.Ordered), g.AttemptID,
	}
	for _, list := range [][]SharedMessage{g.Due, g.Gone} {
		args = append(args, len(list))
		for _, m := range list {
			args = append(args, m.Offset, m.Attempts)
		}
	}
	args = append(args, len(g.New))
	for _, offset := range g.New {
		args = append(args, offset)
	}
	a := db.runShared(ctx, scriptSharedGrant, []sharedCall{{queue: g.Queue, args: args}})[0]
	if a.err != nil {
		return SharedGranted{}, fmt.Errorf("grant %s: %w", g.Queue, a.err)
	}
	granted := SharedGranted{Deadline: a.reply.number(1), Progress: a.reply.number(2), Due: make([]bool, len(g.Due))}
	for i, n := range a.reply.list(3) {
		granted.Due[i] = n == int64(1)
	}
	return granted, nil
}
