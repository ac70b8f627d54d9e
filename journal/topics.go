package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// topicFresh is how long a topic's state is believed without a notice.
const topicFresh = 5 * time.Second

// topicCache remembers the topics that are in use. Notices drop what changed;
// as they can be lost, nothing is believed for longer than topicFresh.
type topicCache struct {
	meta *meta.DB

	mu     sync.RWMutex
	topics map[string]cachedTopic // guarded by mu
	drops  uint64                 // guarded by mu; a look-up that a drop overtook is not kept
	loads  map[string]*topicLoad  // guarded by mu; of topics whose state is no longer believed
}

// topicLoad is one look-up and those who wait for it.
type topicLoad struct {
	done  chan struct{} // closed after topic and err are set
	topic meta.Topic
	err   error
}

type cachedTopic struct {
	topic meta.Topic
	until time.Time
}

// maxCachedTopics bounds the cache; at the bound it starts anew.
const maxCachedTopics = 10_000

func newTopicCache(db *meta.DB) *topicCache {
	return &topicCache{meta: db, topics: make(map[string]cachedTopic), loads: make(map[string]*topicLoad)}
}

func (c *topicCache) get(ctx context.Context, name string) (meta.Topic, error) {
	c.mu.RLock()
	cached, ok := c.topics[name]
	drops := c.drops
	c.mu.RUnlock()
	if ok && time.Now().Before(cached.until) {
		return cached.topic, nil
	}
	if ok {
		return c.renew(ctx, name, drops)
	}
	return c.load(ctx, name, drops)
}

// renew looks a known topic up once for all who ask at the same time: everybody
// who waits for its messages may. One that is not known is looked up by each,
// because it may have been made since the others asked.
func (c *topicCache) renew(ctx context.Context, name string, drops uint64) (meta.Topic, error) {
	c.mu.Lock()
	l, running := c.loads[name]
	if !running {
		l = &topicLoad{done: make(chan struct{}), err: errors.New("journal: look-up ended early")}
		c.loads[name] = l
	}
	c.mu.Unlock()
	if !running {
		defer func() {
			c.mu.Lock()
			delete(c.loads, name)
			c.mu.Unlock()
			close(l.done)
		}()
		l.topic, l.err = c.load(ctx, name, drops)
		return l.topic, l.err
	}
	select {
	case <-l.done: // the one who looked set topic and err before
	case <-ctx.Done():
		return meta.Topic{}, context.Cause(ctx)
	}
	if isContextError(l.err) { // that caller has gone
		return c.load(ctx, name, drops)
	}
	return l.topic, l.err
}

func (c *topicCache) load(ctx context.Context, name string, drops uint64) (meta.Topic, error) {
	now := time.Now()
	t, err := c.meta.Topic(ctx, name)
	if err != nil {
		return meta.Topic{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drops == drops {
		if len(c.topics) >= maxCachedTopics {
			clear(c.topics)
		}
		c.topics[name] = cachedTopic{topic: t, until: now.Add(topicFresh)}
	}
	return t, nil
}

func (c *topicCache) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.topics, name)
	c.drops++
}

func (c *topicCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.topics)
	c.drops++
}

// Topic returns the live topic of that name, at most five seconds old and as
// new as the last notice. Its Attributes must not be changed.
func (j *Journal) Topic(ctx context.Context, name string) (meta.Topic, error) {
	t, err := j.topics.get(ctx, name)
	if err != nil {
		return meta.Topic{}, fmt.Errorf("topic %s: %w", name, unavailable(err))
	}
	return t, nil
}

// PutTopic creates the topic and returns it once it is durable. The name taken
// is a *meta.ExistsError with the topic that has it. After ErrOutcomeUnknown the
// topic exists, as far as Redis lives.
func (j *Journal) PutTopic(ctx context.Context, t meta.Topic) (meta.Topic, error) {
	if err := checkTopic(&t); err != nil {
		return meta.Topic{}, err
	}
	return j.changeTopic(ctx, "create", t.Name, func() (meta.Topic, error) { return j.meta.CreateTopic(ctx, t) })
}

// UpdateTopic replaces the settings of the topic if its version is ifVersion (0:
// any) and returns it once that is durable. Another version is a
// *meta.ConflictError with the topic as it is; queues never shrink
// (meta.ErrQueueShrink), and the type is the caller's to keep.
func (j *Journal) UpdateTopic(ctx context.Context, t meta.Topic, ifVersion int64) (meta.Topic, error) {
	if err := checkTopic(&t); err != nil {
		return meta.Topic{}, err
	}
	return j.changeTopic(ctx, "update", t.Name, func() (meta.Topic, error) { return j.meta.UpdateTopic(ctx, t, ifVersion) })
}

// DeleteTopic ends the topic if its version is ifVersion (0: any): appends and
// reads get ErrTopicNotFound, and the name is free. It returns the tombstone
// once that is durable.
func (j *Journal) DeleteTopic(ctx context.Context, name string, ifVersion int64) (meta.Topic, error) {
	return j.changeTopic(ctx, "delete", name, func() (meta.Topic, error) { return j.meta.DeleteTopic(ctx, name, ifVersion) })
}

// changeTopic applies a change in Redis, which gives it its version, and then
// writes the resulting state to the log.
func (j *Journal) changeTopic(ctx context.Context, verb, name string, apply func() (meta.Topic, error)) (meta.Topic, error) {
	if err := j.writer.admits(); err != nil {
		return meta.Topic{}, err
	}
	t, err := apply()
	j.topics.drop(name)
	if err != nil {
		return meta.Topic{}, fmt.Errorf("%s topic %s: %w", verb, name, unavailable(err))
	}
	if err := j.Control(ctx, controlTopic, &t); err != nil {
		return meta.Topic{}, fmt.Errorf("%s topic %s: %w", verb, name, err)
	}
	return t, nil
}

// checkTopic tests the limits of a topic's settings and fills in defaults.
func checkTopic(t *meta.Topic) error {
	if err := ValidateTopicName(t.Name); err != nil {
		return err
	}
	if t.Type == "" {
		t.Type = meta.TopicNormal
	}
	if t.Queues == 0 {
		t.Queues = DefaultQueues
	}
	switch t.Type {
	case meta.TopicNormal, meta.TopicFIFO, meta.TopicDelay, meta.TopicTransaction, meta.TopicMixed:
	default:
		return fault{"type", CodeInvalid, "a topic is normal, fifo, delay, transaction or mixed"}.at(-1)
	}
	switch {
	case t.Queues > MaxQueues:
		return fault{"queues", CodeOutOfRange, fmt.Sprintf("a topic has at most %d queues", MaxQueues)}.at(-1)
	case t.MaxMessageBytes < 0 || t.MaxMessageBytes > MaxBodyBytes:
		return fault{"max_message_bytes", CodeOutOfRange, fmt.Sprintf("a body has at most %d bytes", MaxBodyBytes)}.at(-1)
	case t.RetentionMS < 0:
		return fault{"retention_ms", CodeOutOfRange, "a retention is not negative"}.at(-1)
	case t.RetentionBytes < 0:
		return fault{"retention_bytes", CodeOutOfRange, "a retention is not negative"}.at(-1)
	}
	return nil
}
