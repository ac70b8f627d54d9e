package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

const (
	// minPiece is the least that is asked for in one request: smaller ones cost
	// the same time.
	minPiece = 1 << 20
	// smallShare is the part of an object below which a reader that catches up
	// fetches only a piece of it.
	smallShare = 1.0 / 16
	// maxShares bounds how many topics' shares are remembered.
	maxShares = 4096
)

// shares remembers which part of a segment belonged to a topic lately.
type shares struct {
	mu sync.Mutex
	of map[uuid.UUID]float64 // guarded by mu
}

func (s *shares) set(topic uuid.UUID, share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil || len(s.of) >= maxShares {
		s.of = make(map[uuid.UUID]float64)
	}
	s.of[topic] = share
}

// small reports whether most of a segment would be fetched for nothing. Nobody
// knows that of a topic before the first object of it was fetched whole.
func (s *shares) small(topic uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	share, ok := s.of[topic]
	return ok && share < smallShare
}

// pieceOf is what is fetched of a segment when all of it would be too much: the
// entry, and what is before it up to minPiece. An object's size is not known,
// so nothing behind the entry can be asked for.
func pieceOf(e *meta.Entry) pieceKey {
	end := e.Position + e.Length
	start := min(e.Position, max(0, end-minPiece))
	return pieceKey{segment: e.Segment, start: start, length: end - start}
}

// object returns an object that holds the bytes of an entry: from memory, or by
// one GET for everybody who asks for it at the same time. At the tail that is
// the whole segment, which others need as well.
func (r *reader) object(ctx context.Context, topic uuid.UUID, e *meta.Entry, in class) (*object, error) {
	whole := pieceKey{segment: e.Segment}
	if o := r.cache.get(whole); o != nil {
		r.metrics.hits.Inc()
		return o, nil
	}
	if in == cold && r.shares.small(topic) {
		key := pieceOf(e)
		return r.cache.fetch(ctx, key, in, func(ctx context.Context) (*object, error) {
			data, err := r.get(ctx, key)
			if errors.Is(err, objstore.ErrRange) {
				return nil, &CorruptError{First: e.First(), Next: e.Next}
			}
			return newPiece(key.start, data, r.memory), err
		})
	}
	return r.cache.fetch(ctx, whole, in, func(ctx context.Context) (*object, error) {
		data, err := r.get(ctx, whole)
		if err != nil {
			return nil, err
		}
		o := newObject(data, r.memory)
		r.shares.set(topic, o.share(topic))
		return o, nil
	})
}

// again fetches the segment of an entry whose bytes in memory are damaged: the
// damage may have happened on the way. Only what reads the same twice stands for
// good.
func (r *reader) again(ctx context.Context, e *meta.Entry, in class, damaged *object) (*object, error) {
	whole := pieceKey{segment: e.Segment}
	r.cache.dropObject(whole, damaged)
	return r.cache.fetch(ctx, whole, in, func(ctx context.Context) (*object, error) {
		r.metrics.damaged.Inc()
		data, err := r.get(ctx, whole)
		if err != nil {
			return nil, err
		}
		o := newObject(data, r.memory)
		o.final = damaged.start == 0 && bytes.Equal(data, damaged.data)
		return o, nil
	})
}

// get reads bytes of a segment from the store.
func (r *reader) get(ctx context.Context, key pieceKey) ([]byte, error) {
	length := key.length
	if length == 0 {
		length = -1
	}
	name := segment.ObjectKey(key.segment.Writer, key.segment.Seq)
	started := time.Now()
	data, err := r.getInto(ctx, name, key.start, length)
	r.metrics.fetched(len(data), time.Since(started), err)
	switch {
	case err == nil:
		return data, nil
	case errors.Is(err, objstore.ErrNotFound), errors.Is(err, objstore.ErrRange), errors.Is(err, context.Canceled):
		return nil, fmt.Errorf("read segment: %w", err)
	default:
		return nil, fmt.Errorf("%w: read segment: %w", ErrUnavailable, err)
	}
}

// getInto reads into memory of earlier segments where the store can do that.
func (r *reader) getInto(ctx context.Context, name string, start, length int64) ([]byte, error) {
	store, ok := r.store.(objstore.Filler)
	if !ok {
		return r.store.Get(ctx, name, start, length)
	}
	var room []byte
	data, err := store.GetInto(ctx, name, start, length, func(n int64) []byte {
		if int64(cap(room)) < n {
			r.memory.give(room) // of an attempt that failed
			room = r.memory.take(int(n))
		}
		return room[:n]
	})
	if err != nil {
		r.memory.give(room)
	}
	return data, err
}

// stored takes in the bytes of a durable segment of this process, so that
// reading them needs no request. It comes before the commit: a reader that is
// woken by it must find them. data is the reader's from then on and must never
// be changed.
func (r *reader) stored(ref meta.SegmentRef, data []byte) {
	o := newObject(data, r.memory)
	r.cache.put(pieceKey{segment: ref}, hot, o)
	o.release()
}

// committed takes in the entries of the commits of this process that succeeded.
func (r *reader) committed(commits []meta.Commit, results []meta.CommitResult) {
	for i := range results {
		if results[i].Err != nil || len(results[i].Entries) == 0 {
			continue
		}
		if t := r.tails.of(commits[i].Topic); t != nil {
			t.apply(results[i].Epoch, results[i].Entries)
		}
	}
}
