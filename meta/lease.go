package meta

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// LeaseRecovery is the name of the lease BeginRecovery takes; Acquire renews it.
const LeaseRecovery = "recovery"

// Acquire takes or renews the lease. The term is the fencing number: it grows
// with every change of holder, also across a loss of Redis.
func (db *DB) Acquire(ctx context.Context, name string, holder uuid.UUID, ttl time.Duration) (term int64, ok bool, err error) {
	panic("unwritten")
}

// Release gives the lease back if holder has it.
func (db *DB) Release(ctx context.Context, name string, holder uuid.UUID) error { panic("unwritten") }
