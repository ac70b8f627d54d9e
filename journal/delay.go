package journal

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
)

// MaxDelay is how far in the future a message may be due (DESIGN 8).
const MaxDelay = 40 * 24 * time.Hour

// delayLevels is RocketMQ's table: level 1 is one second.
var delayLevels = [...]time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute,
	7 * time.Minute, 8 * time.Minute, 9 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour,
}

// MaxDelayLevel is the highest delay level.
const MaxDelayLevel = int64(len(delayLevels))

// DelayLevel returns the wait of a level from 1 to MaxDelayLevel.
func DelayLevel(level int64) (time.Duration, bool) {
	if level < 1 || level > MaxDelayLevel {
		return 0, false
	}
	return delayLevels[level-1], true
}

// Errors of Recall.
var (
	// ErrDelivered says that a delayed message became readable before its recall.
	ErrDelivered = meta.ErrDelivered
	// ErrTimerUnknown says that a handle names no delayed message of the topic.
	ErrTimerUnknown = meta.ErrTimerUnknown
)

// delayed says whether the message asks for a delay.
func (m *Message) delayed() bool { return m.DelayMS|m.DeliverAt|m.DelayLevel != 0 }

// due returns when a message that asks for a delay is due by Redis' clock; zero:
// it is due already. A relative delay counts from the latest that the clock may
// say now, so that no message is early by it.
func (d *Draft) due(m *Message) (int64, error) {
	field, wait := "delay_ms", m.DelayMS
	bad := func(code, detail string) (int64, error) { return 0, fault{field, code, detail}.at(d.count) }
	switch {
	case m.DeliverAt != 0:
		field = "deliver_at"
	case m.DelayLevel != 0:
		field = "delay_level"
	}
	given := 0
	for _, v := range [...]int64{m.DelayMS, m.DeliverAt, m.DelayLevel} {
		if v != 0 {
			given++
		}
	}
	if given > 1 {
		return bad(CodeConflict, "a message has one of delay_ms, deliver_at and delay_level")
	}
	if d.topic.Type != meta.TopicDelay && d.topic.Type != meta.TopicMixed {
		return bad(CodeConflict, fmt.Sprintf("delayed messages go to topics of type delay or mixed; this one is %s", d.topic.Type))
	}
	if m.DelayLevel != 0 {
		of, ok := DelayLevel(m.DelayLevel)
		if !ok {
			return bad(CodeOutOfRange, fmt.Sprintf("delay levels are 1 to %d; 0 is none", MaxDelayLevel))
		}
		wait = of.Milliseconds()
	}
	if wait < 0 || m.DeliverAt < 0 {
		return bad(CodeOutOfRange, "a delay is not negative")
	}
	low, high, err := d.clock.now()
	if err != nil {
		return 0, err
	}
	due := m.DeliverAt
	if wait > 0 {
		if wait > MaxDelay.Milliseconds() {
			return bad(CodeOutOfRange, "a message is delayed by at most 40 days")
		}
		due = high + wait
	}
	if due > high+MaxDelay.Milliseconds() {
		return bad(CodeOutOfRange, "a message is delayed by at most 40 days")
	}
	if due <= low {
		return 0, nil
	}
	return due, nil
}

// A recall handle is base64url of: 1 byte version, 16 bytes topic, 16 bytes
// message id, 7 bytes due, 4 bytes CRC32C. It is no secret: who may produce to
// the topic may recall.
const (
	handleVersion = 1
	handleBytes   = 1 + 16 + 16 + 7 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// RecallHandle names a delayed message to Recall.
func RecallHandle(topic, id uuid.UUID, due int64) string {
	b := make([]byte, 0, handleBytes)
	b = append(b, handleVersion)
	b = append(b, topic[:]...)
	b = append(b, id[:]...)
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(due))
	b = append(b, at[1:]...)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseHandle(handle string) (topic, id uuid.UUID, due int64, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(handle)
	if err != nil || len(b) != handleBytes || b[0] != handleVersion ||
		binary.BigEndian.Uint32(b[handleBytes-4:]) != crc32.Checksum(b[:handleBytes-4], castagnoli) {
		return topic, id, 0, false
	}
	copy(topic[:], b[1:])
	copy(id[:], b[17:])
	var at [8]byte
	copy(at[1:], b[33:40])
	return topic, id, int64(binary.BigEndian.Uint64(at[:])), true
}

// controlRecall is the kind of the control record of a recalled message: a
// replay.Recall.
const controlRecall = "recall"

// Recall takes a delayed message away before it is due; nobody ever reads it.
// It returns once that is durable, and may be repeated. ErrDelivered: it became
// readable first. ErrTimerUnknown: the handle is none, or of another topic, or
// nothing is put down under it. ErrTopicNotFound, ErrRecovering, ErrUnavailable;
// after ErrOutcomeUnknown a repetition tells.
func (j *Journal) Recall(ctx context.Context, topic meta.Topic, handle string) error {
	of, id, due, ok := parseHandle(handle)
	if !ok || of != topic.ID {
		return fmt.Errorf("recall: %w", ErrTimerUnknown)
	}
	t, err := j.meta.RecallTimer(ctx, topic.ID, id, due)
	if err != nil {
		return recallError(err)
	}
	return j.Control(ctx, controlRecall, &replay.Recall{
		Topic: topic.ID, Writer: t.Entry.Segment.Writer, Seq: t.Entry.Segment.Seq, Position: t.Entry.Position,
	})
}
