package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// beatEvery is how often a writer tells that it lives and looks whether
	// Redis is still the one it knows. The dead are adopted after six beats.
	beatEvery = 5 * time.Second
	// healRetry is the pause after a recovery that failed.
	healRetry = time.Second
)

// guard watches over Redis' memory: it notices that Redis lost data, stops the
// writer, has the store recovered, and lets the writer go on.
type guard struct {
	journal *Journal
	poked   chan struct{}

	mu         sync.Mutex
	generation uuid.UUID // guarded by mu; the recovery that this process has seen
	distrusted bool      // guarded by mu; the generation is found wanting
}

func newGuard(j *Journal) *guard {
	return &guard{journal: j, poked: make(chan struct{}, 1)}
}

// suspect says that Redis knows less than this process does. Appends are
// refused from now on until Redis is recovered.
func (g *guard) suspect(reason string) {
	g.mu.Lock()
	if !g.distrusted {
		g.distrusted = true
		g.journal.writer.pause()
		g.journal.metrics.recovering.Set(1)
		g.journal.log.Error("redis has lost data: recovering it from the bucket", "found_by", reason)
	}
	g.mu.Unlock()
	select {
	case g.poked <- struct{}{}:
	default:
	}
}

// lost says whether Redis is another one than this process knows, in which what
// is missing may be lost and not deleted.
func (g *guard) lost(ctx context.Context) (bool, error) {
	state, err := g.journal.meta.State(ctx)
	if err != nil && !errors.Is(err, meta.ErrNoState) {
		return false, fmt.Errorf("read the state of redis: %w", err)
	}
	g.mu.Lock()
	same := err == nil && state.Phase == meta.PhaseReady && state.Generation == g.generation && !g.distrusted
	g.mu.Unlock()
	if same {
		return false, nil
	}
	g.suspect("a missing topic")
	return true, nil
}

// run beats, and heals when it is poked or a beat finds Redis changed.
func (g *guard) run(ctx context.Context) error {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		g.beat(ctx)
		if err := g.healed(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-beat.C:
		case <-g.poked:
		}
	}
}

// beat renews the writer's heartbeat. Redis being away is no news of a loss.
func (g *guard) beat(ctx context.Context) {
	j := g.journal
	err := j.meta.Beat(ctx, j.writer.id)
	switch {
	case errors.Is(err, meta.ErrRolledBack), errors.Is(err, meta.ErrNoState), errors.Is(err, meta.ErrRecovering):
		g.suspect("the heartbeat")
		return
	case err != nil && ctx.Err() == nil:
		j.log.Warn("heartbeat not delivered", "error", err)
		return
	}
	j.metrics.heartbeatAt.SetToCurrentTime()
	if _, err := g.lost(ctx); err != nil && ctx.Err() == nil {
		j.log.Warn("state of redis not read", "error", err)
	}
}

// healed returns once Redis is trusted, or with the error of an ended ctx or of
// a Redis that belongs to another store.
func (g *guard) healed(ctx context.Context) error {
	for {
		g.mu.Lock()
		distrusted, seen := g.distrusted, g.generation
		g.mu.Unlock()
		if !distrusted {
			return nil
		}
		err := g.heal(ctx, seen)
		switch {
		case err == nil, errors.Is(err, ErrWrongStore):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		g.journal.log.Error("recovery not done, trying again", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(healRetry):
		}
	}
}

// heal has Redis recovered unless that has happened already, and then forgets
// what was known of the old one.
func (g *guard) heal(ctx context.Context, seen uuid.UUID) error {
	j := g.journal
	if err := j.recover(ctx, seen); err != nil {
		return err
	}
	j.metrics.recoveries.Inc()
	j.topics.clear()
	j.reader.tails.void()
	return g.trust(ctx)
}

// trust takes the present generation for the true one and lets the writer go
// on.
func (g *guard) trust(ctx context.Context) error {
	state, err := g.journal.meta.State(ctx)
	if err != nil {
		return fmt.Errorf("read the state of redis: %w", err)
	}
	if state.Phase != meta.PhaseReady {
		return fmt.Errorf("%w: redis is being recovered once more", ErrRecovering)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.generation, g.distrusted = state.Generation, false
	g.journal.metrics.recovering.Set(0)
	g.journal.writer.resume()
	return nil
}
