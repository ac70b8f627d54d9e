package assign_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/assign"
)

// some returns n queues of a topic on a broker, from id `from` on.
func some(topic, broker string, from, n int) []assign.Queue {
	var all []assign.Queue
	for i := range n {
		all = append(all, assign.Queue{Topic: topic, Broker: broker, ID: uint32(from + i)})
	}
	return all
}

func numbered(prefix string, n int) []assign.Member {
	var all []assign.Member
	for i := range n {
		all = append(all, assign.Member{ID: fmt.Sprint(prefix, i)})
	}
	return all
}

func inRoom(room string, ids ...string) []assign.Member {
	var all []assign.Member
	for _, id := range ids {
		all = append(all, assign.Member{ID: id, Room: room})
	}
	return all
}

func join[T any](lists ...[]T) []T {
	var all []T
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// shown writes each member's queues as "[0 1] [2]", in the order of members.
func shown(shares assign.Shares, members []assign.Member, show func(assign.Queue) string) string {
	var all []string
	for _, m := range members {
		var share []string
		for _, q := range shares[m.ID] {
			share = append(share, show(q))
		}
		all = append(all, "["+strings.Join(share, " ")+"]")
	}
	return strings.Join(all, " ")
}

func byID(q assign.Queue) string { return fmt.Sprint(q.ID) }

// byBroker writes a queue as the end of its broker's room and its id: "1:0".
func byBroker(q assign.Queue) string {
	return fmt.Sprintf("%s:%d", strings.TrimPrefix(strings.TrimSuffix(q.Broker, "@b"), "IDC"), q.ID)
}

type vector struct {
	name    string
	s       assign.Strategy
	queues  []assign.Queue
	members []assign.Member
	show    func(assign.Queue) string
	want    string
}

func TestStrategiesGiveWhatRocketMQsGive(t *testing.T) {
	chash := assign.ConsistentHash(10)
	twoBrokers := join(some("t", "a", 0, 4), some("t", "b", 0, 4))
	brokerAndID := func(q assign.Queue) string { return fmt.Sprint(q.Broker, q.ID) }
	for _, v := range []vector{
		{"averagely", assign.Averagely, some("t", "b", 0, 5), numbered("c", 2), byID, "[0 1 2] [3 4]"},
		{"averagely", assign.Averagely, some("t", "b", 0, 8), numbered("c", 3), byID, "[0 1 2] [3 4 5] [6 7]"},
		{"averagely", assign.Averagely, some("t", "b", 0, 10), numbered("c", 4), byID, "[0 1 2] [3 4 5] [6 7] [8 9]"},
		{"averagely", assign.Averagely, some("t", "b", 0, 3), numbered("c", 5), byID, "[0] [1] [2] [] []"},
		{"averagely", assign.Averagely, some("t", "b", 0, 7), numbered("c", 7), byID, "[0] [1] [2] [3] [4] [5] [6]"},
		{"averagely", assign.Averagely, some("t", "b", 0, 16), numbered("c", 5), byID,
			"[0 1 2 3] [4 5 6] [7 8 9] [10 11 12] [13 14 15]"},
		{"averagely", assign.Averagely, some("t", "b", 0, 9), numbered("c", 1), byID, "[0 1 2 3 4 5 6 7 8]"},
		{"averagely", assign.Averagely, some("t", "b", 0, 13), numbered("c", 4), byID,
			"[0 1 2 3] [4 5 6] [7 8 9] [10 11 12]"},
		{"averagely", assign.Averagely, some("t", "b", 0, 6), numbered("c", 4), byID, "[0 1] [2 3] [4] [5]"},
		{"averagely", assign.Averagely, twoBrokers, numbered("c", 3), brokerAndID, "[a0 a1 a2] [a3 b0 b1] [b2 b3]"},

		{"circle", assign.AveragelyByCircle, some("t", "b", 0, 5), numbered("c", 2), byID, "[0 2 4] [1 3]"},
		{"circle", assign.AveragelyByCircle, some("t", "b", 0, 8), numbered("c", 3), byID, "[0 3 6] [1 4 7] [2 5]"},
		{"circle", assign.AveragelyByCircle, some("t", "b", 0, 3), numbered("c", 5), byID, "[0] [1] [2] [] []"},
		{"circle", assign.AveragelyByCircle, some("t", "b", 0, 16), numbered("c", 5), byID,
			"[0 5 10 15] [1 6 11] [2 7 12] [3 8 13] [4 9 14]"},
		{"circle", assign.AveragelyByCircle, some("t", "b", 0, 6), numbered("c", 4), byID, "[0 4] [1 5] [2] [3]"},
		{"circle", assign.AveragelyByCircle, some("t", "b", 0, 10), numbered("c", 4), byID, "[0 4 8] [1 5 9] [2 6] [3 7]"},
		{"circle", assign.AveragelyByCircle, twoBrokers, numbered("c", 3), brokerAndID, "[a0 a3 b2] [a1 b0 b3] [a2 b1]"},
		{"circle of PMQ", assign.AveragelyByCircle, some("t", "", 101, 5), inRoom("", "A", "B"), byID, "[101 103 105] [102 104]"},

		{"hash", chash, some("t", "b", 0, 5), numbered("c", 2), byID, "[2 3 4] [0 1]"},
		{"hash", chash, some("t", "b", 0, 8), numbered("c", 3), byID, "[2 4 6 7] [1] [0 3 5]"},
		{"hash", chash, some("t", "b", 0, 10), numbered("c", 4), byID, "[2 4 6 7] [] [0 3 5 8] [1 9]"},
		{"hash", chash, some("t", "b", 0, 16), numbered("c", 5), byID,
			"[2 4 6 7] [11] [0 3 5 10] [1 9 12 13 14] [8 15]"},
		{"hash of 3 nodes", assign.ConsistentHash(3), some("topic_test", "brokerName", 0, 20), numbered("CID-", 10), byID,
			"[3 5 8 18 19] [] [4] [6 7 9] [] [10 11 15 17] [] [0 2 12] [1 13 14] [16]"},
		{"hash without nodes", assign.ConsistentHash(0), some("t", "b", 0, 6), numbered("c", 2), byID, "[] []"},
		{"hash", chash, some("orders", "broker-a", 0, 8), numbered("worker-", 3), byID, "[] [0 2 3 5 6] [1 4 7]"},
		{"hash of 3 nodes", assign.ConsistentHash(3), some("pay", "gw", 0, 12), numbered("10.0.0.", 5), byID,
			"[0 5 7 8 10 11] [] [6] [1 2 3] [4 9]"},
	} {
		check(t, v)
	}
}

func TestMachineRoomsGiveWhatRocketMQsGive(t *testing.T) {
	twoRooms := join(some("t", "room1@broker-a", 0, 5), some("t", "room2@broker-b", 5, 5))
	idcs := join(some("t", "IDC1@b", 0, 4), some("t", "IDC2@b", 0, 4), some("t", "IDC3@b", 0, 4))
	nearby := assign.MachineRoomNearby(assign.Averagely)
	for _, v := range []vector{
		{"one room", assign.ByMachineRoom([]string{"room1"}), twoRooms, numbered("c", 2), byID, "[0 1 4] [2 3]"},
		{"two rooms", assign.ByMachineRoom([]string{"room1", "room2"}), twoRooms, numbered("c", 3), byID,
			"[0 1 2 9] [3 4 5] [6 7 8]"},
		{"another room", assign.ByMachineRoom([]string{"room3"}), twoRooms, numbered("c", 2), byID, "[] []"},
		{"no rooms in names", assign.ByMachineRoom([]string{"room1"}), some("t", "room1", 0, 4), numbered("c", 2), byID, "[] []"},
		{"three parts", assign.ByMachineRoom([]string{"room1"}), some("t", "room1@b@c", 0, 4), numbered("c", 2), byID, "[] []"},
		{"rooms as BrokerIn names them", assign.ByMachineRoom([]string{"room1"}),
			join(some("t", assign.BrokerIn("room1"), 0, 3), some("t", assign.BrokerIn(""), 0, 3)), numbered("c", 2), byID, "[0 2] [1]"},

		{"nearby, an orphan room", nearby, idcs, join(inRoom("IDC1", "IDC1-c0", "IDC1-c1"), inRoom("IDC2", "IDC2-c0")), byBroker,
			"[1:0 1:1 3:0 3:1] [1:2 1:3 3:2] [2:0 2:1 2:2 2:3 3:3]"},
		{"nearby, a room without queues", nearby, idcs,
			join(inRoom("IDC1", "IDC1-c0"), inRoom("IDC2", "IDC2-c0"), inRoom("IDC3", "IDC3-c0"), inRoom("IDC4", "IDC4-c0")), byBroker,
			"[1:0 1:1 1:2 1:3] [2:0 2:1 2:2 2:3] [3:0 3:1 3:2 3:3] []"},
		{"nearby by circle", assign.MachineRoomNearby(assign.AveragelyByCircle), idcs, inRoom("IDC3", "c0", "c1"), byBroker,
			"[3:0 3:2 1:0 1:2 2:0 2:2] [3:1 3:3 1:1 1:3 2:1 2:3]"},
	} {
		check(t, v)
	}
}

func check(t *testing.T, v vector) {
	t.Helper()
	shares, err := v.s.Run(v.queues, v.members)
	if err != nil {
		t.Errorf("%s: %d queues, %d members: %v", v.name, len(v.queues), len(v.members), err)
		return
	}
	if got := shown(shares, v.members, v.show); got != v.want {
		t.Errorf("%s: %d queues, %d members:\n got %s\nwant %s", v.name, len(v.queues), len(v.members), got, v.want)
	}
}

func TestByConfigGivesEveryCallerItsList(t *testing.T) {
	list := some("t", "", 0, 4)
	s := assign.ByConfig(map[string][]assign.Queue{"c0": list, "c1": list})
	check(t, vector{"by config", s, some("t", "", 0, 4), numbered("c", 3), byID, "[0 1 2 3] [0 1 2 3] []"})
}

func TestMembersAreOrderedAsStrings(t *testing.T) {
	var members []assign.Member
	for i := 11; i > 0; i-- {
		members = append(members, assign.Member{ID: fmt.Sprint("c", i)})
	}
	shares, err := assign.Strategy(assign.Averagely).Run(some("t", "", 0, 11), members)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"c1": "0", "c10": "1", "c11": "2", "c2": "3", "c9": "10"} {
		if got := shown(shares, []assign.Member{{ID: id}}, byID); got != "["+want+"]" {
			t.Errorf("%s: got %s, want [%s]", id, got, want)
		}
	}
}

