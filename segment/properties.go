package segment

import (
	"iter"
	"math"
)

// Properties is the encoded list of a message's properties. The zero value is
// the empty list.
type Properties []byte

// AppendProperty appends one property to dst. It panics when the name or the
// value is longer than 65,535 bytes; limits of messages are the caller's, and
// below that.
func AppendProperty[N, V ~string | ~[]byte](dst Properties, name N, value V) Properties {
	if len(name) > math.MaxUint16 || len(value) > math.MaxUint16 {
		panic("segment: a property is longer than its length prefix allows")
	}
	dst = order.AppendUint16(dst, uint16(len(name)))
	dst = append(dst, name...)
	dst = order.AppendUint16(dst, uint16(len(value)))
	return append(dst, value...)
}

// All yields names and values in the order in which they were appended, as
// slices of p. The properties of a decoded record are always well formed; of
// other bytes it yields what comes before the first fault.
func (p Properties) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for len(p) > 0 {
			name, value, rest, ok := p.next()
			if !ok || !yield(name, value) {
				return
			}
			p = rest
		}
	}
}

func (p Properties) valid() bool {
	ok := true
	for ok && len(p) > 0 {
		_, _, p, ok = p.next()
	}
	return ok
}

func (p Properties) next() (name, value []byte, rest Properties, ok bool) {
	name, rest, ok = p.prefixed()
	if !ok {
		return nil, nil, nil, false
	}
	value, rest, ok = rest.prefixed()
	return name, value, rest, ok
}

func (p Properties) prefixed() (field []byte, rest Properties, ok bool) {
	if len(p) < 2 {
		return nil, nil, false
	}
	end := 2 + int(order.Uint16(p))
	if end > len(p) {
		return nil, nil, false
	}
	return p[2:end:end], p[end:], true
}
