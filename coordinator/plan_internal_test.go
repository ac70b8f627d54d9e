package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/assign"
	"github.com/bucketmq/bucketmq/meta"
)

// topicOf is a topic whose id can be told from its name.
func topicOf(name string, queues uint32) meta.Topic {
	return meta.Topic{ID: uuid.NewSHA1(uuid.Nil, []byte(name)), Name: name, Queues: queues}
}

func topicsOf(all ...meta.Topic) map[string]meta.Topic {
	byName := map[string]meta.Topic{}
	for _, t := range all {
		byName[t.Name] = t
	}
	return byName
}

// memberOf has "m-" before its client id as its id.
func memberOf(client string, joined int64, topics ...string) meta.Member {
	m := meta.Member{ID: "m-" + client, ClientID: client, Kind: meta.KindQueue, JoinedAt: joined, Address: "10.0.0." + fmt.Sprint(joined) + ":1"}
	for _, name := range topics {
		m.Subscriptions = append(m.Subscriptions, meta.Subscription{Topic: name, TopicID: topicOf(name, 0).ID})
	}
	return m
}

// owned is an assignment of topic a.
func owned(queue uint32, owner string) meta.Assignment {
	return meta.Assignment{Topic: topicOf("a", 0).ID, Queue: queue, Owner: owner, State: meta.StateOwned, Epoch: 1}
}

func revoking(queue uint32, owner, next string) meta.Assignment {
	a := owned(queue, owner)
	a.State, a.Next, a.NextEpoch = meta.StateRevoking, next, 2
	return a
}

