package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// recoveryLease is how long a process that rebuilds Redis may be silent before
// another one takes over.
const recoveryLease = 15 * time.Second

// recoveryPoll is how often the others look whether the rebuilding is done.
const recoveryPoll = 200 * time.Millisecond

// recover returns once Redis is ready under another generation than seen (zero:
// any generation will do): it rebuilds Redis from the bucket, or waits for the
// process that does. Any number of processes may call it at once.
func (j *Journal) recover(ctx context.Context, seen uuid.UUID) error {
	holder, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make a recovery id: %w", err)
	}
	for {
		state, err := j.meta.State(ctx)
		if err != nil && !errors.Is(err, meta.ErrNoState) {
			return fmt.Errorf("read the state of Redis: %w", err)
		}
		if err == nil && state.StoreID != j.storeID {
			return fmt.Errorf("%w: Redis belongs to store %s, the bucket is %s", ErrWrongStore, state.StoreID, j.storeID)
		}
		if err == nil && state.Phase == meta.PhaseReady && state.Generation != seen {
			return nil
		}
		wanting := seen
		if err == nil && state.Phase == meta.PhaseRecovering {
			wanting = state.Generation // whoever began it may have died: its lease decides
		}
		generation, term, ok, err := j.meta.BeginRecovery(ctx, j.storeID, holder, wanting, recoveryLease)
		if err != nil {
			return fmt.Errorf("begin a recovery: %w", err)
		}
		if ok {
			return j.rebuild(ctx, generation, holder, term)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for a recovery: %w", ctx.Err())
		case <-time.After(recoveryPoll):
		}
	}
}

// rebuild replaces what Redis holds by what the bucket says, under the
// recovery lease.
func (j *Journal) rebuild(ctx context.Context, generation, holder uuid.UUID, term int64) (err error) {
	started := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		j.holdLease(ctx, cancel, holder)
	}()
	defer func() {
		cancel(nil)
		<-renewed
		release, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer done()
		err = errors.Join(err, j.meta.Release(release, meta.LeaseRecovery, holder))
	}()
	stale, err := j.holdTopics(ctx, term)
	if err != nil {
		return err
	}
	if err := j.rescueFired(ctx, stale); err != nil {
		return err
	}
	held, err := j.holdGroups(ctx, term)
	if err != nil {
		return err
	}
	producers, err := j.holdTransactions(ctx, term)
	if err != nil {
		return err
	}
	now, err := j.meta.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the clock of Redis: %w", err)
	}
	scan, err := scanLog(ctx, j.store, "log/", j.log)
	if err != nil {
		return err
	}
	plan := replay.Replay(scan.segments, replay.Options{Exclusive: j.options.Exclusive, Now: now, Offsets: held.offsets})
	if err := j.logPlan(ctx, plan); err != nil {
		return err
	}
	if err := j.restore(ctx, plan, stale, term); err != nil {
		return err
	}
	if err := j.restoreGroups(ctx, plan, held, term); err != nil {
		return err
	}
	if err := j.restoreTransactions(ctx, plan, producers, term); err != nil {
		return err
	}
	if err := j.meta.FinishRecovery(ctx, generation); err != nil {
		return fmt.Errorf("finish the recovery: %w", err)
	}
	j.report(plan, scan, time.Since(started))
	return nil
}

// holdLease renews the recovery lease and ends ctx when it is lost.
func (j *Journal) holdLease(ctx context.Context, lost context.CancelCauseFunc, holder uuid.UUID) {
	renew := time.NewTicker(recoveryLease / 5)
	defer renew.Stop()
	held := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
		}
		_, ok, err := j.meta.Acquire(ctx, meta.LeaseRecovery, holder, recoveryLease)
		switch {
		case err == nil && ok:
			held = time.Now()
		case err == nil, time.Since(held) > recoveryLease:
			lost(errors.New("the recovery lease was lost"))
			return
		}
	}
}

