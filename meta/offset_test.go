package meta_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/bucketmq/bucketmq/meta"
)

var offsetCases = []testCase{
	{"CommitFollowsTheTable", commitFollowsTheTable},
	{"OverwriteGoesBack", overwriteGoesBack},
	{"AResetIsNotUndoneByCommitsInFlight", aResetIsNotUndone},
	{"StartOffsetsAreGivenOnce", startOffsetsAreGivenOnce},
	{"AMemberResetsOnlyWhatItOwns", aMemberResetsOnlyWhatItOwns},
	{"StopIsKept", stopIsKept},
	{"BroadcastClientsHaveProgressOfTheirOwn", broadcastClientsHaveProgressOfTheirOwn},
	{"GroupModel", groupModel},
}

// started makes a group with one member that owns the only queue, at offset 0.
func started(t testing.TB, e engine) (meta.Topic, meta.Group, meta.Member) {
	t.Helper()
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	m := mustJoin(t, e.db, subscribe(g, "c", topic)).Member
	deal(t, e.db, g, topic, 1, m.ID)
	return topic, g, m
}

func commitFollowsTheTable(t *testing.T, e engine) {
	for _, c := range []struct {
		version, offset int64
		status          string
		want            int64
	}{ // stored: version 3, offset 100 (SEMANTICS 25, 26)
		{3, 101, meta.OffsetStored, 101},
		{3, 100, meta.OffsetUnchanged, 100},
		{3, 99, meta.OffsetUnchanged, 100},
		{4, 5, meta.OffsetVersionConflict, 100},
		{2, 500, meta.OffsetVersionConflict, 100},
	} {
		topic, g, m := started(t, e)
		for _, offset := range []int64{7, 100} {
			_, err := e.db.ResetOffsets(t.Context(), g.ID, "", "op", []meta.OffsetReset{{Topic: topic.ID, Offset: offset}})
			check(t, err)
		}
		results, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: m.ID, By: m.ClientID},
			[]meta.OffsetCommit{{Topic: topic.ID, Offset: c.offset, Version: c.version, Epoch: 1}})
		check(t, err)
		r := results[0]
		if r.Status != c.status || r.Record.Offset != c.want || r.Record.Version != 3 {
			t.Errorf("(%d, %d): %+v, want %s at %d", c.version, c.offset, r, c.status, c.want)
		}
		records, err := e.db.Offsets(t.Context(), g.ID, topic.ID)
		check(t, err)
		equal(t, "stored", records, []meta.OffsetRecord{r.Record})
	}
}

func overwriteGoesBack(t *testing.T, e engine) {
	topic, g, m := started(t, e)
	for _, offset := range []int64{10, 5} {
		results, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: m.ID, Overwrite: true},
			[]meta.OffsetCommit{{Topic: topic.ID, Offset: offset, Version: 1, Epoch: 1}})
		check(t, err)
		if r := results[0]; r.Status != meta.OffsetStored || r.Record.Offset != offset {
			t.Errorf("commit %d: %+v", offset, r)
		}
	}
}

func aResetIsNotUndone(t *testing.T, e engine) {
	topic, g, m := started(t, e)
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for worker := range 10 {
		wg.Go(func() {
			<-begin
			for i := range 50 {
				_, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: m.ID},
					[]meta.OffsetCommit{{Topic: topic.ID, Offset: int64(1000 + 50*worker + i), Version: 1, Epoch: 1}})
				if err != nil {
					t.Errorf("commit: %v", err)
				}
			}
		})
	}
	close(begin)
	moved, err := e.db.ResetOffsets(t.Context(), g.ID, "", "op", []meta.OffsetReset{{Topic: topic.ID, Offset: 4}})
	check(t, err)
	wg.Wait()
	records, err := e.db.Offsets(t.Context(), g.ID, topic.ID)
	check(t, err)
	if r := records[0]; r.Offset != 4 || r.Version != 2 || moved[0].New != r {
		t.Errorf("after the race: %+v, the reset said %+v", r, moved[0])
	}
}

func startOffsetsAreGivenOnce(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 3), newGroup(t, e.db)
	at := func(queues ...uint32) (starts []meta.OffsetStart) {
		for _, q := range queues {
			starts = append(starts, meta.OffsetStart{Topic: topic.ID, Queue: q, First: 90 + int64(q), Min: 10 + int64(q)})
		}
		return starts
	}
	check(t, e.db.InitOffsets(t.Context(), g.ID, 0, at(0, 1)))
	check(t, e.db.InitOffsets(t.Context(), g.ID, 3, at(0, 1, 2)))
	records, err := e.db.AllOffsets(t.Context(), g.ID)
	check(t, err)
	got := map[uint32]int64{}
	for _, r := range records {
		got[r.Queue] = r.Offset
		if r.Start != r.Offset || r.Version != 1 || r.Stopped || r.CreatedAt == 0 {
			t.Errorf("record: %+v", r)
		}
	}
	equal(t, "offsets", got, map[uint32]int64{0: 90, 1: 91, 2: 12}) // queue 2 came later: it starts at its minimum
}