// planned writes targets as "a0=m-c0 a1=", by topic name and queue.
func planned(p plan, topics ...meta.Topic) string {
	names := map[uuid.UUID]string{}
	for _, t := range topics {
		names[t.ID] = t.Name
	}
	var all []string
	for _, t := range p.targets {
		all = append(all, fmt.Sprint(names[t.Topic], t.Queue, "=", t.Owner))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestPlan(t *testing.T) {
	a, b := topicOf("a", 3), topicOf("b", 1)
	two := []meta.Member{memberOf("c1", 2, "a"), memberOf("c0", 1, "a")}
	for _, c := range []struct {
		name    string
		state   meta.GroupState
		want    string
		settled bool
	}{
		{"nobody, nothing", meta.GroupState{}, "", true},
		{"members are ordered by client id", meta.GroupState{Members: two}, "a0=m-c0 a1=m-c0 a2=m-c1", false},
		{"as it is", meta.GroupState{Members: two,
			Assignments: []meta.Assignment{owned(0, "m-c0"), owned(1, "m-c0"), owned(2, "m-c1")}},
			"a0=m-c0 a1=m-c0 a2=m-c1", true},
		{"coming to it", meta.GroupState{Members: two,
			Assignments: []meta.Assignment{owned(0, "m-c0"), owned(1, "m-c0"), revoking(2, "m-c0", "m-c1")}},
			"a0=m-c0 a1=m-c0 a2=m-c1", true},
		{"coming to something else", meta.GroupState{Members: two,
			Assignments: []meta.Assignment{revoking(0, "m-c0", "m-c1"), owned(1, "m-c0"), owned(2, "m-c1")}},
			"a0=m-c0 a1=m-c0 a2=m-c1", false},
		{"the owner who gives back has gone", meta.GroupState{Members: two,
			Assignments: []meta.Assignment{owned(0, "m-c0"), owned(1, "m-c0"), revoking(2, "m-gone", "m-c1")}},
			"a0=m-c0 a1=m-c0 a2=m-c1", false},
		{"the last member has gone", meta.GroupState{Assignments: []meta.Assignment{owned(0, "m-c0")}}, "a0=", false},
		{"nobody is left and nothing is owned", meta.GroupState{Assignments: []meta.Assignment{owned(0, "")}}, "a0=", true},
		{"a queue that no topic has", meta.GroupState{Members: two[:1],
			Assignments: []meta.Assignment{owned(3, "m-c1")}}, "a0=m-c1 a1=m-c1 a2=m-c1 a3=", false},
		{"two topics", meta.GroupState{Members: []meta.Member{memberOf("c0", 1, "a", "b")}}, "a0=m-c0 a1=m-c0 a2=m-c0 b0=m-c0", false},
		{"a topic that is missing", meta.GroupState{Members: []meta.Member{memberOf("c0", 1, "b", "x")}}, "b0=m-c0", false},
		{"broadcasting", meta.GroupState{Group: meta.Group{Mode: meta.ModeBroadcasting}, Members: two}, "", true},
	} {
		p := makePlan(c.state, topicsOf(a, b))
		if got := planned(p, a, b); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if got := p.settled(c.state); got != c.settled {
			t.Errorf("%s: settled %v, want %v", c.name, got, c.settled)
		}
	}
}

func TestOnlySomeMembersTakePart(t *testing.T) {
	a := topicOf("a", 4)
	four := []meta.Member{memberOf("c3", 1, "a"), memberOf("c2", 2, "a"), memberOf("c1", 3, "a"), memberOf("c0", 4, "a")}
	naming := memberOf("c9", 1, "a")
	naming.Kind = "assign"
	for _, c := range []struct {
		name    string
		group   meta.Group
		members []meta.Member
		want    string
		reason  string
	}{
		{"all", meta.Group{}, four, "a0=m-c0 a1=m-c1 a2=m-c2 a3=m-c3", "members changed: 4 members"},
		{"the first two to join", meta.Group{MaxMembers: 2}, four, "a0=m-c2 a1=m-c2 a2=m-c3 a3=m-c3",
			"members changed: 2 members; 2 on stand-by above max_members"},
		{"one is denied", meta.Group{MaxMembers: 2, DenyIPs: []string{"10.0.0.1"}}, four, "a0=m-c1 a1=m-c1 a2=m-c2 a3=m-c2",
			"members changed: 2 members; 1 on stand-by above max_members; address denied: c3"},
		{"one is allowed", meta.Group{AllowIPs: []string{"10.0.0.4/32"}}, four, "a0=m-c0 a1=m-c0 a2=m-c0 a3=m-c0",
			"members changed: 1 member; address denied: c1, c2, c3"},
		{"who names its queues itself", meta.Group{}, append(slices.Clone(four[:1]), naming), "a0=m-c3 a1=m-c3 a2=m-c3 a3=m-c3",
			"members changed: 1 member"},
	} {
		p := makePlan(meta.GroupState{Group: c.group, Members: c.members}, topicsOf(a))
		if got := planned(p, a); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if got := p.reason([]string{"members changed"}); got != c.reason {
			t.Errorf("%s: reason\n got %s\nwant %s", c.name, got, c.reason)
		}
	}
}

func TestStandByIsWrittenAlsoWhenNoQueueMoves(t *testing.T) {
	members := []meta.Member{memberOf("c0", 1, "a"), memberOf("c1", 2, "a")}
	state := meta.GroupState{Group: meta.Group{MaxMembers: 1}, Members: members, Assignments: []meta.Assignment{owned(0, "m-c0")}}
	p := makePlan(state, topicsOf(topicOf("a", 1)))
	if p.settled(state) {
		t.Error("settled, though c1 is not on stand-by yet")
	}
	members[1].Standby = true
	if !p.settled(state) {
		t.Error("not settled, though c1 is on stand-by")
	}
}

func TestAStrategyThatFailsLeavesTheTopicAsItIs(t *testing.T) {
	a, b := topicOf("a", 3), topicOf("b", 1)
	b.Attributes = map[string]string{"room": "r1"}
	member, next := memberOf("c0", 1, "a", "b"), memberOf("c1", 2, "a", "b")
	member.Room, next.Room = "r1", "r1"
	state := meta.GroupState{
		Group:       meta.Group{Strategy: assign.NameMachineRoomNearby},
		Members:     []meta.Member{member, next},
		Assignments: []meta.Assignment{owned(0, "m-c1"), revoking(1, "m-c1", "m-c0"), owned(2, "m-gone")},
	}
	p := makePlan(state, topicsOf(a, b))
	if got, want := planned(p, a, b), "a0=m-c1 a1=m-c0 a2= b0=m-c0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := p.reason(nil); !strings.Contains(got, "left as it was: a (assign: no machine room") {
		t.Errorf("reason: %s", got)
	}
	p = makePlan(meta.GroupState{Group: meta.Group{Strategy: "of the future"}, Members: state.Members}, topicsOf(a, b))
	if got, want := planned(p, a, b), "a0= a1= a2= b0="; got != want {
		t.Errorf("no strategy: got %s, want %s", got, want)
	}
}

func TestRoomsOfQueues(t *testing.T) {
	a := topicOf("a", 4)
	a.Attributes = map[string]string{"room": "r1"}
	c0, c1 := memberOf("c0", 1, "a"), memberOf("c1", 2, "a")
	c0.Room, c1.Room = "r1", "r2"
	for _, c := range []struct {
		name  string
		group meta.Group
		want  string
	}{
		{"the topic's room", meta.Group{Strategy: assign.NameMachineRoomNearby}, "a0=m-c0 a1=m-c0 a2=m-c0 a3=m-c0"},
		{"a room for each queue", meta.Group{Strategy: assign.NameMachineRoomNearby, Strategies: meta.StrategyConfig{
			TopicRooms: map[string][]string{"a": {"r1", "r2", "r1", "r2"}}}}, "a0=m-c0 a1=m-c1 a2=m-c0 a3=m-c1"},
		{"a room for the first queues", meta.Group{Strategy: assign.NameMachineRoomNearby, Strategies: meta.StrategyConfig{
			TopicRooms: map[string][]string{"a": {"r2"}}}}, "a0=m-c1 a1=m-c0 a2=m-c0 a3=m-c0"},
		{"queues of one room", meta.Group{Strategy: assign.NameByMachineRoom, Strategies: meta.StrategyConfig{
			Rooms: []string{"r2"}, TopicRooms: map[string][]string{"a": {"r1", "r2", "r2"}}}}, "a0= a1=m-c0 a2=m-c1 a3="},
		{"by a list inside a room", meta.Group{Strategy: assign.NameMachineRoomNearby, Strategies: meta.StrategyConfig{
			Inner: assign.NameByConfig, Queues: map[string][]meta.QueueRef{"c0": {{Topic: "a", Queue: 1}, {Topic: "x", Queue: 1}}}}}, "a0= a1=m-c0 a2= a3="},
		{"other strategies know no rooms", meta.Group{Strategy: assign.NameAveragelyByCircle, Strategies: meta.StrategyConfig{
			TopicRooms: map[string][]string{"a": {"r9", "r1", "r1", "r1"}}}}, "a0=m-c0 a1=m-c1 a2=m-c0 a3=m-c1"},
	} {
		p := makePlan(meta.GroupState{Group: c.group, Members: []meta.Member{c0, c1}}, topicsOf(a))
		if got := planned(p, a); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestReasonsNameAFewOfMany(t *testing.T) {
	p := plan{missing: []string{"a", "b", "c", "d", "e", "f", "g"}}
	if got, want := p.reason(nil), "check: 0 members; no such topic: a, b, c, d, e and 2 more"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
