package group_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// coordinate runs a coordinator on a gateway's journal.
func (n *gateway) coordinate() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = coordinator.Run(ctx, coordinator.Options{Journal: n.journal, Meta: n.db, Log: slog.New(slog.DiscardHandler)})
	}()
	n.t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (n *gateway) join(name, client string, topics ...string) *group.Joined {
	n.t.Helper()
	r := group.JoinRequest{Group: name, ClientID: client, Transport: "http", Address: "127.0.0.1:1"}
	for _, t := range topics {
		r.Subscriptions = append(r.Subscriptions, meta.Subscription{Topic: t})
	}
	j, err := n.Join(n.t.Context(), r)
	must(n.t, err)
	return j
}

// owned waits until a member has so many queues and is to give none back.
func (n *gateway) owned(name, member string, queues int) *group.HeartbeatReply {
	n.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		reply, err := n.Heartbeat(n.t.Context(), group.HeartbeatRequest{Group: name, Member: member})
		must(n.t, err)
		if len(reply.Assignments) == queues && len(reply.Revoking) == 0 {
			return reply
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("member has %+v, want %d queues", reply, queues)
		}
		_, err = n.Heartbeat(n.t.Context(), group.HeartbeatRequest{Group: name, Member: member, Generation: reply.Generation, Wait: 200 * time.Millisecond})
		must(n.t, err)
	}
}

func (n *gateway) poll(name, member, cursor string, edit ...func(*group.PollRequest)) *group.PollReply {
	n.t.Helper()
	r := group.PollRequest{Group: name, Member: member, Cursor: cursor, AutoCommit: true}
	for _, e := range edit {
		e(&r)
	}
	reply, err := n.Poll(n.t.Context(), r)
	must(n.t, err)
	return reply
}

func polled(reply *group.PollReply) (out []string) {
	for _, m := range reply.Messages {
		out = append(out, string(m.Record.Body))
	}
	return out
}

func wantPolled(t testing.TB, reply *group.PollReply, want ...string) {
	t.Helper()
	if got := fmt.Sprint(polled(reply)); got != fmt.Sprint(want) {
		t.Fatalf("polled %s, want %v", got, want)
	}
}

func at(n int) func(*group.PollRequest) {
	return func(r *group.PollRequest) { r.MaxMessages = n }
}

func TestAPollCommitsWhatTheOneBeforeDelivered(t *testing.T) {
	p := newPlant(t)
	n, other := p.gateway(), p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	j := n.join("billing", "c1", "orders")
	n.send(topic, 0, "", numbered(6)...)
	n.owned("billing", j.Member.ID, 1)
	first := n.poll("billing", j.Member.ID, "", at(2))
	wantPolled(t, first, "0", "1")
	if got := n.offset("billing", 0); got != 0 {
		t.Errorf("progress %d before the messages are done with, want 0", got)
	}
	second := other.poll("billing", j.Member.ID, first.Cursor, at(2)) // through any gateway
	wantPolled(t, second, "2", "3")
	if got := n.offset("billing", 0); got != 2 {
		t.Errorf("progress %d, want 2", got)
	}
	wantPolled(t, n.poll("billing", j.Member.ID, first.Cursor, at(2)), "2", "3") // its answer was lost: it repeats
	third := n.poll("billing", j.Member.ID, second.Cursor)
	wantPolled(t, third, "4", "5")
	n.poll("billing", j.Member.ID, third.Cursor)
	if got := n.offset("billing", 0); got != 6 {
		t.Errorf("progress %d, want 6", got)
	}
	for _, forged := range []string{"x", second.Cursor[1:], second.Cursor + "A"} {
		_, err := n.Poll(t.Context(), group.PollRequest{Group: "billing", Member: j.Member.ID, Cursor: forged})
		if !errors.Is(err, group.ErrCursor) {
			t.Errorf("cursor %.10q: %v, want ErrCursor", forged, err)
		}
	}
}