func aMemberResetsOnlyWhatItOwns(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 2), newGroup(t, e.db)
	a := mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID
	b := mustJoin(t, e.db, subscribe(g, "b", topic)).Member.ID
	deal(t, e.db, g, topic, 1, a, b)
	moved, err := e.db.ResetOffsets(t.Context(), g.ID, a, "a", []meta.OffsetReset{
		{Topic: topic.ID, Queue: 0, Offset: 5, Epoch: 1}, {Topic: topic.ID, Queue: 1, Offset: 5, Epoch: 1},
		{Topic: topic.ID, Queue: 0, Offset: 6, Epoch: 1, IfVersion: 9},
	})
	check(t, err)
	equal(t, "statuses", []string{moved[0].Status, moved[1].Status, moved[2].Status}, []string{meta.OffsetStored, meta.OffsetNotOwner, meta.OffsetVersionConflict})
	if moved[0].Old.Offset != 0 || moved[0].New.Offset != 5 || moved[0].New.Version != 2 {
		t.Errorf("moved: %+v", moved[0])
	}
}

func stopIsKept(t *testing.T, e engine) {
	topic, g, m := started(t, e)
	r, err := e.db.SetStopped(t.Context(), g.ID, topic.ID, 0, true, "op")
	check(t, err)
	if !r.Stopped || r.By != "op" {
		t.Errorf("stopped: %+v", r)
	}
	results, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: m.ID, By: "c"}, []meta.OffsetCommit{{Topic: topic.ID, Offset: 2, Version: 1, Epoch: 1}})
	check(t, err) // the last progress of a queue that was just stopped counts
	if r := results[0]; r.Status != meta.OffsetStored || !r.Record.Stopped {
		t.Errorf("commit: %+v", r)
	}
	if _, err = e.db.SetStopped(t.Context(), g.ID, topic.ID, 9, true, "op"); !errors.Is(err, meta.ErrNoOffset) {
		t.Errorf("stop of a queue without offset: %v", err)
	}
}

func broadcastClientsHaveProgressOfTheirOwn(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	for i, client := range []string{"x", "y"} {
		r := subscribe(g, client, topic)
		r.Member.Kind = meta.KindBroadcast
		j := mustJoin(t, e.db, r)
		results, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: j.Member.ID, By: client, Client: client},
			[]meta.OffsetCommit{{Topic: topic.ID, Offset: int64(10 + i), Version: 1}})
		check(t, err)
		equal(t, "commit", results[0].Status, meta.OffsetStored)
		check(t, e.db.Leave(t.Context(), g.ID, j.Member.ID))
	}
	all, err := e.db.BroadcastOffsets(t.Context(), g.ID)
	check(t, err)
	got := map[string]int64{}
	for _, p := range all {
		got[p.ClientID] = p.Offsets[0].Offset
	}
	equal(t, "progress", got, map[string]int64{"x": 10, "y": 11})
	again := subscribe(g, "x", topic)
	again.Member.Kind, again.Starts[0].First = meta.KindBroadcast, 99
	mustJoin(t, e.db, again)
	records, err := e.db.BroadcastClient(t.Context(), g.ID, "x", topic.ID)
	check(t, err)
	equal(t, "progress after coming back", records[0].Offset, 10)
	if shared, err := e.db.AllOffsets(t.Context(), g.ID); err != nil || len(shared) > 0 {
		t.Errorf("offsets of the group itself: %v, %v", shared, err)
	}
}

