package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// rig is a store and a Redis, a topic in them, and any number of nodes.
type rig struct {
	t     testing.TB
	redis *redistest.Server
	store *faulty.Store
	put   objstore.Store // where nodes put segments: store, unless a test changes it
	topic meta.Topic
}

// node is one process: a reader, and the little of a writer that makes messages.
type node struct {
	*reader
	rig    *rig
	db     *meta.DB
	writer uuid.UUID
	seq    uint64
	filler int // bytes of another topic in front of each segment
}

// msg is a message to be stored.
type msg struct {
	queue uint32
	tag   string
	key   string
	body  string
}

func newRig(t testing.TB, queues uint32) *rig {
	t.Helper()
	r := &rig{t: t, redis: redistest.New(t), store: faulty.Wrap(objstore.NewMemory())}
	r.put = r.store
	db := r.open()
	generation, _, ok, err := db.BeginRecovery(t.Context(), uuid.New(), uuid.New(), uuid.Nil, time.Minute)
	if err != nil || !ok {
		t.Fatalf("begin recovery: %v, %v", ok, err)
	}
	if err := db.FinishRecovery(t.Context(), generation); err != nil {
		t.Fatal(err)
	}
	r.topic, err = db.CreateTopic(t.Context(), meta.Topic{Name: "orders", Type: meta.TopicNormal, Queues: queues})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) open() *meta.DB {
	r.t.Helper()
	db, err := meta.Open(r.t.Context(), r.redis.Options())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { db.Close() })
	return db
}

// node starts a process; change may alter its options.
func (r *rig) node(change ...func(*readerOptions)) *node {
	r.t.Helper()
	n := &node{rig: r, db: r.open(), writer: uuid.New()}
	o := readerOptions{Store: r.store, Meta: n.db, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	n.reader = newReader(o)
	return n
}

// start runs the node's loops until the end of the test.
func (n *node) start() *node {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.run(ctx) }()
	n.rig.t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			n.rig.t.Errorf("run ended with %v", err)
		}
	})
	return n
}

// put stores messages as one segment and commits it; the node's reader is told.
func (n *node) put(messages ...msg) meta.SegmentRef {
	n.rig.t.Helper()
	ref, commits := n.build(messages, n.stored)
	n.committed(commits, n.commit(commits))
	return ref
}

// putSilently is put by a process whose reader is not this one.
func (n *node) putSilently(messages ...msg) meta.SegmentRef {
	n.rig.t.Helper()
	ref, commits := n.build(messages, func(meta.SegmentRef, []byte) {})
	n.commit(commits)
	return ref
}

// build makes a segment of the messages durable and returns its commit.
func (n *node) build(messages []msg, stored func(meta.SegmentRef, []byte)) (meta.SegmentRef, []meta.Commit) {
	n.rig.t.Helper()
	n.seq++
	ref := meta.SegmentRef{Writer: n.writer, Seq: n.seq}
	b := segment.NewBuilder(n.writer, n.seq, time.Now().UnixMilli())
	if n.filler > 0 {
		filler := chunkOf([]msg{{body: strings.Repeat("f", n.filler)}}, 0)
		b.AddChunks(segment.Messages, uuid.New(), 0, []segment.Chunk{filler})
	}
	for queue := range uint32(64) {
		if chunk := chunkOf(messages, queue); chunk.Count > 0 {
			b.AddChunks(segment.Messages, n.rig.topic.ID, queue, []segment.Chunk{chunk})
		}
	}
	object, footer := b.Finish()
	commit := meta.Commit{Topic: n.rig.topic.ID, Epoch: n.rig.topic.Epoch, Writer: n.writer, Seq: n.seq}
	for _, block := range footer.Blocks {
		if block.Topic != n.rig.topic.ID {
			continue
		}
		c := meta.CommitChunk{Count: block.Count, Position: block.Position, Length: block.Length, Tags: block.Tags, Request: -1}
		if last := len(commit.Queues) - 1; last >= 0 && commit.Queues[last].Queue == block.Queue {
			commit.Queues[last].Chunks = append(commit.Queues[last].Chunks, c)
			continue
		}
		commit.Queues = append(commit.Queues, meta.QueueCommit{Queue: block.Queue, Chunks: []meta.CommitChunk{c}})
	}
	if err := n.rig.put.Put(context.Background(), segment.ObjectKey(n.writer, n.seq), object); err != nil {
		n.rig.t.Fatal(err)
	}
	stored(ref, object)
	return ref, []meta.Commit{commit}
}

func (n *node) commit(commits []meta.Commit) []meta.CommitResult {
	n.rig.t.Helper()
	results := n.db.Commit(context.Background(), commits)
	if results[0].Err != nil {
		n.rig.t.Fatal(results[0].Err)
	}
	return results
}

func chunkOf(messages []msg, queue uint32) segment.Chunk {
	var c segment.Chunk
	for _, m := range messages {
		if m.queue != queue {
			continue
		}
		base, err := segment.NewMessageIDBase()
		if err != nil {
			panic(err)
		}
		c.Payload = segment.AppendRecord(c.Payload, &segment.Record{
			Attributes: segment.AttrText, ID: base, BornAt: 1, Tag: []byte(m.tag), Keys: []byte(m.key), Body: []byte(m.body),
		})
		c.Count++
		c.Tags |= segment.TagBloom([]byte(m.tag))
	}
	c.MinBorn, c.MaxBorn = 1, 1
	return c
}

// many returns n messages with bodies "<prefix>0", "<prefix>1", ….
func many(n int, queue uint32, tag, prefix string) []msg {
	all := make([]msg, n)
	for i := range all {
		all[i] = msg{queue: queue, tag: tag, body: fmt.Sprint(prefix, i)}
	}
	return all
}

func bodies(messages []Stored) []string {
	var all []string
	for i := range messages {
		all = append(all, string(messages[i].Record.Body))
	}
	return all
}

// gets is how many requests for the object the store has seen.
func (r *rig) gets(ref meta.SegmentRef) int {
	return r.store.CallsOf(faulty.Get, segment.ObjectKey(ref.Writer, ref.Seq))
}
