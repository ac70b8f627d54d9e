package fsck

import (
	"fmt"
	"slices"
)

// Range is a run of segment seqs, both ends included.
type Range struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// String returns "seq 4" or "seqs 4–6".
func (r Range) String() string {
	if r.First == r.Last {
		return fmt.Sprintf("seq %d", r.First)
	}
	return fmt.Sprintf("seqs %d–%d", r.First, r.Last)
}

// seqs is a set of seqs: sorted ranges that neither overlap nor touch.
type seqs []Range

// add adds first to last. Adding in rising order is cheap.
func (s *seqs) add(first, last uint64) {
	set := *s
	// The ranges from i on end at or after the place right before first.
	i := len(set)
	for i > 0 && (set[i-1].Last >= first || set[i-1].Last+1 == first) {
		i--
	}
	j := i
	for j < len(set) && (set[j].First <= last || set[j].First-1 == last) {
		first, last = min(first, set[j].First), max(last, set[j].Last)
		j++
	}
	*s = slices.Replace(set, i, j, Range{first, last})
}

// minus returns the set without the elements of o.
func (s seqs) minus(o seqs) seqs {
	var rest seqs
	for _, r := range s {
		from, done := r.First, false
		for _, cut := range o {
			if cut.Last < from || done {
				continue
			}
			if cut.First > r.Last {
				break
			}
			if cut.First > from {
				rest = append(rest, Range{from, cut.First - 1})
			}
			if done = cut.Last >= r.Last; !done {
				from = cut.Last + 1
			}
		}
		if !done {
			rest = append(rest, Range{from, r.Last})
		}
	}
	return rest
}

func (s seqs) count() uint64 {
	n := uint64(0)
	for _, r := range s {
		n += r.Last - r.First + 1
	}
	return n
}
