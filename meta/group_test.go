package meta_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var groupCases = []testCase{
	{"GroupRoundTrip", groupRoundTrip},
	{"GroupNameIsGivenOnce", groupNameIsGivenOnce},
	{"GroupUpdateChecksTheVersion", groupUpdateChecksTheVersion},
	{"DeletedGroupRefusesWhatComesLate", deletedGroupRefusesWhatComesLate},
	{"GroupsArePagedByName", groupsArePagedByName},
	{"SettingsCheckTheVersion", settingsCheckTheVersion},
	{"SameClientFencesTheOlder", sameClientFencesTheOlder},
	{"SessionKeyFindsTheMemberAgain", sessionKeyFindsTheMemberAgain},
	{"TheLastConnectionIsTheMembers", theLastConnectionIsTheMembers},
	{"OtherSubscriptionsAreRefusedAndShown", otherSubscriptionsAreRefusedAndShown},
	{"SilentMembersExpire", silentMembersExpire},
	{"QueuesChangeHandsOneOwnerAtATime", queuesChangeHandsOneOwnerAtATime},
	{"ARevocationEndsAtItsDeadline", aRevocationEndsAtItsDeadline},
	{"QueuesOfThoseWhoLeftAreFree", queuesOfThoseWhoLeftAreFree},
	{"ARevocationIsTakenBack", aRevocationIsTakenBack},
	{"AnOldTermChangesNothing", anOldTermChangesNothing},
	{"AnAssignmentGoesByTheNewestState", anAssignmentGoesByTheNewestState},
	{"GroupFeedTellsEveryChange", groupFeedTellsEveryChange},
}

// newGroup makes a group under a name of its own.
func newGroup(t testing.TB, db *meta.DB) meta.Group {
	t.Helper()
	g, err := db.CreateGroup(t.Context(), meta.Group{
		Name: "g-" + uuid.NewString(), Mode: meta.ModeClustering, Strategy: "averagely", ConsumeFrom: meta.ConsumeFromLast,
		InvisibleMS: 60_000, SessionTimeoutMS: 120_000, ResumeWindowMS: 10_000, RevokeTimeoutMS: 15_000,
		CommitPolicy: meta.CommitMonotonic, NackDelaysMS: []int64{1000},
	})
	check(t, err)
	return g
}

// subscribe is a request to join with one topic.
func subscribe(g meta.Group, client string, topic meta.Topic) meta.JoinRequest {
	r := meta.JoinRequest{Group: g.ID, Timeout: time.Minute, Member: meta.Member{
		ClientID: client, Kind: meta.KindQueue, Transport: "http", Address: "127.0.0.1:1",
		Subscriptions: []meta.Subscription{{Topic: topic.Name, TopicID: topic.ID}},
	}}
	for q := range topic.Queues {
		r.Starts = append(r.Starts, meta.OffsetStart{Topic: topic.ID, Queue: q})
	}
	return r
}

func mustJoin(t testing.TB, db *meta.DB, r meta.JoinRequest) meta.Joined {
	t.Helper()
	j, err := db.Join(t.Context(), r)
	check(t, err)
	return j
}

func stateOf(t testing.TB, db *meta.DB, g meta.Group) meta.GroupState {
	t.Helper()
	s, err := db.GroupState(t.Context(), g.ID)
	check(t, err)
	return s
}

// deal assigns every queue of a topic, queue i to owners[i].
func deal(t testing.TB, db *meta.DB, g meta.Group, topic meta.Topic, term int64, owners ...string) int64 {
	t.Helper()
	var targets []meta.Target
	for q, owner := range owners {
		targets = append(targets, meta.Target{Topic: topic.ID, Queue: uint32(q), Owner: owner})
	}
	generation, _, err := db.Assign(t.Context(), g.ID, term, stateOf(t, db, g).Revision, "test", targets, nil)
	check(t, err)
	return generation
}

