package replay_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
)

// deal is a transaction of some seconds before now.
var deal = uuid.MustParse("018bcfe5-6400-7000-8000-000000000001")

// half adds a block of two half messages of the deal.
func half(queue uint32, n int) func(*replay.Segment) {
	return func(s *replay.Segment) {
		messages(queue, 2)(s)
		b := &s.Footer.Blocks[len(s.Footer.Blocks)-1]
		b.Transaction, b.DueID = deal, timerIDs[n]
	}
}

// begun adds the record that begins the deal of so many messages.
func begun(count int) func(*replay.Segment) {
	return func(s *replay.Segment) {
		s.Transactions = append(s.Transactions, meta.Transaction{
			ID: deal, Group: "sellers", State: meta.TxBegun, CreatedAt: now - 3000, CheckAfter: 6000, Reference: "deal 1",
			Topics: []meta.TransactionTopic{{Topic: topicID, Name: "orders", Messages: count}},
		})
	}
}

func decided(state string, ago time.Duration) func(*replay.Segment) {
	return func(s *replay.Segment) {
		s.Decisions = append(s.Decisions, replay.Decision{ID: deal, Group: "sellers", State: state, DecidedAt: now - ago.Milliseconds()})
	}
}

// transaction replays the only transaction; false: there is none of interest.
func transaction(t *testing.T, b bucket) (meta.Transaction, bool) {
	t.Helper()
	plan := replay.Replay(b, replay.Options{Now: now})
	if len(plan.Producers) == 0 {
		return meta.Transaction{}, false
	}
	if len(plan.Producers) != 1 || plan.Producers[0].Group != "sellers" || len(plan.Producers[0].Transactions) != 1 {
		t.Fatalf("transactions: %+v", plan.Producers)
	}
	return plan.Producers[0].Transactions[0], true
}

// down returns the numbers of the halves that have a pointer, and the places of
// the others that are known.
func down(got replay.Topic) (pointers []int, places map[int]int64) {
	places = map[int]int64{}
	for _, h := range got.Snapshot.Halves {
		n := int(h.ID[0]) - 1
		if h.Placed {
			places[n] = h.First
		} else {
			pointers = append(pointers, n)
		}
	}
	return pointers, places
}

func TestAnUndecidedTransactionIsOpenAgain(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), begun(4), messages(0, 3), half(0, 0)).
		put(alice, 2, receipt(alice, 1, 0, 0, 3, 16, 1), armed(alice, 1, 0, 316, 200), half(1, 1)) // the last one has no receipt yet
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 3}}})
	if pointers, places := down(got); !cmp.Equal(pointers, []int{0, 1}) || len(places) > 0 {
		t.Errorf("halves %v, places %v", pointers, places)
	}
	tx, _ := transaction(t, b)
	if tx.State != meta.TxOpen || tx.NextCheck != now+3000 || tx.Reference != "deal 1" || len(tx.Topics) != 1 || len(tx.Topics[0].Halves) != 2 || tx.Topics[0].Halves[1].Queue != 1 {
		t.Errorf("transaction %+v", tx)
	}
	if n := len(got.Receipts); n != 1 || got.Receipts[0].Count != 0 || got.Receipts[0].Length != 200 {
		t.Errorf("receipts of the tail: %+v", got.Receipts)
	}
}

// Until all of it is found a transaction is none that may be committed.
func TestAPartOfATransactionIsNotOpen(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), begun(4), half(0, 0))
	if tx, _ := transaction(t, b); tx.State != meta.TxBegun {
		t.Errorf("with half of its messages it is %s", tx.State)
	}
	b.put(alice, 2, burnt(3)).put(alice, 3, half(0, 1)) // never stored, as its writer says
	if tx, _ := transaction(t, b); tx.State != meta.TxBegun {
		t.Errorf("with a burnt segment it is %s", tx.State)
	}
}

func TestARolledBackTransactionIsNeverReadable(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), begun(2), half(0, 0)).put(bob, 1, decided(meta.TxRolledBack, time.Second))
	got := one(t, b, replay.Options{})
	if pointers, places := down(got); len(pointers) > 0 || len(places) > 0 {
		t.Errorf("halves %v, places %v", pointers, places)
	}
	expect(t, got, false, map[uint32][]run{})
	if tx, _ := transaction(t, b); tx.State != meta.TxRolledBack || !tx.Settled || !tx.Logged {
		t.Errorf("transaction %+v", tx)
	}
	b.put(bob, 2, decided(meta.TxRolledBack, 48*time.Hour))
	b[1].Decisions = nil
	if tx, known := transaction(t, b); known {
		t.Errorf("known after two days: %+v", tx)
	}
}

