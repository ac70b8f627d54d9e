package journal

import (
	"context"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// aheadLoads is how many objects are loaded ahead at a time, and
	// aheadQueue how many may wait for that.
	aheadLoads, aheadQueue = 2, 8
	// aheadObjects bounds how many one page has loaded ahead.
	aheadObjects = 2
	// aheadShare is how many objects the cold part of the cache must have room
	// for; in a smaller one what is loaded ahead would push out what is read.
	aheadShare = 3
)

// ahead is an entry whose object a reader that catches up will ask for next.
type ahead struct {
	topic  uuid.UUID
	entry  meta.Entry
	weight int64 // about what the object takes in the cache
}

// aheadLoop loads what readers will need until ctx ends. What goes wrong here
// is met again by the one who needs it.
func (r *reader) aheadLoop(ctx context.Context) error {
	for {
		select {
		case next := <-r.aheads:
			if r.cache.spare(cold) < next.weight {
				continue // others were faster
			}
			bounded, cancel := context.WithTimeout(ctx, readTimeout)
			if o, err := r.object(bounded, next.topic, &next.entry, cold); err == nil {
				o.release()
			}
			cancel()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lookAhead has the next objects loaded when the reader is in the second half of
// the entry its page ended in, or two pages like this one would reach the next.
// entries starts with that entry. It never waits: when there is too much to load,
// a reader loads its objects itself.
func (s *scan) lookAhead(entries []meta.Entry) {
	passed := s.page.Next - s.start
	if passed < 2 { // somebody looks at one message
		return
	}
	reach := s.page.Next + max(2*passed, int64(entries[0].Count)/2)
	last := entries[0].Segment
	weight := s.r.cache.weight(pieceKey{segment: last})
	if weight == 0 || aheadShare*weight > s.r.cache.capacity(cold) {
		return // pieces are read backwards: there is nothing to gain
	}
	spare := s.r.cache.spare(cold)
	objects := 0
	for i := range entries {
		e := &entries[i]
		if objects == 0 && e.First() > reach || objects == aheadObjects {
			return
		}
		if e.Segment == last || s.want.rejects(e.Tags) {
			continue
		}
		last = e.Segment
		objects++
		if s.r.cache.knows(pieceKey{segment: e.Segment}) {
			continue
		}
		if spare -= weight; spare < 0 {
			return // it would push out what another reader is in
		}
		select {
		case s.r.aheads <- ahead{topic: s.read.Topic.ID, entry: *e, weight: weight}:
		default:
			return
		}
	}
}