// claims prints who has which queue: owner, or owner>next while it is revoked.
func claims(s meta.GroupState, names map[string]string) string {
	slices.SortFunc(s.Assignments, func(a, b meta.Assignment) int { return int(a.Queue) - int(b.Queue) })
	var words []string
	for _, a := range s.Assignments {
		word := fmt.Sprintf("%d:%s@%d", a.Queue, names[a.Owner], a.Epoch)
		if a.State == meta.StateRevoking {
			word += fmt.Sprintf(">%s@%d", names[a.Next], a.NextEpoch)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func groupRoundTrip(t *testing.T, e engine) {
	made := newGroup(t, e.db)
	if made.ID == uuid.Nil || made.Version != 1 || made.CreatedAt == 0 || made.UpdatedAt != made.CreatedAt {
		t.Errorf("new group: %+v", made)
	}
	got, err := e.db.Group(t.Context(), made.Name)
	check(t, err)
	equal(t, "by name", got, made)
	got, err = e.db.GroupByID(t.Context(), made.ID)
	check(t, err)
	equal(t, "by id", got, made)
	for _, err := range []error{second(e.db.Group(t.Context(), "nobody")), second(e.db.GroupByID(t.Context(), uuid.New())), second(e.db.GroupState(t.Context(), uuid.New()))} {
		if !errors.Is(err, meta.ErrGroupNotFound) {
			t.Errorf("unknown group: got %v", err)
		}
	}
}

func groupNameIsGivenOnce(t *testing.T, e engine) {
	name := "once-" + uuid.NewString()
	var created atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := e.db.CreateGroup(t.Context(), meta.Group{Name: name, MaxMembers: 3})
			var exists *meta.GroupExistsError
			switch {
			case err == nil:
				created.Add(1)
			case !errors.As(err, &exists) || exists.Current.MaxMembers != 3:
				t.Errorf("create: %v", err)
			}
		})
	}
	wg.Wait()
	if n := created.Load(); n != 1 {
		t.Errorf("created %d times", n)
	}
}

func groupUpdateChecksTheVersion(t *testing.T, e engine) {
	g := newGroup(t, e.db)
	before := stateOf(t, e.db, g).Revision
	g.MaxMembers = 7
	updated, err := e.db.UpdateGroup(t.Context(), g, 1)
	check(t, err)
	if updated.Version != 2 || updated.MaxMembers != 7 {
		t.Errorf("updated: %+v", updated)
	}
	if after := stateOf(t, e.db, g).Revision; after <= before {
		t.Errorf("revision %d after %d: no rebalance would follow", after, before)
	}
	var conflict *meta.GroupConflictError
	if _, err = e.db.UpdateGroup(t.Context(), g, 1); !errors.As(err, &conflict) || conflict.Current.Version != 2 {
		t.Errorf("update of version 1: %v", err)
	}
}

func deletedGroupRefusesWhatComesLate(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 2), newGroup(t, e.db)
	j := mustJoin(t, e.db, subscribe(g, "c", topic))
	if _, err := e.db.DeleteGroup(t.Context(), g.Name, 0, false); !errors.Is(err, meta.ErrGroupActive) {
		t.Fatalf("delete with a member: %v", err)
	}
	_, err := e.db.DeleteGroup(t.Context(), g.Name, 0, true)
	check(t, err)
	_, err = e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: j.Member.ID}, []meta.OffsetCommit{{Topic: topic.ID, Offset: 1, Version: 1}})
	if !errors.Is(err, meta.ErrGroupNotFound) {
		t.Errorf("late commit: %v", err)
	}
	if _, err = e.db.Heartbeat(t.Context(), g.ID, j.Member.ID, time.Minute, nil); !errors.Is(err, meta.ErrGroupNotFound) {
		t.Errorf("late heartbeat: %v", err)
	}
	again, err := e.db.CreateGroup(t.Context(), meta.Group{Name: g.Name})
	check(t, err)
	if again.ID == g.ID {
		t.Error("the new group has the id of the old one")
	}
	if records, err := e.db.AllOffsets(t.Context(), again.ID); err != nil || len(records) > 0 {
		t.Errorf("the new group has offsets %v, %v", records, err)
	}
}

