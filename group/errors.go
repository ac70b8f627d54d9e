package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// QueueError says that a topic does not have a queue.
type QueueError struct {
	Topic         string
	Queue, Queues uint32 // the one asked for; how many there are
}

func (e *QueueError) Error() string {
	return fmt.Sprintf("group: topic %s has queues 0 to %d", e.Topic, e.Queues-1)
}

// unavailable gives an error of Redis the meaning it has for a caller: what the
// contract names stays, recovery is journal.ErrRecovering, anything else
// journal.ErrUnavailable.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{
		meta.ErrMemberUnknown, meta.ErrFencedMember, meta.ErrGroupNotFound, meta.ErrGroupActive, meta.ErrGroupQueued, meta.ErrNoOffset, meta.ErrTopicNotFound,
		journal.ErrUnavailable, journal.ErrRecovering, journal.ErrOutcomeUnknown, journal.ErrDraining, context.Canceled,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	for _, is := range []func(error) bool{
		is[*meta.GroupExistsError], is[*meta.GroupConflictError], is[*meta.SubscriptionMismatchError], is[*journal.InvalidError],
		is[*meta.GroupSharedError], is[*meta.SettingsConflictError],
	} {
		if is(err) {
			return err
		}
	}
	if errors.Is(err, meta.ErrRecovering) || errors.Is(err, meta.ErrNoState) {
		return fmt.Errorf("%w: %w", journal.ErrRecovering, err)
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
