package meta

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Notice is a hint that something changed. It may be lost or come twice.
type Notice struct {
	Topic        uuid.UUID
	Epoch        int64
	Entries      []Entry // what a commit of Topic added
	Lost         bool    // the connection was renewed: re-check everything
	TopicChanged string  // name of a topic that was created, changed or deleted
	GroupChanged uuid.UUID
	GroupWhat    string    // what of GroupChanged: one of the Changed constants
	Timers       uuid.UUID // topic that has delayed messages, the first of them due at TimersDue
	TimersDue    int64
	Replied      uuid.UUID // request that there is a reply to
}

// Feed delivers notices of watched topics and of all topic changes.
type Feed struct {
	db *DB
	on func(Notice)

	wake chan struct{} // buffered by one: watches changed

	only    string // set before Run: the channel that is heard in place of changes; "": changes are
	mu      sync.Mutex
	watches map[uuid.UUID]*watch // guarded by mu
}

// watch is one topic's subscription, guarded by Feed.mu. With count 0 it stays
// until the session unsubscribes it.
type watch struct {
	count     int           // Watch calls without their Unwatch
	sent      bool          // the session has subscribed it
	live      bool          // Redis has confirmed that; confirmed is closed
	confirmed chan struct{} // renewed with the connection
}

// NewFeed makes a feed that calls on from its Run goroutine, one notice after
// the other; on must not block.
func (db *DB) NewFeed(on func(Notice)) *Feed {
	return &Feed{db: db, on: on, wake: make(chan struct{}, 1), watches: map[uuid.UUID]*watch{}}
}

// WatchTimers makes the feed notice the delayed messages of all topics instead of
// changes of topics and groups, and say with a notice with Lost from when on it
// does. It is called before Run.
func (f *Feed) WatchTimers() { f.only = channelTimers }

// WatchReplies makes the feed notice replies to requests instead of changes of
// topics and groups, and say with a notice with Lost from when on it does. It is
// called before Run.
func (f *Feed) WatchReplies() { f.only = channelReplies }

// Run receives until ctx ends and returns ctx's error. It reconnects by itself;
// a notice with Lost follows once all subscriptions are confirmed again.
func (f *Feed) Run(ctx context.Context) error {
	const shortest, longest = 20 * time.Millisecond, time.Second
	pause := shortest
	for renewed := false; ; renewed = true {
		s := f.newSession(renewed)
		err := s.run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.complete {
			pause = shortest
		}
		f.db.log.Warn("redis feed interrupted", slog.Any("error", err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, longest)
	}
}

// Watch asks for the notices of a topic and returns once Redis has confirmed
// it: what is committed from then on is noticed, as far as hints go. Calls are
// counted: each that returned nil needs one Unwatch. It needs Run to be running.
func (f *Feed) Watch(ctx context.Context, topic uuid.UUID) error {
	f.mu.Lock()
	w := f.watches[topic]
	if w == nil {
		w = &watch{confirmed: make(chan struct{})}
		f.watches[topic] = w
	}
	w.count++
	confirmed := w.confirmed
	f.mu.Unlock()
	f.signal()
	select {
	case <-confirmed:
		return nil
	case <-ctx.Done():
		f.Unwatch(topic)
		return fmt.Errorf("watch %s: %w", topic, ctx.Err())
	}
}

// Unwatch takes one Watch of the topic back.
func (f *Feed) Unwatch(topic uuid.UUID) {
	f.mu.Lock()
	if w := f.watches[topic]; w != nil && w.count > 0 {
		w.count--
	}
	f.mu.Unlock()
	f.signal()
}

func (f *Feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default: // the session will look anyway
	}
}
