package group

import (
	"context"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// enterEvery is how often a session says that it still receives.
const enterEvery = 10 * time.Second

// SharedOptions says what a session receives.
type SharedOptions struct {
	Group         string
	Subscriptions []meta.Subscription // as of ReceiveRequest
	Invisible     time.Duration       // as of ReceiveRequest
	// Notify is called when there may be something for Poll. It must return at
	// once and must not use the session.
	Notify func()
}

// SharedSession receives messages of a group for one who is told when there are
// any, and takes as many as it has room for. Its methods must not be called
// concurrently, except Close. What it delivers is acknowledged by the receipts,
// through any gateway.
type SharedSession struct {
	e       *sharedEngine
	options SharedOptions
	group   meta.Group
	entered time.Time

	mu     sync.Mutex
	watch  *watch      // guarded by mu; nil once closed
	timer  *time.Timer // guarded by mu; calls Notify
	closed bool        // guarded by mu
}

// SharedBatch is what a session received.
type SharedBatch struct {
	ReceiveReply
	More bool // Poll is to be called again at once
}

// Share starts a session, which must be closed. Where the group begins in topics that
// are new to it is fixed before Share returns: nothing sent from then on is missed.
// Errors are those of Receive.
func (e *sharedEngine) Share(ctx context.Context, o SharedOptions) (*SharedSession, error) {
	if o.Invisible != 0 {
		if err := checkInvisible(-1, o.Invisible); err != nil {
			return nil, err
		}
	}
	s := &SharedSession{e: e, options: o}
	r, err := s.receiver(ctx)
	if err != nil {
		return nil, err
	}
	topics, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.attend(ctx, r, topics); err != nil {
		return nil, err
	}
	o.Notify()
	return s, nil
}

// receiver is the session's for one look: the group's settings may change.
func (s *SharedSession) receiver(ctx context.Context) (*receiver, error) {
	r, err := s.e.newReceiver(ctx, ReceiveRequest{Group: s.options.Group, Subscriptions: s.options.Subscriptions, Invisible: s.options.Invisible})
	if err != nil {
		return nil, err
	}
	s.group = r.group
	if time.Since(s.entered) < enterEvery {
		return r, nil
	}
	if err := r.enter(ctx, enterEvery+recheckEvery); err != nil {
		return nil, err
	}
	s.entered = time.Now()
	return r, nil
}

// attend has the session told of news of the topics.
func (s *SharedSession) attend(ctx context.Context, r *receiver, topics []meta.Topic) error {
	w, err := r.watch(ctx, topics)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forsake()
	if s.closed {
		s.e.watches.release(w)
		return nil
	}
	s.watch = w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions[s] = struct{}{}
	return nil
}

// forsake needs mu.
func (s *SharedSession) forsake() {
	if w := s.watch; w != nil {
		w.mu.Lock()
		delete(w.sessions, s)
		w.mu.Unlock()
		s.e.watches.release(w)
		s.watch = nil
	}
}

// attended is the watch that the session is told by; nil once it is closed.
func (s *SharedSession) attended() *watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watch
}

// notify is called with the lock of the watch held.
func (s *SharedSession) notify() { s.options.Notify() }

// Poll hides up to maxMessages of together maxBytes (soft: a first message always
// comes; 0 = defaults) and returns them, without waiting for any. After an empty
// batch that does not say More, Notify tells when to call it again. Errors are
// those of Receive, and journal.ErrDraining: this process is going away.
func (s *SharedSession) Poll(ctx context.Context, maxMessages int, maxBytes int64) (*SharedBatch, error) {
	select {
	case <-s.e.drained:
		return nil, journal.ErrDraining
	default:
	}
	w := s.attended()
	if w == nil || s.rests(w) {
		return &SharedBatch{}, nil
	}
	select {
	case w.looks <- struct{}{}:
		defer func() { <-w.looks }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.rests(w) { // somebody else has looked meanwhile
		return &SharedBatch{}, nil
	}
	if maxMessages <= 0 || maxMessages > journal.DefaultReadMessages {
		maxMessages = journal.DefaultReadMessages
	}
	if maxBytes <= 0 {
		maxBytes = journal.DefaultReadBytes
	}
	b, err := s.look(ctx, w, maxMessages, maxBytes)
	if err != nil && passing(err) {
		s.after(retryAfter)
	}
	return b, err
}

// rests reports whether there is nothing to look for, and then looks again when
// that may have changed.
func (s *SharedSession) rests(w *watch) bool {
	left, idle := w.idle()
	if idle {
		s.after(left)
	}
	return idle
}

func (s *SharedSession) look(ctx context.Context, w *watch, maxMessages int, maxBytes int64) (*SharedBatch, error) {
	r, err := s.receiver(ctx)
	if err != nil {
		return nil, err
	}
	news := w.newsNow()
	l, err := r.look(ctx, time.Now(), maxMessages, maxBytes)
	if err != nil {
		return nil, err
	}
	b := &SharedBatch{ReceiveReply: *l.reply, More: l.more}
	if w.err != nil || w.key != r.watchKey(l.topics) { // what comes from now on is announced there
		b.More = true
		return b, s.attend(ctx, r, l.topics)
	}
	if l.empty() && !l.more {
		w.foundNothing(news, l)
		s.after(l.lookAgain())
	}
	return b, nil
}

// after calls Notify in a while.
func (s *SharedSession) after(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(d, s.options.Notify)
		return
	}
	s.timer.Reset(d)
}

// Unsent takes back messages that Poll returned and that never reached the
// client: they are visible at once, and the attempt does not count.
func (s *SharedSession) Unsent(ctx context.Context, receipts []string) error {
	if len(receipts) == 0 {
		return nil
	}
	return s.e.undo(ctx, s.group, receipts)
}

// Close ends the session. What it delivered stays hidden until its deadline. It
// may be called repeatedly; Notify may still be called while it runs.
func (s *SharedSession) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.forsake()
}
