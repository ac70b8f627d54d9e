package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// adoptDead adopts the segments of writers that are silent for DeadAfter. The
// store is asked only when there is such a writer, so an idle system costs no
// request. A dead writer is looked at once more after Forget, since an upload of
// it may arrive late, and then forgotten; one that ended in order left nothing.
func (c *coordinator) adoptDead(ctx context.Context) error {
	writers, now, err := c.Meta.Writers(ctx)
	if err != nil {
		return fmt.Errorf("list the writers: %w", err)
	}
	var errs []error
	for _, w := range writers {
		switch dead := now-w.BeatAt > c.DeadAfter.Milliseconds(); {
		case w.Retired:
			err = c.forget(ctx, w)
		case dead:
			err = c.adopt(ctx, w)
		default:
			delete(c.undead, w.Writer) // it was only paused
			err = nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("writer %s: %w", w.Writer, err))
		}
	}
	return errors.Join(errs...)
}

func (c *coordinator) adopt(ctx context.Context, w meta.WriterState) error {
	first, seen := c.undead[w.Writer]
	if seen && time.Since(first) < c.Forget {
		return nil
	}
	done, err := c.Journal.Adopt(ctx, w.Writer)
	c.metrics.commits.Add(float64(done.Commits))
	c.metrics.messages.Add(float64(done.Messages))
	if err != nil {
		return err
	}
	c.Log.Info("adopted the segments of a dead writer", "writer", w.Writer, "last_look", seen,
		"segments", done.Segments, "commits", done.Commits, "messages", done.Messages)
	if !seen {
		c.undead[w.Writer] = time.Now()
		return nil
	}
	return c.forget(ctx, w)
}

func (c *coordinator) forget(ctx context.Context, w meta.WriterState) error {
	delete(c.undead, w.Writer)
	return c.Meta.ForgetWriter(ctx, w.Writer)
}
