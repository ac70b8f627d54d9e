package group_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is a store and a real Redis that several gateways share.
type plant struct {
	t     *testing.T
	redis *redistest.Server
	store *objstore.Memory
}

func newPlant(t *testing.T) *plant {
	return &plant{t: t, redis: redistest.New(t), store: objstore.NewMemory()}
}

// gateway is one process that serves groups.
type gateway struct {
	*group.Groups
	t       *testing.T
	journal *journal.Journal
	db      *meta.DB
	kill    func() // nothing more is written
}

func (p *plant) gateway(edit ...func(*journal.Options)) *gateway {
	p.t.Helper()
	db, err := meta.Open(p.t.Context(), p.redis.Options())
	must(p.t, err)
	log := slog.New(slog.DiscardHandler)
	options := journal.Options{Store: p.store, Meta: db, Linger: 5 * time.Millisecond, AppendTimeout: 10 * time.Second, Log: log}
	for _, e := range edit {
		e(&options)
	}
	j, err := journal.Open(p.t.Context(), options)
	must(p.t, err)
	g, err := group.New(group.Options{Journal: j, Meta: db, RecordEvery: 100 * time.Millisecond, Log: log})
	must(p.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = j.Run(ctx) })
	running.Go(func() { _ = g.Run(ctx) })
	n := &gateway{Groups: g, t: p.t, journal: j, db: db}
	n.kill = sync.OnceFunc(func() {
		g.Drain()
		cancel()
		running.Wait()
		j.Drain()
		_ = db.Close()
	})
	p.t.Cleanup(n.kill)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (n *gateway) topic(name string, queues uint32) meta.Topic {
	n.t.Helper()
	topic, err := n.journal.PutTopic(n.t.Context(), meta.Topic{Name: name, Type: meta.TopicNormal, Queues: queues})
	must(n.t, err)
	return topic
}

// group makes a group that begins at the first message. Deliveries are hidden
// for hide, which may be shorter than the contract allows.
func (n *gateway) group(name string, hide time.Duration, edit ...func(*meta.Group)) meta.Group {
	n.t.Helper()
	definition := group.Default(name)
	definition.ConsumeFrom, definition.InvisibleMS = meta.ConsumeFromFirst, hide.Milliseconds()
	for _, e := range edit {
		e(&definition)
	}
	g, err := n.db.CreateGroup(n.t.Context(), definition)
	must(n.t, err)
	must(n.t, n.journal.RecordGroup(n.t.Context(), g))
	return g
}

// send stores one message per body in a queue.
func (n *gateway) send(topic meta.Topic, queue int64, tag string, bodies ...string) {
	n.t.Helper()
	d, err := n.journal.NewDraft(topic)
	must(n.t, err)
	for _, body := range bodies {
		must(n.t, d.Add(&journal.Message{Queue: queue, Text: true, BornAt: time.Now().UnixMilli(), Tag: []byte(tag), Body: []byte(body)}))
	}
	_, err = n.journal.Append(n.t.Context(), d, journal.Durable)
	must(n.t, err)
}

func numbered(n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprint(i))
	}
	return bodies
}

// ask is a receive of a topic.
func ask(name, topic string, edit ...func(*group.ReceiveRequest)) group.ReceiveRequest {
	r := group.ReceiveRequest{Group: name, Subscriptions: []meta.Subscription{{Topic: topic}}}
	for _, e := range edit {
		e(&r)
	}
	return r
}

func (n *gateway) receive(r group.ReceiveRequest) []group.Received {
	n.t.Helper()
	reply, err := n.Receive(n.t.Context(), r)
	must(n.t, err)
	return reply.Messages
}

// await receives until there is a message.
func (n *gateway) await(r group.ReceiveRequest) []group.Received {
	n.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for time.Now().Before(deadline) {
		reply, err := n.Receive(n.t.Context(), r)
		if err == nil && len(reply.Messages) > 0 {
			return reply.Messages
		}
	}
	n.t.Fatal("no message came")
	return nil
}

func (n *gateway) ack(name string, messages ...group.Received) []error {
	n.t.Helper()
	receipts := make([]string, len(messages))
	for i, m := range messages {
		receipts[i] = m.Receipt
	}
	results, err := n.Ack(n.t.Context(), name, receipts)
	must(n.t, err)
	errs := make([]error, len(results))
	for i, r := range results {
		errs[i] = r.Err
	}
	return errs
}

func (n *gateway) offset(name string, queue uint32) int64 {
	n.t.Helper()
	all, err := n.Progress(n.t.Context(), name)
	must(n.t, err)
	for _, p := range all {
		if p.Queue == queue && !journal.IsSystemTopic(p.Topic) {
			return p.Offset
		}
	}
	n.t.Fatalf("group %s has no offset in queue %d", name, queue)
	return 0
}

func bodies(messages []group.Received) (out []string) {
	for _, m := range messages {
		out = append(out, string(m.Record.Body))
	}
	return out
}

func wantBodies(t testing.TB, messages []group.Received, want ...string) {
	t.Helper()
	if got := fmt.Sprint(bodies(messages)); got != fmt.Sprint(want) {
		t.Fatalf("received %s, want %v", got, want)
	}
}
