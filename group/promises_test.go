package group_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

// cutFeed cuts every subscription of Redis again and again until the test ends.
func (p *plant) cutFeed() {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			p.redis.Client().ClientKillByFilter(context.Background(), "TYPE", "pubsub")
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	p.t.Cleanup(func() { close(stop); <-done })
}

// While nothing is heard from Redis, messages, assignments and settings come
// within five seconds all the same.
func TestMembersAreServedThoughTheFeedIsCut(t *testing.T) {
	p := newPlant(t)
	n, other := p.gateway(), p.gateway()
	topic := n.topic("orders", 1)
	g := n.group("billing", time.Minute)
	n.group("shared", time.Minute)
	m := other.join("billing", "c", "orders")
	p.cutFeed()
	state, err := n.db.GroupState(t.Context(), g.ID)
	must(t, err)
	began := time.Now()
	_, _, err = n.db.Assign(t.Context(), g.ID, 1, state.Revision, "test", []meta.Target{{Topic: topic.ID, Owner: m.Member.ID}}, nil)
	must(t, err)
	reply, err := other.Heartbeat(t.Context(), group.HeartbeatRequest{Group: "billing", Member: m.Member.ID, Generation: m.Generation, Wait: 20 * time.Second})
	must(t, err)
	if took := time.Since(began); len(reply.Assignments) != 1 || took > 6*time.Second {
		t.Fatalf("%d queues were assigned after %v, want 1 within 5 s", len(reply.Assignments), took)
	}
	var waiting sync.WaitGroup
	within := func(what string, wait func() int) {
		waiting.Go(func() {
			count := wait()
			if took := time.Since(began); count == 0 || took > 6500*time.Millisecond {
				t.Errorf("%s: %d messages after %v, want some within 5 s", what, count, took)
			}
		})
	}
	within("poll", func() int {
		reply, err := other.Poll(t.Context(), group.PollRequest{Group: "billing", Member: m.Member.ID, Wait: 20 * time.Second})
		if err != nil {
			t.Error(err)
			return 0
		}
		return len(reply.Messages)
	})
	within("receive", func() int {
		reply, err := other.Receive(t.Context(), ask("shared", "orders", func(r *group.ReceiveRequest) { r.Wait = 20 * time.Second }))
		if err != nil {
			t.Error(err)
			return 0
		}
		return len(reply.Messages)
	})
	time.Sleep(200 * time.Millisecond) // both wait
	began = time.Now()
	n.send(topic, 0, "", "a")
	waiting.Wait()
}

// A poll and a receive end in time whatever happens to the group meanwhile.
func TestPollsEndInTimeDuringRebalances(t *testing.T) {
	p := newPlant(t)
	n, other := p.gateway(), p.gateway()
	topic := n.topic("orders", 4)
	g := n.group("billing", time.Minute)
	n.group("shared", time.Minute)
	members := []string{n.join("billing", "a", "orders").Member.ID, n.join("billing", "b", "orders").Member.ID}
	ctx, stop := context.WithCancel(t.Context())
	var shaking, polling sync.WaitGroup
	shaking.Go(func() {
		for ctx.Err() == nil {
			state, err := n.db.GroupState(ctx, g.ID)
			if err != nil {
				return
			}
			var targets []meta.Target
			for q := range uint32(4) {
				targets = append(targets, meta.Target{Topic: topic.ID, Queue: q, Owner: members[rand.IntN(2)]})
			}
			_, _, _ = n.db.Assign(ctx, g.ID, 1, state.Revision, "test", targets, nil)
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		}
	})
	deadline := time.Now().Add(3 * time.Second)
	for i, node := range []*gateway{n, other} {
		polling.Go(func() {
			cursor, calls := "", 0
			for ; time.Now().Before(deadline); calls++ {
				wait := time.Duration(rand.IntN(500)) * time.Millisecond
				began := time.Now()
				reply, err := node.Poll(t.Context(), group.PollRequest{Group: "billing", Member: members[i], Cursor: cursor, AutoCommit: true, Wait: wait})
				if took := time.Since(began); err != nil || took > wait+time.Second {
					t.Errorf("a poll of %v took %v: %v", wait, took, err)
					return
				}
				cursor = reply.Cursor
			}
			if calls < 5 {
				t.Errorf("only %d polls", calls)
			}
		})
		polling.Go(func() {
			for time.Now().Before(deadline) {
				wait := time.Duration(rand.IntN(500)) * time.Millisecond
				began := time.Now()
				_, err := node.Receive(t.Context(), ask("shared", "orders", func(r *group.ReceiveRequest) { r.Wait = wait }))
				if took := time.Since(began); err != nil || took > wait+time.Second {
					t.Errorf("a receive of %v took %v: %v", wait, took, err)
					return
				}
			}
		})
	}
	polling.Wait()
	stop()
	shaking.Wait()
}

