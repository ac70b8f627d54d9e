package meta_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var commitCases = []testCase{
	{"CommitTwiceGivesTheSameOffset", commitTwiceGivesTheSameOffset},
	{"AdopterAndWriterGetTheSameReceipt", adopterAndWriterGetTheSameReceipt},
	{"ForgottenReceiptIsSaidToBeApplied", forgottenReceiptIsSaidToBeApplied},
	{"TouchingChunksBecomeOneEntry", touchingChunksBecomeOneEntry},
	{"CommitChecksTopicAndEpoch", commitChecksTopicAndEpoch},
	{"CommitSeesARollback", commitSeesARollback},
	{"EpochIsCheckedBeforeRollbackAndReceipt", epochIsCheckedBeforeRollbackAndReceipt},
	{"OffsetsEndBelow2To53", offsetsEndBelow2To53},
	{"CommitWithoutMessagesCounts", commitWithoutMessagesCounts},
	{"TopicsOfOneCallFailApart", topicsOfOneCallFailApart},
	{"LaterCommitNeverOvertakes", laterCommitNeverOvertakes},
	{"MalformedCommitIsNotSent", malformedCommitIsNotSent},
	{"ConcurrentCommittersKeepOffsetsDense", concurrentCommittersKeepOffsetsDense},
	{"ManyQueuesInOneCommit", manyQueuesInOneCommit},
	{"StoredAtNeverDecreases", storedAtNeverDecreases},
}

func commitTwiceGivesTheSameOffset(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 4)
	w := uuid.New()
	mustCommit(t, e.db, commitTo(topic, w, 1, map[uint32][]uint32{0: {5}, 2: {1}}))
	c := commitTo(topic, w, 2, map[uint32][]uint32{0: {3, 4}, 1: {2}})
	first := mustCommit(t, e.db, c)
	equal(t, "first offsets", first.Firsts, [][]int64{{5, 8}, {0}})
	if first.Repeated {
		t.Error("the first execution calls itself repeated")
	}
	again := mustCommit(t, e.db, c)
	if !again.Repeated {
		t.Error("the second execution does not call itself repeated")
	}
	again.Repeated = false
	equal(t, "second receipt", again, first)
	states, err := e.db.Queues(t.Context(), topic)
	check(t, err)
	for q, next := range []int64{12, 2, 1, 0} {
		if states[q].Next != next {
			t.Errorf("queue %d ends at %d, want %d", q, states[q].Next, next)
		}
	}
	if states[0].Bytes != 300 || states[0].LastStoredAt != first.StoredAt {
		t.Errorf("queue 0: got %+v, want 300 bytes stored at %d", states[0], first.StoredAt)
	}
}

// The adopter reads merged blocks and sees queues and requests in another order.
func adopterAndWriterGetTheSameReceipt(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 4)
	w := uuid.New()
	k1, k2 := keyRequest("a", "x"), keyRequest("b", "x")
	adopter := meta.Commit{Topic: topic.ID, Epoch: 1, Writer: w, Seq: 1,
		Requests: []meta.Request{k2, k1},
		Queues: []meta.QueueCommit{
			{Queue: 3, Chunks: []meta.CommitChunk{{Count: 5, Position: 0, Length: 50, Request: -1}, {Count: 2, Position: 50, Length: 20, Request: 1}}},
			{Queue: 1, Chunks: []meta.CommitChunk{{Count: 4, Position: 70, Length: 40, Request: 0}}},
		}}
	writer := meta.Commit{Topic: topic.ID, Epoch: 1, Writer: w, Seq: 1,
		Requests: []meta.Request{k1, k2},
		Queues: []meta.QueueCommit{
			{Queue: 1, Chunks: []meta.CommitChunk{{Count: 4, Position: 70, Length: 40, Request: 1}}},
			{Queue: 3, Chunks: []meta.CommitChunk{{Count: 2, Position: 0, Length: 20, Request: -1}, {Count: 3, Position: 20, Length: 30, Request: -1}, {Count: 2, Position: 50, Length: 20, Request: 0}}},
		}}
	adopted := mustCommit(t, e.db, adopter)
	late := mustCommit(t, e.db, writer)
	equal(t, "adopter's offsets", adopted.Firsts, [][]int64{{0, 5}, {0}})
	equal(t, "writer's offsets", late.Firsts, [][]int64{{0}, {0, 2, 5}})
	equal(t, "entries", late.Entries, adopted.Entries)
	equal(t, "parts of the first request", late.Requests[0].Parts, adopted.Requests[1].Parts)
}