func TestAnUnknownMemberHasNothing(t *testing.T) {
	for _, s := range []assign.Strategy{assign.Averagely, assign.AveragelyByCircle, assign.ConsistentHash(10)} {
		shares, err := s.Run(some("t", "b", 0, 10), numbered("c", 4))
		if err != nil {
			t.Fatal(err)
		}
		if got := shares["c9"]; len(got) > 0 {
			t.Errorf("a member that is not in the group got %v", got)
		}
	}
}

func TestInputIsChecked(t *testing.T) {
	queues, members := some("t", "b", 0, 4), numbered("c", 2)
	nearby := assign.MachineRoomNearby(assign.Averagely)
	for _, c := range []struct {
		name    string
		s       assign.Strategy
		queues  []assign.Queue
		members []assign.Member
		want    error
	}{
		{"no queues", assign.Averagely, nil, members, assign.ErrNoQueues},
		{"no members", assign.AveragelyByCircle, queues, nil, assign.ErrNoMembers},
		{"an empty client id", assign.ConsistentHash(10), queues, []assign.Member{{}}, assign.ErrNoID},
		{"virtual nodes", assign.ConsistentHash(-1), queues, members, assign.ErrVirtualNodes},
		{"a queue in no room", nearby, queues, inRoom("r", "c0"), assign.ErrNoRoom},
		{"a member in no room", nearby, some("t", "r@b", 0, 4), members, assign.ErrNoRoom},
		{"inside", assign.MachineRoomNearby(assign.ConsistentHash(-1)), some("t", "r@b", 0, 4), inRoom("r", "c0"), assign.ErrVirtualNodes},
	} {
		if _, err := c.s.Run(c.queues, c.members); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}
