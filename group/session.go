package group

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Limits of what a queue may have in flight where the group's settings say
// nothing (SEMANTICS 54, 85).
const (
	DefaultPullBatch         = 32
	DefaultThresholdMessages = 1000
	DefaultThresholdBytes    = 100 << 20
	DefaultMaxSpan           = 2000
)

// SessionOptions says who consumes, and what.
type SessionOptions struct {
	// JoinRequest names the member. Without a SessionKey one is made.
	JoinRequest
	// Ordered delivers one batch of a queue at a time and the next once all of it is
	// finished; a message given back keeps those behind it waiting. So does an
	// ordered group.
	Ordered bool
	// Notify is called when there may be something for Poll. It must return at once
	// and must not use the session.
	Notify func()
}

// Session is a membership whose messages are pushed: in a clustering group those of
// the queues that the member owns, in a broadcasting one all. It keeps the
// membership alive, also while nobody calls Poll. Poll must not be called
// concurrently; all other methods may be.
//
// The same client with the same session key, anywhere, takes the membership up:
// then Poll of the session before fails with meta.ErrFencedMember, and its end
// changes nothing any more.
//
// Progress in a queue is the smallest offset that is not finished (SEMANTICS 47,
// 107); it is committed with what others commit, when a queue is given back, when
// it is stopped, and at the end.
type Session struct {
	g       *Groups
	m       *member
	options SessionOptions
	ordered bool
	every   time.Duration // between signs of life

	reattached bool

	mu      sync.Mutex
	queues  map[sharedPlace]*sessionQueue // guarded by mu; changed by Poll alone
	order   []*sessionQueue               // guarded by mu; by topic and number
	stale   bool                          // guarded by mu; what the member has may have changed
	beatAt  time.Time                     // guarded by mu; when to give the next sign of life
	timer   *time.Timer                   // guarded by mu; calls Notify
	ended   bool                          // guarded by mu
	group   meta.Group                    // guarded by mu; as it was last seen
	excess  []meta.OffsetCommit           // guarded by mu; commits that there was no room to merge
	bell    *bell
	hearing sync.WaitGroup
	living  context.Context // until the session ends
	stop    context.CancelFunc

	// The rest is Poll's.
	last     HeartbeatReply // what the client was told
	settings map[string]meta.Settings
	topics   map[string]sessionTopic
	turn     int
}

// Kinds of events.
const (
	EventAssigned = "assigned" // the queues are the member's, from Offset on; one that it had was reset: what is held of it counts no more
	EventRevoking = "revoking" // the queues are to be given back once what is in flight is finished, at the latest at the deadline
	EventRevoked  = "revoked"  // the queues are not the member's any more
	EventSettings = "settings" // the group's settings for the member's topics
	EventStalled  = "stalled"  // a queue has messages that may not be delivered now: see Reason
)

// Why a queue stalls.
const (
	StalledInFlight = "in_flight" // too much of it is not finished
	StalledStopped  = "stopped"   // the group's consumption of it is stopped
)

// Event is what happened to a membership besides messages.
type Event struct {
	Kind       string
	Generation int64
	Queues     []Assignment
	Reason     string
	Group      meta.Group               // of EventSettings
	Settings   map[string]meta.Settings // of EventSettings
}

// Pushed is a message for the member.
type Pushed struct {
	Topic string
	Queue uint32
	journal.Stored
	Receipt string // names the delivery to Ack and Nack, within the session
	Attempt int64  // how often it was delivered, this time included
}

// Push is what a session has for its client.
type Push struct {
	Events  []Event // these come before the gaps and the messages
	Gaps    []ReceiveGap
	Items   []Pushed // of one queue in order
	More    bool     // Poll is to be called again at once
	Waiting bool     // there may be messages, and there was no room
}

// Joined is the membership that the session began with.
func (s *Session) Joined() (id, client, key string, reply HeartbeatReply) {
	return s.m.ID, s.m.ClientID, s.options.SessionKey, s.last
}