func TestWithoutAutoCommitOnlyCommitsCount(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	j := n.join("billing", "c1", "orders")
	n.send(topic, 0, "", numbered(4)...)
	manual := func(r *group.PollRequest) { r.AutoCommit = false }
	n.owned("billing", j.Member.ID, 1)
	first := n.poll("billing", j.Member.ID, "", at(2), manual)
	second := n.poll("billing", j.Member.ID, first.Cursor, at(2), manual)
	wantPolled(t, second, "2", "3")
	if got := n.offset("billing", 0); got != 0 {
		t.Errorf("progress %d, want 0", got)
	}
	a := second.Queues[0]
	commit := func(sync bool, offset, version, epoch int64) group.CommitResult {
		results, err := n.Commit(t.Context(), group.CommitRequest{Group: "billing", Member: j.Member.ID, Sync: sync, Items: []group.CommitItem{
			{Topic: "orders", Offset: offset, Version: version, Epoch: epoch},
		}})
		must(t, err)
		return results[0]
	}
	if r := commit(true, 1, a.Version, a.Epoch); r.Status != meta.OffsetStored || n.offset("billing", 0) != 1 {
		t.Errorf("sync: %+v", r)
	}
	if r := commit(false, 3, a.Version, a.Epoch); r.Status != group.StatusPending || n.offset("billing", 0) != 1 {
		t.Errorf("merged: %+v", r)
	}
	for _, bogus := range []group.CommitResult{commit(false, 4, a.Version+1, a.Epoch), commit(true, 4, a.Version+1, a.Epoch)} {
		if bogus.Status != meta.OffsetVersionConflict {
			t.Errorf("a version that nobody gave: %+v", bogus)
		}
	}
	if r := commit(false, 4, a.Version, a.Epoch+1); r.Status != meta.OffsetNotOwner {
		t.Errorf("another assignment epoch: %+v", r)
	}
	var bounds *journal.BoundsError
	if r := commit(true, 5, a.Version, a.Epoch); !errors.As(r.Err, &bounds) {
		t.Errorf("beyond the end: %+v", r)
	}
	must(t, n.Close(t.Context())) // stores what is merged
	if got := n.offset("billing", 0); got != 3 {
		t.Errorf("progress %d after the flush, want 3", got)
	}
}

func TestQueuesMoveWithoutLossWhenMembersComeAndGo(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 4)
	n.group("billing", time.Minute)
	for i := range 40 {
		n.send(topic, int64(i%4), "", fmt.Sprint(i))
	}
	seen := map[string]bool{}
	queues := map[string]int{}
	consume := func(member, cursor string) string {
		reply := n.poll("billing", member, cursor, at(3))
		for _, b := range polled(reply) {
			seen[b] = true
		}
		queues[member] = len(reply.Queues)
		return reply.Cursor
	}
	a := n.join("billing", "a", "orders").Member.ID
	n.owned("billing", a, 4)
	cursorA := consume(a, "")
	b := n.join("billing", "b", "orders").Member.ID
	deadline := time.Now().Add(20 * time.Second)
	cursorB := ""
	for (len(seen) < 40 || queues[a] != 2 || queues[b] != 2) && time.Now().Before(deadline) {
		cursorA, cursorB = consume(a, cursorA), consume(b, cursorB)
	}
	if len(seen) != 40 || queues[a] != 2 || queues[b] != 2 {
		t.Fatalf("%d of 40 messages were polled, queues %v", len(seen), queues)
	}
	for range 5 { // what may have come twice at the hand-over
		cursorA, cursorB = consume(a, cursorA), consume(b, cursorB)
	}
	must(t, n.Leave(t.Context(), "billing", b))
	n.owned("billing", a, 4)
	for q := range uint32(4) {
		if got := n.offset("billing", q); got != 10 {
			t.Errorf("queue %d: progress %d, want 10", q, got)
		}
	}
}