func groupsArePagedByName(t *testing.T, e engine) {
	prefix := "p-" + uuid.NewString()[:8] + "-"
	for _, name := range []string{"c", "a", "d", "b"} {
		_, err := e.db.CreateGroup(t.Context(), meta.Group{Name: prefix + name})
		check(t, err)
	}
	var got []string
	for after := ""; ; {
		page, err := e.db.Groups(t.Context(), prefix, after, 3)
		check(t, err)
		if len(page) == 0 {
			break
		}
		for _, g := range page {
			got = append(got, strings.TrimPrefix(g.Name, prefix))
		}
		after = page[len(page)-1].Name
	}
	equal(t, "groups", got, []string{"a", "b", "c", "d"})
}

func settingsCheckTheVersion(t *testing.T, e engine) {
	g, topic := newGroup(t, e.db), uuid.New()
	first, err := e.db.PutGroupSettings(t.Context(), g.ID, meta.Settings{Topic: topic, Concurrency: 4}, 0)
	check(t, err)
	var conflict *meta.SettingsConflictError
	if _, err = e.db.PutGroupSettings(t.Context(), g.ID, meta.Settings{Topic: topic}, 0); !errors.As(err, &conflict) || conflict.Current.Concurrency != 4 {
		t.Errorf("second creation: %v", err)
	}
	first.Concurrency = 9
	_, err = e.db.PutGroupSettings(t.Context(), g.ID, first, first.Version)
	check(t, err)
	all, err := e.db.GroupSettings(t.Context(), g.ID)
	check(t, err)
	if s := all[topic]; len(all) != 1 || s.Concurrency != 9 || s.Version != 2 {
		t.Errorf("settings: %+v", all)
	}
}

func sameClientFencesTheOlder(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	older := mustJoin(t, e.db, subscribe(g, "same", topic))
	newer := mustJoin(t, e.db, subscribe(g, "same", topic))
	if newer.Fenced != older.Member.ID || newer.Member.ID == older.Member.ID || newer.Reattached {
		t.Fatalf("second session: %+v", newer)
	}
	if _, err := e.db.Heartbeat(t.Context(), g.ID, older.Member.ID, time.Minute, nil); !errors.Is(err, meta.ErrFencedMember) {
		t.Errorf("heartbeat of the older: %v", err)
	}
	if _, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: older.Member.ID}, []meta.OffsetCommit{{Topic: topic.ID, Offset: 1, Version: 1}}); !errors.Is(err, meta.ErrFencedMember) {
		t.Errorf("commit of the older: %v", err)
	}
	if _, err := e.db.Heartbeat(t.Context(), g.ID, uuid.NewString(), time.Minute, nil); !errors.Is(err, meta.ErrMemberUnknown) {
		t.Errorf("heartbeat of nobody: %v", err)
	}
	if s := stateOf(t, e.db, g); len(s.Members) != 1 || s.Members[0].ID != newer.Member.ID {
		t.Errorf("members: %+v", s.Members)
	}
}

func sessionKeyFindsTheMemberAgain(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	r := subscribe(g, "c", topic)
	r.Member.Key = "k1"
	first := mustJoin(t, e.db, r)
	deal(t, e.db, g, topic, 1, first.Member.ID)
	check(t, e.db.MemberLost(t.Context(), g.ID, first.Member.ID, "", 5*time.Second))
	before := stateOf(t, e.db, g)
	if m := before.Members[0]; m.Deadline > before.Now+5000 {
		t.Fatalf("a lost member lives until %d, now is %d", m.Deadline, before.Now)
	}
	again := mustJoin(t, e.db, r)
	if !again.Reattached || again.Member.ID != first.Member.ID || len(again.Assigned) != 1 {
		t.Fatalf("joined again: %+v", again)
	}
	after := stateOf(t, e.db, g)
	if after.Revision != before.Revision || after.Generation != before.Generation || after.Members[0].Deadline <= after.Now+5000 {
		t.Errorf("after the return: %+v, before: %+v", after, before)
	}
	r.Member.Key = "k2"
	if other := mustJoin(t, e.db, r); other.Reattached || other.Fenced != first.Member.ID {
		t.Errorf("with another key: %+v", other)
	}
}

