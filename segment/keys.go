package segment

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Which blocks of a segment may hold a message with a key: a bloom filter per block
// that has keys, behind the burnt seqs of the footer. FORMAT.md has the table.

const (
	keyFilterHeader = 5
	keyFiltersEnd   = 4 // the section's length, behind it
	// keyProbes is how many bits a key sets.
	keyProbes = 6
	// A filter has at least 2^minKeyBits bits and at most 2^maxKeyBits: 64 MiB, which
	// is more than the keys of a block ever need.
	minKeyBits = 6
	maxKeyBits = 29
	// keyBits is how many bits there are at least for each key of a block.
	keyBits = 8
)

// keyFilters gathers the filters of the blocks of one segment.
type keyFilters struct {
	section []byte
	hashes  []uint64 // of the keys of one block
}

// size is what the section takes in the footer.
func (f *keyFilters) size() int {
	if len(f.section) == 0 {
		return 0
	}
	return len(f.section) + keyFiltersEnd
}

// add appends the filter of a block whose records are in payload, if they have keys.
func (f *keyFilters) add(block int, payload []byte) {
	f.hashes = f.hashes[:0]
	for len(payload) >= recordHeaderSize {
		n := RecordLength(payload)
		if n > len(payload) {
			break // no records: a reader of the block says so
		}
		if keys := int(order.Uint16(payload[32:])); keys > 0 {
			at := recordHeaderSize + int(order.Uint16(payload[recordTagLenAt:]))
			f.hash(payload[min(at, n):min(at+keys, n)])
		}
		payload = payload[n:]
	}
	if len(f.hashes) == 0 {
		return
	}
	size := min(max(bits.Len(uint(len(f.hashes)*keyBits-1)), minKeyBits), maxKeyBits)
	f.section = order.AppendUint32(f.section, uint32(block))
	f.section = append(f.section, byte(size))
	at := len(f.section)
	f.section = slices.Grow(f.section, 1<<(size-3))[:at+1<<(size-3)]
	filter := f.section[at:]
	clear(filter)
	for _, hash := range f.hashes {
		setKey(filter, hash)
	}
	for size > minKeyBits && sparse(filter) { // the same keys again and again
		filter = fold(filter)
		size--
	}
	f.section = f.section[:at+len(filter)]
	f.section[at-1] = byte(size)
}

// hash adds the keys of one record, which are joined by one blank.
func (f *keyFilters) hash(keys []byte) {
	for from, i := 0, 0; ; i++ {
		if i < len(keys) && keys[i] != ' ' {
			continue
		}
		if i > from {
			f.hashes = append(f.hashes, xxhash.Sum64(keys[from:i]))
		}
		if from = i + 1; i == len(keys) {
			return
		}
	}
}

// probe returns the i-th bit of a key, in a filter of mask + 1 bits.
func probe(hash uint64, i int, mask uint32) uint32 {
	return (uint32(hash) + uint32(i)*(uint32(hash>>32)|1)) & mask
}

func setKey(filter []byte, hash uint64) {
	mask := uint32(len(filter)*8 - 1)
	for i := range keyProbes {
		bit := probe(hash, i, mask)
		filter[bit/8] |= 1 << (bit % 8)
	}
}

// sparse says that at most a quarter of the bits are set.
func sparse(filter []byte) bool {
	set := 0
	for rest := filter; len(rest) > 0; rest = rest[8:] {
		set += bits.OnesCount64(binary.NativeEndian.Uint64(rest))
	}
	return set <= len(filter)*8/4
}

// fold halves a filter: a bit of a key is its lower bits in a smaller one.
func fold(filter []byte) []byte {
	half := len(filter) / 2
	for i := range half {
		filter[i] |= filter[half+i]
	}
	return filter[:half]
}

// KeyFilters says which blocks of a segment may hold a key. The zero value knows
// nothing: every block may.
type KeyFilters struct {
	known   bool
	filters []keyFilter
}

type keyFilter struct {
	block uint32
	bits  []byte
}

// MayHold says whether the block in that row of the directory may hold a record with
// the key: false is certain, true is wrong for about one block in fifty.
func (f *KeyFilters) MayHold(row int, key string) bool {
	if !f.known {
		return true
	}
	at, found := slices.BinarySearchFunc(f.filters, uint32(row), func(k keyFilter, row uint32) int { return int(k.block) - int(row) })
	if !found {
		return false
	}
	filter, hash := f.filters[at].bits, xxhash.Sum64String(key)
	mask := uint32(len(filter)*8 - 1)
	for i := range keyProbes {
		if bit := probe(hash, i, mask); filter[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// ParseKeyFilters finds the key filters of a segment in a tail of it that
// ParseFooter has accepted. They alias tail. A segment that was written before there
// were filters has none: then every block may hold every key.
func ParseKeyFilters(tail []byte, blocks int) (KeyFilters, error) {
	if len(tail) < TrailerSize {
		return KeyFilters{}, fmt.Errorf("%w: tail of %d bytes", ErrCorrupt, len(tail))
	}
	trailer := tail[len(tail)-TrailerSize:]
	if order.Uint16(trailer[18:])&trailerKeys == 0 {
		return KeyFilters{}, nil
	}
	length := int64(order.Uint32(trailer[4:]))
	if length+TrailerSize > int64(len(tail)) {
		return KeyFilters{}, fmt.Errorf("%w: footer of %d bytes in %d", ErrCorrupt, length, len(tail))
	}
	footer := tail[int64(len(tail))-TrailerSize-length : len(tail)-TrailerSize]
	_, section, err := cutKeyFilters(footer)
	if err != nil {
		return KeyFilters{}, err
	}
	f := KeyFilters{known: true}
	for len(section) > 0 {
		one, rest, err := decodeKeyFilter(section)
		if err != nil {
			return KeyFilters{}, err
		}
		if n := len(f.filters); int64(one.block) >= int64(blocks) || n > 0 && one.block <= f.filters[n-1].block {
			return KeyFilters{}, fmt.Errorf("%w: key filter of block %d out of order", ErrCorrupt, one.block)
		}
		f.filters, section = append(f.filters, one), rest
	}
	return f, nil
}

func decodeKeyFilter(b []byte) (f keyFilter, rest []byte, err error) {
	if len(b) < keyFilterHeader {
		return f, nil, fmt.Errorf("%w: key filter cut short at %d bytes", ErrCorrupt, len(b))
	}
	f.block = order.Uint32(b)
	size := int(b[4])
	if size < minKeyBits || size > maxKeyBits || 1<<(size-3) > len(b)-keyFilterHeader {
		return f, nil, fmt.Errorf("%w: key filter of 2^%d bits in %d bytes", ErrCorrupt, size, len(b)-keyFilterHeader)
	}
	end := keyFilterHeader + 1<<(size-3)
	f.bits = b[keyFilterHeader:end:end]
	return f, b[end:], nil
}

// cutKeyFilters takes the section of the key filters off the end of a footer.
func cutKeyFilters(footer []byte) (rest, section []byte, err error) {
	if len(footer) < footerHeaderSize+keyFiltersEnd {
		return nil, nil, fmt.Errorf("%w: footer too short for key filters", ErrCorrupt)
	}
	end := len(footer) - keyFiltersEnd
	length := int64(order.Uint32(footer[end:]))
	if length == 0 || length > int64(end-footerHeaderSize) {
		return nil, nil, fmt.Errorf("%w: key filters of %d bytes in a footer of %d", ErrCorrupt, length, len(footer))
	}
	return footer[:end-int(length)], footer[end-int(length) : end], nil
}
