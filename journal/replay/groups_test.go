package replay_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
)

var groupID = uuid.MustParse("01900000-0000-7000-8000-00000000000b")

func billing(version int64) meta.Group {
	return meta.Group{ID: groupID, Name: "billing", Version: version, CreatedAt: now - 5000, MaxMembers: int(version)}
}

func withGroup(g meta.Group) func(*replay.Segment) {
	return func(s *replay.Segment) { s.Groups = append(s.Groups, g) }
}

func progressed(client string, records ...meta.OffsetRecord) func(*replay.Segment) {
	return func(s *replay.Segment) {
		s.Offsets = append(s.Offsets, replay.GroupOffsets{Group: groupID, Client: client, Records: records})
	}
}

func record(queue uint32, offset, version, updated int64) meta.OffsetRecord {
	return meta.OffsetRecord{Topic: topicID, Queue: queue, Offset: offset, Version: version, UpdatedAt: updated, By: "c"}
}

// progressOf replays the only group: queue → offset and version.
func progressOf(t *testing.T, b bucket, o replay.Options) (replay.Group, map[uint32][2]int64) {
	t.Helper()
	o.Now = now
	plan := replay.Replay(b, o)
	if len(plan.Groups) != 1 {
		t.Fatalf("got %d groups, want 1: %+v", len(plan.Groups), plan)
	}
	got := map[uint32][2]int64{}
	for _, r := range plan.Groups[0].Snapshot.Offsets {
		got[r.Queue] = [2]int64{r.Offset, r.Version}
	}
	return plan.Groups[0], got
}

func TestTheNewestStateOfAGroupCounts(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 9), receipt(alice, 1, 0, 0, 9, 16, 1), withGroup(billing(2)),
		func(s *replay.Segment) {
			s.Settings = append(s.Settings, replay.GroupSettings{Group: groupID, Settings: meta.Settings{Topic: topicID, Version: 2, Concurrency: 7}})
		})
	b.put(bob, 1, withGroup(billing(1)), func(s *replay.Segment) {
		s.Settings = append(s.Settings,
			replay.GroupSettings{Group: groupID, Settings: meta.Settings{Topic: topicID, Version: 1}},
			replay.GroupSettings{Group: groupID, Settings: meta.Settings{Topic: uuid.New(), Version: 1}}) // of a topic that ended
	})
	for range 2 {
		g, _ := progressOf(t, b, replay.Options{})
		if s := g.Snapshot; s.Group.Version != 2 || len(s.Settings) != 1 || s.Settings[0].Concurrency != 7 {
			t.Errorf("got %+v", s)
		}
		slices.Reverse(b)
	}
}

func TestTheNewestProgressCounts(t *testing.T) {
	for name, c := range map[string]struct {
		logged, kept []meta.OffsetRecord
		want         [2]int64
	}{
		"later":                       {logged: []meta.OffsetRecord{record(0, 3, 1, now-30), record(0, 5, 1, now-20)}, want: [2]int64{5, 1}},
		"later, though it went back":  {logged: []meta.OffsetRecord{record(0, 5, 1, now-30), record(0, 3, 1, now-20)}, want: [2]int64{3, 1}},
		"a reset":                     {logged: []meta.OffsetRecord{record(0, 8, 1, now-10), record(0, 2, 2, now-20)}, want: [2]int64{2, 2}},
		"at the same time the lower":  {logged: []meta.OffsetRecord{record(0, 8, 1, now), record(0, 2, 1, now)}, want: [2]int64{2, 1}},
		"what redis still has":        {logged: []meta.OffsetRecord{record(0, 3, 1, now-30)}, kept: []meta.OffsetRecord{record(0, 6, 1, now-20)}, want: [2]int64{6, 1}},
		"not what an older redis has": {logged: []meta.OffsetRecord{record(0, 6, 1, now-20)}, kept: []meta.OffsetRecord{record(0, 3, 1, now-30)}, want: [2]int64{6, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bucket
			b.put(alice, 1, withTopic(orders()), messages(0, 9), receipt(alice, 1, 0, 0, 9, 16, 1), withGroup(billing(1)), progressed("", c.logged...))
			o := replay.Options{Offsets: []replay.GroupOffsets{{Group: groupID, Records: c.kept}}}
			g, got := progressOf(t, b, o)
			if got[0] != c.want || len(g.Rewound) > 0 {
				t.Errorf("got %v, want %v; rewound %+v", got[0], c.want, g.Rewound)
			}
		})
	}
}

