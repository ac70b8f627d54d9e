package journal

import (
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// batch is what becomes one segment: requests of all topics and control
// records, in the order in which they joined. It is guarded by writer.mu until
// the flusher takes it; from then on the flusher, then the committer owns it.
type batch struct {
	openedAt time.Time
	size     int64 // encoded bytes
	keys     int   // of the messages
	held     int64 // memory that counts against BufferBytes
	topics   []*topicBatch
	byTopic  map[uuid.UUID]*topicBatch
	controls []*pendingControl
}

// topicBatch is one topic's share of a batch. Topics of one batch fail apart,
// so each has its own answer: its requests' answers are written, then done is
// closed.
type topicBatch struct {
	topic      meta.Topic // the newest state that a request brought
	auto       uint32     // queue of the messages without a choice
	queues     []*queueBatch
	requests   []*Draft
	identified int // requests with an identity
	timed      int // delayed messages, and parts of transactions
	done       chan struct{}
}

// queueBatch is what goes to one queue of a topic.
type queueBatch struct {
	queue  uint32
	chunks []segment.Chunk
	owners []owner // whose chunk it is, by index
}

type owner struct {
	draft *Draft
	part  int
}

// verdict is what a request is told; written by the committer before it closes
// the topicBatch's done.
type verdict struct {
	err       error
	epoch     int64
	duplicate bool
	proof     <-chan struct{} // of a conditional request: closed when the log has its verdict
	era       uint64          // of a conditional request: the recovery that its verdict is newer than
}

func newBatch(now time.Time) *batch {
	return &batch{openedAt: now, byTopic: make(map[uuid.UUID]*topicBatch)}
}

// add puts a request's chunks behind those of the requests before it. The queue
// of messages without a choice is the same for the whole batch, so that they
// stay together, and another one in the next: nextAuto tells it.
func (b *batch) add(d *Draft, nextAuto func(t *meta.Topic) uint32) {
	t := b.byTopic[d.topic.ID]
	if t == nil {
		t = &topicBatch{topic: d.topic, auto: nextAuto(&d.topic), done: make(chan struct{})}
		b.byTopic[d.topic.ID] = t
		b.topics = append(b.topics, t)
	}
	if d.topic.Version > t.topic.Version {
		t.topic = d.topic
	}
	d.home = t
	t.requests = append(t.requests, d)
	d.settleIdentity(t.auto)
	for i := range d.parts {
		p := &d.parts[i]
		if p.auto {
			p.queue = t.auto
		}
		chunk := segment.Chunk{Payload: p.records.b, Count: p.count, MinBorn: p.minBorn, MaxBorn: p.maxBorn, Tags: p.tags}
		if d.identities != nil {
			chunk.Identity = &d.identities[i]
		}
		if d.half != uuid.Nil {
			chunk.Transaction, chunk.DueID = d.half, segment.MessageID(d.base, d.indexOf(i))
			t.timed++
		}
		if p.due != 0 {
			chunk.Payload = d.late.b[p.from:p.to]
			chunk.Due, chunk.DueID = p.due, segment.MessageID(d.base, d.indexOf(i))
			t.timed++
		}
		q := t.queue(p.queue)
		q.chunks = append(q.chunks, chunk)
		q.owners = append(q.owners, owner{d, i})
	}
	if d.identities != nil {
		t.identified++
	}
	b.size += int64(d.size)
	b.keys += d.keys
	b.held += d.held()
}

func (t *topicBatch) queue(queue uint32) *queueBatch {
	for _, q := range t.queues {
		if q.queue == queue {
			return q
		}
	}
	q := &queueBatch{queue: queue}
	t.queues = append(t.queues, q)
	return q
}

// identified says whether the request can be recognised when it is sent again.
func (d *Draft) identified() bool { return d.identity.Kind != 0 }

// settleIdentity completes the identity, now that the queues are chosen, once
// for each part: every part is a block of its own, and whoever finds only the
// blocks must be able to tell what the request was.
func (d *Draft) settleIdentity(auto uint32) {
	if !d.identified() {
		return
	}
	d.identity.Queues = d.topic.Queues
	d.identity.AutoQueue = auto
	d.identity.IDBase = d.base
	d.identity.Parts = uint16(len(d.parts))
	d.identities = make([]segment.Identity, len(d.parts))
	for i := range d.identities {
		d.identities[i] = d.identity
		d.identities[i].Part = uint16(i)
	}
}

// fail answers every request of the topic with err.
func (t *topicBatch) fail(err error) {
	for _, d := range t.requests {
		d.err = err
	}
	close(t.done)
}

// indexOf returns which message of the request is the first of a part.
func (d *Draft) indexOf(part int) int {
	for i := range d.routes {
		if int(d.routes[i].part) == part {
			return i
		}
	}
	return 0 // the only part has no route
}
