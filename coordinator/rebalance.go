package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// expireEvery is how often members whose time is up are looked for.
	expireEvery = time.Second
	// tryAgainAfter is the pause before a group is looked at again after a fault.
	tryAgainAfter = time.Second
	// atOnce is how many groups are looked at concurrently, inOneGo how many
	// before the rebalancer looks for members whose time is up.
	atOnce, inOneGo = 8, 256
)

// rebalancer keeps the assignments of all groups for as long as this process
// leads. Every write bears the leader's term: a newer leader has fenced it.
type rebalancer struct {
	*coordinator
	term   int64
	resign func() // gives the leadership up

	agenda  *agenda
	watches *watches
	sweep   sweep       // owned by run
	missed  atomic.Bool // notices were lost: sweep
	expired time.Time   // when members were last expired; owned by run
}

func newRebalancer(c *coordinator, term int64, resign func()) *rebalancer {
	return &rebalancer{coordinator: c, term: term, resign: resign, agenda: newAgenda(), watches: newWatches()}
}

// run looks at groups that changed, at members that are silent, and every
// RebalanceEvery at every group, since notices can be lost.
func (r *rebalancer) run(ctx context.Context) {
	var listening sync.WaitGroup
	defer listening.Wait()
	feed := r.Meta.NewFeed(r.notice)
	listening.Go(func() { _ = feed.Run(ctx) }) // ends with ctx
	listening.Go(func() {
		// Once Redis has confirmed this subscription, to a topic that never is, it has
		// confirmed those to all changes; what changed before went unnoticed.
		if feed.Watch(ctx, uuid.Nil) == nil {
			r.missed.Store(true)
		}
	})
	for ctx.Err() == nil {
		due, left, wait := r.agenda.take(time.Now(), inOneGo)
		book := newTopicBook(r.Meta)
		err := each(due, func(group uuid.UUID, causes []string) error { return r.look(ctx, group, causes, book) })
		if time.Since(r.expired) >= expireEvery {
			r.expired = time.Now()
			late := r.watches.takeDue(r.expired)
			err = errors.Join(err, each(late, func(group uuid.UUID, _ struct{}) error { return r.expire(ctx, group) }))
		}
		if left < inOneGo {
			err = errors.Join(err, r.sweepPage(ctx))
		}
		if err != nil {
			r.failed(ctx, err)
		}
		if len(due) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-r.agenda.wake:
		case <-time.After(wait):
		}
	}
}

// each calls do for every group, a few at a time. Its error is the first one,
// with the number of the others.
func each[T any](groups map[uuid.UUID]T, do func(uuid.UUID, T) error) error {
	var workers errgroup.Group
	workers.SetLimit(atOnce)
	var failed atomic.Int64
	for group, detail := range groups {
		workers.Go(func() error {
			err := do(group, detail)
			if err != nil {
				failed.Add(1)
			}
			return err
		})
	}
	err := workers.Wait()
	if others := failed.Load() - 1; others > 0 {
		return fmt.Errorf("%w (and %s more)", err, plural(int(others), "group"))
	}
	return err
}

// notice puts down the groups that a hint is about. It never blocks for long.
func (r *rebalancer) notice(n meta.Notice) {
	switch {
	case n.Lost:
		r.missed.Store(true)
	case n.TopicChanged != "":
		for _, group := range r.watches.of(n.TopicChanged) {
			r.agenda.add(group, "topic "+n.TopicChanged+" changed")
		}
	case n.GroupChanged != uuid.Nil:
		if cause, known := causes[n.GroupWhat]; known {
			r.agenda.add(n.GroupChanged, cause)
		}
	}
}

// causes are the changes of a group that may lead to another assignment.
var causes = map[string]string{
	meta.ChangedGroup:    "group changed",
	meta.ChangedMembers:  "members changed",
	meta.ChangedSettings: "settings changed",
}

// look brings one group's assignment up to date.
func (r *rebalancer) look(ctx context.Context, group uuid.UUID, causes []string, topics *topicBook) error {
	err := r.rebalance(ctx, group, causes, topics)
	if errors.Is(err, meta.ErrGroupChanged) { // while we computed
		r.agenda.add(group, causes...)
		return nil
	}
	return r.faulted(group, err)
}

// expire ends the membership of those whose time is up, and grants queues that
// their owners did not give back in time.
func (r *rebalancer) expire(ctx context.Context, group uuid.UUID) error {
	gone, err := r.Meta.ExpireMembers(ctx, group, r.term)
	if err != nil {
		return r.faulted(group, err)
	}
	if len(gone) == 0 {
		r.agenda.add(group) // when is the next one due?
		return nil
	}
	r.metrics.expired.Add(float64(len(gone)))
	r.Log.Info("members of a group are gone", "group", group, "members", gone)
	r.agenda.add(group, plural(len(gone), "member")+" expired")
	return nil
}

// faulted does what a fault of one group calls for, and returns it if people
// should know.
func (r *rebalancer) faulted(group uuid.UUID, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, meta.ErrGroupNotFound):
		r.watches.forget(group)
		return nil
	case errors.Is(err, meta.ErrFenced):
		r.Log.Warn("a newer leader has written to a group: stepping down", "group", group, "err", err)
		r.resign()
		return nil
	}
	r.watches.again(group, time.Now().Add(tryAgainAfter))
	if errors.Is(err, meta.ErrRecovering) {
		return nil
	}
	return err
}
