package group

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	// peekAtOnce is how many queues are peeked at in one round trip.
	peekAtOnce = 64
	// grantTries is how often a receive tries to get messages of one queue when
	// others are faster.
	grantTries = 4
)

// look is one search for messages through the queues of a group. It is used
// once, by one goroutine.
type look struct {
	r     *receiver
	reply *ReceiveReply

	maxMessages int
	maxBytes    int64
	bytes       int64 // of the reply's messages

	topics []meta.Topic  // as receiver.topics returns them; nil: the look ended before
	more   bool          // there may be messages that nobody looked at
	dueIn  time.Duration // until the next hidden message is due; 0: none is hidden
}

// queueView is what a look knows of one queue.
type queueView struct {
	meta.SharedQueue
	topic    meta.Topic
	filter   filter.Filter
	settings *meta.Settings
	meta.SharedView
	again bool // the view is old
}

// look goes through the group's queues until it has messages, there are none, or
// the time is up. An error is returned only when there is nothing else.
func (r *receiver) look(ctx context.Context, until time.Time, maxMessages int, maxBytes int64) (*look, error) {
	l := &look{r: r, maxMessages: maxMessages, maxBytes: maxBytes}
	for {
		l.reply, l.more, l.dueIn = &ReceiveReply{}, false, 0
		err := l.pass(ctx)
		if !l.empty() {
			return l, nil
		}
		if err != nil || !l.more || !time.Now().Before(until) {
			return l, err
		}
	}
}

func (l *look) empty() bool { return len(l.reply.Messages)+len(l.reply.Gaps) == 0 }

func (l *look) full() bool { return len(l.reply.Messages) >= l.maxMessages || l.bytes >= l.maxBytes }

// verdict says whether a receive ends with this look, and with what.
func (l *look) verdict(err error, last bool) (done bool, reply *ReceiveReply, _ error) {
	switch {
	case err == nil && !l.empty():
		return true, l.reply, nil
	case err != nil && (last || !passing(err)):
		return true, nil, err
	case last:
		return true, &ReceiveReply{}, nil
	}
	return false, nil, nil
}

// pass visits every queue once, from any one on, a part of them at a time.
func (l *look) pass(ctx context.Context) error {
	views, err := l.queues(ctx)
	if err != nil {
		return err
	}
	start := rand.IntN(max(1, len(views)))
	views = append(views[start:], views[:start]...)
	part := peekAtOnce
	if l.r.attemptID != "" {
		part = max(1, len(views)) // all that was granted to the attempt is one batch
	}
	for part := range slices.Chunk(views, part) {
		if err := l.visit(ctx, part); err != nil || l.full() {
			return err
		}
	}
	return nil
}

// queues lists the queues of the topics that the group consumes.
func (l *look) queues(ctx context.Context) (views []*queueView, err error) {
	if l.topics, err = l.r.topics(ctx); err != nil {
		return nil, err
	}
	if err := l.r.refresh(ctx); err != nil {
		return nil, err
	}
	for i, t := range l.topics {
		for queue := range t.Queues {
			q := meta.SharedQueue{Group: l.r.group.ID, Topic: t.ID, Queue: queue, Ordered: l.r.group.Ordered}
			views = append(views, &queueView{SharedQueue: q, topic: t, filter: l.r.filterAt(i), settings: l.r.settingsAt(i)})
		}
	}
	return views, nil
}

// begin gives the group a start in every queue of the receiver's topics that it has
// none in, and returns the topics.
func (r *receiver) begin(ctx context.Context) ([]meta.Topic, error) {
	l := &look{r: r, maxMessages: 1}
	views, err := l.queues(ctx)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(views, peekAtOnce) {
		if err := l.peek(ctx, part); err != nil {
			return nil, err
		}
	}
	return l.topics, nil
}

