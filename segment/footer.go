package segment

import (
	"fmt"
	"hash/crc32"

	"github.com/google/uuid"
)

// Footer describes a whole segment: who wrote it, its blocks, and what became of
// the writer's earlier segments.
type Footer struct {
	Writer    uuid.UUID
	Seq       uint64
	CreatedAt int64 // Unix milliseconds; the writer's clock
	Blocks    []Block
	Receipts  []Receipt
	Burnt     []uint64 // seqs that the writer gave up and never commits
}

const (
	footerHeaderSize = 48
	burntSize        = 8

	// trailerKeys is the trailer's flag for key filters at the footer's end.
	trailerKeys uint16 = 1 << 1

	// TrailerSize is the size of the fixed end of every segment: the least that
	// ParseFooter needs.
	TrailerSize = 24
)

func footerSize(f *Footer) int {
	size := footerHeaderSize + len(f.Receipts)*receiptSize + len(f.Burnt)*burntSize
	for i := range f.Blocks {
		size += int(f.Blocks[i].headerSize())
	}
	return size
}

// appendFooter appends footer and trailer to the blocks of an object.
func appendFooter(object []byte, f *Footer, keys *keyFilters) []byte {
	start := len(object)
	object = append(object, footerMagic...)
	object = append(object, f.Writer[:]...)
	object = order.AppendUint64(object, f.Seq)
	object = order.AppendUint64(object, uint64(f.CreatedAt))
	object = order.AppendUint32(object, uint32(len(f.Blocks)))
	object = order.AppendUint32(object, uint32(len(f.Receipts)))
	object = order.AppendUint32(object, uint32(len(f.Burnt)))
	for i := range f.Blocks {
		object = appendBlockHeader(object, &f.Blocks[i])
	}
	for i := range f.Receipts {
		object = appendReceipt(object, &f.Receipts[i])
	}
	for _, seq := range f.Burnt {
		object = order.AppendUint64(object, seq)
	}
	flags := uint16(0)
	if keys.size() > 0 {
		flags |= trailerKeys
		object = append(object, keys.section...)
		object = order.AppendUint32(object, uint32(len(keys.section)))
	}
	return appendTrailer(object, start, flags)
}

func decodeFooter(b []byte) (f Footer, err error) {
	if len(b) < footerHeaderSize || !startsWith(b, footerMagic) {
		return Footer{}, fmt.Errorf("%w: no footer where the trailer says", ErrCorrupt)
	}
	copy(f.Writer[:], b[4:])
	f.Seq = order.Uint64(b[20:])
	f.CreatedAt = int64(order.Uint64(b[28:]))
	blocks := int64(order.Uint32(b[36:]))
	receipts := int64(order.Uint32(b[40:]))
	burnt := int64(order.Uint32(b[44:]))
	b = b[footerHeaderSize:]
	directory := int64(len(b)) - receipts*receiptSize - burnt*burntSize
	if directory < blocks*blockHeaderSize {
		return Footer{}, fmt.Errorf("%w: footer too short for %d blocks, %d receipts, %d burnt seqs", ErrCorrupt, blocks, receipts, burnt)
	}
	if f.Blocks, err = decodeDirectory(b[:directory], int(blocks)); err != nil {
		return Footer{}, err
	}
	b = b[directory:]
	if receipts > 0 {
		f.Receipts = make([]Receipt, receipts)
	}
	for i := range f.Receipts {
		f.Receipts[i] = decodeReceipt(b)
		b = b[receiptSize:]
	}
	if burnt > 0 {
		f.Burnt = make([]uint64, burnt)
	}
	for i := range f.Burnt {
		f.Burnt[i] = order.Uint64(b)
		b = b[burntSize:]
	}
	return f, nil
}

// decodeDirectory decodes exactly len(b) bytes of block headers. A block starts
// where the one before it ends, so positions are not stored.
func decodeDirectory(b []byte, count int) ([]Block, error) {
	if count == 0 && len(b) == 0 {
		return nil, nil
	}
	rows := make([]Block, count)
	// The rows with an identity are what makes the directory longer than its
	// headers: one allocation holds them all.
	extra := len(b) - count*blockHeaderSize
	ids := make([]Identity, extra/identitySize)
	pos := int64(0)
	for i := range rows {
		row := &rows[i]
		var id Identity
		identity, err := decodeBlockHeader(b, row, &id)
		if err != nil {
			return nil, fmt.Errorf("directory row %d: %w", i, err)
		}
		if identity {
			if len(ids) == 0 {
				return nil, fmt.Errorf("%w: directory row %d reaches past the directory", ErrCorrupt, i)
			}
			ids[0] = id
			row.Identity, ids = &ids[0], ids[1:]
		}
		row.Position = pos
		pos += row.Length
		b = b[row.headerSize():]
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: %d bytes after the directory", ErrCorrupt, len(b))
	}
	return rows, nil
}

