package meta_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var restoreCases = []testCase{
	{"RestoredTopicReadsTheSame", restoredTopicReadsTheSame},
	{"RestoreForgetsWhatIsNotInTheSnapshot", restoreForgets},
	{"RestoredReceiptsAndIdentitiesAnswer", restoredReceiptsAndIdentities},
	{"ReceiptsOfAnotherEpochAreNotGiven", receiptsOfAnotherEpoch},
	{"HeldTopicRecovers", heldTopicRecovers},
	{"OlderTermIsFenced", olderTermIsFenced},
	{"RestoreRefusesDisorder", restoreRefusesDisorder},
	{"HoleLeadsToTheEntryBehindIt", holeLeadsToTheEntryBehindIt},
	{"EveryTopicIsKnownWhileNotReady", everyTopicIsKnownWhileNotReady},
	{"DeletedTopicIsRestoredAsATombstone", deletedTopicIsRestored},
}

func restoredTopicReadsTheSame(t *testing.T, e engine) {
	ctx := t.Context()
	topic := newTopic(t, e.db, 3)
	w := uuid.New()
	queues := map[uint32]meta.QueueSnapshot{}
	for seq := uint64(1); seq <= 60; seq++ {
		res := mustCommit(t, e.db, commitTo(topic, w, seq, map[uint32][]uint32{0: {1, 2}, 2: {uint32(seq)}}))
		for _, entry := range res.Entries {
			q := queues[entry.Queue]
			q.Entries, q.Next = append(q.Entries, entry), entry.Next
			queues[entry.Queue] = q
		}
	}
	read := func() (all []meta.Window, states []meta.QueueState) {
		for q := range topic.Queues {
			win, err := e.db.Lookup(ctx, topic.ID, q, 0, 1000)
			check(t, err)
			all = append(all, win)
		}
		states, err := e.db.Queues(ctx, topic)
		check(t, err)
		return all, states
	}
	before, statesBefore := read()
	check(t, e.db.RestoreTopic(ctx, meta.TopicSnapshot{Topic: topic, Term: 3, Queues: queues,
		Writers: map[uuid.UUID]meta.WriterMemo{w: {Seq: 60}}}))
	after, statesAfter := read()
	equal(t, "windows", after, before)
	equal(t, "bounds", statesAfter, statesBefore)
	got, err := e.db.Topic(ctx, topic.Name)
	check(t, err)
	equal(t, "topic", got, topic)
	if res := commitOne(t, e.db, commitTo(topic, w, 60, map[uint32][]uint32{0: {1, 2}, 2: {60}})); !errors.Is(res.Err, meta.ErrApplied) {
		t.Errorf("the last commit again, without its receipt: got %v, want ErrApplied", res.Err)
	}
	equal(t, "the next offset", mustCommit(t, e.db, commitTo(topic, w, 61, map[uint32][]uint32{0: {1}})).Firsts, [][]int64{{180}})
}

func restoreForgets(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 4)
	w := uuid.New()
	mustCommit(t, e.db, commitTo(topic, w, 1, map[uint32][]uint32{0: {1}, 3: {1}}))
	topic.Queues = 2 // as an older control record says
	snapshot := meta.TopicSnapshot{Topic: topic, Term: 1, Queues: map[uint32]meta.QueueSnapshot{1: queueOf(1, 1203, 7)}}
	check(t, e.db.RestoreTopic(t.Context(), snapshot))
	check(t, e.db.RestoreTopic(t.Context(), snapshot)) // repeated after a lost reply
	_, states, err := e.db.Bounds(t.Context(), topic.ID, []uint32{0, 1, 2, 3})
	check(t, err)
	for _, s := range states {
		if s.Queue != 1 && s != (meta.QueueState{Queue: s.Queue}) {
			t.Errorf("left over: %+v", s)
		}
	}
	win, err := e.db.Lookup(t.Context(), topic.ID, 1, 7, 2000)
	check(t, err)
	equal(t, "entries", win.Entries, snapshot.Queues[1].Entries)
	seqs, err := e.db.LastSeqs(t.Context(), topic.ID)
	check(t, err)
	if len(seqs) != 0 {
		t.Errorf("writers left over: %v", seqs)
	}
	equal(t, "an old writer starts anew", mustCommit(t, e.db, commitTo(topic, w, 1, map[uint32][]uint32{0: {1}})).Firsts, [][]int64{{0}})
}

func restoredReceiptsAndIdentities(t *testing.T, e engine) {
	ctx := t.Context()
	topic, w := newTopic(t, e.db, 2), uuid.New()
	key, p1, p2 := keyRequest("k", "b"), producerRequest("p", 2, 8), producerRequest("p", 2, 9)
	c1, c2 := requestCommit(topic, w, 1, key, p1), requestCommit(topic, w, 2, p2)
	first, last := mustCommit(t, e.db, c1), mustCommit(t, e.db, c2)
	entries := append(first.Entries, last.Entries...)
	check(t, e.db.RestoreTopic(ctx, meta.TopicSnapshot{Topic: topic, Term: 1,
		Queues: map[uint32]meta.QueueSnapshot{0: {Next: 6, Entries: entries}},
		Writers: map[uuid.UUID]meta.WriterMemo{w: {Seq: 2, Recent: []meta.Memo{
			{Seq: 1, StoredAt: first.StoredAt, Firsts: map[uint32]int64{0: 0}},
			{Seq: 2, StoredAt: last.StoredAt, Firsts: map[uint32]int64{0: 4}}}}},
		Dedupe: []meta.DedupeEntry{
			{Request: key, StoredAt: first.StoredAt, Parts: first.Requests[0].Parts},
			{Request: p1, StoredAt: first.StoredAt, Parts: first.Requests[1].Parts},
			{Request: p2, StoredAt: last.StoredAt, Parts: last.Requests[0].Parts}}}))
	for i, c := range []meta.Commit{c1, c2} {
		again := mustCommit(t, e.db, c)
		if !again.Repeated {
			t.Error("a restored receipt is not repeated")
		}
		again.Repeated = false
		equal(t, "receipt", again, []meta.CommitResult{first, last}[i])
	}
	res := mustCommit(t, e.db, requestCommit(topic, w, 3, keyRequest("k", "b"), keyRequest("k", "c"),
		producerRequest("p", 2, 8), producerRequest("p", 2, 11), producerRequest("p", 2, 10)))
	want := first.Requests[0]
	want.Status = meta.RequestDuplicate
	equal(t, "key again", res.Requests[0], want)
	equal(t, "key with another body", res.Requests[1].Status, meta.RequestKeyReused)
	equal(t, "producer again", res.Requests[2].Parts, first.Requests[1].Parts)
	equal(t, "producer ahead", res.Requests[3].Expected, 10)
	equal(t, "producer goes on", res.Requests[4].Status, meta.RequestStored)
}

