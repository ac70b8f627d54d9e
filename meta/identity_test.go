package meta_test

import (
	"crypto/sha256"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

var identityCases = []testCase{
	{"KeyIsStoredOnce", keyIsStoredOnce},
	{"KeyWithAnotherBodyIsRefused", keyWithAnotherBodyIsRefused},
	{"KeyTwiceInOneCommit", keyTwiceInOneCommit},
	{"WithheldChunkSplitsTheRun", withheldChunkSplitsTheRun},
	{"ProducerSequence", producerSequence},
	{"ProducerRequestsOfOneCommitAreDecidedInOrder", producerRequestsInOrder},
	{"ReceiptKeepsVerdicts", receiptKeepsVerdicts},
	{"NumbersNear2To53", numbersNear2To53},
	{"ConditionsAreMetOrLeftOut", conditionsAreMetOrLeftOut},
	{"OneOfManyConditionalWritersWins", oneOfManyConditionalWritersWins},
}

func half(text string) (h [16]byte) {
	sum := sha256.Sum256([]byte(text))
	copy(h[:], sum[:])
	return h
}

func keyRequest(key, body string) meta.Request {
	return meta.Request{IDBase: uuid.New(), Identity: segment.Identity{Kind: segment.IdentityKey,
		Key: half(key), Body: half(body), Queues: 4, AutoQueue: 2, Parts: 1}}
}

func producerRequest(id string, epoch, seq int64) meta.Request {
	return meta.Request{IDBase: uuid.New(), Identity: segment.Identity{Kind: segment.IdentityProducer,
		Key: half(id), Epoch: epoch, Seq: seq, Queues: 4, AutoQueue: 1, Parts: 1}}
}

// requestCommit puts one chunk of two messages per request into queue 0.
func requestCommit(topic meta.Topic, writer uuid.UUID, seq uint64, requests ...meta.Request) meta.Commit {
	c := meta.Commit{Topic: topic.ID, Epoch: topic.Epoch, Writer: writer, Seq: seq, Requests: requests}
	q := meta.QueueCommit{}
	for i := range requests {
		q.Chunks = append(q.Chunks, meta.CommitChunk{Count: 2, Position: int64(i * 10), Length: 10, Request: i})
	}
	c.Queues = []meta.QueueCommit{q}
	return c
}

func keyIsStoredOnce(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 4)
	r := keyRequest("k", "body")
	c := requestCommit(topic, uuid.New(), 1, r)
	c.Queues = append(c.Queues, meta.QueueCommit{Queue: 3, Chunks: []meta.CommitChunk{{Count: 5, Position: 10, Length: 9, Request: 0}}})
	first := mustCommit(t, e.db, c)
	want := meta.RequestOutcome{Status: meta.RequestStored, IDBase: r.IDBase, Queues: 4, AutoQueue: 2,
		Parts: []meta.Part{{Queue: 0, First: 0, Count: 2}, {Queue: 3, First: 0, Count: 5}}}
	equal(t, "first outcome", first.Requests[0], want)

	other := requestCommit(topic, uuid.New(), 9, keyRequest("k", "body"), keyRequest("new", "body"))
	res := mustCommit(t, e.db, other)
	want.Status = meta.RequestDuplicate
	equal(t, "second outcome", res.Requests[0], want)
	equal(t, "offsets", res.Firsts, [][]int64{{-1, 2}})
	if res.Requests[1].Status != meta.RequestStored {
		t.Errorf("its neighbour: %+v", res.Requests[1])
	}
	elsewhere := newTopic(t, e.db, 4)
	res = mustCommit(t, e.db, requestCommit(elsewhere, uuid.New(), 1, keyRequest("k", "body")))
	equal(t, "the same key in another topic", res.Requests[0].Status, meta.RequestStored)
}

func keyWithAnotherBodyIsRefused(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w := uuid.New()
	mustCommit(t, e.db, requestCommit(topic, w, 1, keyRequest("k", "one")))
	res := mustCommit(t, e.db, requestCommit(topic, w, 2, keyRequest("k", "two")))
	equal(t, "outcome", res.Requests[0], meta.RequestOutcome{Status: meta.RequestKeyReused})
	equal(t, "offsets", res.Firsts, [][]int64{{-1}})
	if len(res.Entries) != 0 {
		t.Errorf("entries of a refused request: %v", res.Entries)
	}
	res = mustCommit(t, e.db, requestCommit(topic, w, 3, keyRequest("k", "one")))
	equal(t, "the first body again", res.Requests[0].Status, meta.RequestDuplicate)
}

func keyTwiceInOneCommit(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	a, b, c := keyRequest("k", "one"), keyRequest("k", "one"), keyRequest("k", "two")
	res := mustCommit(t, e.db, requestCommit(topic, uuid.New(), 1, a, b, c))
	parts := []meta.Part{{Queue: 0, First: 0, Count: 2}}
	equal(t, "outcomes", res.Requests, []meta.RequestOutcome{
		{Status: meta.RequestStored, IDBase: a.IDBase, Parts: parts, Queues: 4, AutoQueue: 2},
		{Status: meta.RequestDuplicate, IDBase: a.IDBase, Parts: parts, Queues: 4, AutoQueue: 2},
		{Status: meta.RequestKeyReused},
	})
	equal(t, "offsets", res.Firsts, [][]int64{{0, -1, -1}})
}

