package group

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// pollScans bounds how often one read of a queue goes on after a scan that found
// nothing that passes the filter.
const pollScans = 50

// read collects what there is in the member's queues, each in its turn.
func (p *poll) read(ctx context.Context) error {
	p.ready = time.Time{}
	topics := map[string]pollTopic{}
	for i := range p.queues {
		a := &p.queues[(p.turn+i)%len(p.queues)]
		if a.Stopped || p.full() {
			continue
		}
		t, ok := topics[a.Topic]
		if !ok {
			var err error
			if t, err = p.topic(ctx, a.Topic); err != nil {
				return err
			}
			topics[a.Topic] = t
		}
		if err := p.readQueue(ctx, t, a); err != nil {
			return err
		}
	}
	return nil
}

// pollTopic is what a poll needs to read a topic.
type pollTopic struct {
	read  journal.Read
	delay time.Duration
}

func (p *poll) topic(ctx context.Context, name string) (pollTopic, error) {
	topic, err := p.g.options.Journal.Topic(ctx, name)
	if err != nil {
		return pollTopic{}, err
	}
	settings := p.settings[name]
	consumed, err := p.g.consumed(ctx, p.m.definition, p.m.Member)
	if err != nil {
		return pollTopic{}, err
	}
	for _, s := range consumed {
		if s.Topic == name {
			f, err := filterOf(s, settings)
			return pollTopic{journal.Read{Topic: topic, Filter: f, Clamp: true}, time.Duration(settings.DelayMS) * time.Millisecond}, err
		}
	}
	return pollTopic{}, fmt.Errorf("group: the member does not subscribe topic %s", name)
}

// full says whether the reply has as much as was asked for.
func (p *poll) full() bool {
	return len(p.reply.Messages) >= p.request.MaxMessages || p.request.MaxBytes <= 0
}

func (p *poll) readQueue(ctx context.Context, t pollTopic, a *Assignment) error {
	for range pollScans {
		if p.full() {
			return nil
		}
		read := t.read
		read.Queue, read.Offset = a.Queue, a.Offset
		read.MaxMessages, read.MaxBytes = p.request.MaxMessages-len(p.reply.Messages), p.request.MaxBytes
		page, err := p.g.options.Journal.Read(ctx, read)
		if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
			p.gap(a, corrupt.Next, journal.GapCorrupt)
			continue
		}
		if err != nil {
			return err
		}
		if a.Offset > page.Max {
			return p.backToEnd(ctx, a, page.Max)
		}
		if a.Offset < page.Min {
			p.gap(a, page.Min, journal.GapTrimmed)
		}
		if more := p.take(t, a, page); !more {
			return nil
		}
	}
	return nil
}

// take puts the messages of a page into the reply, up to the first that is not
// due yet; it reports whether there may be more in the queue.
func (p *poll) take(t pollTopic, a *Assignment, page *journal.Page) (more bool) {
	for _, m := range page.Messages {
		if due := time.UnixMilli(m.StoredAt).Add(t.delay); t.delay > 0 && time.Now().Before(due) {
			if p.ready.IsZero() || due.Before(p.ready) {
				p.ready = due
			}
			return false
		}
		polled := Polled{Topic: a.Topic, Queue: a.Queue, Stored: m}
		if journal.IsRetryTopic(a.Topic) {
			if origin, before := OriginOf(m); origin.Topic != "" {
				polled.Record, polled.Raw, polled.Origin = before.Record, before.Raw, &origin
			}
		}
		p.reply.Messages = append(p.reply.Messages, polled)
		p.request.MaxBytes -= int64(len(m.Raw))
		a.Offset = m.Offset + 1
	}
	a.Offset = max(a.Offset, page.Next)
	return a.Offset < page.Max
}

func (p *poll) gap(a *Assignment, to int64, reason string) {
	p.g.metrics.skipped.WithLabelValues(reason).Inc()
	p.reply.Gaps = append(p.reply.Gaps, ReceiveGap{Topic: a.Topic, Queue: a.Queue, From: a.Offset, To: to, Reason: reason})
	a.Offset = to
}

