package meta

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Names of leases.
const (
	LeaseRecovery    = "recovery"    // taken by BeginRecovery; Acquire renews it
	LeaseCoordinator = "coordinator" // of the coordinator that leads
)

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

// LeaseHolder returns who has the lease by Redis' clock, and under which term;
// ok is false when nobody has it.
func (db *DB) LeaseHolder(ctx context.Context, name string) (holder uuid.UUID, term int64, ok bool, err error) {
	now, err := db.Now(ctx)
	if err != nil {
		return uuid.Nil, 0, false, fmt.Errorf("holder of %s: %w", name, err)
	}
	values, err := db.reads.HMGet(ctx, keyLease(name), "holder", "term", "until").Result()
	if err != nil {
		return uuid.Nil, 0, false, fmt.Errorf("holder of %s: %w", name, err)
	}
	r := reply(values)
	if r.text(0) == "" || r.number(2) <= now {
		return uuid.Nil, 0, false, nil
	}
	if holder, err = uuid.Parse(r.text(0)); err != nil {
		return uuid.Nil, 0, false, fmt.Errorf("holder of %s: %w: %w", name, ErrCorrupt, err)
	}
	return holder, r.number(1), true, nil
}

// Release gives the lease back if holder has it.
func (db *DB) Release(ctx context.Context, name string, holder uuid.UUID) error {
	if _, err := db.change(ctx, scriptRelease, []string{keyLease(name)}, holder.String()); err != nil {
		return fmt.Errorf("release %s: %w", name, err)
	}
	return nil
}
