package meta

import (
	"context"

	"github.com/google/uuid"
)

// TopicSnapshot is everything Redis holds of one topic.
type TopicSnapshot struct {
	Topic   Topic
	Term    int64 // of the recovery lease: a lower one than seen before is fenced
	Queues  map[uint32]QueueSnapshot
	Writers map[uuid.UUID]WriterMemo
	Dedupe  []DedupeEntry // per producer in order of Seq
}

// QueueSnapshot is the index of one queue; Entries are dense and end at Next.
type QueueSnapshot struct {
	Min, Next int64
	Entries   []Entry
}

// WriterMemo is what commits of one writer to one topic are remembered by.
type WriterMemo struct {
	Seq    uint64
	Recent []Memo // ascending by Seq, at most 8 are kept
}

// Memo restores the receipt of one commit in which every request was stored:
// its writer may ask for it again.
type Memo struct {
	Seq      uint64
	StoredAt int64
	Firsts   map[uint32]int64 // per queue of the commit: the first offset given there
}

// DedupeEntry restores what is known of one identified request.
type DedupeEntry struct {
	Request  Request
	StoredAt int64 // it is remembered from then on
	Parts    []Part
}

// HoldTopic makes a topic answer ErrRecovering, before its log is listed, so
// that no commit slips between listing and RestoreTopic.
func (db *DB) HoldTopic(ctx context.Context, topic uuid.UUID, term int64) error { panic("unwritten") }

// RestoreTopic replaces everything of a topic; until it returns nil the topic
// answers ErrRecovering. It may be repeated after any error. ErrFenced: a newer recovery took over.
func (db *DB) RestoreTopic(ctx context.Context, s TopicSnapshot) error { panic("unwritten") }
