package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/bucketmq/bucketmq/meta"
)

// commitAttempt bounds one pipeline; what it leaves open is asked again.
const commitAttempt = 10 * time.Second

// committer gives the messages of durable segments their offsets. Segments come
// to it strictly in seq order, whatever the order in which their PUTs end: so
// two requests of one connection get offsets in the order in which they joined.
// A topic that cannot be decided yet (lost reply, Redis away, recovery) keeps
// its own later segments waiting and no other topic's. The run loop owns all
// fields.
type committer struct {
	w     *writer
	lanes []*lane // the topics with something to commit, the longest waiting first
	known map[uuid.UUID]*knownTopic
	era   uint64 // the recovery that known is newer than

	head *sealed // the next segment, while it may not be committed yet
	put  bool    // the PUT of head has succeeded; it waits for earlier segments
}

// knownTopic is what this writer has seen of a topic: less in Redis is a loss.
type knownTopic struct {
	epoch int64
	next  map[uint32]int64
}

func newCommitter(w *writer) *committer {
	return &committer{w: w, known: make(map[uuid.UUID]*knownTopic)}
}

// run commits until the flusher has ended and all is decided, or ctx ends.
func (c *committer) run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	incoming := c.w.sealed
	for {
		before := c.advance()
		resumed, retryAt := c.work(ctx)
		if incoming == nil && c.head == nil && len(c.lanes) == 0 {
			return nil
		}
		var retry <-chan time.Time
		if !retryAt.IsZero() {
			timer.Reset(time.Until(retryAt))
			retry = timer.C
		}
		var in <-chan *sealed
		var put <-chan struct{}
		switch {
		case c.head == nil:
			in = incoming
		case !c.put:
			put = c.head.putDone
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s, ok := <-in:
			if c.head = s; !ok {
				incoming = nil
			}
		case <-put:
			c.put = c.head.putErr == nil
			if !c.put {
				c.missed(c.head)
				c.head = nil
			}
		case <-before:
		case <-retry:
		case <-resumed:
		}
	}
}

// advance takes in a durable head, unless an earlier segment is neither durable
// nor noted as given up: it then returns what to wait for.
func (c *committer) advance() (before <-chan struct{}) {
	if c.head == nil || !c.put {
		return nil
	}
	c.w.mu.Lock()
	before = c.w.ledger.before(c.head.seq)
	c.w.mu.Unlock()
	if before == nil {
		c.arrived(c.head)
		c.head, c.put = nil, false
	}
	return before
}

// missed answers the requests of a segment that was given up.
func (c *committer) missed(s *sealed) {
	for _, commit := range s.commits {
		c.w.decided(commit, nil, func(t *topicBatch) { t.fail(s.putErr) })
	}
}

// arrived takes in a durable segment.
func (c *committer) arrived(s *sealed) {
	c.w.stored(meta.SegmentRef{Writer: c.w.id, Seq: s.seq}, s.object)
	s.object = nil
	for _, commit := range s.commits {
		c.lane(commit.commit.Topic).add(commit)
	}
}

func (c *committer) lane(topic uuid.UUID) *lane {
	for _, l := range c.lanes {
		if l.topic == topic {
			return l
		}
	}
	l := &lane{topic: topic}
	c.lanes = append(c.lanes, l)
	return l
}

// work commits the first segment of every topic that is due, again and again
// until none is. It returns what else to wait for: the end of a recovery, or
// the next retry.
func (c *committer) work(ctx context.Context) (resumed <-chan struct{}, retryAt time.Time) {
	for ctx.Err() == nil {
		var era uint64
		if resumed, era = c.w.paused(); resumed != nil {
			return resumed, time.Time{}
		}
		if era != c.era {
			// What was known of the lost Redis says nothing about this one.
			c.era, c.known = era, make(map[uuid.UUID]*knownTopic)
			for _, l := range c.lanes {
				l.retryAt = time.Time{}
			}
		}
		now := time.Now()
		var due []*topicCommit
		retryAt = time.Time{}
		for _, l := range c.lanes {
			if l.retryAt.After(now) {
				retryAt = sooner(retryAt, l.retryAt)
			} else {
				due = append(due, l.commits[0])
			}
		}
		if len(due) == 0 {
			return nil, retryAt
		}
		c.round(ctx, due)
	}
	return nil, time.Time{}
}

// round sends one pipeline and settles what it decided.
func (c *committer) round(ctx context.Context, due []*topicCommit) {
	commits := make([]meta.Commit, len(due))
	for i, d := range due {
		c.bound(&d.commit)
		commits[i] = d.commit
	}
	began := time.Now()
	attempt, cancel := context.WithTimeout(ctx, commitAttempt)
	attempt, span := tracer.Start(attempt, "segment.commit", trace.WithAttributes(
		attribute.Int64("bucketmq.segment.seq", int64(due[0].segment.seq)), attribute.Int("bucketmq.topics", len(due))))
	results := c.w.commit(attempt, commits)
	span.End()
	cancel()
	c.w.metrics.commitTime.Observe(time.Since(began).Seconds())

	// Readers of this process first: who is told an offset can read it.
	c.w.committed(commits, results)
	for i, d := range due {
		if wait, err := c.settle(ctx, d, &results[i]); wait {
			c.lane(d.commit.Topic).retry(c.w, d, err)
		} else {
			c.finished(d)
		}
	}
}

// bound puts what is known of the topic's epoch and offsets into the commit.
func (c *committer) bound(commit *meta.Commit) {
	k := c.known[commit.Topic]
	if k == nil {
		return
	}
	commit.Epoch = max(commit.Epoch, k.epoch)
	for i := range commit.Queues {
		q := &commit.Queues[i]
		q.KnownNext = 0
		if commit.Epoch == k.epoch {
			q.KnownNext = k.next[q.Queue]
		}
	}
}

// learn remembers what a commit's result tells of the topic.
func (c *committer) learn(topic uuid.UUID, epoch int64, entries []meta.Entry) {
	k := c.known[topic]
	if k == nil || k.epoch != epoch {
		k = &knownTopic{epoch: epoch, next: make(map[uint32]int64)}
		c.known[topic] = k
	}
	for _, e := range entries {
		k.next[e.Queue] = max(k.next[e.Queue], e.Next)
	}
}

// finished takes a decided commit off its lane.
func (c *committer) finished(d *topicCommit) {
	l := c.lane(d.commit.Topic)
	if l.next(); len(l.commits) == 0 {
		c.lanes = slices.DeleteFunc(c.lanes, func(other *lane) bool { return other == l })
	}
}

// abandon answers what is left when the loops have ended early. All PUTs are
// decided by then.
func (c *committer) abandon() {
	fail := func(s *sealed, commits []*topicCommit, err error) {
		for _, d := range commits {
			c.w.decided(d, nil, func(t *topicBatch) { t.fail(err) })
		}
	}
	unknown := fmt.Errorf("%w: the process ended before the commit", ErrOutcomeUnknown)
	for _, l := range c.lanes {
		fail(nil, l.commits, unknown)
	}
	left := c.head
	for ; left != nil; left = <-c.w.sealed {
		err := unknown
		if errors.Is(left.putErr, ErrUnavailable) {
			err = left.putErr
		}
		fail(left, left.commits, err)
	}
}