// history is what happened in a run of random members.
type history struct {
	mu        sync.Mutex
	delivered map[queueOffset]bool         // guarded by mu
	owners    map[queueEpoch]string        // guarded by mu; who committed there
	commits   int                          // guarded by mu; accepted
	refused   map[string]int               // guarded by mu; by status
	last      map[uint32]meta.OffsetRecord // the observer's
	violated  map[string]struct{}          // guarded by mu
}

type queueOffset struct {
	queue  uint32
	offset int64
}

type queueEpoch struct {
	queue uint32
	epoch int64
}

func (h *history) violation(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.violated[fmt.Sprintf(format, args...)] = struct{}{}
}

// crowdMember is a client that comes and goes, polls, commits and pauses.
func (h *history) crowdMember(ctx context.Context, r *rand.Rand, nodes []*gateway, client string, groupID uuid.UUID) {
	any := func() *gateway { return nodes[r.IntN(len(nodes))] }
	for ctx.Err() == nil {
		joined, err := any().Join(ctx, group.JoinRequest{Group: "billing", ClientID: client, Transport: "http", Address: "127.0.0.1:1", Subscriptions: []meta.Subscription{{Topic: "orders"}}})
		if err != nil {
			continue
		}
		h.session(ctx, r, any, joined.Member.ID, groupID)
		if r.IntN(2) == 0 {
			_ = any().Leave(ctx, "billing", joined.Member.ID)
		} // else it is left behind, and its client's next session fences it
	}
}

func (h *history) session(ctx context.Context, r *rand.Rand, any func() *gateway, member string, groupID uuid.UUID) {
	for range 3 + r.IntN(30) {
		reply, err := any().Poll(ctx, group.PollRequest{Group: "billing", Member: member, MaxMessages: 1 + r.IntN(8), Wait: time.Duration(r.IntN(60)) * time.Millisecond})
		if err != nil {
			return
		}
		h.mu.Lock()
		for _, m := range reply.Messages {
			h.delivered[queueOffset{m.Queue, m.Offset}] = true
		}
		h.mu.Unlock()
		switch r.IntN(12) {
		case 0:
			_ = any().db.MemberLost(ctx, groupID, member, "", 0) // as if it had been paused past its lease
			time.Sleep(time.Duration(r.IntN(80)) * time.Millisecond)
		case 1:
			continue // what it got is not finished
		}
		var items []group.CommitItem
		for _, a := range reply.Queues {
			items = append(items, group.CommitItem{Topic: "orders", Queue: a.Queue, Offset: a.Offset, Version: a.Version, Epoch: a.Epoch})
		}
		if len(items) == 0 {
			continue
		}
		results, err := any().Commit(ctx, group.CommitRequest{Group: "billing", Member: member, Sync: r.IntN(3) > 0, Items: items})
		if err != nil {
			return
		}
		h.committed(member, reply.Queues, results)
		// Gives back what is being revoked.
		beat := group.HeartbeatRequest{Group: "billing", Member: member}
		if state, err := any().Heartbeat(ctx, beat); err == nil && len(state.Revoking) > 0 && r.IntN(4) > 0 {
			for _, a := range state.Revoking {
				beat.Released = append(beat.Released, meta.QueueRef{Topic: a.Topic, Queue: a.Queue})
			}
			_, _ = any().Heartbeat(ctx, beat)
		}
	}
}

func (h *history) committed(member string, queues []group.Assignment, results []group.CommitResult) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, result := range results {
		if result.Status != meta.OffsetStored {
			h.refused[result.Status]++
			continue
		}
		h.commits++
		at := queueEpoch{queues[i].Queue, queues[i].Epoch}
		if before, known := h.owners[at]; known && before != member {
			h.violated[fmt.Sprintf("queue %d in epoch %d: %s and %s committed", at.queue, at.epoch, before, member)] = struct{}{}
		}
		h.owners[at] = member
	}
}

