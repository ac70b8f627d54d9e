package journal

import (
	"math/bits"
	"sync"
)

// Buffers come in powers of two from 512 bytes to 1 MiB, so that a small request
// never holds a big one while it waits. Larger ones are left to the collector.
const (
	smallestBuffer = 9
	largestBuffer  = 20
)

var bufferPools [largestBuffer - smallestBuffer + 1]sync.Pool

// buffer is a growing run of encoded records out of a pool.
type buffer struct {
	b    []byte
	from *[]byte // the pool's own pointer, so that giving it back allocates nothing
}

// grow makes room for n more bytes.
func (b *buffer) grow(n int) {
	need := len(b.b) + n
	if need <= cap(b.b) {
		return
	}
	bigger := takeBuffer(max(need, 2*cap(b.b)))
	bigger.b = append(bigger.b, b.b...)
	b.release()
	*b = bigger
}

func takeBuffer(n int) buffer {
	class := max(bits.Len(uint(n-1)), smallestBuffer)
	if class > largestBuffer {
		return buffer{b: make([]byte, 0, n)}
	}
	if from, ok := bufferPools[class-smallestBuffer].Get().(*[]byte); ok {
		return buffer{b: (*from)[:0], from: from}
	}
	fresh := make([]byte, 0, 1<<class)
	return buffer{b: fresh, from: &fresh}
}

// release gives the bytes back. They must not be used afterwards.
func (b *buffer) release() {
	if b.from != nil {
		spoil(*b.from)
		class := bits.Len(uint(cap(*b.from) - 1))
		bufferPools[class-smallestBuffer].Put(b.from)
	}
	*b = buffer{}
}
