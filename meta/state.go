package meta

import (
	"context"
	"fmt"
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
	Generation uuid.UUID // changes with every recovery
	// Phase is PhaseRecovering also when Redis is another process than the one that
	// the generation was made in: what restarted or took over from a replica may
	// have lost acknowledged writes, and nothing in it tells which.
	Phase string
}

// State returns the state; ErrNoState when Redis holds none.
func (db *DB) State(ctx context.Context) (State, error) {
	values, err := db.reads.HMGet(ctx, keyState, "store", "generation", "phase", "server").Result()
	if err != nil {
		return State{}, fmt.Errorf("state: %w", err)
	}
	r := reply(values)
	if r.text(0) == "" {
		return State{}, ErrNoState
	}
	s := State{Phase: r.text(2)}
	if s.StoreID, err = uuid.Parse(r.text(0)); err == nil {
		s.Generation, err = uuid.Parse(r.text(1))
	}
	if err != nil {
		return State{}, fmt.Errorf("state: %w: %w", ErrCorrupt, err)
	}
	server, err := db.incarnation(ctx)
	if err != nil {
		return State{}, fmt.Errorf("state: %w", err)
	}
	if server != r.text(3) {
		s.Phase = PhaseRecovering
	}
	return s, nil
}

// BeginRecovery takes the recovery lease and opens a new generation. seen is
// the generation the caller found wanting (zero: no state): ok is false when
// another process holds the lease or has already finished a newer generation.
// ErrStoreMismatch.
func (db *DB) BeginRecovery(ctx context.Context, storeID, holder, seen uuid.UUID, ttl time.Duration) (generation uuid.UUID, term int64, ok bool, err error) {
	generation, err = uuid.NewV7()
	if err != nil {
		return uuid.Nil, 0, false, err
	}
	server, err := db.incarnation(ctx)
	if err != nil {
		return uuid.Nil, 0, false, fmt.Errorf("begin recovery: %w", err)
	}
	r, err := db.change(ctx, scriptBeginRecovery, []string{keyState, keyLease(LeaseRecovery)},
		storeID.String(), holder.String(), seen.String(), generation.String(), ttl.Milliseconds(), server)
	if err != nil {
		return uuid.Nil, 0, false, fmt.Errorf("begin recovery: %w", err)
	}
	if r.status() != "OK" {
		return uuid.Nil, 0, false, nil
	}
	return generation, r.number(1), true, nil
}

// FinishRecovery declares the generation ready. ErrFenced: another recovery
// took over. The lease stays with its holder until it is released.
func (db *DB) FinishRecovery(ctx context.Context, generation uuid.UUID) error {
	if _, err := db.change(ctx, scriptFinishRecovery, []string{keyState}, generation.String()); err != nil {
		return fmt.Errorf("finish recovery: %w", err)
	}
	return nil
}

// Now returns the time of the Redis that holds the shared state, in Unix milliseconds.
func (db *DB) Now(ctx context.Context) (int64, error) {
	r, err := db.read(ctx, scriptTime, []string{keyState})
	if err != nil {
		return 0, fmt.Errorf("redis time: %w", err)
	}
	return r.number(1), nil
}
