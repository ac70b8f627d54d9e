package journal

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// maxTailEntries bounds what is remembered of one queue's index.
	maxTailEntries = 256
	// tailFresh is how long entries are believed after Redis last confirmed them.
	tailFresh = 15 * time.Second
	// endFresh is how long a queue's end is believed after Redis last confirmed
	// it, by a reader that would wait there anyhow. The periodic look-ups confirm
	// it more often.
	endFresh = 10 * time.Second
	// unknownNext is the end of a queue that nobody has looked at yet.
	unknownNext = -1
)

// tails knows the ends of the queues that somebody waits for. What commits of
// this process and notices of others tell goes through it, so that a reader at
// the tail needs no look-up, and everybody who waits for it is woken.
type tails struct {
	mu     sync.Mutex
	topics map[uuid.UUID]*topicTail // guarded by mu
}

// topicTail is one topic that is, or lately was, waited for.
type topicTail struct {
	id   uuid.UUID
	name string

	mu          sync.Mutex
	dropped     bool                  // no longer in tails: take another one
	subscribed  bool                  // its notices come
	subscribing chan struct{}         // closed when the one who subscribes is through
	epoch       int64                 // 0: not known yet
	queues      map[uint32]*queueTail // the ones that were waited for
	count       uint32                // how many queues the topic has, as far as is known
	growing     []*seat               // of followers that want queues to come
	seats       int
	idleSince   time.Time // when the last seat was left
}

// queueTail is the end of one queue: the entries before next, without holes,
// as far back as they are remembered.
type queueTail struct {
	min, next   int64        // next is unknownNext at first
	confirmedAt time.Time    // zero: min is not known yet
	entries     []meta.Entry // only ever appended to, so that readers may keep a part
	seats       []*seat
}

func newTails() *tails { return &tails{topics: make(map[uuid.UUID]*topicTail)} }

// of returns the tail of a topic, or nil when nobody waits for it.
func (ts *tails) of(topic uuid.UUID) *topicTail {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.topics[topic]
}

// all returns every tail.
func (ts *tails) all() []*topicTail {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	all := make([]*topicTail, 0, len(ts.topics))
	for _, t := range ts.topics {
		all = append(all, t)
	}
	return all
}

// named reports whether a topic of that name is waited for.
func (ts *tails) named(name string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.topics {
		if t.name == name {
			return true
		}
	}
	return false
}

// void forgets what is known of every topic.
func (ts *tails) void() {
	for _, t := range ts.all() {
		t.void()
	}
}

// sit gives the waiter a seat at each of the queues, and one for queues to come
// when it is growing. From then on no news of them is lost.
func (ts *tails) sit(topic meta.Topic, w *waiter, queues []uint32, growing bool) *topicTail {
	for {
		if t := ts.ensure(topic); t.sit(w, queues, growing, topic.Queues) {
			return t
		}
	}
}

func (ts *tails) ensure(topic meta.Topic) *topicTail {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.topics[topic.ID]
	if t == nil {
		t = &topicTail{id: topic.ID, name: topic.Name, queues: make(map[uint32]*queueTail)}
		ts.topics[topic.ID] = t
	}
	return t
}

// drop forgets a topic that nobody has waited for since before. It reports
// whether its notices must be ended.
func (ts *tails) drop(t *topicTail, before time.Time) (subscribed bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped || t.seats > 0 || t.idleSince.After(before) || t.subscribing != nil {
		return false
	}
	t.dropped = true
	delete(ts.topics, t.id)
	return t.subscribed
}

func (t *topicTail) sit(w *waiter, queues []uint32, growing bool, count uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped {
		return false
	}
	t.count = max(t.count, count)
	for _, queue := range queues {
		t.seat(w, queue)
	}
	if growing {
		s := &seat{waiter: w, grows: true}
		t.growing = add(t.growing, s)
		w.seats = append(w.seats, s)
		t.seats++
	}
	return true
}

// seat needs mu.
func (t *topicTail) seat(w *waiter, queue uint32) {
	q := t.queues[queue]
	if q == nil {
		q = &queueTail{next: unknownNext}
		t.queues[queue] = q
	}
	s := &seat{waiter: w, queue: queue}
	q.seats = add(q.seats, s)
	w.seats = append(w.seats, s)
	t.seats++
}

// leave gives all seats of a waiter back.
func (t *topicTail) leave(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range w.seats {
		if s.grows {
			t.growing = remove(t.growing, s)
		} else {
			q := t.queues[s.queue]
			q.seats = remove(q.seats, s)
			if len(q.seats) == 0 && q.next <= 0 {
				delete(t.queues, s.queue) // it may not even exist
			}
		}
	}
	t.seats -= len(w.seats)
	w.seats, w.left = nil, true
	t.idleSince = time.Now()
}

// move says what the waiter has seen of a queue: earlier messages are no news.
func (t *topicTail) move(w *waiter, queue uint32, offset int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range w.seats {
		if s.queue == queue && !s.grows {
			s.offset = offset
		}
	}
}

