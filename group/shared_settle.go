package group

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// ReceiptResult is what became of one receipt of a call.
type ReceiptResult struct {
	// Err is nil when it was done, now or before. Else: ErrReceiptInvalid, a
	// *ReceiptError, a *journal.InvalidError, or journal.ErrUnavailable and
	// ErrRecovering: it may be tried again.
	Err      error
	Receipt  string // of Extend: names the same delivery as the one given, which stays good
	Deadline int64  // of Nack: when the message is visible again; of Extend: until when it is hidden. Unix milliseconds
}

// NackItem gives one message back.
type NackItem struct {
	Receipt string
	DelayMS *int64 // until it is visible again; nil: what the group says for this attempt
}

// ExtendItem hides one message for longer, or shorter.
type ExtendItem struct {
	Receipt   string
	Invisible time.Duration // from now on; 0: the group's
}

// settleItem is one receipt of a call, and for how long its message is hidden.
type settleItem struct {
	receipt string
	hide    func(attempt int64) int64 // in milliseconds
	err     error                     // the item is wrong in itself
}

// Ack ends the deliveries that the receipts name: the messages are finished for
// the group. It has one result per receipt, in order; they fail apart. An ack
// counts until the deadline of the delivery, exactly, and may be repeated.
func (e *sharedEngine) Ack(ctx context.Context, group string, receipts []string) ([]ReceiptResult, error) {
	items := make([]settleItem, len(receipts))
	for i, r := range receipts {
		items[i] = settleItem{receipt: r, hide: func(int64) int64 { return 0 }}
	}
	return e.settle(ctx, group, meta.SharedAck, func(meta.Group) []settleItem { return items }, len(items))
}

// Nack gives messages back before their deadline: they are delivered again,
// each after its delay. Repeating it changes nothing.
func (e *sharedEngine) Nack(ctx context.Context, group string, nacks []NackItem) ([]ReceiptResult, error) {
	return e.settle(ctx, group, meta.SharedNack, func(g meta.Group) []settleItem {
		items := make([]settleItem, len(nacks))
		for i, n := range nacks {
			items[i] = settleItem{receipt: n.Receipt, hide: func(attempt int64) int64 { return nackDelay(g, attempt) }}
			if n.DelayMS == nil {
				continue
			}
			delay := *n.DelayMS
			items[i].hide = func(int64) int64 { return delay }
			if delay < 0 || delay > MaxInvisible.Milliseconds() {
				items[i].err = &journal.InvalidError{Index: i, Field: "delay_ms", Code: journal.CodeOutOfRange,
					Detail: fmt.Sprintf("a delay is 0 to %d ms", MaxInvisible.Milliseconds())}
			}
		}
		return items
	}, len(nacks))
}

// nackDelay is how long a message waits after an attempt that failed.
func nackDelay(g meta.Group, attempt int64) int64 {
	if len(g.NackDelaysMS) == 0 {
		return 0
	}
	return g.NackDelaysMS[min(max(attempt-1, 0), int64(len(g.NackDelaysMS)-1))]
}

// Extend hides messages for a time from now on. It is the same delivery after
// it: its attempt stays, and so do its receipts, the old one and the new one.
func (e *sharedEngine) Extend(ctx context.Context, group string, extends []ExtendItem) ([]ReceiptResult, error) {
	return e.settle(ctx, group, meta.SharedExtend, func(g meta.Group) []settleItem {
		items := make([]settleItem, len(extends))
		for i, x := range extends {
			hide := g.InvisibleMS
			if x.Invisible != 0 {
				hide, items[i].err = x.Invisible.Milliseconds(), checkInvisible(i, x.Invisible)
			}
			items[i].receipt, items[i].hide = x.Receipt, func(int64) int64 { return hide }
		}
		return items
	}, len(extends))
}

