package group

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

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
	Deadline int64  // of Nack: when the message comes again; of Extend: until when it is hidden. Unix milliseconds
	Dead     bool   // of Nack: it is a dead letter now
}

// NackItem gives one message back.
type NackItem struct {
	Receipt    string
	DelayMS    *int64 // until it comes again; nil: what the group says for this attempt
	Reason     string // why, at most MaxReason bytes; "": ReasonNacked
	DeadLetter bool   // it is not to come again
	Unhandled  bool   // nobody tried it: it comes again at once, and the delivery does not count as an attempt
}

// check tests the limits of an item of a call.
func (n *NackItem) check(index int) error {
	bad := func(field, code, detail string) error {
		return &journal.InvalidError{Index: index, Field: field, Code: code, Detail: detail}
	}
	switch {
	case n.DelayMS != nil && (*n.DelayMS < 0 || *n.DelayMS > MaxInvisible.Milliseconds()):
		return bad("delay_ms", journal.CodeOutOfRange, fmt.Sprintf("a delay is 0 to %d ms", MaxInvisible.Milliseconds()))
	case n.DelayMS != nil && n.DeadLetter:
		return bad("delay_ms", journal.CodeConflict, "a dead letter does not come again")
	case n.Unhandled && (n.DelayMS != nil || n.DeadLetter || n.Reason != ""):
		return bad("unhandled", journal.CodeConflict, "what was not handled has no delay and no reason, and is no dead letter")
	case len(n.Reason) > MaxReason || !utf8.ValidString(n.Reason):
		return bad("reason", journal.CodeInvalid, fmt.Sprintf("a reason is text of at most %d bytes", MaxReason))
	}
	return nil
}

// sentence is what becomes of a message that was given back after an attempt.
func (n *NackItem) sentence(g meta.Group, attempts int64) (wait time.Duration, dead bool) {
	wait = waitOf(g, attempts)
	if n.DelayMS != nil {
		wait = time.Duration(*n.DelayMS) * time.Millisecond
	}
	return wait, n.DeadLetter || exhausted(g, attempts)
}

// ExtendItem hides one message for longer, or shorter.
type ExtendItem struct {
	Receipt   string
	Invisible time.Duration // from now on; 0: the group's
}

// settleItem is one receipt of a call, and for how long its message is hidden.
type settleItem struct {
	receipt string
	hide    func(r *receipt) (hide, again time.Duration)
	undo    bool  // of a nack: the grant is taken back
	err     error // the item is wrong in itself
}

// Ack ends the deliveries that the receipts name: the messages are finished for
// the group. It has one result per receipt, in order; they fail apart. An ack
// counts until the deadline of the delivery, exactly, and may be repeated.
func (e *sharedEngine) Ack(ctx context.Context, group string, receipts []string) ([]ReceiptResult, error) {
	items := make([]settleItem, len(receipts))
	for i, r := range receipts {
		items[i] = settleItem{receipt: r, hide: func(*receipt) (time.Duration, time.Duration) { return 0, 0 }}
	}
	return e.settle(ctx, group, meta.SharedAck, func(meta.Group) []settleItem { return items }, len(items))
}

// Nack gives messages back before their deadline. Each comes again after its
// delay, through the group's retry topic unless the wait is short or the group is
// ordered: then in place. One that has had all its attempts, or is said to be, is
// a dead letter. Repeating a nack changes nothing; once its message has moved, it
// is answered ErrReceiptSuperseded.
func (e *sharedEngine) Nack(ctx context.Context, group string, nacks []NackItem) ([]ReceiptResult, error) {
	results, rest, err := e.BeginNack(ctx, group, nacks)
	if rest != nil {
		rest(ctx)
	}
	return results, err
}

// BeginNack is the first half of Nack: it takes back the deliveries. Where messages
// are to be stored elsewhere, rest does that and completes the results; it is called
// once.
func (e *sharedEngine) BeginNack(ctx context.Context, group string, nacks []NackItem) (results []ReceiptResult, rest func(context.Context), err error) {
	var g meta.Group
	var batch settlement
	results, err = e.settleInto(ctx, group, meta.SharedNack, func(of meta.Group) []settleItem {
		g = of
		items := make([]settleItem, len(nacks))
		for i := range nacks {
			n := &nacks[i]
			items[i] = settleItem{receipt: n.Receipt, undo: n.Unhandled, err: n.check(i), hide: func(r *receipt) (time.Duration, time.Duration) {
				wait, dead := n.sentence(g, r.before+r.attempt)
				switch {
				case dead:
					return heldFor, heldFor
				case moves(g, wait):
					return min(wait, heldFor), wait
				}
				return wait, 0
			}}
		}
		return items
	}, len(nacks), &batch)
	if err != nil {
		return nil, nil, err
	}
	if moving := e.leaving(g, &batch, nacks, results); len(moving) > 0 {
		rest = func(ctx context.Context) { e.moveNacked(ctx, g, &batch, moving, results) }
	}
	return results, rest, nil
}

// moves says whether a message that is to come again after a wait is moved to the
// group's retry topic.
func moves(g meta.Group, wait time.Duration) bool { return !g.Ordered && wait >= inPlace }

