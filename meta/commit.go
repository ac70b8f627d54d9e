package meta

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

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
	Timers   []CommitTimer // deferred messages: they get no offset before they are due or committed
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
	IDBase   uuid.UUID // base of its message ids; zero: Identity.IDBase
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
	Armed    []CommitTimer // those of Commit.Timers that were put down, by position
	Repeated bool          // the answer is the receipt of an earlier execution
}

// What became of a request in a commit.
const (
	RequestStored    = "stored"
	RequestDuplicate = "duplicate"  // stored by an earlier commit: Parts are its first answer (empty when no longer known)
	RequestGap       = "gap"        // producer sequence ahead of Expected: left out
	RequestFenced    = "fenced"     // producer epoch below Current: left out
	RequestKeyReused = "key_reused" // same idempotency key, other body: left out
	RequestMissed    = "missed"     // it would not get the offset of its condition but Current: left out
)

// RequestOutcome says what became of one request.
type RequestOutcome struct {
	Status            string
	IDBase            uuid.UUID // of the stored messages: the first answer's for a duplicate, zero when unknown
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
// client never retries by itself. A commit may be repeated at any time with the
// same content, also by another process on the writer's behalf: it is applied
// once, and every repetition gets the first receipt while it is remembered.
//
// A writer's commits to one topic must go out in the order of their seq, each
// only when the one before it has a certain outcome: a later one that overtakes
// makes the earlier one look applied. Within one call that is taken care of.
func (db *DB) Commit(ctx context.Context, commits []Commit) []CommitResult {
	results := make([]CommitResult, len(commits))
	plans := make([]*commitPlan, len(commits))
	unsettled := map[uuid.UUID]bool{}
	pending := make([]int, 0, len(commits))
	for i := range commits {
		if plans[i], results[i].Err = planCommit(&commits[i]); results[i].Err != nil {
			unsettled[commits[i].Topic] = true
			continue
		}
		pending = append(pending, i)
	}
	for len(pending) > 0 {
		var round, later []int
		taken := map[uuid.UUID]bool{}
		for _, i := range pending {
			topic := commits[i].Topic
			switch {
			case taken[topic]:
				later = append(later, i)
			case unsettled[topic]:
				results[i].Err = ErrNotSent
			default:
				taken[topic] = true
				round = append(round, i)
			}
		}
		db.commitRound(ctx, plans, round, results)
		for _, i := range round {
			if err := results[i].Err; err != nil && !errors.Is(err, ErrApplied) {
				unsettled[commits[i].Topic] = true
			}
		}
		pending = later
	}
	return results
}

// commitRound sends commits of different topics. NOSCRIPT proves that a commit
// did not run: those are sent once more with the script's text.
func (db *DB) commitRound(ctx context.Context, plans []*commitPlan, round []int, results []CommitResult) {
	unknown := round
	for attempt := 0; attempt < 2 && len(unknown) > 0; attempt++ {
		pipe := db.commits.Pipeline()
		cmds := make([]*redis.Cmd, len(unknown))
		for j, i := range unknown {
			if attempt == 0 {
				cmds[j] = scriptCommit.EvalSha(ctx, pipe, plans[i].keys, plans[i].args...)
			} else {
				cmds[j] = scriptCommit.Eval(ctx, pipe, plans[i].keys, plans[i].args...)
			}
		}
		_, _ = pipe.Exec(ctx) // every command carries its own error
		var again []int
		for j, i := range unknown {
			if redis.HasErrorPrefix(cmds[j].Err(), "NOSCRIPT") && attempt == 0 {
				again = append(again, i)
				continue
			}
			results[i] = plans[i].result(cmds[j])
			if results[i].Err != nil {
				results[i].Err = fmt.Errorf("commit %s to %s: %w",
					segmentName(plans[i].commit), plans[i].commit.Topic, topicsByName.missing(ctx, db, results[i].Err))
			}
		}
		unknown = again
	}
}

func segmentName(c *Commit) string { return fmt.Sprintf("%s/%d", c.Writer, c.Seq) }
