package meta

import (
	"context"

	"github.com/google/uuid"
)

// QueueState is where a queue starts and ends.
type QueueState struct {
	Queue        uint32
	Min, Next    int64
	Bytes        int64
	LastStoredAt int64
}

// Window is a stretch of a queue's index together with the queue's bounds.
type Window struct {
	Epoch, Min, Next int64
	Entries          []Entry
}

// Lookup returns up to max entries from the one that holds offset on; none
// when offset is outside [Min, Next).
func (db *DB) Lookup(ctx context.Context, topic uuid.UUID, queue uint32, offset int64, max int) (Window, error) {
	panic("unwritten")
}

// LookupTime returns the first offset stored at or after `at` (Next when there
// is none) and up to max entries from there.
func (db *DB) LookupTime(ctx context.Context, topic uuid.UUID, queue uint32, at int64, max int) (int64, Window, error) {
	panic("unwritten")
}

// Bounds returns the epoch of a topic and the state of the named queues.
func (db *DB) Bounds(ctx context.Context, topic uuid.UUID, queues []uint32) (int64, []QueueState, error) {
	panic("unwritten")
}

// Queues returns the state of every queue of t.
func (db *DB) Queues(ctx context.Context, t Topic) ([]QueueState, error) { panic("unwritten") }
