package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// TestRandomFaultsBreakNoPromise lets producers append while PUTs and commits
// fail, hang, succeed without saying so, or take long, and then compares what
// was promised with what the bucket and the index hold.
func TestRandomFaultsBreakNoPromise(t *testing.T) {
	var burnt, unknown, stored int
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChaos(t, seed)
				c.run()
				burnt += len(c.burnt)
				for _, said := range c.said {
					switch {
					case said.err == nil:
						stored++
					case errors.Is(said.err, ErrOutcomeUnknown):
						unknown++
					}
				}
			})
		})
	}
	// A run in which nothing went wrong, or nothing went right, proves nothing.
	if burnt < 20 || unknown < 100 || stored < 1000 {
		t.Errorf("%d segments burnt, %d requests unknown, %d stored: too few to mean anything", burnt, unknown, stored)
	}
	t.Logf("%d segments burnt, %d requests unknown, %d stored", burnt, unknown, stored)
}

type chaos struct {
	*writerRig
	mu     sync.Mutex
	random *rand.Rand // guarded by mu
	calm   bool       // guarded by mu
	burnt  map[uint64]bool
	said   map[string]promise // guarded by mu; by message
}

// promise is what a producer was told of one message.
type promise struct {
	topic  uuid.UUID
	queue  uint32
	offset int64
	err    error
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{random: rand.New(rand.NewPCG(seed, 1)), burnt: make(map[uint64]bool), said: make(map[string]promise)}
	c.writerRig = newWriterRig(t, Options{Linger: 20 * time.Millisecond, AppendTimeout: 10 * time.Second, SegmentBytes: 2000})
	c.store.Add(&faulty.Rule{Op: faulty.Put, Fault: c.put})
	c.redis.faults(c.beforeCommit, c.afterCommit)
	return c
}

// roll returns a number below n, and n once all is calm.
func (c *chaos) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calm {
		return n
	}
	return c.random.IntN(n)
}

func (c *chaos) put(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
	switch roll := c.roll(20); roll {
	case 0:
		return faulty.FailBefore(errLost)(ctx, next)
	case 1:
		return faulty.FailAfter(errLost)(ctx, next)
	case 2:
		return faulty.FailBefore(objstore.ErrNotStored)(ctx, next)
	case 3:
		return faulty.Hold(nil)(ctx, next)
	case 4:
		return faulty.HoldAfter(nil)(ctx, next)
	case 5, 6, 7, 8:
		return faulty.Delay(time.Duration(c.roll(3000))*time.Millisecond)(ctx, next)
	}
	return next()
}

func (c *chaos) beforeCommit(commit meta.Commit) error {
	c.writer.mu.Lock()
	for _, note := range c.writer.ledger.burnt {
		c.burnt[note.seq] = true
		if note.seq < commit.Seq {
			c.t.Errorf("segment %d is committed while the note of burnt segment %d is not durable", commit.Seq, note.seq)
		}
	}
	c.writer.mu.Unlock()
	if err := checkNoGap(c.t, c.writerRig)(commit); err != nil || c.roll(6) == 0 {
		return errLost
	}
	return nil
}

func (c *chaos) afterCommit(meta.Commit) error {
	if c.roll(6) == 0 {
		return errLost
	}
	return nil
}

func (c *chaos) run() {
	topics := []meta.Topic{c.newTopic("a", 2), c.newTopic("b", 1), c.newTopic("c", 3)}
	var producers sync.WaitGroup
	for p := range 6 {
		producers.Go(func() { c.produce(p, topics[p%len(topics)]) })
	}
	producers.Wait()
	c.mu.Lock()
	c.calm = true
	c.mu.Unlock()
	pass(time.Minute)
	if err := c.close(context.WithoutCancel(c.t.Context())); err != nil {
		c.t.Errorf("close: %v", err)
	}
	for _, topic := range topics {
		c.checkTopic(topic)
	}
	c.checkBucket()
}

