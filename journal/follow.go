package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/meta"
)

// PositionKind says how a Position is meant.
type PositionKind int

// Kinds of positions.
const (
	Latest   PositionKind = iota // only what is stored from now on
	Earliest                     // everything that is still there
	AtOffset                     // from Position.Value on, in each queue
	AtTime                       // what was stored at or after Position.Value, in Unix milliseconds
)

// Position is where a follower starts. The zero value is Latest.
type Position struct {
	Kind  PositionKind
	Value int64
}

// FollowOptions says what to follow.
type FollowOptions struct {
	Topic  meta.Topic
	Queues []uint32 // none: all queues, also those that the topic gets later
	From   Position // where to start
	Cursor string   // when not empty, instead of From: where another follower ended
	Filter filter.Filter
	// Notify, where it is set, is called when there may be something for Poll,
	// also before Follow returns. It must return at once and must not use the
	// follower. Next then never sees news by itself.
	Notify func()
}

// Item is a message of one of several queues.
type Item struct {
	Queue uint32
	Stored
}

// Why a follower's next offset in a queue is not the one after the last.
const (
	GapTrimmed   = "trimmed"       // the messages were removed by retention
	GapCorrupt   = "corrupt"       // the messages are damaged or gone
	GapEpoch     = "epoch_changed" // offsets were given anew: messages may repeat or be missing
	GapBeyondEnd = "beyond_end"    // the position was beyond the end of the queue
)

// Gap announces that the follower goes on at To instead of From.
type Gap struct {
	Queue    uint32
	From, To int64
	Reason   string
	Epoch    int64 // from now on
}

// Batch is what a follower has received.
type Batch struct {
	Items []Item // of one queue in order; queues in turn
	Gaps  []Gap  // what lies before the items; loss is never silent
	// CaughtUp says that there was nothing more when the batch was made.
	CaughtUp bool

	bytes  int64  // of the items
	before Cursor // where the items start
	at     int    // items that before covers by now
}

// Cursor returns the cursor that covers the gaps and the items 0 to i: a
// follower that starts there gets the next ones. -1 covers the gaps alone. It is
// to be called with growing i.
func (b *Batch) Cursor(i int) string {
	for ; b.at <= i; b.at++ {
		b.before.move(b.Items[b.at].Queue, b.Items[b.at].Offset+1)
	}
	return b.before.String()
}

// Follower reads several queues of a topic as they grow. Its methods must not be
// called concurrently, except Close.
type Follower struct {
	r      *reader
	topic  meta.Topic
	want   want
	epoch  int64
	queues []*followed // by queue
	turn   int         // where the next batch starts, so that every queue gets its turn

	waiter    *waiter
	tail      *topicTail
	closeOnce sync.Once
	closed    chan struct{}
}

// followed is a follower's place in one queue.
type followed struct {
	queue uint32
	next  int64
	ready bool // there may be something to read
}

// errClosed says that a follower was closed while it waited.
var errClosed = errors.New("journal: follower closed")

