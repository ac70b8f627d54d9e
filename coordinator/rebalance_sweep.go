package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// sweepGroups is how many groups a step of a sweep puts down.
const sweepGroups = inOneGo

// sweep is a walk over all groups by name.
type sweep struct {
	began   time.Time
	number  int64
	running bool
	after   string
	pause   time.Time // after a fault
}

// sweepPage puts down the next groups of a sweep, and begins one every
// RebalanceEvery or when notices were lost.
func (r *rebalancer) sweepPage(ctx context.Context) error {
	s := &r.sweep
	if r.missed.Swap(false) || !s.running && time.Since(s.began) >= r.RebalanceEvery {
		*s = sweep{began: time.Now(), number: s.number + 1, running: true}
	}
	if !s.running || time.Now().Before(s.pause) {
		return nil
	}
	page, err := r.Meta.Groups(ctx, "", s.after, sweepGroups)
	if err != nil {
		s.pause = time.Now().Add(tryAgainAfter)
		if errors.Is(err, meta.ErrRecovering) {
			return nil
		}
		return err
	}
	for _, g := range page {
		r.watches.seen(g.ID, s.number)
		r.agenda.add(g.ID, "periodic check")
	}
	if s.running = len(page) == sweepGroups; s.running {
		s.after = page[len(page)-1].Name
	} else {
		r.watches.forgetUnseen(s.number)
	}
	return nil
}