// produce is one connection: up to three requests in flight, to one queue.
func (c *chaos) produce(p int, topic meta.Topic) {
	queue := uint32(p) % topic.Queues
	var answers sync.WaitGroup
	defer answers.Wait()
	window := make(chan struct{}, 3)
	for i := range 30 {
		name := fmt.Sprintf("p%d-%04d", p, i)
		window <- struct{}{}
		pending, err := c.journal.Enqueue(c.draft(topic, int64(queue), 1, name), Durable)
		if err != nil {
			c.t.Errorf("enqueue: %v", err)
			return
		}
		answers.Go(func() {
			defer func() { <-window }()
			said := promise{topic: topic.ID, queue: queue}
			var a *Appended
			if a, said.err = pending.Wait(c.t.Context()); said.err == nil {
				_, _, said.offset = a.At(0)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.said[name+"-0"] = said
		})
		time.Sleep(time.Duration(c.roll(200)) * time.Millisecond)
	}
}

// checkTopic reads every queue of the topic through its index.
func (c *chaos) checkTopic(topic meta.Topic) {
	found := map[string]bool{}
	for queue := range topic.Queues {
		last := map[string]string{}
		for offset, name := range c.read(topic.ID, queue) {
			if found[name] {
				c.t.Errorf("%s is in the topic twice", name)
			}
			found[name] = true
			said, ok := c.said[name]
			switch {
			case !ok || said.queue != queue || said.topic != topic.ID:
				c.t.Errorf("%s was found in queue %d, where nobody sent it", name, queue)
			case said.err == nil && said.offset != int64(offset):
				c.t.Errorf("%s is at %d and was answered with %d", name, offset, said.offset)
			case said.err != nil && !errors.Is(said.err, ErrOutcomeUnknown):
				c.t.Errorf("%s is stored and was answered with %v", name, said.err)
			}
			producer, _, _ := strings.Cut(name, "-")
			if name < last[producer] {
				c.t.Errorf("%s comes after %s", name, last[producer])
			}
			last[producer] = name
		}
	}
	for name, said := range c.said {
		if said.err == nil && said.topic == topic.ID && !found[name] {
			c.t.Errorf("%s was acknowledged and is lost", name)
		}
	}
}

// read returns the bodies of a queue by offset, from the bucket's bytes.
func (c *chaos) read(topic uuid.UUID, queue uint32) []string {
	var names []string
	for _, e := range c.redis.topics[topic].entries {
		if e.Queue != queue {
			continue
		}
		if e.First() != int64(len(names)) {
			c.t.Fatalf("entry at %d follows offset %d", e.First(), len(names))
		}
		run, err := c.memory.Get(c.t.Context(), segment.ObjectKey(e.Segment.Writer, e.Segment.Seq), e.Position, e.Length)
		if err != nil {
			c.t.Fatal(err)
		}
		for len(run) > 0 {
			block, payload, err := segment.DecodeBlock(run)
			if err != nil {
				c.t.Fatal(err)
			}
			for record, err := range segment.Records(payload) {
				if err != nil {
					c.t.Fatal(err)
				}
				names = append(names, string(record.Body))
			}
			run = run[block.Length:]
		}
		if e.Next != int64(len(names)) {
			c.t.Fatalf("entry up to %d holds messages up to %d", e.Next, len(names))
		}
	}
	return names
}

// checkBucket tests what recovery relies on, segment by segment.
func (c *chaos) checkBucket() {
	type commit struct {
		topic uuid.UUID
		seq   uint64
	}
	known, noted, states := map[commit]bool{}, map[uint64]bool{}, 0
	for _, f := range c.footers() {
		for _, seq := range f.Burnt {
			noted[seq], c.burnt[seq] = true, true
		}
		newest := map[uuid.UUID]uint64{}
		for _, r := range f.Receipts {
			known[commit{r.Topic, r.Seq}] = true
			newest[r.Topic] = max(newest[r.Topic], r.Seq)
		}
		for id, topic := range c.redis.topics {
			for _, e := range topic.entries {
				if e.Segment.Seq <= newest[id] && !known[commit{id, e.Segment.Seq}] {
					c.t.Errorf("segment %d has a receipt of %d, and none of %d is in front of it", f.Seq, newest[id], e.Segment.Seq)
				}
			}
		}
		for _, b := range f.Blocks {
			if b.Kind == segment.Control {
				states += int(b.Count)
			}
		}
	}
	for id, topic := range c.redis.topics { // all footers are read by now
		for _, e := range topic.entries {
			if !known[commit{id, e.Segment.Seq}] {
				c.t.Errorf("the bucket holds no receipt of segment %d", e.Segment.Seq)
			}
			if c.burnt[e.Segment.Seq] {
				c.t.Errorf("burnt segment %d is in the index", e.Segment.Seq)
			}
		}
	}
	for seq := range c.burnt {
		if !noted[seq] {
			c.t.Errorf("no segment in the bucket lists burnt segment %d", seq)
		}
	}
	if states < len(c.redis.topics) {
		c.t.Errorf("the bucket holds %d states of %d topics", states, len(c.redis.topics))
	}
}
