package segment

import (
	"fmt"
	"hash/crc32"

	"github.com/google/uuid"
)

// Kind says what the records of a block are.
type Kind uint8

// Kinds of blocks.
const (
	// Messages is a run of messages of one queue.
	Messages Kind = 1
	// Control is a run of control records; topic id and queue are zero.
	Control Kind = 2
)

// Flags of a block. FORMAT.md lists what the other bits are reserved for; a
// decoder refuses them.
const (
	flagIdentity uint16 = 1 << 0 // an identity section follows the block header
	flagDue      uint16 = 1 << 6 // the due time follows header and identity
	flagHalf     uint16 = 1 << 7 // the transaction follows header and identity; never with a due time

	knownFlags = flagIdentity | flagDue | flagHalf
)

const (
	blockHeaderSize = 64
	dueSize         = 24
	halfSize        = 32
)

// Block describes a run of records of one queue: it is a block's header, and a
// row of the footer's directory.
type Block struct {
	Kind     Kind
	Topic    uuid.UUID
	Queue    uint32
	Count    uint32 // records, at least one
	Position int64  // of the block's header in the object
	Length   int64  // of header, identity and payload
	CRC      uint32

	MinBorn, MaxBorn int64  // bounds of the records' BornAt
	Tags             uint64 // TagBloom of every record's tag
	Identity         *Identity

	// Due is when the records become readable, in Unix milliseconds by the clock
	// of the metadata server: a commit puts them down for then and indexes
	// nothing. Zero: at once.
	Due   int64
	DueID uuid.UUID // of the first record, when the block is deferred: what its pointer is known by

	// Transaction is what the records are half messages of: a commit of the segment
	// puts them down and indexes nothing; the commit of the transaction does. Nil:
	// of none. A block has a due time or a transaction, never both.
	Transaction uuid.UUID
}

// Deferred says that a commit of the segment gives the block's records no
// offsets: they are delayed, or half messages of a transaction.
func (b *Block) Deferred() bool { return b.Due != 0 || b.Transaction != uuid.Nil }

// Equal reports whether two rows describe the same block in the same way.
func (b Block) Equal(o Block) bool {
	if (b.Identity == nil) != (o.Identity == nil) {
		return false
	}
	if b.Identity != nil && *b.Identity != *o.Identity {
		return false
	}
	b.Identity, o.Identity = nil, nil
	return b == o
}

func (b *Block) headerSize() int64 { return headerSize(b.Identity != nil, b) }

// headerSize is the size of b's header with or without an identity.
func headerSize(identity bool, b *Block) int64 {
	size := int64(blockHeaderSize)
	if identity {
		size += identitySize
	}
	if b.Due != 0 {
		size += dueSize
	}
	if b.Transaction != uuid.Nil {
		size += halfSize
	}
	return size
}

func appendBlockHeader(dst []byte, b *Block) []byte {
	flags := uint16(0)
	if b.Identity != nil {
		flags |= flagIdentity
	}
	if b.Due != 0 {
		flags |= flagDue
	}
	if b.Transaction != uuid.Nil {
		flags |= flagHalf
	}
	dst = append(dst, blockMagic...)
	dst = order.AppendUint32(dst, b.CRC)
	dst = order.AppendUint32(dst, uint32(b.Length))
	dst = append(dst, Version, byte(b.Kind))
	dst = order.AppendUint16(dst, flags)
	dst = append(dst, b.Topic[:]...)
	dst = order.AppendUint32(dst, b.Queue)
	dst = order.AppendUint32(dst, b.Count)
	dst = order.AppendUint64(dst, uint64(b.MinBorn))
	dst = order.AppendUint64(dst, uint64(b.MaxBorn))
	dst = order.AppendUint64(dst, b.Tags)
	if b.Identity != nil {
		dst = appendIdentity(dst, b.Identity)
	}
	if b.Due != 0 {
		dst = order.AppendUint64(dst, uint64(b.Due))
		dst = append(dst, b.DueID[:]...)
	}
	if b.Transaction != uuid.Nil {
		dst = append(dst, b.Transaction[:]...)
		dst = append(dst, b.DueID[:]...)
	}
	return dst
}

