package journal

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// markStride is how many records lie between two that can be jumped to.
const markStride = 16

// object is a segment in memory, or a piece of one. Its bytes never change;
// what was found out about them is remembered, so that every block is checked
// once and not with each read.
//
// Its users are counted: who makes it, the cache while it is in there, and
// everybody to whom the cache gives it. When the last one has released it, its
// memory is used for another segment. One who never releases only takes this
// memory out of circulation; one who releases too early reads another segment.
type object struct {
	memory *segmentMemory
	users  atomic.Int32

	start     int64 // position in the segment of data[0]
	data      []byte
	directory []segment.Block // by position; nil for a piece and when the footer is damaged
	final     bool            // damage stays damage: the same bytes were fetched twice

	mu     sync.Mutex
	blocks map[int64]*block // checked ones by position, guarded by mu
}

// block is a checked block. It never changes once it is made.
type block struct {
	row     segment.Block
	payload []byte
	marks   []uint32 // where every markStride-th record starts
}

// span is a block and where it lies in its queue.
type span struct {
	position, length int64
	first            int64
	count            uint32
	tags             uint64
}

func (s span) next() int64 { return s.first + int64(s.count) }

// newObject wraps a whole segment, whose memory becomes the object's. A damaged
// footer only means that damaged blocks cannot be stepped over one by one. The
// caller is the first user.
func newObject(data []byte, memory *segmentMemory) *object {
	o := newPiece(0, data, memory)
	if footer, missing, err := segment.ParseFooter(data, int64(len(data))); err == nil && missing == 0 {
		o.directory = footer.Blocks
	}
	return o
}

// newPiece wraps the bytes of a segment from start on.
func newPiece(start int64, data []byte, memory *segmentMemory) *object {
	o := &object{start: start, data: data, memory: memory}
	o.users.Store(1)
	return o
}

// retain adds a user. Only a user may call it, or who holds the cache's lock
// while the object is in there.
func (o *object) retain() { o.users.Add(1) }

// release takes a user away, who must not use the object any more, nor bytes
// that he has from it.
func (o *object) release() {
	switch n := o.users.Add(-1); {
	case n < 0:
		panic("journal: an object was released more often than used")
	case n == 0:
		data := o.data
		o.data, o.blocks = nil, nil
		o.memory.give(data)
	}
}

// weight is what the object costs in memory: its bytes, a mark per stride of
// the smallest records, and a little per block.
func (o *object) weight() int64 {
	return int64(cap(o.data)) + int64(len(o.data))/(markStride*8) + 128*int64(len(o.directory)) + 256
}

// holds reports whether all bytes of an entry are here. A whole segment that is
// shorter than its index says is damaged, not lacking.
func (o *object) holds(e *meta.Entry) bool {
	if o.start == 0 {
		return true
	}
	return o.start <= e.Position && e.Position+e.Length <= o.start+int64(len(o.data))
}

// share is the part of the object's bytes that belong to a topic.
func (o *object) share(topic uuid.UUID) float64 {
	bytes := int64(0)
	for i := range o.directory {
		if o.directory[i].Topic == topic {
			bytes += o.directory[i].Length
		}
	}
	return float64(bytes) / float64(max(1, len(o.data)))
}

// spans yields the blocks of an entry in order. It never yields a block of
// another queue, and what it yields adds up to the entry; else it ends with a
// CorruptError for the messages it cannot place.
func (o *object) spans(topic uuid.UUID, e *meta.Entry) iter.Seq2[span, error] {
	if o.directory != nil {
		return o.listed(topic, e)
	}
	return o.walked(topic, e)
}

