package meta

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// OffsetRecord is a group's progress in one queue (SEMANTICS 32).
type OffsetRecord struct {
	Topic     uuid.UUID `json:"topic"`
	Queue     uint32    `json:"queue"`
	Offset    int64     `json:"offset"`     // the next to consume
	Version   int64     `json:"version"`    // raised by every reset
	Start     int64     `json:"start"`      // where the group began
	Stopped   bool      `json:"stopped"`    // consumption of the queue is stopped
	UpdatedAt int64     `json:"updated_at"` // Unix milliseconds of Redis
	CreatedAt int64     `json:"created_at"`
	By        string    `json:"by"` // who changed it last: a client id
}

// OffsetStart is where a group begins in a queue that it has no offset in.
type OffsetStart struct {
	Topic uuid.UUID
	Queue uint32
	First int64 // when the topic is new to the group
	Min   int64 // when the group has offsets in other queues of the topic: the queue is new
}

// OffsetCommit moves a group's progress in one queue.
type OffsetCommit struct {
	Topic   uuid.UUID
	Queue   uint32
	Offset  int64
	Version int64
	Epoch   int64 // assignment epoch of the owner; not looked at for members that own no queues
}

// What a commit or reset of one queue came to.
const (
	OffsetStored          = "stored"
	OffsetUnchanged       = "unchanged"        // not beyond what is stored
	OffsetVersionConflict = "version_conflict" // a reset came in between
	OffsetNotOwner        = "not_owner"        // another member owns the queue, or the same one anew
	OffsetNoRecord        = "no_record"        // the group has no offset in the queue
)

// OffsetResult is what a commit came to, and what is stored now.
type OffsetResult struct {
	Status string
	Record OffsetRecord // zero after OffsetNoRecord
}

// OffsetReset moves a group's progress anywhere.
type OffsetReset struct {
	Topic     uuid.UUID
	Queue     uint32
	Offset    int64
	IfVersion int64 // the version it must have; 0: any
	Epoch     int64 // assignment epoch, when a member resets what it owns
}

// OffsetMoved is what a reset came to.
type OffsetMoved struct {
	Status string       // OffsetStored, OffsetVersionConflict, OffsetNotOwner
	Old    OffsetRecord // zero when there was none
	New    OffsetRecord // what is stored now
}

// parseOffset reads what lua/offset.lua writes.
func parseOffset(topic uuid.UUID, queue uint32, text string) (OffsetRecord, error) {
	words := strings.SplitN(text, " ", 7)
	if len(words) != 7 {
		return OffsetRecord{}, fmt.Errorf("%w: offset record %q", ErrCorrupt, text)
	}
	r := OffsetRecord{Topic: topic, Queue: queue, Stopped: words[3] == "1", By: words[6]}
	for _, n := range []struct {
		field *int64
		text  string
	}{{&r.Offset, words[0]}, {&r.Version, words[1]}, {&r.Start, words[2]}, {&r.UpdatedAt, words[4]}, {&r.CreatedAt, words[5]}} {
		var ok bool
		if *n.field, ok = parseNumber(n.text); !ok {
			return OffsetRecord{}, fmt.Errorf("%w: offset record %q", ErrCorrupt, text)
		}
	}
	return r, nil
}

func parseQueue(text string) (uint32, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}

// hashes numbers the hashes of offsets among a script's keys.
type hashes struct {
	keys   []string
	of     func(topic uuid.UUID) string
	number map[uuid.UUID]int
	topics []string
}

func newHashes(keys []string, of func(topic uuid.UUID) string) *hashes {
	return &hashes{keys: keys, of: of, number: map[uuid.UUID]int{}}
}

// at gives the number of the topic's hash.
func (h *hashes) at(topic uuid.UUID) int {
	n, known := h.number[topic]
	if !known {
		h.keys = append(h.keys, h.of(topic))
		h.topics = append(h.topics, topic.String())
		n = len(h.keys)
		h.number[topic] = n
	}
	return n
}

// startArguments are keys, ids of topics and the list of starts for lua/offset.lua's begin.
func startArguments(keys []string, starts []OffsetStart, of func(uuid.UUID) string) (all []string, topics string, args []any) {
	h := newHashes(keys, of)
	args = []any{len(starts)}
	for _, s := range starts {
		args = append(args, h.at(s.Topic), queueField(s.Queue), s.First, s.Min)
	}
	return h.keys, strings.Join(h.topics, " "), args
}

