package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/segment"
)

func only(n byte, first int64) segment.Identity {
	id := key(n)
	id.Kind, id.Epoch = segment.IdentityCondition, first
	return id
}

// Whether a conditional request without a receipt was stored follows from where it
// lands, as the commit decided it.
func TestConditionsOfTheTailAreDecidedWhereTheyLand(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 3), messages(0, 2, only(1, 3)), messages(0, 1, only(2, 3)), messages(0, 1)).
		put(alice, 2, messages(0, 4, only(3, 6)), messages(0, 1, only(4, 6)))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{
		0: {{alice, 1, 0, 3}, {alice, 1, 3, 2}, {alice, 1, 5, 1}, {alice, 2, 6, 4}},
	})
	remembered := map[uuid.UUID]bool{}
	for _, d := range got.Snapshot.Dedupe {
		remembered[d.Request.IDBase] = true
	}
	if want := map[uuid.UUID]bool{{1, 1}: true, {3, 1}: true}; !cmp.Equal(want, remembered) {
		t.Errorf("remembered: got %v, want %v", remembered, want)
	}
	if w := got.Snapshot.Writers[alice]; len(w.Recent) != 0 {
		t.Errorf("a commit with requests left out must have no memo: %+v", w)
	}
}

// What fills a gap exactly is found without what its condition keeps out.
func TestAGapIsFilledWithWhatMeetsItsCondition(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 2), messages(0, 1, only(1, 7)), messages(0, 3, only(2, 2))).
		put(bob, 1, messages(0, 4)).
		put(bob, 2, receipt(bob, 1, 0, 5, 4, 16, 1))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 2}, {alice, 1, 2, 3}, {bob, 1, 5, 4}}})
}

// A receipt proves a verdict: the condition is not looked at again.
func TestAReceiptDecidesACondition(t *testing.T) {
	var b bucket
	b.put(alice, 1, withTopic(orders()), messages(0, 2), messages(0, 1, only(1, 2))).
		put(bob, 1, messages(0, 1, only(2, 2))).
		put(alice, 2, receipt(alice, 1, 0, 0, 2, 16, 1)).
		put(bob, 2, receipt(bob, 1, 0, 2, 1, 16, 1))
	got := one(t, b, replay.Options{})
	expect(t, got, false, map[uint32][]run{0: {{alice, 1, 0, 2}, {bob, 1, 2, 1}}})
}
