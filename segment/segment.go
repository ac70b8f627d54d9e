// Package segment owns the bytes of one object in the log: records, blocks, the
// footer and the names of objects. It does no I/O, reads no clock but the one
// inside a new message id, and trusts nothing that it decodes. FORMAT.md has the
// byte tables.
package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Version is the format that Builder writes and the only one that the decoders
// read.
const Version = 1

var (
	// ErrCorrupt says that bytes are damaged, cut short or no part of a segment.
	// Only the block, record or footer that was asked for is concerned.
	ErrCorrupt = errors.New("segment: corrupt")

	// ErrTruncated is the ErrCorrupt of bytes that end before what they announce.
	ErrTruncated = fmt.Errorf("%w: cut short", ErrCorrupt)

	// ErrVersion says that bytes are whole but use a version, a kind or a flag
	// that this build does not know: a newer one wrote them. They are not
	// damaged and must not be dropped.
	ErrVersion = errors.New("segment: unknown version")
)

var (
	order      = binary.BigEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

const (
	blockMagic   = "BMQb"
	footerMagic  = "BMQf"
	trailerMagic = "BMQs"
)
