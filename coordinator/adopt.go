package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// adopter adopts the segments of dead writers for as long as this process leads.
type adopter struct {
	*coordinator
	undead map[uuid.UUID]time.Time // dead writer → when all of it was adopted first; owned by run
}

func newAdopter(c *coordinator) *adopter {
	return &adopter{coordinator: c, undead: map[uuid.UUID]time.Time{}}
}

func (a *adopter) run(ctx context.Context) {
	tick := time.NewTicker(a.Interval)
	defer tick.Stop()
	for {
		if err := a.adoptDead(ctx); err != nil {
			a.failed(ctx, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// adoptDead adopts the segments of writers that are silent for DeadAfter. The
// store is asked only when there is such a writer, so an idle system costs no
// request. A dead writer is looked at once more after Forget, since an upload of
// it may arrive late, and then forgotten; one that ended in order left nothing.
func (a *adopter) adoptDead(ctx context.Context) error {
	writers, now, err := a.Meta.Writers(ctx)
	if err != nil {
		return fmt.Errorf("list the writers: %w", err)
	}
	var errs []error
	for _, w := range writers {
		switch dead := now-w.BeatAt > a.DeadAfter.Milliseconds(); {
		case w.Retired:
			err = a.forget(ctx, w)
		case dead:
			err = a.adopt(ctx, w)
		default:
			delete(a.undead, w.Writer) // it was only paused
			err = nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("writer %s: %w", w.Writer, err))
		}
	}
	return errors.Join(errs...)
}

func (a *adopter) adopt(ctx context.Context, w meta.WriterState) error {
	first, seen := a.undead[w.Writer]
	if seen && time.Since(first) < a.Forget {
		return nil
	}
	done, err := a.Journal.Adopt(ctx, w.Writer)
	a.metrics.commits.Add(float64(done.Commits))
	a.metrics.messages.Add(float64(done.Messages))
	if err != nil {
		return err
	}
	a.Log.Info("adopted the segments of a dead writer", "writer", w.Writer, "last_look", seen,
		"segments", done.Segments, "commits", done.Commits, "messages", done.Messages, "timers", done.Timers)
	if !seen {
		a.undead[w.Writer] = time.Now()
		return nil
	}
	return a.forget(ctx, w)
}

func (a *adopter) forget(ctx context.Context, w meta.WriterState) error {
	delete(a.undead, w.Writer)
	return a.Meta.ForgetWriter(ctx, w.Writer)
}