// Follow starts to follow queues of a topic. What Latest means is decided before
// it returns. The follower must be closed. ErrCursor: the cursor is not one of
// this topic; other errors are those of Read.
func (r *reader) Follow(ctx context.Context, o FollowOptions) (*Follower, error) {
	cursor, err := cursorOf(o)
	if err != nil {
		return nil, err
	}
	growing := len(o.Queues) == 0
	queues := slices.Clone(o.Queues)
	if growing {
		for queue := range o.Topic.Queues {
			queues = append(queues, queue)
		}
	}
	slices.Sort(queues)
	queues = slices.Compact(queues)
	w := newWant(o.Filter)
	f := &Follower{r: r, topic: o.Topic, want: w, waiter: newWaiter(w), closed: make(chan struct{})}
	f.waiter.notify = o.Notify
	f.tail = r.tails.sit(o.Topic, f.waiter, queues, growing)
	r.metrics.waiting.Inc()
	if err := f.start(ctx, queues, o.From, cursor); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// cursorOf returns the cursor that the options name, nil when they name none.
func cursorOf(o FollowOptions) (*Cursor, error) {
	if o.Cursor == "" {
		return nil, nil
	}
	c, err := ParseCursor(o.Cursor)
	if err != nil {
		return nil, err
	}
	if c.Topic != o.Topic.ID {
		return nil, fmt.Errorf("%w: of another topic", ErrCursor)
	}
	return &c, nil
}

// start finds where each queue is followed from.
func (f *Follower) start(ctx context.Context, queues []uint32, from Position, cursor *Cursor) error {
	f.r.subscribe(ctx, f.tail, subscribeTimeout)
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	epoch, states, err := f.r.meta.Bounds(ctx, f.topic.ID, queues)
	if err != nil {
		return f.r.indexError(f.topic.ID, err)
	}
	f.epoch = epoch
	if cursor != nil {
		f.epoch = cursor.Epoch
	}
	for _, state := range states {
		next, err := f.position(ctx, from, cursor, state)
		if err != nil {
			return err
		}
		f.queues = append(f.queues, &followed{queue: state.Queue, next: next, ready: true})
		f.tail.move(f.waiter, state.Queue, next)
	}
	return nil
}

// position returns where one queue is followed from. A queue that the cursor
// does not know is newer than it: none of its messages was seen.
func (f *Follower) position(ctx context.Context, from Position, cursor *Cursor, state meta.QueueState) (int64, error) {
	if cursor != nil {
		if offset, ok := cursor.offset(state.Queue); ok {
			return offset, nil
		}
		return state.Min, nil
	}
	switch from.Kind {
	case Earliest:
		return state.Min, nil
	case AtOffset:
		return from.Value, nil
	case AtTime:
		return f.r.Find(ctx, f.topic, state.Queue, from.Value)
	default:
		return state.Next, nil
	}
}

// Next returns messages and gaps as soon as there are any, up to maxMessages of
// together maxBytes (soft: a first message always comes; 0 = defaults). When ctx
// ends first it returns its cause, and the follower can be used on. ErrDraining:
// this process is going away. ErrTopicNotFound: the topic was deleted. While the
// store or Redis do not answer it keeps waiting.
func (f *Follower) Next(ctx context.Context, maxMessages int, maxBytes int64) (*Batch, error) {
	maxMessages = limitOf(maxMessages, DefaultReadMessages, MaxReadMessages)
	maxBytes = limitOf(maxBytes, DefaultReadBytes, MaxReadBytes)
	for {
		select {
		case <-f.r.drained:
			return nil, ErrDraining
		case <-f.closed:
			return nil, errClosed
		default:
		}
		b, err := f.collect(ctx, maxMessages, maxBytes)
		if len(b.Items)+len(b.Gaps) > 0 {
			return b, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && !transient(err) {
			return nil, err
		}
		if err == nil && !b.CaughtUp {
			continue
		}
		if err := f.await(ctx, err != nil); err != nil {
			return nil, err
		}
	}
}

// Poll is Next without the wait: a batch without items and gaps says that there
// is nothing now, if it is also CaughtUp, or that Poll should be called again at
// once. Errors are those of Next and, as nothing waits for better times here,
// ErrUnavailable and ErrRecovering.
func (f *Follower) Poll(ctx context.Context, maxMessages int, maxBytes int64) (*Batch, error) {
	select {
	case <-f.r.drained:
		return nil, ErrDraining
	case <-f.closed:
		return nil, errClosed
	default:
	}
	b, err := f.collect(ctx, limitOf(maxMessages, DefaultReadMessages, MaxReadMessages), limitOf(maxBytes, DefaultReadBytes, MaxReadBytes))
	if len(b.Items)+len(b.Gaps) > 0 {
		return b, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return b, err
}

// await returns when there is news, or after a while when there was a fault.
func (f *Follower) await(ctx context.Context, faulty bool) error {
	var retry <-chan time.Time
	if faulty {
		timer := time.NewTimer(retryAfter)
		defer timer.Stop()
		retry = timer.C
	}
	select {
	case <-f.waiter.wake:
		f.r.metrics.wakeups.Inc()
	case <-retry:
	case <-f.r.drained: // Next says so
	case <-f.closed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// collect reads what there is without waiting, queue after queue.
func (f *Follower) collect(ctx context.Context, maxMessages int, maxBytes int64) (*Batch, error) {
	f.takeCalls()
	b := &Batch{before: f.cursor()}
	var fault error
	for i := range f.queues {
		q := f.queues[(f.turn+i)%len(f.queues)]
		full := len(b.Items) >= maxMessages || b.bytes >= maxBytes
		for gaps := -1; q.ready && fault == nil && !full && gaps < len(b.Gaps); {
			gaps = len(b.Gaps) // only behind a gap there is more to read of this queue
			fault = f.read(ctx, q, b, maxMessages-len(b.Items), maxBytes-b.bytes)
		}
	}
	f.turn++
	b.CaughtUp = fault == nil && !slices.ContainsFunc(f.queues, func(q *followed) bool { return q.ready })
	return b, fault
}

// takeCalls marks the queues that have news and adds the topic's new queues,
// which are followed from their start.
func (f *Follower) takeCalls() {
	for _, queue := range f.tail.calls(f.waiter) {
		at, ok := slices.BinarySearchFunc(f.queues, queue, func(q *followed, queue uint32) int {
			return int(int64(q.queue) - int64(queue))
		})
		if !ok {
			f.queues = slices.Insert(f.queues, at, &followed{queue: queue})
		}
		f.queues[at].ready = true
	}
}

// read adds one page of a queue to the batch, or the gap that is there instead.
func (f *Follower) read(ctx context.Context, q *followed, b *Batch, maxMessages int, maxBytes int64) error {
	read := Read{Topic: f.topic, Queue: q.queue, Epoch: f.epoch, MaxMessages: maxMessages, MaxBytes: maxBytes, Filter: f.want.filter}
	page, err := f.r.look(ctx, &read, &f.want, q.next, readTimeout)
	var bounds *BoundsError
	var corrupt *CorruptError
	var epoch *EpochError
	switch {
	case err == nil:
		for i := range page.Messages {
			b.Items = append(b.Items, Item{Queue: q.queue, Stored: page.Messages[i]})
			b.bytes += int64(len(page.Messages[i].Raw))
		}
		q.next, q.ready = page.Next, page.Next < page.Max
		f.tail.move(f.waiter, q.queue, q.next)
	case errors.As(err, &bounds) && bounds.Trimmed:
		f.jump(b, q, bounds.Min, GapTrimmed)
	case errors.As(err, &bounds):
		f.jump(b, q, bounds.Next, GapBeyondEnd)
	case errors.As(err, &corrupt):
		f.jump(b, q, corrupt.Next, GapCorrupt)
	case errors.As(err, &epoch) && len(b.Items) > 0:
		return nil // those were of the old epoch: the new one starts with the next batch
	case errors.As(err, &epoch):
		return f.enter(ctx, b)
	default:
		return err
	}
	return nil
}

// jump announces a gap and goes on behind it.
func (f *Follower) jump(b *Batch, q *followed, to int64, reason string) {
	b.Gaps = append(b.Gaps, Gap{Queue: q.queue, From: q.next, To: to, Reason: reason, Epoch: f.epoch})
	q.next = to
	b.before.move(q.queue, to)
}

// enter goes on in the topic's new epoch. Offsets may name other messages now,
// so each queue gets a gap, also one whose position stays the same.
func (f *Follower) enter(ctx context.Context, b *Batch) error {
	queues := make([]uint32, len(f.queues))
	for i, q := range f.queues {
		queues[i] = q.queue
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	epoch, states, err := f.r.meta.Bounds(ctx, f.topic.ID, queues)
	if err != nil {
		return f.r.indexError(f.topic.ID, err)
	}
	f.epoch, b.before.Epoch = epoch, epoch
	for i, q := range f.queues {
		f.jump(b, q, min(max(q.next, states[i].Min), states[i].Next), GapEpoch)
		q.ready = true
	}
	return nil
}

// Cursor returns where the follower goes on, as a string for FollowOptions.
func (f *Follower) Cursor() string { return f.cursor().String() }

func (f *Follower) cursor() Cursor {
	c := Cursor{Topic: f.topic.ID, Epoch: f.epoch, Next: make([]QueueOffset, len(f.queues))}
	for i, q := range f.queues {
		c.Next[i] = QueueOffset{Queue: q.queue, Offset: q.next}
	}
	return c
}

// Close ends the follower and what waits in Next. It may be called repeatedly.
func (f *Follower) Close() {
	f.closeOnce.Do(func() {
		close(f.closed)
		f.tail.leave(f.waiter)
		f.r.metrics.waiting.Dec()
	})
}
