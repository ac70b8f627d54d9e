package group_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

// hide is how long the model's group hides a message, apart how far the model
// keeps from deadlines, so that it knows on which side of them a call is judged.
const hide, apart = 250 * time.Millisecond, 40 * time.Millisecond

// sharedModel is what a group in shared consumption should be, by the simplest
// means. It drives two gateways, one call at a time, and compares.
type sharedModel struct {
	t        *testing.T
	random   *rand.Rand
	gateways [2]*gateway
	redis    *redis.Client
	topic    meta.Topic
	group    meta.Group
	queues   []modelQueue
	last     string     // attempt id of the last receive that got something
	batch    []delivery // that it got
	history  []delivery // all of them
	calls    int
}

// delivery is a message that was received, and in which era of its queue.
type delivery struct {
	group.Received
	era int
}

// modelQueue is one queue: its messages by offset.
type modelQueue struct {
	messages []modelMessage
	claimed  int64 // every message before it that passes the filter is in flight or finished
	era      int   // changes when what is in flight is dropped
	stopped  bool
	progress int64 // as last seen
}

type modelMessage struct {
	passes             bool
	inFlight, finished bool
	attempts, deadline int64
	nacked             bool
}

// errUnclear ends a run whose calls took so long that the model cannot tell on
// which side of a deadline they were judged.
var errUnclear = errors.New("a deadline passed during a call")

func TestSharedConsumptionKeepsToTheModel(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		t.Run(fmt.Sprintf("ordered=%v", ordered), func(t *testing.T) {
			p := newPlant(t)
			gateways := [2]*gateway{p.gateway(), p.gateway()}
			clear := 0
			for run := range 6 {
				seed := rand.Uint64()
				m := &sharedModel{t: t, random: rand.New(rand.NewPCG(seed, 1)), gateways: gateways, redis: p.redis.Client()}
				name := fmt.Sprintf("model-%d", run)
				m.topic = gateways[0].topic(name, 2)
				m.group = gateways[0].group(name, hide, func(g *meta.Group) { g.Ordered, g.NackDelaysMS = ordered, []int64{60} })
				m.queues = make([]modelQueue, 2)
				err := m.run(150)
				clear += m.calls
				if err != nil && !errors.Is(err, errUnclear) {
					t.Fatalf("seed %d, call %d: %v", seed, m.calls, err)
				}
			}
			if clear < 300 {
				t.Errorf("only %d calls were clear: the machine is too slow for this test", clear)
			}
		})
	}
}

func (m *sharedModel) run(calls int) error {
	m.send(6)
	m.send(6)
	if err := m.receive("first", 1); err != nil { // it registers
		return err
	}
	for m.calls = range calls {
		if err := m.step(); err != nil {
			return err
		}
		if err := m.compare(); err != nil {
			return err
		}
	}
	return nil
}

func (m *sharedModel) step() error {
	switch n := m.random.IntN(100); {
	case n < 35:
		return m.receive(fmt.Sprint(m.calls), 1+m.random.IntN(5))
	case n < 40:
		return m.receive(m.last, 5)
	case n < 70:
		return m.settle(meta.SharedAck)
	case n < 80:
		return m.settle(meta.SharedNack)
	case n < 86:
		return m.settle(meta.SharedExtend)
	case n < 90:
		m.send(1 + m.random.IntN(4))
	case n < 93:
		return m.reset()
	case n < 95:
		return m.stop()
	case n < 98:
		return m.lose()
	default:
		m.expire()
	}
	return nil
}

// expire waits until the next hidden messages are due.
func (m *sharedModel) expire() {
	next := int64(0)
	for _, q := range m.queues {
		for _, msg := range q.messages {
			if msg.inFlight && msg.deadline > m.now() && (next == 0 || msg.deadline < next) {
				next = msg.deadline
			}
		}
	}
	for next > 0 && next < m.now()+time.Minute.Milliseconds() && m.now() <= next {
		time.Sleep(5 * time.Millisecond)
	}
}

