package meta

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Phases of the state in Redis.
const (
	PhaseReady      = "ready"
	PhaseRecovering = "recovering"
)

// State binds Redis to an object store and says whether its content may be used.
type State struct {
	StoreID    uuid.UUID
	Generation uuid.UUID
	Phase      string
}

// State returns the state; ErrNoState when Redis holds none.
func (db *DB) State(ctx context.Context) (State, error) { panic("unwritten") }

// BeginRecovery takes the recovery lease and opens a new generation. seen is
// the generation the caller found wanting (zero: no state): ok is false when
// another process holds the lease or has already finished a newer generation.
func (db *DB) BeginRecovery(ctx context.Context, storeID, holder, seen uuid.UUID, ttl time.Duration) (generation uuid.UUID, term int64, ok bool, err error) {
	panic("unwritten")
}

// FinishRecovery declares the generation ready. ErrFenced: another recovery took over.
func (db *DB) FinishRecovery(ctx context.Context, generation uuid.UUID) error { panic("unwritten") }

// Now returns the time of Redis.
func (db *DB) Now(ctx context.Context) (int64, error) { panic("unwritten") }
