package coordinator

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// watches is what a rebalancer remembers of the groups it has looked at. It may
// be used concurrently.
type watches struct {
	mu     sync.Mutex
	groups map[uuid.UUID]watch // guarded by mu; what a watch holds is never changed
}

// watch is what is remembered of one group.
type watch struct {
	topics    []string             // that its members subscribe to
	due       time.Time            // no member or revocation is due before; zero: none at all
	begun     map[uuid.UUID]uint32 // topic → how many of its queues have an offset
	complaint string               // what was last warned of
	sweep     int64                // number of the last sweep that saw it
}

func newWatches() *watches { return &watches{groups: map[uuid.UUID]watch{}} }

func (w *watches) get(group uuid.UUID) watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.groups[group]
}

func (w *watches) change(group uuid.UUID, change func(*watch)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.groups[group]
	change(&g)
	w.groups[group] = g
}

func (w *watches) forget(group uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.groups, group)
}

// again sees to it that the group is looked at then, or earlier.
func (w *watches) again(group uuid.UUID, at time.Time) {
	w.change(group, func(g *watch) {
		if g.due.IsZero() || at.Before(g.due) {
			g.due = at
		}
	})
}

// takeDue returns the groups in which something may be due. They are not due
// again before they have been looked at.
func (w *watches) takeDue(now time.Time) map[uuid.UUID]struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := map[uuid.UUID]struct{}{}
	for group, g := range w.groups {
		if !g.due.IsZero() && !g.due.After(now) {
			due[group] = struct{}{}
			g.due = time.Time{}
			w.groups[group] = g
		}
	}
	return due
}

// of returns the groups whose members subscribe to the topic.
func (w *watches) of(topic string) (groups []uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for group, g := range w.groups {
		if slices.Contains(g.topics, topic) {
			groups = append(groups, group)
		}
	}
	return groups
}

func (w *watches) seen(group uuid.UUID, sweep int64) {
	w.change(group, func(g *watch) { g.sweep = sweep })
}

// forgetUnseen drops the groups that the whole of a sweep did not come across.
func (w *watches) forgetUnseen(sweep int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for group, g := range w.groups {
		if g.sweep != 0 && g.sweep != sweep { // 0: it is newer than the sweep
			delete(w.groups, group)
		}
	}
}

// nextDue is when a member of the group or a queue that changes hands may run
// out of time, by this process' clock; asked is when the state was asked for.
func nextDue(state meta.GroupState, asked time.Time) time.Time {
	var first int64
	note := func(deadline int64) {
		if deadline > 0 && (first == 0 || deadline < first) {
			first = deadline
		}
	}
	for _, m := range state.Members {
		note(m.Deadline)
	}
	for _, a := range state.Assignments {
		if a.State == meta.StateRevoking {
			note(a.Deadline)
		}
	}
	if first == 0 {
		return time.Time{}
	}
	return asked.Add(time.Duration(first-state.Now) * time.Millisecond)
}
