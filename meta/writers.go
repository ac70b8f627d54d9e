package meta

import (
	"context"

	"github.com/google/uuid"
)

// WriterState is what the registry knows of one writer.
type WriterState struct {
	Writer  uuid.UUID
	BeatAt  int64 // Redis time of the last heartbeat
	Retired bool  // ended in order: nothing of it is in flight
}

// Beat renews a writer's heartbeat. ErrRolledBack: Redis forgot earlier beats
// of this writer (the beat itself was made).
func (db *DB) Beat(ctx context.Context, writer uuid.UUID) error { panic("unwritten") }

// Writers returns every registered writer and the Redis time to compare BeatAt with.
func (db *DB) Writers(ctx context.Context) ([]WriterState, int64, error) { panic("unwritten") }

// RetireWriter marks a writer as ended: it will not append again.
func (db *DB) RetireWriter(ctx context.Context, writer uuid.UUID) error { panic("unwritten") }

// ForgetWriter removes a writer from the registry.
func (db *DB) ForgetWriter(ctx context.Context, writer uuid.UUID) error { panic("unwritten") }

// LastSeqs returns the last committed seq of every writer of a topic.
func (db *DB) LastSeqs(ctx context.Context, topic uuid.UUID) (map[uuid.UUID]uint64, error) {
	panic("unwritten")
}