func groupHash(group uuid.UUID) func(uuid.UUID) string {
	return func(topic uuid.UUID) string { return keyOffsets(group, topic) }
}

// InitOffsets gives start offsets to queues that have none, and tells how many it
// wrote. A coordinator says under which term; others say 0. ErrFenced.
func (db *DB) InitOffsets(ctx context.Context, group uuid.UUID, term int64, starts []OffsetStart) error {
	keys, topics, args := startArguments([]string{keyGroupMeta(group), keyGroupTopics(group)}, starts, groupHash(group))
	args = append([]any{term, "start", topics}, args...)
	if _, err := db.change(ctx, scriptInitOffsets, keys, args...); err != nil {
		return fmt.Errorf("start offsets of group %s: %w", group, err)
	}
	return nil
}

// Committer is who commits offsets.
type Committer struct {
	Member    string // member id; "": somebody outside, for queues that nobody owns
	By        string // what the record shows: a client id
	Overwrite bool   // the group's commit_policy is overwrite
	Client    string // of a broadcasting member: whose progress it is
}

// CommitOffsets moves a group's progress in several queues, each by itself: only
// under the stored version, only forward unless Overwrite (SEMANTICS 25), and in
// queues that have an owner only by that, in its assignment epoch.
// ErrMemberUnknown, ErrFencedMember: nothing was committed.
func (db *DB) CommitOffsets(ctx context.Context, group uuid.UUID, who Committer, commits []OffsetCommit) ([]OffsetResult, error) {
	results := make([]OffsetResult, 0, len(commits))
	for len(commits) > 0 {
		n := min(len(commits), offsetsPerScript)
		part, err := db.commitOffsets(ctx, group, who, commits[:n])
		if err != nil {
			return nil, fmt.Errorf("commit offsets of group %s: %w", group, err)
		}
		results = append(results, part...)
		commits = commits[n:]
	}
	return results, nil
}

// offsetsPerScript bounds one run of a script.
const offsetsPerScript = 256