// A committed transaction without receipts may have got its offsets: who was told
// them must hear of a new epoch.
func TestACommittedTransactionIsPlacedAgainUnderANewEpoch(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), begun(2), messages(0, 3), half(0, 0)).
		put(bob, 1, decided(meta.TxCommitted, 48*time.Hour), receipt(alice, 1, 0, 0, 3, 16, 1), armed(alice, 1, 0, 316, 200)) // however long ago
	got := one(t, b, replay.Options{})
	expect(t, got, true, map[uint32][]run{0: {{alice, 1, 0, 3}}})
	if pointers, _ := down(got); !cmp.Equal(pointers, []int{0}) {
		t.Errorf("halves %v", pointers)
	}
	if tx, _ := transaction(t, b); tx.State != meta.TxCommitted || tx.Settled || tx.Placed {
		t.Errorf("transaction %+v", tx)
	}
}

func TestACommittedTransactionKeepsItsOffsets(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), begun(4), messages(0, 3), half(0, 0), half(1, 1)).
		put(bob, 1, decided(meta.TxCommitted, time.Second), receipt(alice, 1, 0, 0, 3, 16, 1),
			receipt(alice, 1, 0, 3, 2, 316, 1), receipt(alice, 1, 1, 0, 2, 516, 1))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 3}, {alice, 1, 3, 2}}, 1: {{alice, 1, 0, 2}}})
	if pointers, places := down(got); len(pointers) > 0 || !cmp.Equal(places, map[int]int64{0: 3, 1: 0}) {
		t.Errorf("halves %v, places %v", pointers, places)
	}
	b[1].Decisions[0].DecidedAt -= 48 * 3_600_000
	if pointers, places := down(one(t, b, replay.Options{})); len(pointers)+len(places) > 0 {
		t.Errorf("after two days: halves %v, places %v", pointers, places)
	}
	if tx, known := transaction(t, b); known {
		t.Errorf("known after two days: %+v", tx)
	}
}

func TestAnExpiredTransactionIsKeptForAWhile(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), begun(2), half(0, 0)).put(bob, 1, decided(meta.TxExpired, 48*time.Hour))
	if pointers, _ := down(one(t, b, replay.Options{})); !cmp.Equal(pointers, []int{0}) {
		t.Errorf("halves %v", pointers)
	}
	if tx, _ := transaction(t, b); tx.State != meta.TxExpired || len(tx.Topics[0].Halves) != 1 {
		t.Errorf("transaction %+v", tx)
	}
	// Committed after all.
	b.put(bob, 2, decided(meta.TxCommitted, time.Second))
	if tx, _ := transaction(t, b); tx.State != meta.TxCommitted {
		t.Errorf("transaction %+v", tx)
	}
	b[1].Decisions[0].DecidedAt -= 30 * 3_600_000
	b[2].Decisions = nil
	if pointers, _ := down(one(t, b, replay.Options{})); len(pointers) > 0 {
		t.Errorf("halves after three days %v", pointers)
	}
}

// The newest decision counts: an older one that contradicts it was not confirmed.
func TestTheNewestDecisionCounts(t *testing.T) {
	for _, order := range [][2]uint64{{1, 2}, {2, 1}} {
		var b bucket
		b.put(alice, 1, withTopic(orders()), begun(2), half(0, 0)).
			put(bob, order[0], decided(meta.TxCommitted, 2*time.Second)).
			put(bob, order[1], decided(meta.TxRolledBack, time.Second))
		if tx, _ := transaction(t, b); tx.State != meta.TxRolledBack {
			t.Errorf("it is %s", tx.State)
		}
	}
}

func TestATransactionWhoseBeginningIsLost(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), half(0, 0))
	if _, known := transaction(t, b); known {
		t.Error("it is known without a record")
	}
	if pointers, _ := down(one(t, b, replay.Options{})); !cmp.Equal(pointers, []int{0}) {
		t.Errorf("its record may be on its way: halves %v", pointers)
	}
	if pointers, _ := down(one(t, b, replay.Options{Now: now + 3_600_000})); len(pointers) > 0 {
		t.Errorf("an hour later: halves %v", pointers)
	}
	b.put(bob, 1, decided(meta.TxCommitted, time.Second))
	if tx, _ := transaction(t, b); tx.State != meta.TxCommitted || len(tx.Topics) != 1 || tx.Topics[0].Name != "orders" || len(tx.Topics[0].Halves) != 1 {
		t.Errorf("committed: %+v", tx)
	}
}
