package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

const (
	// DefaultCacheBytes bounds the segments that are kept in memory for readers
	// when Options say nothing.
	DefaultCacheBytes = 128 << 20
	// DefaultReadMessages and DefaultReadBytes limit a page that names no limit.
	DefaultReadMessages = 100
	DefaultReadBytes    = 4 << 20
	// MaxReadMessages and MaxReadBytes limit every page.
	MaxReadMessages = 1000
	MaxReadBytes    = 32 << 20
	// MaxRawMessages is MaxReadMessages of a raw read, in which a message costs
	// nothing but its bytes.
	MaxRawMessages = 100_000
	// MaxWait limits how long a read waits for messages.
	MaxWait = 30 * time.Second

	// readTimeout bounds one look for messages, waiting not included.
	readTimeout = 10 * time.Second
	// lateBy is how much longer than asked for a read that waits may take.
	lateBy = 500 * time.Millisecond
	// retryAfter is how soon a waiting reader tries again after a fault.
	retryAfter = time.Second
	// hotEntries and hotBytes are how far behind the end of its queue a reader
	// counts as one at the tail.
	hotEntries, hotBytes = 8, 8 << 20
	// hotGets and coldGets bound the requests to the store at a time.
	hotGets, coldGets = 16, 8
)

// Read asks for a page of one queue.
type Read struct {
	Topic  meta.Topic
	Queue  uint32
	Offset int64 // of the first message to look at
	Epoch  int64 // the topic epoch that Offset belongs to; 0: any

	MaxMessages int   // 0 = DefaultReadMessages, at most MaxReadMessages
	MaxBytes    int64 // of the records; the first message always comes. 0 = DefaultReadBytes

	// Wait is how long to wait for a message when there is none at Offset yet,
	// at most MaxWait. 0 answers at once.
	Wait   time.Duration
	Filter filter.Filter // zero: every message
	Raw    bool          // fill Page.Runs in place of Page.Messages; MaxMessages may be MaxRawMessages
	Clamp  bool          // read from the nearest offset there is instead of a BoundsError
}

// What a page says about the messages looked at.
const (
	Found   = "found"    // messages are returned
	NoNew   = "no_new"   // nothing is stored at the offset yet
	NoMatch = "no_match" // the messages up to Next do not pass the filter; go on from Next at once
)

// Stored is a message as it was stored. Its slices alias memory that others
// read: they must never be written to.
type Stored struct {
	Offset   int64
	StoredAt int64 // Unix milliseconds by the clock of Redis
	Record   segment.Record
	Raw      []byte // the record's encoding
}

// Run is messages with consecutive offsets as they were stored, one record behind
// the other. Their bytes alias memory that others read: they must never be
// written to.
type Run struct {
	First    int64 // offset of the first
	Count    int
	StoredAt int64 // of all of them
	Raw      []byte
}

// Page is what one read returns.
type Page struct {
	Status   string
	Messages []Stored
	Runs     []Run // in place of Messages, of a raw read
	Next     int64 // where to read on: after everything that was looked at
	Min, Max int64 // the queue's first offset and the one its next message will get
	Epoch    int64

	users []*object // that the messages are in; released by Release
}

// Release says that nobody reads the messages any more: their memory may be used
// again from there on. It need not be called; the memory is then left to the
// collector, which costs more.
func (p *Page) Release() {
	for _, o := range p.users {
		o.release()
	}
	p.users, p.Messages, p.Runs = nil, nil, nil
}

// reader is the read half of a Journal: it finds messages by offset and by
// time, and wakes those who wait for them.
type reader struct {
	store        objstore.Store
	meta         *meta.DB
	feed         *meta.Feed
	log          *slog.Logger
	metrics      *readMetrics
	topicChanged func(name string)
	rolledBack   func(topic uuid.UUID)

	cache  *objectCache
	memory *segmentMemory
	shares shares
	tails  *tails
	aheads chan ahead // to be loaded by run

	recheckEvery time.Duration // how long a lost notice may go unseen
	recheckNow   chan struct{} // holds at most one
	drainOnce    sync.Once
	drained      chan struct{} // closed by drain
}