func (db *DB) commitOffsets(ctx context.Context, group uuid.UUID, who Committer, commits []OffsetCommit) ([]OffsetResult, error) {
	of := groupHash(group)
	if who.Client != "" {
		of = func(topic uuid.UUID) string { return keyBroadcast(group, broadcastClient(who.Client), topic) }
	}
	h := newHashes([]string{keyGroupMeta(group), keyMembers(group), keyFenced(group), keyAssignments(group)}, of)
	args := []any{orDash(who.Member), who.By, flag(who.Overwrite)}
	for _, c := range commits {
		claim := sharedField(c.Topic, c.Queue)
		if who.Client != "" {
			claim = "-"
		}
		args = append(args, h.at(c.Topic), queueField(c.Queue), claim, c.Offset, c.Version, c.Epoch)
	}
	r, err := db.change(ctx, scriptCommitOffsets, h.keys, args...)
	if err != nil {
		return nil, err
	}
	results := make([]OffsetResult, len(commits))
	for i, c := range commits {
		row := reply(r.list(i + 1))
		results[i].Status = row.text(0)
		if text := row.text(1); text != "" {
			if results[i].Record, err = parseOffset(c.Topic, c.Queue, text); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ResetOffsets moves a group's progress in several queues under a new version
// each: commits under the old one change nothing any more. member, unless empty,
// must own the queues. by is shown in the record.
func (db *DB) ResetOffsets(ctx context.Context, group uuid.UUID, member, by string, resets []OffsetReset) ([]OffsetMoved, error) {
	moved := make([]OffsetMoved, 0, len(resets))
	for len(resets) > 0 {
		n := min(len(resets), offsetsPerScript)
		part, err := db.resetOffsets(ctx, group, member, by, resets[:n])
		if err != nil {
			return moved, fmt.Errorf("reset offsets of group %s: %w", group, err)
		}
		moved = append(moved, part...)
		resets = resets[n:]
	}
	return moved, nil
}

func (db *DB) resetOffsets(ctx context.Context, group uuid.UUID, member, by string, resets []OffsetReset) ([]OffsetMoved, error) {
	h := newHashes([]string{keyGroupMeta(group), keyMembers(group), keyFenced(group), keyAssignments(group), keyGroupTopics(group)}, groupHash(group))
	var rows []any
	for _, c := range resets {
		rows = append(rows, h.at(c.Topic), queueField(c.Queue), sharedField(c.Topic, c.Queue), c.Epoch, c.Offset, c.IfVersion)
	}
	args := append([]any{orDash(member), by, channelGroups, groupNotice(group, ChangedOffsets), strings.Join(h.topics, " ")}, rows...)
	r, err := db.change(ctx, scriptResetOffsets, h.keys, args...)
	if err != nil {
		return nil, err
	}
	moved := make([]OffsetMoved, len(resets))
	for i, c := range resets {
		row := reply(r.list(i + 1))
		moved[i].Status = row.text(0)
		for _, record := range []struct {
			field *OffsetRecord
			text  string
		}{{&moved[i].Old, row.text(1)}, {&moved[i].New, row.text(2)}} {
			if record.text == "" {
				continue
			}
			if *record.field, err = parseOffset(c.Topic, c.Queue, record.text); err != nil {
				return nil, err
			}
		}
	}
	return moved, nil
}

// SetStopped stops a group's consumption of one queue, or starts it again.
// ErrNoOffset: the group does not consume the queue.
func (db *DB) SetStopped(ctx context.Context, group, topic uuid.UUID, queue uint32, stopped bool, by string) (OffsetRecord, error) {
	r, err := db.change(ctx, scriptSetStopped, []string{keyGroupMeta(group), keyOffsets(group, topic)},
		queueField(queue), flag(stopped), by, channelGroups, groupNotice(group, ChangedOffsets))
	if err != nil {
		return OffsetRecord{}, fmt.Errorf("stop a queue of group %s: %w", group, err)
	}
	if r.status() == "NO_RECORD" {
		return OffsetRecord{}, fmt.Errorf("stop a queue of group %s: %w", group, ErrNoOffset)
	}
	return parseOffset(topic, queue, r.text(1))
}

// Offsets returns a group's progress in the queues of a topic, in no order.
func (db *DB) Offsets(ctx context.Context, group, topic uuid.UUID) ([]OffsetRecord, error) {
	return db.offsetsIn(ctx, keyOffsets(group, topic), topic)
}

func (db *DB) offsetsIn(ctx context.Context, key string, topic uuid.UUID) ([]OffsetRecord, error) {
	texts, err := db.reads.HGetAll(ctx, key).Result()
	if err != nil {
		return nil, fmt.Errorf("offsets in topic %s: %w", topic, err)
	}
	records := make([]OffsetRecord, 0, len(texts))
	for field, text := range texts {
		queue, ok := parseQueue(field)
		if !ok {
			return nil, fmt.Errorf("offsets in topic %s: %w: queue %q", topic, ErrCorrupt, field)
		}
		r, err := parseOffset(topic, queue, text)
		if err != nil {
			return nil, fmt.Errorf("offsets in topic %s: %w", topic, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// AllOffsets returns a group's progress in every topic that it ever consumed.
func (db *DB) AllOffsets(ctx context.Context, group uuid.UUID) ([]OffsetRecord, error) {
	topics, err := db.groupTopics(ctx, group)
	if err != nil {
		return nil, err
	}
	var all []OffsetRecord
	for _, topic := range topics {
		records, err := db.Offsets(ctx, group, topic)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}

// groupTopics lists the topics that a group has, or had, offsets in.
func (db *DB) groupTopics(ctx context.Context, group uuid.UUID) ([]uuid.UUID, error) {
	texts, err := db.reads.SMembers(ctx, keyGroupTopics(group)).Result()
	if err != nil {
		return nil, fmt.Errorf("topics of group %s: %w", group, err)
	}
	topics := make([]uuid.UUID, len(texts))
	for i, text := range texts {
		if topics[i], err = uuid.Parse(text); err != nil {
			return nil, fmt.Errorf("topics of group %s: %w: %w", group, ErrCorrupt, err)
		}
	}
	return topics, nil
}
