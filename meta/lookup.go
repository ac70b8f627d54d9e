package meta

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// QueueState is where a queue starts and ends.
type QueueState struct {
	Queue        uint32
	Min, Next    int64
	Bytes        int64
	LastStoredAt int64 // 0 when nothing was ever stored
}

// Window is a stretch of a queue's index together with the queue's bounds.
type Window struct {
	Epoch, Min, Next int64
	Entries          []Entry
}

// maxOffset is the largest number the scripts can count to.
const maxOffset = 1<<53 - 1

// Lookup returns up to max entries from the one that holds offset on (in a hole:
// from the one behind it); none when offset is outside [Min, Next).
// ErrTopicNotFound, ErrRecovering.
func (db *DB) Lookup(ctx context.Context, topic uuid.UUID, queue uint32, offset int64, max int) (Window, error) {
	w, err := db.lookup(ctx, topic, queue, offset, max, "offset")
	if err != nil {
		return Window{}, fmt.Errorf("look up %d in queue %d: %w", offset, queue, err)
	}
	return w, nil
}

// LookupTime returns the first offset stored at or after `at` (Next when there
// is none) and up to max entries from there.
func (db *DB) LookupTime(ctx context.Context, topic uuid.UUID, queue uint32, at int64, max int) (int64, Window, error) {
	w, err := db.lookup(ctx, topic, queue, at, max, "time")
	if err != nil {
		return 0, Window{}, fmt.Errorf("look up time %d in queue %d: %w", at, queue, err)
	}
	if len(w.Entries) == 0 {
		return w.Next, w, nil
	}
	offset := w.Entries[0].First()
	if offset < w.Min { // the entry's first messages are trimmed
		offset = w.Min
	}
	return offset, w, nil
}

func (db *DB) lookup(ctx context.Context, topic uuid.UUID, queue uint32, wanted int64, max int, by string) (Window, error) {
	if max < 1 {
		return Window{}, fmt.Errorf("at least one entry must be asked for, not %d", max)
	}
	r, err := db.read(ctx, scriptLookup, []string{keyHead(topic), keyHot(topic, queue)},
		queueField(queue), clamp(wanted, -1, maxOffset), max, by)
	if err != nil {
		return Window{}, topicsByName.missing(ctx, db, err)
	}
	w := Window{Epoch: r.number(1), Min: r.number(2), Next: r.number(3)}
	w.Entries, err = parseEntries(queue, r.list(4))
	return w, err
}

func clamp(n, low, high int64) int64 { return max(low, min(n, high)) }

// Bounds returns the epoch of a topic and the state of the named queues, in
// that order. ErrTopicNotFound, ErrRecovering.
func (db *DB) Bounds(ctx context.Context, topic uuid.UUID, queues []uint32) (int64, []QueueState, error) {
	fields := make([]string, 0, 2+len(queues))
	fields = append(fields, "epoch", "state")
	for _, q := range queues {
		fields = append(fields, queueField(q))
	}
	values, err := db.reads.HMGet(ctx, keyHead(topic), fields...).Result()
	if err != nil {
		return 0, nil, fmt.Errorf("bounds of %s: %w", topic, err)
	}
	h := reply(values)
	switch h.text(1) {
	case "live":
	case "", "deleted":
		return 0, nil, fmt.Errorf("bounds of %s: %w", topic, topicsByName.missing(ctx, db, ErrTopicNotFound))
	default:
		return 0, nil, fmt.Errorf("bounds of %s: %w", topic, ErrRecovering)
	}
	states := make([]QueueState, len(queues))
	for i, q := range queues {
		if states[i], err = parseHead(q, h.text(i+2)); err != nil {
			return 0, nil, fmt.Errorf("bounds of %s: %w", topic, err)
		}
	}
	return h.number(0), states, nil
}

// Queues returns the state of every queue of t.
func (db *DB) Queues(ctx context.Context, t Topic) ([]QueueState, error) {
	queues := make([]uint32, t.Queues)
	for q := range queues {
		queues[q] = uint32(q)
	}
	_, states, err := db.Bounds(ctx, t.ID, queues)
	return states, err
}

func parseHead(queue uint32, text string) (QueueState, error) {
	s := QueueState{Queue: queue}
	if text == "" {
		return s, nil
	}
	fields := strings.Split(text, " ")
	if len(fields) != 4 {
		return s, fmt.Errorf("%w: head of queue %d", ErrCorrupt, queue)
	}
	for i, to := range []*int64{&s.Next, &s.Min, &s.Bytes, &s.LastStoredAt} {
		n, ok := parseNumber(fields[i])
		if !ok {
			return s, fmt.Errorf("%w: head of queue %d", ErrCorrupt, queue)
		}
		*to = n
	}
	return s, nil
}

func formatHead(s QueueState) string {
	return strings.Join([]string{formatNumber(s.Next), formatNumber(s.Min), formatNumber(s.Bytes), formatNumber(s.LastStoredAt)}, " ")
}