// groupModel: whatever members and coordinator do, commits are accepted from one
// owner of a queue in an epoch, and an offset never goes back within a version.
func groupModel(t *testing.T, e engine) {
	rapid.Check(t, func(rt *rapid.T) {
		const queues = 3
		topic, g := newTopic(t, e.db, queues), newGroup(t, e.db)
		var members []string
		owners := map[string]string{} // queue, epoch → who committed
		offsets := map[string]int64{} // queue, version → highest committed
		last := map[uint32]meta.OffsetRecord{}
		members = append(members, mustJoin(t, e.db, subscribe(g, "c0", topic)).Member.ID)
		for step := range rapid.IntRange(5, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 7).Draw(rt, "what") {
			case 0:
				client := fmt.Sprint("c", rapid.IntRange(0, 3).Draw(rt, "client"))
				members = append(members, mustJoin(t, e.db, subscribe(g, client, topic)).Member.ID)
			case 1:
				check(t, e.db.Leave(t.Context(), g.ID, rapid.SampledFrom(members).Draw(rt, "leaves")))
			case 2:
				check(t, e.db.MemberLost(t.Context(), g.ID, rapid.SampledFrom(members).Draw(rt, "lost"), "", 0))
				_, err := e.db.ExpireMembers(t.Context(), g.ID, int64(step))
				if err != nil && !errors.Is(err, meta.ErrFenced) {
					rt.Fatal(err)
				}
			case 3, 4:
				s := stateOf(t, e.db, g)
				var targets []meta.Target
				for q := range uint32(queues) {
					target := meta.Target{Topic: topic.ID, Queue: q}
					if len(s.Members) > 0 {
						target.Owner = s.Members[rapid.IntRange(0, len(s.Members)-1).Draw(rt, "owner")].ID
					}
					targets = append(targets, target)
				}
				_, _, err := e.db.Assign(t.Context(), g.ID, s.Term, s.Revision, "model", targets, nil)
				check(t, err)
			case 5:
				m := rapid.SampledFrom(members).Draw(rt, "releases")
				state, err := e.db.Heartbeat(t.Context(), g.ID, m, 1e12, nil)
				if err == nil {
					_, err = e.db.Heartbeat(t.Context(), g.ID, m, 1e12, state.Assigned)
				}
				if err != nil && !errors.Is(err, meta.ErrMemberUnknown) && !errors.Is(err, meta.ErrFencedMember) {
					rt.Fatal(err)
				}
			case 6:
				q := uint32(rapid.IntRange(0, queues-1).Draw(rt, "queue"))
				_, err := e.db.ResetOffsets(t.Context(), g.ID, "", "op", []meta.OffsetReset{{Topic: topic.ID, Queue: q, Offset: int64(rapid.IntRange(0, 50).Draw(rt, "to"))}})
				check(t, err)
			}
			m := rapid.SampledFrom(members).Draw(rt, "commits")
			c := meta.OffsetCommit{
				Topic: topic.ID, Queue: uint32(rapid.IntRange(0, queues-1).Draw(rt, "queue")), Offset: int64(rapid.IntRange(0, 50).Draw(rt, "offset")),
				Version: int64(rapid.IntRange(1, 4).Draw(rt, "version")), Epoch: int64(rapid.IntRange(1, 6).Draw(rt, "epoch")),
			}
			if r := last[c.Queue]; rapid.Bool().Draw(rt, "informed") {
				s := stateOf(t, e.db, g)
				c.Version = max(1, r.Version)
				for _, a := range s.Assignments {
					if a.Queue == c.Queue {
						c.Epoch = a.Epoch
						m = a.Owner
					}
				}
			}
			results, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: m, By: m}, []meta.OffsetCommit{c})
			if errors.Is(err, meta.ErrMemberUnknown) || errors.Is(err, meta.ErrFencedMember) {
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			r := results[0].Record
			last[c.Queue] = r
			if results[0].Status != meta.OffsetStored {
				continue
			}
			owner := fmt.Sprint(c.Queue, " in ", c.Epoch)
			if other, known := owners[owner]; known && other != m {
				rt.Fatalf("queue %s has two owners: %s and %s", owner, other, m)
			}
			owners[owner] = m
			version := fmt.Sprint(c.Queue, " version ", r.Version)
			if r.Version != c.Version || r.Offset != c.Offset || r.Offset <= offsets[version] && offsets[version] != 0 {
				rt.Fatalf("commit %+v stored %+v after %d", c, r, offsets[version])
			}
			offsets[version] = r.Offset
		}
	})
}

func BenchmarkAssign1000Queues100Members(b *testing.B) {
	for _, kind := range []string{"embedded", "standalone"} {
		b.Run(kind, func(b *testing.B) {
			e := newEngine(b, kind)
			topic, g := newTopic(b, e.db, 1000), newGroup(b, e.db)
			var members []string
			for i := range 100 {
				r := subscribe(g, fmt.Sprint("c", i), topic)
				if i > 0 {
					r.Starts = nil
				}
				members = append(members, mustJoin(b, e.db, r).Member.ID)
			}
			turn := 0
			for b.Loop() {
				owners := make([]string, 1000)
				for q := range owners {
					owners[q] = members[(q+turn)%len(members)]
				}
				turn++
				deal(b, e.db, g, topic, 1, owners...)
			}
		})
	}
}