// Ordered says that one batch of a queue is in flight at a time.
func (s *Session) Ordered() bool { return s.ordered }

// Reattached says that the member was there before: its queues are still its own.
func (s *Session) Reattached() bool { return s.reattached }

// Subscribe makes a client a member and starts a session for it, which must end
// with Lost or Close. Errors are those of Join.
func (g *Groups) Subscribe(ctx context.Context, o SessionOptions) (*Session, error) {
	if o.SessionKey == "" {
		o.SessionKey = rand.Text()
	}
	o.connection = rand.Text()
	joined, err := g.Join(ctx, o.JoinRequest)
	if err != nil {
		return nil, err
	}
	s := &Session{
		g: g, m: newMember(joined.Member, joined.Group), options: o, ordered: o.Ordered || joined.Group.Ordered,
		every: min(joined.HeartbeatEvery, recheckEvery), reattached: joined.Reattached,
		queues: map[sharedPlace]*sessionQueue{}, topics: map[string]sessionTopic{}, stale: true, group: joined.Group,
		last: joined.HeartbeatReply, settings: joined.Settings, bell: g.bells.hear(joined.Group.ID),
	}
	s.living, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.timer = time.AfterFunc(s.every, o.Notify)
	s.hearing.Go(s.hear)
	o.Notify()
	return s, nil
}

// hear marks the session stale when its group has changed, and renews the
// membership of a client that takes nothing at the moment.
func (s *Session) hear() {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-s.bell.rung:
			s.again()
			s.options.Notify()
		case <-tick.C:
			s.mu.Lock()
			late := time.Since(s.beatAt) > s.every/4
			s.mu.Unlock()
			if late {
				_, _ = s.beat(s.living, nil) // Poll meets what is wrong
			}
		case <-s.living.Done():
			return
		}
	}
}

// beat is a sign of life; it gives back queues that are being revoked.
func (s *Session) beat(ctx context.Context, released []meta.Assignment) (meta.HeartbeatState, error) {
	state, err := s.g.options.Meta.HeartbeatBy(ctx, s.m.definition.ID, s.m.ID, s.options.connection, s.m.timeout, released)
	return state, unavailable(err)
}

// Poll returns what there is for the client without waiting: events always, and
// messages up to maxMessages of together maxBytes (soft: a first message always
// comes). Notify tells when to call it again. meta.ErrMemberUnknown and
// meta.ErrFencedMember: the membership has ended; meta.ErrGroupNotFound;
// journal.ErrDraining: this process is going away; journal.ErrUnavailable and
// ErrRecovering: again later.
func (s *Session) Poll(ctx context.Context, maxMessages int, maxBytes int64) (*Push, error) {
	select {
	case <-s.g.drained:
		return nil, journal.ErrDraining
	default:
	}
	push, began := &Push{}, time.Now()
	if s.due() {
		if err := s.refresh(ctx, push); err != nil {
			return nil, err
		}
	}
	room := &room{messages: maxMessages, bytes: maxBytes}
	s.mu.Lock()
	queues := s.order
	s.mu.Unlock()
	var fault error
	for i := range queues {
		q := queues[(s.turn+i)%len(queues)]
		if err := s.deliver(ctx, q, room, push); err != nil {
			fault = cmp.Or(fault, err)
		}
		if fault != nil && (!passing(fault) || time.Since(began) > faultyFor) {
			break
		}
	}
	s.turn++
	s.mark(ctx, queues)
	if err := s.release(ctx, push); err != nil {
		fault = cmp.Or(fault, err)
	}
	s.g.metrics.messages.WithLabelValues("push").Add(float64(len(push.Items)))
	if fault != nil {
		return push.orError(fault)
	}
	s.schedule(began)
	return push, nil
}

// faultyFor is how long a Poll goes on with other queues once one met a fault.
const faultyFor = time.Second