// topics returns the topics of the receiver's subscriptions, and behind them the
// group's retry topic, if there is one.
func (r *receiver) topics(ctx context.Context) ([]meta.Topic, error) {
	topics := make([]meta.Topic, 0, len(r.subscriptions))
	for _, sub := range r.subscriptions {
		t, err := r.e.Journal.Topic(ctx, sub.Topic)
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	retry, exists, err := r.e.Failures.retry(ctx, r.group)
	if err != nil {
		return nil, unavailable(err)
	}
	if exists {
		topics = append(topics, retry)
	}
	return topics, nil
}

// visit takes what there is in some queues: first where messages are due again.
func (l *look) visit(ctx context.Context, views []*queueView) error {
	if err := l.peek(ctx, views); err != nil {
		return err
	}
	if again := slices.DeleteFunc(slices.Clone(views), func(v *queueView) bool { return v.State != meta.SharedAgain }); len(again) > 0 {
		return l.repeat(ctx, again)
	}
	ends, err := l.ends(ctx, views)
	if err != nil {
		return err
	}
	slices.SortStableFunc(views, func(a, b *queueView) int { return min(len(b.Due), 1) - min(len(a.Due), 1) })
	for _, v := range views {
		if l.full() {
			l.more = true
			break
		}
		if len(v.Due) == 0 && (v.State != meta.SharedFree || v.Position == ends[v.Topic][v.Queue] || v.room() == 0) {
			continue
		}
		if err := l.take(ctx, v); err != nil {
			return err
		}
	}
	for _, v := range views {
		if v.DueIn > 0 && (l.dueIn == 0 || v.DueIn < l.dueIn) {
			l.dueIn = v.DueIn
		}
	}
	return nil
}

// room is how many new messages the queue can give.
func (v *queueView) room() int {
	if v.State != meta.SharedFree || v.Ordered && int(v.InFlight) > len(v.Due) {
		return 0
	}
	most := int64(meta.MaxInFlight)
	if n := int64(v.settings.ThresholdMessages); n > 0 {
		most = min(most, n)
	}
	return int(max(0, most-v.InFlight))
}

// peek looks at queues, and begins to consume the ones that are new to the group.
func (l *look) peek(ctx context.Context, views []*queueView) error {
	for begun := false; ; begun = true {
		queues := make([]meta.SharedQueue, len(views))
		for i, v := range views {
			queues[i] = v.SharedQueue
		}
		seen, errs := l.r.e.Meta.SharedPeek(ctx, queues, l.maxMessages, l.r.attemptID)
		var strange []meta.Topic
		for i, v := range views {
			v.SharedView, v.again = seen[i], false
			if errors.Is(errs[i], meta.ErrNoOffset) && !begun {
				strange = append(strange, v.topic)
			} else if errs[i] != nil {
				return unavailable(errs[i])
			}
		}
		if len(strange) == 0 {
			return nil
		}
		strange = slices.CompactFunc(strange, func(a, b meta.Topic) bool { return a.ID == b.ID })
		if err := l.r.e.Begin(ctx, l.r.group, strange); err != nil {
			return fmt.Errorf("begin group %s: %w", l.r.group.Name, unavailable(err))
		}
	}
}

// ends returns where the queues of each topic that may give new messages end.
func (l *look) ends(ctx context.Context, views []*queueView) (map[uuid.UUID]map[uint32]int64, error) {
	wanted := make(map[uuid.UUID][]uint32)
	for _, v := range views {
		if v.room() > 0 {
			wanted[v.Topic] = append(wanted[v.Topic], v.Queue)
		}
	}
	ends := make(map[uuid.UUID]map[uint32]int64, len(wanted))
	for topic, queues := range wanted {
		_, states, err := l.r.e.Meta.Bounds(ctx, topic, queues)
		if err != nil {
			return nil, unavailable(err)
		}
		ends[topic] = make(map[uint32]int64, len(states))
		for _, s := range states {
			ends[topic][s.Queue] = s.Next
		}
	}
	return ends, nil
}

// take reads messages of a queue and then hides them. When others got something
// of it in between it starts over.
func (l *look) take(ctx context.Context, v *queueView) error {
	unlock, waited, err := l.r.e.places.lock(ctx, place{v.Group, v.Topic, v.Queue})
	if err != nil {
		return err
	}
	defer unlock()
	v.again = waited
	for range grantTries {
		if v.again {
			if err := l.peek(ctx, []*queueView{v}); err != nil {
				return err
			}
		}
		if len(v.Due) == 0 && v.room() == 0 {
			return nil
		}
		p, err := l.read(ctx, v)
		if err != nil || !p.changes(v) {
			return err
		}
		granted, err := l.r.e.Meta.SharedGrant(ctx, p.grant(l.r, v))
		if errors.Is(err, meta.ErrSharedMoved) {
			l.r.e.metrics.conflicts.Inc()
			v.again = true
			continue
		}
		if err != nil {
			return unavailable(err)
		}
		return l.granted(ctx, v, p, granted)
	}
	l.more = true
	return nil
}

// granted takes over what a grant came to.
func (l *look) granted(ctx context.Context, v *queueView, p *portion, granted meta.SharedGranted) error {
	l.more = l.more || p.more
	l.reply.Gaps = append(l.reply.Gaps, p.gaps...)
	l.r.e.skipped(v, p.gaps)
	for i, ok := range granted.Due {
		if ok {
			if err := l.deliver(ctx, v, p.dueMessages[i], p.due[i].Attempts+1, granted.Deadline); err != nil {
				return err
			}
		}
	}
	for i := range p.newMessages {
		if err := l.deliver(ctx, v, p.newMessages[i], 1, granted.Deadline); err != nil {
			return err
		}
	}
	if p.next > v.Position || len(p.gone) > 0 {
		l.r.e.Progressed(l.r.group.ID)
	}
	return nil
}

// deliver adds a message to the reply. One of the retry topic is shown as it was
// where it comes from.
func (l *look) deliver(ctx context.Context, v *queueView, m journal.Stored, attempt, deadline int64) error {
	receipt := receipt{
		group: v.Group, topic: v.Topic, queue: v.Queue,
		offset: m.Offset, version: v.Version, era: v.Era, attempt: attempt,
	}
	topic, queue := v.topic.Name, v.Queue
	if journal.IsRetryTopic(topic) {
		if origin, before := OriginOf(m); origin.Topic != "" {
			topic, queue, m = origin.Topic, origin.Queue, before
			receipt.before = origin.Attempts
			attempt += origin.Attempts
		}
	}
	text, err := receipt.seal(ctx, l.r.e.Signer)
	if err != nil {
		return err
	}
	l.reply.Messages = append(l.reply.Messages, Received{
		Topic: topic, Queue: queue, Stored: m, Receipt: text, Attempt: attempt, Deadline: deadline,
	})
	l.bytes += int64(len(m.Raw))
	l.r.e.metrics.received(attempt)
	return nil
}
