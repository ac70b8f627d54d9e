// Package assign decides which member of a consumer group owns which queue. Its
// strategies give what RocketMQ's and PMQ's of the same name give for the same
// input. Pure: no I/O, no clock, imports none of ours.
package assign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Queue is a queue as strategies see it. Broker is empty unless queues are told
// apart by machine rooms: then it is what BrokerIn returns.
type Queue struct {
	Topic  string
	Broker string
	ID     uint32
}

// Member is a member as strategies see it.
type Member struct {
	ID   string // the client id: it orders the members, as bytes
	Room string // machine room; for MachineRoomNearby
}

// Shares is a result: client id → its queues, in the order in which RocketMQ
// lists them. A member without queues, and one that is unknown, has none.
type Shares map[string][]Queue

// Strategy deals queues out to members. It gets both sorted and not empty (Deal
// sees to that), and keeps neither.
type Strategy func(queues []Queue, members []Member) (Shares, error)

// Faults of the input, as RocketMQ's strategies check it.
var (
	ErrNoQueues     = errors.New("assign: no queues")
	ErrNoMembers    = errors.New("assign: no members")
	ErrNoID         = errors.New("assign: a member without a client id")
	ErrNoRoom       = errors.New("assign: no machine room")
	ErrVirtualNodes = errors.New("assign: negative number of virtual nodes")
	ErrStrategy     = errors.New("assign: unknown strategy")
)

// Run sorts what it is given and applies the strategy: queues by topic, broker
// and id, members by client id ("c10" comes before "c2"). ErrNoQueues,
// ErrNoMembers, ErrNoID, and what the strategy finds.
func (s Strategy) Run(queues []Queue, members []Member) (Shares, error) {
	switch {
	case len(queues) == 0:
		return nil, ErrNoQueues
	case len(members) == 0:
		return nil, ErrNoMembers
	case slices.ContainsFunc(members, func(m Member) bool { return m.ID == "" }):
		return nil, ErrNoID
	}
	return s(slices.SortedFunc(slices.Values(queues), compareQueues), sortMembers(members))
}

func compareQueues(a, b Queue) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), strings.Compare(a.Broker, b.Broker), cmp.Compare(a.ID, b.ID))
}

func sortMembers(members []Member) []Member {
	return slices.SortedFunc(slices.Values(members), func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
}

// String is the text that RocketMQ hashes for a queue.
func (q Queue) String() string {
	return fmt.Sprintf("MessageQueue [topic=%s, brokerName=%s, queueId=%d]", q.Topic, q.Broker, q.ID)
}
