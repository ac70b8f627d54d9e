package coordinator

import (
	"github.com/bucketmq/bucketmq/assign"
	"github.com/bucketmq/bucketmq/meta"
)

// attributeRoom is the attribute of a topic that names the machine room of its
// queues, unless the group's configuration names a room for each.
const attributeRoom = "room"

// strategyOf is a group's strategy as package assign takes it.
func strategyOf(g meta.Group, topics map[string]meta.Topic) assign.Config {
	c := assign.Config{
		Name: g.Strategy, VirtualNodes: g.Strategies.VirtualNodes, Rooms: g.Strategies.Rooms, Inner: g.Strategies.Inner,
		Queues: make(map[string][]assign.Queue, len(g.Strategies.Queues)),
	}
	for client, refs := range g.Strategies.Queues {
		for _, ref := range refs {
			if t, exists := topics[ref.Topic]; exists {
				c.Queues[client] = append(c.Queues[client], queueOf(g, t, ref.Queue))
			}
		}
	}
	return c
}

// queueOf is a queue as the group's strategy sees it: in a machine room, if the
// strategy goes by them.
func queueOf(g meta.Group, t meta.Topic, queue uint32) assign.Queue {
	q := assign.Queue{Topic: t.Name, ID: queue}
	if g.Strategy == assign.NameByMachineRoom || g.Strategy == assign.NameMachineRoomNearby {
		q.Broker = assign.BrokerIn(roomOf(g, t, queue))
	}
	return q
}

func roomOf(g meta.Group, t meta.Topic, queue uint32) string {
	if rooms := g.Strategies.TopicRooms[t.Name]; uint64(queue) < uint64(len(rooms)) {
		return rooms[queue]
	}
	return t.Attributes[attributeRoom]
}
