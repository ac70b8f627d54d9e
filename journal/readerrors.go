package journal

import (
	"errors"
	"fmt"

	"github.com/bucketmq/bucketmq/meta"
)

// ErrCursor says that a cursor or continuation token is malformed, damaged, or
// of another topic.
var ErrCursor = errors.New("journal: invalid cursor")

// EpochError says that the topic is in another epoch than the reader's: offsets
// of the old one may name other messages now.
type EpochError = meta.EpochError

// BoundsError says that an offset is outside of what the queue holds.
type BoundsError struct {
	Trimmed   bool // below Min; else beyond Next
	Min, Next int64
}

func (e *BoundsError) Error() string {
	if e.Trimmed {
		return fmt.Sprintf("journal: offset trimmed, the queue starts at %d", e.Min)
	}
	return fmt.Sprintf("journal: offset beyond the end %d", e.Next)
}

// CorruptError says that the stored bytes of the messages from First up to Next
// are damaged or gone. The messages before and after are not affected.
type CorruptError struct {
	First, Next int64
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal: messages from %d up to %d are damaged", e.First, e.Next)
}
