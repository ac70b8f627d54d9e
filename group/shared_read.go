package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// maxJumps bounds how many gaps one read of new messages passes over.
const maxJumps = 8

// portion is what was read of one queue and is to be granted.
type portion struct {
	epoch       int64 // of the topic
	due         []meta.SharedMessage
	dueMessages []journal.Stored // of due
	gone        []meta.SharedMessage
	failed      []failed             // due ones that go elsewhere
	failedAt    []meta.SharedMessage // of failed
	newMessages []journal.Stored
	next        int64 // the claim position after newMessages and what does not pass the filter
	gaps        []ReceiveGap
	more        bool // there is more behind next
}

// changes reports whether the portion is anything to write down.
func (p *portion) changes(v *queueView) bool {
	return len(p.due)+len(p.gone) > 0 || p.next != v.Position || v.Epoch != 0 && p.epoch != v.Epoch
}

func (p *portion) grant(r *receiver, v *queueView) meta.SharedGrant {
	g := meta.SharedGrant{
		Queue: v.SharedQueue, View: v.SharedView, Epoch: p.epoch, Next: p.next,
		Hide: r.invisible, AttemptID: r.attemptID, Due: p.due, Gone: p.gone,
	}
	for i := range p.newMessages {
		g.New = append(g.New, p.newMessages[i].Offset)
	}
	return g
}

// read reads as much of a queue as the reply has room for: messages that are due
// again, and behind the claim position new ones that pass the filter.
func (l *look) read(ctx context.Context, v *queueView) (*portion, error) {
	p := &portion{epoch: v.Epoch, next: v.Position}
	due := slices.Clone(v.Due)
	slices.SortFunc(due, func(a, b meta.SharedMessage) int { return int(a.Offset - b.Offset) })
	messages, bytes := l.maxMessages-len(l.reply.Messages), l.maxBytes-l.bytes
	err := l.readDue(ctx, v, p, due, messages, bytes)
	if err != nil || p.moved(v) {
		return p, err
	}
	l.moveDue(ctx, p)
	for i := range p.dueMessages {
		bytes -= int64(len(p.dueMessages[i].Raw))
	}
	messages = min(messages-len(p.due), v.room())
	behind := len(p.due)+len(p.gone) < int(v.InFlight)
	if v.room() == 0 || messages <= 0 || bytes <= 0 || v.Ordered && behind {
		return p, nil
	}
	err = l.readNew(ctx, v, p, messages, bytes)
	if err != nil && len(p.due)+len(p.gone) > 0 {
		err = nil // the next receive meets it
	}
	return p, err
}

// moved reports whether the topic is in another epoch than the queue's state:
// its offsets may name other messages now, and nothing of it can be granted.
func (p *portion) moved(v *queueView) bool {
	return v.Epoch != 0 && p.epoch != v.Epoch
}

// readDue reads messages that were granted before, in runs of neighbours.
func (l *look) readDue(ctx context.Context, v *queueView, p *portion, due []meta.SharedMessage, messages int, bytes int64) error {
	for len(due) > 0 && messages > 0 && bytes > 0 {
		run := 1
		for run < min(len(due), messages) && due[run].Offset == due[run-1].Offset+1 {
			run++
		}
		page, err := l.r.e.Journal.Read(ctx, journal.Read{
			Topic: v.topic, Queue: v.Queue, Offset: due[0].Offset, MaxMessages: run, MaxBytes: bytes,
		})
		if err == nil && len(page.Messages) == 0 { // at the end
			err = &journal.BoundsError{Min: page.Min, Next: page.Max}
		}
		gap, err := l.gap(v, due[0].Offset, err)
		switch {
		case err != nil:
			return err
		case gap != nil:
			lost := 1
			for lost < len(due) && due[lost].Offset < gap.To {
				lost++
			}
			gap.To = due[lost-1].Offset + 1
			p.gone, p.gaps = append(p.gone, due[:lost]...), append(p.gaps, *gap)
			due = due[lost:]
			continue
		case v.Epoch != 0 && page.Epoch != v.Epoch:
			*p = portion{epoch: page.Epoch, next: v.Position}
			return nil
		}
		p.epoch = page.Epoch
		for i := range page.Messages {
			deliver, move := l.judgeDue(v, due[i], &page.Messages[i])
			switch {
			case move != nil:
				p.failed, p.failedAt = append(p.failed, *move), append(p.failedAt, due[i])
			case deliver:
				p.due, p.dueMessages = append(p.due, due[i]), append(p.dueMessages, page.Messages[i])
				bytes -= int64(len(page.Messages[i].Raw))
				messages--
			}
		}
		if due = due[len(page.Messages):]; len(page.Messages) < run {
			break // no room for the next one's bytes, or it is damaged: a later receive meets it first
		}
	}
	p.more = len(due) > 0
	return nil
}

