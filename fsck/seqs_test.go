package fsck

import (
	"testing"

	"pgregory.net/rapid"
)

// drawSeqs draws a set and the same set as a plain map.
func drawSeqs(t *rapid.T, label string) (seqs, map[uint64]bool) {
	var set seqs
	model := map[uint64]bool{}
	for range rapid.IntRange(0, 8).Draw(t, label) {
		first := rapid.Uint64Max(40).Draw(t, "first")
		last := first + rapid.Uint64Max(5).Draw(t, "more")
		set.add(first, last)
		for seq := first; seq <= last; seq++ {
			model[seq] = true
		}
	}
	return set, model
}

func checkSeqs(t *rapid.T, set seqs, model map[uint64]bool) {
	if set.count() != uint64(len(model)) {
		t.Fatalf("%v has %d elements, want %d", set, set.count(), len(model))
	}
	for i, r := range set {
		if r.First > r.Last || (i > 0 && set[i-1].Last+1 >= r.First) {
			t.Fatalf("%v is not sorted ranges apart", set)
		}
		for seq := r.First; seq <= r.Last; seq++ {
			if !model[seq] {
				t.Fatalf("%v holds %d", set, seq)
			}
		}
	}
}

func TestSeqsAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, inA := drawSeqs(t, "a")
		b, inB := drawSeqs(t, "b")
		checkSeqs(t, a, inA)
		rest := a.minus(b)
		for seq := range inB {
			delete(inA, seq)
		}
		checkSeqs(t, rest, inA)
	})
}

func TestSeqsReachTheEndsOfTheirRange(t *testing.T) {
	const top = 1<<64 - 1
	var all seqs
	all.add(top, top)
	all.add(0, 0)
	all.add(1, top-1)
	if len(all) != 1 || all[0] != (Range{0, top}) {
		t.Fatalf("got %v", all)
	}
	var ends seqs
	ends.add(0, 0)
	ends.add(top, top)
	if got := all.minus(ends); len(got) != 1 || got[0] != (Range{1, top - 1}) {
		t.Errorf("got %v", got)
	}
	if got := all.minus(all); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
