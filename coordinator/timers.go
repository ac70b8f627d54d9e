package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// fireTopics is how many topics fire at the same time.
	fireTopics = 8
	// fireTurns bounds how often a topic fires before others get their turn.
	fireTurns = 4
	// fireRetry is the pause after a firing that failed.
	fireRetry = 200 * time.Millisecond
	// fireIdle is the longest sleep without a timer in sight.
	fireIdle = 5 * time.Second
	// logFiredEvery is how long offsets that a firing gave are known to Redis alone.
	logFiredEvery = 300 * time.Millisecond
	// logFiredLast bounds the last time that they are logged.
	logFiredLast = 5 * time.Second
)

// timekeeper fires delayed messages for as long as this process leads. It knows
// when the first timer of each topic is due: from what commits publish, and from
// a look at all topics now and then, since that is only a hint.
type timekeeper struct {
	*coordinator
	wake chan struct{} // buffered by one: something is due earlier, or a sweep is

	mu    sync.Mutex
	next  map[uuid.UUID]int64    // guarded by mu; topic → when to fire, by Redis' clock
	fired map[uuid.UUID]struct{} // guarded by mu; topics with offsets that are not in the log
	sweep bool                   // guarded by mu; a look at all topics is wanted
}

func newTimekeeper(c *coordinator) *timekeeper {
	return &timekeeper{
		coordinator: c, wake: make(chan struct{}, 1),
		next: map[uuid.UUID]int64{}, fired: map[uuid.UUID]struct{}{}, sweep: true,
	}
}

// run fires until ctx ends. It then makes durable what it has fired.
func (k *timekeeper) run(ctx context.Context) {
	feed := k.Meta.NewFeed(k.notice)
	feed.WatchTimers()
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { _ = feed.Run(ctx) }) // ends with ctx
	work.Go(func() { k.logLoop(ctx) })
	sweep := time.NewTicker(k.TimersEvery)
	defer sweep.Stop()
	for ctx.Err() == nil {
		if k.sweepWanted() {
			if err := k.lookAtAll(ctx); err != nil {
				k.failed(ctx, fmt.Errorf("look at the timers: %w", err))
				k.wantSweep()
				pause(ctx, fireRetry)
			}
		}
		due, wait := k.takeDue(ctx)
		if len(due) > 0 {
			k.fireAll(ctx, due)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-k.wake:
		case <-timer.C:
		case <-sweep.C:
			k.wantSweep()
		}
		timer.Stop()
	}
}

func (k *timekeeper) notice(n meta.Notice) {
	switch {
	case n.Lost:
		k.wantSweep()
	case n.Timers != uuid.Nil && n.TimersDue == 0:
		k.noteFired(n.Timers) // a commit of a transaction gave offsets
	case n.Timers != uuid.Nil:
		k.add(n.Timers, n.TimersDue)
	}
}

// add sees to it that the topic fires then, or earlier.
func (k *timekeeper) add(topic uuid.UUID, due int64) {
	k.mu.Lock()
	known, ok := k.next[topic]
	earlier := !ok || due < known
	if earlier {
		k.next[topic] = due
	}
	k.mu.Unlock()
	if earlier {
		k.signal()
	}
}

func (k *timekeeper) signal() {
	select {
	case k.wake <- struct{}{}:
	default: // it will be seen anyway
	}
}

// wantSweep asks for a look at all topics.
func (k *timekeeper) wantSweep() {
	k.mu.Lock()
	k.sweep = true
	k.mu.Unlock()
	k.signal()
}

func (k *timekeeper) sweepWanted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	wanted := k.sweep
	k.sweep = false
	return wanted
}

