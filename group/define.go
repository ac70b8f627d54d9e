package group

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// DefaultInvisible is how long a delivery is hidden in a group that says nothing.
const DefaultInvisible = 60 * time.Second

// DefaultMaxAttempts is how often a message is delivered before it is a dead letter
// (RocketMQ's 16 retries count from the first one that failed; SEMANTICS 108).
const DefaultMaxAttempts = 16

// defaultNackDelays are RocketMQ's waits before a message comes again, in
// milliseconds (SEMANTICS 108): after the first attempt the first, and so on.
var defaultNackDelays = []int64{
	10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000, 420_000, 480_000, 540_000,
	600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000,
}

// Default is a group of which nothing was said.
func Default(name string) meta.Group {
	return meta.Group{
		Name: name, Mode: meta.ModeClustering, Strategy: "averagely", ConsumeFrom: meta.ConsumeFromLast,
		InvisibleMS: DefaultInvisible.Milliseconds(), SessionTimeoutMS: 120_000, ResumeWindowMS: 10_000, RevokeTimeoutMS: 15_000,
		CommitPolicy: meta.CommitMonotonic, NackDelaysMS: defaultNackDelays, MaxAttempts: DefaultMaxAttempts,
	}
}

// Get returns the live group of that name as Redis has it now. meta.ErrGroupNotFound.
func (g *Groups) Get(ctx context.Context, name string) (meta.Group, error) {
	found, err := g.options.Meta.Group(ctx, name)
	return found, unavailable(err)
}

// List returns up to limit groups whose name starts with prefix and sorts after
// `after`, by name.
func (g *Groups) List(ctx context.Context, prefix, after string, limit int) ([]meta.Group, error) {
	found, err := g.options.Meta.Groups(ctx, prefix, after, limit)
	return found, unavailable(err)
}

// Create registers a group and returns it once it is durable. The name taken is a
// *meta.GroupExistsError with the group that has it. After
// journal.ErrOutcomeUnknown the group exists, as far as Redis lives.
func (g *Groups) Create(ctx context.Context, definition meta.Group) (meta.Group, error) {
	return g.change(ctx, "create", &definition, func() (meta.Group, error) { return g.options.Meta.CreateGroup(ctx, definition) })
}

// Update replaces the definition of the group with its id if its version is
// ifVersion (0: any), and returns it once that is durable. Another version is a
// *meta.GroupConflictError with the group as it is.
func (g *Groups) Update(ctx context.Context, definition meta.Group, ifVersion int64) (meta.Group, error) {
	return g.change(ctx, "update", &definition, func() (meta.Group, error) {
		return g.options.Meta.UpdateGroup(ctx, definition, ifVersion)
	})
}

// Delete ends the group if its version is ifVersion (0: any): its progress is
// gone, receipts of it are superseded, and the name is free.
// meta.ErrGroupActive: it has members, and force is not set.
func (g *Groups) Delete(ctx context.Context, name string, ifVersion int64, force bool) error {
	_, err := g.change(ctx, "delete", nil, func() (meta.Group, error) {
		return g.options.Meta.DeleteGroup(ctx, name, ifVersion, force)
	})
	if err != nil {
		return err
	}
	if err := g.failed.end(ctx, name); err != nil { // a later group of the name finds out
		g.log.Warn("the retry and dead-letter topics of a deleted group are still there", "group", name, "err", err)
	}
	return nil
}

// change applies a change in Redis, which gives it its version, and then writes
// the resulting state to the log.
func (g *Groups) change(ctx context.Context, verb string, definition *meta.Group, apply func() (meta.Group, error)) (meta.Group, error) {
	if definition != nil {
		if err := check(definition); err != nil {
			return meta.Group{}, err
		}
	}
	changed, err := apply()
	g.cache.clear()
	if err != nil {
		return meta.Group{}, fmt.Errorf("%s group: %w", verb, unavailable(err))
	}
	if err := g.options.Journal.RecordGroup(ctx, changed); err != nil {
		return meta.Group{}, fmt.Errorf("%s group %s: %w", verb, changed.Name, err)
	}
	return changed, nil
}