// appendTrailer appends the trailer of the footer that starts at object[start].
func appendTrailer(object []byte, start int, flags uint16) []byte {
	end := len(object)
	object = order.AppendUint32(object, 0)
	object = order.AppendUint32(object, uint32(end-start))
	object = order.AppendUint64(object, uint64(end+TrailerSize))
	object = append(object, Version, 0)
	object = order.AppendUint16(object, flags)
	object = append(object, trailerMagic...)
	crc := crc32.Checksum(object[start:end], castagnoli)
	order.PutUint32(object[end:], crc32.Update(crc, castagnoli, object[end+4:]))
	return object
}

// decodeTrailer returns the footer's length. Nothing is believed yet: only the
// CRC over footer and trailer, which checkFooter tests, says that they are whole.
func decodeTrailer(t []byte, objectSize int64) (footer int64, err error) {
	if string(t[20:24]) != trailerMagic {
		return 0, fmt.Errorf("%w: object does not end with a trailer", ErrCorrupt)
	}
	footer = int64(order.Uint32(t[4:]))
	size := order.Uint64(t[8:])
	if size != uint64(objectSize) {
		return 0, fmt.Errorf("%w: object of %d bytes was written with %d", ErrCorrupt, objectSize, size)
	}
	if footer < footerHeaderSize || footer > objectSize-TrailerSize {
		return 0, fmt.Errorf("%w: footer of %d bytes in an object of %d", ErrCorrupt, footer, objectSize)
	}
	return footer, nil
}

// ObjectSize returns what the last bytes of an object say its size is, for ParseFooter
// when nobody else knows. Only that proves it.
func ObjectSize(tail []byte) (int64, error) {
	if len(tail) < TrailerSize {
		return 0, fmt.Errorf("%w: tail of %d bytes", ErrCorrupt, len(tail))
	}
	size := int64(order.Uint64(tail[len(tail)-TrailerSize+8:]))
	if size < int64(len(tail)) {
		return 0, fmt.Errorf("%w: object of %d bytes ends with %d", ErrCorrupt, size, len(tail))
	}
	return size, nil
}

// ParseFooter decodes the footer of an object of objectSize bytes from its last
// len(tail) bytes. When missing is above zero, the tail is too short: call again
// with that many more bytes in front. Its errors are ErrCorrupt, or ErrVersion
// for a whole footer of a newer format.
func ParseFooter(tail []byte, objectSize int64) (f Footer, missing int64, err error) {
	have := int64(len(tail))
	if objectSize < TrailerSize || have > objectSize {
		return Footer{}, 0, fmt.Errorf("%w: tail of %d bytes of an object of %d", ErrCorrupt, have, objectSize)
	}
	if have < TrailerSize {
		return Footer{}, TrailerSize - have, nil
	}
	trailer := tail[have-TrailerSize:]
	length, err := decodeTrailer(trailer, objectSize)
	if err != nil {
		return Footer{}, 0, err
	}
	if length+TrailerSize > have {
		return Footer{}, length + TrailerSize - have, nil
	}
	footer := tail[have-TrailerSize-length : have-TrailerSize]
	if err := checkFooter(footer, trailer); err != nil {
		return Footer{}, 0, err
	}
	if order.Uint16(trailer[18:])&trailerKeys != 0 {
		if footer, _, err = cutKeyFilters(footer); err != nil {
			return Footer{}, 0, err
		}
	}
	if f, err = decodeFooter(footer); err != nil {
		return Footer{}, 0, err
	}
	end := int64(0)
	if n := len(f.Blocks); n > 0 {
		end = f.Blocks[n-1].Position + f.Blocks[n-1].Length
	}
	if end != objectSize-TrailerSize-length {
		return Footer{}, 0, fmt.Errorf("%w: blocks end at %d, the footer starts at %d", ErrCorrupt, end, objectSize-TrailerSize-length)
	}
	return f, 0, nil
}

// checkFooter tests the CRC before the version, so that a flipped version byte is
// damage and not a newer format.
func checkFooter(footer, trailer []byte) error {
	crc := crc32.Update(crc32.Checksum(footer, castagnoli), castagnoli, trailer[4:])
	if want := order.Uint32(trailer); crc != want {
		return fmt.Errorf("%w: footer has CRC %08x, its bytes have %08x", ErrCorrupt, want, crc)
	}
	if trailer[16] != Version {
		return fmt.Errorf("%w: segment of version %d", ErrVersion, trailer[16])
	}
	if trailer[17] != 0 || order.Uint16(trailer[18:])&^trailerKeys != 0 {
		return fmt.Errorf("%w: segment with flags %x", ErrVersion, trailer[17:20])
	}
	return nil
}
