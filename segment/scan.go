package segment

import "fmt"

// maxScanFaults bounds what ScanBlocks tells about an object that is damaged all
// over.
const maxScanFaults = 1000

// ScanBlocks finds the blocks of a whole object without its footer, by walking
// from header to header, for objects whose footer is damaged. It returns the
// whole blocks and one error for each place where there was something else.
//
// It never searches for the next header byte by byte: a message may contain the
// bytes of a block. It steps over a damaged block only when its length leads to
// another header or to the footer, and otherwise stops there.
func ScanBlocks(object []byte) ([]Block, []error) {
	rows := make([]Block, 0, countHeaders(object))
	var faults []error
	for pos := int64(0); ; {
		rest := object[pos:]
		if startsWith(rest, footerMagic) {
			return rows, faults
		}
		if len(rest) == 0 {
			return rows, append(faults, fmt.Errorf("%w: object ends at %d without a footer", ErrTruncated, pos))
		}
		row, _, err := DecodeBlock(rest)
		length := row.Length
		if err == nil {
			row.Position = pos
			rows = append(rows, row)
		} else {
			faults = append(faults, fmt.Errorf("block at %d: %w", pos, err))
			if length = stride(rest); length == 0 || len(faults) == maxScanFaults {
				return rows, faults
			}
		}
		pos += length
	}
}

// stride returns the length of the block at the start of b, whole or not, when
// something that belongs there follows it, and else 0.
func stride(b []byte) int64 {
	if len(b) < blockHeaderSize || !startsWith(b, blockMagic) {
		return 0
	}
	length := int64(order.Uint32(b[8:]))
	if length < blockHeaderSize || length > int64(len(b)) {
		return 0
	}
	if next := b[length:]; !startsWith(next, blockMagic) && !startsWith(next, footerMagic) {
		return 0
	}
	return length
}

func countHeaders(object []byte) int {
	n := 1
	for length := stride(object); length > 0; length = stride(object) {
		object = object[length:]
		n++
	}
	return n
}

func startsWith(b []byte, magic string) bool {
	return len(b) >= len(magic) && string(b[:len(magic)]) == magic
}
