package gateway

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Modes of a subscription.
const (
	modeTail      = "tail"
	modeGroup     = "group"
	modeBroadcast = "broadcast"
	modeShared    = "shared"
)

// consumer is what a subscription of a group receives from.
type consumer interface {
	// poll returns events always, and messages for which there is room.
	poll(ctx context.Context, messages int, bytes int64) (*consumed, error)
	// unsent takes back messages of which the client will not hear.
	unsent(ctx context.Context, items []consumedItem)
	ack(ctx context.Context, receipts []string) ([]group.ReceiptResult, error)
	// nack takes deliveries back; rest, if there is one, completes the results.
	nack(ctx context.Context, items []group.NackItem) (results []group.ReceiptResult, rest func(context.Context), err error)
	// end ends it; left: the client will not come back.
	end(ctx context.Context, left bool) error
}

// consumed is what a consumer has for its client.
type consumed struct {
	events  []group.Event
	gaps    []group.ReceiveGap
	items   []consumedItem
	more    bool // there is more to poll at once
	waiting bool // there may be messages for which there was no room
}

// unwritten are messages that the connection has taken once it has so many bytes.
type unwritten struct {
	end   int64
	items []consumedItem
}

// consumedItem is one message with what names its delivery.
type consumedItem struct {
	topic   string
	queue   uint32
	stored  *journal.Stored
	receipt string
	attempt int64
	hidden  int64 // until when, Unix ms; 0 = it is not
}

// member consumes as a member of a group.
type member struct {
	*group.Session
	groups *group.Groups
}

func (m *member) poll(ctx context.Context, messages int, bytes int64) (*consumed, error) {
	push, err := m.Poll(ctx, messages, bytes)
	if err != nil {
		return nil, err
	}
	c := &consumed{events: push.Events, gaps: push.Gaps, more: push.More, waiting: push.Waiting, items: make([]consumedItem, len(push.Items))}
	for i := range push.Items {
		p := &push.Items[i]
		c.items[i] = consumedItem{topic: p.Topic, queue: p.Queue, stored: &p.Stored, receipt: p.Receipt, attempt: p.Attempt}
	}
	return c, nil
}

// unsent does nothing: what the member did not finish comes again.
func (m *member) unsent(context.Context, []consumedItem) {}

func (m *member) ack(ctx context.Context, receipts []string) ([]group.ReceiptResult, error) {
	return resultsOf(m.Ack(ctx, receipts)), nil
}

func (m *member) nack(ctx context.Context, items []group.NackItem) ([]group.ReceiptResult, func(context.Context), error) {
	results, rest := m.BeginNack(ctx, items)
	return results, rest, nil
}

func resultsOf(errs []error) []group.ReceiptResult {
	results := make([]group.ReceiptResult, len(errs))
	for i, err := range errs {
		results[i].Err = err
	}
	return results
}

func (m *member) end(ctx context.Context, left bool) error {
	if left {
		return m.Close(ctx)
	}
	return m.Lost(ctx)
}

// sharer consumes in shared mode.
type sharer struct {
	*group.SharedSession
	groups *group.Groups
	name   string // of the group
}

func (s *sharer) poll(ctx context.Context, messages int, bytes int64) (*consumed, error) {
	if messages <= 0 || bytes <= 0 {
		return &consumed{waiting: true}, nil
	}
	batch, err := s.Poll(ctx, messages, bytes)
	if err != nil {
		return nil, err
	}
	c := &consumed{gaps: batch.Gaps, more: batch.More, items: make([]consumedItem, len(batch.Messages))}
	for i := range batch.Messages {
		m := &batch.Messages[i]
		c.items[i] = consumedItem{topic: m.Topic, queue: m.Queue, stored: &m.Stored, receipt: m.Receipt, attempt: m.Attempt, hidden: m.Deadline}
	}
	c.more = c.more || len(c.items) > 0
	return c, nil
}

func (s *sharer) unsent(ctx context.Context, items []consumedItem) {
	receipts := make([]string, len(items))
	for i, item := range items {
		receipts[i] = item.receipt
	}
	_ = s.Unsent(ctx, receipts) // else they come again at their deadline
}