// holdTopics makes every topic that Redis still has refuse commits and reads,
// before the log is listed: so no commit slips in between.
func (j *Journal) holdTopics(ctx context.Context, term int64) (map[uuid.UUID]meta.Topic, error) {
	topics, err := j.meta.KnownTopics(ctx)
	if err != nil {
		return nil, err
	}
	held := map[uuid.UUID]meta.Topic{}
	for _, t := range topics {
		if err := j.meta.HoldTopic(ctx, t.ID, term); err != nil {
			return nil, err
		}
		held[t.ID] = t
	}
	return held, nil
}

// logPlan makes the offsets that the plan gave, and the raised epochs, durable
// before anybody can read by them.
func (j *Journal) logPlan(ctx context.Context, plan replay.Plan) error {
	var receipts []segment.Receipt
	var states []controlRecord
	for _, t := range plan.Topics {
		receipts = append(receipts, t.Receipts...)
		if t.EpochRaised {
			state, err := newControlRecord(controlTopic, t.Snapshot.Topic)
			if err != nil {
				return err
			}
			states = append(states, state)
		}
	}
	for _, g := range plan.Groups {
		for _, rewound := range g.Rewound {
			state, err := newControlRecord(controlGroupOffsets, rewound)
			if err != nil {
				return err
			}
			states = append(states, state)
		}
	}
	if len(receipts) == 0 && len(states) == 0 {
		return nil
	}
	return writeLog(ctx, j.store, states, receipts)
}

// restore writes the planned topics into Redis. A topic that Redis had and the
// log does not know was never answered: it keeps its state, empty, unless the
// log holds its tombstone.
func (j *Journal) restore(ctx context.Context, plan replay.Plan, stale map[uuid.UUID]meta.Topic, term int64) error {
	for _, t := range plan.Topics {
		t.Snapshot.Term = term
		if err := j.meta.RestoreTopic(ctx, t.Snapshot); err != nil {
			return fmt.Errorf("restore topic %s: %w", t.Snapshot.Topic.Name, err)
		}
		delete(stale, t.Snapshot.Topic.ID)
	}
	for _, t := range stale {
		if plan.Ended[t.ID] {
			if _, err := j.meta.DeleteTopic(ctx, t.Name, 0); err != nil && !errors.Is(err, ErrTopicNotFound) {
				return fmt.Errorf("delete topic %s again: %w", t.Name, err)
			}
			continue
		}
		if err := j.meta.RestoreTopic(ctx, meta.TopicSnapshot{Topic: t, Term: term}); err != nil {
			return fmt.Errorf("restore topic %s: %w", t.Name, err)
		}
	}
	for _, writer := range plan.Waiting { // known again, so that it is adopted should it be dead
		if err := j.meta.Beat(ctx, writer); err != nil && !errors.Is(err, meta.ErrRolledBack) {
			return fmt.Errorf("register writer %s: %w", writer, err)
		}
	}
	return nil
}

func (j *Journal) report(plan replay.Plan, scan *logScan, took time.Duration) {
	raised, given := 0, 0
	for _, t := range plan.Topics {
		given += len(t.Receipts)
		if t.EpochRaised {
			raised++
			j.log.Warn("topic starts a new epoch: the order of its last messages is not proven",
				"topic", t.Snapshot.Topic.Name, "epoch", t.Snapshot.Topic.Epoch)
		}
		for _, h := range t.Holes {
			j.log.Error("offsets without messages", "topic", t.Snapshot.Topic.Name, "queue", h.Queue, "first", h.First, "next", h.Next)
		}
	}
	for _, g := range plan.Groups {
		for _, rewound := range g.Rewound {
			j.log.Warn("group is rewound: offsets were given anew", "group", g.Snapshot.Group.Name, "client", rewound.Client, "queues", len(rewound.Records))
		}
	}
	for _, id := range plan.Orphans {
		j.log.Error("messages of a topic without a readable state are kept and not shown", "topic_id", id)
	}
	j.log.Info("recovered from the bucket", "segments", len(scan.segments), "damaged", scan.damaged,
		"topics", len(plan.Topics), "epochs_raised", raised, "entries_given", given, "took", took)
}
