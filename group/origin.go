package group

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/segment"
)

// Origin is where a message of a retry or dead-letter topic comes from.
type Origin struct {
	Topic     string
	Queue     uint32
	Offset    int64
	MessageID uuid.UUID
	StoredAt  int64  // Unix milliseconds
	Attempts  int64  // deliveries that failed so far
	Reason    string // of the last: what the client said, or one of the Reason constants
}

// Why a delivery failed when the client says nothing.
const (
	ReasonNacked  = "nacked"  // it was given back
	ReasonExpired = "expired" // nobody acknowledged it in time

	ReasonRedriven = "redriven" // it was a dead letter
)

// MaxReason bounds the reason that a client gives, in bytes.
const MaxReason = 1024

// The properties that hold an Origin. Producers cannot set them.
const (
	propertyTopic    = "__origin_topic"
	propertyQueue    = "__origin_queue"
	propertyOffset   = "__origin_offset"
	propertyID       = "__origin_message_id"
	propertyStoredAt = "__origin_stored_at"
	propertyAttempts = "__attempts"
	propertyReason   = "__reason"
)

// append adds the origin to a message's properties.
func (o *Origin) append(p segment.Properties) segment.Properties {
	p = segment.AppendProperty(p, propertyTopic, o.Topic)
	p = segment.AppendProperty(p, propertyQueue, strconv.FormatUint(uint64(o.Queue), 10))
	p = segment.AppendProperty(p, propertyOffset, strconv.FormatInt(o.Offset, 10))
	p = segment.AppendProperty(p, propertyID, o.MessageID.String())
	p = segment.AppendProperty(p, propertyStoredAt, strconv.FormatInt(o.StoredAt, 10))
	p = segment.AppendProperty(p, propertyAttempts, strconv.FormatInt(o.Attempts, 10))
	return segment.AppendProperty(p, propertyReason, o.Reason)
}

// set takes a property of an origin; any other one is left alone.
func (o *Origin) set(name, value string) (known bool) {
	number := func(to *int64) { *to, _ = strconv.ParseInt(value, 10, 64) }
	switch name {
	case propertyTopic:
		o.Topic = value
	case propertyQueue:
		n, _ := strconv.ParseUint(value, 10, 32)
		o.Queue = uint32(n)
	case propertyOffset:
		number(&o.Offset)
	case propertyID:
		o.MessageID, _ = uuid.Parse(value)
	case propertyStoredAt:
		number(&o.StoredAt)
	case propertyAttempts:
		number(&o.Attempts)
	case propertyReason:
		o.Reason = value
	default:
		return false
	}
	return true
}

// OriginOf returns where a message of a retry or dead-letter topic comes from, and
// the message as it was there. Of any other message it is the zero Origin.
func OriginOf(m journal.Stored) (Origin, journal.Stored) {
	var o Origin
	var rest segment.Properties
	for name, value := range m.Record.Properties.All() {
		if !o.set(string(name), string(value)) {
			rest = segment.AppendProperty(rest, name, value)
		}
	}
	if o.Topic == "" {
		return Origin{}, m
	}
	m.Record.Properties, m.Record.ID = rest, o.MessageID
	m.Raw = segment.AppendRecord(nil, &m.Record)
	m.Offset, m.StoredAt = o.Offset, o.StoredAt
	return o, m
}

// failuresOf is how often a message of a topic had failed before it was stored there.
func failuresOf(topic string, m *journal.Stored) int64 {
	if !journal.IsRetryTopic(topic) {
		return 0
	}
	o, _ := OriginOf(*m)
	return o.Attempts
}
