package group

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Limits of shared consumption.
const (
	// MaxReceive is how many messages one receive returns at most.
	MaxReceive = 32
	// MaxReceipts is how many receipts one call may bring.
	MaxReceipts = 1000
	// MaxAttemptID bounds the length of ReceiveRequest.AttemptID.
	MaxAttemptID = 128
	// MinInvisible and MaxInvisible limit how long a delivery hides a message.
	MinInvisible = 10 * time.Second
	MaxInvisible = 12 * time.Hour
)

// ErrBroadcasting says that every member of the group gets every message: there
// is nothing to share.
var ErrBroadcasting = errors.New("group: broadcasting groups are not shared")

// sharedOptions are what shared consumption needs of the engine around it.
type sharedOptions struct {
	Journal  *journal.Journal
	Meta     *meta.DB
	Signer   *Signer
	Failures *failures // nil = one of its own
	Log      *slog.Logger
	Registry prometheus.Registerer // nil = metrics are kept and not exported

	// Group looks a live group up. Nil = in Redis.
	Group func(ctx context.Context, name string) (meta.Group, error)
	// Begin gives the group a start, by its consume_from, in each queue of the
	// topics that it has no offset in.
	Begin func(ctx context.Context, g meta.Group, topics []meta.Topic) error
	// Progressed is told that the group's offsets have moved. Nil = nobody is.
	Progressed func(group uuid.UUID)
}

// sharedEngine lets any number of receivers share the messages of a group
// without owning queues. A receive hides messages for a time and hands out a
// signed receipt for each; what is not acknowledged in that time comes again.
// All that must survive is in Redis and in the receipts: this process may die
// between any two calls, and another one goes on.
//
// What is promised, per group and queue: a message is given to one receiver at a
// time; the group's offset is the first message that is not finished; each grant
// counts as one attempt, also when its answer was lost. In an ordered group
// nothing is given while a message before it is hidden.
type sharedEngine struct {
	sharedOptions
	metrics *sharedMetrics
	places  places
	watches watches
	slow    sync.Map // names of groups whose last receive ran out of time

	drainOnce sync.Once
	drained   chan struct{} // closed by drain
}

func newSharedEngine(o sharedOptions) *sharedEngine {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Group == nil {
		o.Group = o.Meta.Group
	}
	if o.Progressed == nil {
		o.Progressed = func(uuid.UUID) {}
	}
	if o.Failures == nil {
		o.Failures = newFailures(o.Journal, nil)
	}
	return &sharedEngine{sharedOptions: o, metrics: newSharedMetrics(o.Registry), drained: make(chan struct{})}
}

// drain ends every wait: receives return what they have.
func (e *sharedEngine) drain() { e.drainOnce.Do(func() { close(e.drained) }) }

// Changed wakes those who wait for messages of a group: its offsets, settings or
// what is in flight have changed.
func (e *sharedEngine) Changed(group uuid.UUID) { e.watches.signal(group) }

// Lost wakes everybody who waits: changes may have gone unnoticed.
func (e *sharedEngine) Lost() { e.watches.signal(uuid.Nil) }

// passing reports whether a fault may be over in a moment.
func passing(err error) bool {
	return errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrRecovering) || errors.Is(err, context.DeadlineExceeded)
}