// A member that was paused for longer than its session, and did not notice, loses
// its queue; what it then commits changes nothing.
func TestAPausedOwnerThatWakesIsRefused(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	paused := n.join("billing", "paused", "orders").Member.ID
	n.send(topic, 0, "", numbered(4)...)
	reply := n.owned("billing", paused, 1)
	polledBefore := n.poll("billing", paused, "", at(2))
	g, err := n.Get(t.Context(), "billing")
	must(t, err)
	must(t, n.db.MemberLost(t.Context(), g.ID, paused, "", 0)) // its deadline passes
	other := n.join("billing", "other", "orders").Member.ID
	n.owned("billing", other, 1)
	_, err = n.Poll(t.Context(), group.PollRequest{Group: "billing", Member: paused, Cursor: polledBefore.Cursor, AutoCommit: true})
	if !errors.Is(err, meta.ErrMemberUnknown) {
		t.Errorf("a poll of who was expired: %v", err)
	}
	_, err = n.Commit(t.Context(), group.CommitRequest{Group: "billing", Member: paused, Sync: true, Items: []group.CommitItem{
		{Topic: "orders", Offset: 2, Version: 1, Epoch: reply.Assignments[0].Epoch},
	}})
	if !errors.Is(err, meta.ErrMemberUnknown) {
		t.Errorf("a commit of who was expired: %v", err)
	}
	wantPolled(t, n.poll("billing", other, "", at(4)), "0", "1", "2", "3")
}

func TestAPollWaitsForMessagesAndEndsWhenItsMemberLeaves(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 2)
	n.group("billing", time.Minute)
	j := n.join("billing", "c", "orders").Member.ID
	n.owned("billing", j, 2)
	got := make(chan *group.PollReply, 1)
	go func() {
		reply, err := n.Poll(t.Context(), group.PollRequest{Group: "billing", Member: j, AutoCommit: true, Wait: 20 * time.Second})
		if err != nil {
			t.Errorf("poll: %v", err)
		}
		got <- reply
	}()
	n.send(topic, 1, "", "late")
	select {
	case reply := <-got:
		wantPolled(t, reply, "late")
		go func() {
			_, err := n.Poll(t.Context(), group.PollRequest{Group: "billing", Member: j, Cursor: reply.Cursor, AutoCommit: true, Wait: 20 * time.Second})
			if !errors.Is(err, meta.ErrMemberUnknown) {
				t.Errorf("a poll whose member left: %v", err)
			}
			got <- nil
		}()
	case <-time.After(10 * time.Second):
		t.Fatal("the poll did not wake")
	}
	deadline := time.Now().Add(10 * time.Second)
	for n.offset("billing", 1) != 1 && time.Now().Before(deadline) { // the second poll is under way
		time.Sleep(10 * time.Millisecond)
	}
	must(t, n.Leave(t.Context(), "billing", j))
	select {
	case <-got:
	case <-time.After(5 * time.Second):
		t.Fatal("the poll did not end when its member left")
	}
	k := n.join("billing", "d", "orders").Member.ID
	n.owned("billing", k, 2)
	began := time.Now()
	n.poll("billing", k, "", func(r *group.PollRequest) { r.Wait = 300 * time.Millisecond })
	if took := time.Since(began); took > 1300*time.Millisecond {
		t.Errorf("an empty poll of 300 ms took %v", took)
	}
}

func TestSeekMovesTheNextPoll(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	j := n.join("billing", "c", "orders").Member.ID
	n.send(topic, 0, "", numbered(5)...)
	n.owned("billing", j, 1)
	first := n.poll("billing", j, "", at(4))
	for _, to := range []int64{1, 3} { // the last one counts
		done, err := n.Seek(t.Context(), group.SeekRequest{Group: "billing", Member: j, Topic: "orders", To: group.ToOffset, Value: to})
		must(t, err)
		if done.New != to {
			t.Errorf("seek to %d: %+v", to, done)
		}
	}
	wantPolled(t, n.poll("billing", j, first.Cursor), "3", "4")
	var bounds *journal.BoundsError
	_, err := n.Seek(t.Context(), group.SeekRequest{Group: "billing", Member: j, Topic: "orders", To: group.ToOffset, Value: 6})
	if !errors.As(err, &bounds) {
		t.Errorf("seek beyond the end: %v", err)
	}
	var owner *group.OwnerError
	n.topic("other", 1)
	_, err = n.Seek(t.Context(), group.SeekRequest{Group: "billing", Member: j, Topic: "other", To: group.ToEarliest})
	if !errors.As(err, &owner) {
		t.Errorf("seek in a topic that it has nothing of: %v", err)
	}
}

