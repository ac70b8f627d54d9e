package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// TopicSnapshot is everything Redis holds of one topic.
type TopicSnapshot struct {
	Topic   Topic
	Term    int64 // of the recovery lease: a lower one than seen before is fenced
	Queues  map[uint32]QueueSnapshot
	Writers map[uuid.UUID]WriterMemo
	Dedupe  []DedupeEntry // of a producer in the order they were stored
	Timers  []Timer       // delayed messages that have not fired
	Halves  []HalfState   // half messages whose transaction has not ended for good
}

// QueueSnapshot is the index of one queue; Entries ascend and end at Next.
// Between them there may be holes: offsets that were given and whose messages
// are lost.
type QueueSnapshot struct {
	Min, Next int64
	Entries   []Entry
}

// restoreBatch is how many entries one script appends.
const restoreBatch = 500

// HoldTopic makes a topic answer ErrRecovering, before its log is listed, so
// that no commit slips between listing and RestoreTopic. ErrFenced.
func (db *DB) HoldTopic(ctx context.Context, topic uuid.UUID, term int64) error {
	if _, err := db.change(ctx, scriptHoldTopic, []string{keyHead(topic)}, formatNumber(term)); err != nil {
		return fmt.Errorf("hold topic %s: %w", topic, err)
	}
	return nil
}

// RestoreTopic replaces everything of a topic; until it returns nil the topic
// answers ErrRecovering. It may be repeated after any error. ErrFenced: a newer
// recovery took over. Answers to idempotent requests that are not in the
// snapshot stay, as far as they have not expired.
func (db *DB) RestoreTopic(ctx context.Context, s TopicSnapshot) error {
	if err := s.validate(); err != nil {
		return fmt.Errorf("restore topic %s: %w", s.Topic.ID, err)
	}
	if err := db.HoldTopic(ctx, s.Topic.ID, s.Term); err != nil {
		return err
	}
	steps := []func(context.Context, *TopicSnapshot) error{
		db.restoreClear, db.restoreEntries, db.restoreTimers, db.restoreHalves, db.restoreWriters, db.restoreStrings, db.restoreDone, db.restoreName,
	}
	for _, step := range steps {
		if err := step(ctx, &s); err != nil {
			return fmt.Errorf("restore topic %s: %w", s.Topic.ID, err)
		}
	}
	return nil
}

func (s *TopicSnapshot) validate() error {
	for number, q := range s.Queues {
		next := q.Min
		for i, e := range q.Entries {
			if i == 0 && e.First() < q.Min {
				next = e.First() // its first messages are trimmed
			}
			if e.First() < next || e.Count == 0 || i > 0 && e.StoredAt < q.Entries[i-1].StoredAt {
				return fmt.Errorf("queue %d: entry %d begins at %d of %s/%d, before %d",
					number, i, e.First(), e.Segment.Writer, e.Segment.Seq, next)
			}
			next = e.Next
		}
		if next != q.Next || q.Min > q.Next || q.Next > maxOffset {
			return fmt.Errorf("queue %d ends at %d, not at %d", number, next, q.Next)
		}
	}
	return nil
}

// state is what the head of the queue says.
func (q *QueueSnapshot) state(number uint32) QueueState {
	s := QueueState{Queue: number, Min: q.Min, Next: q.Next}
	for _, e := range q.Entries {
		s.Bytes += e.Length
		s.LastStoredAt = e.StoredAt
	}
	return s
}

// restoreClear removes the index and the writers that are there, also queues
// beyond those of the snapshot.
func (db *DB) restoreClear(ctx context.Context, s *TopicSnapshot) error {
	queues := s.Topic.Queues
	switch there, err := db.reads.HGet(ctx, keyMeta(s.Topic.ID), "queues").Int64(); {
	case err == nil:
		queues = max(queues, uint32(there))
	case !errors.Is(err, redis.Nil):
		return err
	}
	for q := range s.Queues {
		queues = max(queues, q+1)
	}
	keys := append(hotKeys(s.Topic.ID, queues), keyTopicWriters(s.Topic.ID), keyDue(s.Topic.ID), keyTimers(s.Topic.ID), keyHalves(s.Topic.ID), keyFired(s.Topic.ID))
	for part := range slices.Chunk(keys, restoreBatch) {
		err := db.restore(ctx, scriptRestoreClear, append([]string{keyHead(s.Topic.ID)}, part...), formatNumber(s.Term))
		if err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) restore(ctx context.Context, script *redis.Script, keys []string, args ...any) error {
	_, err := db.change(ctx, script, keys, args...)
	return err
}

func (db *DB) restoreEntries(ctx context.Context, s *TopicSnapshot) error {
	for _, number := range slices.Sorted(maps.Keys(s.Queues)) {
		keys := []string{keyHead(s.Topic.ID), keyHot(s.Topic.ID, number)}
		at := 0
		for part := range slices.Chunk(s.Queues[number].Entries, restoreBatch) {
			args := []any{formatNumber(s.Term), at}
			for i := range part {
				args = append(args, appendEntry(nil, &part[i]))
			}
			if err := db.restore(ctx, scriptRestoreEntries, keys, args...); err != nil {
				return fmt.Errorf("queue %d: %w", number, err)
			}
			at += len(part)
		}
	}
	return nil
}

// restoreDone opens the topic.
func (db *DB) restoreDone(ctx context.Context, s *TopicSnapshot) error {
	text, err := json.Marshal(s.Topic)
	if err != nil {
		return err
	}
	state := "live"
	if s.Topic.Deleted {
		state = "deleted"
	}
	args := []any{formatNumber(s.Term), text, formatNumber(s.Topic.Version), queueField(s.Topic.Queues),
		formatNumber(s.Topic.Epoch), state, channelChange, s.Topic.Name}
	for _, number := range slices.Sorted(maps.Keys(s.Queues)) {
		q := s.Queues[number]
		args = append(args, queueField(number), formatHead(q.state(number)))
	}
	return db.restore(ctx, scriptRestoreDone, []string{keyMeta(s.Topic.ID), keyHead(s.Topic.ID)}, args...)
}

// restoreName comes last: a name never leads to a topic that is not there yet.
func (db *DB) restoreName(ctx context.Context, s *TopicSnapshot) error {
	if s.Topic.Deleted {
		return db.restore(ctx, scriptFreeName, []string{keyTopics, keyNames}, s.Topic.Name, s.Topic.ID.String())
	}
	return topicsByName.give(ctx, db, s.Topic.Name, s.Topic.ID)
}
