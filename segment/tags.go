package segment

import "github.com/cespare/xxhash/v2"

// TagBloom returns the two bits that a message with that tag sets in its block's
// Tags, and 0 for no tag. A block with Tags t holds no message with the tag when
// t&TagBloom(tag) != TagBloom(tag).
func TagBloom(tag []byte) uint64 {
	if len(tag) == 0 {
		return 0
	}
	h := xxhash.Sum64(tag)
	first := h & 63
	second := (first + 1 + (h>>6)%63) & 63
	return 1<<first | 1<<second
}
