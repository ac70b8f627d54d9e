package group

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// recheckEvery is how long news may go unseen: hints get lost.
const recheckEvery = 5 * time.Second

// watches are the groups that somebody in this process waits for. The zero value
// is ready.
type watches struct {
	mu    sync.Mutex
	byKey map[string]*watch // guarded by mu
}

// watch is what those who wait for one group's messages share: followers of its
// topics, so that a message costs the same whether one or a thousand wait, and a
// queue of seats. Only the first seat looks when there is news; when it leaves,
// the next one looks. Sessions, which do not wait but are told, are all told.
type watch struct {
	key   string
	group uuid.UUID
	users int // guarded by watches.mu

	built     chan struct{}       // closed when followers and err are set
	followers []*journal.Follower // one per topic
	err       error

	looks chan struct{} // bounds how many sessions look at a time

	mu       sync.Mutex
	seats    []*seat                     // guarded by mu; the first one looks
	sessions map[*SharedSession]struct{} // guarded by mu
	news     uint64                      // guarded by mu: how often there was any
	emptyAt  uint64                      // guarded by mu: news when a look that began then found nothing
	freshTo  time.Time                   // guarded by mu: until when that look is believed
}

// sessionLooks is how many sessions of a group look for messages at a time.
const sessionLooks = 4

// signal tells those who wait for a group (uuid.Nil: any) that there may be news.
func (ws *watches) signal(group uuid.UUID) {
	ws.mu.Lock()
	var concerned []*watch
	for _, w := range ws.byKey {
		if group == uuid.Nil || w.group == group {
			concerned = append(concerned, w)
		}
	}
	ws.mu.Unlock()
	for _, w := range concerned {
		w.signal()
	}
}

// signal may be called with locks of the journal held, and takes none but its own.
func (w *watch) signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news++
	if len(w.seats) > 0 {
		w.seats[0].call()
	}
	for s := range w.sessions {
		s.notify()
	}
}

// join returns the watch of a key, which it builds if there is none. Each needs
// one release. An error of the followers is in watch.err: then only the timers
// bring news.
func (ws *watches) join(ctx context.Context, key string, group uuid.UUID, build func(w *watch) error) (*watch, error) {
	ws.mu.Lock()
	w := ws.byKey[key]
	mine := w == nil
	if mine {
		w = &watch{
			key: key, group: group, built: make(chan struct{}), looks: make(chan struct{}, sessionLooks),
			sessions: make(map[*SharedSession]struct{}),
		}
		if ws.byKey == nil {
			ws.byKey = make(map[string]*watch)
		}
		ws.byKey[key] = w
	}
	w.users++
	ws.mu.Unlock()
	if mine {
		w.err = build(w)
		if w.err != nil {
			ws.mu.Lock()
			if ws.byKey[key] == w {
				delete(ws.byKey, key) // the next one tries again
			}
			ws.mu.Unlock()
		}
		close(w.built)
	}
	select {
	case <-w.built: // followers and err were set before
		return w, nil
	case <-ctx.Done():
		ws.release(w)
		return nil, context.Cause(ctx)
	}
}

// release takes one join back; the last one ends the followers.
func (ws *watches) release(w *watch) {
	ws.mu.Lock()
	w.users--
	last := w.users == 0
	if last && ws.byKey[w.key] == w {
		delete(ws.byKey, w.key)
	}
	ws.mu.Unlock()
	if last {
		for _, f := range w.followers {
			f.Close()
		}
	}
}

// watchKey names what a receiver waits for: the same for all receivers of a
// group, until one of its topics has more queues.
func (r *receiver) watchKey(topics []meta.Topic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", r.group.ID)
	for i, t := range topics {
		fmt.Fprintf(&b, "\n%s %d %s", t.ID, t.Queues, r.filterAt(i))
	}
	return b.String()
}

// watch joins the watch for topics. An error that will not pass is returned.
func (r *receiver) watch(ctx context.Context, topics []meta.Topic) (*watch, error) {
	w, err := r.e.watches.join(ctx, r.watchKey(topics), r.group.ID, func(w *watch) error {
		for i, topic := range topics {
			f, err := r.follow(ctx, topic, r.filterAt(i), w)
			if err != nil {
				return err
			}
			w.followers = append(w.followers, f)
		}
		return nil
	})
	if err == nil && w.err != nil && !passing(w.err) {
		err = w.err
		r.e.watches.release(w)
	}
	return w, err
}

// follow has the watch told of messages that pass the filter.
func (r *receiver) follow(ctx context.Context, topic meta.Topic, f filter.Filter, w *watch) (*journal.Follower, error) {
	return r.e.Journal.Follow(ctx, journal.FollowOptions{Topic: topic, Filter: f, Notify: w.signal})
}

// newsNow is a count that tells later whether there was news since.
func (w *watch) newsNow() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.news
}

// foundNothing notes that a look that began at news found nothing, so that
// others need not look before there is news again, or a message is due.
func (w *watch) foundNothing(news uint64, l *look) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.emptyAt, w.freshTo = news, time.Now().Add(l.lookAgain())
}

// idle reports whether there is nothing to look for, by what others found, and
// for how long.
func (w *watch) idle() (left time.Duration, idle bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left = time.Until(w.freshTo)
	return left, w.news == w.emptyAt && left > 0
}

// lookAgain is how long after a look that found nothing the next one is due.
func (l *look) lookAgain() time.Duration {
	if l.dueIn > 0 {
		return min(l.dueIn, recheckEvery)
	}
	return recheckEvery
}
