package journal

import (
	"github.com/bucketmq/bucketmq/segment"
)

// Require makes the request conditional: it is stored only if its first message gets
// exactly this offset, which is decided together with the index entry, against all
// other writers; else Append returns a *NextOffsetError and nothing is stored.
//
// It is called after the messages were added and after Identify, if that is called at
// all. An *InvalidError for the field "if_next_offset" says that there can be no
// condition: the messages must all be for one queue that they name, without a delay,
// and the request may have an idempotency key but no producer's sequence.
func (d *Draft) Require(next int64) error {
	detail := ""
	switch {
	case next < 0 || next > maxOffset:
		detail = "an offset is 0 to 2^53-1"
	case d.identity.Kind == segment.IdentityProducer:
		detail = "a producer's sequence is a condition already; use an idempotency key"
	case len(d.late.b) > 0:
		detail = "a delayed message has no offset yet"
	case len(d.parts) != 1 || d.parts[0].auto || d.keyed():
		detail = "the messages must all name the same queue"
	}
	if detail != "" {
		return fault{"if_next_offset", CodeInvalid, detail}.at(-1)
	}
	if !d.identified() {
		d.identity.Key = d.base // nobody else has it
	}
	d.identity.Kind, d.identity.Epoch = segment.IdentityCondition, next
	return nil
}

// keyed says that an ordering key has chosen a queue.
func (d *Draft) keyed() bool {
	for i := range d.routes {
		if d.routes[i].keyed {
			return true
		}
	}
	return false
}
