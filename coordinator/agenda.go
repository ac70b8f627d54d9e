package coordinator

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// settleQuiet is how long a group must be quiet before it is looked at, so
	// that members who come at the same time make one change.
	settleQuiet = 40 * time.Millisecond
	// settleLongest is how long a group that never gets quiet is put off, and how
	// long one whose assignment has just been changed: members that come one after
	// the other shall not be a generation each.
	settleLongest = time.Second
)

// agenda holds the groups that are to be looked at. It may be used concurrently.
type agenda struct {
	wake chan struct{} // buffered by one: something was put down

	mu     sync.Mutex
	groups map[uuid.UUID]*errand   // guarded by mu
	rests  map[uuid.UUID]time.Time // guarded by mu; not to be looked at before
}

type errand struct {
	first  time.Time // when it was put down first
	at     time.Time // when it is due
	causes []string  // sorted, each once
}

func newAgenda() *agenda {
	return &agenda{wake: make(chan struct{}, 1), groups: map[uuid.UUID]*errand{}, rests: map[uuid.UUID]time.Time{}}
}

// add puts a group down for when it has got quiet.
func (a *agenda) add(group uuid.UUID, causes ...string) {
	now := time.Now()
	a.mu.Lock()
	e := a.groups[group]
	if e == nil {
		e = &errand{first: now}
		a.groups[group] = e
	}
	e.at = now.Add(settleQuiet)
	if latest := e.first.Add(settleLongest); e.at.After(latest) {
		e.at = latest
	}
	if rest := a.rests[group]; e.at.Before(rest) {
		e.at = rest
	}
	for _, cause := range causes {
		if i, known := slices.BinarySearch(e.causes, cause); !known {
			e.causes = slices.Insert(e.causes, i, cause)
		}
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default: // it will be seen anyway
	}
}

// rest puts off whatever is put down for the group: it has just been changed.
func (a *agenda) rest(group uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rests[group] = time.Now().Add(settleLongest)
}

// take removes up to most of the groups that are due and returns their causes,
// the number of those that are left, and the time until the next one is due,
// expireEvery at most.
func (a *agenda) take(now time.Time, most int) (due map[uuid.UUID][]string, left int, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	due, wait = map[uuid.UUID][]string{}, expireEvery
	maps.DeleteFunc(a.rests, func(_ uuid.UUID, rest time.Time) bool { return !rest.After(now) })
	for group, e := range a.groups {
		if until := e.at.Sub(now); until > 0 || len(due) == most {
			wait = min(wait, max(until, 0))
			continue
		}
		due[group] = e.causes
		delete(a.groups, group)
	}
	return due, len(a.groups), wait
}
