package journal_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// group makes a group of one topic, whose start offsets are in the log.
func (n *process) group(t *testing.T, name string, topic meta.Topic, start int64) meta.Group {
	t.Helper()
	g, err := n.db.CreateGroup(t.Context(), meta.Group{Name: name, Mode: meta.ModeClustering, CommitPolicy: meta.CommitMonotonic})
	if err == nil {
		err = n.RecordGroup(t.Context(), g)
	}
	var starts []meta.OffsetStart
	for q := range topic.Queues {
		starts = append(starts, meta.OffsetStart{Topic: topic.ID, Queue: q, First: start})
	}
	if err == nil {
		err = n.db.InitOffsets(t.Context(), g.ID, 0, starts)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.logProgress(t, g)
	return g
}

func (n *process) logProgress(t *testing.T, g meta.Group) {
	t.Helper()
	records, err := n.db.AllOffsets(t.Context(), g.ID)
	if err == nil {
		err = n.RecordGroupOffsets(t.Context(), g.ID, "", records)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (n *process) consumed(t *testing.T, g meta.Group, topic meta.Topic, offset int64) {
	t.Helper()
	results, err := n.db.CommitOffsets(t.Context(), g.ID, meta.Committer{By: "c"}, []meta.OffsetCommit{{Topic: topic.ID, Offset: offset, Version: 1}})
	if err != nil || results[0].Status != meta.OffsetStored {
		t.Fatalf("commit %d: %+v, %v", offset, results, err)
	}
}

// progress waits until the group can be used and returns its record of queue 0.
func (n *process) progress(t *testing.T, name string) meta.OffsetRecord {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		g, err := n.db.Group(t.Context(), name)
		var records []meta.OffsetRecord
		if err == nil {
			_, err = n.db.GroupState(t.Context(), g.ID) // it is open
		}
		if err == nil {
			records, err = n.db.AllOffsets(t.Context(), g.ID)
		}
		for _, r := range records {
			if r.Queue == 0 {
				return r
			}
		}
		if time.Since(began) > 15*time.Second {
			t.Fatalf("group %s is not back: %v", name, err)
		}
	}
}

// awaitRecovery waits until Redis was recovered since a state.
func (n *process) awaitRecovery(t *testing.T, before meta.State) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		state, err := n.db.State(t.Context())
		if err == nil && state.Phase == meta.PhaseReady && state.Generation != before.Generation {
			return
		}
		if time.Since(began) > 15*time.Second {
			t.Fatalf("not recovered: %+v, %v", state, err)
		}
	}
}

// What was consumed and logged is not consumed again, what was consumed and not
// logged is, and nothing is skipped.
func TestGroupsSurviveTheLossOfRedis(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	topic := j.topic(t, "orders", 2)
	for i := range 10 {
		j.mustSend(t, "orders", fmt.Sprint("m", i), 0)
	}
	logged, unlogged, ended := j.group(t, "logged", topic, 0), j.group(t, "unlogged", topic, 2), j.group(t, "ended", topic, 0)
	j.consumed(t, logged, topic, 7)
	j.logProgress(t, logged)
	j.consumed(t, logged, topic, 9)
	j.consumed(t, unlogged, topic, 8)
	tombstone, err := j.db.DeleteGroup(t.Context(), "ended", 0, true)
	if err == nil {
		err = j.RecordGroup(t.Context(), tombstone)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.redis.Flush()
	j.mustSend(t, "orders", "notices it", 0)
	if r := j.progress(t, "logged"); r.Offset != 7 || r.Version != 1 || r.Start != 0 {
		t.Errorf("logged: %+v, want 7 under version 1", r)
	}
	if r := j.progress(t, "unlogged"); r.Offset != 2 {
		t.Errorf("unlogged: %+v, want its start, 2", r)
	}
	if _, err := j.db.Group(t.Context(), "ended"); !errors.Is(err, meta.ErrGroupNotFound) {
		t.Errorf("ended: %v", err)
	}
	if _, err := j.db.GroupByID(t.Context(), ended.ID); !errors.Is(err, meta.ErrGroupNotFound) {
		t.Errorf("ended, by id: %v", err)
	}
}

// A Redis that only restarted still knows how far the groups are.
func TestGroupsOfARedisThatOnlyRestartedGoOn(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	topic := j.topic(t, "orders", 1)
	for i := range 10 {
		j.mustSend(t, "orders", fmt.Sprint("m", i), 0)
	}
	g := j.group(t, "billing", topic, 0)
	before, err := j.db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j.consumed(t, g, topic, 6)
	p.rollBack(func() {})
	j.awaitRecovery(t, before)
	if r := j.progress(t, "billing"); r.Offset != 6 || r.Version != 1 {
		t.Errorf("progress: %+v, want 6 under version 1", r)
	}
}

// A group whose creation was never answered keeps its definition.
func TestAGroupThatWasNotLoggedKeepsItsDefinition(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	j.topic(t, "orders", 1)
	j.mustSend(t, "orders", "m", 0)
	g, err := j.db.CreateGroup(t.Context(), meta.Group{Name: "young", MaxMembers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Journal.RecordGroupOffsets(t.Context(), uuid.New(), "", nil); err != nil {
		t.Errorf("nothing to record: %v", err)
	}
	before, _ := j.db.State(t.Context())
	p.rollBack(func() {})
	j.awaitRecovery(t, before)
	got, err := j.db.Group(t.Context(), "young")
	if err != nil || got.ID != g.ID || got.MaxMembers != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}
