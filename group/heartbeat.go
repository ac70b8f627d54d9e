package group

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// GenerationError says that a member knows a later generation than the group has:
// the group is another one, or Redis was lost. Join anew.
type GenerationError struct{ Current int64 }

func (e *GenerationError) Error() string {
	return fmt.Sprintf("group: the group is in generation %d", e.Current)
}

// HeartbeatRequest is a sign of life.
type HeartbeatRequest struct {
	Group, Member string
	Generation    int64           // the last that the member knows
	Released      []meta.QueueRef // queues given back, of those being revoked
	Wait          time.Duration   // for a change, at most journal.MaxWait
}

// HeartbeatReply is what a member has.
type HeartbeatReply struct {
	Generation  int64
	Standby     bool                     // max_members keeps it without queues
	Assignments []Assignment             // its queues, by topic and number
	Revoking    []Assignment             // those that it is to give back
	Settings    map[string]meta.Settings // topic → the group's settings there, where there are some

	Group         meta.Group          // the group as the member knows it
	Subscriptions []meta.Subscription // of the member
}

// Heartbeat renews a membership and returns what the member has: at once when
// that changed since the last answer, else after Wait. *GenerationError;
// meta.ErrMemberUnknown, meta.ErrFencedMember, meta.ErrGroupNotFound.
func (g *Groups) Heartbeat(ctx context.Context, r HeartbeatRequest) (*HeartbeatReply, error) {
	if r.Wait < 0 || r.Wait > journal.MaxWait {
		return nil, invalid("wait_ms", journal.CodeOutOfRange, fmt.Sprintf("0 to %d", journal.MaxWait.Milliseconds()))
	}
	s, err := g.session(ctx, r.Group, r.Member)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(r.Wait)
	for first := true; ; first = false {
		bell := g.bells.hear(s.definition.ID)
		reply, err := g.beat(ctx, s, r)
		if err != nil {
			bell.leave()
			return nil, err
		}
		changed := s.tell(reply)
		if reply.Generation != r.Generation || changed || len(reply.Revoking) > 0 && first || !time.Now().Before(deadline) {
			bell.leave()
			return reply, nil
		}
		r.Released = nil
		again := bell.wait(ctx, min(time.Until(deadline), recheckEvery), g.drained)
		bell.leave()
		if !again {
			return reply, context.Cause(ctx)
		}
	}
}

func (g *Groups) beat(ctx context.Context, s *member, r HeartbeatRequest) (*HeartbeatReply, error) {
	state, err := g.options.Meta.Heartbeat(ctx, s.definition.ID, s.ID, s.timeout, nil)
	if err != nil {
		return nil, unavailable(err)
	}
	if state.Generation < r.Generation {
		return nil, &GenerationError{Current: state.Generation}
	}
	if len(r.Released) > 0 {
		var released []meta.Assignment
		names, err := g.topicNames(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, a := range state.Assigned {
			if a.State == meta.StateRevoking && slices.ContainsFunc(r.Released, func(q meta.QueueRef) bool { return q.Queue == a.Queue && q.Topic == names[a.Topic] }) {
				released = append(released, a)
			}
		}
		g.commits.flushMember(ctx, s.ID) // what was consumed of them
		if state, err = g.options.Meta.Heartbeat(ctx, s.definition.ID, s.ID, s.timeout, released); err != nil {
			return nil, unavailable(err)
		}
	}
	return g.reply(ctx, s.definition, s.Member, state)
}

// topicNames names the topics that a member consumes.
func (g *Groups) topicNames(ctx context.Context, s *member) (map[uuid.UUID]string, error) {
	consumed, err := g.consumed(ctx, s.definition, s.Member)
	names := make(map[uuid.UUID]string, len(consumed))
	for _, c := range consumed {
		names[c.TopicID] = c.Topic
	}
	return names, err
}

// reply adds to a state what a member needs to consume.
func (g *Groups) reply(ctx context.Context, definition meta.Group, m meta.Member, state meta.HeartbeatState) (*HeartbeatReply, error) {
	settings, err := g.settingsOf(ctx, definition.ID, m)
	if err != nil {
		return nil, err
	}
	reply := &HeartbeatReply{
		Generation: state.Generation, Standby: state.Standby, Settings: settings, Group: definition, Subscriptions: m.Subscriptions,
	}
	all, err := g.assigned(ctx, definition, m, state)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.State == meta.StateRevoking {
			reply.Revoking = append(reply.Revoking, a)
		} else {
			reply.Assignments = append(reply.Assignments, a)
		}
	}
	return reply, nil
}

// assigned lists the queues that a member has, with the group's progress in each.
func (g *Groups) assigned(ctx context.Context, definition meta.Group, m meta.Member, state meta.HeartbeatState) ([]Assignment, error) {
	var all []Assignment
	consumed, err := g.consumed(ctx, definition, m)
	if err != nil {
		return nil, err
	}
	for _, s := range consumed {
		records, err := g.recordsOf(ctx, definition.ID, m, s.TopicID)
		if err != nil {
			return nil, err
		}
		add := func(a meta.Assignment) {
			r, known := records[a.Queue]
			if known { // one without an offset is not there yet
				all = append(all, Assignment{
					Topic: s.Topic, TopicID: s.TopicID, Queue: a.Queue, Epoch: a.Epoch, State: a.State, Deadline: a.Deadline,
					Offset: r.Offset, Version: r.Version, Stopped: r.Stopped,
				})
			}
		}
		switch m.Kind {
		case meta.KindQueue:
			for _, a := range state.Assigned {
				if a.Topic == s.TopicID {
					add(a)
				}
			}
		case meta.KindAssign:
			for _, q := range s.Queues {
				add(meta.Assignment{Queue: q, State: meta.StateOwned})
			}
		default:
			for q := range records {
				add(meta.Assignment{Queue: q, State: meta.StateOwned})
			}
		}
	}
	slices.SortFunc(all, func(a, b Assignment) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Queue, b.Queue))
	})
	return all, nil
}

