package assign

import (
	"fmt"
	"slices"
)

// Names of strategies.
const (
	NameAveragely         = "averagely"
	NameAveragelyByCircle = "averagely_by_circle"
	NameConsistentHash    = "consistent_hash"
	NameByConfig          = "by_config"
	NameByMachineRoom     = "by_machine_room"
	NameMachineRoomNearby = "machine_room_nearby"
	NameCircleAllTopics   = "circle_all_topics"
)

// Config is a group's choice of a strategy.
type Config struct {
	Name         string             // NameAveragely when empty
	VirtualNodes int                // of consistent_hash; 0 = DefaultVirtualNodes
	Rooms        []string           // that by_machine_room deals out
	Inner        string             // of machine_room_nearby; NameAveragely when empty
	Queues       map[string][]Queue // of by_config: client id → queues, Broker empty
}

// Strategy returns the strategy of that name. ErrStrategy.
func (c Config) Strategy() (Strategy, error) {
	switch c.Name {
	case "", NameAveragely:
		return Averagely, nil
	case NameAveragelyByCircle, NameCircleAllTopics:
		return AveragelyByCircle, nil
	case NameConsistentHash:
		if c.VirtualNodes == 0 {
			return ConsistentHash(DefaultVirtualNodes), nil
		}
		return ConsistentHash(c.VirtualNodes), nil
	case NameByConfig:
		return ByConfig(c.Queues), nil
	case NameByMachineRoom:
		return ByMachineRoom(c.Rooms), nil
	case NameMachineRoomNearby:
		inner := c
		if inner.Name = c.Inner; inner.Name == NameMachineRoomNearby {
			return nil, fmt.Errorf("%w: %s inside itself", ErrStrategy, c.Inner)
		}
		s, err := inner.Strategy()
		if err != nil {
			return nil, err
		}
		return MachineRoomNearby(s), nil
	}
	return nil, fmt.Errorf("%w: %q", ErrStrategy, c.Name)
}

// Deal says who owns each of the queues, which may be of several topics: each
// topic is dealt out by itself, except by circle_all_topics. A queue that is not
// in the result has no owner. A queue that by_config lists for several members
// belongs to the first of them, so the others stand by for it. A topic whose
// strategy failed is in failed and has no owners.
func Deal(c Config, queues []Queue, members []Member) (owners map[Queue]string, failed map[string]error) {
	owners, failed = make(map[Queue]string, len(queues)), map[string]error{}
	if len(queues) == 0 || len(members) == 0 {
		return owners, failed
	}
	sorted := slices.SortedFunc(slices.Values(queues), compareQueues)
	strategy, err := c.Strategy()
	for len(sorted) > 0 {
		part := sorted
		if end := slices.IndexFunc(part, func(q Queue) bool { return q.Topic != part[0].Topic }); end > 0 &&
			c.Name != NameCircleAllTopics {
			part = part[:end]
		}
		sorted = sorted[len(part):]
		var shares Shares
		failure := err
		if failure == nil {
			shares, failure = strategy.Run(part, members)
		}
		if failure != nil {
			for _, q := range part {
				failed[q.Topic] = failure
			}
			continue
		}
		settle(owners, shares, part, members)
	}
	return owners, failed
}

// settle gives each queue of part that is in somebody's share its owner.
func settle(owners map[Queue]string, shares Shares, part []Queue, members []Member) {
	asked := make(map[Queue]bool, len(part))
	for _, q := range part {
		asked[q] = true
	}
	for _, m := range sortMembers(members) {
		for _, q := range shares[m.ID] {
			if _, taken := owners[q]; asked[q] && !taken {
				owners[q] = m.ID
			}
		}
	}
}
