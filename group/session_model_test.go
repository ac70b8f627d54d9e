package group_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

// sessionModel drives two clients of a group, through two gateways, one call at a
// time, and knows what must hold.
type sessionModel struct {
	t       *testing.T
	random  *rand.Rand
	nodes   [2]*gateway
	topic   meta.Topic
	group   meta.Group
	ordered bool
	clients [2]*modelClient
	queues  [2]modelProgress
	done    map[string]int // what happened, for the log
}

// modelClient is a client, and what it was given.
type modelClient struct {
	*pushed
	hands   map[string]group.Pushed // by receipt: neither finished nor given back
	waiting map[string]group.Pushed // given back
	version map[uint32]int64        // of its queues, as it was told
}

// modelProgress is what the model knows of a queue.
type modelProgress struct {
	sent     int64
	finished map[int64]bool
	version  int64
	record   meta.OffsetRecord // as last seen
}

// Clients consume, give back, come back, are taken up while they live, get and lose
// queues and are reset at random.
func TestSessionsKeepToTheModel(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		t.Run(fmt.Sprintf("ordered=%v", ordered), func(t *testing.T) {
			seed := rand.Uint64()
			p := newPlant(t)
			m := &sessionModel{
				t: t, random: rand.New(rand.NewPCG(seed, 1)), nodes: [2]*gateway{p.gateway(), p.gateway()}, ordered: ordered, done: map[string]int{},
			}
			m.topic = m.nodes[0].topic("orders", uint32(len(m.queues)))
			m.group = m.nodes[0].group("billing", time.Minute, func(g *meta.Group) {
				g.NackDelaysMS, g.RevokeTimeoutMS, g.Ordered = []int64{1, 5}, 1000, ordered
			})
			for q := range m.queues {
				m.queues[q].finished, m.queues[q].version = map[int64]bool{}, 1
			}
			for i := range m.clients {
				m.attach(i, i)
			}
			m.give()
			for call := range 400 {
				m.step()
				m.observe()
				if t.Failed() {
					t.Fatalf("seed %d, call %d", seed, call)
				}
			}
			m.drain()
			t.Logf("%v", m.done)
			for _, what := range []string{"delivered", "again", "acked", "given back", "taken up", "reset", "revoked"} {
				if m.done[what] == 0 {
					t.Errorf("nothing was %s: the test means little", what)
				}
			}
		})
	}
}

// attach starts a session of a client, whatever became of the one before.
func (m *sessionModel) attach(client, node int) {
	s := m.nodes[node].subscribe(fmt.Sprint("c", client), "key")
	if before := m.clients[client]; before != nil {
		if !s.Reattached() || s.id() != before.id() {
			m.t.Errorf("client %d came back as %s, was %s", client, s.id(), before.id())
		}
		m.done["taken up"]++
	}
	m.clients[client] = &modelClient{pushed: s, hands: map[string]group.Pushed{}, waiting: map[string]group.Pushed{}, version: map[uint32]int64{}}
}

// give hands the queues out at random.
func (m *sessionModel) give() {
	owners := map[uint32]string{}
	for q := range m.queues {
		owners[uint32(q)] = m.clients[m.random.IntN(2)].id()
	}
	m.nodes[0].give(owners)
}

func (m *sessionModel) step() {
	i := m.random.IntN(len(m.clients))
	c := m.clients[i]
	switch n := m.random.IntN(100); {
	case n < 12:
		q := m.random.IntN(len(m.queues))
		bodies := numbered(1 + m.random.IntN(6))
		m.nodes[0].send(m.topic, int64(q), "", bodies...)
		m.queues[q].sent += int64(len(bodies))
	case n < 50:
		m.poll(c, 1+m.random.IntN(8))
	case n < 70:
		m.finishOne(c)
	case n < 82:
		m.giveBackOne(c)
	case n < 85:
		must(m.t, c.Commit(m.t.Context()))
	case n < 88:
		must(m.t, c.Lost(m.t.Context()))
		m.attach(i, m.random.IntN(2))
	case n < 90:
		m.attach(i, m.random.IntN(2)) // while the one before is open
	case n < 94:
		m.give()
	case n < 96:
		m.reset()
	default:
		time.Sleep(time.Duration(m.random.IntN(10)) * time.Millisecond)
	}
}

// poll takes messages and judges them.
func (m *sessionModel) poll(c *modelClient, most int) {
	push, err := c.Poll(m.t.Context(), most, 1<<20)
	if err != nil {
		m.t.Errorf("poll: %v", err)
		return
	}
	for _, e := range push.Events {
		if e.Kind == group.EventAssigned || e.Kind == group.EventRevoked {
			m.done[e.Kind]++
			for _, a := range e.Queues {
				m.void(c, a)
			}
		}
	}
	if len(push.Items) > most || len(push.Gaps) > 0 {
		m.t.Errorf("%d messages for %d, gaps %+v", len(push.Items), most, push.Gaps)
	}
	before := map[uint32]bool{} // queues of which the client has something of an earlier batch
	for _, g := range c.hands {
		before[g.Queue] = true
	}
	for _, g := range push.Items {
		m.done["delivered"]++
		if g.Attempt > 1 {
			m.done["again"]++
		}
		deleteFunc(c.waiting, func(w group.Pushed) bool { return w.Queue == g.Queue && w.Offset == g.Offset })
		if m.ordered {
			for _, w := range c.waiting {
				if w.Queue == g.Queue && w.Offset < g.Offset {
					m.t.Errorf("offset %d came while %d waits", g.Offset, w.Offset)
				}
			}
			if g.Attempt == 1 && before[g.Queue] {
				m.t.Errorf("offset %d came while the batch before is not finished", g.Offset)
			}
		}
		for _, h := range c.hands {
			if h.Queue == g.Queue && h.Offset == g.Offset {
				m.t.Errorf("offset %d came though the client has it", g.Offset)
			}
		}
		c.hands[g.Receipt] = g
	}
}

