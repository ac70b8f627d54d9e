package meta

import (
	"context"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

// Commit makes the blocks that one segment holds of one topic readable.
type Commit struct {
	Topic    uuid.UUID
	Epoch    int64
	Writer   uuid.UUID
	Seq      uint64
	Queues   []QueueCommit
	Requests []Request
}

// QueueCommit is the part of a commit that goes to one queue. A queue appears once.
type QueueCommit struct {
	Queue     uint32
	KnownNext int64         // the largest next offset ever seen; less in Redis is a rollback
	Chunks    []CommitChunk // in byte order
}

// CommitChunk is a run of whole blocks. Neighbours whose bytes touch become one entry.
type CommitChunk struct {
	Count            uint32
	Position, Length int64
	Tags             uint64
	Request          int // index into Requests; −1: always stored
}

// Request is one produce request that may be recognised when it is sent again.
type Request struct {
	Identity segment.Identity
	IDBase   uuid.UUID
}

// CommitResult is the outcome of one commit.
type CommitResult struct {
	// Err is nil when the commit is applied. ErrTopicNotFound, *EpochError,
	// ErrRolledBack, ErrRecovering, ErrQueueFull, ErrCorrupt and ErrNotSent changed nothing.
	// ErrApplied: applied earlier, offsets unknown. Any other error: outcome
	// unknown; send the very same commit again before any later one of this topic.
	Err      error
	Epoch    int64
	StoredAt int64
	Entries  []Entry
	Firsts   [][]int64 // per queue and chunk as given: its first offset, −1 when left out
	Requests []RequestOutcome
	Repeated bool // the answer is the receipt of an earlier execution
}

// What became of a request in a commit.
const (
	RequestStored    = "stored"
	RequestDuplicate = "duplicate"  // stored by an earlier commit: Parts are its first answer (empty when no longer known)
	RequestGap       = "gap"        // producer sequence ahead of Expected: left out
	RequestFenced    = "fenced"     // producer epoch below Current: left out
	RequestKeyReused = "key_reused" // same idempotency key, other body: left out
)

// RequestOutcome says what became of one request.
type RequestOutcome struct {
	Status            string
	IDBase            uuid.UUID // of the stored messages: the first answer's for a duplicate
	Parts             []Part    // by queue, then position
	Expected, Current int64
	Queues, AutoQueue uint32 // of the first answer
}

// Part is a run of offsets that one request was given.
type Part struct {
	Queue uint32
	First int64
	Count uint32
}

// Commit applies commits in one pipeline; results are in the same order. The
// client never retries by itself. Of several commits to one topic each is sent
// only after its predecessor has a certain outcome. A commit may be repeated
// at any time with the same content: it is applied once.
func (db *DB) Commit(ctx context.Context, commits []Commit) []CommitResult { panic("unwritten") }
