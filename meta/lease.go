package meta

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// LeaseRecovery is the name of the lease BeginRecovery takes; Acquire renews it.
const LeaseRecovery = "recovery"

// Acquire takes or renews the lease for ttl by Redis' clock; ok is false while
// another holder has it. The term is the fencing number: it grows with every
// change of holder, also across a loss of Redis.
func (db *DB) Acquire(ctx context.Context, name string, holder uuid.UUID, ttl time.Duration) (term int64, ok bool, err error) {
	r, err := db.change(ctx, scriptAcquire, []string{keyLease(name)}, holder.String(), ttl.Milliseconds())
	if err != nil {
		return 0, false, fmt.Errorf("acquire %s: %w", name, err)
	}
	if r.status() != "OK" {
		return 0, false, nil
	}
	return r.number(1), true, nil
}

// Release gives the lease back if holder has it.
func (db *DB) Release(ctx context.Context, name string, holder uuid.UUID) error {
	if _, err := db.change(ctx, scriptRelease, []string{keyLease(name)}, holder.String()); err != nil {
		return fmt.Errorf("release %s: %w", name, err)
	}
	return nil
}