// lookAtAll learns the first timer of every topic, and which topics have offsets
// that an earlier leader gave and did not log.
func (k *timekeeper) lookAtAll(ctx context.Context) error {
	topics, err := k.Meta.KnownTopics(ctx)
	if err != nil {
		return err
	}
	counts, err := k.Meta.CountTimers(ctx, topics)
	if err != nil {
		return err
	}
	waiting := int64(0)
	for _, c := range counts {
		waiting += c.Waiting
		if c.Next != 0 {
			k.add(c.Topic, c.Next)
		}
		if c.Fired > 0 {
			k.noteFired(c.Topic)
		}
	}
	k.metrics.timersWaiting.Set(float64(waiting))
	return nil
}

// takeDue takes the topics with a timer that is due; without any it says for how
// long to sleep.
func (k *timekeeper) takeDue(ctx context.Context) (due []uuid.UUID, wait time.Duration) {
	k.mu.Lock()
	none := len(k.next) == 0
	k.mu.Unlock()
	if none {
		return nil, fireIdle
	}
	now, _, err := k.Journal.RedisNow()
	if err != nil {
		k.failed(ctx, err)
		return nil, fireRetry
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	wait = fireIdle
	for topic, at := range k.next {
		if at > now {
			wait = min(wait, time.Duration(at-now)*time.Millisecond)
			continue
		}
		due = append(due, topic)
		delete(k.next, topic)
	}
	return due, wait
}

func (k *timekeeper) fireAll(ctx context.Context, topics []uuid.UUID) {
	var group errgroup.Group
	group.SetLimit(fireTopics)
	for _, topic := range topics {
		group.Go(func() error {
			k.fire(ctx, topic)
			return nil
		})
	}
	_ = group.Wait() // only ever nil
}

// fire fires what is due in a topic and notes when to come again.
func (k *timekeeper) fire(ctx context.Context, topic uuid.UUID) {
	for turn := 1; ; turn++ {
		f, err := k.Journal.Fire(ctx, topic)
		switch {
		case errors.Is(err, meta.ErrTopicNotFound) && !errors.Is(err, meta.ErrTopicAbsent):
			return // deleted, and its timers with it
		case err != nil:
			k.noteFired(topic) // only the reply may be lost
			if !errors.Is(err, meta.ErrRecovering) {
				k.failed(ctx, fmt.Errorf("fire timers of topic %s: %w", topic, err))
			}
			k.again(topic)
			return
		}
		if f.Messages > 0 {
			k.noteFired(topic)
			k.metrics.timersFired.Add(float64(f.Messages))
			for _, late := range f.Late {
				k.metrics.timersLate.Observe(float64(late) / 1000)
			}
		}
		if !f.More || turn == fireTurns {
			if f.Next != 0 {
				k.add(topic, f.Next)
			}
			return
		}
	}
}

// again has the topic fire after a little while.
func (k *timekeeper) again(topic uuid.UUID) {
	now, _, err := k.Journal.RedisNow()
	if err != nil {
		now = 0 // as long as nobody knows the time, nothing fires
	}
	k.add(topic, now+fireRetry.Milliseconds())
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (k *timekeeper) noteFired(topic uuid.UUID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fired[topic] = struct{}{}
}

// logLoop makes the offsets durable that firings gave, and once more when ctx has
// ended: a process that stops in order leaves nothing to fire twice.
func (k *timekeeper) logLoop(ctx context.Context) {
	tick := time.NewTicker(logFiredEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), logFiredLast)
			defer cancel()
			k.logFired(last)
			return
		case <-tick.C:
			k.logFired(ctx)
		}
	}
}

func (k *timekeeper) logFired(ctx context.Context) {
	k.mu.Lock()
	topics := make([]uuid.UUID, 0, len(k.fired))
	for topic := range k.fired {
		topics = append(topics, topic)
	}
	clear(k.fired)
	k.mu.Unlock()
	if len(topics) == 0 {
		return
	}
	if err := k.Journal.LogFired(ctx, topics); err != nil {
		k.failed(ctx, fmt.Errorf("log the offsets of timers: %w", err))
		for _, topic := range topics {
			k.noteFired(topic)
		}
	}
}
