package assign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// queueHost stands for the broker, which BucketMQ does not have.
const queueHost = "bucketmq"

// BrokerIn is the Broker of a queue in a machine room; of one in none it is
// empty. RocketMQ names brokers "<room>@<broker>".
func BrokerIn(room string) string {
	if room == "" {
		return ""
	}
	return room + "@" + queueHost
}

// room is the machine room of a queue, empty when its broker's name is not of
// exactly two parts.
func (q Queue) room() string {
	room, host, ok := strings.Cut(q.Broker, "@")
	if !ok || host == "" || strings.Contains(host, "@") {
		return ""
	}
	return room
}

// ByMachineRoom deals out the queues of the given rooms alone: each member gets
// a block of them, and the first members one of the queues that are left over.
// Nobody gets the queues of other rooms, or of none.
func ByMachineRoom(rooms []string) Strategy {
	return func(queues []Queue, members []Member) (Shares, error) {
		var dealt []Queue
		for _, q := range queues {
			if room := q.room(); room != "" && slices.Contains(rooms, room) {
				dealt = append(dealt, q)
			}
		}
		shares := make(Shares, len(members))
		size, rest := len(dealt)/len(members), len(dealt)%len(members)
		for i, m := range members {
			share := slices.Clone(dealt[size*i : size*(i+1)])
			if i < rest {
				share = append(share, dealt[size*len(members)+i])
			}
			shares[m.ID] = share
		}
		return shares, nil
	}
}

// MachineRoomNearby keeps queues in their room: inner deals the queues of a room
// out to the members of that room, and those of each room without members to all
// members. ErrNoRoom when a queue or a member is in none.
func MachineRoomNearby(inner Strategy) Strategy {
	return func(queues []Queue, members []Member) (Shares, error) {
		queuesIn, membersIn := map[string][]Queue{}, map[string][]Member{}
		for _, q := range queues {
			room := q.room()
			if room == "" {
				return nil, fmt.Errorf("%w: %s", ErrNoRoom, q)
			}
			queuesIn[room] = append(queuesIn[room], q)
		}
		for _, m := range members {
			if m.Room == "" {
				return nil, fmt.Errorf("%w: member %s", ErrNoRoom, m.ID)
			}
			membersIn[m.Room] = append(membersIn[m.Room], m)
		}
		shares := make(Shares, len(members))
		rooms := slices.Sorted(maps.Keys(queuesIn))
		deal := func(orphans bool) error {
			for _, room := range rooms {
				takers := membersIn[room]
				if (len(takers) == 0) != orphans {
					continue
				}
				if orphans {
					takers = members
				}
				part, err := inner(queuesIn[room], takers)
				if err != nil {
					return err
				}
				for id, share := range part {
					shares[id] = append(slices.Clip(shares[id]), share...)
				}
			}
			return nil
		}
		if err := deal(false); err != nil { // a member's own room comes first
			return nil, err
		}
		if err := deal(true); err != nil {
			return nil, err
		}
		return shares, nil
	}
}
