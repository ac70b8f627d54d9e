package journal

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// AnyQueue lets the ordering key choose the queue, or the journal when there is
// none: then all such messages of one request go to one queue.
const AnyQueue int64 = -1

// Message is one message of a draft. Its slices are copied by Add.
type Message struct {
	Queue       int64 // AnyQueue, or the queue that it goes to
	Text        bool  // the body was given as text, not as bytes
	Null        bool  // a tombstone: no body, which is not an empty one
	BornAt      int64 // Unix milliseconds; 0 = now
	Tag         []byte
	Keys        []byte // joined by one blank
	OrderingKey []byte
	ContentType []byte
	Properties  segment.Properties
	Body        []byte

	// A delayed message becomes readable later: one of these, zero for none.
	DelayMS    int64 // after now
	DeliverAt  int64 // Unix milliseconds by Redis' clock; in the past: at once
	DelayLevel int64 // see DelayLevel
}

// Draft is one produce request. Its messages are encoded as they are added,
// straight into the bytes that are stored. It is used by one goroutine, filled,
// and appended once.
type Draft struct {
	topic  meta.Topic
	clock  *clock
	base   uuid.UUID // of the message ids
	bornAt int64     // of messages that do not say
	count  int
	size   int                // encoded bytes
	keys   int                // of all messages
	system bool               // see NewSystemDraft
	extra  segment.Properties // see Reserve
	expect int                // bytes that are likely to come; see Expect
	parts  []part
	late   buffer  // records of delayed messages
	first  [1]part // backs parts of the usual request
	// routes says where each message is. It is nil as long as all messages are
	// in the first part by their index and none has an ordering key.
	routes     []route
	half       uuid.UUID // the transaction whose half messages these are; Nil: none
	identity   segment.Identity
	identities []segment.Identity // one for each part, made when it joins

	home *topicBatch // set when it joins a batch
	verdict
	appended Appended // what Wait returns
}

// part is what one request sends to one queue, or to the queue that its batch
// gives to messages without a choice.
type part struct {
	queue   uint32
	auto    bool
	count   uint32
	first   int64 // offset of its first message; −1: not known
	records buffer
	due     int64 // of a delayed message, which is a part of its own
	from    int   // where its record is in Draft.late
	to      int
	minBorn int64
	maxBorn int64
	tags    uint64
}

// route is a message's place in its request.
type route struct {
	hash  uint64 // of the ordering key, when it chose the queue
	part  uint16
	index uint16
	keyed bool
}

// NewDraft begins a request to t, which is as Topic returned it.
func (j *Journal) NewDraft(t meta.Topic) (*Draft, error) {
	if t.Queues == 0 {
		return nil, fmt.Errorf("begin a request: topic %q has no queues", t.Name)
	}
	base, err := segment.NewMessageIDBase()
	if err != nil {
		return nil, fmt.Errorf("begin a request: %w", err)
	}
	d := &Draft{topic: t, clock: &j.clock, base: base, bornAt: segment.MessageTime(base)}
	d.parts = d.first[:0]
	return d, nil
}

// Len is the number of messages added so far.
func (d *Draft) Len() int { return d.count }

// Size is the number of bytes that the messages take in the log.
func (d *Draft) Size() int { return d.size }

// Identify makes the request recognisable when it is sent again. Kind and Key
// are required, and Body or Epoch and Seq as the kind needs; the journal fills
// in the rest.
func (d *Draft) Identify(id segment.Identity) { d.identity = id }

// Reserve adds properties to every message that is added from now on, beyond the
// limits of its own: their names are reserved.
func (d *Draft) Reserve(p segment.Properties) { d.extra = p }

// Expect tells about how many bytes the messages will take, before the first
// Add, so that they are not copied from buffer to larger buffer.
func (d *Draft) Expect(bytes int) { d.expect = min(bytes, MaxBatchBytes) }

// Add encodes one message. An *InvalidError says which limit it breaks; the
// draft is as before then.
func (d *Draft) Add(m *Message) error {
	r := segment.Record{
		ID: segment.MessageID(d.base, d.count), BornAt: m.BornAt,
		Tag: m.Tag, Keys: m.Keys, OrderingKey: m.OrderingKey, ContentType: m.ContentType,
		Properties: m.Properties, Body: m.Body,
	}
	if r.BornAt == 0 {
		r.BornAt = d.bornAt
	}
	switch {
	case m.Null:
		r.Attributes = segment.AttrNull
	case m.Text:
		r.Attributes = segment.AttrText
	}
	size := segment.RecordSize(&r)
	if err := d.admit(&r, size); err != nil {
		return err
	}
	if len(d.extra) > 0 {
		r.Properties = append(slices.Clone(r.Properties), d.extra...)
		size = segment.RecordSize(&r)
	}
	to, err := d.target(m.Queue, m.OrderingKey)
	if err != nil {
		return err
	}
	if m.delayed() && d.half != uuid.Nil {
		return fault{"delay_ms", CodeConflict, "a message of a transaction is not delayed"}.at(d.count)
	}
	if m.delayed() {
		if to.due, err = d.due(m); err != nil {
			return err
		}
	}
	p := d.place(to)
	if to.due != 0 {
		d.late.grow(size)
		p.from = len(d.late.b)
		d.late.b = segment.AppendRecord(d.late.b, &r)
		p.to = len(d.late.b)
		d.counted(p, &r, size)
		return nil
	}
	if d.count == 0 && !to.keyed { // by key they are likely to be spread
		p.records.grow(max(size, d.expect))
	}
	p.records.grow(size)
	p.records.b = segment.AppendRecord(p.records.b, &r)
	d.counted(p, &r, size)
	return nil
}