// calls returns the queues that the waiter was called for since the last time,
// and gives it a seat at each new queue when it waits for those.
func (t *topicTail) calls(w *waiter) (called []uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	grown := false
	for _, s := range w.seats {
		if s.called && s.grows {
			grown = true
		} else if s.called {
			called = append(called, s.queue)
		}
		s.called = false
	}
	if !grown || w.left {
		return called
	}
	for queue := t.count; queue > 0 && !w.sits(queue-1); queue-- {
		t.seat(w, queue-1)
		called = append(called, queue-1)
	}
	return called
}

// sits reports whether the waiter has a seat at the queue. It needs mu.
func (w *waiter) sits(queue uint32) bool {
	return slices.ContainsFunc(w.seats, func(s *seat) bool { return !s.grows && s.queue == queue })
}

// window returns the index from the entry that holds offset on, when it is
// remembered up to its end and fresh.
func (t *topicTail) window(queue uint32, offset int64) (meta.Window, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[queue]
	if q == nil || len(q.entries) == 0 || offset < q.entries[0].First() || offset >= q.next || time.Since(q.confirmedAt) > tailFresh {
		return meta.Window{}, false
	}
	at, _ := slices.BinarySearchFunc(q.entries, offset, func(e meta.Entry, offset int64) int {
		if e.Next <= offset {
			return -1
		}
		return 1
	})
	return meta.Window{Epoch: t.epoch, Min: q.min, Next: q.next, Entries: q.entries[at:len(q.entries):len(q.entries)]}, true
}

// end returns the window of a reader that would wait at a queue's end, which
// shows nothing, when notices come and the end is fresh. A message whose notice
// is on its way is not in it, so it is only for those who wait for the notice.
func (t *topicTail) end(read *Read, offset int64) (meta.Window, bool) {
	if read.Wait <= 0 {
		return meta.Window{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[read.Queue]
	if q == nil || offset != q.next || !t.subscribed || read.Epoch != 0 && read.Epoch != t.epoch || time.Since(q.confirmedAt) > endFresh {
		return meta.Window{}, false
	}
	return meta.Window{Epoch: t.epoch, Min: q.min, Next: q.next}, true
}

// known returns the furthest end of a queue that this process has seen.
func (t *topicTail) known(queue uint32) (epoch, next int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.queues[queue]; q != nil {
		return t.epoch, q.next
	}
	return t.epoch, unknownNext
}

// forget makes the next reader of a queue ask Redis.
func (t *topicTail) forget(queue uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.queues[queue]; q != nil {
		q.entries = nil
	}
}

// void forgets where every queue ends, because Redis was rebuilt and may end
// earlier, and has everybody who waits look again.
func (t *topicTail) void() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.queues {
		q.entries, q.next, q.confirmedAt = nil, unknownNext, time.Time{}
		q.callAll()
	}
}

// apply takes in what a commit added to the index.
func (t *topicTail) apply(epoch int64, entries []meta.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.enter(epoch) {
		return
	}
	for i := range entries {
		t.grow(entries[i].Queue + 1)
		q := t.queues[entries[i].Queue]
		if q == nil {
			continue
		}
		if !q.confirmedAt.IsZero() {
			q.confirmedAt = time.Now()
		}
		q.add(&entries[i])
	}
}

// observe takes in what Redis answered about the end of a queue.
func (t *topicTail) observe(queue uint32, w meta.Window) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[queue]
	if q == nil || !t.enter(w.Epoch) {
		return
	}
	q.min, q.confirmedAt = w.Min, time.Now()
	if n := len(w.Entries); n > 0 && w.Entries[n-1].Next == w.Next {
		for i := range w.Entries {
			q.add(&w.Entries[i])
		}
	}
	if q.next < w.Next {
		q.entries = nil
		q.next = w.Next
		for _, s := range q.seats {
			if s.offset < q.next {
				s.call()
			}
		}
	}
}

// enter makes epoch the current one and reports whether it is. A new epoch
// voids what is remembered and is news to everybody. It needs mu.
func (t *topicTail) enter(epoch int64) bool {
	if epoch <= t.epoch {
		return epoch == t.epoch
	}
	changed := t.epoch != 0
	t.epoch = epoch
	for _, q := range t.queues {
		if changed {
			q.entries, q.next = nil, unknownNext
			q.callAll()
		}
	}
	return true
}

// grow notes that the topic has at least count queues. It needs mu.
func (t *topicTail) grow(count uint32) {
	if count <= t.count {
		return
	}
	t.count = count
	for _, s := range t.growing {
		s.call()
	}
}

// add appends an entry that is news and calls those whom it may concern. When
// entries before it are not known, they are news too and concern everybody.
func (q *queueTail) add(e *meta.Entry) {
	if e.Next <= q.next {
		return
	}
	gap := e.First() != q.next
	if gap {
		q.entries = nil
	}
	if len(q.entries) == maxTailEntries {
		q.entries = slices.Clone(q.entries[maxTailEntries/2:])
	}
	q.entries = append(q.entries, *e)
	q.next = e.Next
	for _, s := range q.seats {
		if e.Next > s.offset && (gap || !s.waiter.want.rejects(e.Tags)) {
			s.call()
		}
	}
}

func (q *queueTail) callAll() {
	for _, s := range q.seats {
		s.call()
	}
}