func TestAssignModeReadsWhatItNames(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 3)
	n.group("billing", time.Minute)
	for i := range 6 {
		n.send(topic, int64(i%3), "", fmt.Sprint(i))
	}
	j, err := n.Join(t.Context(), group.JoinRequest{Group: "billing", ClientID: "own", Subscriptions: []meta.Subscription{{Topic: "orders", Queues: []uint32{1}}}})
	must(t, err)
	if j.Member.Kind != meta.KindAssign || len(j.Assignments) != 1 {
		t.Fatalf("joined: %+v", j)
	}
	reply := n.poll("billing", j.Member.ID, "")
	wantPolled(t, reply, "1", "4")
	n.poll("billing", j.Member.ID, reply.Cursor)
	if got := n.offset("billing", 1); got != 2 {
		t.Errorf("progress %d, want 2", got)
	}
}

func TestEveryBroadcastingMemberGetsEveryMessage(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 2)
	n.group("news", time.Minute, func(g *meta.Group) { g.Mode = meta.ModeBroadcasting })
	a, b := n.join("news", "a", "orders").Member.ID, n.join("news", "b", "orders").Member.ID
	n.send(topic, 0, "", "x")
	n.send(topic, 1, "", "y")
	for _, m := range []string{a, b} {
		reply := n.poll("news", m, "")
		if len(reply.Messages) != 2 {
			t.Errorf("%s polled %v", m, polled(reply))
		}
		n.poll("news", m, reply.Cursor)
	}
	must(t, n.Leave(t.Context(), "news", a))
	n.send(topic, 0, "", "z")
	again := n.join("news", "a", "orders").Member.ID // its progress was kept
	wantPolled(t, n.poll("news", again, ""), "z")
	clients, err := n.db.BroadcastOffsets(t.Context(), n.definition("news").ID)
	must(t, err)
	if len(clients) != 2 {
		t.Errorf("progress of %d clients, want 2", len(clients))
	}
}

func (n *gateway) definition(name string) meta.Group {
	g, err := n.Get(n.t.Context(), name)
	must(n.t, err)
	return g
}