// admit tests one more message against the limits of a message and a request.
func (d *Draft) admit(r *segment.Record, size int) error {
	if d.count >= MaxBatchMessages {
		return fault{"messages", CodeTooMany, fmt.Sprintf("a request has at most %d messages", MaxBatchMessages)}.at(-1)
	}
	if d.half == uuid.Nil && d.topic.Type == meta.TopicTransaction && !d.system {
		return fault{"messages", CodeConflict, "a topic of type transaction takes the messages of transactions only"}.at(-1)
	}
	if r.Attributes&segment.AttrNull != 0 && len(r.Body) > 0 {
		return fault{"body", CodeInvalid, "a tombstone has no body"}.at(d.count)
	}
	if r.BornAt < 0 {
		return fault{"born_at", CodeInvalid, "a born time is not before 1970"}.at(d.count)
	}
	if !d.system {
		if f := checkRecord(r, &d.topic); f.code != "" {
			return f.at(d.count)
		}
	}
	if d.size+size > MaxBatchBytes {
		return fault{"messages", CodeTooLarge, fmt.Sprintf("the messages of a request take at most %d bytes", MaxBatchBytes)}.at(-1)
	}
	return nil
}

// counted accounts for a message whose bytes are in p now.
func (d *Draft) counted(p *part, r *segment.Record, size int) {
	p.count++
	p.minBorn = min(p.minBorn, r.BornAt)
	p.maxBorn = max(p.maxBorn, r.BornAt)
	p.tags |= segment.TagBloom(r.Tag)
	if len(r.Keys) > 0 {
		d.keys += 1 + bytes.Count(r.Keys, blank)
	}
	d.count++
	d.size += size
}

var blank = []byte(" ")

// target is where a message wants to go.
type target struct {
	queue uint32
	auto  bool
	keyed bool
	hash  uint64
	due   int64 // not zero: of a delayed message
}

func (d *Draft) target(queue int64, orderingKey []byte) (target, error) {
	if queue < 0 && len(orderingKey) == 0 {
		return target{auto: true}, nil
	}
	hash := xxhash.Sum64(orderingKey)
	keyQueue := uint32(hash % uint64(d.topic.Queues))
	switch {
	case queue < 0:
		return target{queue: keyQueue, keyed: true, hash: hash}, nil
	case queue >= int64(d.topic.Queues):
		return target{}, fault{"queue", CodeOutOfRange, fmt.Sprintf("the topic has queues 0 to %d", d.topic.Queues-1)}.at(d.count)
	case d.topic.Type == meta.TopicFIFO && uint32(queue) != keyQueue:
		return target{}, fault{"queue", CodeConflict, "in a fifo topic the ordering key chooses the queue"}.at(d.count)
	}
	return target{queue: uint32(queue)}, nil
}

// place finds or makes the part for a message and notes its route.
func (d *Draft) place(to target) *part {
	at := d.find(to)
	if at < 0 {
		at = len(d.parts)
		d.parts = append(d.parts, part{queue: to.queue, auto: to.auto, due: to.due, first: -1, minBorn: math.MaxInt64, maxBorn: math.MinInt64})
	}
	if d.routes == nil && (to.keyed || len(d.parts) > 1) {
		d.routes = make([]route, d.count, max(2*d.count, 16))
		for i := range d.routes {
			d.routes[i].index = uint16(i)
		}
	}
	p := &d.parts[at]
	if d.routes != nil {
		d.routes = append(d.routes, route{hash: to.hash, keyed: to.keyed, part: uint16(at), index: uint16(p.count)})
	}
	return p
}

func (d *Draft) find(to target) int {
	if to.due != 0 {
		return -1
	}
	for i := range d.parts {
		if p := &d.parts[i]; p.due == 0 && p.auto == to.auto && (p.auto || p.queue == to.queue) {
			return i
		}
	}
	return -1
}

// held is how much memory the draft keeps busy until it is stored.
func (d *Draft) held() int64 {
	n := int64(cap(d.late.b))
	for i := range d.parts {
		n += int64(cap(d.parts[i].records.b))
	}
	return n
}

// release gives the records' memory back once they are in a segment.
func (d *Draft) release() {
	for i := range d.parts {
		d.parts[i].records.release()
	}
	d.late.release()
}