func forgottenReceiptIsSaidToBeApplied(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w, other := uuid.New(), uuid.New()
	var receipts []meta.CommitResult
	for seq := uint64(1); seq <= 10; seq++ {
		receipts = append(receipts, mustCommit(t, e.db, commitTo(topic, w, seq, map[uint32][]uint32{0: {1}})))
		mustCommit(t, e.db, commitTo(topic, other, seq, map[uint32][]uint32{0: {2}}))
	}
	for seq := uint64(1); seq <= 10; seq++ {
		res := commitOne(t, e.db, commitTo(topic, w, seq, map[uint32][]uint32{0: {1}}))
		if seq <= 2 {
			if !errors.Is(res.Err, meta.ErrApplied) {
				t.Errorf("seq %d: got %v, want ErrApplied", seq, res.Err)
			}
			continue
		}
		if res.Err != nil {
			t.Fatalf("seq %d: %v", seq, res.Err)
		}
		equal(t, "receipt", res.Entries, receipts[seq-1].Entries)
	}
	res := commitOne(t, e.db, commitTo(topic, w, 0, map[uint32][]uint32{0: {1}}))
	if !errors.Is(res.Err, meta.ErrApplied) {
		t.Errorf("a seq never seen below the last: got %v, want ErrApplied", res.Err)
	}
	seqs, err := e.db.LastSeqs(t.Context(), topic.ID)
	check(t, err)
	equal(t, "last seqs", seqs, map[uuid.UUID]uint64{w: 10, other: 10})
}

func touchingChunksBecomeOneEntry(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w := uuid.New()
	res := mustCommit(t, e.db, meta.Commit{Topic: topic.ID, Epoch: 1, Writer: w, Seq: 1, Queues: []meta.QueueCommit{{Chunks: []meta.CommitChunk{
		{Count: 2, Position: 10, Length: 20, Tags: 1, Request: -1},
		{Count: 3, Position: 30, Length: 5, Tags: 4, Request: -1},
		{Count: 1, Position: 40, Length: 7, Request: -1},
	}}}})
	ref := meta.SegmentRef{Writer: w, Seq: 1}
	want := []meta.Entry{
		{Next: 5, Count: 5, StoredAt: res.StoredAt, Segment: ref, Position: 10, Length: 25, Tags: 5},
		{Next: 6, Count: 1, StoredAt: res.StoredAt, Segment: ref, Position: 40, Length: 7},
	}
	equal(t, "entries of the result", res.Entries, want)
	win, err := e.db.Lookup(t.Context(), topic.ID, 0, 0, 10)
	check(t, err)
	equal(t, "entries in redis", win, meta.Window{Epoch: 1, Next: 6, Entries: want})
}

func commitChecksTopicAndEpoch(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w := uuid.New()
	c := commitTo(topic, w, 1, map[uint32][]uint32{0: {1}})
	c.Epoch = 7
	var epoch *meta.EpochError
	if res := commitOne(t, e.db, c); !errors.As(res.Err, &epoch) || epoch.Current != 1 {
		t.Errorf("other epoch: got %v, want epoch 1", res.Err)
	}
	c.Topic = uuid.New()
	if res := commitOne(t, e.db, c); !errors.Is(res.Err, meta.ErrTopicNotFound) {
		t.Errorf("unknown topic: got %v", res.Err)
	}
	_, err := e.db.DeleteTopic(t.Context(), topic.Name, 0)
	check(t, err)
	c = commitTo(topic, w, 1, map[uint32][]uint32{0: {1}})
	if res := commitOne(t, e.db, c); !errors.Is(res.Err, meta.ErrTopicNotFound) {
		t.Errorf("deleted topic: got %v", res.Err)
	}
	check(t, e.db.HoldTopic(t.Context(), topic.ID, 1))
	if res := commitOne(t, e.db, c); !errors.Is(res.Err, meta.ErrRecovering) {
		t.Errorf("held topic: got %v", res.Err)
	}
}

func commitSeesARollback(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	c := commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {3}, 1: {1}})
	mustCommit(t, e.db, c)
	c.Seq, c.Queues[0].KnownNext, c.Queues[1].KnownNext = 2, 3, 2
	if res := commitOne(t, e.db, c); !errors.Is(res.Err, meta.ErrRolledBack) {
		t.Fatalf("next 1 where 2 was seen: got %v, want ErrRolledBack", res.Err)
	}
	states, err := e.db.Queues(t.Context(), topic)
	check(t, err)
	if states[0].Next != 3 || states[1].Next != 1 {
		t.Errorf("a refused commit changed the queues: %+v", states)
	}
	c.Queues[1].KnownNext = 1
	mustCommit(t, e.db, c)
}

