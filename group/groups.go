// Package group is what a gateway does for consumer groups: their definitions,
// their progress, and shared consumption. What must outlive the process is in
// Redis and in the log; any process of the installation serves any request.
package group

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Options says what groups are kept in.
type Options struct {
	Journal *journal.Journal // required; its Run must be running
	Meta    *meta.DB         // required

	// RecordEvery is how often the progress of groups that moved is written to the
	// log. Zero = 10 s.
	RecordEvery time.Duration
	// FirstFlush and FlushEvery are when merged commits are stored after Run began.
	// Zero = 10 s, then every 5 s.
	FirstFlush, FlushEvery time.Duration

	Log      *slog.Logger          // nil = slog.Default
	Registry prometheus.Registerer // nil = metrics are kept and not exported
}

// Groups serves the consumer groups of an installation. Its methods may be called
// concurrently; Run must be running.
type Groups struct {
	*sharedEngine
	options Options
	log     *slog.Logger
	cache   definitions
	moved   moved
	members members
	bells   bells
	commits *commits
	metrics *metrics
	failed  *failures
	handled handled
}

// New returns Groups. The error is that of unusable options.
func New(o Options) (*Groups, error) {
	if o.Journal == nil || o.Meta == nil {
		return nil, errors.New("group: Options need a Journal and a Meta")
	}
	if o.RecordEvery == 0 {
		o.RecordEvery = 10 * time.Second
	}
	if o.FirstFlush == 0 {
		o.FirstFlush = firstFlush
	}
	if o.FlushEvery == 0 {
		o.FlushEvery = flushEvery
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	g := &Groups{options: o, log: o.Log}
	g.cache.load = o.Meta.Group
	g.commits = newCommits(g.storeCommits, o.Log)
	g.metrics = newMetrics(o.Registry, g.commits.count)
	g.failed = newFailures(o.Journal, o.Registry)
	g.sharedEngine = newSharedEngine(sharedOptions{
		Journal: o.Journal, Meta: o.Meta, Signer: NewSigner(o.Meta), Failures: g.failed, Log: o.Log, Registry: o.Registry,
		Group: g.cache.get, Begin: g.begin, Progressed: g.moved.add,
	})
	return g, nil
}

// Run hears of changes and writes progress to the log until ctx ends, and returns
// ctx's error.
func (g *Groups) Run(ctx context.Context) error {
	feed := g.options.Meta.NewFeed(g.notice)
	var feeding sync.WaitGroup
	feeding.Go(func() { _ = feed.Run(ctx) }) // ends with ctx
	feeding.Go(func() { g.commits.run(ctx, g.options.FirstFlush, g.options.FlushEvery) })
	defer feeding.Wait()
	tick := time.NewTicker(g.options.RecordEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := g.record(ctx); err != nil && ctx.Err() == nil {
			g.log.Warn("progress of groups is not in the log yet, trying again", "err", err)
		}
	}
}

// Drain ends every wait: receives return what they have.
func (g *Groups) Drain() { g.drain() }

// Close stores commits that are merged, and writes the progress that is not in
// the log yet. The journal must still run.
func (g *Groups) Close(ctx context.Context) error {
	return errors.Join(g.commits.flush(ctx, anyCommit), g.record(ctx))
}

// notice is called by the feed, which must not be kept waiting.
func (g *Groups) notice(n meta.Notice) {
	switch {
	case n.Lost:
		g.cache.clear()
		g.Lost()
		g.bells.ring(uuid.Nil)
	case journal.IsRetryTopic(n.TopicChanged): // seldom: a group's first failure, or its end
		g.failed.none.forget(n.TopicChanged)
		g.Lost()
		g.bells.ring(uuid.Nil)
	case n.GroupChanged != uuid.Nil:
		if n.GroupWhat == meta.ChangedGroup {
			g.cache.clear()
		}
		g.Changed(n.GroupChanged)
		g.bells.ring(n.GroupChanged)
	}
}

// definitionFresh is how long a definition is believed without a notice.
const definitionFresh = 5 * time.Second

// maxDefinitions bounds the cache; at the bound it starts anew.
const maxDefinitions = 10_000

// definitions remembers groups that are in use.
type definitions struct {
	load func(ctx context.Context, name string) (meta.Group, error)

	mu     sync.Mutex
	groups map[string]definition // guarded by mu
	clears uint64                // guarded by mu; a look-up that a change overtook is not kept
}

type definition struct {
	group meta.Group
	until time.Time
}

func (d *definitions) get(ctx context.Context, name string) (meta.Group, error) {
	d.mu.Lock()
	known, ok := d.groups[name]
	clears := d.clears
	d.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.group, nil
	}
	now := time.Now()
	g, err := d.load(ctx, name)
	if err != nil {
		return meta.Group{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clears == clears {
		if d.groups == nil || len(d.groups) >= maxDefinitions {
			d.groups = map[string]definition{}
		}
		d.groups[name] = definition{group: g, until: now.Add(definitionFresh)}
	}
	return g, nil
}

func (d *definitions) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups = nil
	d.clears++
}
