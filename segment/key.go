package segment

import (
	"fmt"
	"strconv"

	"github.com/google/uuid"
)

// KeyPrefix starts the key of every segment that a writer makes.
const KeyPrefix = "log/"

const keySize = len(KeyPrefix) + 36 + 1 + 20

// ObjectKey returns the key of a writer's segment: keys of one writer sort by
// seq.
func ObjectKey(writer uuid.UUID, seq uint64) string {
	return fmt.Sprintf("%s%s/%020d", KeyPrefix, writer, seq)
}

// ParseObjectKey is the reverse of ObjectKey. It refuses every key that
// ObjectKey would not make, and seq 0, which no writer uses.
func ParseObjectKey(key string) (writer uuid.UUID, seq uint64, err error) {
	if len(key) != keySize {
		return uuid.UUID{}, 0, fmt.Errorf("segment: %q is not a segment's key", key)
	}
	writer, err = uuid.Parse(key[len(KeyPrefix) : len(KeyPrefix)+36])
	if err != nil {
		return uuid.UUID{}, 0, fmt.Errorf("segment: writer in key %q: %w", key, err)
	}
	seq, err = strconv.ParseUint(key[keySize-20:], 10, 64)
	if err != nil {
		return uuid.UUID{}, 0, fmt.Errorf("segment: seq in key %q: %w", key, err)
	}
	if seq == 0 || ObjectKey(writer, seq) != key {
		return uuid.UUID{}, 0, fmt.Errorf("segment: %q is not a segment's key", key)
	}
	return writer, seq, nil
}
