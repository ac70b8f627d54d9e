package journal

import (
	"errors"
	"fmt"

	"github.com/bucketmq/bucketmq/meta"
)

var (
	// ErrBufferFull says that this process holds as many unstored bytes as it
	// may. Nothing of the request is stored; send it again later.
	ErrBufferFull = errors.New("journal: buffer full")
	// ErrUnavailable says that nothing of the request is stored, for sure.
	ErrUnavailable = errors.New("journal: unavailable")
	// ErrOutcomeUnknown says that the request may be stored, now or later: send
	// it again only with the same identity.
	ErrOutcomeUnknown = errors.New("journal: outcome unknown")
	// ErrRecovering says that Redis lost data and is being rebuilt from the
	// bucket. Nothing of the request is stored.
	ErrRecovering = errors.New("journal: recovering")
	// ErrDraining says that this process is going away; another one will answer.
	ErrDraining = errors.New("journal: draining")
	// ErrKeyReused says that the idempotency key came before with another body.
	ErrKeyReused = errors.New("journal: idempotency key reused")
	// ErrKeyInFlight says that a request with this idempotency key is still
	// being stored by this process.
	ErrKeyInFlight = errors.New("journal: idempotency key in flight")
	// ErrTopicNotFound says that the topic does not exist (any more).
	ErrTopicNotFound = meta.ErrTopicNotFound
	// ErrWrongStore says that Redis belongs to another bucket.
	ErrWrongStore = errors.New("journal: redis and bucket do not belong together")
)

// GapError refuses a producer sequence that leaves some out.
type GapError struct {
	Expected int64 // the sequence that would be stored
}

func (e *GapError) Error() string {
	return fmt.Sprintf("journal: producer sequence gap, expected %d", e.Expected)
}

// FencedError refuses a producer epoch that a newer one has replaced.
type FencedError struct {
	Current int64 // the epoch that may produce
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("journal: producer fenced by epoch %d", e.Current)
}

// NextOffsetError refuses a request that was to begin at another offset than its
// queue's next one. Nothing of it is stored.
type NextOffsetError struct {
	Queue    uint32
	Expected int64 // what the request asked for
	Current  int64 // the queue's next offset when that was decided
}

func (e *NextOffsetError) Error() string {
	return fmt.Sprintf("journal: queue %d goes on at %d, not %d", e.Queue, e.Current, e.Expected)
}

// InvalidError refuses a message or topic that breaks a limit. Nothing is
// stored.
type InvalidError struct {
	Index  int    // which message of the request, from 0; -1 = the request itself
	Field  string // as the HTTP contract names it: "tag", "ordering_key", …
	Code   string // one of the Code constants
	Detail string // a sentence for people
}

// unavailable turns an error of Redis that is none of a caller's doing into one
// that a caller can act on. What the error was stays visible to errors.Is.
func unavailable(err error) error {
	var exists *meta.ExistsError
	var conflict *meta.ConflictError
	switch {
	case errors.Is(err, ErrTopicNotFound), errors.Is(err, meta.ErrQueueShrink), errors.As(err, &exists), errors.As(err, &conflict):
		return err
	case errors.Is(err, meta.ErrRecovering), errors.Is(err, meta.ErrNoState):
		return fmt.Errorf("%w: %w", ErrRecovering, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// What an InvalidError says is wrong with its field.
const (
	CodeRequired   = "required"      // missing
	CodeInvalid    = "invalid"       // not of the allowed form
	CodeReserved   = "reserved"      // a name that is ours alone
	CodeTooLong    = "too_long"      // above the limit for this field
	CodeTooLarge   = "too_large"     // a body or batch above its limit in bytes
	CodeTooMany    = "too_many"      // above the limit in number
	CodeOutOfRange = "out_of_range"  // no such queue
	CodeConflict   = "type_conflict" // not allowed by the topic's type
	CodeMalformed  = "malformed"     // bytes that are not records
)

func (e *InvalidError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("journal: %s: %s", e.Field, e.Detail)
	}
	return fmt.Sprintf("journal: message %d: %s: %s", e.Index, e.Field, e.Detail)
}
