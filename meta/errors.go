package meta

import (
	"errors"
	"fmt"
)

var (
	// ErrTopicNotFound says that no live topic has this name or id. While Redis
	// is being recovered a look-up by name answers ErrRecovering instead.
	ErrTopicNotFound = errors.New("meta: topic not found")
	// ErrTopicAbsent is an ErrTopicNotFound without a tombstone: the topic never
	// was, or Redis lost it.
	ErrTopicAbsent = fmt.Errorf("%w: no trace of it", ErrTopicNotFound)
	// ErrRecovering says that the state in Redis is missing or being rebuilt:
	// nothing was changed, ask again later.
	ErrRecovering = errors.New("meta: recovering")
	// ErrNoState says that Redis holds no state of a store: it is new, or lost everything.
	ErrNoState = errors.New("meta: no state")
	// ErrStoreMismatch says that this Redis belongs to another object store.
	ErrStoreMismatch = errors.New("meta: redis belongs to another store")
	// ErrRolledBack says that Redis knows less than it did before: it lost
	// acknowledged writes and the topics concerned must be recovered.
	ErrRolledBack = errors.New("meta: redis rolled back")
	// ErrApplied says that a commit was applied earlier but its receipt is no
	// longer known: its messages are stored, their offsets must be looked up.
	ErrApplied = errors.New("meta: commit applied earlier, receipt unknown")
	// ErrFenced says that a newer holder of the lease has taken over: the caller must stop.
	ErrFenced = errors.New("meta: fenced by a newer term")
	// ErrCorrupt says that a value in Redis has not the shape this version writes.
	ErrCorrupt = errors.New("meta: malformed value in redis")
	// ErrQueueFull says that a queue has no offsets left below 2^53.
	ErrQueueFull = errors.New("meta: offsets of the queue are exhausted")
	// ErrQueueShrink says that an update would take queues away from a topic.
	ErrQueueShrink = errors.New("meta: queues of a topic never shrink")
	// ErrEviction says that Redis may evict keys: its maxmemory-policy is not noeviction.
	ErrEviction = errors.New("meta: redis maxmemory-policy must be noeviction")
	// ErrTicketNotFound says that a ticket is unknown, expired or already taken.
	ErrTicketNotFound = errors.New("meta: ticket not found")
	// ErrAnswerPending says that the first request with this key is still being answered.
	ErrAnswerPending = errors.New("meta: first request with this key is in flight")
	// ErrKeyReused says that the key was used before with another request body.
	ErrKeyReused = errors.New("meta: key reused with another body")
	// ErrDelivered says that a delayed message has become readable already.
	ErrDelivered = errors.New("meta: delayed message was delivered already")
	// ErrTimerUnknown says that no delayed message is put down under this id.
	ErrTimerUnknown = errors.New("meta: no such delayed message")
	// ErrNotSent says that a commit was held back because an earlier commit of
	// the same topic in the same call has no certain outcome. Nothing was changed by it.
	ErrNotSent = errors.New("meta: commit not sent, an earlier one is unsettled")
)

// ExistsError says that a topic of this name exists already.
type ExistsError struct{ Current Topic }

func (e *ExistsError) Error() string { return fmt.Sprintf("meta: topic %s exists", e.Current.Name) }

// ConflictError says that a topic has another version than the one asked for.
type ConflictError struct{ Current Topic }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("meta: topic %s is at version %d", e.Current.Name, e.Current.Version)
}

// EpochError says that the topic is in another epoch than the caller's.
type EpochError struct{ Current int64 }

func (e *EpochError) Error() string { return fmt.Sprintf("meta: topic is in epoch %d", e.Current) }
