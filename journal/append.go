package journal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

// Ack says when an append is answered.
type Ack uint8

const (
	// Durable answers when the messages are in the store and have offsets.
	Durable Ack = iota
	// None answers once the messages are buffered: ids only, and a later failure
	// is told to nobody.
	None
)

// Append stores the draft's messages and returns where they are. All of them
// are stored, or none is: ErrBufferFull, ErrUnavailable, ErrRecovering,
// ErrDraining, ErrTopicNotFound, *GapError, *FencedError, *NextOffsetError, ErrKeyReused,
// ErrKeyInFlight and *InvalidError mean none.
//
// A ctx that ends first, or AppendTimeout, gives ErrOutcomeUnknown: a request
// that has joined a batch cannot be taken out again, because the batch may be
// on its way to the store already.
func (j *Journal) Append(ctx context.Context, d *Draft, ack Ack) (*Appended, error) {
	pending, err := j.enqueue(d, ack)
	if err != nil {
		return nil, err
	}
	return pending.Wait(ctx)
}

// Enqueue is the first half of Append: the request has its place in the order
// of its queues when Enqueue returns. Wait on the result is the second half. So
// one connection can have many requests in flight and keep their order.
func (j *Journal) Enqueue(d *Draft, ack Ack) (*Pending, error) {
	pending, err := j.enqueue(d, ack)
	if err != nil {
		return nil, err
	}
	return &pending, nil
}

func (j *Journal) enqueue(d *Draft, ack Ack) (Pending, error) {
	if d.count == 0 {
		return Pending{}, fault{"messages", CodeRequired, "a request has at least one message"}.at(-1)
	}
	// What is read from the draft after it has joined is what only its sender
	// writes: the committer may be answering it already.
	pending := Pending{
		draft: d, writer: j.writer, ack: ack, base: d.base, count: d.count, size: d.size,
		began: time.Now(), timeout: j.options.AppendTimeout, metrics: j.metrics, timers: &j.writer.timers,
	}
	if err := j.writer.join(d, pending.began); err != nil {
		j.metrics.produceRefused(err)
		return Pending{}, err
	}
	return pending, nil
}

var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Pending is a request that waits for its segment.
type Pending struct {
	draft   *Draft
	writer  *writer
	ack     Ack
	base    uuid.UUID
	count   int
	size    int
	began   time.Time
	timeout time.Duration
	metrics *metrics
	timers  *sync.Pool // of *time.Timer, stopped
}

// Done is closed when Wait would not wait.
func (p *Pending) Done() <-chan struct{} {
	if p.ack == None {
		return closedChannel
	}
	return p.draft.home.done
}

// Wait returns what Append returns. It is called once.
func (p *Pending) Wait(ctx context.Context) (*Appended, error) {
	d := p.draft
	if p.ack == None {
		p.metrics.produced(p)
		d.appended = Appended{base: p.base, count: p.count}
		return &d.appended, nil
	}
	err := p.wait(ctx, d.home.done)
	// The committer wrote the answer before it closed done. A verdict on a condition
	// is told when the log has it: whoever finds the index again cannot always tell
	// from the messages which of two writers came first.
	if err == nil && d.proof != nil {
		if err = p.wait(ctx, d.proof); err == nil {
			err = p.writer.sameEra(d.era)
		}
	}
	if err != nil {
		p.metrics.produceRefused(err)
		return nil, err
	}
	if d.err != nil {
		p.metrics.produceRefused(d.err)
		return nil, d.err
	}
	p.metrics.produced(p)
	d.appended = Appended{
		Topic: d.topic.ID, Epoch: d.epoch, Duplicate: d.duplicate,
		base: d.base, count: p.count, parts: d.parts, routes: d.routes,
	}
	return &d.appended, nil
}

func (p *Pending) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	timer := p.timer(time.Until(p.began.Add(p.timeout)))
	defer func() {
		timer.Stop()
		p.timers.Put(timer)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("append: %w: %w", ErrOutcomeUnknown, context.Cause(ctx))
	case <-timer.C:
		return fmt.Errorf("append: %w after %v", ErrOutcomeUnknown, p.timeout)
	}
}

// timer takes a timer of earlier requests, or makes one. A timer that is stopped
// or reset never delivers what it did before.
func (p *Pending) timer(after time.Duration) *time.Timer {
	timer, ok := p.timers.Get().(*time.Timer)
	if !ok {
		return time.NewTimer(after)
	}
	timer.Reset(after)
	return timer
}

// Appended says where the messages of a request are.
type Appended struct {
	Topic     uuid.UUID
	Epoch     int64 // of the topic
	Duplicate bool  // an earlier request with this identity stored them

	base   uuid.UUID
	count  int
	parts  []part
	routes []route
}

// Len is the number of messages.
func (a *Appended) Len() int { return a.count }

// Due returns when message i becomes readable, in Unix milliseconds by Redis'
// clock: zero for one that is not delayed, and when it is not known, as with ack
// None and for a duplicate.
func (a *Appended) Due(i int) int64 {
	switch {
	case len(a.parts) == 0 || a.Duplicate:
		return 0
	case a.routes != nil:
		return a.parts[a.routes[i].part].due
	}
	return a.parts[0].due
}

// Delayed says whether message i is a delayed one, as far as is known.
func (a *Appended) Delayed(i int) bool {
	switch {
	case len(a.parts) == 0:
		return false
	case a.routes != nil:
		return a.parts[a.routes[i].part].due != 0
	}
	return a.parts[0].due != 0
}

// At returns the id and place of message i. The offset is −1 when it is not
// known: with ack None, and for an old duplicate of a producer. Of such a
// duplicate the id may be zero, for the same reason.
func (a *Appended) At(i int) (id uuid.UUID, queue uint32, offset int64) {
	if a.base != uuid.Nil {
		id = segment.MessageID(a.base, i)
	}
	if len(a.parts) == 0 {
		return id, 0, -1
	}
	p, index := &a.parts[0], i
	if a.routes != nil {
		p, index = &a.parts[a.routes[i].part], int(a.routes[i].index)
	}
	if p.first < 0 {
		return id, p.queue, -1
	}
	return id, p.queue, p.first + int64(index)
}
