package gateway

import (
	"context"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
)

type ackOp struct {
	opHead
	Sub      string   `json:"sub"`
	Receipts []string `json:"receipts"`
	UpTo     *place   `json:"up_to"`
}

// place is an offset of a queue.
type place struct {
	Topic  *string `json:"topic"`
	Queue  *int64  `json:"queue"`
	Offset *int64  `json:"offset"`
}

type nackOp struct {
	opHead
	Sub   string     `json:"sub"`
	Items []nackItem `json:"items"`
}

type extendOp struct {
	opHead
	Sub   string       `json:"sub"`
	Items []extendItem `json:"items"`
}

// consuming finds the subscription of a group.
func (s *socket) consuming(name string) (*subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.named(name)
	if err == nil && sub.consumer == nil {
		err = wrong("sub", "a subscription of mode tail has no receipts and no progress")
	}
	return sub, err
}

// settleWithin bounds a question to Redis about receipts.
func (s *socket) settleWithin() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, askWithin)
}

// ack finishes messages.
func (s *socket) ack(text []byte) error {
	var op ackOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	sub, err := s.consuming(op.Sub)
	if err != nil {
		return err
	}
	ctx, cancel := s.settleWithin()
	defer cancel()
	if op.UpTo != nil {
		if op.Receipts != nil {
			return wrong("up_to", "give receipts or up_to")
		}
		if err := sub.ackUpTo(ctx, op.UpTo); err != nil {
			return err
		}
		s.ok(op.ID)
		return nil
	}
	if n := len(op.Receipts); n == 0 || n > group.MaxReceipts {
		return wrong("receipts", outOf(1, group.MaxReceipts)+" receipts")
	}
	results, err := sub.consumer.ack(ctx, op.Receipts)
	return s.settledOp(op.ID, "receipts", results, err)
}

func (sub *subscription) ackUpTo(ctx context.Context, to *place) error {
	m, ok := sub.consumer.(*member)
	switch {
	case !ok:
		return wrong("up_to", "in shared mode messages are finished by their receipts")
	case to.Topic == nil:
		return missing("up_to/topic")
	case to.Queue == nil:
		return missing("up_to/queue")
	case *to.Queue < 0 || *to.Queue > 1<<32-1:
		return wrong("up_to/queue", outOf(0, 1<<32-1))
	case to.Offset == nil:
		return missing("up_to/offset")
	case *to.Offset < 0 || *to.Offset > maxInt53:
		return wrong("up_to/offset", "0 to 2^53-1")
	}
	return m.AckUpTo(ctx, *to.Topic, uint32(*to.Queue), *to.Offset)
}

// nack gives messages back.
func (s *socket) nack(text []byte) error {
	var op nackOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	sub, err := s.consuming(op.Sub)
	if err != nil {
		return err
	}
	items, err := nacksOf(op.Items)
	if err != nil {
		return err
	}
	ctx, cancel := s.settleWithin()
	defer cancel()
	results, rest, err := sub.consumer.nack(ctx, items)
	if err != nil || rest == nil {
		return s.settledOp(op.ID, "items", results, err)
	}
	return s.aside(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), seekWithin)
		defer cancel()
		rest(ctx)
		if err := s.settledOp(op.ID, "items", results, nil); err != nil {
			s.refuse(op.ID, err)
		}
	})
}

// aside carries out what waits for others, so that the next operations need not.
func (s *socket) aside(do func()) error {
	if s.asides == nil {
		s.asides = make(chan struct{}, maxAside)
	}
	aside := s.asides
	select {
	case aside <- struct{}{}:
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	s.hub.running.Go(func() {
		defer func() { <-aside }()
		do()
	})
	return nil
}

// maxAside is how many operations of a socket may be carried out aside.
const maxAside = maxAsking + 64

// extend keeps messages hidden for longer.
func (s *socket) extend(text []byte) error {
	var op extendOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	sub, err := s.consuming(op.Sub)
	if err != nil {
		return err
	}
	shared, ok := sub.consumer.(*sharer)
	if !ok {
		return wrong("sub", "only in shared mode messages have a deadline")
	}
	items, err := extendsOf(op.Items)
	if err != nil {
		return err
	}
	ctx, cancel := s.settleWithin()
	defer cancel()
	results, err := shared.groups.Extend(ctx, shared.name, items)
	return s.settledOp(op.ID, "items", results, err)
}

// settledOp answers what became of receipts.
func (s *socket) settledOp(id, field string, results []group.ReceiptResult, err error) error {
	if err != nil {
		return unsure(err)
	}
	answer, faults := settled(results, field)
	if answer.Done == 0 {
		return refusedAll(faults)
	}
	if id != "" {
		s.pushOp(append(appendValue(append(appendHead(nil, "ok", id), `,"receipts":`...), answer), '}'))
	}
	return nil
}

// commit stores the progress of a member.
func (s *socket) commit(text []byte) error {
	var op subOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	sub, err := s.consuming(op.Sub)
	if err != nil {
		return err
	}
	if m, ok := sub.consumer.(*member); ok {
		ctx, cancel := s.settleWithin()
		defer cancel()
		if err := m.Commit(ctx); err != nil {
			return unsure(err)
		}
	}
	s.ok(op.ID) // in shared mode an acknowledgement is stored when it is answered
	return nil
}

// seekMember moves a queue of a member.
func (sub *subscription) seekMember(op *seekOp, to journal.Position) error {
	s := sub.socket
	m, ok := sub.consumer.(*member)
	if !ok {
		return wrong("sub", "in shared mode nobody has queues: reset the group's offsets")
	}
	if op.Queue == nil {
		return missing("queue")
	}
	if *op.Queue < 0 || *op.Queue > 1<<32-1 {
		return wrong("queue", outOf(0, 1<<32-1))
	}
	topic, err := s.topic(*op.Topic, "/topic")
	if err != nil {
		return err
	}
	request := group.SeekRequest{Topic: topic.Name, Queue: uint32(*op.Queue), Value: to.Value}
	switch to.Kind {
	case journal.AtOffset:
		request.To = group.ToOffset
	case journal.AtTime:
		request.To = group.ToTimestamp
	case journal.Earliest:
		request.To = group.ToEarliest
	default:
		request.To = group.ToLatest
	}
	ctx, cancel := context.WithTimeout(s.ctx, seekWithin)
	defer cancel()
	if _, err := m.Seek(ctx, request); err != nil {
		return namedGroup(unsure(err), "")
	}
	s.ok(op.ID)
	return nil
}

// seekWithin bounds a seek, which is written to the log.
const seekWithin = 15 * time.Second
