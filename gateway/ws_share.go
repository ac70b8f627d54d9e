package gateway

import (
	"sync"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	// sharedRuns is how many encoded runs of messages are kept for the next
	// subscriber, and sharedBytes how much memory they take together.
	sharedRuns  = 256
	sharedBytes = 8 << 20
)

// sharedItems keeps messages as they were encoded last, so that many
// subscribers at the end of a topic cost one encoding. A run of messages has
// the same JSON for everybody: the name of the subscription, its seq and its
// cursor stand around it.
type sharedItems struct {
	mu        sync.Mutex
	followers map[uuid.UUID]int // guarded by mu; subscriptions by topic
	runs      map[runKey][]byte // guarded by mu
	order     []runKey          // guarded by mu; oldest first
	bytes     int               // guarded by mu; of runs
}

// runKey names a run by its first and last message; ids never repeat, offsets
// may after a recovery.
type runKey struct {
	first, last uuid.UUID
	queue       uint32
	count       int
	base64      bool
}

func newSharedItems() *sharedItems {
	return &sharedItems{followers: make(map[uuid.UUID]int), runs: make(map[runKey][]byte)}
}

func (c *sharedItems) join(topic uuid.UUID) {
	c.mu.Lock()
	c.followers[topic]++
	c.mu.Unlock()
}

func (c *sharedItems) leave(topic uuid.UUID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.followers[topic]--; c.followers[topic] <= 0 {
		delete(c.followers, topic)
	}
}

// items returns the JSON of messages in parts, which commas join. The parts must
// not be written to.
func (c *sharedItems) items(topic meta.Topic, items []journal.Item, base64 bool) [][]byte {
	var parts [][]byte
	for len(items) > 0 {
		n := runOf(items, false)
		parts = append(parts, c.run(topic, items[:n], base64))
		items = items[n:]
	}
	return parts
}

func (c *sharedItems) run(topic meta.Topic, items []journal.Item, base64 bool) []byte {
	last := &items[len(items)-1]
	key := runKey{items[0].Record.ID, last.Record.ID, last.Queue, len(items), base64}
	c.mu.Lock()
	text, shared := c.runs[key], c.followers[topic.ID] > 1
	c.mu.Unlock()
	if text != nil {
		return text
	}
	text = encodeItems(topic.Name, items, base64)
	if shared {
		c.keep(key, text)
	}
	return text
}

func (c *sharedItems) keep(key runKey, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[key] != nil || len(text) > sharedBytes/4 {
		return
	}
	for len(c.order) > 0 && (len(c.order) >= sharedRuns || c.bytes+len(text) > sharedBytes) {
		c.bytes -= len(c.runs[c.order[0]])
		delete(c.runs, c.order[0])
		c.order = c.order[1:]
	}
	c.runs[key] = text
	c.order = append(c.order, key)
	c.bytes += len(text)
}

func encodeItems(topic string, items []journal.Item, base64 bool) []byte {
	encoder := messageEncoder{base64: base64}
	size := 0
	for i := range items {
		size += 256 + len(topic) + len(items[i].Raw) + len(items[i].Raw)/3
	}
	out := make([]byte, 0, size)
	for i := range items {
		if i > 0 {
			out = append(out, ',')
		}
		m := &items[i]
		out = appendString(append(out, `{"topic":`...), []byte(topic))
		brace := len(out)
		out = encoder.append(out, m.Queue, m.Offset, m.StoredAt, &m.Record)
		out[brace] = ',' // one object with what stands before it
	}
	return out
}