func (s *sharer) ack(ctx context.Context, receipts []string) ([]group.ReceiptResult, error) {
	return s.groups.Ack(ctx, s.name, receipts)
}

func (s *sharer) nack(ctx context.Context, items []group.NackItem) ([]group.ReceiptResult, func(context.Context), error) {
	return s.groups.BeginNack(ctx, s.name, items)
}

func (s *sharer) end(context.Context, bool) error {
	s.Close()
	return nil
}

// consume starts the subscription of a group.
func (s *socket) consume(op *subscribeOp) error {
	sub := &subscription{
		socket: s, name: op.Sub, base64: op.Encoding != nil && *op.Encoding == "base64", behind: true,
		creditItems: op.Credit.Messages, creditBytes: op.Credit.Bytes,
	}
	topics := make([]topicSelection, len(op.Topics))
	for i := range op.Topics {
		t := &op.Topics[i]
		topics[i] = topicSelection{Topic: &t.Topic, Tags: t.Tags, SQL: t.SQL}
		for _, queue := range t.Queues {
			if queue < 0 || queue > 1<<32-1 {
				return wrong(fmt.Sprintf("topics/%d/queues", i), outOf(0, 1<<32-1))
			}
			topics[i].Queues = append(topics[i].Queues, uint32(queue))
		}
	}
	subscriptions, err := selections(topics, "topics", op.Mode == modeGroup)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, consumeWithin)
	defer cancel()
	answer, err := sub.begin(ctx, op, subscriptions)
	if err != nil {
		return subscribeFault(err, *op.Group)
	}
	s.mu.Lock()
	if s.outbox.last {
		s.mu.Unlock()
		sub.endConsumer(false)
		return nil
	}
	if s.subs == nil {
		s.subs = make(map[string]*subscription, 1)
	}
	s.subs[sub.name] = sub
	s.appendOpLocked(answer)
	s.wakeLocked()
	s.mu.Unlock()
	return nil
}

// consumeWithin bounds how long a client waits to become a member.
const consumeWithin = 30 * time.Second

// begin makes the consumer of a subscription, and what the client is told of it.
func (sub *subscription) begin(ctx context.Context, op *subscribeOp, subscriptions []meta.Subscription) ([]byte, error) {
	s := sub.socket
	groups := s.hub.server.groups
	if op.Mode == modeShared {
		invisible, err := invisibleOf("invisible_ms", op.InvisibleMS)
		if err != nil {
			return nil, err
		}
		session, err := groups.Share(ctx, group.SharedOptions{
			Group: *op.Group, Subscriptions: subscriptions, Invisible: invisible, Notify: sub.notify,
		})
		if err != nil {
			return nil, err
		}
		sub.consumer = &sharer{session, groups, *op.Group}
		return appendConsuming(nil, op.ID, sub, nil), nil
	}
	join := joinRequest{ClientID: op.ClientID, SessionKey: op.SessionKey, SessionTimeoutMS: op.SessionTimeoutMS, Room: op.Room}
	request, err := join.member(*op.Group, s.address)
	if err != nil {
		return nil, err
	}
	request.Transport, request.Subscriptions = "websocket", subscriptions
	if op.Mode == modeBroadcast {
		request.Kind = meta.KindBroadcast
	} else if request.Kind = meta.KindQueue; len(subscriptions[0].Queues) > 0 {
		request.Kind = meta.KindAssign
	}
	session, err := groups.Subscribe(ctx, group.SessionOptions{JoinRequest: request, Ordered: op.Ordered, Notify: sub.notify})
	if err != nil {
		return nil, err
	}
	sub.consumer = &member{session, groups}
	return appendConsuming(nil, op.ID, sub, session), nil
}

