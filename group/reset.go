package group

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Where a reset leads.
const (
	ToEarliest  = "earliest"  // the oldest message that is kept
	ToLatest    = "latest"    // behind the newest one
	ToTimestamp = "timestamp" // the first message stored then or later; behind the newest when there is none
	ToOffset    = "offset"    // that offset, in every queue named
	ToShift     = "shift"     // so many messages on, or back when negative, within what is kept
)

// ResetRequest moves a group's progress in a topic.
type ResetRequest struct {
	Group  string
	Topic  string
	Queues []uint32 // none: all
	To     string
	Value  int64  // of ToTimestamp Unix milliseconds, of ToOffset the offset, of ToShift the distance
	DryRun bool   // only tells what would be done
	By     string // who does it: shown in the records
}

// ownProgress is why the progress of a broadcasting group is not for others to move.
const ownProgress = "each client of a broadcasting group has its own progress: it starts anew under another client id"

// QueueReset is what a reset does to one queue.
type QueueReset struct {
	Queue    uint32
	Begun    bool // the group had an offset in the queue
	Old, New int64
	Version  int64 // of the offset, afterwards
}

// Reset moves a group's progress under a new offset version, and returns what was
// done once it is durable. Receivers need not be there; what is in flight is
// dropped: its receipts are superseded, and the next message is the target. The
// target of each queue is found first, then all are moved. A broadcasting group
// has no progress to move: *journal.InvalidError.
func (g *Groups) Reset(ctx context.Context, r ResetRequest) ([]QueueReset, error) {
	definition, err := g.Get(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	if definition.Mode == meta.ModeBroadcasting {
		return nil, invalid("group", journal.CodeConflict, ownProgress)
	}
	topic, err := g.options.Journal.Topic(ctx, r.Topic)
	if err != nil {
		return nil, err
	}
	queues := slices.Compact(slices.Sorted(slices.Values(r.Queues)))
	for _, q := range queues {
		if q >= topic.Queues {
			return nil, &QueueError{Topic: topic.Name, Queue: q, Queues: topic.Queues}
		}
	}
	if len(queues) == 0 {
		for q := range topic.Queues {
			queues = append(queues, q)
		}
	}
	planned, resets, err := g.planReset(ctx, definition, topic, queues, r)
	if err != nil || r.DryRun {
		return planned, err
	}
	moved, err := g.options.Meta.ResetOffsets(ctx, definition.ID, "", r.By, resets)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrOutcomeUnknown, err)
	}
	records := make([]meta.OffsetRecord, len(moved))
	for i, m := range moved {
		planned[i].Begun = planned[i].Begun || m.Old.Version > 0
		if m.Old.Version > 0 {
			planned[i].Old = m.Old.Offset // a commit may have come since it was planned
		}
		planned[i].Version, records[i] = m.New.Version, m.New
	}
	if err := g.options.Journal.RecordGroupOffsets(ctx, definition.ID, "", records); err != nil {
		return nil, fmt.Errorf("reset group %s: %w", r.Group, err)
	}
	return planned, nil
}

// planReset finds the target in each queue.
func (g *Groups) planReset(ctx context.Context, definition meta.Group, topic meta.Topic, queues []uint32, r ResetRequest) ([]QueueReset, []meta.OffsetReset, error) {
	records, err := g.options.Meta.Offsets(ctx, definition.ID, topic.ID)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	known := map[uint32]meta.OffsetRecord{}
	for _, record := range records {
		known[record.Queue] = record
	}
	_, bounds, err := g.options.Meta.Bounds(ctx, topic.ID, queues)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	planned, resets := make([]QueueReset, len(queues)), make([]meta.OffsetReset, len(queues))
	for i, state := range bounds {
		record, begun := known[state.Queue]
		if !begun {
			record.Offset = state.Min
		}
		target, err := g.target(ctx, topic, state, record.Offset, r)
		if err != nil {
			return nil, nil, err
		}
		planned[i] = QueueReset{Queue: state.Queue, Begun: begun, Old: record.Offset, New: target, Version: record.Version + 1}
		resets[i] = meta.OffsetReset{Topic: topic.ID, Queue: state.Queue, Offset: target}
	}
	return planned, resets, nil
}

func (g *Groups) target(ctx context.Context, topic meta.Topic, state meta.QueueState, old int64, r ResetRequest) (int64, error) {
	switch r.To {
	case ToEarliest:
		return state.Min, nil
	case ToLatest:
		return state.Next, nil
	case ToTimestamp:
		return g.options.Journal.Find(ctx, topic, state.Queue, r.Value)
	case ToShift:
		return min(max(old+r.Value, state.Min), state.Next), nil
	case ToOffset:
		if r.Value < state.Min || r.Value > state.Next {
			return 0, &journal.BoundsError{Trimmed: r.Value < state.Min, Min: state.Min, Next: state.Next}
		}
		return r.Value, nil
	}
	return 0, invalid("to", journal.CodeInvalid, "earliest, latest, timestamp, offset or shift")
}
