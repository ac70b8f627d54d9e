package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

var (
	topicID = uuid.MustParse("01900000-0000-7000-8000-00000000000a")
	alice   = uuid.MustParse("01900000-0000-7000-8000-000000000001")
	bob     = uuid.MustParse("01900000-0000-7000-8000-000000000002")
)

const now = int64(1_700_000_000_000)

// bucket is built segment by segment, as writers would.
type bucket []replay.Segment

func (b *bucket) put(writer uuid.UUID, seq uint64, edits ...func(*replay.Segment)) *bucket {
	s := replay.Segment{Footer: segment.Footer{Writer: writer, Seq: seq, CreatedAt: now - 1000 + int64(len(*b))}}
	for _, edit := range edits {
		edit(&s)
	}
	*b = append(*b, s)
	return b
}

func withTopic(t meta.Topic) func(*replay.Segment) {
	return func(s *replay.Segment) { s.Topics = append(s.Topics, t) }
}

// messages adds a block of count messages behind the segment's other blocks.
func messages(queue, count uint32, id ...segment.Identity) func(*replay.Segment) {
	return func(s *replay.Segment) {
		position := int64(16)
		for _, b := range s.Footer.Blocks {
			position = b.Position + b.Length
		}
		b := segment.Block{
			Kind: segment.Messages, Topic: topicID, Queue: queue, Count: count,
			Position: position, Length: 100 * int64(count),
		}
		if len(id) > 0 {
			b.Identity = &id[0]
		}
		s.Footer.Blocks = append(s.Footer.Blocks, b)
	}
}

func burnt(seqs ...uint64) func(*replay.Segment) {
	return func(s *replay.Segment) { s.Footer.Burnt = seqs }
}

// receipt adds proof that all blocks that (writer, seq) has of the queue, which
// lie next to each other from position on, were given offsets from first on.
func receipt(writer uuid.UUID, seq uint64, queue uint32, first int64, count uint32, position int64, epoch int64) func(*replay.Segment) {
	return func(s *replay.Segment) {
		s.Footer.Receipts = append(s.Footer.Receipts, segment.Receipt{
			Writer: writer, Seq: seq, Topic: topicID, Epoch: epoch, Queue: queue,
			First: first, Count: count, Position: position, Length: 100 * int64(count), StoredAt: now - 2000 + first,
		})
	}
}

func orders() meta.Topic {
	return meta.Topic{ID: topicID, Name: "orders", Type: meta.TopicNormal, Queues: 2, Epoch: 1, Version: 1}
}

// layout is what a test compares: per queue, runs of (writer, seq, first, count).
type run struct {
	Writer       uuid.UUID
	Seq          uint64
	First, Count int64
}

func layout(t replay.Topic) map[uint32][]run {
	out := map[uint32][]run{}
	for q, s := range t.Snapshot.Queues {
		for _, e := range s.Entries {
			out[q] = append(out[q], run{e.Segment.Writer, e.Segment.Seq, e.First(), int64(e.Count)})
		}
	}
	return out
}

func one(t *testing.T, b bucket, o replay.Options) replay.Topic {
	t.Helper()
	if o.Now == 0 {
		o.Now = now
	}
	plan := replay.Replay(b, o)
	if len(plan.Topics) != 1 {
		t.Fatalf("got %d topics, want 1: %+v", len(plan.Topics), plan)
	}
	return plan.Topics[0]
}

func expect(t *testing.T, got replay.Topic, raised bool, want map[uint32][]run) {
	t.Helper()
	if diff := cmp.Diff(want, layout(got)); diff != "" {
		t.Errorf("entries differ (-want +got):\n%s", diff)
	}
	if got.EpochRaised != raised {
		t.Errorf("epoch raised: got %v, want %v", got.EpochRaised, raised)
	}
}

func TestReceiptsGiveExactOffsetsWhateverTheOrderOfSegments(t *testing.T) {
	var b bucket
	b.put(bob, 1, withTopic(orders()), messages(0, 5)).
		put(alice, 1, withTopic(orders()), messages(0, 3), messages(1, 2)).
		put(alice, 2, receipt(alice, 1, 0, 0, 3, 16, 1), receipt(alice, 1, 1, 0, 2, 316, 1)).
		put(bob, 2, receipt(bob, 1, 0, 3, 5, 16, 1))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{
		0: {{alice, 1, 0, 3}, {bob, 1, 3, 5}},
		1: {{alice, 1, 0, 2}},
	})
	if len(got.Receipts) != 0 {
		t.Errorf("proven entries were given again: %+v", got.Receipts)
	}
	if w := got.Snapshot.Writers[bob]; w.Seq != 1 {
		t.Errorf("last seq of bob: got %d, want 1", w.Seq)
	}
}

func TestTheTailOfOneWriterKeepsItsOffsetsAndEpoch(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(alice, 2, messages(0, 2), receipt(alice, 1, 0, 0, 3, 16, 1)).
		put(alice, 3, messages(0, 4))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 3}, {alice, 2, 3, 2}, {alice, 3, 5, 4}}})
	if len(got.Receipts) != 2 {
		t.Errorf("receipts for the two numbered entries: got %+v", got.Receipts)
	}
	w := got.Snapshot.Writers[alice]
	if w.Seq != 3 || len(w.Recent) != 2 || w.Recent[1].Firsts[0] != 5 {
		t.Errorf("the living writer must find its receipts: %+v", w)
	}
}

func TestTailsOfTwoWritersStartANewEpoch(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(bob, 1, messages(0, 2)).
		put(alice, 2, messages(0, 1))
	got := one(t, b, replay.Options{})
	expect(t, got, true, map[uint32][]run{0: {{alice, 1, 0, 3}, {bob, 1, 3, 2}, {alice, 2, 5, 1}}})
	if got.Snapshot.Topic.Epoch != 2 || got.Snapshot.Topic.Version != 2 {
		t.Errorf("topic: got %+v, want epoch and version 2", got.Snapshot.Topic)
	}
	for _, r := range got.Receipts {
		if r.Epoch != 2 {
			t.Errorf("receipt under the old epoch: %+v", r)
		}
	}
}

func TestTwoWritersOnDifferentQueuesKeepTheEpoch(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).put(bob, 1, messages(1, 2))
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{0: {{alice, 1, 0, 3}}, 1: {{bob, 1, 0, 2}}})
}

func TestAGapIsFilledByTheOneTailThatFits(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)). // its receipt is lost with alice
								put(bob, 1, messages(0, 2)).
								put(bob, 2, receipt(bob, 1, 0, 3, 2, 16, 1)).
								put(alice, 2, messages(0, 4))
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{0: {{alice, 1, 0, 3}, {bob, 1, 3, 2}, {alice, 2, 5, 4}}})
}

func TestAGapThatNoTailFitsIsRenumberedUnderANewEpoch(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 4)).
		put(bob, 1, messages(0, 2)).
		put(bob, 2, receipt(bob, 1, 0, 3, 2, 16, 1))
	got := one(t, b, replay.Options{})
	expect(t, got, true, map[uint32][]run{0: {{bob, 1, 0, 2}, {alice, 1, 2, 4}}})
}

func TestAGapThatNothingExplainsStaysAHole(t *testing.T) {
	var b bucket
	b.put(bob, 1, withTopic(orders()), messages(0, 2)).
		put(bob, 2, receipt(bob, 1, 0, 3, 2, 16, 1))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{bob, 1, 3, 2}}})
	if diff := cmp.Diff([]replay.Hole{{Queue: 0, First: 0, Next: 3}}, got.Holes); diff != "" {
		t.Errorf("holes (-want +got):\n%s", diff)
	}
}

func TestABurntSegmentThatLandedLateStaysInvisible(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(alice, 2, messages(0, 7)). // given up, landed all the same
		put(alice, 3, messages(0, 1)).
		put(alice, 4, burnt(2))
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{0: {{alice, 1, 0, 3}, {alice, 3, 3, 1}}})
}

func TestASegmentPassedByALaterReceiptWasRefused(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(alice, 2, messages(0, 1)).
		put(alice, 3, receipt(alice, 2, 0, 0, 1, 16, 1))
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{0: {{alice, 2, 0, 1}}})
}

func TestWhatADamagedFooterTookAwayFillsItsGap(t *testing.T) {
	lost := func(s *replay.Segment) { s.Damaged = true }
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(alice, 2, messages(0, 2)).       // its receipt was in 3
		put(alice, 3, messages(0, 1), lost). // and so was that of 1
		put(alice, 4, receipt(alice, 3, 0, 5, 1, 16, 1))
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{0: {{alice, 1, 0, 3}, {alice, 2, 3, 2}, {alice, 3, 5, 1}}})
	b = bucket{}
	b.put(alice, 1, withTopic(orders()), messages(0, 3)). // refused: no gap asks for it
								put(alice, 2, messages(0, 2), lost).
								put(alice, 3, receipt(alice, 2, 0, 0, 2, 16, 1))
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{0: {{alice, 2, 0, 2}}})
}

func TestACommitOfNothingIsDecided(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(alice, 2, receipt(alice, 1, 0, 0, 0, 0, 1))
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{})
}

func TestSegmentsBehindAGapAreLeftToALivingWriter(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(alice, 3, messages(0, 2)) // 2 is still being uploaded
	expect(t, one(t, b, replay.Options{}), false, map[uint32][]run{0: {{alice, 1, 0, 3}}})
	plan := replay.Replay(b, replay.Options{Now: now})
	if diff := cmp.Diff([]uuid.UUID{alice}, plan.Waiting); diff != "" {
		t.Errorf("waiting writers (-want +got):\n%s", diff)
	}
	expect(t, one(t, b, replay.Options{Exclusive: true}), false, map[uint32][]run{0: {{alice, 1, 0, 3}, {alice, 3, 3, 2}}})
}

func TestTheReceiptOfALaterEpochWins(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).
		put(bob, 1, messages(0, 2)).
		put(alice, 2, receipt(alice, 1, 0, 0, 3, 16, 1)).
		put(bob, 2, receipt(bob, 1, 0, 0, 2, 16, 2), receipt(alice, 1, 0, 2, 3, 16, 2))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{bob, 1, 0, 2}, {alice, 1, 2, 3}}})
	if got.Snapshot.Topic.Epoch != 2 {
		t.Errorf("epoch: got %d, want 2", got.Snapshot.Topic.Epoch)
	}
}

func TestReplayingTwiceGivesTheSame(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).put(bob, 1, messages(0, 2))
	first := one(t, b, replay.Options{})
	carol := uuid.MustParse("01900000-0000-7000-8000-000000000003")
	b.put(carol, 1, withTopic(first.Snapshot.Topic), func(s *replay.Segment) { s.Footer.Receipts = first.Receipts })
	second := one(t, b, replay.Options{})
	expect(t, second, false, layout(first))
	if second.Snapshot.Topic.Epoch != 2 {
		t.Errorf("epoch: got %d, want 2", second.Snapshot.Topic.Epoch)
	}
}

func key(n byte) segment.Identity {
	return segment.Identity{Kind: segment.IdentityKey, Key: [16]byte{n}, Parts: 1, Queues: 2, IDBase: uuid.UUID{n, 1}}
}

func sequence(producer byte, epoch, seq int64) segment.Identity {
	return segment.Identity{
		Kind: segment.IdentityProducer, Key: [16]byte{producer}, Epoch: epoch, Seq: seq, Parts: 1, Queues: 2,
		IDBase: uuid.UUID{producer, byte(epoch), byte(seq)},
	}
}

func TestRepeatedRequestsInTheTailAreLeftOut(t *testing.T) {
	again := key(1)
	again.IDBase = uuid.UUID{9}
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3, key(1)), messages(0, 1, sequence(5, 1, 1))).
		put(alice, 2, messages(0, 2), messages(0, 3, again), messages(0, 4, sequence(5, 1, 2))).
		put(alice, 3, messages(0, 1, sequence(5, 1, 2)), messages(0, 1, sequence(5, 1, 9)), messages(0, 6, sequence(5, 2, 40)))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{
		0: {{alice, 1, 0, 4}, {alice, 2, 4, 2}, {alice, 2, 6, 4}, {alice, 3, 10, 6}},
	})
	parts := map[uuid.UUID][]meta.Part{}
	for _, d := range got.Snapshot.Dedupe {
		parts[d.Request.IDBase] = d.Parts
	}
	want := map[uuid.UUID][]meta.Part{
		{1, 1}:     {{Queue: 0, First: 0, Count: 3}},
		{5, 1, 1}:  {{Queue: 0, First: 3, Count: 1}},
		{5, 1, 2}:  {{Queue: 0, First: 6, Count: 4}},
		{5, 2, 40}: {{Queue: 0, First: 10, Count: 6}},
	}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Errorf("remembered requests (-want +got):\n%s", diff)
	}
	if w := got.Snapshot.Writers[alice]; len(w.Recent) != 1 || w.Recent[0].Seq != 1 {
		t.Errorf("a commit with requests left out must have no memo: %+v", w)
	}
}

func TestTheNewestStateOfATopicCounts(t *testing.T) {
	grown, gone := orders(), orders()
	grown.Queues, grown.Version = 4, 2
	gone.Deleted, gone.Version = true, 3
	var b bucket
	b.put(alice, 2, withTopic(grown)).put(alice, 1, withTopic(orders()))
	if got := one(t, b, replay.Options{}); got.Snapshot.Topic.Queues != 4 {
		t.Errorf("queues: got %d, want 4", got.Snapshot.Topic.Queues)
	}
	b.put(bob, 1, withTopic(gone))
	plan := replay.Replay(b, replay.Options{Now: now})
	if len(plan.Topics) != 0 || !plan.Ended[topicID] {
		t.Errorf("a deleted topic came back: %+v", plan)
	}
}

func TestOfTwoStatesOfOneVersionTheRaisedEpochCounts(t *testing.T) {
	raised := orders()
	raised.Epoch = 2
	for _, states := range [][]meta.Topic{{raised, orders()}, {orders(), raised}} {
		var b bucket
		b.put(alice, 1, withTopic(states[0])).put(bob, 1, withTopic(states[1]))
		if got := one(t, b, replay.Options{}); got.Snapshot.Topic.Epoch != 2 {
			t.Errorf("epoch: got %d, want 2", got.Snapshot.Topic.Epoch)
		}
	}
}

func TestOfTwoTopicsWithOneNameTheLaterLives(t *testing.T) {
	later := orders()
	later.ID, later.CreatedAt = uuid.MustParse("01900000-0000-7000-8000-00000000000b"), 5
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3)).put(alice, 2, withTopic(later))
	plan := replay.Replay(b, replay.Options{Now: now})
	if len(plan.Topics) != 1 || plan.Topics[0].Snapshot.Topic.ID != later.ID || !plan.Ended[topicID] {
		t.Errorf("got %+v", plan)
	}
}

func TestMessagesOfATopicWithoutStateAreReported(t *testing.T) {
	var b bucket
	b.put(alice, 1, messages(0, 3))
	plan := replay.Replay(b, replay.Options{Now: now})
	if diff := cmp.Diff([]uuid.UUID{topicID}, plan.Orphans); diff != "" || len(plan.Topics) != 0 {
		t.Errorf("got %+v", plan)
	}
}