// Two writers left tails on queue 0: what lies behind offset 4 is numbered anew,
// so whoever was beyond it goes back there. Queue 1 keeps its order.
func TestGroupsBeyondRenumberedOffsetsAreRewound(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 4), messages(1, 5), withGroup(billing(1)))
	b.put(alice, 2, messages(0, 3), receipt(alice, 1, 0, 0, 4, 16, 1), receipt(alice, 1, 1, 0, 5, 416, 1))
	b.put(bob, 1, messages(0, 2),
		progressed("", record(0, 7, 3, now-20), record(1, 5, 1, now-20)),
		progressed("x", record(0, 6, 1, now-20)), progressed("y", record(0, 2, 1, now-20)))
	topic := one(t, b, replay.Options{})
	if diff := cmp.Diff(map[uint32]int64{0: 4}, topic.Renumbered); diff != "" || !topic.EpochRaised {
		t.Errorf("renumbered (-want +got):\n%s", diff)
	}
	g, got := progressOf(t, b, replay.Options{})
	if diff := cmp.Diff(map[uint32][2]int64{0: {4, 4}, 1: {5, 1}}, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if x, y := g.Snapshot.Broadcast["x"][0], g.Snapshot.Broadcast["y"][0]; x.Offset != 4 || x.Version != 2 || y.Offset != 2 || y.Version != 1 {
		t.Errorf("clients: %+v, %+v", x, y)
	}
	if len(g.Rewound) != 2 {
		t.Fatalf("rewound: %+v", g.Rewound)
	}
	// Once logged, the rewound progress wins over the older one.
	for _, r := range g.Rewound {
		b.put(bob, uint64(len(b)), progressed(r.Client, r.Records...))
	}
	for i, r := range topic.Receipts {
		b[i%2].Footer.Receipts = append(b[i%2].Footer.Receipts, r)
	}
	again, got := progressOf(t, b, replay.Options{})
	if got[0] != [2]int64{4, 4} || len(again.Rewound) > 0 {
		t.Errorf("replayed again: %v, rewound %+v", got[0], again.Rewound)
	}
}

func TestAGroupBeyondTheEndGoesBackToIt(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 4), receipt(alice, 1, 0, 0, 4, 16, 1), withGroup(billing(1)),
		progressed("", record(0, 6, 1, now-20), record(1, 2, 1, now-20)))
	g, got := progressOf(t, b, replay.Options{})
	if diff := cmp.Diff(map[uint32][2]int64{0: {4, 2}, 1: {0, 2}}, got); diff != "" || len(g.Rewound) != 1 {
		t.Errorf("progress (-want +got):\n%s rewound %+v", diff, g.Rewound)
	}
}

func TestEndedGroupsAndProgressInEndedTopicsAreLeftOut(t *testing.T) {
	var b bucket
	deleted, older := billing(2), billing(1)
	deleted.Deleted = true
	older.ID, older.CreatedAt = uuid.MustParse("01900000-0000-7000-8000-00000000000c"), now-9000
	other := record(0, 1, 1, now)
	other.Topic = uuid.New()
	b.put(alice, 1, withTopic(orders()), withGroup(billing(1)), withGroup(deleted), withGroup(older), progressed("", other))
	plan := replay.Replay(b, replay.Options{Now: now})
	if !plan.EndedGroups[groupID] || len(plan.Groups) != 1 || plan.Groups[0].Snapshot.Group.ID != older.ID || len(plan.Groups[0].Snapshot.Offsets) > 0 {
		t.Errorf("plan: %+v", plan)
	}
	b.put(alice, 2, progressed("", record(0, 1, 1, now))) // of a group without a readable definition
	if plan := replay.Replay(b[1:], replay.Options{Now: now}); len(plan.Groups) > 0 || len(plan.EndedGroups) > 0 {
		t.Errorf("plan: %+v", plan)
	}
}
