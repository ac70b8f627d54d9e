package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

// controlTopic is the kind of the control records that hold a topic's state.
const controlTopic = "topic"

// controlRecord holds one state of the control plane as an encoded record.
type controlRecord struct {
	record []byte
	bornAt int64
	tags   uint64
}

// newControlRecord encodes a state: the record's tag is its kind, its body the
// state's JSON.
func newControlRecord(kind string, state any) (controlRecord, error) {
	body, err := json.Marshal(state)
	if err != nil {
		return controlRecord{}, fmt.Errorf("encode %s record: %w", kind, err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return controlRecord{}, fmt.Errorf("make a record id: %w", err)
	}
	r := segment.Record{Attributes: segment.AttrText, ID: id, BornAt: segment.MessageTime(id), Tag: []byte(kind), Body: body}
	return controlRecord{record: segment.AppendRecord(nil, &r), bornAt: r.BornAt, tags: segment.TagBloom(r.Tag)}, nil
}

func (c controlRecord) chunk() segment.Chunk {
	return segment.Chunk{Payload: c.record, Count: 1, MinBorn: c.bornAt, MaxBorn: c.bornAt, Tags: c.tags}
}

// pendingControl is a control record on its way to the bucket.
type pendingControl struct {
	controlRecord
	err  error         // written before done is closed
	done chan struct{} // closed when the segment's PUT is decided
}

// Control appends the resulting state of a control-plane write, which is
// already applied in Redis, and returns once it is durable: recovery restores
// it from there. Any error leaves the outcome unknown: the state is in force,
// the journal goes on writing its record as long as this process lives, and
// only the loss of both would undo it.
func (j *Journal) Control(ctx context.Context, kind string, state any) error {
	record, err := newControlRecord(kind, state)
	if err != nil {
		return err
	}
	c := &pendingControl{controlRecord: record, done: make(chan struct{})}
	j.writer.joinControl(c, time.Now())
	timer := time.NewTimer(j.options.AppendTimeout)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-ctx.Done():
		return fmt.Errorf("append %s record: %w: %w", kind, ErrOutcomeUnknown, context.Cause(ctx))
	case <-timer.C:
		return fmt.Errorf("append %s record: %w after %v", kind, ErrOutcomeUnknown, j.options.AppendTimeout)
	}
	if c.err != nil {
		// What the record's segment came to says nothing about the state.
		return fmt.Errorf("append %s record: %w: %s", kind, ErrOutcomeUnknown, c.err)
	}
	return nil
}

// joinControl puts a record into the open batch. It is never refused, because
// its state is in force: control records are few, and small.
func (w *writer) joinControl(c *pendingControl, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		c.err = ErrDraining
		close(c.done)
		return
	}
	if w.open == nil {
		w.open = newBatch(now)
		w.signal()
	}
	held := int64(len(c.record))
	w.open.controls = append(w.open.controls, c)
	w.open.size += held
	w.open.held += held
	w.hold(held)
}

// abandon answers everything in a batch that was never sealed.
func (b *batch) abandon(err error) {
	for _, t := range b.topics {
		t.fail(err)
	}
	for _, c := range b.controls {
		c.err = err
		close(c.done)
	}
}
