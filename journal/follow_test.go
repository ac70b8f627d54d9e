package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

func (n *node) follow(o FollowOptions) *Follower {
	n.rig.t.Helper()
	if o.Topic.ID == uuid.Nil {
		o.Topic = n.rig.topic
	}
	f, err := n.Follow(n.rig.t.Context(), o)
	if err != nil {
		n.rig.t.Fatal(err)
	}
	n.rig.t.Cleanup(f.Close)
	return f
}

// next returns the follower's next batch and fails when there is none soon.
func next(t *testing.T, f *Follower, messages int) *Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	b, err := f.Next(ctx, messages, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// collect reads batches until n messages have come. It returns what each queue gave.
func collect(t *testing.T, f *Follower, n int) map[uint32][]string {
	t.Helper()
	got := make(map[uint32][]string)
	for total := 0; total < n; {
		b := next(t, f, 7)
		if len(b.Gaps) > 0 {
			t.Fatalf("gaps %+v", b.Gaps)
		}
		for _, item := range b.Items {
			if want := int64(len(got[item.Queue])); len(got) > 0 && item.Offset < want {
				t.Fatalf("queue %d went back to %d", item.Queue, item.Offset)
			}
			got[item.Queue] = append(got[item.Queue], string(item.Record.Body))
		}
		total += len(b.Items)
	}
	return got
}

func TestAFollowerStartsWhereItIsAskedTo(t *testing.T) {
	r := newRig(t, 2)
	n := r.node().start()
	n.put(many(3, 0, "", "old")...)
	page, err := n.Read(t.Context(), Read{Topic: r.topic})
	if err != nil {
		t.Fatal(err)
	}
	old := page.Messages[0].StoredAt
	waitFor(t, "redis' clock moves on", func() bool {
		now, err := n.db.Now(t.Context())
		return err == nil && now > old
	})
	n.put(many(2, 0, "", "mid")...)
	cases := []struct {
		name string
		from Position
		want []string
	}{
		{"latest", Position{}, []string{"new"}},
		{"earliest", Position{Kind: Earliest}, []string{"old0", "old1", "old2", "mid0", "mid1", "new"}},
		{"offset", Position{Kind: AtOffset, Value: 2}, []string{"old2", "mid0", "mid1", "new"}},
		{"time", Position{Kind: AtTime, Value: old + 1}, []string{"mid0", "mid1", "new"}},
	}
	var followers []*Follower
	for _, c := range cases {
		followers = append(followers, n.follow(FollowOptions{Queues: []uint32{0}, From: c.from}))
	}
	n.put(msg{body: "new"})
	for i, c := range cases {
		if got := collect(t, followers[i], len(c.want)); !slices.Equal(got[0], c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got[0], c.want)
		}
	}
}

// TestACursorContinuesOnAnyNode moves a follower from node to node after each
// event, as an SSE client with Last-Event-ID does.
func TestACursorContinuesOnAnyNode(t *testing.T) {
	r := newRig(t, 3)
	nodes := []*node{r.node().start(), r.node().start()}
	want := make(map[uint32][]string)
	for i := range 20 {
		var all []msg
		for queue := range uint32(3) {
			for k := range rand.IntN(4) {
				m := msg{queue: queue, tag: []string{"a", "b"}[k%2], body: fmt.Sprint(i, "/", k)}
				all = append(all, m)
				if m.tag == "a" {
					want[queue] = append(want[queue], m.body)
				}
			}
		}
		if len(all) > 0 {
			nodes[i%2].put(all...)
		}
	}
	total := len(want[0]) + len(want[1]) + len(want[2])
	got := make(map[uint32][]string)
	cursor := ""
	for seen := 0; seen < total; {
		f := nodes[rand.IntN(2)].follow(FollowOptions{From: Position{Kind: Earliest}, Cursor: cursor, Filter: tags(t, "a")})
		b := next(t, f, 5)
		take := 1 + rand.IntN(len(b.Items)) // the connection breaks somewhere in the batch
		for _, item := range b.Items[:take] {
			got[item.Queue] = append(got[item.Queue], string(item.Record.Body))
		}
		seen += take
		cursor = b.Cursor(take - 1)
		if take == len(b.Items) && rand.IntN(2) == 0 {
			cursor = f.Cursor()
		}
		f.Close()
	}
	for queue := range uint32(3) {
		if !slices.Equal(got[queue], want[queue]) {
			t.Errorf("queue %d: got %v, want %v", queue, got[queue], want[queue])
		}
	}
}