// consumed is what a member gets messages of: what it subscribes, and the group's
// retry topic if queues are dealt out to it.
func (g *Groups) consumed(ctx context.Context, definition meta.Group, m meta.Member) ([]meta.Subscription, error) {
	if m.Kind != meta.KindQueue {
		return m.Subscriptions, nil
	}
	retry, exists, err := g.failed.retry(ctx, definition)
	if err != nil || !exists {
		return m.Subscriptions, unavailable(err)
	}
	return append(slices.Clone(m.Subscriptions), meta.Subscription{Topic: retry.Name, TopicID: retry.ID}), nil
}

// recordsOf returns the progress in a topic that a member goes by. A broadcasting
// member gets new queues of the topic here, at their minimum.
func (g *Groups) recordsOf(ctx context.Context, group uuid.UUID, m meta.Member, topic uuid.UUID) (map[uint32]meta.OffsetRecord, error) {
	var records []meta.OffsetRecord
	var err error
	if m.Kind == meta.KindBroadcast {
		records, err = g.options.Meta.BroadcastClient(ctx, group, m.ClientID, topic)
	} else {
		records, err = g.options.Meta.Offsets(ctx, group, topic)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	byQueue := make(map[uint32]meta.OffsetRecord, len(records))
	for _, r := range records {
		byQueue[r.Queue] = r
	}
	return byQueue, nil
}

// member is a membership as this process knows it.
type member struct {
	meta.Member
	definition meta.Group
	timeout    time.Duration

	mu   sync.Mutex
	told string // guarded by mu; what it was last told that it has
}

// tell notes what a member is told, and reports whether that is new.
func (m *member) tell(reply *HeartbeatReply) bool {
	text := fmt.Sprint(reply.Generation, reply.Standby, reply.Settings)
	for _, list := range [][]Assignment{reply.Assignments, reply.Revoking} {
		for _, a := range list {
			text += fmt.Sprint(" ", a.TopicID, a.Queue, a.Epoch, a.State, a.Version, a.Stopped)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	changed := text != m.told
	m.told = text
	return changed
}

// maxMembers bounds the memory of memberships; at the bound it starts anew.
const maxMembers = 100_000

// members remembers what cannot change about memberships that are in use.
type members struct {
	mu   sync.Mutex
	byID map[string]*member // guarded by mu
}

func (ms *members) drop(id string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	delete(ms.byID, id)
}

// session finds a membership. It says nothing of whether it still lives: the
// script that renews it does.
func (g *Groups) session(ctx context.Context, name, id string) (*member, error) {
	definition, err := g.cache.get(ctx, name)
	if err != nil {
		return nil, unavailable(err)
	}
	g.members.mu.Lock()
	m := g.members.byID[id]
	g.members.mu.Unlock()
	if m != nil && m.definition.ID == definition.ID && m.definition.Version == definition.Version {
		return m, nil
	}
	found, err := g.options.Meta.Member(ctx, definition.ID, id)
	if err != nil {
		return nil, unavailable(err)
	}
	m = newMember(found, definition)
	g.members.mu.Lock()
	defer g.members.mu.Unlock()
	if g.members.byID == nil || len(g.members.byID) >= maxMembers {
		g.members.byID = map[string]*member{}
	}
	g.members.byID[id] = m
	return m, nil
}

func newMember(m meta.Member, definition meta.Group) *member {
	return &member{Member: m, definition: definition, timeout: time.Duration(m.TimeoutMS) * time.Millisecond}
}

// bells tell those who wait that something about a group has changed.
type bells struct {
	mu      sync.Mutex
	waiting map[uuid.UUID]map[*bell]struct{} // guarded by mu
}

// bell is one who listens.
type bell struct {
	bells *bells
	group uuid.UUID
	rung  chan struct{} // holds at most one
}

func (bs *bells) hear(group uuid.UUID) *bell {
	b := &bell{bells: bs, group: group, rung: make(chan struct{}, 1)}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.waiting == nil {
		bs.waiting = map[uuid.UUID]map[*bell]struct{}{}
	}
	if bs.waiting[group] == nil {
		bs.waiting[group] = map[*bell]struct{}{}
	}
	bs.waiting[group][b] = struct{}{}
	return b
}

// ring wakes those who wait for a group, uuid.Nil: for any.
func (bs *bells) ring(group uuid.UUID) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	for id, waiting := range bs.waiting {
		if group != uuid.Nil && id != group {
			continue
		}
		for b := range waiting {
			b.call()
		}
	}
}

func (b *bell) call() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

func (b *bell) leave() {
	b.bells.mu.Lock()
	defer b.bells.mu.Unlock()
	delete(b.bells.waiting[b.group], b)
	if len(b.bells.waiting[b.group]) == 0 {
		delete(b.bells.waiting, b.group)
	}
}

// wait returns true when there may be news, also after d; false when ctx or the
// server ends.
func (b *bell) wait(ctx context.Context, d time.Duration, drained <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-b.rung:
	case <-timer.C:
	case <-drained:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}
