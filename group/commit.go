package group

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// When merged commits are stored: first so long after the start, then so often,
// give or take a tenth (SEMANTICS 1, 21).
const (
	firstFlush = 10 * time.Second
	flushEvery = 5 * time.Second
)

// StatusPending says that a commit is merged and will be stored within seconds.
const StatusPending = "pending"

// CommitRequest moves a group's progress.
type CommitRequest struct {
	Group  string
	Member string // member id; "": somebody outside, for queues that nobody owns
	Sync   bool   // answer when it is stored; else it is merged with later ones and stored within seconds
	Items  []CommitItem
}

// CommitItem moves it in one queue.
type CommitItem struct {
	Topic           string
	Queue           uint32
	Offset, Version int64
	Epoch           int64 // assignment epoch, of an owner
}

// CommitResult is what an item came to.
type CommitResult struct {
	Status          string // StatusPending or one of meta's Offset constants; OffsetVersionConflict and OffsetNotOwner are refusals
	Offset, Version int64  // what is stored; 0 when nothing is
	// Err is set for what cannot be: an unknown topic, an offset beyond the end
	// (*journal.BoundsError).
	Err error
}

// Commit moves a group's progress in several queues, each by itself: under the
// stored version only, forward only unless the group overwrites, and of a queue
// that has an owner only for that. meta.ErrMemberUnknown, meta.ErrFencedMember.
func (g *Groups) Commit(ctx context.Context, r CommitRequest) ([]CommitResult, error) {
	definition, err := g.Get(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	who := meta.Committer{Member: r.Member, By: "outside", Overwrite: definition.CommitPolicy == meta.CommitOverwrite}
	if r.Member != "" {
		m, err := g.session(ctx, r.Group, r.Member)
		if err != nil {
			return nil, err
		}
		who = m.committer()
	}
	results := make([]CommitResult, len(r.Items))
	var items []meta.OffsetCommit
	var at []int
	for i, item := range r.Items {
		commit, err := g.checkCommit(ctx, item)
		if err != nil {
			results[i].Err = err
			continue
		}
		items, at = append(items, commit), append(at, i)
	}
	if len(items) == 0 {
		return results, nil
	}
	if !r.Sync {
		return results, g.merge(ctx, definition, who, items, at, results)
	}
	stored, err := g.options.Meta.CommitOffsets(ctx, definition.ID, who, items)
	if err != nil {
		return nil, unavailable(err)
	}
	for i, s := range stored {
		results[at[i]] = CommitResult{Status: s.Status, Offset: s.Record.Offset, Version: s.Record.Version}
	}
	g.moved.add(definition.ID)
	return results, nil
}

// committer is the member as it commits.
func (m *member) committer() meta.Committer {
	who := meta.Committer{Member: m.ID, By: m.ClientID, Overwrite: m.definition.CommitPolicy == meta.CommitOverwrite}
	if m.Kind == meta.KindBroadcast {
		who.Client = m.ClientID
	}
	return who
}

// checkCommit finds the topic and tests that the offset is not beyond the end.
func (g *Groups) checkCommit(ctx context.Context, item CommitItem) (meta.OffsetCommit, error) {
	topic, err := g.options.Journal.Topic(ctx, item.Topic)
	if err != nil {
		return meta.OffsetCommit{}, err
	}
	if item.Queue >= topic.Queues {
		return meta.OffsetCommit{}, invalid("queue", journal.CodeOutOfRange, fmt.Sprintf("the topic has queues 0 to %d", topic.Queues-1))
	}
	_, bounds, err := g.options.Meta.Bounds(ctx, topic.ID, []uint32{item.Queue})
	if err != nil {
		return meta.OffsetCommit{}, unavailable(err)
	}
	if item.Offset > bounds[0].Next {
		return meta.OffsetCommit{}, &journal.BoundsError{Min: bounds[0].Min, Next: bounds[0].Next}
	}
	return meta.OffsetCommit{Topic: topic.ID, Queue: item.Queue, Offset: item.Offset, Version: item.Version, Epoch: item.Epoch}, nil
}

// merge checks commits against what is stored and keeps those that may count, so
// that a bogus version never shuts out a good one (SEMANTICS 26).
func (g *Groups) merge(ctx context.Context, definition meta.Group, who meta.Committer, items []meta.OffsetCommit, at []int, results []CommitResult) error {
	stored := map[uuid.UUID]map[uint32]meta.OffsetRecord{}
	kind := meta.KindQueue
	if who.Client != "" {
		kind = meta.KindBroadcast
	}
	owners, err := g.owners(ctx, definition.ID, who)
	if err != nil {
		return err
	}
	for i, item := range items {
		if stored[item.Topic] == nil {
			records, err := g.recordsOf(ctx, definition.ID, meta.Member{Kind: kind, ClientID: who.Client}, item.Topic)
			if err != nil {
				return err
			}
			stored[item.Topic] = records
		}
		record, known := stored[item.Topic][item.Queue]
		result := CommitResult{Status: StatusPending, Offset: record.Offset, Version: record.Version}
		switch {
		case !known:
			result.Status = meta.OffsetNoRecord
		case !owners.allow(item):
			result.Status = meta.OffsetNotOwner
		case item.Version != record.Version:
			result.Status = meta.OffsetVersionConflict
		case item.Offset == record.Offset, item.Offset < record.Offset && !who.Overwrite:
			result.Status = meta.OffsetUnchanged
		default:
			g.commits.add(definition, who, item)
		}
		results[at[i]] = result
	}
	return nil
}

// owners says who may commit what.
type owners struct {
	who   meta.Committer
	owns  bool // the committer is a member that is given queues
	claim map[sharedPlace]meta.Assignment
}

type sharedPlace struct {
	topic uuid.UUID
	queue uint32
}

func (g *Groups) owners(ctx context.Context, group uuid.UUID, who meta.Committer) (owners, error) {
	o := owners{who: who, claim: map[sharedPlace]meta.Assignment{}}
	if who.Client != "" {
		return o, nil
	}
	state, err := g.options.Meta.GroupState(ctx, group)
	if err != nil {
		return o, unavailable(err)
	}
	found := who.Member == ""
	live := map[string]bool{}
	for _, m := range state.Members {
		live[m.ID] = true
		if m.ID == who.Member {
			found, o.owns = true, m.Kind == meta.KindQueue
		}
	}
	if !found {
		return o, meta.ErrMemberUnknown
	}
	for _, a := range state.Assignments {
		if live[a.Owner] {
			o.claim[sharedPlace{a.Topic, a.Queue}] = a
		}
	}
	return o, nil
}

func (o owners) allow(item meta.OffsetCommit) bool {
	if o.who.Client != "" {
		return true
	}
	a, owned := o.claim[sharedPlace{item.Topic, item.Queue}]
	if o.owns {
		return owned && a.Owner == o.who.Member && a.Epoch == item.Epoch
	}
	return !owned
}

// commits are merged commits that are not stored yet. The zero value is ready.
type commits struct {
	mu      sync.Mutex
	pending map[pendingKey]meta.OffsetCommit // guarded by mu
}

type pendingKey struct {
	group uuid.UUID
	who   meta.Committer
	topic uuid.UUID
	queue uint32
}

// add merges a commit: one of a higher version, or further on in the same one,
// takes the place of what is there (SEMANTICS 25, 28).
func (c *commits) add(definition meta.Group, who meta.Committer, item meta.OffsetCommit) {
	key := pendingKey{definition.ID, who, item.Topic, item.Queue}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		c.pending = map[pendingKey]meta.OffsetCommit{}
	}
	old, known := c.pending[key]
	if !known || item.Version > old.Version || item.Version == old.Version && (item.Offset > old.Offset || who.Overwrite) || item.Epoch > old.Epoch {
		c.pending[key] = item
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

// flush stores merged commits. What cannot be stored for now is kept; one group's
// failure does not stop the others (SEMANTICS 3, 27).
func (c *commits) flush(ctx context.Context, g *Groups, want func(pendingKey) bool) error {
	var errs []error
	for group, byWho := range c.take(want) {
		for who, items := range byWho {
			_, err := g.options.Meta.CommitOffsets(ctx, group, who, items)
			err = unavailable(err)
			switch {
			case err == nil:
				g.moved.add(group)
			case errors.Is(err, meta.ErrMemberUnknown), errors.Is(err, meta.ErrFencedMember), errors.Is(err, meta.ErrGroupNotFound):
				g.log.Info("commits of a member that is gone are void", "group_id", group, "member", who.Member, "queues", len(items))
			default:
				errs = append(errs, err)
				for _, item := range items {
					c.add(meta.Group{ID: group}, who, item)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// flushMember stores what a member has committed, as far as it can be.
func (c *commits) flushMember(ctx context.Context, g *Groups, member string) {
	if err := c.flush(ctx, g, func(k pendingKey) bool { return k.who.Member == member }); err != nil {
		g.log.Warn("commits are not stored yet, trying again", "member", member, slog.Any("err", err))
	}
}

// run stores merged commits until ctx ends.
func (c *commits) run(ctx context.Context, g *Groups, first, every time.Duration) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := c.flush(ctx, g, func(pendingKey) bool { return true }); err != nil && ctx.Err() == nil {
			g.log.Warn("commits are not stored yet, trying again", slog.Any("err", err))
		}
		timer.Reset(every - every/10 + rand.N(every/5+1))
	}
}
