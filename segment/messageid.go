package segment

import (
	"fmt"

	"github.com/google/uuid"
)

// NewMessageIDBase returns a new UUIDv7 whose low ten bits are zero: the base of
// the ids of one request's messages.
func NewMessageIDBase() (uuid.UUID, error) {
	base, err := uuid.NewV7()
	if err != nil {
		return uuid.UUID{}, fmt.Errorf("new message id: %w", err)
	}
	base[14] &^= 0x03
	base[15] = 0
	return base, nil
}

// MessageID returns the id of message i of the request with that base; i is less
// than 1,024.
func MessageID(base uuid.UUID, i int) uuid.UUID {
	base[14] |= byte(i>>8) & 0x03
	base[15] = byte(i)
	return base
}

// MessageTime returns the Unix milliseconds inside a UUIDv7.
func MessageTime(id uuid.UUID) int64 {
	return int64(order.Uint64(id[:8]) >> 16)
}