func theLastConnectionIsTheMembers(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	r := subscribe(g, `c"connection":"x"`, topic)
	r.Member.Key, r.Member.Connection = "k", "A1"
	first := mustJoin(t, e.db, r)
	r.Member.Connection = "B2"
	if again := mustJoin(t, e.db, r); !again.Reattached || again.Member.ID != first.Member.ID {
		t.Fatalf("joined again: %+v", again)
	}
	beat := func(connection string) error {
		_, err := e.db.HeartbeatBy(t.Context(), g.ID, first.Member.ID, connection, time.Minute, nil)
		return err
	}
	if err := beat("A1"); !errors.Is(err, meta.ErrFencedMember) {
		t.Errorf("heartbeat by the connection before: %v", err)
	}
	check(t, beat("B2"))
	check(t, beat(""))
	before := stateOf(t, e.db, g)
	check(t, e.db.MemberLost(t.Context(), g.ID, first.Member.ID, "A1", 0))
	check(t, e.db.LeaveBy(t.Context(), g.ID, first.Member.ID, "A1"))
	after := stateOf(t, e.db, g)
	if len(after.Members) != 1 || after.Members[0].Deadline < before.Members[0].Deadline || after.Members[0].JoinedAt != before.Members[0].JoinedAt ||
		after.Members[0].Connection != "B2" || after.Members[0].ClientID != r.Member.ClientID {
		t.Errorf("after the end of the connection before: %+v, before: %+v", after.Members, before.Members)
	}
	check(t, e.db.LeaveBy(t.Context(), g.ID, first.Member.ID, "B2"))
	if s := stateOf(t, e.db, g); len(s.Members) > 0 {
		t.Errorf("members %+v", s.Members)
	}
}

func otherSubscriptionsAreRefusedAndShown(t *testing.T, e engine) {
	topic, other, g := newTopic(t, e.db, 1), newTopic(t, e.db, 1), newGroup(t, e.db)
	j := mustJoin(t, e.db, subscribe(g, "a", topic))
	tagged := subscribe(g, "b", topic)
	tagged.Member.Subscriptions[0].Tags = "x"
	for _, r := range []meta.JoinRequest{subscribe(g, "b", other), tagged} {
		var mismatch *meta.SubscriptionMismatchError
		if _, err := e.db.Join(t.Context(), r); !errors.As(err, &mismatch) || mismatch.Current[0].Topic != topic.Name {
			t.Errorf("join with %+v: %v", r.Member.Subscriptions, err)
		}
	}
	s := stateOf(t, e.db, g)
	if len(s.Members) != 1 || len(s.Refused) != 2 || s.Refused[0].ClientID != "b" || s.Refused[0].Subscriptions[0].Tags != "x" {
		t.Errorf("state: %+v", s)
	}
	assigning := subscribe(g, "own", other)
	assigning.Member.Kind = meta.KindAssign
	mustJoin(t, e.db, assigning) // names its queues itself
	check(t, e.db.Leave(t.Context(), g.ID, j.Member.ID))
	check(t, e.db.Leave(t.Context(), g.ID, j.Member.ID))
	mustJoin(t, e.db, subscribe(g, "b", other)) // nobody is left to differ from
}

func silentMembersExpire(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	short := subscribe(g, "short", topic)
	short.Timeout = 30 * time.Millisecond
	gone := mustJoin(t, e.db, short)
	kept := mustJoin(t, e.db, subscribe(g, "long", topic))
	revision := stateOf(t, e.db, g).Revision
	var expired []string
	deadline := time.Now().Add(10 * time.Second)
	for len(expired) == 0 && time.Now().Before(deadline) {
		var err error
		expired, err = e.db.ExpireMembers(t.Context(), g.ID, 1)
		check(t, err)
	}
	equal(t, "expired", expired, []string{gone.Member.ID})
	s := stateOf(t, e.db, g)
	if len(s.Members) != 1 || s.Members[0].ID != kept.Member.ID || s.Revision <= revision {
		t.Errorf("state: %+v", s)
	}
	if _, err := e.db.Heartbeat(t.Context(), g.ID, gone.Member.ID, time.Minute, nil); !errors.Is(err, meta.ErrMemberUnknown) {
		t.Errorf("heartbeat of who expired: %v", err)
	}
}

