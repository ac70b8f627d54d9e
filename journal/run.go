package journal

import (
	"fmt"

	"github.com/bucketmq/bucketmq/segment"
)

// runs examines the messages of one checked block for a raw read. They are not
// decoded, unless there is a filter.
func (s *scan) runs(b *block, sp span, storedAt int64) error {
	rest := b.from(uint32(s.page.Next - sp.first))
	if s.want.filter.All() {
		s.whole(rest, sp, storedAt)
		return nil
	}
	for s.page.Next < sp.next() && !s.full {
		r, n, err := segment.DecodeRecord(rest)
		if err != nil {
			return fmt.Errorf("record of a checked block: %w", err)
		}
		if s.want.filter.Match(&r) {
			if !s.room(1, int64(n)) {
				return nil
			}
			s.page.Runs = append(s.page.Runs, Run{First: s.page.Next, Count: 1, StoredAt: storedAt, Raw: rest[:n:n]})
		}
		rest = rest[n:]
		s.page.Next++
		s.examine(1, int64(n))
	}
	return nil
}

// whole takes as many of a block's last records as there is room for.
func (s *scan) whole(rest []byte, sp span, storedAt int64) {
	count := int(sp.next() - s.page.Next)
	n, size := s.fit(rest, count)
	if n > 0 {
		s.room(n, int64(size))
		s.page.Runs = append(s.page.Runs, Run{First: s.page.Next, Count: n, StoredAt: storedAt, Raw: rest[:size:size]})
		s.page.Next += int64(n)
		s.examine(n, int64(size))
	}
	s.full = s.full || n < count
}

// fit returns how many of count records the page has room for, and their size.
func (s *scan) fit(rest []byte, count int) (n, size int) {
	most := min(count, s.limit, s.read.MaxMessages-s.found)
	if most == count && s.bytes+int64(len(rest)) <= s.read.MaxBytes {
		return count, len(rest)
	}
	for n < most {
		next := segment.RecordLength(rest[size:])
		if s.bytes+int64(size+next) > s.read.MaxBytes && s.found+n > 0 {
			break
		}
		size += next
		n++
	}
	return n, size
}