// observe reads the offsets: within a version they never go back, and nothing
// below them was never delivered.
func (h *history) observe(ctx context.Context, n *gateway, groupID, topic uuid.UUID) {
	records, err := n.db.Offsets(ctx, groupID, topic)
	if err != nil {
		return
	}
	for _, now := range records {
		before := h.last[now.Queue]
		if now.Version < before.Version || now.Version == before.Version && now.Offset < before.Offset {
			h.violation("queue %d went back from %d (version %d) to %d (version %d)", now.Queue, before.Offset, before.Version, now.Offset, now.Version)
		}
		h.last[now.Queue] = now
		h.mu.Lock()
		for offset := range now.Offset {
			if !h.delivered[queueOffset{now.Queue, offset}] {
				h.violated[fmt.Sprintf("queue %d: offset %d is passed and was never delivered", now.Queue, offset)] = struct{}{}
			}
		}
		h.mu.Unlock()
	}
}

// Members join, leave, pause past their lease, poll, commit late and are reset
// at random, through two gateways and under a real coordinator.
func TestRandomMembersNeverShareAQueueNorSkipAMessage(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	p := newPlant(t)
	nodes := []*gateway{p.gateway(), p.gateway()}
	n := nodes[0]
	n.coordinate()
	const queues = 4
	topic := n.topic("orders", queues)
	g := n.group("billing", time.Minute, func(g *meta.Group) { g.RevokeTimeoutMS = 1000 })
	h := &history{
		delivered: map[queueOffset]bool{}, owners: map[queueEpoch]string{}, refused: map[string]int{}, last: map[uint32]meta.OffsetRecord{},
		violated: map[string]struct{}{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	var running sync.WaitGroup
	for i := range 5 {
		running.Go(func() { h.crowdMember(ctx, rand.New(rand.NewPCG(seed, uint64(i))), nodes, fmt.Sprint("c", i), g.ID) })
	}
	resets := 0
	running.Go(func() {
		r := rand.New(rand.NewPCG(seed, 100))
		for ctx.Err() == nil {
			time.Sleep(time.Duration(200+r.IntN(600)) * time.Millisecond)
			reset := group.ResetRequest{Group: "billing", Topic: "orders", Queues: []uint32{uint32(r.IntN(queues))}, To: group.ToShift, Value: -int64(r.IntN(20)), By: "test"}
			if _, err := nodes[r.IntN(2)].Reset(ctx, reset); err == nil {
				resets++
			}
		}
	})
	sent := 0
	for ctx.Err() == nil {
		n.send(topic, int64(sent%queues), "", fmt.Sprint(sent), fmt.Sprint(sent+1))
		sent += 2
		h.observe(ctx, n, g.ID, topic.ID)
	}
	running.Wait()
	h.drain(t, n, g.ID, topic.ID)
	for v := range h.violated {
		t.Error(v)
	}
	t.Logf("%d messages, %d accepted commits of %d owners, refused %v, %d resets", sent, h.commits, len(h.owners), h.refused, resets)
	if h.commits < 20 || len(h.owners) < 8 || resets < 3 {
		t.Error("too little happened for the test to mean anything")
	}
}

// drain lets one member consume what is left: then everything was delivered.
func (h *history) drain(t *testing.T, n *gateway, groupID, topic uuid.UUID) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	state, err := n.db.GroupState(ctx, groupID)
	must(t, err)
	for _, m := range state.Members {
		must(t, n.Leave(ctx, "billing", m.ID))
	}
	last := n.join("billing", "last", "orders").Member.ID
	for cursor := ""; ; {
		reply, err := n.Poll(ctx, group.PollRequest{Group: "billing", Member: last, Cursor: cursor, AutoCommit: true, Wait: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(errors.Join(err, errors.New("the last member did not come to the end")))
		}
		h.mu.Lock()
		for _, m := range reply.Messages {
			h.delivered[queueOffset{m.Queue, m.Offset}] = true
		}
		h.mu.Unlock()
		cursor = reply.Cursor
		lag := int64(0)
		all, err := n.Progress(ctx, "billing")
		must(t, err)
		for _, p := range all {
			lag += p.Lag
		}
		if lag == 0 && len(reply.Queues) == len(all) {
			break
		}
	}
	h.observe(ctx, n, groupID, topic)
}
