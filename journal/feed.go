package journal

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// subscribeTimeout bounds how long a reader waits until notices of its topic
	// come. Without them it learns of news by the periodic look-ups.
	subscribeTimeout = time.Second
	// tailLinger is how long a topic is followed after its last reader left.
	tailLinger = time.Minute
	// catchUpLookups bounds how many look-ups follow lost notices of one queue.
	catchUpLookups = 8
)

// run receives notices, looks up what they may have missed, and loads ahead of
// readers that catch up, until ctx ends.
func (r *reader) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.feed.Run(ctx) })
	group.Go(func() error { return r.recheckLoop(ctx) })
	for range aheadLoads {
		group.Go(func() error { return r.aheadLoop(ctx) })
	}
	return group.Wait()
}

// drain ends all waiting, now and later.
func (r *reader) drain() { r.drainOnce.Do(func() { close(r.drained) }) }

// notice takes in a hint of the feed. It never blocks.
func (r *reader) notice(n meta.Notice) {
	if n.TopicChanged != "" && r.topicChanged != nil {
		r.topicChanged(n.TopicChanged)
	}
	if len(n.Entries) > 0 {
		if t := r.tails.of(n.Topic); t != nil {
			t.apply(n.Epoch, n.Entries)
		}
	}
	if n.Lost || r.tails.named(n.TopicChanged) {
		select {
		case r.recheckNow <- struct{}{}:
		default: // one is asked for already
		}
	}
}

// subscribe sees to it that notices of the topic come. It does not insist: a
// topic without notices is looked up periodically.
func (r *reader) subscribe(ctx context.Context, t *topicTail, limit time.Duration) {
	done, mine := t.claimSubscription()
	if done == nil && !mine {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(limit, subscribeTimeout))
	defer cancel()
	if mine {
		t.subscribedWith(r.feed.Watch(ctx, t.id))
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// claimSubscription says who subscribes: the caller, or somebody else who closes
// done afterwards, or nobody any more when both are zero.
func (t *topicTail) claimSubscription() (done chan struct{}, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.subscribed:
		return nil, false
	case t.subscribing != nil:
		return t.subscribing, false
	}
	t.subscribing = make(chan struct{})
	return nil, true
}

func (t *topicTail) subscribedWith(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.subscribed = err == nil
	close(t.subscribing)
	t.subscribing = nil
}

// recheckLoop looks up what waiting readers may have missed: notices can be
// lost. Its cost depends on the number of topics waited for, not of readers.
func (r *reader) recheckLoop(ctx context.Context) error {
	ticker := time.NewTicker(r.recheckEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-r.recheckNow:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for _, t := range r.tails.all() {
			if r.tails.drop(t, time.Now().Add(-tailLinger)) {
				r.feed.Unwatch(t.id)
				continue
			}
			r.recheck(ctx, t)
		}
	}
}

// recheck compares what is known of a topic's waited-for queues with Redis.
func (r *reader) recheck(ctx context.Context, t *topicTail) {
	queues, growing := t.waitedFor()
	if len(queues) == 0 && !growing {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	r.subscribe(ctx, t, subscribeTimeout)
	if growing {
		if topic, err := r.meta.TopicByID(ctx, t.id); err == nil {
			t.grown(topic.Queues)
		}
	}
	epoch, states, err := r.meta.Bounds(ctx, t.id, queues)
	if err != nil {
		r.metrics.rechecks.WithLabelValues("error").Inc()
		if !transient(r.indexError(t.id, err)) && ctx.Err() == nil {
			t.doubt() // the topic is gone: they will be told
		}
		return
	}
	outcome := "nothing"
	for _, state := range states {
		known, next := t.known(state.Queue)
		if known != epoch || next < state.Next {
			outcome = "missed"
			r.catchUp(ctx, t, epoch, state, next)
			continue
		}
		t.observe(state.Queue, meta.Window{Epoch: epoch, Min: state.Min, Next: state.Next})
	}
	r.metrics.rechecks.WithLabelValues(outcome).Inc()
}

// catchUp looks up the entries after next that no notice told of. What is too
// much for it is left to the readers.
func (r *reader) catchUp(ctx context.Context, t *topicTail, epoch int64, state meta.QueueState, next int64) {
	for range catchUpLookups {
		if next < state.Min || next >= state.Next {
			break
		}
		w, err := r.meta.Lookup(ctx, t.id, state.Queue, next, lookupEntries)
		if err != nil || len(w.Entries) == 0 {
			return // the next recheck tries again
		}
		t.apply(w.Epoch, w.Entries)
		next = w.Entries[len(w.Entries)-1].Next
		epoch, state.Min, state.Next = w.Epoch, w.Min, w.Next
	}
	t.observe(state.Queue, meta.Window{Epoch: epoch, Min: state.Min, Next: state.Next})
}

// waitedFor returns the queues with a waiting reader, and whether anybody waits
// for new queues.
func (t *topicTail) waitedFor() (queues []uint32, growing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for queue, q := range t.queues {
		if len(q.seats) > 0 {
			queues = append(queues, queue)
		}
	}
	return queues, len(t.growing) > 0
}

// grown takes in how many queues the topic has now.
func (t *topicTail) grown(count uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grow(count)
}

// doubt has everybody who waits for the topic ask Redis.
func (t *topicTail) doubt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.queues {
		q.confirmedAt = time.Time{}
		q.callAll()
	}
	for _, s := range t.growing {
		s.call()
	}
}
