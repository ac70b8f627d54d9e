package assign_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bucketmq/bucketmq/assign"
)

// complete are the strategies that give every queue to somebody.
var complete = map[string]assign.Strategy{
	"averagely":   assign.Averagely,
	"circle":      assign.AveragelyByCircle,
	"hash":        assign.ConsistentHash(10),
	"hash of 3":   assign.ConsistentHash(3),
	"nearby":      assign.MachineRoomNearby(assign.Averagely),
	"nearby hash": assign.MachineRoomNearby(assign.ConsistentHash(10)),
}

// rooms of queues and of members overlap in part.
func drawInput(t *rapid.T) ([]assign.Queue, []assign.Member) {
	var queues []assign.Queue
	for i := range rapid.IntRange(1, 40).Draw(t, "queues") {
		room := rapid.IntRange(0, 3).Draw(t, "room of queue")
		queues = append(queues, assign.Queue{Topic: "t", Broker: assign.BrokerIn(fmt.Sprint("room", room)), ID: uint32(i)})
	}
	var members []assign.Member
	for i := range rapid.IntRange(1, 20).Draw(t, "members") {
		room := rapid.IntRange(1, 5).Draw(t, "room of member")
		members = append(members, assign.Member{ID: fmt.Sprint("c", i), Room: fmt.Sprint("room", room)})
	}
	return queues, members
}

// owners turns shares around and fails when a queue has two owners.
func owners(t *rapid.T, shares assign.Shares) map[assign.Queue]string {
	all := map[assign.Queue]string{}
	for id, share := range shares {
		for _, q := range share {
			if other, taken := all[q]; taken {
				t.Fatalf("%v belongs to %s and to %s", q, other, id)
			}
			all[q] = id
		}
	}
	return all
}

func run(t *rapid.T, s assign.Strategy, queues []assign.Queue, members []assign.Member) map[assign.Queue]string {
	shares, err := s.Run(queues, members)
	if err != nil {
		t.Fatal(err)
	}
	return owners(t, shares)
}

func TestEveryQueueIsOwnedOnceWhateverTheOrderOfTheInput(t *testing.T) {
	for name, s := range complete {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				queues, members := drawInput(t)
				got := run(t, s, queues, members)
				if len(got) != len(queues) {
					t.Fatalf("%d of %d queues have an owner", len(got), len(queues))
				}
				for q, id := range got {
					if !slices.ContainsFunc(members, func(m assign.Member) bool { return m.ID == id }) {
						t.Fatalf("%v belongs to %q, who is no member", q, id)
					}
				}
				again := run(t, s, rapid.Permutation(queues).Draw(t, "order of queues"),
					rapid.Permutation(members).Draw(t, "order of members"))
				for q, id := range got {
					if again[q] != id {
						t.Fatalf("%v: owner %s, in another order %s", q, id, again[q])
					}
				}
			})
		})
	}
}

func TestSharesDifferByOneAtMost(t *testing.T) {
	for _, name := range []string{"averagely", "circle"} {
		rapid.Check(t, func(t *rapid.T) {
			queues, members := drawInput(t)
			sizes := map[string]int{}
			for _, id := range run(t, complete[name], queues, members) {
				sizes[id]++
			}
			for _, m := range members {
				if n := sizes[m.ID]; n < len(queues)/len(members) || n > len(queues)/len(members)+1 {
					t.Fatalf("%s: %s has %d of %d queues among %d members", name, m.ID, n, len(queues), len(members))
				}
			}
		})
	}
}

func TestConsistentHashMovesOnlyWhatItMust(t *testing.T) {
	for _, nodes := range []int{3, 10} {
		rapid.Check(t, func(t *rapid.T) {
			queues, members := drawInput(t)
			before := run(t, assign.ConsistentHash(nodes), queues, members)
			changed := rapid.SampledFrom(members).Draw(t, "who leaves")
			rest := slices.DeleteFunc(slices.Clone(members), func(m assign.Member) bool { return m.ID == changed.ID })
			if len(rest) == 0 {
				return
			}
			// Read backwards it is that member's arrival.
			for q, id := range run(t, assign.ConsistentHash(nodes), queues, rest) {
				if before[q] != id && before[q] != changed.ID {
					t.Fatalf("%v moved between %s and %s when %s left", q, before[q], id, changed.ID)
				}
			}
		})
	}
}

func TestNearbyKeepsQueuesInTheirRoom(t *testing.T) {
	for _, name := range []string{"nearby", "nearby hash"} {
		rapid.Check(t, func(t *rapid.T) {
			queues, members := drawInput(t)
			roomOf, manned := map[string]string{}, map[string]bool{}
			for _, m := range members {
				roomOf[m.ID], manned[assign.BrokerIn(m.Room)] = m.Room, true
			}
			for q, id := range run(t, complete[name], queues, members) {
				if manned[q.Broker] && assign.BrokerIn(roomOf[id]) != q.Broker {
					t.Fatalf("%v belongs to %s in %s", q, id, roomOf[id])
				}
			}
		})
	}
}

// The counts are those of RocketMQ's own tests.
func TestNearbyOverManyRooms(t *testing.T) {
	members := func(rooms, each int) (all []assign.Member) {
		for room := range rooms {
			for i := range each {
				all = append(all, assign.Member{ID: fmt.Sprintf("idc%d-c%d", room, i), Room: fmt.Sprint("idc", room)})
			}
		}
		return all
	}
	const rooms, perRoom = 5, 20
	var queues []assign.Queue
	for room := range rooms {
		queues = append(queues, some("t", fmt.Sprintf("idc%d@b", room), 0, perRoom)...)
	}
	s := assign.MachineRoomNearby(assign.Averagely)
	for _, c := range []struct{ rooms, each int }{{5, 10}, {5, 20}, {5, 30}, {6, 10}, {3, 10}} {
		all := members(c.rooms, c.each)
		shares, err := s.Run(queues, all)
		if err != nil {
			t.Fatal(err)
		}
		owned, own := 0, map[string]int{}
		for _, m := range all {
			for _, q := range shares[m.ID] {
				owned++
				if q.Broker == m.Room+"@b" {
					own[m.Room]++
				} else if c.rooms >= rooms {
					t.Errorf("%d rooms × %d: %s owns %v", c.rooms, c.each, m.ID, q)
				}
			}
			if m.Room == "idc5" && len(shares[m.ID]) > 0 {
				t.Errorf("%d rooms × %d: %s has queues, its room has none", c.rooms, c.each, m.ID)
			}
		}
		if owned != len(queues) {
			t.Errorf("%d rooms × %d: %d of %d queues are owned", c.rooms, c.each, owned, len(queues))
		}
		for room := range min(c.rooms, rooms) {
			if name := fmt.Sprint("idc", room); own[name] != perRoom {
				t.Errorf("%d rooms × %d: members of %s own %d of its %d queues", c.rooms, c.each, name, own[name], perRoom)
			}
		}
	}
	if _, err := s.Run(queues, nil); err == nil {
		t.Error("no members at all: no error")
	}
}