func TestSettingsChangeWhatMembersGet(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	j := n.join("billing", "c", "orders").Member.ID
	generation := n.owned("billing", j, 1).Generation
	told := make(chan *group.HeartbeatReply, 1)
	go func() {
		reply, err := n.Heartbeat(t.Context(), group.HeartbeatRequest{Group: "billing", Member: j, Generation: generation, Wait: 20 * time.Second})
		if err != nil {
			t.Errorf("heartbeat: %v", err)
		}
		told <- reply
	}()
	_, err := n.UpdateSettings(t.Context(), "billing", "orders", func(s *meta.Settings) { s.Tags, s.Concurrency = "paid", 3 }, group.AnyVersion)
	must(t, err)
	select {
	case reply := <-told:
		if reply.Settings["orders"].Concurrency != 3 {
			t.Errorf("told %+v", reply)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the member was not told")
	}
	n.send(topic, 0, "new", "a")
	n.send(topic, 0, "paid", "b")
	wantPolled(t, n.poll("billing", j, ""), "b")
	var invalid *journal.InvalidError
	if _, err := n.UpdateSettings(t.Context(), "billing", "orders", func(s *meta.Settings) { s.Concurrency = -1 }, group.AnyVersion); !errors.As(err, &invalid) || invalid.Field != "concurrency" {
		t.Errorf("a negative concurrency: %v", err)
	}
	delayed, err := n.UpdateSettings(t.Context(), "billing", "orders", func(s *meta.Settings) { s.Tags, s.DelayMS = "", 400 }, 2-1)
	must(t, err)
	if delayed.Version != 2 {
		t.Errorf("version %d, want 2", delayed.Version)
	}
	n.send(topic, 0, "", "young")
	sent := time.Now()
	reply := n.poll("billing", j, "", func(r *group.PollRequest) { r.Wait = 10 * time.Second })
	for len(reply.Messages) == 0 || polled(reply)[len(reply.Messages)-1] != "young" {
		reply = n.poll("billing", j, reply.Cursor, func(r *group.PollRequest) { r.Wait = 10 * time.Second })
	}
	if took := time.Since(sent); took < 300*time.Millisecond {
		t.Errorf("a message with a delay of 400 ms came after %v", took)
	}
}

// A condition is of the membership: what does not meet it neither comes nor ends a wait,
// and is finished with what comes behind it.
func TestMembersGetOnlyWhatMeetsTheirCondition(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	odd := []meta.Subscription{{Topic: "orders", SQL: "TAGS = 'odd'"}}
	joined, err := n.Join(t.Context(), group.JoinRequest{Group: "billing", ClientID: "c", Transport: "http", Address: "127.0.0.1:1", Subscriptions: odd})
	must(t, err)
	member := joined.Member.ID
	n.owned("billing", member, 1)
	sent := make(chan time.Time, 1)
	go func() {
		time.Sleep(300 * time.Millisecond) // the poll waits
		n.send(topic, 0, "even", "0")
		time.Sleep(300 * time.Millisecond) // it still does
		sent <- time.Now()
		n.send(topic, 0, "odd", "1")
	}()
	reply := n.poll("billing", member, "", func(r *group.PollRequest) { r.Wait = 10 * time.Second })
	if wantPolled(t, reply, "1"); time.Now().Before(<-sent) {
		t.Error("the poll was answered before anything met its condition")
	}
	n.poll("billing", member, reply.Cursor)
	must(t, n.Leave(t.Context(), "billing", member))
	s := n.subscribe("s", "", func(o *group.SessionOptions) { o.Subscriptions = odd })
	n.owned("billing", s.id(), 1)
	n.send(topic, 0, "even", "2")
	n.send(topic, 0, "odd", "3")
	if got := s.take(1); string(got[0].Record.Body) != "3" || got[0].Offset != 3 {
		t.Errorf("pushed: %+v", got)
	}
}

func TestDeniedAddressesCannotJoin(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.topic("orders", 1)
	n.group("billing", time.Minute, func(g *meta.Group) { g.AllowIPs, g.DenyIPs = []string{"10.0.0.0/8"}, []string{"10.0.0.7"} })
	for address, want := range map[string]error{"10.1.2.3:99": nil, "10.0.0.7:99": group.ErrAddressDenied, "192.168.0.1:9": group.ErrAddressDenied, "": group.ErrAddressDenied} {
		_, err := n.Join(t.Context(), group.JoinRequest{Group: "billing", Address: address, Subscriptions: []meta.Subscription{{Topic: "orders"}}})
		if !errors.Is(err, want) {
			t.Errorf("join from %q: %v, want %v", address, err, want)
		}
	}
}

func TestSharedAndOwnedConsumptionKeepOutOfEachOther(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	n.send(topic, 0, "", "a")
	n.receive(ask("billing", "orders"))
	var shared *meta.GroupSharedError
	_, err := n.Join(t.Context(), group.JoinRequest{Group: "billing", Subscriptions: []meta.Subscription{{Topic: "orders"}}})
	if !errors.As(err, &shared) || shared.RetryAfter <= 0 {
		t.Errorf("join while messages are hidden: %v", err)
	}
	n.group("audit", time.Minute)
	n.join("audit", "c", "orders")
	if _, err := n.Receive(t.Context(), ask("audit", "orders")); !errors.Is(err, meta.ErrGroupQueued) {
		t.Errorf("receive while a member owns queues: %v", err)
	}
}

func TestAStoppedQueueGivesPollsNothing(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	m := n.join("billing", "c", "orders").Member.ID
	n.owned("billing", m, 1)
	n.send(topic, 0, "", "a", "b")
	first := n.poll("billing", m, "", at(1))
	wantPolled(t, first, "a")
	_, err := n.SetStopped(t.Context(), "billing", "orders", 0, true, "op")
	must(t, err)
	stopped := n.poll("billing", m, first.Cursor) // what was delivered before counts
	wantPolled(t, stopped)
	if got := n.offset("billing", 0); got != 1 {
		t.Errorf("progress %d, want 1", got)
	}
	_, err = n.SetStopped(t.Context(), "billing", "orders", 0, false, "op")
	must(t, err)
	wantPolled(t, n.poll("billing", m, stopped.Cursor), "b")
}

// What a held poll brings is committed by the poll after it, not by its waking up.
func TestAPollThatWaitedCommitsOnlyWhatTheOneBeforeDelivered(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute)
	m := n.join("billing", "c", "orders").Member.ID
	n.owned("billing", m, 1)
	n.send(topic, 0, "", "a")
	first := n.poll("billing", m, "")
	wantPolled(t, first, "a")
	held := make(chan *group.PollReply, 1)
	go func() {
		held <- n.poll("billing", m, first.Cursor, func(r *group.PollRequest) { r.Wait = 20 * time.Second })
	}()
	for deadline := time.Now().Add(10 * time.Second); n.offset("billing", 0) != 1; {
		if time.Now().After(deadline) {
			t.Fatal("the poll did not commit before it waited")
		}
		time.Sleep(5 * time.Millisecond)
	}
	n.send(topic, 0, "", "b")
	woken := <-held
	wantPolled(t, woken, "b")
	if got := n.offset("billing", 0); got != 1 {
		t.Errorf("progress %d, want 1: b is not finished", got)
	}
	n.poll("billing", m, woken.Cursor)
	if got := n.offset("billing", 0); got != 2 {
		t.Errorf("progress %d, want 2", got)
	}
}

