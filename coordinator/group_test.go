package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// crowd is a group and the members that a test has put into it.
type crowd struct {
	*site
	group meta.Group
}

func (s *site) crowd(g meta.Group) *crowd {
	s.t.Helper()
	g.Name = fmt.Sprintf("group-%s", uuid.NewString()[:8])
	if g.Mode == "" {
		g.Mode = meta.ModeClustering
	}
	if g.RevokeTimeoutMS == 0 {
		g.RevokeTimeoutMS = 15_000
	}
	created, err := s.db.CreateGroup(s.t.Context(), g)
	if err != nil {
		s.t.Fatal(err)
	}
	return &crowd{s, created}
}

// lead runs a coordinator on db until the returned function is called.
func (s *site) lead(db *meta.DB, change func(*coordinator.Options)) (stop func()) {
	o := coordinator.Options{
		Journal: s.journal, Meta: db, Lease: time.Second, DeadAfter: time.Hour, Interval: 20 * time.Millisecond,
		Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- coordinator.Run(ctx, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("coordinator ended with %v", err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

func (s *site) makeTopic(name string, queues uint32) meta.Topic {
	s.t.Helper()
	t, err := s.journal.PutTopic(s.t.Context(), meta.Topic{Name: name, Queues: queues})
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

// fill stores n messages in a queue.
func (s *site) fill(topic meta.Topic, queue int64, n int) {
	s.t.Helper()
	d, err := s.journal.NewDraft(topic)
	if err != nil {
		s.t.Fatal(err)
	}
	for range n {
		if err := d.Add(&journal.Message{Queue: queue, Body: []byte("x")}); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, err := s.journal.Append(s.t.Context(), d, journal.Durable); err != nil {
		s.t.Fatal(err)
	}
}

// join makes a member that consumes the topics from their ends on.
func (c *crowd) join(client string, session time.Duration, topics ...meta.Topic) *member {
	c.t.Helper()
	m, err := c.tryJoin(meta.Member{ClientID: client, Kind: meta.KindQueue, Address: "10.0.0.1:1"}, session, topics...)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

func (c *crowd) tryJoin(m meta.Member, session time.Duration, topics ...meta.Topic) (*member, error) {
	var starts []meta.OffsetStart
	for _, t := range topics {
		m.Subscriptions = append(m.Subscriptions, meta.Subscription{Topic: t.Name, TopicID: t.ID})
		if t.ID == uuid.Nil { // it does not exist
			continue
		}
		queues, err := c.db.Queues(c.t.Context(), t)
		if err != nil {
			return nil, err
		}
		for _, q := range queues {
			starts = append(starts, meta.OffsetStart{Topic: t.ID, Queue: q.Queue, First: q.Next, Min: q.Min})
		}
	}
	m.Key = uuid.NewString()
	joined, err := c.db.Join(c.t.Context(), meta.JoinRequest{Group: c.group.ID, Member: m, Timeout: session, Starts: starts})
	if err != nil {
		return nil, err
	}
	return &member{crowd: c, id: joined.Member.ID, client: m.ClientID, session: session}, nil
}

// member is one that a test has put into a group.
type member struct {
	*crowd
	id, client string
	session    time.Duration
}

// live renews the membership and gives back what is to change hands until the
// returned function is called.
func (m *member) live() (pause func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var released []meta.Assignment
		for {
			state, err := m.db.Heartbeat(ctx, m.group.ID, m.id, m.session, released)
			if errors.Is(err, meta.ErrMemberUnknown) || errors.Is(err, meta.ErrFencedMember) {
				return
			}
			if released = nil; err == nil {
				for _, a := range state.Assigned {
					if a.State == meta.StateRevoking && a.Owner == m.id {
						released = append(released, a)
					}
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	pause = sync.OnceFunc(func() { cancel(); <-done })
	m.t.Cleanup(pause)
	return pause
}

func (m *member) leave() {
	m.t.Helper()
	if err := m.db.Leave(m.t.Context(), m.group.ID, m.id); err != nil {
		m.t.Fatal(err)
	}
}

// state reads the group's state.
func (c *crowd) state() meta.GroupState {
	c.t.Helper()
	state, err := c.db.GroupState(c.t.Context(), c.group.ID)
	if err != nil {
		c.t.Fatal(err)
	}
	return state
}

// spread counts each client's queues that are not about to change hands.
func spread(state meta.GroupState) map[string]int {
	clients, counts := map[string]string{}, map[string]int{}
	for _, m := range state.Members {
		clients[m.ID] = m.ClientID
	}
	for _, a := range state.Assignments {
		if a.State == meta.StateOwned && a.Owner != "" {
			counts[clients[a.Owner]]++
		}
	}
	return counts
}

// becomes waits until the clients own as many queues as want says, "map[c0:4]",
// and nothing is about to change hands.
func (c *crowd) becomes(want string) meta.GroupState {
	c.t.Helper()
	var state meta.GroupState
	eventually(c.t, func() string {
		state = c.state()
		for _, a := range state.Assignments {
			if a.State == meta.StateRevoking {
				return fmt.Sprintf("queue %d is being revoked from %s for %s", a.Queue, a.Owner, a.Next)
			}
		}
		if got := fmt.Sprint(spread(state)); got != want {
			return fmt.Sprintf("got %s, want %s; generation %d: %s", got, want, state.Generation, state.Reason)
		}
		return ""
	})
	return state
}

// stays fails when the generation grows within a few periods of the coordinator.
func (c *crowd) stays(generation int64, d time.Duration) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got := c.state(); got.Generation != generation {
			c.t.Fatalf("generation %d became %d: %s", generation, got.Generation, got.Reason)
		}
	}
}

func (c *crowd) offsets(topic meta.Topic) map[uint32]int64 {
	c.t.Helper()
	records, err := c.db.Offsets(c.t.Context(), c.group.ID, topic.ID)
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[uint32]int64{}
	for _, r := range records {
		all[r.Queue] = r.Offset
	}
	return all
}

// commit commits an offset of a queue as this member and returns what became of it.
func (m *member) commit(topic meta.Topic, queue uint32, offset, epoch int64) (string, error) {
	results, err := m.db.CommitOffsets(m.t.Context(), m.group.ID, meta.Committer{Member: m.id, By: m.client},
		[]meta.OffsetCommit{{Topic: topic.ID, Queue: queue, Offset: offset, Version: 1, Epoch: epoch}})
	if err != nil {
		return "", err
	}
	return results[0].Status, nil
}

func ownerOf(t testing.TB, state meta.GroupState, topic meta.Topic, queue uint32) meta.Assignment {
	t.Helper()
	for _, a := range state.Assignments {
		if a.Topic == topic.ID && a.Queue == queue {
			return a
		}
	}
	t.Fatalf("queue %d of %s has no assignment", queue, topic.Name)
	return meta.Assignment{}
}