func queuesChangeHandsOneOwnerAtATime(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 4), newGroup(t, e.db)
	a := mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID
	names := map[string]string{a: "a"}
	equal(t, "first generation", deal(t, e.db, g, topic, 1, a, a, a, a), 1)
	equal(t, "the same again", deal(t, e.db, g, topic, 1, a, a, a, a), 1)
	b := mustJoin(t, e.db, subscribe(g, "b", topic)).Member.ID
	names[b] = "b"
	equal(t, "second generation", deal(t, e.db, g, topic, 1, a, a, b, b), 2)
	equal(t, "claims", claims(stateOf(t, e.db, g), names), "0:a@1 1:a@1 2:a@1>b@2 3:a@1>b@2")

	commit := func(member string, queue uint32, offset, epoch int64) string {
		results, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: member, By: "x"},
			[]meta.OffsetCommit{{Topic: topic.ID, Queue: queue, Offset: offset, Version: 1, Epoch: epoch}})
		check(t, err)
		return results[0].Status
	}
	equal(t, "the owner while it is revoked", commit(a, 2, 5, 1), meta.OffsetStored)
	equal(t, "the next one too early", commit(b, 2, 6, 2), meta.OffsetNotOwner)
	equal(t, "somebody outside", commit("", 2, 6, 0), meta.OffsetNotOwner)

	s, err := e.db.Heartbeat(t.Context(), g.ID, a, time.Minute, []meta.Assignment{{Topic: topic.ID, Queue: 2, Epoch: 1}, {Topic: topic.ID, Queue: 0, Epoch: 1}, {Topic: topic.ID, Queue: 3, Epoch: 9}})
	check(t, err)
	equal(t, "queues left to a", len(s.Assigned), 3)
	equal(t, "claims", claims(stateOf(t, e.db, g), names), "0:a@1 1:a@1 2:b@2 3:a@1>b@2")
	equal(t, "the old owner", commit(a, 2, 7, 1), meta.OffsetNotOwner)
	equal(t, "the new owner in the wrong epoch", commit(b, 2, 7, 1), meta.OffsetNotOwner)
	equal(t, "the new owner", commit(b, 2, 7, 2), meta.OffsetStored)
	equal(t, "a queue that stayed put", commit(a, 0, 1, 1), meta.OffsetStored)
}

func aRevocationEndsAtItsDeadline(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	g.RevokeTimeoutMS = 20
	_, err := e.db.UpdateGroup(t.Context(), g, 0)
	check(t, err)
	a := mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID
	b := mustJoin(t, e.db, subscribe(g, "b", topic)).Member.ID
	names := map[string]string{a: "a", b: "b"}
	deal(t, e.db, g, topic, 1, a)
	deal(t, e.db, g, topic, 1, b)
	deadline := time.Now().Add(10 * time.Second)
	for claims(stateOf(t, e.db, g), names) != "0:b@2" {
		if time.Now().After(deadline) {
			t.Fatalf("claims: %s", claims(stateOf(t, e.db, g), names))
		}
		expired, err := e.db.ExpireMembers(t.Context(), g.ID, 1)
		check(t, err)
		equal(t, "expired", len(expired), 0)
	}
	results, err := e.db.CommitOffsets(t.Context(), g.ID, meta.Committer{Member: a}, []meta.OffsetCommit{{Topic: topic.ID, Offset: 3, Version: 1, Epoch: 1}})
	check(t, err)
	equal(t, "who did not give it back", results[0].Status, meta.OffsetNotOwner)
}

