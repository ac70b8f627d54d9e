package segment

import "github.com/google/uuid"

// Receipt is one index entry that a commit made. Receipts are written into the
// footer of a later segment, so that the log alone tells which offsets were
// given. Count 0 says that the commit of that segment for that topic was applied
// and put nothing into the index; with a Length it says so of deferred blocks
// (delayed or half messages), which the commit put down for later. The receipt of
// a deferred block with a Count is that of its firing, or of the commit of its
// transaction, not of the commit of its segment.
type Receipt struct {
	Writer uuid.UUID // whose segment was committed; with adoption not the one that writes the receipt
	Seq    uint64
	Topic  uuid.UUID
	Epoch  int64
	Queue  uint32
	First  int64 // offset of the first message
	Count  uint32

	Position, Length int64 // of the entry's blocks in the segment
	StoredAt         int64
	Tags             uint64
}

const receiptSize = 96

func appendReceipt(dst []byte, r *Receipt) []byte {
	dst = append(dst, r.Writer[:]...)
	dst = order.AppendUint64(dst, r.Seq)
	dst = append(dst, r.Topic[:]...)
	dst = order.AppendUint64(dst, uint64(r.Epoch))
	dst = order.AppendUint32(dst, r.Queue)
	dst = order.AppendUint64(dst, uint64(r.First))
	dst = order.AppendUint32(dst, r.Count)
	dst = order.AppendUint64(dst, uint64(r.Position))
	dst = order.AppendUint64(dst, uint64(r.Length))
	dst = order.AppendUint64(dst, uint64(r.StoredAt))
	return order.AppendUint64(dst, r.Tags)
}

func decodeReceipt(b []byte) (r Receipt) {
	copy(r.Writer[:], b)
	r.Seq = order.Uint64(b[16:])
	copy(r.Topic[:], b[24:])
	r.Epoch = int64(order.Uint64(b[40:]))
	r.Queue = order.Uint32(b[48:])
	r.First = int64(order.Uint64(b[52:]))
	r.Count = order.Uint32(b[60:])
	r.Position = int64(order.Uint64(b[64:]))
	r.Length = int64(order.Uint64(b[72:]))
	r.StoredAt = int64(order.Uint64(b[80:]))
	r.Tags = order.Uint64(b[88:])
	return r
}