func epochIsCheckedBeforeRollbackAndReceipt(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	c := commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {3}})
	mustCommit(t, e.db, c)
	c.Queues[0].KnownNext = 99
	if res := commitOne(t, e.db, c); !errors.Is(res.Err, meta.ErrRolledBack) {
		t.Errorf("repeated with a larger known next: got %v, want ErrRolledBack", res.Err)
	}
	c.Epoch = 2
	var epoch *meta.EpochError
	if res := commitOne(t, e.db, c); !errors.As(res.Err, &epoch) {
		t.Errorf("and with another epoch: got %v, want EpochError", res.Err)
	}
}

func offsetsEndBelow2To53(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	const top = int64(1)<<53 - 1
	w := uuid.New()
	last := meta.Entry{Next: top - 10, Count: 1, StoredAt: 5, Segment: meta.SegmentRef{Writer: w, Seq: 1}, Length: 9}
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1,
		Writers: map[uuid.UUID]meta.WriterMemo{w: {Seq: uint64(top) - 5}},
		Queues:  map[uint32]meta.QueueSnapshot{0: {Min: top - 11, Next: top - 10, Entries: []meta.Entry{last}}}}))
	c := commitTo(topic, w, uint64(top)-4, map[uint32][]uint32{0: {7}})
	c.Queues[0].KnownNext = top - 10
	res := mustCommit(t, e.db, c)
	equal(t, "offset", res.Firsts, [][]int64{{top - 10}})
	win, err := e.db.Lookup(t.Context(), topic.ID, 0, top-4, 2)
	check(t, err)
	equal(t, "entry", win.Entries, res.Entries)
	c.Seq++
	c.Queues[0].KnownNext = top - 3
	c.Queues[0].Chunks[0].Count = 4
	if res := commitOne(t, e.db, c); !errors.Is(res.Err, meta.ErrQueueFull) {
		t.Errorf("past the end: got %v, want ErrQueueFull", res.Err)
	}
	c.Queues[0].Chunks[0].Count = 3
	equal(t, "last offsets", mustCommit(t, e.db, c).Firsts, [][]int64{{top - 3}})
}

func commitWithoutMessagesCounts(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w := uuid.New()
	c := commitTo(topic, w, 4, nil)
	mustCommit(t, e.db, c)
	if res := mustCommit(t, e.db, c); !res.Repeated || len(res.Entries) != 0 {
		t.Errorf("got %+v, want an empty repeated receipt", res)
	}
	seqs, err := e.db.LastSeqs(t.Context(), topic.ID)
	check(t, err)
	equal(t, "last seqs", seqs, map[uuid.UUID]uint64{w: 4})
}

func topicsOfOneCallFailApart(t *testing.T, e engine) {
	var commits []meta.Commit
	w := uuid.New()
	for i := range 6 {
		topic := newTopic(t, e.db, 2)
		if i%2 == 1 {
			_, err := e.db.DeleteTopic(t.Context(), topic.Name, 0)
			check(t, err)
		}
		commits = append(commits, commitTo(topic, w, 1, map[uint32][]uint32{1: {1}}))
	}
	for i, res := range e.db.Commit(t.Context(), commits) {
		if deleted := i%2 == 1; deleted != errors.Is(res.Err, meta.ErrTopicNotFound) || !deleted && res.Err != nil {
			t.Errorf("commit %d: got %v", i, res.Err)
		}
	}
}

func laterCommitNeverOvertakes(t *testing.T, e engine) {
	topic, fine := newTopic(t, e.db, 1), newTopic(t, e.db, 1)
	w := uuid.New()
	bad := commitTo(topic, w, 1, map[uint32][]uint32{0: {1}})
	bad.Queues[0].KnownNext = 1
	later := commitTo(topic, w, 2, map[uint32][]uint32{0: {1}})
	res := e.db.Commit(t.Context(), []meta.Commit{bad, later,
		commitTo(fine, w, 1, map[uint32][]uint32{0: {1}}), commitTo(fine, w, 2, map[uint32][]uint32{0: {1}})})
	if !errors.Is(res[0].Err, meta.ErrRolledBack) || !errors.Is(res[1].Err, meta.ErrNotSent) {
		t.Errorf("got %v, %v, want ErrRolledBack, ErrNotSent", res[0].Err, res[1].Err)
	}
	if res[2].Err != nil || res[3].Err != nil || res[3].Firsts[0][0] != 1 {
		t.Errorf("the other topic: got %+v, %+v", res[2], res[3])
	}
	bad.Queues[0].KnownNext = 0
	equal(t, "the held one first", mustCommit(t, e.db, bad).Firsts, [][]int64{{0}})
	equal(t, "then the later", mustCommit(t, e.db, later).Firsts, [][]int64{{1}})
}