// Extend hides messages for a time from now on. It is the same delivery after
// it: its attempt stays, and so do its receipts, the old one and the new one.
func (e *sharedEngine) Extend(ctx context.Context, group string, extends []ExtendItem) ([]ReceiptResult, error) {
	return e.settle(ctx, group, meta.SharedExtend, func(g meta.Group) []settleItem {
		items := make([]settleItem, len(extends))
		for i, x := range extends {
			hide := time.Duration(g.InvisibleMS) * time.Millisecond
			if x.Invisible != 0 {
				hide, items[i].err = x.Invisible, checkInvisible(i, x.Invisible)
			}
			items[i].receipt, items[i].hide = x.Receipt, func(*receipt) (time.Duration, time.Duration) { return hide, 0 }
		}
		return items
	}, len(extends))
}

func (e *sharedEngine) settle(ctx context.Context, group string, verb meta.SharedVerb, list func(meta.Group) []settleItem, count int) ([]ReceiptResult, error) {
	return e.settleInto(ctx, group, verb, list, count, &settlement{})
}

// settleInto opens the receipts, sorts them by queue, and has each queue judge its own.
func (e *sharedEngine) settleInto(ctx context.Context, group string, verb meta.SharedVerb, list func(meta.Group) []settleItem, count int, batch *settlement) ([]ReceiptResult, error) {
	if count > MaxReceipts {
		return nil, invalid("receipts", journal.CodeTooMany, fmt.Sprintf("a call brings at most %d receipts", MaxReceipts))
	}
	g, err := e.Group(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("%s for group %s: %w", verb, group, unavailable(err))
	}
	items := list(g)
	results := make([]ReceiptResult, len(items))
	for i, item := range items {
		r, err := openReceipt(ctx, e.Signer, g.ID, item.receipt)
		if err == nil {
			err = item.err
		}
		if err != nil {
			results[i].Err = err
			continue
		}
		of := verb
		if item.undo {
			of = meta.SharedUndo
		}
		hide, again := item.hide(&r)
		batch.add(i, g, of, r, hide, again)
	}
	if len(batch.settles) > 0 {
		e.judge(ctx, g, batch, items, results)
	}
	for i := range results {
		e.metrics.settled(verb, results[i].Err)
	}
	return results, nil
}

// settlement is what a call does, by queue.
type settlement struct {
	settles []meta.SharedSettle
	indexes [][]int           // in the call, per settle and item
	before  [][]int64         // of the receipts, likewise
	at      map[placeVerb]int // in settles
}

// placeVerb is what is done in one queue.
type placeVerb struct {
	place
	verb meta.SharedVerb
}

func (s *settlement) add(index int, g meta.Group, verb meta.SharedVerb, r receipt, hide, again time.Duration) {
	p := placeVerb{place{r.group, r.topic, r.queue}, verb}
	n, ok := s.at[p]
	if !ok {
		if s.at == nil {
			s.at = make(map[placeVerb]int)
		}
		n = len(s.settles)
		s.at[p] = n
		queue := meta.SharedQueue{Group: r.group, Topic: r.topic, Queue: r.queue, Ordered: g.Ordered}
		s.settles = append(s.settles, meta.SharedSettle{Queue: queue, Verb: verb})
		s.indexes, s.before = append(s.indexes, nil), append(s.before, nil)
	}
	item := meta.SharedItem{Offset: r.offset, Version: r.version, Era: r.era, Attempt: r.attempt, HideMS: hide.Milliseconds(), AgainMS: again.Milliseconds()}
	s.settles[n].Items = append(s.settles[n].Items, item)
	s.indexes[n], s.before[n] = append(s.indexes[n], index), append(s.before[n], r.before)
}

// judge runs a settlement and fills in the results of its items.
func (e *sharedEngine) judge(ctx context.Context, g meta.Group, batch *settlement, items []settleItem, results []ReceiptResult) {
	verb := batch.settles[0].Verb // undo is a kind of nack
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
				results[i].Err = receiptError(ErrReceiptExpired, item, batch.before[n][j], r, settled.Now)
			default:
				results[i].Err = receiptError(ErrReceiptSuperseded, item, batch.before[n][j], r, settled.Now)
			}
		}
	}
	if verb == meta.SharedAck {
		e.Progressed(g.ID)
	}
	if verb == meta.SharedNack || verb == meta.SharedUndo || verb == meta.SharedAck && g.Ordered {
		e.watches.signal(g.ID)
	}
}

func receiptError(reason error, item meta.SharedItem, before int64, r meta.SharedResult, now int64) error {
	e := &ReceiptError{Reason: reason, Attempt: before + item.Attempt, Deadline: r.Deadline, Now: now}
	if r.Attempts > 0 {
		e.Current = before + r.Attempts
	}
	return e
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
		batch.add(i, g, meta.SharedUndo, r, 0, 0)
	}
	defer e.watches.signal(g.ID)
	for _, settled := range e.Meta.SharedSettle(ctx, batch.settles) {
		if settled.Err != nil {
			return unavailable(settled.Err)
		}
	}
	return nil
}
