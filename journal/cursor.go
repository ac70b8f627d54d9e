package journal

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/google/uuid"
)

const (
	cursorVersion = 1
	// maxCursorQueues bounds what a cursor from outside may make us allocate.
	maxCursorQueues = 1 << 16
	// maxOffset is the largest offset: numbers in JSON are exact up to there.
	maxOffset = 1<<53 - 1
)

var cursorTable = crc32.MakeTable(crc32.Castagnoli)

// Cursor is a position in several queues of one topic.
type Cursor struct {
	Topic uuid.UUID
	Epoch int64
	Next  []QueueOffset // by queue, each once
}

// QueueOffset is the next offset to read of a queue.
type QueueOffset struct {
	Queue  uint32
	Offset int64
}

// String encodes the cursor as an opaque string that ParseCursor reads:
// base64url of
//
//	version 1 | topic 16 | epoch | count | count × (queue - the queue before, offset) | CRC32C of all before
//
// where numbers without a width are unsigned varints. The checksum is no
// secret: it only keeps a damaged cursor from meaning another place.
func (c Cursor) String() string {
	b := make([]byte, 0, 32+len(c.Next)*8)
	b = append(b, cursorVersion)
	b = append(b, c.Topic[:]...)
	b = binary.AppendUvarint(b, uint64(c.Epoch))
	b = binary.AppendUvarint(b, uint64(len(c.Next)))
	before := uint32(0)
	for _, n := range c.Next {
		b = binary.AppendUvarint(b, uint64(n.Queue-before))
		b = binary.AppendUvarint(b, uint64(n.Offset))
		before = n.Queue
	}
	return seal(b)
}

// seal appends the checksum and makes text of both.
func seal(b []byte) string {
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, cursorTable))
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor decodes what String made. Anything else is ErrCursor.
func ParseCursor(s string) (Cursor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return Cursor{}, fmt.Errorf("%w: %w", ErrCursor, err)
	}
	if len(b) < 1+16+1+1+4 || b[0] != cursorVersion {
		return Cursor{}, fmt.Errorf("%w: not of a version this build knows", ErrCursor)
	}
	b, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(b, cursorTable) != sum {
		return Cursor{}, fmt.Errorf("%w: damaged", ErrCursor)
	}
	c := Cursor{Topic: uuid.UUID(b[1:17])}
	numbers := uvarints{rest: b[17:]}
	c.Epoch = numbers.next(maxOffset)
	count := numbers.next(maxCursorQueues)
	before := int64(0)
	for i := int64(0); i < count && !numbers.bad; i++ {
		queue := before + numbers.next(1<<32-1-before)
		offset := numbers.next(maxOffset)
		if i > 0 && queue == before {
			numbers.bad = true
		}
		c.Next = append(c.Next, QueueOffset{Queue: uint32(queue), Offset: offset})
		before = queue
	}
	if numbers.bad || len(numbers.rest) > 0 {
		return Cursor{}, fmt.Errorf("%w: malformed", ErrCursor)
	}
	return c, nil
}

// offset returns the cursor's offset of a queue.
func (c *Cursor) offset(queue uint32) (int64, bool) {
	at, ok := c.find(queue)
	if !ok {
		return 0, false
	}
	return c.Next[at].Offset, true
}

// move sets the offset of a queue that the cursor has.
func (c *Cursor) move(queue uint32, offset int64) {
	if at, ok := c.find(queue); ok {
		c.Next[at].Offset = offset
	}
}

func (c *Cursor) find(queue uint32) (int, bool) {
	return slices.BinarySearchFunc(c.Next, queue, func(n QueueOffset, queue uint32) int {
		return int(int64(n.Queue) - int64(queue))
	})
}

// uvarints reads unsigned varints in their shortest form.
type uvarints struct {
	rest []byte
	bad  bool
}

func (u *uvarints) next(most int64) int64 {
	n, size := binary.Uvarint(u.rest)
	if u.bad || size <= 0 || n > uint64(most) || (size > 1 && u.rest[size-1] == 0) {
		u.bad = true
		return 0
	}
	u.rest = u.rest[size:]
	return int64(n)
}
