package meta

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// CommitTimer is a deferred block of a commit: it is put down for when it is due,
// or until its transaction ends, unless its request is withheld, and gets no
// offset before.
type CommitTimer struct {
	ID               uuid.UUID // of its first message: what the timer is known by
	Due              int64     // Unix milliseconds by Redis' clock; 0: half messages
	Queue            uint32
	Count            uint32
	Position, Length int64
	Tags             uint64
	Request          int // index into Requests; −1: always put down
}

// Timer is a delayed message that waits in Redis: its bytes are in a segment.
type Timer struct {
	ID    uuid.UUID
	Due   int64 // Unix milliseconds by Redis' clock: never readable before
	Entry Entry // Queue and where its bytes are; Next and StoredAt are zero
}

// A timer's value: 7 bytes due, big-endian, as scripts read it; the queue as
// unsigned varint; the suffix of a packed entry.

func appendTimer(dst []byte, t *Timer) []byte {
	dst = appendBigEndian(dst, t.Due, 7)
	dst = binary.AppendUvarint(dst, uint64(t.Entry.Queue))
	return appendEntrySuffix(dst, &t.Entry)
}

func parseTimer(id, value string) (Timer, error) {
	t := Timer{}
	if len(id) != len(t.ID) || len(value) < 8 {
		return t, fmt.Errorf("%w: timer of %d bytes", ErrCorrupt, len(value))
	}
	copy(t.ID[:], id)
	t.Due = bigEndian(value[:7])
	rest := []byte(value[7:])
	queue, ok := takeUvarint(&rest)
	if !ok || queue > 1<<32-1 {
		return t, fmt.Errorf("%w: timer of %d bytes", ErrCorrupt, len(value))
	}
	var err error
	// Next is what the count is checked against; a timer has none.
	t.Entry, err = parseEntry(uint32(queue), "\x7f\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00"+string(rest))
	t.Entry.Next = 0
	return t, err
}

func (c *Commit) timer(t *CommitTimer) Timer {
	return Timer{ID: t.ID, Due: t.Due, Entry: Entry{
		Queue: t.Queue, Count: t.Count, Segment: SegmentRef{Writer: c.Writer, Seq: c.Seq},
		Position: t.Position, Length: t.Length, Tags: t.Tags,
	}}
}

// encodeTimers writes what lua/arm.lua reads: nothing when there are none.
func (p *commitPlan) encodeTimers() {
	c := p.commit
	if len(c.Timers) == 0 {
		return
	}
	rank := make(map[int]int, len(p.requests))
	for at, i := range p.requests {
		rank[i] = at + 1
	}
	p.keys = append(p.keys, keyDue(c.Topic), keyTimers(c.Topic), keyHalves(c.Topic))
	p.args = append(p.args, len(c.Timers), channelTimers, c.Topic.String())
	for i := range c.Timers {
		t := c.timer(&c.Timers[i])
		p.args = append(p.args, rank[c.Timers[i].Request], string(t.ID[:]), formatNumber(t.Due), appendTimer(nil, &t))
	}
}

// placeTimers tells which timers the script put down.
func (p *commitPlan) placeTimers(withheld map[int]bool, res *CommitResult) {
	if len(p.commit.Timers) == 0 {
		return
	}
	out := make(map[int]bool, len(withheld))
	for n := range withheld {
		out[p.requests[n-1]] = true
	}
	for _, t := range p.commit.Timers {
		if t.Request < 0 || !out[t.Request] {
			res.Armed = append(res.Armed, t)
		}
	}
	slices.SortFunc(res.Armed, func(a, b CommitTimer) int { return cmp.Compare(a.Position, b.Position) })
}

// parseTimerNotice reads what lua/arm.lua publishes.
func parseTimerNotice(payload string) (topic uuid.UUID, due int64, ok bool) {
	id, time, _ := strings.Cut(payload, " ")
	topic, err := uuid.Parse(id)
	due, ok = parseNumber(time)
	return topic, due, ok && err == nil
}

// RecallTimer takes a delayed message away before it is due; repeating it gives
// the same answer. due is when the caller believes it to be due, zero when it
// does not know. ErrDelivered: it became readable first. ErrTimerUnknown: it is
// not due yet and nothing is put down. ErrTopicNotFound, ErrRecovering.
func (db *DB) RecallTimer(ctx context.Context, topic, id uuid.UUID, due int64) (Timer, error) {
	keys := []string{keyHead(topic), keyDue(topic), keyTimers(topic), keyRecalled(topic, id)}
	r, err := db.change(ctx, scriptRecall, keys, string(id[:]), formatNumber(due), recallTTL.Milliseconds())
	if err != nil {
		return Timer{}, fmt.Errorf("recall %s: %w", id, topicsByName.missing(ctx, db, err))
	}
	return parseTimer(string(id[:]), r.text(1))
}

// restoreTimers puts down again what had not fired.
func (db *DB) restoreTimers(ctx context.Context, s *TopicSnapshot) error {
	keys := []string{keyHead(s.Topic.ID), keyDue(s.Topic.ID), keyTimers(s.Topic.ID)}
	for part := range slices.Chunk(s.Timers, 150) {
		args := []any{formatNumber(s.Term), channelTimers, s.Topic.ID.String()}
		for i := range part {
			args = append(args, string(part[i].ID[:]), formatNumber(part[i].Due), appendTimer(nil, &part[i]))
		}
		if err := db.restore(ctx, scriptRestoreTimers, keys, args...); err != nil {
			return fmt.Errorf("timers: %w", err)
		}
	}
	return nil
}