func TestABroadcastingMemberGetsAQueueThatIsNew(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", 1)
	n.group("news", time.Minute, func(g *meta.Group) { g.Mode, g.ConsumeFrom = meta.ModeBroadcasting, meta.ConsumeFromLast })
	m := n.join("news", "a", "orders").Member.ID
	reply := n.poll("news", m, "")
	topic.Queues = 2
	topic, err := n.journal.UpdateTopic(t.Context(), topic, 0)
	must(t, err)
	n.send(topic, 1, "", "x") // before the member knows the queue: it begins at its minimum all the same
	for deadline := time.Now().Add(20 * time.Second); len(reply.Messages) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nothing came of the new queue")
		}
		reply = n.poll("news", m, reply.Cursor, func(r *group.PollRequest) { r.Wait = 2 * time.Second })
	}
	wantPolled(t, reply, "x")
}

// Progress that lies outside a queue is corrected and told: beyond the end to the
// end, never to the start.
func TestProgressOutsideAQueueIsCorrected(t *testing.T) {
	p := newPlant(t)
	n := p.gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.send(topic, 0, "", "a", "b", "c")
	beyond := func(g meta.Group) {
		_, err := n.db.ResetOffsets(t.Context(), g.ID, "", "op", []meta.OffsetReset{{Topic: topic.ID, Queue: 0, Offset: 50}})
		must(t, err)
	}
	billing := n.group("billing", time.Minute)
	m := n.join("billing", "c", "orders").Member.ID
	n.owned("billing", m, 1)
	beyond(billing)
	reply := n.poll("billing", m, "")
	want := group.ReceiveGap{Topic: "orders", From: 50, To: 3, Reason: journal.GapBeyondEnd}
	if len(reply.Messages) != 0 || len(reply.Gaps) != 1 || reply.Gaps[0] != want {
		t.Fatalf("polled %v with gaps %+v, want %+v", polled(reply), reply.Gaps, want)
	}
	if got := n.offset("billing", 0); got != 3 {
		t.Errorf("progress %d, want the end", got)
	}
	shared := n.group("shared", time.Minute)
	wantBodies(t, n.receive(ask("shared", "orders")), "a", "b", "c")
	beyond(shared)
	got, err := n.Receive(t.Context(), ask("shared", "orders"))
	must(t, err)
	if len(got.Messages) != 0 || len(got.Gaps) != 1 || got.Gaps[0] != want {
		t.Fatalf("received %v with gaps %+v, want %+v", bodies(got.Messages), got.Gaps, want)
	}
	n.send(topic, 0, "", "d")
	wantPolled(t, n.poll("billing", m, reply.Cursor), "d")
	wantBodies(t, n.receive(ask("shared", "orders")), "d")
}