// readNew reads behind the claim position. What cannot be had is passed over.
func (l *look) readNew(ctx context.Context, v *queueView, p *portion, messages int, bytes int64) error {
	for range maxJumps {
		page, err := l.r.e.Journal.Read(ctx, journal.Read{
			Topic: v.topic, Queue: v.Queue, Offset: p.next, MaxMessages: messages, MaxBytes: bytes, Filter: v.filter,
		})
		var bounds *journal.BoundsError
		if errors.As(err, &bounds) && !bounds.Trimmed {
			return l.backToEnd(ctx, v, p, bounds.Next)
		}
		gap, err := l.gap(v, p.next, err)
		if err != nil {
			if p.next > v.Position {
				return nil
			}
			return err
		}
		if gap == nil {
			p.epoch, p.newMessages, p.next, p.more = page.Epoch, page.Messages, page.Next, page.Next < page.Max
			if p.moved(v) {
				*p = portion{epoch: page.Epoch, next: v.Position}
			}
			l.holdBack(v, p)
			return nil
		}
		p.gaps, p.next = append(p.gaps, *gap), gap.To
	}
	p.more = true
	return nil
}

// holdBack leaves out the messages that are younger than the group's delay.
func (l *look) holdBack(v *queueView, p *portion) {
	delay := time.Duration(v.settings.DelayMS) * time.Millisecond
	if delay == 0 {
		return
	}
	for i := range p.newMessages {
		left := time.Until(time.UnixMilli(p.newMessages[i].StoredAt).Add(delay))
		if left <= 0 {
			continue
		}
		p.next, p.newMessages, p.more = p.newMessages[i].Offset, p.newMessages[:i], false
		if l.dueIn == 0 || left < l.dueIn {
			l.dueIn = left
		}
		return
	}
}

// gap says which messages from an offset on an error of a read takes away for
// good; other errors stay.
func (l *look) gap(v *queueView, from int64, err error) (*ReceiveGap, error) {
	var bounds *journal.BoundsError
	var corrupt *journal.CorruptError
	gap := &ReceiveGap{Topic: v.topic.Name, Queue: v.Queue, From: from}
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &bounds) && bounds.Trimmed:
		gap.To, gap.Reason = bounds.Min, journal.GapTrimmed
	case errors.As(err, &corrupt):
		gap.To, gap.Reason = corrupt.Next, journal.GapCorrupt
	case errors.As(err, &bounds):
		gap.To, gap.Reason = maxNumber, journal.GapBeyondEnd // there is no such message
	default:
		return nil, unavailable(err)
	}
	return gap, nil
}

// skipped tells the operator of messages that the group will never get.
func (e *sharedEngine) skipped(v *queueView, gaps []ReceiveGap) {
	for _, gap := range gaps {
		e.metrics.skipped.WithLabelValues(gap.Reason).Add(float64(max(0, gap.To-gap.From)))
		e.Log.Warn("messages are passed over", "group", v.Group, "topic", gap.Topic, "queue", gap.Queue,
			"from", gap.From, "to", gap.To, "reason", gap.Reason)
	}
}

// repeat delivers what was granted to this attempt before, hidden anew. It does
// not count as another attempt.
func (l *look) repeat(ctx context.Context, views []*queueView) error {
	for _, v := range views {
		p := &portion{epoch: v.Epoch, next: v.Position}
		if err := l.readDue(ctx, v, p, v.Due, len(v.Due), journal.MaxReadBytes); err != nil {
			return err
		}
		settle := meta.SharedSettle{Queue: v.SharedQueue, Verb: meta.SharedExtend}
		for _, m := range p.due {
			settle.Items = append(settle.Items, meta.SharedItem{
				Offset: m.Offset, Version: v.Version, Era: v.Era, Attempt: m.Attempts, HideMS: l.r.invisible.Milliseconds(),
			})
		}
		settled := l.r.e.Meta.SharedSettle(ctx, []meta.SharedSettle{settle})[0]
		if settled.Err != nil {
			return unavailable(settled.Err)
		}
		for i, result := range settled.Results {
			if result.Status != meta.SharedOK {
				continue // its time was over in between
			}
			if err := l.deliver(ctx, v, p.dueMessages[i], result.Attempts, result.Deadline); err != nil {
				return err
			}
		}
	}
	l.more = l.empty()
	return nil
}

// backToEnd corrects a group whose position lies beyond the end of a queue: it
// goes on at the end, never at the start. Messages in flight are waited for.
func (l *look) backToEnd(ctx context.Context, v *queueView, p *portion, end int64) error {
	if v.InFlight > int64(len(p.gone)) || len(p.due) > 0 {
		return nil
	}
	reset := meta.OffsetReset{Topic: v.Topic, Queue: v.Queue, Offset: end, IfVersion: v.Version}
	if _, err := l.r.e.Meta.ResetOffsets(ctx, v.Group, "", "gateway", []meta.OffsetReset{reset}); err != nil {
		return fmt.Errorf("go back to the end of queue %d: %w", v.Queue, unavailable(err))
	}
	gap := ReceiveGap{Topic: v.topic.Name, Queue: v.Queue, From: v.Position, To: end, Reason: journal.GapBeyondEnd}
	l.reply.Gaps = append(l.reply.Gaps, gap)
	l.r.e.skipped(v, []ReceiveGap{gap})
	return nil
}
