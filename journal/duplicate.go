package journal

import (
	"slices"

	"github.com/bucketmq/bucketmq/meta"
)

// repeat answers a request as its first sending was answered: with the ids,
// queues and offsets of then. The first one may have been split while the topic
// had another number of queues, so the messages are split again by the numbers
// of then. What cannot be told any more keeps the offset −1.
func (d *Draft) repeat(o meta.RequestOutcome) {
	d.duplicate = true
	d.base = o.IDBase
	if o.Queues != 0 && o.Queues != d.topic.Queues {
		d.resplit(o.Queues)
	}
	order := make([]int, 0, len(d.parts))
	for i := range d.parts {
		p := &d.parts[i]
		p.first = -1
		if p.auto {
			p.queue = o.AutoQueue
		}
		if p.due == 0 { // a delayed message was given no offset
			order = append(order, i)
		}
	}
	// A request's parts lie in a segment by queue, and within a queue in the
	// order in which its messages first needed them.
	slices.SortStableFunc(order, func(a, b int) int { return int(d.parts[a].queue) - int(d.parts[b].queue) })
	if len(o.Parts) != len(order) {
		return
	}
	for i, at := range order {
		if p, first := &d.parts[at], o.Parts[i]; p.queue != first.Queue || p.count != first.Count {
			return
		}
	}
	for i, at := range order {
		d.parts[at].first = o.Parts[i].First
	}
}

// resplit recomputes parts and routes for another number of queues.
func (d *Draft) resplit(queues uint32) {
	if d.routes == nil {
		return // no ordering key: the number of queues chose nothing
	}
	old, routes := d.parts, d.routes
	d.parts, d.routes = nil, nil
	d.count = 0
	for _, r := range routes {
		from := &old[r.part]
		to := target{queue: from.queue, auto: from.auto, keyed: r.keyed, hash: r.hash, due: from.due}
		if r.keyed {
			to.queue = uint32(r.hash % uint64(queues))
		}
		d.place(to).count++
		d.count++
	}
}