func malformedCommitIsNotSent(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	spoil := map[string]func(c *meta.Commit){
		"queue twice":      func(c *meta.Commit) { c.Queues[1].Queue = c.Queues[0].Queue },
		"empty chunk":      func(c *meta.Commit) { c.Queues[0].Chunks[0].Count = 0 },
		"overlap":          func(c *meta.Commit) { c.Queues[0].Chunks[1].Position-- },
		"no such request":  func(c *meta.Commit) { c.Queues[0].Chunks[0].Request = 0 },
		"identity of none": func(c *meta.Commit) { c.Requests = make([]meta.Request, 1) },
	}
	for name, change := range spoil {
		c := commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1, 1}, 1: {1}})
		change(&c)
		if res := commitOne(t, e.db, c); res.Err == nil {
			t.Errorf("%s: applied", name)
		}
	}
	seqs, err := e.db.LastSeqs(t.Context(), topic.ID)
	check(t, err)
	if len(seqs) != 0 {
		t.Errorf("writers after malformed commits: %v", seqs)
	}
}

func concurrentCommittersKeepOffsetsDense(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	const writers, commits = 4, 25
	owned := make([][]meta.Entry, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			w := uuid.New()
			for seq := uint64(1); seq <= commits; seq++ {
				c := commitTo(topic, w, seq, map[uint32][]uint32{0: {uint32(seq%5 + 1), 3}})
				res := e.db.Commit(t.Context(), []meta.Commit{c})[0]
				if res.Err != nil {
					t.Errorf("commit: %v", res.Err)
					return
				}
				owned[i] = append(owned[i], res.Entries...)
			}
		})
	}
	wg.Wait()
	given := map[int64]int64{}
	for _, entries := range owned {
		for _, entry := range entries {
			given[entry.First()] = entry.Next
		}
	}
	next := int64(0)
	for range given {
		end, ok := given[next]
		if !ok {
			t.Fatalf("nobody was given offset %d", next)
		}
		next = end
	}
	states, err := e.db.Queues(t.Context(), topic)
	check(t, err)
	equal(t, "end of the queue", states[0].Next, next)
}

func manyQueuesInOneCommit(t *testing.T, e engine) {
	const queues = 700 // more than one call of a script takes
	topic := newTopic(t, e.db, queues)
	all := map[uint32][]uint32{}
	for q := range uint32(queues) {
		all[q] = []uint32{q%3 + 1}
	}
	w := uuid.New()
	mustCommit(t, e.db, commitTo(topic, w, 1, all))
	res := mustCommit(t, e.db, commitTo(topic, w, 2, all))
	for q, firsts := range res.Firsts {
		if want := int64(q%3 + 1); firsts[0] != want {
			t.Fatalf("queue %d: first %d, want %d", q, firsts[0], want)
		}
	}
	states, err := e.db.Queues(t.Context(), topic)
	check(t, err)
	equal(t, "last queue", states[queues-1].Next, 2*((queues-1)%3+1))
}

// The clock of Redis may go back, as after a failover.
func storedAtNeverDecreases(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	now, err := e.db.Now(t.Context())
	check(t, err)
	w := uuid.New()
	future := now + 3_600_000
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1, Queues: map[uint32]meta.QueueSnapshot{
		0: {Next: 1, Entries: []meta.Entry{{Next: 1, Count: 1, StoredAt: future, Segment: meta.SegmentRef{Writer: w, Seq: 1}, Length: 1}}}}}))
	if res := mustCommit(t, e.db, commitTo(topic, w, 2, map[uint32][]uint32{0: {1}})); res.StoredAt != future {
		t.Errorf("after %d: stored at %d", future, res.StoredAt)
	}
	if res := mustCommit(t, e.db, commitTo(topic, w, 3, map[uint32][]uint32{1: {1}})); res.StoredAt < now || res.StoredAt >= future {
		t.Errorf("in another queue: stored at %d, want the clock's %d", res.StoredAt, now)
	}
}
