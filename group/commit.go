package group

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
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
	return results, g.commitNow(ctx, definition.ID, who, items, at, results)
}

// commitNow stores commits at once. Where progress may go back, those that are
// merged for the same queues came before and must not be stored after.
func (g *Groups) commitNow(ctx context.Context, group uuid.UUID, who meta.Committer, items []meta.OffsetCommit, at []int, results []CommitResult) error {
	save := g.storeCommits
	if who.Overwrite {
		save = g.commits.overtake
	}
	stored, err := save(ctx, group, who, items)
	if err != nil {
		return err
	}
	for i, s := range stored {
		results[at[i]] = CommitResult{Status: s.Status, Offset: s.Record.Offset, Version: s.Record.Version}
	}
	return nil
}

// storeCommits moves progress in Redis.
func (g *Groups) storeCommits(ctx context.Context, group uuid.UUID, who meta.Committer, items []meta.OffsetCommit) ([]meta.OffsetResult, error) {
	stored, err := g.options.Meta.CommitOffsets(ctx, group, who, items)
	if err != nil {
		return nil, unavailable(err)
	}
	for _, s := range stored {
		g.metrics.committed(s.Status)
		if s.Status == meta.OffsetStored {
			g.moved.add(group)
		}
	}
	return stored, nil
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
	if item.Offset < 0 {
		return meta.OffsetCommit{}, invalid("offset", journal.CodeOutOfRange, "an offset is not negative")
	}
	if item.Queue >= topic.Queues {
		return meta.OffsetCommit{}, &QueueError{Topic: topic.Name, Queue: item.Queue, Queues: topic.Queues}
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
	var now []meta.OffsetCommit // what there is no room to keep
	var nowAt []int
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
		case item.Offset <= record.Offset && !who.Overwrite, item.Offset == record.Offset && !g.commits.has(definition.ID, who, item):
			result.Status = meta.OffsetUnchanged
		default:
			if !g.commits.add(definition.ID, who, item) {
				now, nowAt = append(now, item), append(nowAt, at[i])
				continue
			}
		}
		results[at[i]] = result
	}
	if len(now) == 0 {
		return nil
	}
	return g.commitNow(ctx, definition.ID, who, now, nowAt, results)
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
		_, err := g.options.Meta.Member(ctx, group, who.Member) // why it is not there
		return o, cmp.Or(unavailable(err), error(meta.ErrMemberUnknown))
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
