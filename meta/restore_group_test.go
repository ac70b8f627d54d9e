package meta_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var restoreGroupCases = []testCase{
	{"RestoredGroupIsWhereItWas", restoredGroupIsWhereItWas},
	{"HeldGroupRecovers", heldGroupRecovers},
	{"OlderRestoreOfAGroupIsFenced", olderRestoreOfAGroupIsFenced},
}

func sorted(records []meta.OffsetRecord) []meta.OffsetRecord {
	slices.SortFunc(records, func(a, b meta.OffsetRecord) int { return int(a.Queue) - int(b.Queue) })
	return records
}

func restoredGroupIsWhereItWas(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 2), newGroup(t, e.db)
	j := mustJoin(t, e.db, subscribe(g, "c", topic))
	deal(t, e.db, g, topic, 5, j.Member.ID, j.Member.ID)
	stale, err := e.db.PutGroupSettings(t.Context(), g.ID, meta.Settings{Topic: uuid.New()}, 0)
	check(t, err)
	s := meta.GroupSnapshot{
		Group: g, Term: 3, Settings: []meta.Settings{{Topic: topic.ID, Version: 4, Concurrency: 2}},
		Offsets:   []meta.OffsetRecord{{Topic: topic.ID, Queue: 1, Offset: 8, Version: 2, Start: 1, Stopped: true, UpdatedAt: 9, CreatedAt: 5, By: "some body"}},
		Broadcast: map[string][]meta.OffsetRecord{"x y": {{Topic: topic.ID, Offset: 3, Version: 1, UpdatedAt: 9, CreatedAt: 5, By: "x y"}}},
	}
	for range 2 { // it may be repeated
		check(t, e.db.RestoreGroup(t.Context(), s))
		got, err := e.db.Group(t.Context(), g.Name)
		check(t, err)
		equal(t, "group", got, g)
		records, err := e.db.AllOffsets(t.Context(), g.ID)
		check(t, err)
		equal(t, "offsets", sorted(records), s.Offsets)
		clients, err := e.db.BroadcastOffsets(t.Context(), g.ID)
		check(t, err)
		equal(t, "clients", clients, []meta.BroadcastProgress{{ClientID: "x y", Offsets: s.Broadcast["x y"]}})
		settings, err := e.db.GroupSettings(t.Context(), g.ID)
		check(t, err)
		if _, kept := settings[stale.Topic]; kept || settings[topic.ID].Concurrency != 2 {
			t.Errorf("settings: %+v", settings)
		}
		state := stateOf(t, e.db, g)
		if len(state.Members)+len(state.Assignments) > 0 || state.Generation != 1 {
			t.Errorf("state: %+v", state)
		}
	}
	if _, err := e.db.Heartbeat(t.Context(), g.ID, j.Member.ID, time.Minute, nil); !errors.Is(err, meta.ErrMemberUnknown) {
		t.Errorf("heartbeat of a member from before: %v", err)
	}
	_, _, err = e.db.Assign(t.Context(), g.ID, 4, stateOf(t, e.db, g).Revision, "late", nil, nil)
	if !errors.Is(err, meta.ErrFenced) { // the coordinator's term is kept as well
		t.Errorf("assign under an old term: %v", err)
	}
}

func heldGroupRecovers(t *testing.T, e engine) {
	topic, g, m := started(t, e)
	check(t, e.db.HoldGroup(t.Context(), g.ID, 1))
	for what, err := range map[string]error{
		"commit":    second(e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: m.ID}, []meta.OffsetCommit{{Topic: topic.ID, Offset: 1, Version: 1, Epoch: 1}})),
		"heartbeat": second(e.db.Heartbeat(t.Context(), g.ID, m.ID, time.Minute, nil)),
		"join":      second(e.db.Join(t.Context(), subscribe(g, "d", topic))),
		"reset":     second(e.db.ResetOffsets(t.Context(), g.ID, "", "op", []meta.OffsetReset{{Topic: topic.ID}})),
		"expire":    second(e.db.ExpireMembers(t.Context(), g.ID, 9)),
		"state":     second(e.db.GroupState(t.Context(), g.ID)),
		"settings":  second(e.db.PutGroupSettings(t.Context(), g.ID, meta.Settings{Topic: topic.ID}, 0)),
		"stop":      second(e.db.SetStopped(t.Context(), g.ID, topic.ID, 0, true, "op")),
		"start":     e.db.InitOffsets(t.Context(), g.ID, 0, []meta.OffsetStart{{Topic: topic.ID}}),
		"update":    second(e.db.UpdateGroup(t.Context(), g, 0)),
	} {
		if !errors.Is(err, meta.ErrRecovering) {
			t.Errorf("%s of a held group: %v, want ErrRecovering", what, err)
		}
	}
	known, err := e.db.KnownGroups(t.Context())
	check(t, err)
	if !slices.ContainsFunc(known, func(k meta.Group) bool { return k.ID == g.ID }) {
		t.Error("a held group is not known")
	}
}

func olderRestoreOfAGroupIsFenced(t *testing.T, e engine) {
	g := newGroup(t, e.db)
	check(t, e.db.HoldGroup(t.Context(), g.ID, 7))
	if err := e.db.RestoreGroup(t.Context(), meta.GroupSnapshot{Group: g, Term: 6}); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("an older recovery: %v", err)
	}
	check(t, e.db.RestoreGroup(t.Context(), meta.GroupSnapshot{Group: g, Term: 7}))
	check(t, e.db.HoldGroup(t.Context(), g.ID, 8))
}
