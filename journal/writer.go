package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
)

const (
	// maxPuts bounds the PUTs in flight, maxUndecided the segments between
	// sealing and the decision of their last commit: what has to be said
	// "outcome unknown" to when Redis stays away.
	maxPuts      = 4
	maxUndecided = 8
	// maxBurnt bounds the segments given up and not noted: above it nothing
	// joins until the store takes a note again.
	maxBurnt = 1000
	// maxIdentified bounds what one commit script has to look up and remember.
	maxIdentified = 1000
	// maxTimed bounds the delayed messages of one commit script likewise: a batch
	// that has so many takes no more.
	maxTimed = 1000
	// minLinger is how long a batch stays open at least, when there is a linger:
	// requests that come together shall share a segment.
	minLinger = 2 * time.Millisecond
	// receiptDelay is how long an idle writer keeps receipts to itself.
	receiptDelay = time.Second
)

// writer is one incarnation of a process that appends. Requests join the open
// batch; the flusher seals batches into segments, numbered from 1; putters
// store them, several at a time; the committer commits them in order and
// answers the requests.
type writer struct {
	id      uuid.UUID
	options Options
	store   objstore.Store
	log     *slog.Logger
	metrics *metrics

	// What the writer asks of its journal; set before run.
	commit    func(context.Context, []meta.Commit) []meta.CommitResult
	lost      func(ctx context.Context) (bool, error) // has Redis lost what a missing topic would have been in?
	suspect   func(reason string)                     // Redis knows less than before: recover
	stored    func(meta.SegmentRef, []byte)           // takes the bytes of a durable segment, before it is committed
	committed func([]meta.Commit, []meta.CommitResult)

	wake     chan struct{} // tells the flusher that something below has changed
	puts     chan *sealed  // flusher → putters
	sealed   chan *sealed  // flusher → committer, in seq order; only segments with messages
	finished chan struct{} // closed by the flusher when closing and nothing is left

	mu        sync.Mutex
	open      *batch                   // guarded by mu; nil when empty
	full      []*batch                 // guarded by mu; closed batches in front of open
	held      int64                    // guarded by mu; memory of what is not decided
	inPut     int                      // guarded by mu; segments that hold a putter
	undecided int                      // guarded by mu; segments sealed and not decided
	nextAuto  map[uuid.UUID]uint32     // guarded by mu
	keys      map[inFlightKey]struct{} // guarded by mu; idempotency keys being stored
	draining  bool                     // guarded by mu; nothing joins
	closing   bool                     // guarded by mu; flush what there is and end
	dead      bool                     // guarded by mu; the loops have ended
	resumed   chan struct{}            // guarded by mu; non-nil while Redis is being recovered, closed at the end
	era       uint64                   // guarded by mu; recoveries so far
	ledger    ledger                   // guarded by mu

	flusher flusher // owned by flushLoop

	memory *segmentMemory // of the segments that are sealed

	timers sync.Pool // of *time.Timer, stopped; for requests that wait
}

// inFlightKey is an idempotency key within its topic.
type inFlightKey struct {
	topic uuid.UUID
	key   [16]byte
}

func newWriter(id uuid.UUID, options Options, m *metrics, log *slog.Logger) *writer {
	return &writer{
		id: id, options: options, store: options.Store, log: log, metrics: m,
		wake:     make(chan struct{}, 1),
		puts:     make(chan *sealed, maxPuts),
		sealed:   make(chan *sealed, maxUndecided),
		finished: make(chan struct{}),
		nextAuto: make(map[uuid.UUID]uint32),
		keys:     make(map[inFlightKey]struct{}),
		ledger:   newLedger(),
		memory:   newSegmentMemory(options.SegmentBytes),
	}
}

// run is the life of the writer: until finish, or the end of ctx.
func (w *writer) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(w.puts)
		defer close(w.sealed)
		return w.flushLoop(ctx)
	})
	for range maxPuts {
		group.Go(func() error { return w.putLoop(ctx) })
	}
	committer := newCommitter(w)
	group.Go(func() error { return committer.run(ctx) })
	err := group.Wait()
	committer.abandon()
	return err
}

// join puts a request into the open batch. From then on it is stored or its
// outcome is unknown, whoever waits for it.
func (w *writer) join(d *Draft, now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := d.held()
	key := inFlightKey{d.topic.ID, d.identity.Key}
	if err := w.admit(held, d.identity.Keyed(), key); err != nil {
		return err
	}
	b := w.openBatch(now, d)
	b.add(d, w.auto)
	if d.identity.Keyed() {
		w.keys[key] = struct{}{}
	}
	w.hold(held)
	if b.size >= w.options.SegmentBytes {
		w.rotate()
	}
	if w.crowded() {
		w.signal()
	}
	return nil
}

