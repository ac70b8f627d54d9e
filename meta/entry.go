package meta

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

// SegmentRef names the object an entry points into.
type SegmentRef struct {
	Writer uuid.UUID
	Seq    uint64
}

// Entry is one element of a queue's index: a contiguous run of whole blocks.
type Entry struct {
	Queue            uint32
	Next             int64 // the offset after its last message
	Count            uint32
	StoredAt         int64
	Segment          SegmentRef
	Position, Length int64
	Tags             uint64
}

// First is the offset of the entry's first message.
func (e Entry) First() int64 { return e.Next - int64(e.Count) }

// A packed entry, all numbers big-endian or unsigned varints:
//
//	7 bytes  next
//	6 bytes  stored-at, milliseconds
//	varint   count
//	16 bytes writer of the segment
//	varint   seq of the segment
//	varint   position
//	varint   length
//	8 bytes  tags, left out when zero
//
// Scripts read and write the first two fields; the rest is the suffix.
const entryPrefix = 7 + 6

func appendEntrySuffix(dst []byte, e *Entry) []byte {
	dst = binary.AppendUvarint(dst, uint64(e.Count))
	dst = append(dst, e.Segment.Writer[:]...)
	dst = binary.AppendUvarint(dst, e.Segment.Seq)
	dst = binary.AppendUvarint(dst, uint64(e.Position))
	dst = binary.AppendUvarint(dst, uint64(e.Length))
	if e.Tags != 0 {
		dst = binary.BigEndian.AppendUint64(dst, e.Tags)
	}
	return dst
}

func appendEntry(dst []byte, e *Entry) []byte {
	dst = appendBigEndian(dst, e.Next, 7)
	dst = appendBigEndian(dst, e.StoredAt, 6)
	return appendEntrySuffix(dst, e)
}

func parseEntry(queue uint32, s string) (Entry, error) {
	bad := func() (Entry, error) {
		return Entry{}, fmt.Errorf("%w: index entry of %d bytes", ErrCorrupt, len(s))
	}
	if len(s) < entryPrefix {
		return bad()
	}
	e := Entry{Queue: queue, Next: bigEndian(s[:7]), StoredAt: bigEndian(s[7:13])}
	b := []byte(s[entryPrefix:])
	count, ok := takeUvarint(&b)
	if !ok || count > uint64(e.Next) || uint64(uint32(count)) != count || len(b) < len(e.Segment.Writer) {
		return bad()
	}
	e.Count = uint32(count)
	b = b[copy(e.Segment.Writer[:], b):]
	seq, ok1 := takeUvarint(&b)
	position, ok2 := takeUvarint(&b)
	length, ok3 := takeUvarint(&b)
	if !ok1 || !ok2 || !ok3 || int64(position) < 0 || int64(length) < 0 {
		return bad()
	}
	e.Segment.Seq, e.Position, e.Length = seq, int64(position), int64(length)
	switch len(b) {
	case 0:
	case 8:
		e.Tags = binary.BigEndian.Uint64(b)
	default:
		return bad()
	}
	return e, nil
}

func parseEntries(queue uint32, list []any) ([]Entry, error) {
	entries := make([]Entry, 0, len(list))
	for _, item := range list {
		text, _ := item.(string)
		e, err := parseEntry(queue, text)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func takeUvarint(b *[]byte) (uint64, bool) {
	v, n := binary.Uvarint(*b)
	if n <= 0 {
		return 0, false
	}
	*b = (*b)[n:]
	return v, true
}

func appendBigEndian(dst []byte, n int64, width int) []byte {
	for shift := 8 * (width - 1); shift >= 0; shift -= 8 {
		dst = append(dst, byte(n>>shift))
	}
	return dst
}

func bigEndian(s string) int64 {
	var n int64
	for i := range len(s) {
		n = n<<8 | int64(s[i])
	}
	return n
}
