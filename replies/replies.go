// Package replies brings the reply to a request to the process that waits for it
// (SEMANTICS 2.5): through Redis, so that any process takes a reply, and one that
// lost its connection for a while misses none.
package replies

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	// MaxTimeout is how long a request may wait.
	MaxTimeout = time.Minute
	// MaxReply bounds a reply, as it is kept.
	MaxReply = 256 << 10
	// MaxAddress bounds the text of an address.
	MaxAddress = 256

	// PropertyAddress and PropertyID are the properties of a request's message that
	// say where its reply goes, and that name the request.
	PropertyAddress = "__reply_to"
	PropertyID      = "__correlation_id"

	// recheck is how soon a request looks by itself: notices get lost.
	recheck = time.Second
	// lookWithin bounds one question to Redis.
	lookWithin = 5 * time.Second
)

var (
	// ErrTimeout says that no reply came in time.
	ErrTimeout = errors.New("replies: no reply came in time")
	// ErrStopped says that this process stops; there is no reply so far.
	ErrStopped = errors.New("replies: this process stops")
	// ErrAddress says that an address is none of this installation.
	ErrAddress = errors.New("replies: not an address of a request")
)

// Replies knows the requests of this process that wait. Its methods may be called
// concurrently; Run must be running.
type Replies struct {
	meta   *meta.DB
	signer *group.Signer
	ended  *prometheus.CounterVec

	mu      sync.Mutex
	waiting map[uuid.UUID]chan struct{} // guarded by mu; each holds at most one
}

// New returns Replies without any request. A nil registry: metrics are kept and
// not exported.
func New(db *meta.DB, signer *group.Signer, registry prometheus.Registerer) *Replies {
	r := &Replies{meta: db, signer: signer, waiting: map[uuid.UUID]chan struct{}{}, ended: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bucketmq_requests_total", Help: "Requests that waited for a reply, by what they came to.",
	}, []string{"result"})}
	if registry != nil {
		registry.MustRegister(r.ended, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "bucketmq_requests_waiting", Help: "Requests that wait for a reply.",
		}, func() float64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			return float64(len(r.waiting))
		}))
	}
	return r
}

// Run hears of replies until ctx ends, and returns ctx's error.
func (r *Replies) Run(ctx context.Context) error {
	feed := r.meta.NewFeed(func(n meta.Notice) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if n.Lost {
			for _, w := range r.waiting {
				wake(w)
			}
			return
		}
		if w := r.waiting[n.Replied]; w != nil {
			wake(w)
		}
	})
	feed.WatchReplies()
	return feed.Run(ctx)
}

func wake(w chan struct{}) {
	select {
	case w <- struct{}{}:
	default:
	}
}

// Request waits for a reply from when it is begun.
type Request struct {
	ID      uuid.UUID
	Address string // for whoever replies

	replies *Replies
	news    chan struct{}
	over    time.Time // by this process' clock
	overAt  int64     // by that of Redis, Unix milliseconds
}

// Begin makes a request that waits for timeout; End must be called. Its address is to
// be stored with the message before Wait.
func (r *Replies) Begin(ctx context.Context, timeout time.Duration) (*Request, error) {
	now, err := r.meta.Now(ctx)
	if err != nil {
		return nil, err
	}
	over := time.Now().Add(timeout) // not before the clock of Redis says so
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	overAt := now + timeout.Milliseconds()
	payload := binary.BigEndian.AppendUint64(id[:], uint64(overAt))
	address, err := r.signer.Seal(ctx, group.PurposeReply, payload)
	if err != nil {
		return nil, err
	}
	q := &Request{ID: id, Address: address, replies: r, news: make(chan struct{}, 1), over: over, overAt: overAt}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[id] = q.news
	return q, nil
}

// End forgets the request.
func (q *Request) End() {
	q.replies.mu.Lock()
	defer q.replies.mu.Unlock()
	delete(q.replies.waiting, q.ID)
}

// Wait returns the reply. ErrTimeout; ErrStopped when stop is closed first. When
// nobody waits any more, replies are refused from then on.
func (q *Request) Wait(ctx context.Context, stop <-chan struct{}) (reply []byte, err error) {
	defer func() {
		result := "replied"
		if err != nil {
			result = "canceled"
			if errors.Is(err, ErrTimeout) {
				result = "timeout"
			}
		}
		q.replies.ended.WithLabelValues(result).Inc()
	}()
	end := time.NewTimer(time.Until(q.over))
	defer end.Stop()
	again := time.NewTicker(recheck)
	defer again.Stop()
	for last := false; ; {
		within, cancel := context.WithTimeout(ctx, lookWithin)
		reply, err := q.replies.meta.Reply(within, q.ID)
		cancel()
		if reply != nil {
			return reply, nil
		}
		if last {
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrTimeout, err)
			}
			return nil, ErrTimeout
		}
		select {
		case <-q.news:
		case <-again.C:
		case <-end.C:
			last = true // what was taken in time is there now
		case <-stop:
			return q.leave(ctx, ErrStopped)
		case <-ctx.Done():
			return q.leave(ctx, context.Cause(ctx))
		}
	}
}

// leave ends a request before its time. A reply that was taken is returned.
func (q *Request) leave(ctx context.Context, why error) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWithin)
	defer cancel()
	reply, err := q.replies.meta.EndRequest(ctx, q.ID, q.overAt)
	if reply != nil {
		return reply, nil
	}
	return nil, errors.Join(why, err)
}

// Reply brings the reply to the request of an address. The first one counts.
// ErrAddress; meta.ErrReplied; meta.ErrRequestOver.
func (r *Replies) Reply(ctx context.Context, address string, reply []byte) (request uuid.UUID, err error) {
	payload, err := r.signer.Open(ctx, group.PurposeReply, address)
	if errors.Is(err, group.ErrSignature) || err == nil && len(payload) != 16+8 {
		return uuid.Nil, ErrAddress
	}
	if err != nil {
		return uuid.Nil, err
	}
	request = uuid.UUID(payload[:16])
	return request, r.meta.PutReply(ctx, request, int64(binary.BigEndian.Uint64(payload[16:])), reply)
}