func receiptsOfAnotherEpoch(t *testing.T, e engine) {
	topic, w := newTopic(t, e.db, 1), uuid.New()
	c := requestCommit(topic, w, 1, keyRequest("k", "b"))
	mustCommit(t, e.db, c)
	topic.Epoch = 2
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1,
		Queues:  map[uint32]meta.QueueSnapshot{0: queueOf(0, 3, 0)},
		Writers: map[uuid.UUID]meta.WriterMemo{w: {Seq: 1}}}))
	c.Epoch = 2
	if res := commitOne(t, e.db, c); !errors.Is(res.Err, meta.ErrApplied) {
		t.Errorf("receipt of epoch 1 in epoch 2: got %+v, want ErrApplied", res)
	}
	res := mustCommit(t, e.db, requestCommit(topic, w, 2, keyRequest("k", "b")))
	if out := res.Requests[0]; out.Status != meta.RequestDuplicate || out.Parts != nil || out.IDBase != c.Requests[0].IDBase {
		t.Errorf("key of epoch 1 in epoch 2: got %+v, want a duplicate without offsets", out)
	}
}

func heldTopicRecovers(t *testing.T, e engine) {
	ctx := t.Context()
	topic := newTopic(t, e.db, 1)
	check(t, e.db.HoldTopic(ctx, topic.ID, 1))
	_, _, boundsErr := e.db.Bounds(ctx, topic.ID, []uint32{0})
	for _, err := range []error{
		commitOne(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1}})).Err, boundsErr,
		second(e.db.Lookup(ctx, topic.ID, 0, 0, 1)), second(e.db.UpdateTopic(ctx, topic, 0)),
	} {
		if !errors.Is(err, meta.ErrRecovering) {
			t.Errorf("held: got %v, want ErrRecovering", err)
		}
	}
	check(t, e.db.RestoreTopic(ctx, meta.TopicSnapshot{Topic: topic, Term: 1}))
	mustCommit(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1}}))
}

func olderTermIsFenced(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 8}))
	if err := e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 7}); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("restore: got %v, want ErrFenced", err)
	}
	if err := e.db.HoldTopic(t.Context(), topic.ID, 7); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("hold: got %v, want ErrFenced", err)
	}
	mustCommit(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1}}))
}

func restoreRefusesDisorder(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	spoil := map[string]func(q *meta.QueueSnapshot){
		"overlap":       func(q *meta.QueueSnapshot) { q.Entries[2].Count++ },
		"empty entry":   func(q *meta.QueueSnapshot) { q.Entries[2].Count = 0 },
		"wrong end":     func(q *meta.QueueSnapshot) { q.Next++ },
		"end before":    func(q *meta.QueueSnapshot) { q.Min = q.Next + 1 },
		"time backward": func(q *meta.QueueSnapshot) { q.Entries[2].StoredAt = 1 },
	}
	for name, change := range spoil {
		q := queueOf(0, 4, 0)
		change(&q)
		err := e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1, Queues: map[uint32]meta.QueueSnapshot{0: q}})
		if err == nil {
			t.Errorf("%s: restored", name)
		}
	}
	mustCommit(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1}})) // still open
}

func holeLeadsToTheEntryBehindIt(t *testing.T, e engine) {
	q := queueOf(0, 9, 0)
	lost := q.Entries[4]
	q.Entries = append(q.Entries[:4], q.Entries[5:]...)
	topic := restoreQueue(t, e.db, q)
	win, err := e.db.Lookup(t.Context(), topic.ID, 0, lost.First(), 1)
	check(t, err)
	equal(t, "entry", win.Entries, q.Entries[4:5])
	equal(t, "the next offset", mustCommit(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1}})).Firsts, [][]int64{{q.Next}})
}

func everyTopicIsKnownWhileNotReady(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	check(t, e.db.HoldTopic(t.Context(), topic.ID, 1))
	known, err := e.db.KnownTopics(t.Context())
	check(t, err)
	for _, one := range known {
		if one.ID == topic.ID {
			equal(t, "topic", one, topic)
			return
		}
	}
	t.Errorf("%s is not among %d topics", topic.Name, len(known))
}

func deletedTopicIsRestored(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	topic.Deleted, topic.Version = true, 2
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1}))
	if _, err := e.db.Topic(t.Context(), topic.Name); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("by name: got %v", err)
	}
	if res := commitOne(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1}})); !errors.Is(res.Err, meta.ErrTopicNotFound) {
		t.Errorf("commit: got %v", res.Err)
	}
	_, err := e.db.CreateTopic(t.Context(), meta.Topic{Name: topic.Name, Queues: 1})
	check(t, err)
}