// admit says why a request may not join now. Guarded by mu.
func (w *writer) admit(held int64, keyed bool, key inFlightKey) error {
	switch {
	case w.draining || w.dead:
		return ErrDraining
	case w.resumed != nil:
		return ErrRecovering
	case len(w.ledger.burnt) >= maxBurnt:
		return fmt.Errorf("%w: the store took none of the last %d segments", ErrUnavailable, len(w.ledger.burnt))
	case w.held+held > w.options.BufferBytes:
		return fmt.Errorf("%w: %d bytes are not stored yet", ErrBufferFull, w.held)
	}
	if keyed {
		if _, ok := w.keys[key]; ok {
			return ErrKeyInFlight
		}
	}
	return nil
}

// admits says why nothing may be appended now; nil: it may.
func (w *writer) admits() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.admit(0, false, inFlightKey{})
}

// openBatch returns the batch that d joins. Guarded by mu.
func (w *writer) openBatch(now time.Time, d *Draft) *batch {
	if b := w.open; b != nil {
		t := b.byTopic[d.topic.ID]
		if b.size+int64(d.size) <= w.options.SegmentBytes && (t == nil || t.identified < maxIdentified && t.timed < maxTimed) {
			return b
		}
		w.rotate()
	}
	w.open = newBatch(now)
	w.signal()
	return w.open
}

// rotate closes the open batch, to be sealed as soon as a putter is free.
// Guarded by mu.
func (w *writer) rotate() {
	w.full = append(w.full, w.open)
	w.open = nil
	w.signal()
}

// auto returns the queue of the next segment's messages without a choice:
// segment by segment the next one. Guarded by mu.
func (w *writer) auto(t *meta.Topic) uint32 {
	queue := w.nextAuto[t.ID] % t.Queues
	w.nextAuto[t.ID] = queue + 1
	return queue
}

// hold accounts for n bytes of memory, fewer when negative. Guarded by mu.
func (w *writer) hold(n int64) {
	w.held += n
	w.metrics.buffered.Set(float64(w.held))
}

// crowded says that the buffer is so full that waiting for company makes no
// sense. Guarded by mu.
func (w *writer) crowded() bool { return w.held >= w.options.BufferBytes/4*3 }

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
}

// finish flushes and waits until everything is decided and its receipts are in
// the bucket, or until run has ended for another reason.
func (w *writer) finish(ctx context.Context, ran <-chan struct{}) error {
	w.mu.Lock()
	w.draining, w.closing = true, true
	w.signal()
	w.mu.Unlock()
	select {
	case <-w.finished:
		return nil
	case <-ran:
		select {
		case <-w.finished: // just before
			return nil
		default:
		}
		return errors.New("journal: it stopped before its last segments were decided")
	case <-ctx.Done():
		return fmt.Errorf("flush the last segments: %w", ctx.Err())
	}
}

func (w *writer) closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closing
}

// pause stops flushing and committing while Redis is being recovered; resume
// goes on. Requests are refused with ErrRecovering in between.
func (w *writer) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.resumed == nil {
		w.resumed = make(chan struct{})
	}
}

func (w *writer) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.resumed != nil {
		close(w.resumed)
		w.resumed = nil
		w.era++
		w.signal()
	}
}

// paused returns a channel that is closed when the recovery is over, nil when
// there is none, and how many there have been.
func (w *writer) paused() (resumed <-chan struct{}, era uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.resumed, w.era
}

// sameEra fails when a recovery has begun since that one: it may have decided anew
// what it found no receipt of.
func (w *writer) sameEra(era uint64) error {
	if resumed, now := w.paused(); resumed != nil || now != era {
		return fmt.Errorf("%w: the index is found again", ErrOutcomeUnknown)
	}
	return nil
}

// abandon answers what the ended loops left behind: batches that were never
// sealed are not in the store. It may be called when nothing runs any more.
func (w *writer) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	batches := w.full
	if w.open != nil {
		batches = append(batches, w.open)
	}
	w.full, w.open = nil, nil
	for _, b := range batches {
		b.abandon(fmt.Errorf("%w: the process ended first", ErrUnavailable))
		w.hold(-b.held)
	}
}
