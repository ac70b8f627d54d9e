package segment

import (
	"fmt"

	"github.com/google/uuid"
)

// Kinds of Identity.
const (
	// IdentityKey marks a request with an idempotency key.
	IdentityKey uint8 = 1
	// IdentityProducer marks a request with a producer id, epoch and sequence.
	IdentityProducer uint8 = 2
	// IdentityCondition marks a request with an idempotency key that is stored only
	// where it gets the offset in Epoch: Expected. It is one block.
	IdentityCondition uint8 = 3
)

// Identity is why a request is recognised when it is sent again. It is stored
// with the blocks of the request, so that the log alone tells who was answered
// what.
type Identity struct {
	Kind        uint8
	Key         [16]byte  // first half of SHA-256 of the idempotency key or of the producer id
	Body        [16]byte  // first half of SHA-256 of the request's body, of IdentityKey and IdentityCondition
	Epoch, Seq  int64     // of IdentityProducer; of IdentityCondition, Epoch is the offset to get
	Queues      uint32    // the topic's queue count when the request was split
	Part, Parts uint16    // which of the request's chunks this block is: Part < Parts
	AutoQueue   uint32    // the queue that messages without a choice of their own went to
	IDBase      uuid.UUID // base of the request's message ids
}

const identitySize = 80

// Keyed says that the request has an idempotency key.
func (id *Identity) Keyed() bool { return id.Kind == IdentityKey || id.Kind == IdentityCondition }

// Expected returns the first offset that the request must get to be stored; false:
// any.
func (id *Identity) Expected() (first int64, conditional bool) {
	return id.Epoch, id.Kind == IdentityCondition
}

func appendIdentity(dst []byte, id *Identity) []byte {
	dst = append(dst, id.Kind, 0)
	dst = order.AppendUint16(dst, id.Part)
	dst = order.AppendUint16(dst, id.Parts)
	dst = order.AppendUint16(dst, 0)
	dst = order.AppendUint32(dst, id.Queues)
	dst = order.AppendUint32(dst, id.AutoQueue)
	dst = append(dst, id.Key[:]...)
	dst = append(dst, id.Body[:]...)
	dst = order.AppendUint64(dst, uint64(id.Epoch))
	dst = order.AppendUint64(dst, uint64(id.Seq))
	return append(dst, id.IDBase[:]...)
}

func decodeIdentity(b []byte) (id Identity, err error) {
	id.Kind = b[0]
	id.Part = order.Uint16(b[2:])
	id.Parts = order.Uint16(b[4:])
	id.Queues = order.Uint32(b[8:])
	id.AutoQueue = order.Uint32(b[12:])
	copy(id.Key[:], b[16:])
	copy(id.Body[:], b[32:])
	id.Epoch = int64(order.Uint64(b[48:]))
	id.Seq = int64(order.Uint64(b[56:]))
	copy(id.IDBase[:], b[64:])
	if id.Kind < IdentityKey || id.Kind > IdentityCondition || b[1] != 0 || order.Uint16(b[6:]) != 0 {
		return Identity{}, fmt.Errorf("%w: identity of kind %d", ErrVersion, id.Kind)
	}
	if id.Part >= id.Parts {
		return Identity{}, fmt.Errorf("%w: identity with part %d of %d", ErrCorrupt, id.Part, id.Parts)
	}
	if id.Kind == IdentityCondition && (id.Parts != 1 || id.Epoch < 0) {
		return Identity{}, fmt.Errorf("%w: condition of %d parts on offset %d", ErrCorrupt, id.Parts, id.Epoch)
	}
	return id, nil
}