func TestACursorOfAnotherTopicIsRefused(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	other := Cursor{Topic: uuid.New(), Epoch: 1, Next: []QueueOffset{{0, 0}}}
	for _, cursor := range []string{other.String(), "nonsense"} {
		if _, err := n.Follow(t.Context(), FollowOptions{Topic: r.topic, Cursor: cursor}); !errors.Is(err, ErrCursor) {
			t.Errorf("%s: got %v, want ErrCursor", cursor, err)
		}
	}
	if _, err := n.Follow(t.Context(), FollowOptions{Topic: meta.Topic{ID: uuid.New(), Queues: 1}}); !errors.Is(err, ErrTopicNotFound) {
		t.Errorf("got %v, want ErrTopicNotFound", err)
	}
	n.parked(0)
}

func TestEveryGapIsAnnounced(t *testing.T) {
	r := newRig(t, 2)
	n := r.node().start()
	n.put(many(4, 0, "", "x")...)
	bad := n.putSilently(many(3, 0, "", "bad")...)
	n.put(many(2, 0, "", "y")...)
	r.store.Add(&faulty.Rule{Op: faulty.Get, Prefix: segment.ObjectKey(bad.Writer, bad.Seq), Fault: faulty.Flip(80)})
	r.trim(0, 2)
	from := Cursor{Topic: r.topic.ID, Epoch: r.topic.Epoch, Next: []QueueOffset{{0, 0}, {1, 9}}}
	f := n.follow(FollowOptions{Cursor: from.String()})
	var gaps []Gap
	var items []string
	for len(items) < 4 {
		b := next(t, f, 0)
		for _, g := range b.Gaps {
			if len(b.Items) > 0 && g.Queue == 0 && g.To > b.Items[0].Offset {
				t.Errorf("gap %+v comes with the earlier message %d", g, b.Items[0].Offset)
			}
		}
		gaps = append(gaps, b.Gaps...)
		for _, item := range b.Items {
			items = append(items, string(item.Record.Body))
		}
	}
	slices.SortFunc(gaps, func(a, b Gap) int { return int(int64(a.Queue)*100 + a.From - int64(b.Queue)*100 - b.From) })
	want := []Gap{{0, 0, 2, GapTrimmed, 1}, {0, 4, 7, GapCorrupt, 1}, {1, 9, 0, GapBeyondEnd, 1}}
	if !slices.Equal(gaps, want) || !slices.Equal(items, []string{"x2", "x3", "y0", "y1"}) {
		t.Errorf("got gaps %+v, messages %v, want %+v", gaps, items, want)
	}
}

