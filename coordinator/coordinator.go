// Package coordinator runs the background work that belongs to no request. Any
// number of processes may run it; one of them, the leader, works under a lease
// whose term fences it.
package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/transaction"
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
	// Interval is the pause between two rounds of adoption, and between two tries
	// to become the leader. Zero = 5 s.
	Interval time.Duration

	// RebalanceEvery is how often every group's assignment is checked, whether or
	// not a change was noticed. Zero = 20 s.
	RebalanceEvery time.Duration
	// TimersEvery is how often the timers of all topics are looked at, whether or
	// not a delayed message was noticed. Zero = 20 s.
	TimersEvery time.Duration
	// TransactionsEvery is how often the transactions of all producer groups are
	// looked at. Zero = 1 s.
	TransactionsEvery time.Duration
	// LagEvery is how often the lag of all groups is measured. Zero = 15 s.
	LagEvery time.Duration

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
		{&o.RebalanceEvery, 20 * time.Second},
		{&o.TimersEvery, 20 * time.Second},
		{&o.LagEvery, 15 * time.Second},
		{&o.TransactionsEvery, time.Second},
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
	metrics *metrics

	transactions *transaction.Engine
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
	c := &coordinator{Options: options.withDefaults(), holder: holder}
	// Its own numbers are those of the leader's metrics.
	if c.transactions, err = transaction.New(transaction.Options{Journal: c.Journal, Meta: c.Meta, Log: c.Log}); err != nil {
		return err
	}
	c.metrics = newMetrics(c.Registry)
	tick := time.NewTicker(c.pause())
	defer tick.Stop()
	for {
		asked := time.Now()
		term, leads, err := c.Meta.Acquire(ctx, LeaseName, c.holder, c.Lease)
		if err != nil {
			c.failed(ctx, fmt.Errorf("take the lease: %w", err))
		} else if leads {
			c.lead(ctx, term, asked.Add(c.Lease))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (c *coordinator) pause() time.Duration { return min(c.Interval, c.Lease/3) }

// lead does the leader's work until the lease lapses, passes to somebody else,
// or ctx ends. All of it has ended when lead returns.
func (c *coordinator) lead(ctx context.Context, term int64, until time.Time) {
	c.Log.Info("coordinator leadership", "leads", true, "term", term)
	c.metrics.leads.Set(1)
	office, resign := context.WithCancel(ctx)
	lapse := time.AfterFunc(time.Until(until), resign)
	var work sync.WaitGroup
	work.Go(func() { newAdopter(c).run(office) })
	work.Go(func() { newRebalancer(c, term, resign).run(office) })
	work.Go(func() { newTimekeeper(c).run(office) })
	work.Go(func() { lagger{c}.run(office) })
	work.Go(func() { c.sweepTransactions(office) })
	c.renew(office, term, lapse)
	resign()
	lapse.Stop()
	work.Wait()
	c.metrics.leads.Set(0)
	c.Log.Info("coordinator leadership", "leads", false, "term", term)
	c.release(context.WithoutCancel(ctx))
}

// renew holds the lease, putting off its lapse, until it is lost or office ends.
// While Redis does not answer, the lease is still this process's until it lapses.
func (c *coordinator) renew(office context.Context, term int64, lapse *time.Timer) {
	tick := time.NewTicker(c.pause())
	defer tick.Stop()
	for {
		select {
		case <-office.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		current, leads, err := c.Meta.Acquire(office, LeaseName, c.holder, c.Lease)
		switch {
		case err != nil:
			c.failed(office, fmt.Errorf("renew the lease: %w", err))
		case !leads || current != term:
			return
		default:
			lapse.Reset(time.Until(asked.Add(c.Lease)))
		}
	}
}

func (c *coordinator) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := c.Meta.Release(ctx, LeaseName, c.holder); err != nil {
		c.Log.Warn("could not give the lease back: it lapses", "err", err)
	}
}

// failed takes note of a fault that the next round tries to get over.
func (c *coordinator) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		c.metrics.failures.Inc()
		c.Log.Warn("coordinator round failed, trying again", "err", err)
	}
}