// readerOptions are what a reader needs from its journal.
type readerOptions struct {
	Store        objstore.Store
	Meta         *meta.DB
	CacheBytes   int64          // 0 = DefaultCacheBytes
	Memory       *segmentMemory // of the objects that are read
	Log          *slog.Logger
	Registry     prometheus.Registerer // nil = metrics are kept and not exported
	TopicChanged func(name string)     // called for every change of a topic by any process
	RolledBack   func(topic uuid.UUID) // called when Redis knows less than this process has seen
}

func newReader(o readerOptions) *reader {
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Memory == nil {
		o.Memory = newSegmentMemory(DefaultSegmentBytes)
	}
	r := &reader{
		memory: o.Memory,
		store:  o.Store, meta: o.Meta, log: o.Log, metrics: newReadMetrics(o.Registry),
		topicChanged: o.TopicChanged, rolledBack: o.RolledBack,
		cache: newObjectCache(o.CacheBytes, hotGets, coldGets), tails: newTails(), aheads: make(chan ahead, aheadQueue),
		recheckEvery: 5 * time.Second, recheckNow: make(chan struct{}, 1), drained: make(chan struct{}),
	}
	r.feed = o.Meta.NewFeed(r.notice)
	return r
}

// Read returns a page of a queue from an offset on, and waits for messages when
// there are none yet and it may. Status, Next and bounds are those of
// docs/semantics.md, row 75.
//
// *BoundsError: the offset was trimmed or lies beyond the end. *EpochError: the
// topic is in another epoch. *CorruptError: the message at the offset is
// damaged; go on at its Next. ErrTopicNotFound; ErrUnavailable and ErrRecovering:
// ask again later.
func (r *reader) Read(ctx context.Context, read Read) (*Page, error) {
	started := time.Now()
	most := MaxReadMessages
	if read.Raw {
		most = MaxRawMessages
	}
	read.MaxMessages = limitOf(read.MaxMessages, DefaultReadMessages, most)
	read.MaxBytes = limitOf(read.MaxBytes, DefaultReadBytes, MaxReadBytes)
	w := newWant(read.Filter)
	page, err := r.look(ctx, &read, &w, read.Offset, readTimeout)
	if err != nil || page.Status != NoNew || read.Wait <= 0 {
		return page, err
	}
	return r.hold(ctx, &read, w, page, started.Add(min(read.Wait, MaxWait)))
}

func limitOf[N int | int64](n, standard, most N) N {
	if n <= 0 {
		return standard
	}
	return min(n, most)
}

