package meta

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A half message lies under the id of its block's first message: a pointer, as a
// timer's value with due zero, or where it became readable (lua/place_halves.lua).

// HalfState is what is put down under the id of half messages.
type HalfState struct {
	ID    uuid.UUID
	Entry Entry // where the bytes are, of those that are not readable
	// Placed: they are readable, from offset First on in this epoch and queue.
	Placed bool
	Epoch  int64
	Queue  uint32
	First  int64
	Count  uint32
}

func (h *HalfState) value() string {
	if h.Placed {
		return fmt.Sprintf("P%d %d.%d.%d", h.Epoch, h.Queue, h.First, h.Count)
	}
	return string(appendTimer(nil, &Timer{ID: h.ID, Entry: h.Entry}))
}

func parseHalf(id uuid.UUID, value string) (HalfState, error) {
	if !strings.HasPrefix(value, "P") {
		t, err := parseTimer(string(id[:]), value)
		return HalfState{ID: id, Entry: t.Entry}, err
	}
	h := HalfState{ID: id, Placed: true}
	epoch, place, _ := strings.Cut(value[1:], " ")
	parts := strings.Split(place, ".")
	var ok1, ok2 bool
	h.Epoch, ok1 = parseNumber(epoch)
	if len(parts) != 3 || !ok1 {
		return h, fmt.Errorf("%w: place of half messages %q", ErrCorrupt, value)
	}
	queue, err1 := strconv.ParseUint(parts[0], 10, 32)
	h.First, ok2 = parseNumber(parts[1])
	count, err2 := strconv.ParseUint(parts[2], 10, 32)
	if err1 != nil || err2 != nil || !ok2 {
		return h, fmt.Errorf("%w: place of half messages %q", ErrCorrupt, value)
	}
	h.Queue, h.Count = uint32(queue), uint32(count)
	return h, nil
}

// Halves returns what is put down in a topic under the ids, without those under
// which nothing is.
func (db *DB) Halves(ctx context.Context, topic uuid.UUID, ids []uuid.UUID) ([]HalfState, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	fields := make([]string, len(ids))
	for i := range ids {
		fields[i] = string(ids[i][:])
	}
	values, err := db.reads.HMGet(ctx, keyHalves(topic), fields...).Result()
	if err != nil {
		return nil, fmt.Errorf("half messages of %s: %w", topic, err)
	}
	var out []HalfState
	for i, value := range values {
		text, _ := value.(string)
		if text == "" {
			continue
		}
		h, err := parseHalf(ids[i], text)
		if err != nil {
			return nil, fmt.Errorf("half messages of %s: %w", topic, err)
		}
		out = append(out, h)
	}
	return out, nil
}

// PlaceHalves makes half messages readable, up to MaxFire at a time: an index entry for each run of
// touching blocks, with fresh offsets and the time of now. It returns what is
// under each id afterwards and the entries that were made; what is readable
// already stays where it is, so it may be repeated after any error. The entries
// stay with the topic until SettleFired. *EpochError, ErrTopicNotFound,
// ErrRecovering, ErrQueueFull and ErrCorrupt changed nothing.
func (db *DB) PlaceHalves(ctx context.Context, topic uuid.UUID, epoch int64, halves []HalfState) ([]HalfState, Fired, error) {
	var timers []Timer
	for _, h := range halves {
		if !h.Placed {
			timers = append(timers, Timer{ID: h.ID, Entry: h.Entry})
		}
	}
	switch {
	case len(timers) == 0:
		return halves, Fired{}, nil
	case len(timers) > MaxFire:
		return nil, Fired{}, fmt.Errorf("place %d half messages in %s: at most %d at a time", len(timers), topic, MaxFire)
	}
	keys := []string{keyHead(topic), keyHalves(topic), keyFired(topic)}
	order, runs := layoutTimers(timers)
	args := []any{channelTopic(topic), formatNumber(epoch), len(order), len(timers)}
	for _, queue := range order {
		keys = append(keys, keyHot(topic, queue))
		args = append(args, queueField(queue))
	}
	for i := range timers {
		args = append(args, string(timers[i].ID[:]))
	}
	for _, queue := range order {
		args = append(args, len(runs[queue]))
		for i := range runs[queue] {
			args = appendRun(args, &runs[queue][i])
		}
	}
	r, err := db.change(ctx, scriptPlaceHalves, keys, args...)
	if err != nil {
		return nil, Fired{}, fmt.Errorf("place half messages in %s: %w", topic, err)
	}
	fired, err := parseFired(r.text(1))
	if err != nil {
		return nil, Fired{}, err
	}
	out := slices.DeleteFunc(slices.Clone(halves), func(h HalfState) bool { return !h.Placed })
	for i, value := range r.list(2) {
		text, _ := value.(string)
		if text == "" {
			continue
		}
		h, err := parseHalf(timers[i].ID, text)
		if err != nil {
			return nil, Fired{}, err
		}
		out = append(out, h)
	}
	return out, fired, nil
}

// NotePlaced tells the leader that offsets which PlaceHalves gave are not in the
// log yet. It is a hint: without it they get there with the leader's next look at
// all topics.
func (db *DB) NotePlaced(ctx context.Context, topic uuid.UUID) error {
	return db.reads.Publish(ctx, channelTimers, topic.String()+" 0").Err()
}

// DropHalves removes what is put down under ids of half messages; with placed
// only those that are readable, whose pointers a recovery may have put down again.
func (db *DB) DropHalves(ctx context.Context, topic uuid.UUID, ids []uuid.UUID, placed bool) error {
	which := "all"
	if placed {
		which = "placed"
	}
	for part := range slices.Chunk(ids, MaxFire) {
		args := []any{which}
		for i := range part {
			args = append(args, string(part[i][:]))
		}
		if _, err := db.change(ctx, scriptDropHalves, []string{keyHalves(topic)}, args...); err != nil {
			return fmt.Errorf("drop half messages of %s: %w", topic, err)
		}
	}
	return nil
}

// restoreHalves puts half messages down again.
func (db *DB) restoreHalves(ctx context.Context, s *TopicSnapshot) error {
	for part := range slices.Chunk(s.Halves, 150) {
		args := []any{formatNumber(s.Term)}
		for i := range part {
			args = append(args, string(part[i].ID[:]), part[i].value())
		}
		if err := db.restore(ctx, scriptRestoreHalves, []string{keyHead(s.Topic.ID), keyHalves(s.Topic.ID)}, args...); err != nil {
			return fmt.Errorf("half messages: %w", err)
		}
	}
	return nil
}