// orError returns what there is, or the error when there is nothing: it comes again.
func (p *Push) orError(err error) (*Push, error) {
	if len(p.Events)+len(p.Items)+len(p.Gaps) == 0 {
		return nil, err
	}
	p.More = true
	return p, nil
}

// due says whether the membership is to be renewed, and looked at.
func (s *Session) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stale && time.Now().Before(s.beatAt) {
		return false
	}
	s.stale = false
	return true
}

// schedule has Notify called when something becomes due by itself. What was due
// when Poll began waits for room.
func (s *Session) schedule(began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	next := s.beatAt
	for _, q := range s.order {
		if at := q.wakeAt(began); !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	s.timer.Reset(max(time.Millisecond, time.Until(next)))
}

// refresh renews the membership and tells what has changed of it.
func (s *Session) refresh(ctx context.Context, push *Push) error {
	state, err := s.beat(ctx, nil)
	if err != nil {
		s.again()
		return err
	}
	if s.m.Kind == meta.KindBroadcast {
		if err := s.g.beginBroadcast(ctx, s.m); err != nil {
			s.again()
			return err
		}
	}
	definition, err := s.g.cache.get(ctx, s.options.Group)
	if err != nil {
		s.again()
		return unavailable(err)
	}
	reply, err := s.g.reply(ctx, definition, s.m.Member, state)
	if err != nil {
		s.again()
		return err
	}
	if err := s.apply(ctx, reply, push); err != nil {
		s.again()
		return err
	}
	s.mu.Lock()
	s.beatAt, s.group = time.Now().Add(s.every), reply.Group
	s.mu.Unlock()
	if fmt.Sprint(reply.Settings) != fmt.Sprint(s.settings) {
		s.settings = reply.Settings
		clear(s.topics) // filters and delays are others now
		push.Events = append(push.Events, Event{Kind: EventSettings, Generation: reply.Generation, Group: reply.Group, Settings: reply.Settings})
	}
	s.last = *reply
	return nil
}

// again makes the next Poll look at the membership once more.
func (s *Session) again() {
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
}

// Commit stores the progress made so far.
func (s *Session) Commit(ctx context.Context) error {
	return s.g.commits.flush(ctx, func(k pendingKey) bool { return k.who.Member == s.m.ID })
}

// Seek moves a queue of the member: what is in flight of it counts no more, and
// the next message is the target. Errors are those of Groups.Seek.
func (s *Session) Seek(ctx context.Context, r SeekRequest) (QueueReset, error) {
	r.Group, r.Member = s.options.Group, s.m.ID
	done, err := s.g.Seek(ctx, r)
	s.again()
	s.options.Notify()
	return done, err
}

// Lost ends the session of a client whose connection broke: what it finished is
// committed, and it may come back as the same member, here or through another
// gateway, while the group's resume window lasts.
func (s *Session) Lost(ctx context.Context) error {
	if !s.end() {
		return nil
	}
	s.g.commits.flushMember(ctx, s.m.ID)
	s.mu.Lock()
	window := time.Duration(s.group.ResumeWindowMS) * time.Millisecond
	s.mu.Unlock()
	return unavailable(s.g.options.Meta.MemberLost(ctx, s.m.definition.ID, s.m.ID, s.options.connection, window))
}

// Close ends the session and the membership.
func (s *Session) Close(ctx context.Context) error {
	if !s.end() {
		return nil
	}
	return s.g.leave(ctx, s.m.definition.ID, s.m.ID, s.options.connection)
}

// end stops everything of the session; false: it had ended.
func (s *Session) end() bool {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return false
	}
	s.ended = true
	s.timer.Stop()
	queues := s.order
	s.queues, s.order = map[sharedPlace]*sessionQueue{}, nil
	s.mu.Unlock()
	s.stop()
	s.hearing.Wait()
	s.bell.leave()
	for _, q := range queues {
		s.unfollow(q)
	}
	return true
}
