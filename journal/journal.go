// Package journal is the engine: it makes appends durable segments of the
// bucket, gives their messages offsets through Redis, reads them back by
// offset, and rebuilds Redis from the bucket when it has lost data.
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
	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
)

// Options says where a journal keeps its messages and how it trades latency
// for requests on the store.
type Options struct {
	Store objstore.Store // required
	Meta  *meta.DB       // required

	// Linger is how long an append may wait for others to share its segment;
	// at most one segment a Linger is written. Zero = 100 ms, negative = none:
	// a segment is written whenever none is in flight.
	Linger time.Duration
	// SegmentBytes closes a segment at once. Zero = 8 MiB.
	SegmentBytes int64
	// BufferBytes bounds what is appended and not yet decided; above it appends
	// get ErrBufferFull. Zero = 256 MiB.
	BufferBytes int64
	// CacheBytes bounds the cache of the read path. Zero = its default.
	CacheBytes int64
	// AppendTimeout bounds how long an append waits for its answer and how long
	// the PUT of a segment is tried. Zero = 30 s.
	AppendTimeout time.Duration
	// Exclusive says that no other process can write this bucket, so every
	// earlier writer is dead when this one starts.
	Exclusive bool

	Log      *slog.Logger          // nil = slog.Default
	Registry prometheus.Registerer // nil = metrics are kept and not exported
}

// Sizes and times that Options fill in.
const (
	DefaultLinger        = 100 * time.Millisecond
	DefaultSegmentBytes  = 8 << 20
	DefaultBufferBytes   = 256 << 20
	DefaultAppendTimeout = 30 * time.Second
)

func (o Options) withDefaults() Options {
	switch {
	case o.Linger == 0:
		o.Linger = DefaultLinger
	case o.Linger < 0:
		o.Linger = 0
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = DefaultSegmentBytes
	}
	if o.BufferBytes == 0 {
		o.BufferBytes = DefaultBufferBytes
	}
	if o.AppendTimeout == 0 {
		o.AppendTimeout = DefaultAppendTimeout
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Journal appends to and reads from one bucket and its Redis. Its methods may
// be called concurrently. Open it, keep Run running, and stop it with Drain
// and Close.
type Journal struct {
	*reader // Read, Find, Search, Follow

	options Options
	store   objstore.Store
	meta    *meta.DB
	log     *slog.Logger
	metrics *metrics

	storeID uuid.UUID // of bucketmq.json, set by Open
	writer  *writer
	topics  *topicCache
	clock   clock
	guard   *guard

	runMu   sync.Mutex
	running bool               // guarded by runMu
	stop    context.CancelFunc // guarded by runMu; ends Run
	ran     chan struct{}      // closed when Run has returned
}

// Open binds the bucket to Redis (each names the other, so that a mix-up is
// refused with ErrWrongStore) and rebuilds Redis from the bucket when it is
// empty. The journal appends and notices only while Run runs.
func Open(ctx context.Context, options Options) (*Journal, error) {
	options = options.withDefaults()
	if options.Store == nil || options.Meta == nil {
		return nil, errors.New("journal: Options need a Store and a Meta")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make a writer id: %w", err)
	}
	j := &Journal{
		options: options,
		store:   options.Store,
		meta:    options.Meta,
		log:     options.Log.With("writer", id.String()),
		ran:     make(chan struct{}),
	}
	j.metrics = newMetrics(options.Registry)
	j.topics = newTopicCache(j.meta)
	j.clock.read = j.meta.Now
	j.guard = newGuard(j)
	j.writer = newWriter(id, options, j.metrics, j.log)
	j.writer.commit = j.meta.Commit
	j.writer.lost = j.guard.lost
	j.writer.suspect = j.guard.suspect
	j.reader = newReader(readerOptions{
		Store: j.store, Meta: j.meta, CacheBytes: options.CacheBytes, Memory: j.writer.memory, Log: j.log, Registry: options.Registry,
		TopicChanged: j.topics.drop,
		RolledBack:   func(topic uuid.UUID) { j.guard.suspect("a read of topic " + topic.String()) },
	})
	j.writer.stored = j.reader.stored
	j.writer.committed = j.reader.committed
	if err := j.bind(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// Run writes segments, commits them, follows the other processes and keeps this
// one known as alive, until Close or the end of ctx. After Close it returns
// nil. A ctx that ends first gives up what is in flight: those appends get
// ErrOutcomeUnknown, and the ones never sent to the store ErrUnavailable.
func (j *Journal) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	j.runMu.Lock()
	if j.running {
		j.runMu.Unlock()
		return errors.New("journal: Run was called twice")
	}
	j.running, j.stop = true, stop
	j.runMu.Unlock()
	defer close(j.ran)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return j.writer.run(ctx) })
	group.Go(func() error { return j.reader.run(ctx) })
	group.Go(func() error { return j.guard.run(ctx) })
	err := group.Wait()
	j.writer.abandon()
	if j.writer.closed() && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Drain refuses further appends and wakes every waiting reader, both with
// ErrDraining. What was appended before is still written.
func (j *Journal) Drain() {
	j.writer.drain()
	j.reader.drain()
}

// Close drains, writes what is buffered and the receipts of everything that
// was committed, takes the writer off the list of living ones and ends Run. An
// error says that ctx ended or the store failed before all of it was done;
// acknowledged messages are safe all the same.
func (j *Journal) Close(ctx context.Context) error {
	j.Drain()
	j.runMu.Lock()
	running, stop := j.running, j.stop
	j.runMu.Unlock()
	if !running {
		j.writer.abandon()
		return nil
	}
	err := j.writer.finish(ctx, j.ran)
	if err == nil {
		if err = j.meta.RetireWriter(ctx, j.writer.id); err != nil {
			err = fmt.Errorf("retire writer: %w", err)
		}
	}
	stop()
	<-j.ran
	return err
}