func (m *sharedModel) any() *gateway { return m.gateways[m.random.IntN(2)] }

// now returns Redis' clock at a moment that no deadline is near.
func (m *sharedModel) now() int64 {
	for {
		now, err := m.gateways[0].db.Now(m.t.Context())
		must(m.t, err)
		if !m.deadlineIn(now, now+apart.Milliseconds()) {
			return now
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// clear says whether no deadline has passed since.
func (m *sharedModel) clear(since int64) error {
	now, err := m.gateways[0].db.Now(m.t.Context())
	must(m.t, err)
	if m.deadlineIn(since, now) {
		return errUnclear
	}
	return nil
}

func (m *sharedModel) deadlineIn(from, to int64) bool {
	for _, q := range m.queues {
		for _, msg := range q.messages {
			if msg.inFlight && msg.deadline >= from && msg.deadline <= to {
				return true
			}
		}
	}
	return false
}

func (m *sharedModel) send(n int) {
	queue := m.random.IntN(len(m.queues))
	for range n {
		tag := []string{"a", "b", "other"}[m.random.IntN(3)]
		m.gateways[0].send(m.topic, int64(queue), tag, fmt.Sprint(len(m.queues[queue].messages)))
		m.queues[queue].messages = append(m.queues[queue].messages, modelMessage{passes: tag != "other"})
	}
}

// available lists what a receive may have of a queue, in order.
func (m *sharedModel) available(q *modelQueue, now int64) (offsets []int64) {
	if q.stopped {
		return nil
	}
	for i, msg := range q.messages {
		if msg.inFlight && msg.deadline <= now {
			offsets = append(offsets, int64(i))
		} else if msg.inFlight && m.group.Ordered {
			return nil
		}
	}
	for i := q.claimed; i < int64(len(q.messages)); i++ {
		if q.messages[i].passes {
			offsets = append(offsets, i)
		}
	}
	return offsets
}

// again lists what was granted to an attempt and is hidden still.
func (m *sharedModel) again(attempt string, now int64) (batch []delivery) {
	if !m.group.Ordered || attempt != m.last {
		return nil
	}
	for _, r := range m.batch {
		q := &m.queues[r.Queue]
		msg := q.messages[r.Offset]
		if msg.inFlight && !msg.nacked && msg.deadline > now && msg.attempts == r.Attempt && r.era == q.era && !q.stopped {
			batch = append(batch, r)
		}
	}
	return batch
}

func (m *sharedModel) receive(attempt string, limit int) error {
	since := m.now()
	got := m.any().receive(ask(m.group.Name, m.topic.Name, func(r *group.ReceiveRequest) {
		r.Subscriptions[0].Tags, r.MaxMessages, r.AttemptID = "b || a", limit, attempt
	}))
	if err := m.clear(since); err != nil {
		return err
	}
	if again := m.again(attempt, since); len(again) > 0 {
		return m.received(got, again)
	}
	total := 0
	for i := range m.queues {
		q := &m.queues[i]
		available := m.available(q, since)
		total += len(available)
		var mine []int64
		for _, r := range got {
			if int(r.Queue) == i {
				mine = append(mine, r.Offset)
			}
		}
		first := slices.Clone(available[:min(len(mine), len(available))])
		if !m.group.Ordered { // due ones may come in any order, before new ones
			due := 0
			for due < len(available) && available[due] < q.claimed {
				due++
			}
			for _, offset := range mine {
				if at := slices.Index(available[:due], offset); at >= 0 && len(mine) <= due {
					first = mine
				}
			}
		}
		if !slices.Equal(mine, first) {
			return fmt.Errorf("queue %d gave %v of %v", i, mine, available)
		}
	}
	if len(got) < min(limit, total) {
		return fmt.Errorf("received %d of %d, asked for %d", len(got), total, limit)
	}
	for _, r := range got {
		q := &m.queues[r.Queue]
		msg := &q.messages[r.Offset]
		want := int64(1)
		if msg.inFlight {
			want = msg.attempts + 1
		}
		if r.Attempt != want || r.Deadline < since+hide.Milliseconds() {
			return fmt.Errorf("offset %d: attempt %d until %d, want attempt %d", r.Offset, r.Attempt, r.Deadline, want)
		}
		*msg = modelMessage{passes: true, inFlight: true, attempts: want, deadline: r.Deadline}
		q.claimed = max(q.claimed, r.Offset+1)
	}
	if len(got) > 0 {
		m.last, m.batch = attempt, nil
	}
	for _, r := range got {
		m.batch = append(m.batch, delivery{r, m.queues[r.Queue].era})
	}
	m.history = append(m.history, m.batch[len(m.batch)-len(got):]...)
	return nil
}

// received checks that a batch came again, not counted, and hidden anew.
func (m *sharedModel) received(got []group.Received, want []delivery) error {
	var gotten, wanted []string
	for _, r := range got {
		gotten = append(gotten, fmt.Sprint(r.Queue, "/", r.Offset, "/", r.Attempt))
	}
	for _, r := range want {
		wanted = append(wanted, fmt.Sprint(r.Queue, "/", r.Offset, "/", r.Attempt))
	}
	slices.Sort(gotten)
	slices.Sort(wanted)
	if !slices.Equal(gotten, wanted) {
		return fmt.Errorf("the same attempt got %v, want %v", gotten, wanted)
	}
	for _, r := range got {
		m.queues[r.Queue].messages[r.Offset].deadline = r.Deadline
	}
	return nil
}

// settle does something with receipts of any age and compares every result.
func (m *sharedModel) settle(verb meta.SharedVerb) error {
	if len(m.history) == 0 {
		return nil
	}
	var picked []delivery
	for range 1 + m.random.IntN(6) {
		back := min(len(m.history), 1+m.random.IntN(12))
		picked = append(picked, m.history[len(m.history)-back])
	}
	delay := []int64{0, 60, 999}[m.random.IntN(3)]
	since := m.now()
	results, err := m.call(verb, picked, delay)
	must(m.t, err)
	if err := m.clear(since); err != nil {
		return err
	}
	for i, r := range picked {
		if err := m.settled(verb, r, results[i], since, delay); err != nil {
			return fmt.Errorf("%s of %d/%d, attempt %d: %w", verb, r.Queue, r.Offset, r.Attempt, err)
		}
	}
	return nil
}

func (m *sharedModel) call(verb meta.SharedVerb, picked []delivery, delay int64) ([]group.ReceiptResult, error) {
	var receipts []string
	var nacks []group.NackItem
	var extends []group.ExtendItem
	for _, r := range picked {
		receipts = append(receipts, r.Receipt)
		nacks = append(nacks, group.NackItem{Receipt: r.Receipt, DelayMS: &delay})
		extends = append(extends, group.ExtendItem{Receipt: r.Receipt})
	}
	switch verb {
	case meta.SharedAck:
		return m.any().Ack(m.t.Context(), m.group.Name, receipts)
	case meta.SharedNack:
		return m.any().Nack(m.t.Context(), m.group.Name, nacks)
	default:
		return m.any().Extend(m.t.Context(), m.group.Name, extends)
	}
}

// settled compares one result with what the model says, and changes the model.
func (m *sharedModel) settled(verb meta.SharedVerb, r delivery, got group.ReceiptResult, since, delay int64) error {
	q := &m.queues[r.Queue]
	msg := &q.messages[r.Offset]
	var want error
	switch {
	case r.era != q.era:
		want = group.ErrReceiptSuperseded
	case !msg.inFlight && verb != meta.SharedAck, msg.inFlight && msg.attempts != r.Attempt:
		want = group.ErrReceiptSuperseded
	case !msg.inFlight: // acknowledged before
	case msg.nacked && verb == meta.SharedNack:
		delay = -1 // said before: the first delay counts
	case msg.deadline <= since:
		want = group.ErrReceiptExpired
	case verb == meta.SharedAck:
		msg.inFlight, msg.finished = false, true
	case msg.nacked:
		want = group.ErrReceiptSuperseded
	case verb == meta.SharedNack:
		msg.nacked = true
	default:
		delay = hide.Milliseconds()
	}
	if !errors.Is(got.Err, want) || want == nil && got.Err != nil {
		return fmt.Errorf("%v, want %v", got.Err, want)
	}
	if want == nil && verb != meta.SharedAck {
		if delay >= 0 && got.Deadline < since+delay || delay < 0 && got.Deadline != msg.deadline {
			return fmt.Errorf("hidden until %d at %d, before until %d", got.Deadline, since, msg.deadline)
		}
		msg.deadline = got.Deadline
	}
	return nil
}

// drop begins a new era of a queue at an offset.
func (m *sharedModel) drop(queue int, offset int64) {
	q := &m.queues[queue]
	q.era++
	q.claimed, q.progress = offset, offset
	for i := range q.messages {
		q.messages[i].inFlight, q.messages[i].finished = false, int64(i) < offset
	}
}

func (m *sharedModel) reset() error {
	queue := m.random.IntN(len(m.queues))
	target := m.random.Int64N(int64(len(m.queues[queue].messages)) + 1)
	since := m.now()
	_, err := m.any().Reset(m.t.Context(), group.ResetRequest{
		Group: m.group.Name, Topic: m.topic.Name, Queues: []uint32{uint32(queue)}, To: group.ToOffset, Value: target,
	})
	must(m.t, err)
	m.drop(queue, target)
	return m.clear(since)
}

func (m *sharedModel) stop() error {
	q := m.random.IntN(len(m.queues))
	m.queues[q].stopped = !m.queues[q].stopped
	_, err := m.any().SetStopped(m.t.Context(), m.group.Name, m.topic.Name, uint32(q), m.queues[q].stopped, "model")
	must(m.t, err)
	return nil
}

// lose deletes one of the keys of what is in flight in a queue. The indexes are
// mended; without the state itself, everything behind the progress comes again.
func (m *sharedModel) lose() error {
	queue := m.random.IntN(len(m.queues))
	which := m.random.IntN(3)
	key := fmt.Sprintf("{g:%s}:%s:%s:%d", m.group.ID, []string{"s", "d", "f"}[which], m.topic.ID, queue)
	must(m.t, m.redis.Del(m.t.Context(), key).Err())
	if which == 0 {
		m.drop(queue, m.offset(queue))
	}
	return nil
}

func (m *sharedModel) offset(queue int) int64 {
	records, err := m.gateways[0].db.Offsets(m.t.Context(), m.group.ID, m.topic.ID)
	must(m.t, err)
	for _, r := range records {
		if r.Queue == uint32(queue) {
			return r.Offset
		}
	}
	m.t.Fatalf("no offset in queue %d", queue)
	return 0
}

// compare checks the group's progress: it never skips an unfinished message, and
// leaves no finished one behind that is not followed by an unfinished one.
func (m *sharedModel) compare() error {
	for i := range m.queues {
		q := &m.queues[i]
		low := q.claimed // what is claimed and finished up to there
		high := int64(len(q.messages))
		for j := q.claimed; j < high; j++ {
			if q.messages[j].passes {
				high = j
			}
		}
		for j := range q.claimed {
			if q.messages[j].inFlight {
				low, high = j, j
				break
			}
		}
		got := m.offset(i)
		if got > high || got < min(low, high) && got != q.progress || got < q.progress {
			return fmt.Errorf("queue %d: progress %d after %d, want %d to %d", i, got, q.progress, low, high)
		}
		if got < low {
			return fmt.Errorf("queue %d: progress %d, want at least %d", i, got, low)
		}
		q.progress = got
	}
	return nil
}
