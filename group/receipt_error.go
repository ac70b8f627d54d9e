package group

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrReceiptInvalid says that a receipt was not made by this installation for
	// this group.
	ErrReceiptInvalid = errors.New("group: receipt invalid")
	// ErrReceiptExpired says that the time of the delivery is over: the message is
	// delivered again, or will be. A *ReceiptError has the details.
	ErrReceiptExpired = errors.New("group: receipt expired")
	// ErrReceiptSuperseded says that the delivery does not count any more: the
	// message was given to a later attempt, was given back, or the group's
	// position was reset. A *ReceiptError has the details.
	ErrReceiptSuperseded = errors.New("group: receipt superseded")
)

// ReceiptError says why a receipt, which is one of ours, cannot be used.
type ReceiptError struct {
	Reason   error // ErrReceiptExpired or ErrReceiptSuperseded
	Attempt  int64 // of the receipt
	Current  int64 // attempts that the message has had; 0: it is not in flight
	Deadline int64 // of the current attempt, Unix ms; 0: it is not in flight
	Now      int64 // when the receipt was judged, Unix ms by the clock that set the deadline
}

func (e *ReceiptError) Error() string {
	if e.Deadline == 0 {
		return fmt.Sprintf("%v: attempt %d of a message that is not in flight", e.Reason, e.Attempt)
	}
	const layout = "2006-01-02T15:04:05.000Z"
	deadline, now := time.UnixMilli(e.Deadline).UTC(), time.UnixMilli(e.Now).UTC()
	return fmt.Sprintf("%v: attempt %d of now %d, deadline %s, now %s",
		e.Reason, e.Attempt, e.Current, deadline.Format(layout), now.Format(layout))
}

func (e *ReceiptError) Unwrap() error { return e.Reason }