// listed takes the blocks of an entry from the footer.
func (o *object) listed(topic uuid.UUID, e *meta.Entry) iter.Seq2[span, error] {
	return func(yield func(span, error) bool) {
		at, found := slices.BinarySearchFunc(o.directory, e.Position, func(b segment.Block, position int64) int {
			return int(b.Position - position)
		})
		rows := o.directory[at:]
		position, count := e.Position, int64(0)
		n := 0
		for ; found && n < len(rows) && position < e.Position+e.Length; n++ {
			if rows[n].Topic != topic || rows[n].Queue != e.Queue || rows[n].Kind != segment.Messages {
				break
			}
			position += rows[n].Length
			count += int64(rows[n].Count)
		}
		if position != e.Position+e.Length || count != int64(e.Count) {
			yield(span{}, &CorruptError{First: e.First(), Next: e.Next})
			return
		}
		first := e.First()
		for i := range rows[:n] {
			s := span{position: rows[i].Position, length: rows[i].Length, first: first, count: rows[i].Count, tags: rows[i].Tags}
			if !yield(s, nil) {
				return
			}
			first = s.next()
		}
	}
}

// walked finds the blocks of an entry by going from header to header: each has
// to be whole to find the next one.
func (o *object) walked(topic uuid.UUID, e *meta.Entry) iter.Seq2[span, error] {
	return func(yield func(span, error) bool) {
		first := e.First()
		for position := e.Position; position < e.Position+e.Length; {
			b, err := o.check(position)
			if errors.Is(err, segment.ErrVersion) {
				yield(span{}, err)
				return
			}
			if err != nil || !b.belongs(topic, e.Queue) || position+b.row.Length > e.Position+e.Length || first+int64(b.row.Count) > e.Next {
				yield(span{}, &CorruptError{First: first, Next: e.Next})
				return
			}
			s := span{position: position, length: b.row.Length, first: first, count: b.row.Count, tags: b.row.Tags}
			if !yield(s, nil) {
				return
			}
			first = s.next()
			position += b.row.Length
		}
		if first != e.Next {
			yield(span{}, &CorruptError{First: first, Next: e.Next})
		}
	}
}

// block returns the block of a span, or a CorruptError for its messages.
func (o *object) block(topic uuid.UUID, queue uint32, s span) (*block, error) {
	b, err := o.check(s.position)
	if errors.Is(err, segment.ErrVersion) {
		return nil, err
	}
	if err != nil || !b.belongs(topic, queue) || b.row.Count != s.count || b.row.Length != s.length {
		return nil, &CorruptError{First: s.first, Next: s.next()}
	}
	return b, nil
}

// check returns the block whose header is at position after it has tested its
// CRC and that each of its records can be decoded, once.
func (o *object) check(position int64) (*block, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := o.blocks[position]; b != nil {
		return b, nil
	}
	at := position - o.start
	if at < 0 || at >= int64(len(o.data)) {
		return nil, fmt.Errorf("%w: no bytes at %d", segment.ErrCorrupt, position)
	}
	row, payload, err := segment.DecodeBlock(o.data[at:])
	if err != nil {
		return nil, err
	}
	b := &block{row: row, payload: payload}
	if err := b.mark(); err != nil {
		return nil, err
	}
	if o.blocks == nil {
		o.blocks = make(map[int64]*block)
	}
	o.blocks[position] = b
	return b, nil
}

// belongs reports whether the block holds messages of the queue.
func (b *block) belongs(topic uuid.UUID, queue uint32) bool {
	return b.row.Kind == segment.Messages && b.row.Topic == topic && b.row.Queue == queue
}

// mark decodes every record once and notes where some of them start.
func (b *block) mark() error {
	b.marks = make([]uint32, 0, (b.row.Count+markStride-1)/markStride)
	n := uint32(0)
	for at := 0; at < len(b.payload); n++ {
		if n%markStride == 0 {
			b.marks = append(b.marks, uint32(at))
		}
		_, size, err := segment.DecodeRecord(b.payload[at:])
		if err != nil {
			return err
		}
		at += size
	}
	if n != b.row.Count {
		return fmt.Errorf("%w: block of %d records holds %d", segment.ErrCorrupt, b.row.Count, n)
	}
	return nil
}

// from returns the records from the i-th on; i is less than the block's count.
func (b *block) from(i uint32) []byte {
	rest := b.payload[b.marks[i/markStride]:]
	for range i % markStride {
		_, size, err := segment.DecodeRecord(rest)
		if err != nil {
			panic("journal: a record of a checked block does not decode: " + err.Error())
		}
		rest = rest[size:]
	}
	return rest
}