// look scans with a limit in time. At the end of a queue there is nothing to
// scan and nobody to ask.
func (r *reader) look(ctx context.Context, read *Read, w *want, offset int64, limit time.Duration) (*Page, error) {
	if t := r.tails.of(read.Topic.ID); t != nil {
		if w, ok := t.end(read, offset); ok {
			return &Page{Status: NoNew, Next: offset, Min: w.Min, Max: w.Next, Epoch: w.Epoch}, nil
		}
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	page, err := r.scan(inner, read, w, offset)
	if err != nil && ctx.Err() == nil && inner.Err() != nil && !errors.Is(err, ErrUnavailable) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return page, err
}

// hold waits for messages that pass the filter until the deadline: it takes a
// seat, then looks again, and only then waits, so that no message is missed in
// between.
func (r *reader) hold(ctx context.Context, read *Read, w want, page *Page, deadline time.Time) (*Page, error) {
	r.metrics.waiting.Inc()
	defer r.metrics.waiting.Dec()
	waiter := newWaiter(w)
	t := r.tails.sit(read.Topic, waiter, []uint32{read.Queue}, false)
	defer t.leave(waiter)
	t.move(waiter, read.Queue, page.Next)
	r.subscribe(ctx, t, time.Until(deadline))
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	origin := page.Next
	read.Epoch = page.Epoch
	for {
		next, err := r.look(ctx, read, &waiter.want, page.Next, min(readTimeout, max(0, time.Until(deadline))+lateBy))
		switch {
		case err == nil && (next.Status == Found || next.Next < next.Max):
			return next, nil
		case err == nil:
			page = next
			t.move(waiter, read.Queue, page.Next)
		case !transient(err):
			return nil, err
		case ctx.Err() != nil:
			return nil, err
		}
		if late, err := r.await(ctx, waiter, timer.C, err != nil); err != nil {
			return nil, err
		} else if late {
			return r.conclude(ctx, t, read, &waiter.want, page, origin), nil
		}
	}
}

// await returns when there is news, or after a while when the last look met a
// fault. late says that there is no time left.
func (r *reader) await(ctx context.Context, w *waiter, deadline <-chan time.Time, faulty bool) (late bool, err error) {
	var retry <-chan time.Time
	if faulty {
		timer := time.NewTimer(retryAfter)
		defer timer.Stop()
		retry = timer.C
	}
	select {
	case <-w.wake:
		r.metrics.wakeups.Inc()
		return false, nil
	case <-retry:
		return false, nil
	case <-deadline:
		return true, nil
	case <-r.drained:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// conclude makes the page of a wait that ended without a match. Messages that
// came meanwhile and cannot match were no reason to wake the reader: they are
// passed now.
func (r *reader) conclude(ctx context.Context, t *topicTail, read *Read, w *want, page *Page, origin int64) *Page {
	if _, next := t.known(read.Queue); next > page.Next {
		if last, err := r.look(ctx, read, w, page.Next, lateBy); err == nil {
			page = last
		}
	}
	if page.Status == NoNew && page.Next > origin {
		page.Status = NoMatch
	}
	return page
}

// transient reports whether a fault may pass while a reader waits.
func transient(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRecovering)
}

// window is a stretch of a queue's index.
type window struct {
	meta.Window
	class      class
	remembered bool // not asked of Redis now
}

// window returns the index from an offset on: what is remembered of the tail,
// else what Redis says.
func (r *reader) window(ctx context.Context, read *Read, offset int64) (window, error) {
	t := r.tails.of(read.Topic.ID)
	epoch, next := int64(0), int64(unknownNext)
	if t != nil {
		if w, ok := t.window(read.Queue, offset); ok {
			return window{Window: w, class: hot, remembered: true}, nil
		}
		if w, ok := t.end(read, offset); ok {
			return window{Window: w, class: hot, remembered: true}, nil
		}
		epoch, next = t.known(read.Queue)
	}
	r.metrics.lookups.Inc()
	w, err := r.meta.Lookup(ctx, read.Topic.ID, read.Queue, offset, lookupEntries)
	if err != nil {
		return window{}, r.indexError(read.Topic.ID, err)
	}
	if w.Epoch == epoch && w.Next < next || w.Epoch < epoch {
		return window{}, r.backwards(read.Topic.ID, read.Queue)
	}
	if t != nil {
		t.observe(read.Queue, w)
	}
	in := cold
	if n := len(w.Entries); n > 0 && n <= hotEntries && w.Entries[n-1].Next == w.Next && bytesOf(w.Entries) <= hotBytes {
		in = hot
	}
	return window{Window: w, class: in}, nil
}

func bytesOf(entries []meta.Entry) (n int64) {
	for i := range entries {
		n += entries[i].Length
	}
	return n
}

// backwards handles a Redis that has lost what this process saw.
func (r *reader) backwards(topic uuid.UUID, queue uint32) error {
	if r.rolledBack != nil {
		r.rolledBack(topic)
	}
	return fmt.Errorf("%w: queue %d of topic %s went back", ErrRecovering, queue, topic)
}

// indexError gives an error of the index the meaning it has for a reader.
func (r *reader) indexError(topic uuid.UUID, err error) error {
	var epoch *EpochError
	switch {
	case errors.Is(err, meta.ErrTopicNotFound), errors.As(err, &epoch), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, meta.ErrRolledBack):
		if r.rolledBack != nil {
			r.rolledBack(topic)
		}
		return fmt.Errorf("%w: %w", ErrRecovering, err)
	case errors.Is(err, meta.ErrRecovering), errors.Is(err, meta.ErrNoState):
		return fmt.Errorf("%w: %w", ErrRecovering, err)
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// Find returns the offset of the first message of a queue that was stored at or
// after a time in Unix milliseconds, exactly; when there is none, the offset
// that the next message will get.
func (r *reader) Find(ctx context.Context, topic meta.Topic, queue uint32, at int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	offset, _, err := r.meta.LookupTime(ctx, topic.ID, queue, at, 1)
	if err != nil {
		return 0, r.indexError(topic.ID, err)
	}
	return offset, nil
}
