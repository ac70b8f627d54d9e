package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// rebalance brings the assignment of a group to what its strategy says. Nothing
// is written when that is what it is, or is coming to.
func (r *rebalancer) rebalance(ctx context.Context, group uuid.UUID, causes []string, book *topicBook) error {
	asked := time.Now()
	state, err := r.Meta.GroupState(ctx, group)
	if err != nil {
		return err
	}
	names := subscribed(state.Members)
	if retry := retryOf(state); retry != "" {
		names = append(names, retry)
	}
	topics, err := book.find(ctx, names)
	if err != nil {
		return fmt.Errorf("rebalance group %s: %w", state.Group.Name, err)
	}
	p := makePlan(state, topics)
	complaint := strings.Join(p.complaint(), "; ")
	if complaint != "" && complaint != r.watches.get(group).complaint {
		r.Log.Warn("rebalance", "group", state.Group.Name, "problem", complaint)
	}
	r.metrics.strategyFailures.Add(float64(len(p.failed)))
	r.watches.change(group, func(w *watch) {
		w.topics, w.due, w.complaint = names, nextDue(state, asked), complaint
	})
	if p.settled(state) {
		return nil
	}
	if err := r.beginQueues(ctx, state, p, topics); err != nil {
		return fmt.Errorf("rebalance group %s: %w", state.Group.Name, err)
	}
	generation, changed, err := r.Meta.Assign(ctx, group, r.term, state.Revision, p.reason(causes), p.targets, p.standby)
	if err != nil {
		return err
	}
	if !changed {
		return nil
	}
	r.agenda.rest(group)
	r.metrics.rebalances.Inc()
	r.metrics.rebalanceSeconds.Observe(time.Since(asked).Seconds())
	r.Log.Info("rebalanced", "group", state.Group.Name, "generation", generation, "reason", p.reason(causes))
	r.watches.again(group, time.Now().Add(time.Duration(state.Group.RevokeTimeoutMS)*time.Millisecond))
	return nil
}

// beginQueues gives the queues that the group never had an offset from which to
// consume them: their minimum, for whatever is in them was stored after the
// members subscribed. It comes before the assignment: an owner finds an offset.
func (r *rebalancer) beginQueues(ctx context.Context, state meta.GroupState, p plan, topics map[string]meta.Topic) error {
	begun := maps.Clone(r.watches.get(state.Group.ID).begun)
	assigned := make(map[place]bool, len(state.Assignments))
	for _, a := range state.Assignments {
		assigned[place{a.Topic, a.Queue}] = true
	}
	now := map[uuid.UUID]uint32{}
	var starts []meta.OffsetStart
	for _, t := range topics {
		var queues []uint32
		for q := begun[t.ID]; q < t.Queues; q++ {
			if !assigned[place{t.ID, q}] {
				queues = append(queues, q)
			}
		}
		now[t.ID] = t.Queues
		if len(queues) == 0 {
			continue
		}
		_, bounds, err := r.Meta.Bounds(ctx, t.ID, queues)
		if errors.Is(err, meta.ErrTopicNotFound) {
			return fmt.Errorf("%w: topic %s has gone", meta.ErrGroupChanged, t.Name)
		}
		if err != nil {
			return err
		}
		for _, b := range bounds {
			starts = append(starts, meta.OffsetStart{Topic: t.ID, Queue: b.Queue, First: b.Min, Min: b.Min})
		}
	}
	if len(starts) > 0 {
		if err := r.Meta.InitOffsets(ctx, state.Group.ID, r.term, starts); err != nil {
			return err
		}
	}
	r.watches.change(state.Group.ID, func(w *watch) { w.begun = now })
	return nil
}

// topicBook finds each topic once, for groups that are looked at together. It
// may be used concurrently.
type topicBook struct {
	meta *meta.DB

	mu     sync.Mutex
	topics map[string]meta.Topic // guarded by mu; the zero topic does not exist
}

func newTopicBook(db *meta.DB) *topicBook {
	return &topicBook{meta: db, topics: map[string]meta.Topic{}}
}

// find returns those of the topics that exist.
func (b *topicBook) find(ctx context.Context, names []string) (map[string]meta.Topic, error) {
	found := make(map[string]meta.Topic, len(names))
	for _, name := range names {
		b.mu.Lock()
		t, known := b.topics[name]
		b.mu.Unlock()
		if !known {
			var err error
			if t, err = b.meta.Topic(ctx, name); err != nil && !errors.Is(err, meta.ErrTopicNotFound) {
				return nil, err
			}
			b.mu.Lock()
			b.topics[name] = t
			b.mu.Unlock()
		}
		if t.ID != uuid.Nil {
			found[name] = t
		}
	}
	return found, nil
}
