package group

import (
	"context"
	"slices"
	"time"
)

// seat is the place of a receive that waits at a watch. A nil seat is that of one
// who could not even find out what to wait for.
type seat struct {
	watch   *watch
	watches *watches
	wake    chan struct{} // holds at most one
}

// sit gives a receiver a seat at the watch for what its last look found, or
// moves it there.
func (r *receiver) sit(ctx context.Context, s *seat, l *look) (*seat, error) {
	if len(l.topics) < len(r.subscriptions) { // the look ended early
		return s, nil
	}
	if s != nil && s.watch.err == nil && s.watch.key == r.watchKey(l.topics) {
		return s, nil
	}
	w, err := r.watch(ctx, l.topics)
	if err != nil {
		return s, err
	}
	s.leave()
	s = &seat{watch: w, watches: &r.e.watches, wake: make(chan struct{}, 1)}
	w.mu.Lock()
	w.seats = append(w.seats, s)
	w.mu.Unlock()
	return s, nil
}

// call never blocks.
func (s *seat) call() {
	select {
	case s.wake <- struct{}{}:
	default: // an earlier call is still to be taken
	}
}

// called is closed to, or gets, a token when it is this seat's turn to look.
func (s *seat) called() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.wake
}

// again returns after how long to look again without being called; never, when
// that is for the first seat to do.
func (s *seat) again(l *look, err error) <-chan time.Time {
	if s == nil || err != nil {
		return time.After(retryAfter)
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.seats[0] != s {
		return nil
	}
	return time.After(l.lookAgain())
}

// leave gives the seat back. Who is next looks: this one may have left something,
// or heard news that it did not act on.
func (s *seat) leave() {
	if s == nil {
		return
	}
	w := s.watch
	w.mu.Lock()
	at := slices.Index(w.seats, s)
	w.seats = slices.Delete(w.seats, at, at+1)
	if at == 0 && len(w.seats) > 0 {
		w.seats[0].call()
	}
	w.mu.Unlock()
	s.watches.release(w)
}
