package meta

import (
	"context"
	"fmt"
)

// SharedVerb is what a receiver does with messages that it was granted.
type SharedVerb string

// The verbs.
const (
	SharedAck    SharedVerb = "ack"    // finished
	SharedNack   SharedVerb = "nack"   // given back: due after HideMS, or to come again elsewhere after AgainMS
	SharedExtend SharedVerb = "extend" // hidden for HideMS from now
	SharedUndo   SharedVerb = "undo"   // never delivered: due at once, and the grant does not count
	SharedMove   SharedVerb = "move"   // finished, as it is stored elsewhere: of what was given back, or is due
)

// SharedItem names one grant.
type SharedItem struct {
	Offset, Version, Era, Attempt int64
	HideMS                        int64 // nack and extend: until it is due in place
	AgainMS                       int64 // nack: until it is to come again elsewhere; 0: it comes again here
}

// SharedSettle is what to do in one queue.
type SharedSettle struct {
	Queue SharedQueue
	Verb  SharedVerb
	Items []SharedItem
}

// What became of a SharedItem.
const (
	SharedOK         = "OK"         // done, or an ack of what was finished before
	SharedExpired    = "EXPIRED"    // its deadline has passed: it will be granted again
	SharedSuperseded = "SUPERSEDED" // it was granted again, given back, or what was in flight is dropped
)

// SharedResult is what became of one item.
type SharedResult struct {
	Status   string
	Attempts int64 // that the message has had; 0: it is not in flight
	Deadline int64 // of the message, Unix ms: until when it is hidden, of nack when it comes again; 0: it is not in flight
}

// SharedSettled is what became of a SharedSettle.
type SharedSettled struct {
	Now      int64 // when it was judged, Unix ms by the clock of Redis
	Progress int64 // the group's offset in the queue
	Results  []SharedResult
	Err      error // nothing was changed, or it is not known whether it was
}

// SharedSettle runs one script per queue in one pipeline; results are in the
// same order. Every call may be repeated: an ack stays an ack, and a nack keeps
// the delay of the first.
func (db *DB) SharedSettle(ctx context.Context, settles []SharedSettle) []SharedSettled {
	calls := make([]sharedCall, len(settles))
	for i, s := range settles {
		args := make([]any, 0, 6+6*len(s.Items))
		args = append(args, sharedIdle.Milliseconds(), string(s.Verb), channelGroups, s.Queue.Group.String()+" "+sharedBy,
			flag(s.Queue.Ordered), MaxInFlight)
		for _, item := range s.Items {
			args = append(args, item.Offset, item.Version, item.Era, item.Attempt, item.HideMS, item.AgainMS)
		}
		calls[i] = sharedCall{queue: s.Queue, args: args}
	}
	settled := make([]SharedSettled, len(settles))
	for i, a := range db.runShared(ctx, scriptSharedSettle, calls) {
		if a.err == nil {
			settled[i] = parseSettled(a.reply, len(settles[i].Items))
		} else {
			settled[i].Err = a.err
		}
		if settled[i].Err != nil {
			settled[i].Err = fmt.Errorf("%s in %s: %w", settles[i].Verb, settles[i].Queue, settled[i].Err)
		}
	}
	return settled
}

func parseSettled(r reply, items int) SharedSettled {
	s := SharedSettled{Now: r.number(1), Progress: r.number(2), Results: make([]SharedResult, items)}
	list := reply(r.list(3))
	if len(list) != 3*items {
		return SharedSettled{Err: ErrCorrupt}
	}
	for i := range s.Results {
		s.Results[i] = SharedResult{Status: list.text(3 * i), Attempts: list.number(3*i + 1), Deadline: list.number(3*i + 2)}
	}
	return s
}
