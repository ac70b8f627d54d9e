package journal

import (
	"slices"
	"sync"
)

// poison makes memory unreadable once it is given back, so that a test with the
// race detector fails at whoever still reads it.
var poison = raceEnabled

const poisonByte = 0xDB

// segmentMemory is memory for whole segments, which is used again: fresh memory
// costs more than all that is done with it, because the kernel has to make and
// the runtime to clear each page. It comes in a few sizes, so that one segment
// fits where another was; a segment smaller than all of them gets what it needs.
type segmentMemory struct {
	sizes [segmentSizes]int // descending
	free  [segmentSizes]sync.Pool
}

// segmentSizes is how often the largest size is halved.
const segmentSizes = 5

// newSegmentMemory makes sizes for segments of so many bytes of messages, and
// what usually comes with them.
func newSegmentMemory(segmentBytes int64) *segmentMemory {
	m := &segmentMemory{}
	for i := range m.sizes {
		m.sizes[i] = int(segmentBytes+segmentBytes/32+32<<10) >> i
	}
	return m
}

// take returns room for n bytes, of length 0.
func (m *segmentMemory) take(n int) []byte {
	for i, size := range slices.Backward(m.sizes[:]) {
		if n > size {
			continue
		}
		if i == segmentSizes-1 && n <= size/2 {
			break
		}
		if b, ok := m.free[i].Get().(*[]byte); ok {
			return *b
		}
		return make([]byte, 0, size)
	}
	return make([]byte, 0, n)
}

// give takes memory back; nothing may use it afterwards. What take did not
// return, or what was moved since, is left to the collector.
func (m *segmentMemory) give(b []byte) {
	i := slices.Index(m.sizes[:], cap(b))
	if i < 0 {
		return
	}
	b = b[:0]
	spoil(b)
	m.free[i].Put(&b)
}

// spoil overwrites memory that is given back, where poison is on.
func spoil(b []byte) {
	if !poison {
		return
	}
	b = b[:cap(b)]
	for i := range b {
		b[i] = poisonByte
	}
}
