// Package coordinator runs the background work that belongs to no request. Any
// number of processes may run it; one of them, the leader, works under a lease
// whose term fences it.
package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// LeaseName is the name of the leader's lease in the metadata.
const LeaseName = meta.LeaseCoordinator

// Options says what the coordinator works on.
type Options struct {
	Journal *journal.Journal // required; its Run must be running
	Meta    *meta.DB         // required

	// Lease is how long a silent leader keeps its office. Zero = 15 s.
	Lease time.Duration
	// DeadAfter is how long a writer may be silent before its segments are
	// adopted. Zero = 30 s.
	DeadAfter time.Duration
	// Forget is how long a dead writer is watched for uploads that arrive late.
	// Zero = 2 minutes.
	Forget time.Duration
	// Interval is the pause between two rounds of work. Zero = 5 s.
	Interval time.Duration

	Log      *slog.Logger          // nil = slog.Default
	Registry prometheus.Registerer // nil = metrics are kept and not exported
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.Lease, 15 * time.Second},
		{&o.DeadAfter, 30 * time.Second},
		{&o.Forget, 2 * time.Minute},
		{&o.Interval, 5 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// coordinator is one process's candidature.
type coordinator struct {
	Options
	holder  uuid.UUID
	term    int64                   // > 0 while leading; owned by Run
	undead  map[uuid.UUID]time.Time // dead writer → when all of it was adopted first; owned by Run
	metrics *metrics
}

// Run competes for the lease and does the leader's work until ctx ends; it then
// gives the lease back. A fault of Redis or of the store is logged and tried
// again in the next round. The error is that of unusable options.
func Run(ctx context.Context, options Options) error {
	if options.Journal == nil || options.Meta == nil {
		return errors.New("coordinator: Options need a Journal and a Meta")
	}
	holder, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make a coordinator id: %w", err)
	}
	c := &coordinator{
		Options: options.withDefaults(), holder: holder,
		undead: map[uuid.UUID]time.Time{}, metrics: newMetrics(options.Registry),
	}
	defer c.resign(context.WithoutCancel(ctx))
	tick := time.NewTicker(min(c.Interval, c.Lease/3))
	defer tick.Stop()
	for {
		if err := c.round(ctx); err != nil && ctx.Err() == nil {
			c.metrics.failures.Inc()
			c.Log.Warn("coordinator round failed, trying again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// round renews the lease and, as leader, does what is due.
func (c *coordinator) round(ctx context.Context) error {
	asked := time.Now()
	term, leads, err := c.Meta.Acquire(ctx, LeaseName, c.holder, c.Lease)
	if err != nil {
		c.lead(0) // unknown: another one may lead by now
		return fmt.Errorf("take the lease: %w", err)
	}
	if !leads {
		c.lead(0)
		return nil
	}
	c.lead(term)
	work, cancel := context.WithDeadline(ctx, asked.Add(c.Lease))
	defer cancel()
	return c.adoptDead(work)
}

// lead takes note of the term this process leads under; 0: it does not.
func (c *coordinator) lead(term int64) {
	if term != c.term {
		c.Log.Info("coordinator leadership", "leads", term > 0, "term", term)
		c.undead = map[uuid.UUID]time.Time{}
	}
	c.term = term
	c.metrics.leads.Set(float64(min(term, 1)))
}

func (c *coordinator) resign(ctx context.Context) {
	if c.term == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := c.Meta.Release(ctx, LeaseName, c.holder); err != nil {
		c.Log.Warn("could not give the lease back: it lapses", "err", err)
	}
	c.lead(0)
}