// backToEnd corrects progress beyond the end of a queue: it goes on at the end,
// never at the start (SEMANTICS 75).
func (p *poll) backToEnd(ctx context.Context, a *Assignment, end int64) error {
	if p.m.Kind == meta.KindBroadcast {
		p.gap(a, end, journal.GapBeyondEnd)
		return nil
	}
	moved, err := p.g.options.Meta.ResetOffsets(ctx, p.m.definition.ID, "", "gateway", []meta.OffsetReset{
		{Topic: a.TopicID, Queue: a.Queue, Offset: end, IfVersion: a.Version},
	})
	if err != nil {
		return unavailable(err)
	}
	p.gap(a, end, journal.GapBeyondEnd)
	a.Version = moved[0].New.Version
	return nil
}

// SeekRequest moves one queue of a member.
type SeekRequest struct {
	Group, Member, Topic string
	Queue                uint32
	To                   string // ToEarliest, ToLatest, ToTimestamp or ToOffset
	Value                int64  // as of ResetRequest
}

// OwnerError says that a member does not have a queue.
type OwnerError struct {
	Topic string
	Queue uint32
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("group: the member does not have queue %d of topic %s; the group may be rebalancing", e.Queue, e.Topic)
}

// Seek moves the progress in a queue that the member has, under a new version:
// what a poll under way brings of it counts no more, and the next poll begins at
// the target. Of several, the last one counts. An offset outside the queue is a
// *journal.BoundsError; *OwnerError.
func (g *Groups) Seek(ctx context.Context, r SeekRequest) (QueueReset, error) {
	m, err := g.session(ctx, r.Group, r.Member)
	if err != nil {
		return QueueReset{}, err
	}
	if m.Kind == meta.KindBroadcast {
		return QueueReset{}, invalid("to", journal.CodeConflict, ownProgress)
	}
	topic, err := g.options.Journal.Topic(ctx, r.Topic)
	if err != nil {
		return QueueReset{}, err
	}
	state, err := g.options.Meta.Heartbeat(ctx, m.definition.ID, m.ID, m.timeout, nil)
	if err != nil {
		return QueueReset{}, unavailable(err)
	}
	all, err := g.assigned(ctx, m.definition, m.Member, state)
	if err != nil {
		return QueueReset{}, err
	}
	for _, a := range all {
		if a.TopicID != topic.ID || a.Queue != r.Queue || a.State == meta.StateRevoking {
			continue
		}
		return g.seek(ctx, m, topic, a, r)
	}
	return QueueReset{}, &OwnerError{r.Topic, r.Queue}
}

func (g *Groups) seek(ctx context.Context, m *member, topic meta.Topic, a Assignment, r SeekRequest) (QueueReset, error) {
	_, bounds, err := g.options.Meta.Bounds(ctx, topic.ID, []uint32{r.Queue})
	if err != nil {
		return QueueReset{}, unavailable(err)
	}
	target, err := g.target(ctx, topic, bounds[0], a.Offset, ResetRequest{To: r.To, Value: r.Value})
	if err != nil {
		return QueueReset{}, err
	}
	owner := m.ID
	if m.Kind == meta.KindAssign {
		owner = ""
	}
	moved, err := g.options.Meta.ResetOffsets(ctx, m.definition.ID, owner, m.ClientID, []meta.OffsetReset{
		{Topic: topic.ID, Queue: r.Queue, Offset: target, Epoch: a.Epoch},
	})
	if err != nil {
		return QueueReset{}, unavailable(err)
	}
	if moved[0].Status == meta.OffsetNotOwner {
		return QueueReset{}, &OwnerError{r.Topic, r.Queue}
	}
	if err := g.options.Journal.RecordGroupOffsets(ctx, m.definition.ID, "", []meta.OffsetRecord{moved[0].New}); err != nil {
		return QueueReset{}, fmt.Errorf("seek: %w", err)
	}
	return QueueReset{Queue: r.Queue, Begun: true, Old: moved[0].Old.Offset, New: target, Version: moved[0].New.Version}, nil
}