func withheldChunkSplitsTheRun(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w := uuid.New()
	mustCommit(t, e.db, requestCommit(topic, w, 1, keyRequest("k", "b")))
	c := meta.Commit{Topic: topic.ID, Epoch: 1, Writer: w, Seq: 2, Requests: []meta.Request{keyRequest("k", "b"), keyRequest("l", "b")},
		Queues: []meta.QueueCommit{{Chunks: []meta.CommitChunk{
			{Count: 1, Position: 0, Length: 10, Tags: 1, Request: -1},
			{Count: 1, Position: 10, Length: 10, Tags: 2, Request: -1},
			{Count: 7, Position: 20, Length: 70, Tags: 4, Request: 0},
			{Count: 3, Position: 90, Length: 30, Tags: 8, Request: 1},
		}}}}
	res := mustCommit(t, e.db, c)
	ref := meta.SegmentRef{Writer: w, Seq: 2}
	want := []meta.Entry{
		{Next: 4, Count: 2, StoredAt: res.StoredAt, Segment: ref, Position: 0, Length: 20, Tags: 3},
		{Next: 7, Count: 3, StoredAt: res.StoredAt, Segment: ref, Position: 90, Length: 30, Tags: 8},
	}
	equal(t, "offsets", res.Firsts, [][]int64{{2, 3, -1, 4}})
	equal(t, "entries of the result", res.Entries, want)
	win, err := e.db.Lookup(t.Context(), topic.ID, 0, 2, 10)
	check(t, err)
	equal(t, "entries in redis", win.Entries, want)
}

func producerSequence(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w := uuid.New()
	seq := uint64(0)
	send := func(epoch, n int64) meta.RequestOutcome {
		seq++
		return mustCommit(t, e.db, requestCommit(topic, w, seq, producerRequest("p", epoch, n))).Requests[0]
	}
	equal(t, "any first seq", send(3, 40).Status, meta.RequestStored)
	for n := int64(41); n <= 46; n++ {
		equal(t, "the next seq", send(3, n).Status, meta.RequestStored)
	}
	out := send(3, 44)
	equal(t, "a seq again", out.Status, meta.RequestDuplicate)
	equal(t, "its first answer", out.Parts, []meta.Part{{Queue: 0, First: 8, Count: 2}})
	out = send(3, 41)
	equal(t, "an old seq again", out.Status, meta.RequestDuplicate)
	if out.Parts != nil {
		t.Errorf("more than the last five answers are kept: %v", out.Parts)
	}
	equal(t, "a seq too far", send(3, 48), meta.RequestOutcome{Status: meta.RequestGap, Expected: 47})
	equal(t, "an old epoch", send(2, 47), meta.RequestOutcome{Status: meta.RequestFenced, Current: 3})
	equal(t, "a new epoch at any seq", send(4, 7).Status, meta.RequestStored)
	equal(t, "the epoch before it", send(3, 47), meta.RequestOutcome{Status: meta.RequestFenced, Current: 4})
	equal(t, "on it goes", send(4, 8).Status, meta.RequestStored)
	states, err := e.db.Queues(t.Context(), topic)
	check(t, err)
	equal(t, "messages stored", states[0].Next, 18)
}

func producerRequestsInOrder(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	res := mustCommit(t, e.db, requestCommit(topic, uuid.New(), 1,
		producerRequest("p", 1, 1), producerRequest("p", 1, 2), producerRequest("q", 1, 9),
		producerRequest("p", 1, 2), producerRequest("p", 1, 4), producerRequest("p", 1, 3)))
	var got []string
	for _, out := range res.Requests {
		got = append(got, out.Status)
	}
	equal(t, "outcomes", got, []string{"stored", "stored", "stored", "duplicate", "gap", "stored"})
	equal(t, "offsets", res.Firsts, [][]int64{{0, 2, 4, -1, -1, 6}})
	equal(t, "the duplicate's answer", res.Requests[3].Parts, res.Requests[1].Parts)
	equal(t, "the gap", res.Requests[4].Expected, 3)
}

func receiptKeepsVerdicts(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	w := uuid.New()
	mustCommit(t, e.db, requestCommit(topic, w, 1, keyRequest("k", "b"), producerRequest("p", 5, 5)))
	c := requestCommit(topic, w, 2, keyRequest("k", "b"), keyRequest("k", "c"), keyRequest("n", "b"),
		producerRequest("p", 5, 9), producerRequest("p", 4, 1), producerRequest("p", 5, 5))
	first := mustCommit(t, e.db, c)
	again := mustCommit(t, e.db, c)
	again.Repeated = false
	equal(t, "receipt", again, first)
}

func numbersNear2To53(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	const top = int64(1)<<53 - 1
	w := uuid.New()
	res := mustCommit(t, e.db, requestCommit(topic, w, uint64(top)-1, producerRequest("p", top-1, top-2)))
	equal(t, "stored", res.Requests[0].Status, meta.RequestStored)
	res = mustCommit(t, e.db, requestCommit(topic, w, uint64(top),
		producerRequest("p", top-1, top), producerRequest("p", top-2, 1), producerRequest("p", top-1, top-2)))
	equal(t, "gap", res.Requests[0].Expected, top-1)
	equal(t, "fenced", res.Requests[1].Current, top-1)
	equal(t, "duplicate", res.Requests[2].Parts, []meta.Part{{Queue: 0, First: 0, Count: 2}})
	seqs, err := e.db.LastSeqs(t.Context(), topic.ID)
	check(t, err)
	equal(t, "last seq", seqs[w], uint64(top))
}
