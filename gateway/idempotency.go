package gateway

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/segment"
)

// keyHeader is the header that names a request.
const keyHeader = "Idempotency-Key"

// identify makes a request recognisable when it is sent again, by its
// idempotency key or by its producer. describe adds what makes two requests with
// one key the same; it is called only for a key.
func identify(draft *journal.Draft, key string, p *producer, describe func(*fingerprint)) error {
	switch {
	case key != "" && p != nil:
		return headerFault(keyHeader, "a request has an idempotency key or a producer, not both")
	case key != "":
		h := fingerprint{sha256.New()}
		describe(&h)
		draft.Identify(segment.Identity{Kind: segment.IdentityKey, Key: half(sha256.Sum256([]byte(key))), Body: half(h.sum())})
	case p != nil:
		draft.Identify(segment.Identity{
			Kind: segment.IdentityProducer, Key: half(sha256.Sum256([]byte(p.id))), Epoch: p.epoch, Seq: p.seq,
		})
	}
	return nil
}

// require makes a request conditional on its queue's next offset, if it asks for
// that. pointer and code are those of the field that does.
func require(draft *journal.Draft, next *int64, ack journal.Ack, pointer, code string) error {
	if next == nil {
		return nil
	}
	detail := "a condition is decided when the messages are stored: ack is durable"
	if ack != journal.None {
		err := draft.Require(*next)
		invalid, ok := errors.AsType[*journal.InvalidError](err)
		if !ok {
			return err
		}
		detail = invalid.Detail
	}
	return newProblem(code, detail, fault{Pointer: pointer, Code: code, Detail: detail})
}

// half keeps 128 bits of a hash, enough that no two requests meet.
func half(sum [sha256.Size]byte) [16]byte { return [16]byte(sum[:16]) }

// fingerprint hashes the parts of a request.
type fingerprint struct{ hash.Hash }

// add hashes one named part. Lengths go in as well, so that two lists of parts
// are the same only if every part is.
func (f *fingerprint) add(name string, value []byte) {
	var lengths [8]byte
	binary.BigEndian.PutUint32(lengths[:4], uint32(len(name)))
	binary.BigEndian.PutUint32(lengths[4:], uint32(len(value)))
	f.Write(lengths[:])
	f.Write([]byte(name))
	f.Write(value)
}

func (f *fingerprint) sum() [sha256.Size]byte { return [sha256.Size]byte(f.Sum(nil)) }