// decodeBlockHeader decodes a header into row and its identity into id, and
// reports whether there is one. b may end with the header: a row of the directory
// has no payload behind it. row.Identity and row.Position are the caller's.
func decodeBlockHeader(b []byte, row *Block, id *Identity) (identity bool, err error) {
	if len(b) < blockHeaderSize {
		return false, fmt.Errorf("%w: block header cut short at %d bytes", ErrCorrupt, len(b))
	}
	if string(b[:4]) != blockMagic {
		return false, fmt.Errorf("%w: no block starts here", ErrCorrupt)
	}
	row.CRC = order.Uint32(b[4:])
	row.Length = int64(order.Uint32(b[8:]))
	version := b[12]
	row.Kind = Kind(b[13])
	flags := order.Uint16(b[14:])
	copy(row.Topic[:], b[16:])
	row.Queue = order.Uint32(b[32:])
	row.Count = order.Uint32(b[36:])
	row.MinBorn = int64(order.Uint64(b[40:]))
	row.MaxBorn = int64(order.Uint64(b[48:]))
	row.Tags = order.Uint64(b[56:])
	switch {
	case version != Version:
		return false, fmt.Errorf("%w: block of version %d", ErrVersion, version)
	case row.Kind != Messages && row.Kind != Control:
		return false, fmt.Errorf("%w: block of kind %d", ErrVersion, row.Kind)
	case flags&^knownFlags != 0, flags&flagDue != 0 && flags&flagHalf != 0:
		return false, fmt.Errorf("%w: block with flags %#04x", ErrVersion, flags)
	}
	if identity = flags&flagIdentity != 0; identity {
		if len(b) < blockHeaderSize+identitySize {
			return false, fmt.Errorf("%w: block identity cut short at %d bytes", ErrCorrupt, len(b))
		}
		if *id, err = decodeIdentity(b[blockHeaderSize:]); err != nil {
			return false, err
		}
	}
	if err := decodeDeferred(b, flags, identity, row); err != nil {
		return false, err
	}
	if row.Count == 0 || int64(row.Count) > (row.Length-headerSize(identity, row))/recordHeaderSize {
		return false, fmt.Errorf("%w: block of %d bytes with %d records", ErrCorrupt, row.Length, row.Count)
	}
	return identity, nil
}

// decodeDeferred decodes what follows header and identity of a block that is not
// indexed by the commit of its segment.
func decodeDeferred(b []byte, flags uint16, identity bool, row *Block) error {
	row.Due, row.DueID, row.Transaction = 0, uuid.Nil, uuid.Nil
	at := headerSize(identity, row)
	switch {
	case flags&flagDue != 0:
		if int64(len(b)) < at+dueSize {
			return fmt.Errorf("%w: due time of a block cut short at %d bytes", ErrCorrupt, len(b))
		}
		if row.Due = int64(order.Uint64(b[at:])); row.Due <= 0 {
			return fmt.Errorf("%w: block due at %d", ErrCorrupt, row.Due)
		}
		copy(row.DueID[:], b[at+8:])
	case flags&flagHalf != 0:
		if int64(len(b)) < at+halfSize {
			return fmt.Errorf("%w: transaction of a block cut short at %d bytes", ErrCorrupt, len(b))
		}
		copy(row.Transaction[:], b[at:])
		if row.Transaction == uuid.Nil {
			return fmt.Errorf("%w: half messages of no transaction", ErrCorrupt)
		}
		copy(row.DueID[:], b[at+16:])
	}
	return nil
}

// DecodeBlock checks the block whose header is at the start of b against its CRC
// and returns its description and its payload, which aliases b. b may be longer
// than the block: the next one starts at the returned Length. Position is zero.
// Its errors are ErrCorrupt, or ErrVersion for a whole block of a newer format.
func DecodeBlock(b []byte) (Block, []byte, error) {
	length, err := checkBlock(b)
	if err != nil {
		return Block{}, nil, err
	}
	var row Block
	var id Identity
	identity, err := decodeBlockHeader(b[:length], &row, &id)
	if err != nil {
		return Block{}, nil, err
	}
	if identity {
		found := id
		row.Identity = &found
	}
	return row, b[row.headerSize():length:length], nil
}

// checkBlock reads only what every version keeps in place, magic, CRC and
// length, so that damage is told from a newer version.
func checkBlock(b []byte) (length int64, err error) {
	if len(b) < blockHeaderSize {
		return 0, fmt.Errorf("%w: block header of %d bytes", ErrTruncated, len(b))
	}
	if string(b[:4]) != blockMagic {
		return 0, fmt.Errorf("%w: no block starts here", ErrCorrupt)
	}
	length = int64(order.Uint32(b[8:]))
	if length < blockHeaderSize {
		return 0, fmt.Errorf("%w: block of %d bytes", ErrCorrupt, length)
	}
	if length > int64(len(b)) {
		return 0, fmt.Errorf("%w: block of %d bytes in %d", ErrTruncated, length, len(b))
	}
	if got, want := crc32.Checksum(b[8:length], castagnoli), order.Uint32(b[4:]); got != want {
		return 0, fmt.Errorf("%w: block has CRC %08x, its bytes have %08x", ErrCorrupt, want, got)
	}
	return length, nil
}