// settle opens the receipts, sorts them by queue, and has each queue judge its own.
func (e *sharedEngine) settle(ctx context.Context, group string, verb meta.SharedVerb, list func(meta.Group) []settleItem, count int) ([]ReceiptResult, error) {
	if count > MaxReceipts {
		return nil, invalid("receipts", journal.CodeTooMany, fmt.Sprintf("a call brings at most %d receipts", MaxReceipts))
	}
	g, err := e.Group(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("%s for group %s: %w", verb, group, unavailable(err))
	}
	items := list(g)
	results := make([]ReceiptResult, len(items))
	var batch settlement
	for i, item := range items {
		r, err := openReceipt(ctx, e.Signer, g.ID, item.receipt)
		if err == nil {
			err = item.err
		}
		if err != nil {
			results[i].Err = err
			continue
		}
		batch.add(i, g, verb, r, item.hide(r.attempt))
	}
	if len(batch.settles) > 0 {
		e.judge(ctx, g, &batch, items, results)
	}
	for i := range results {
		e.metrics.settled(verb, results[i].Err)
	}
	return results, nil
}

// settlement is what a call does, by queue.
type settlement struct {
	settles []meta.SharedSettle
	indexes [][]int       // in the call, per settle and item
	at      map[place]int // in settles
}

func (s *settlement) add(index int, g meta.Group, verb meta.SharedVerb, r receipt, hideMS int64) {
	p := place{r.group, r.topic, r.queue}
	n, ok := s.at[p]
	if !ok {
		if s.at == nil {
			s.at = make(map[place]int)
		}
		n = len(s.settles)
		s.at[p] = n
		queue := meta.SharedQueue{Group: r.group, Topic: r.topic, Queue: r.queue, Ordered: g.Ordered}
		s.settles = append(s.settles, meta.SharedSettle{Queue: queue, Verb: verb})
		s.indexes = append(s.indexes, nil)
	}
	item := meta.SharedItem{Offset: r.offset, Version: r.version, Era: r.era, Attempt: r.attempt, DelayMS: hideMS}
	s.settles[n].Items = append(s.settles[n].Items, item)
	s.indexes[n] = append(s.indexes[n], index)
}

// judge runs a settlement and fills in the results of its items.
func (e *sharedEngine) judge(ctx context.Context, g meta.Group, batch *settlement, items []settleItem, results []ReceiptResult) {
	verb := batch.settles[0].Verb
	for n, settled := range e.Meta.SharedSettle(ctx, batch.settles) {
		for j, i := range batch.indexes[n] {
			if settled.Err != nil {
				results[i].Err = unavailable(settled.Err)
				continue
			}
			r, item := settled.Results[j], batch.settles[n].Items[j]
			results[i].Deadline = r.Deadline
			switch r.Status {
			case meta.SharedOK:
				if verb == meta.SharedExtend {
					results[i].Receipt = items[i].receipt
				}
			case meta.SharedExpired:
				results[i].Err = receiptError(ErrReceiptExpired, item, r, settled.Now)
			default:
				results[i].Err = receiptError(ErrReceiptSuperseded, item, r, settled.Now)
			}
		}
	}
	if verb == meta.SharedAck {
		e.Progressed(g.ID)
	}
	if verb == meta.SharedNack || verb == meta.SharedAck && g.Ordered {
		e.watches.signal(g.ID)
	}
}

func receiptError(reason error, item meta.SharedItem, r meta.SharedResult, now int64) error {
	return &ReceiptError{Reason: reason, Attempt: item.Attempt, Current: r.Attempts, Deadline: r.Deadline, Now: now}
}

// undo takes back grants of messages that never reached their receiver: they are
// visible at once, and the attempt does not count.
func (e *sharedEngine) undo(ctx context.Context, g meta.Group, receipts []string) error {
	var batch settlement
	for i, text := range receipts {
		r, err := openReceipt(ctx, e.Signer, g.ID, text)
		if err != nil {
			return err
		}
		batch.add(i, g, meta.SharedUndo, r, 0)
	}
	defer e.watches.signal(g.ID)
	for _, settled := range e.Meta.SharedSettle(ctx, batch.settles) {
		if settled.Err != nil {
			return unavailable(settled.Err)
		}
	}
	return nil
}
