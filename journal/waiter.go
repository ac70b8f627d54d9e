package journal

import (
	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/segment"
)

// want is a filter with the bloom masks of its tags.
type want struct {
	filter filter.Filter
	masks  []uint64
}

func newWant(f filter.Filter) want {
	w := want{filter: f}
	for _, tag := range f.Tags() {
		w.masks = append(w.masks, segment.TagBloom([]byte(tag)))
	}
	return w
}

// rejects reports whether no message of an entry or block with these tag bits
// can pass the filter.
func (w *want) rejects(bloom uint64) bool {
	for _, mask := range w.masks {
		if bloom&mask == mask {
			return false
		}
	}
	return len(w.masks) > 0
}

// waiter is one reader that waits for news of one or several queues of a topic.
type waiter struct {
	want want
	wake chan struct{} // holds at most one: several news are one wake-up
	// notify is called instead of wake where it is set. It must not block and
	// not call back: the topic's tail is locked.
	notify func()
	seats  []*seat // guarded by the mutex of the topic's tail
	left   bool    // guarded by the mutex of the topic's tail
}

func newWaiter(w want) *waiter { return &waiter{want: w, wake: make(chan struct{}, 1)} }

// seat is a waiter's place at one queue. Its fields are guarded by the mutex of
// the topic's tail.
type seat struct {
	waiter *waiter
	queue  uint32
	offset int64 // what lies before it is no news
	called bool  // there is news that the waiter has not taken yet
	grows  bool  // stands for queues to come, not for queue
	at     int   // its index in the list it is in
}

// call tells the waiter that its queue has news. It never blocks.
func (s *seat) call() {
	s.called = true
	if s.waiter.notify != nil {
		s.waiter.notify()
		return
	}
	select {
	case s.waiter.wake <- struct{}{}:
	default: // an earlier call is still to be taken
	}
}

// add puts a seat into a list whose order does not matter.
func add(seats []*seat, s *seat) []*seat {
	s.at = len(seats)
	return append(seats, s)
}

// remove takes a seat out of its list.
func remove(seats []*seat, s *seat) []*seat {
	last := len(seats) - 1
	seats[s.at] = seats[last]
	seats[s.at].at = s.at
	seats[last] = nil
	return seats[:last]
}