// void forgets what a client has of a queue that was reset or taken away, and tries
// that it counts no more.
func (m *sessionModel) void(c *modelClient, a group.Assignment) {
	for _, set := range []map[string]group.Pushed{c.hands, c.waiting} {
		deleteFunc(set, func(g group.Pushed) bool {
			if g.Queue != a.Queue {
				return false
			}
			err := c.Ack(m.t.Context(), []string{g.Receipt})[0]
			if r, ok := errors.AsType[*group.ReceiptError](err); !ok || !errors.Is(r, group.ErrReceiptSuperseded) {
				m.t.Errorf("an ack of what was reset or taken away: %v", err)
			}
			return true
		})
	}
	c.version[a.Queue] = a.Version
}

func deleteFunc(set map[string]group.Pushed, drop func(group.Pushed) bool) {
	for k, v := range set {
		if drop(v) {
			delete(set, k)
		}
	}
}

// one picks a message that a client has.
func (m *sessionModel) one(c *modelClient) (g group.Pushed, ok bool) {
	var keys []string
	for k := range c.hands {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return g, false
	}
	slices.Sort(keys)
	return c.hands[keys[m.random.IntN(len(keys))]], true
}

// finished notes that a message is, unless a reset came in between.
func (m *sessionModel) finished(c *modelClient, g group.Pushed) {
	if q := &m.queues[g.Queue]; c.version[g.Queue] == q.version {
		q.finished[g.Offset] = true
	}
}

func (m *sessionModel) finishOne(c *modelClient) {
	g, ok := m.one(c)
	if !ok {
		return
	}
	m.done["acked"]++
	if m.random.IntN(6) > 0 {
		must(m.t, c.Ack(m.t.Context(), []string{g.Receipt})[0])
		m.finished(c, g)
		delete(c.hands, g.Receipt)
		return
	}
	must(m.t, c.AckUpTo(m.t.Context(), "orders", g.Queue, g.Offset))
	for _, set := range []map[string]group.Pushed{c.hands, c.waiting} {
		deleteFunc(set, func(other group.Pushed) bool {
			match := other.Queue == g.Queue && other.Offset <= g.Offset
			if match {
				m.finished(c, other)
			}
			return match
		})
	}
}

func (m *sessionModel) giveBackOne(c *modelClient) {
	g, ok := m.one(c)
	if !ok {
		return
	}
	delay := []*int64{nil, new(int64), new(int64(3))}[m.random.IntN(3)]
	must(m.t, c.Nack(m.t.Context(), []group.NackItem{{Receipt: g.Receipt, DelayMS: delay}})[0].Err)
	m.done["given back"]++
	deleteFunc(c.hands, func(other group.Pushed) bool {
		match := other.Receipt == g.Receipt || m.ordered && other.Queue == g.Queue && other.Offset > g.Offset
		if match {
			c.waiting[other.Receipt] = other
		}
		return match
	})
}

// reset moves the group back, or on.
func (m *sessionModel) reset() {
	q := uint32(m.random.IntN(len(m.queues)))
	to := m.random.Int64N(m.queues[q].sent + 1)
	resets, err := m.nodes[m.random.IntN(2)].Reset(m.t.Context(), group.ResetRequest{
		Group: "billing", Topic: "orders", Queues: []uint32{q}, To: group.ToOffset, Value: to, By: "test",
	})
	if err != nil || len(resets) != 1 {
		m.t.Errorf("reset: %+v, %v", resets, err)
		return
	}
	for o := range m.queues[q].sent {
		m.queues[q].finished[o] = o < to
	}
	m.queues[q].version = resets[0].Version
	m.done["reset"]++
}

// observe reads the offsets: within a version they never go back, and everything
// below them was finished.
func (m *sessionModel) observe() {
	records, err := m.nodes[0].db.Offsets(m.t.Context(), m.group.ID, m.topic.ID)
	must(m.t, err)
	for _, now := range records {
		q := &m.queues[now.Queue]
		if now.Version == q.record.Version && now.Offset < q.record.Offset || now.Version < q.record.Version {
			m.t.Errorf("queue %d went back from %+v to %+v", now.Queue, q.record, now)
		}
		q.record = now
		for o := range now.Offset {
			if !q.finished[o] {
				m.t.Errorf("queue %d is at %d, and %d was never finished", now.Queue, now.Offset, o)
			}
		}
	}
}

// drain has one client finish everything.
func (m *sessionModel) drain() {
	must(m.t, m.clients[1].Close(m.t.Context()))
	c := m.clients[0]
	m.nodes[0].give(map[uint32]string{0: c.id(), 1: c.id()})
	c.until("everything is finished", func() bool {
		m.poll(c, 100)
		for len(c.hands) > 0 && !m.t.Failed() {
			m.finishOne(c)
		}
		must(m.t, c.Commit(m.t.Context()))
		m.observe()
		select {
		case c.bell <- struct{}{}: // looked at all the time
		default:
		}
		return m.t.Failed() || m.queues[0].record.Offset == m.queues[0].sent && m.queues[1].record.Offset == m.queues[1].sent
	})
	must(m.t, c.Close(m.t.Context()))
}
