package group

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// When merged commits are stored: first so long after the start, then so often,
// give or take a tenth (SEMANTICS 1, 21).
const (
	firstFlush = 10 * time.Second
	flushEvery = 5 * time.Second
)

// maxPending bounds the commits that are kept; above it they are stored at once.
const maxPending = 100_000

// commits are merged commits that are not stored yet.
type commits struct {
	store func(ctx context.Context, group uuid.UUID, who meta.Committer, items []meta.OffsetCommit) ([]meta.OffsetResult, error)
	log   *slog.Logger
	// turn is held while commits are being stored: who asks for a flush afterwards
	// finds them stored, or kept again.
	turn chan struct{}

	mu      sync.Mutex
	pending map[pendingKey]meta.OffsetCommit // guarded by mu
}

type pendingKey struct {
	group uuid.UUID
	who   meta.Committer
	topic uuid.UUID
	queue uint32
}

func newCommits(store func(context.Context, uuid.UUID, meta.Committer, []meta.OffsetCommit) ([]meta.OffsetResult, error), log *slog.Logger) *commits {
	return &commits{store: store, log: log, turn: make(chan struct{}, 1), pending: map[pendingKey]meta.OffsetCommit{}}
}

// add merges a commit: one of a higher version or of a later owner, or further on
// in the same one, takes the place of what is there (SEMANTICS 25, 28). It reports
// false when there is no room for another queue.
func (c *commits) add(group uuid.UUID, who meta.Committer, item meta.OffsetCommit) bool {
	key := pendingKey{group, who, item.Topic, item.Queue}
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.pending[key]
	switch {
	case !known && len(c.pending) >= maxPending:
		return false
	case !known, item.Version > old.Version, item.Version == old.Version && (item.Offset > old.Offset || who.Overwrite), item.Epoch > old.Epoch:
		c.pending[key] = item
	}
	return true
}

// has says whether a commit of the queue is pending.
func (c *commits) has(group uuid.UUID, who meta.Committer, item meta.OffsetCommit) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.pending[pendingKey{group, who, item.Topic, item.Queue}]
	return known
}

// overtake stores commits in the place of those that the same committer has
// pending for the queues. Where a commit did not count, the pending one is kept.
func (c *commits) overtake(ctx context.Context, group uuid.UUID, who meta.Committer, items []meta.OffsetCommit) ([]meta.OffsetResult, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	at := map[pendingKey]int{}
	for i, item := range items {
		at[pendingKey{group, who, item.Topic, item.Queue}] = i
	}
	before := c.take(func(k pendingKey) bool { _, named := at[k]; return named })[group][who]
	stored, err := c.store(ctx, group, who, items)
	for _, item := range before {
		i := at[pendingKey{group, who, item.Topic, item.Queue}]
		if err != nil || stored[i].Status != meta.OffsetStored && stored[i].Status != meta.OffsetUnchanged {
			c.keep(group, who, []meta.OffsetCommit{item})
		}
	}
	return stored, err
}

// count is how many queues' commits are pending.
func (c *commits) count() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(len(c.pending))
}

// keep puts back what could not be stored, unless something newer has come.
func (c *commits) keep(group uuid.UUID, who meta.Committer, items []meta.OffsetCommit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range items {
		key := pendingKey{group, who, item.Topic, item.Queue}
		if _, known := c.pending[key]; !known {
			c.pending[key] = item
		}
	}
}

// take removes the commits that a test wants, by group and committer.
func (c *commits) take(want func(pendingKey) bool) map[uuid.UUID]map[meta.Committer][]meta.OffsetCommit {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := map[uuid.UUID]map[meta.Committer][]meta.OffsetCommit{}
	for key, item := range c.pending {
		if !want(key) {
			continue
		}
		if taken[key.group] == nil {
			taken[key.group] = map[meta.Committer][]meta.OffsetCommit{}
		}
		taken[key.group][key.who] = append(taken[key.group][key.who], item)
		delete(c.pending, key)
	}
	return taken
}

func anyCommit(pendingKey) bool { return true }

// flush stores merged commits. What cannot be stored for now is kept; one group's
// failure does not stop the others (SEMANTICS 3, 27).
func (c *commits) flush(ctx context.Context, want func(pendingKey) bool) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var errs []error
	for group, byWho := range c.take(want) {
		for who, items := range byWho {
			_, err := c.store(ctx, group, who, items)
			switch {
			case err == nil:
			case errors.Is(err, meta.ErrMemberUnknown), errors.Is(err, meta.ErrFencedMember), errors.Is(err, meta.ErrGroupNotFound):
				c.log.Info("commits of a member that is gone are void", "group_id", group, "member", who.Member, "queues", len(items))
			default:
				errs = append(errs, err)
				c.keep(group, who, items)
			}
		}
	}
	return errors.Join(errs...)
}

// flushMember stores what a member has committed, as far as it can be.
func (c *commits) flushMember(ctx context.Context, member string) {
	if err := c.flush(ctx, func(k pendingKey) bool { return k.who.Member == member }); err != nil {
		c.log.Warn("commits are not stored yet, trying again", "member", member, slog.Any("err", err))
	}
}

// run stores merged commits until ctx ends.
func (c *commits) run(ctx context.Context, first, every time.Duration) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := c.flush(ctx, anyCommit); err != nil && ctx.Err() == nil {
			c.log.Warn("commits are not stored yet, trying again", slog.Any("err", err))
		}
		timer.Reset(jitter(every))
	}
}

// jitter is d, give or take a tenth, so that processes do not act at once.
func jitter(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }
