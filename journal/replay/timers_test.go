package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/segment"
)

var timerIDs = []uuid.UUID{{1}, {2}, {3}, {4}}

// delayed adds a block of one message that is due in so many milliseconds.
func delayed(queue uint32, n int, in int64, id ...segment.Identity) func(*replay.Segment) {
	return func(s *replay.Segment) {
		messages(queue, 1, id...)(s)
		b := &s.Footer.Blocks[len(s.Footer.Blocks)-1]
		b.Due, b.DueID = now+in, timerIDs[n]
	}
}

// armed adds the receipt of delayed blocks.
func armed(writer uuid.UUID, seq uint64, queue uint32, position, length int64) func(*replay.Segment) {
	return func(s *replay.Segment) {
		s.Footer.Receipts = append(s.Footer.Receipts, segment.Receipt{
			Writer: writer, Seq: seq, Topic: topicID, Epoch: 1, Queue: queue, Position: position, Length: length, StoredAt: now - 2000,
		})
	}
}

func recalled(writer uuid.UUID, seq uint64, position int64) func(*replay.Segment) {
	return func(s *replay.Segment) {
		s.Recalls = append(s.Recalls, replay.Recall{Topic: topicID, Writer: writer, Seq: seq, Position: position})
	}
}

func waiting(t *testing.T, got replay.Topic, want ...int) {
	t.Helper()
	var ids, all []uuid.UUID
	for _, timer := range got.Snapshot.Timers {
		ids = append(ids, timer.ID)
	}
	for _, n := range want {
		all = append(all, timerIDs[n])
	}
	if diff := cmp.Diff(all, ids); diff != "" {
		t.Errorf("timers differ (-want +got):\n%s", diff)
	}
}

// again replays the bucket with what the first replay wrote down.
func (b bucket) again(got replay.Topic) bucket {
	var more bucket
	more = append(more, b...)
	return *more.put(uuid.UUID{9}, 1, func(s *replay.Segment) {
		s.Footer.Receipts = got.Receipts
		if got.EpochRaised {
			s.Topics = append(s.Topics, got.Snapshot.Topic)
		}
	})
}

func TestTimersThatHaveNotFiredWaitAgain(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 2), delayed(0, 0, 2000), delayed(0, 1, 1000), messages(0, 3)).
		put(alice, 2, receipt(alice, 1, 0, 0, 2, 16, 1), armed(alice, 1, 0, 216, 200), receipt(alice, 1, 0, 2, 3, 416, 1), delayed(1, 2, 5000)) // the last one: no receipt yet
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 2}, {alice, 1, 2, 3}}})
	waiting(t, got, 1, 0, 2)
	if n := len(got.Receipts); n != 1 || got.Receipts[0].Seq != 2 || got.Receipts[0].Count != 0 || got.Receipts[0].Length != 100 {
		t.Errorf("receipts of the tail: %+v", got.Receipts)
	}
	if got.Snapshot.Writers[alice].Seq != 2 {
		t.Errorf("last seq of alice: %d", got.Snapshot.Writers[alice].Seq)
	}
	waiting(t, one(t, b.again(got), replay.Options{}), 1, 0, 2)
}

func TestATimerThatHasFiredKeepsItsOffsetAndIsNoProofOfItsWriter(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 2)). // without a receipt: alice died
								put(alice, 2, delayed(0, 0, -500), delayed(0, 1, 9000)).
								put(bob, 1, receipt(alice, 2, 0, 2, 1, 16, 1)) // bob's coordinator fired it
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 2}, {alice, 2, 2, 1}}})
	waiting(t, got, 1)
	next := one(t, b.again(got), replay.Options{})
	expect(t, next, false, map[uint32][]run{0: {{alice, 1, 0, 2}, {alice, 2, 2, 1}}})
	waiting(t, next, 1)
}

func TestATimerThatMayHaveFiredRaisesTheEpoch(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 2), delayed(0, 0, -500)).
		put(alice, 2, receipt(alice, 1, 0, 0, 2, 16, 1), armed(alice, 1, 0, 216, 100))
	got := one(t, b, replay.Options{})
	expect(t, got, true, map[uint32][]run{0: {{alice, 1, 0, 2}}})
	waiting(t, got, 0)
	if got.Renumbered[0] != 2 {
		t.Errorf("renumbered from %d, want 2: everything before is proven", got.Renumbered[0])
	}
	// It got offset 2, and then a message was proven at 3: the gap is no hole.
	b.put(alice, 3, messages(0, 1)).put(alice, 4, receipt(alice, 3, 0, 3, 1, 16, 1))
	got = one(t, b, replay.Options{})
	expect(t, got, true, map[uint32][]run{0: {{alice, 1, 0, 2}, {alice, 3, 2, 1}}})
	waiting(t, got, 0)
	if len(got.Holes) != 0 {
		t.Errorf("holes: %+v", got.Holes)
	}
}

func TestARecalledTimerIsGone(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), delayed(0, 0, 500), delayed(0, 1, 600)).
		put(alice, 2, armed(alice, 1, 0, 16, 200), recalled(alice, 1, 16))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{})
	waiting(t, got, 1)
}

func TestTimersOfARefusedRequestAreNotPutDown(t *testing.T) {
	id := segment.Identity{Kind: segment.IdentityKey, Key: [16]byte{1}, Parts: 1, Queues: 2, IDBase: uuid.UUID{7}}
	twice := id
	twice.IDBase = uuid.UUID{8}
	var b bucket
	b.put(alice, 1, withTopic(orders()), delayed(0, 0, 500, id)).
		put(alice, 2, armed(alice, 1, 0, 16, 100), delayed(0, 1, 600, twice), delayed(0, 2, 700)).
		put(bob, 1, delayed(0, 3, 800, twice))
	got := one(t, b, replay.Options{})
	waiting(t, got, 0, 2)
	if d := got.Snapshot.Dedupe; len(d) != 1 || d[0].Request.Identity.IDBase != id.IDBase || len(d[0].Parts) != 0 {
		t.Errorf("remembered: %+v", d)
	}
	waiting(t, one(t, b.again(got), replay.Options{}), 0, 2)
}

func TestFiringsOfOneSegmentInTwoEpochsBothStand(t *testing.T) {
	raised := orders()
	raised.Epoch, raised.Version = 2, 2
	var b bucket
	b.put(alice, 1, withTopic(orders()), delayed(0, 0, -900), delayed(0, 1, -500)).
		put(alice, 2, armed(alice, 1, 0, 16, 200), receipt(alice, 1, 0, 0, 1, 16, 1)).
		put(bob, 1, withTopic(raised), receipt(alice, 1, 0, 1, 1, 116, 2))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 1}, {alice, 1, 1, 1}}})
	waiting(t, got)
}
