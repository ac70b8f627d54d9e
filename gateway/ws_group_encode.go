package gateway

import (
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/bucketmq/bucketmq/group"
)

// appendConsuming answers the subscribe of a group; session is nil in shared mode.
func appendConsuming(dst []byte, id string, sub *subscription, session *group.Session) []byte {
	dst = append(appendSub(dst, "subscribed", id, sub.name), `,"recovered":`...)
	if session == nil {
		return append(dst, `true}`...)
	}
	member, client, key, reply := session.Joined()
	dst = strconv.AppendBool(dst, session.Reattached())
	dst = appendString(append(dst, `,"member_id":`...), []byte(member))
	dst = appendString(append(dst, `,"client_id":`...), []byte(client))
	dst = appendString(append(dst, `,"session_key":`...), []byte(key))
	dst = strconv.AppendInt(append(dst, `,"generation":`...), reply.Generation, 10)
	dst = strconv.AppendBool(append(dst, `,"standby":`...), reply.Standby)
	dst = strconv.AppendBool(append(dst, `,"ordered":`...), session.Ordered())
	dst = appendValue(append(dst, `,"assignments":`...), ownedOf(reply.Assignments))
	dst = appendValue(append(dst, `,"settings":`...), liveSettings(reply.Group, reply.Subscriptions, reply.Settings))
	return append(dst, '}')
}

// appendValue appends a value of package api.
func appendValue(dst []byte, v any) []byte {
	text, err := json.Marshal(v, json.Deterministic(true), allowInvalidUTF8)
	if err != nil {
		panic("gateway: encode a value: " + err.Error())
	}
	return append(dst, text...)
}

// appendEvent tells what happened to a membership.
func appendEvent(dst []byte, sub string, e *group.Event) []byte {
	dst = appendSub(dst, e.Kind, "", sub)
	switch e.Kind {
	case group.EventStalled:
		dst = appendString(append(dst, `,"reason":`...), []byte(e.Reason))
		dst = appendString(append(dst, `,"topic":`...), []byte(e.Queues[0].Topic))
		dst = strconv.AppendUint(append(dst, `,"queue":`...), uint64(e.Queues[0].Queue), 10)
		return append(dst, '}')
	case group.EventSettings:
		topics := liveSettings(e.Group, nil, e.Settings)
		dst = appendValue(append(dst, `,"settings":`...), topics)
		return append(dst, '}')
	}
	dst = strconv.AppendInt(append(dst, `,"generation":`...), e.Generation, 10)
	dst = appendValue(append(dst, `,"queues":`...), ownedOf(e.Queues))
	return append(dst, '}')
}

// encodeConsumed fills rest with what a consumer delivers, in out.
func (r *run) encodeConsumed(out *buffer, c *consumed, base64, bin bool) {
	encoder := messageEncoder{base64: base64}
	dst := out.b[:0]
	if bin {
		dst = encoder.clock.appendConsumedRuns(append(dst, `,"runs":[`...), c.items)
	} else {
		dst = append(dst, `,"items":[`...)
		for i := range c.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			item := &c.items[i]
			dst = encoder.appendOpen(dst, item.topic, item.queue, item.stored)
			dst = append(append(append(dst, `,"receipt":"`...), item.receipt...), `","attempt":`...)
			dst = strconv.AppendInt(dst, item.attempt, 10)
			if item.hidden > 0 {
				dst = append(encoder.clock.append(append(dst, `,"deadline":"`...), item.hidden), '"')
			}
			dst = append(dst, '}')
		}
	}
	dst = append(strconv.AppendBool(append(dst, `],"caught_up":`...), !c.more && !c.waiting), '}')
	r.header = len(dst)
	for i := range c.items {
		r.bytes += int64(len(c.items[i].stored.Record.Body))
		if bin {
			dst = append(dst, c.items[i].stored.Raw...)
		}
	}
	out.b, r.rest = dst, dst
}

// appendConsumedRuns says where each run of records belongs, and how each of its
// deliveries is named.
func (c *clock) appendConsumedRuns(dst []byte, items []consumedItem) []byte {
	for rest := items; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].topic == rest[0].topic && rest[n].queue == rest[0].queue && rest[n].hidden == rest[0].hidden &&
			rest[n].stored.Offset == rest[0].stored.Offset+int64(n) && rest[n].stored.StoredAt == rest[0].stored.StoredAt {
			n++
		}
		if len(rest) < len(items) {
			dst = append(dst, ',')
		}
		first := &rest[0]
		dst = appendString(append(dst, `{"topic":`...), []byte(first.topic))
		dst = strconv.AppendUint(append(dst, `,"queue":`...), uint64(first.queue), 10)
		dst = strconv.AppendInt(append(dst, `,"first":`...), first.stored.Offset, 10)
		dst = strconv.AppendInt(append(dst, `,"count":`...), int64(n), 10)
		dst = append(c.append(append(dst, `,"stored_at":"`...), first.stored.StoredAt), '"')
		if first.hidden > 0 {
			dst = append(c.append(append(dst, `,"deadline":"`...), first.hidden), '"')
		}
		for i := range n {
			dst = append(append(dst, [2]string{`,"receipts":["`, `","`}[min(i, 1)]...), rest[i].receipt...)
		}
		dst = append(dst, `"]`...)
		for i := range n {
			dst = strconv.AppendInt(append(dst, [2]string{`,"attempts":[`, `,`}[min(i, 1)]...), rest[i].attempt, 10)
		}
		dst = append(dst, "]}"...)
		rest = rest[n:]
	}
	return dst
}