func queuesOfThoseWhoLeftAreFree(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 3), newGroup(t, e.db)
	a := mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID
	b := mustJoin(t, e.db, subscribe(g, "b", topic)).Member.ID
	names := map[string]string{a: "a", b: "b"}
	deal(t, e.db, g, topic, 1, a, a, a)
	deal(t, e.db, g, topic, 1, a, a, b)
	check(t, e.db.Leave(t.Context(), g.ID, a))
	equal(t, "generation", deal(t, e.db, g, topic, 1, b, b, b), 3)
	equal(t, "claims", claims(stateOf(t, e.db, g), names), "0:b@3 1:b@3 2:b@3")
	check(t, e.db.Leave(t.Context(), g.ID, b))
	deal(t, e.db, g, topic, 1, "", "", "")
	equal(t, "claims", claims(stateOf(t, e.db, g), names), "")
}

func aRevocationIsTakenBack(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	a := mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID
	b := mustJoin(t, e.db, subscribe(g, "b", topic)).Member.ID
	c := mustJoin(t, e.db, subscribe(g, "c", topic)).Member.ID
	names := map[string]string{a: "a", b: "b", c: "c"}
	deal(t, e.db, g, topic, 1, a)
	deal(t, e.db, g, topic, 1, b)
	deal(t, e.db, g, topic, 1, c)
	equal(t, "another next", claims(stateOf(t, e.db, g), names), "0:a@1>c@3")
	deal(t, e.db, g, topic, 1, a)
	equal(t, "claims", claims(stateOf(t, e.db, g), names), "0:a@1")
}

func anOldTermChangesNothing(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	a := mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID
	deal(t, e.db, g, topic, 7, a)
	before := stateOf(t, e.db, g)
	_, _, err := e.db.Assign(t.Context(), g.ID, 6, before.Revision, "late", []meta.Target{{Topic: topic.ID}}, nil)
	if !errors.Is(err, meta.ErrFenced) {
		t.Errorf("assign: %v", err)
	}
	if _, err = e.db.ExpireMembers(t.Context(), g.ID, 6); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("expire: %v", err)
	}
	if err = e.db.InitOffsets(t.Context(), g.ID, 6, []meta.OffsetStart{{Topic: uuid.New()}}); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("init: %v", err)
	}
	after := stateOf(t, e.db, g)
	before.Now, after.Now = 0, 0
	equal(t, "state", after, before)
}

func anAssignmentGoesByTheNewestState(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	a := mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID
	before := stateOf(t, e.db, g)
	mustJoin(t, e.db, subscribe(g, "b", topic))
	_, _, err := e.db.Assign(t.Context(), g.ID, 1, before.Revision, "stale", []meta.Target{{Topic: topic.ID, Owner: a}}, nil)
	if !errors.Is(err, meta.ErrGroupChanged) {
		t.Errorf("assign: %v", err)
	}
}

func groupFeedTellsEveryChange(t *testing.T, e engine) {
	topic, g := newTopic(t, e.db, 1), newGroup(t, e.db)
	notices := make(chan meta.Notice, 100)
	feed := e.db.NewFeed(func(n meta.Notice) {
		if n.GroupChanged == g.ID {
			notices <- n
		}
	})
	ctx := within(t, 20*time.Second)
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		_ = feed.Run(ctx)
	}()
	defer func() { close(stop) }()
	check(t, feed.Watch(ctx, topic.ID)) // the feed is there
	await := func(what string, change func()) {
		t.Helper()
		change()
		for {
			select {
			case n := <-notices:
				if n.GroupWhat == what {
					return
				}
			case <-ctx.Done():
				t.Fatalf("no notice of %s", what)
			}
		}
	}
	var a string
	await(meta.ChangedMembers, func() { a = mustJoin(t, e.db, subscribe(g, "a", topic)).Member.ID })
	await(meta.ChangedAssignment, func() { deal(t, e.db, g, topic, 1, a) })
	await(meta.ChangedOffsets, func() {
		_, err := e.db.ResetOffsets(t.Context(), g.ID, "", "op", []meta.OffsetReset{{Topic: topic.ID, Offset: 3}})
		check(t, err)
	})
	await(meta.ChangedSettings, func() {
		_, err := e.db.PutGroupSettings(t.Context(), g.ID, meta.Settings{Topic: topic.ID}, 0)
		check(t, err)
	})
	await(meta.ChangedGroup, func() {
		_, err := e.db.UpdateGroup(t.Context(), g, 0)
		check(t, err)
	})
}