// subscribeFault says why a client cannot consume for a group.
func subscribeFault(err error, name string) error {
	p, _ := toProblem(namedGroup(err, name))
	for i := range p.faults {
		switch p.faults[i].Pointer {
		case "/subscriptions", "/queue":
			p.faults[i].Pointer = "/topics"
		case "/kind":
			p.faults[i].Pointer = "/mode"
		}
	}
	if p.code == codeInternal {
		return err
	}
	return p
}

// advanceConsumer delivers one part of what a consumer has.
func (sub *subscription) advanceConsumer() {
	s := sub.socket
	sub.reading.Lock()
	defer sub.reading.Unlock()
	s.mu.Lock()
	items, bytes, may := sub.creditItems, sub.creditBytes, sub.mayReceive()
	ended := sub.gone || s.outbox.last
	s.mu.Unlock()
	if ended {
		return
	}
	if !may {
		items, bytes = 0, 0
	}
	c, err := sub.consumer.poll(s.ctx, int(min(items, deliverItems)), min(bytes, deliverBytes))
	if err != nil {
		sub.fault(err)
		return
	}
	if !sub.sendConsumed(c) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), askWithin)
		defer cancel()
		sub.consumer.unsent(ctx, c.items)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.behind = c.more || c.waiting
	if c.more {
		s.pump = true
	}
	if c.waiting && !sub.paused && !sub.mayReceive() && !sub.stalled {
		sub.stalled = true
		s.hub.metrics.stalls.Inc()
		s.appendOpLocked(append(appendSub(nil, "stalled", "", sub.name), `,"reason":"credit"}`...))
	} else if c.waiting && sub.mayReceive() {
		s.pump = true // credit has come meanwhile
	}
}

// sendConsumed queues what a consumer returned, and takes its credit; false: the
// client will not hear of it.
func (sub *subscription) sendConsumed(c *consumed) bool {
	s := sub.socket
	r := run{items: len(c.items)}
	out := takeBuffer()
	defer out.release()
	if r.items > 0 {
		r.encodeConsumed(out, c, sub.base64, s.bin)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.gone || s.outbox.last {
		return false
	}
	for i := range c.events {
		s.appendOpLocked(appendEvent(nil, sub.name, &c.events[i]))
	}
	for _, g := range c.gaps {
		gap := topicGap{g.Topic, journal.Gap{Queue: g.Queue, From: g.From, To: g.To, Reason: g.Reason}}
		s.appendOpLocked(append(gap.appendTo(append(appendSub(nil, "gap", "", sub.name), ',')), '}'))
	}
	if r.items > 0 {
		s.hub.metrics.sent.Add(float64(r.items))
		var space [len(headRoom)]byte
		s.queueLocked(sub.takeRun(space[:0], &r), r.rest)
		sub.noteUnwritten(c.items)
	}
	return true
}

// noteUnwritten remembers messages of mode shared until the connection has taken
// them: only then they are in flight. It needs the socket's mu.
func (sub *subscription) noteUnwritten(items []consumedItem) {
	if _, shared := sub.consumer.(*sharer); !shared {
		return
	}
	o := &sub.socket.outbox
	sub.unwritten = slices.DeleteFunc(sub.unwritten, func(u unwritten) bool { return u.end <= o.written })
	receipts := make([]consumedItem, len(items))
	for i := range items {
		receipts[i].receipt = items[i].receipt
	}
	sub.unwritten = append(sub.unwritten, unwritten{o.end(), receipts})
}

// lost are the messages that a connection that ends has not taken.
func (sub *subscription) lost() (items []consumedItem) {
	s := sub.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range sub.unwritten {
		if s.outbox.last && u.end > s.outbox.written {
			items = append(items, u.items...)
		}
	}
	return items
}

// endConsumer ends the consumer of a subscription.
func (sub *subscription) endConsumer(left bool) {
	s := sub.socket
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), askWithin)
	defer cancel()
	if items := sub.lost(); len(items) > 0 {
		sub.consumer.unsent(ctx, items)
	}
	if err := sub.consumer.end(ctx, left); err != nil {
		s.hub.server.log.WarnContext(ctx, "a member of a group ends by its timeout", "err", err, "request_id", s.requestID)
	}
}
