package segment

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/google/uuid"
)

// Attributes of a record. The other bits are reserved: a decoder refuses them.
const (
	// AttrText says that the body was given as text. The decoder does not check
	// that it is UTF-8; whoever takes a record in from outside has to.
	AttrText uint16 = 1 << iota
	// AttrNull says that the message has no body at all: a tombstone.
	AttrNull

	knownAttributes = AttrText | AttrNull
)

// recordHeaderSize is what a record takes besides its variable fields.
const recordHeaderSize = 42

// Offsets of the fields that are read or written without decoding the rest.
const (
	recordIDAt     = 6
	recordBornAt   = 22
	recordTagLenAt = 30
)

// Record is one message as it is stored, without its offset: that is the index
// entry's first offset plus the record's place in the entry. The slices of a
// decoded record alias the buffer that it was decoded from.
type Record struct {
	Attributes  uint16
	ID          uuid.UUID
	BornAt      int64 // Unix milliseconds; the producer's clock
	Tag         []byte
	Keys        []byte // several keys are joined by one space
	OrderingKey []byte
	ContentType []byte
	Properties  Properties
	Body        []byte
}

// RecordSize returns how many bytes AppendRecord adds for r.
func RecordSize(r *Record) int {
	return recordHeaderSize + len(r.Tag) + len(r.Keys) + len(r.OrderingKey) +
		len(r.ContentType) + len(r.Properties) + len(r.Body)
}

// AppendRecord appends the encoding of r to dst and allocates only when dst has
// to grow. It panics when a field is longer than its length prefix can say (tag,
// keys, ordering key and content type 65,535 bytes, the whole record 4 GiB) or
// when r would not decode again (unknown attributes, a body in a tombstone):
// limits of messages are the caller's, and far below.
func AppendRecord(dst []byte, r *Record) []byte {
	size := RecordSize(r)
	if max(len(r.Tag), len(r.Keys), len(r.OrderingKey), len(r.ContentType)) > math.MaxUint16 || int64(size) > math.MaxUint32 {
		panic("segment: a field of the record is longer than its length prefix allows")
	}
	if reason := invalidAttributes(r.Attributes, len(r.Body)); reason != "" {
		panic("segment: record with " + reason)
	}
	dst = slices.Grow(dst, size)
	h := dst[len(dst) : len(dst)+recordHeaderSize]
	order.PutUint32(h[0:], uint32(size-4))
	order.PutUint16(h[4:], r.Attributes)
	copy(h[recordIDAt:], r.ID[:])
	order.PutUint64(h[recordBornAt:], uint64(r.BornAt))
	order.PutUint16(h[recordTagLenAt:], uint16(len(r.Tag)))
	order.PutUint16(h[32:], uint16(len(r.Keys)))
	order.PutUint16(h[34:], uint16(len(r.OrderingKey)))
	order.PutUint16(h[36:], uint16(len(r.ContentType)))
	order.PutUint32(h[38:], uint32(len(r.Properties)))
	dst = dst[:len(dst)+recordHeaderSize]
	dst = append(dst, r.Tag...)
	dst = append(dst, r.Keys...)
	dst = append(dst, r.OrderingKey...)
	dst = append(dst, r.ContentType...)
	dst = append(dst, r.Properties...)
	return append(dst, r.Body...)
}

// DecodeRecord decodes the record at the start of b and returns how many bytes it
// took. It allocates nothing unless it fails. Its errors are ErrCorrupt, or
// ErrVersion for attributes that this build does not know.
func DecodeRecord(b []byte) (r Record, n int, err error) {
	if len(b) < recordHeaderSize {
		return Record{}, 0, fmt.Errorf("%w: record header cut short at %d bytes", ErrCorrupt, len(b))
	}
	size := uint64(order.Uint32(b)) + 4
	if size > uint64(len(b)) {
		return Record{}, 0, fmt.Errorf("%w: record of %d bytes in %d", ErrCorrupt, size, len(b))
	}
	r.Attributes = order.Uint16(b[4:])
	copy(r.ID[:], b[recordIDAt:])
	r.BornAt = int64(order.Uint64(b[recordBornAt:]))
	tag := uint64(order.Uint16(b[recordTagLenAt:]))
	keys := uint64(order.Uint16(b[32:]))
	orderingKey := uint64(order.Uint16(b[34:]))
	contentType := uint64(order.Uint16(b[36:]))
	properties := uint64(order.Uint32(b[38:]))
	if recordHeaderSize+tag+keys+orderingKey+contentType+properties > size {
		return Record{}, 0, fmt.Errorf("%w: fields longer than their record of %d bytes", ErrCorrupt, size)
	}
	rest := b[recordHeaderSize:size:size]
	r.Tag, rest = rest[:tag:tag], rest[tag:]
	r.Keys, rest = rest[:keys:keys], rest[keys:]
	r.OrderingKey, rest = rest[:orderingKey:orderingKey], rest[orderingKey:]
	r.ContentType, rest = rest[:contentType:contentType], rest[contentType:]
	r.Properties, r.Body = Properties(rest[:properties:properties]), rest[properties:]
	if r.Attributes&^knownAttributes != 0 {
		return Record{}, 0, fmt.Errorf("%w: record attributes %#04x", ErrVersion, r.Attributes)
	}
	if reason := invalidAttributes(r.Attributes, len(r.Body)); reason != "" {
		return Record{}, 0, fmt.Errorf("%w: record with %s", ErrCorrupt, reason)
	}
	if len(r.Properties) > 0 && !r.Properties.valid() {
		return Record{}, 0, fmt.Errorf("%w: properties of a record", ErrCorrupt)
	}
	return r, int(size), nil
}

// RecordLength returns how long the encoded record at the start of b is, which
// DecodeRecord has accepted.
func RecordLength(b []byte) int { return int(order.Uint32(b)) + 4 }

func invalidAttributes(attributes uint16, body int) string {
	switch {
	case attributes&^knownAttributes != 0:
		return "unknown attributes"
	case attributes == AttrText|AttrNull:
		return "both text and no body"
	case attributes&AttrNull != 0 && body > 0:
		return "a body in a tombstone"
	}
	return ""
}

// StampRecord writes id and bornAt into the encoded record at the start of b, in
// place. b must have been accepted by DecodeRecord.
func StampRecord(b []byte, id uuid.UUID, bornAt int64) {
	copy(b[recordIDAt:recordBornAt], id[:])
	order.PutUint64(b[recordBornAt:], uint64(bornAt))
}

// Records yields the records of a block's payload, or of any plain concatenation
// of records, in order. After an error it yields nothing more.
func Records(payload []byte) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for len(payload) > 0 {
			r, n, err := DecodeRecord(payload)
			if !yield(r, err) || err != nil {
				return
			}
			payload = payload[n:]
		}
	}
}
