package meta

import "github.com/google/uuid"

// SegmentRef names the object an entry points into.
type SegmentRef struct {
	Writer uuid.UUID
	Seq    uint64
}

// Entry is one element of a queue's index: a contiguous run of whole blocks.
type Entry struct {
	Queue            uint32
	Next             int64 // the offset after its last message
	Count            uint32
	StoredAt         int64
	Segment          SegmentRef
	Position, Length int64
	Tags             uint64
}

// First is the offset of the entry's first message.
func (e Entry) First() int64 { return e.Next - int64(e.Count) }