func TestANewEpochIsAnnouncedForEveryQueue(t *testing.T) {
	r := newRig(t, 2)
	n := r.node().start()
	n.put(append(many(3, 0, "", "x"), many(3, 1, "", "y")...)...)
	f := n.follow(FollowOptions{From: Position{Kind: Earliest}})
	collect(t, f, 6)
	waiting := n.goRead(t.Context(), Read{Offset: 3, Wait: 20 * time.Second})
	waitFor(t, "the reader waits", func() bool { return len(n.tails.of(r.topic.ID).all(0)) == 2 })
	head := "{t:" + r.topic.ID.String() + "}:head"
	if err := r.redis.Client().HSet(t.Context(), head, "epoch", 2).Err(); err != nil {
		t.Fatal(err)
	}
	n.recheckNow <- struct{}{}
	b := next(t, f, 0)
	want := []Gap{{0, 3, 3, GapEpoch, 2}, {1, 3, 3, GapEpoch, 2}}
	if !slices.Equal(b.Gaps, want) || len(b.Items) != 0 {
		t.Errorf("got gaps %+v and %d messages, want %+v", b.Gaps, len(b.Items), want)
	}
	c, err := ParseCursor(f.Cursor())
	if err != nil || c.Epoch != 2 {
		t.Errorf("the cursor is %+v, %v, want one of epoch 2", c, err)
	}
	if again, err := ParseCursor(b.Cursor(-1)); err != nil || again.Epoch != 2 {
		t.Errorf("the gaps' cursor is %+v, %v, want one of epoch 2", again, err)
	}
	var epoch *EpochError
	if a := <-waiting; !errors.As(a.err, &epoch) || epoch.Current != 2 {
		t.Errorf("the waiting reader got %+v, %v, want epoch 2", a.page, a.err)
	}
}

// all returns the seats at a queue.
func (t *topicTail) all(queue uint32) []*seat {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.queues[queue].seats)
}

func TestNewQueuesAreFollowed(t *testing.T) {
	r := newRig(t, 1)
	producer, other := r.node().start(), r.node().start()
	f, fixed := other.follow(FollowOptions{}), other.follow(FollowOptions{Queues: []uint32{0}})
	grown := r.topic
	grown.Queues = 3
	if _, err := producer.db.UpdateTopic(t.Context(), grown, 0); err != nil {
		t.Fatal(err)
	}
	producer.put(msg{queue: 2, body: "in a new queue"}, msg{queue: 0, body: "in the old one"})
	got := collect(t, f, 2)
	if !slices.Equal(got[2], []string{"in a new queue"}) || !slices.Equal(got[0], []string{"in the old one"}) {
		t.Errorf("got %v, want both messages", got)
	}
	if got := collect(t, fixed, 1); len(got) != 1 || len(got[0]) != 1 {
		t.Errorf("a follower of queue 0 alone got %v", got)
	}
	c, err := ParseCursor(f.Cursor())
	if err != nil || len(c.Next) != 3 {
		t.Errorf("the cursor is %+v, %v, want one of three queues", c, err)
	}
}

func TestALongStretchWithoutAMatchKeepsNoOtherQueueWaiting(t *testing.T) {
	r := newRig(t, 2)
	n := r.node().start()
	n.put(append(many(5000, 0, "a", "x"), msg{queue: 0, tag: "b", body: "far"}, msg{queue: 1, tag: "b", body: "near"})...)
	f := n.follow(FollowOptions{From: Position{Kind: Earliest}, Filter: tags(t, "b")})
	if b := next(t, f, 0); string(b.Items[0].Record.Body) != "near" || b.CaughtUp {
		t.Errorf("got %s first, want what was near", b.Items[0].Record.Body)
	}
	if b := next(t, f, 0); string(b.Items[0].Record.Body) != "far" || !b.CaughtUp {
		t.Errorf("got %+v, want the other one, and to have caught up", b.Items)
	}
}

func TestNextEndsWithItsContextAndGoesOn(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	f := n.follow(FollowOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.Next(ctx, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the end of the context", err)
	}
	n.put(msg{body: "x"})
	if b := next(t, f, 0); len(b.Items) != 1 || !b.CaughtUp {
		t.Errorf("got %+v, want the message", b)
	}
	closed := make(chan error, 1)
	go func() {
		_, err := f.Next(context.Background(), 0, 0)
		closed <- err
	}()
	n.parked(1)
	f.Close()
	f.Close()
	if err := <-closed; err == nil {
		t.Error("Next of a closed follower gave no error")
	}
	n.parked(0)
}
