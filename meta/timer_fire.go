package meta

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// MaxFire is how many timers one call fires: what a script does in a few
// milliseconds.
const MaxFire = 500

// DueTimers is what a topic has to fire.
type DueTimers struct {
	Now    int64   // by Redis' clock
	Epoch  int64   // of the topic
	Timers []Timer // due, first those that are due first
	Broken []uuid.UUID
	Next   int64 // when the one after Timers is due; 0: there is none
}

// DueTimers lists up to most (at most MaxFire) delayed messages that are due.
// ErrTopicNotFound, ErrRecovering.
func (db *DB) DueTimers(ctx context.Context, topic uuid.UUID, most int) (DueTimers, error) {
	keys := []string{keyHead(topic), keyDue(topic), keyTimers(topic)}
	r, err := db.read(ctx, scriptDueTimers, keys, min(most, MaxFire))
	if err != nil {
		return DueTimers{}, fmt.Errorf("due timers of %s: %w", topic, err)
	}
	d := DueTimers{Now: r.number(1), Epoch: r.number(2), Next: max(r.number(3), 0)}
	for pair := range slices.Chunk(r.list(4), 2) {
		id, _ := pair[0].(string)
		value, _ := pair[1].(string)
		t, err := parseTimer(id, value)
		if err != nil && len(id) == len(t.ID) {
			d.Broken = append(d.Broken, uuid.UUID([]byte(id)))
			continue
		}
		if err != nil {
			return DueTimers{}, fmt.Errorf("due timers of %s: %w", topic, err)
		}
		d.Timers = append(d.Timers, t)
	}
	return d, nil
}

// ListTimers lists up to most (at most MaxFire) delayed messages of a topic that are
// due at from (Unix milliseconds) or later, without the first skip of those that are
// due at from. ErrTopicNotFound, ErrRecovering.
func (db *DB) ListTimers(ctx context.Context, topic uuid.UUID, from int64, skip, most int) ([]Timer, error) {
	keys := []string{keyHead(topic), keyDue(topic), keyTimers(topic)}
	r, err := db.read(ctx, scriptListTimers, keys, formatNumber(from), skip, min(most, MaxFire))
	if err != nil {
		return nil, fmt.Errorf("timers of %s: %w", topic, err)
	}
	var timers []Timer
	for pair := range slices.Chunk(r.list(2), 2) {
		id, _ := pair[0].(string)
		value, _ := pair[1].(string)
		if t, err := parseTimer(id, value); err == nil { // a broken one is DueTimers' to tell of
			timers = append(timers, t)
		}
	}
	return timers, nil
}

// FireTimers makes delayed messages readable, in the order given: an index entry
// for each run of touching blocks, with fresh offsets and the time of now. What
// is not put down any more (fired, recalled) or is not due is left out, so it may
// be repeated after any error. The entries that it made also stay with the
// topic until SettleFired. *EpochError, ErrTopicNotFound, ErrRecovering,
// ErrQueueFull and ErrCorrupt changed nothing.
func (db *DB) FireTimers(ctx context.Context, topic uuid.UUID, epoch int64, timers []Timer) (Fired, error) {
	if len(timers) == 0 || len(timers) > MaxFire {
		return Fired{}, fmt.Errorf("fire %d timers of %s: 1 to %d at a time", len(timers), topic, MaxFire)
	}
	keys := []string{keyHead(topic), keyDue(topic), keyTimers(topic), keyFired(topic)}
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
	r, err := db.change(ctx, scriptFire, keys, args...)
	if err != nil {
		return Fired{}, fmt.Errorf("fire timers of %s: %w", topic, err)
	}
	return parseFired(r.text(1))
}

// layoutTimers gives, per queue, the runs of timers whose bytes touch.
func layoutTimers(timers []Timer) (order []uint32, runs map[uint32][]run) {
	runs = map[uint32][]run{}
	for i := range timers {
		e := timers[i].Entry
		one := piece{entry: e, request: i + 1}
		all := runs[e.Queue]
		if len(all) == 0 {
			order = append(order, e.Queue)
		}
		if n := len(all); n > 0 && all[n-1].entry.Segment == e.Segment && all[n-1].entry.Position+all[n-1].entry.Length == e.Position {
			all[n-1].entry.extend(e)
			all[n-1].pieces = append(all[n-1].pieces, one)
			continue
		}
		runs[e.Queue] = append(all, run{entry: e, pieces: []piece{one}})
	}
	return order, runs
}

// Fired is what a firing put into the index.
type Fired struct {
	Epoch   int64
	Entries []Entry
	news    string // as the list of firings holds it
}

// Messages is the number of messages that became readable.
func (f *Fired) Messages() (n int) {
	for _, e := range f.Entries {
		n += int(e.Count)
	}
	return n
}

func parseFired(news string) (Fired, error) {
	epoch, entries, err := parseNews(news)
	if err != nil {
		return Fired{}, fmt.Errorf("news of a firing: %w", err)
	}
	return Fired{Epoch: epoch, Entries: entries, news: news}, nil
}

// FiredTimers returns up to MaxFire firings of a topic, the oldest first, that
// SettleFired has not taken off.
func (db *DB) FiredTimers(ctx context.Context, topic uuid.UUID) ([]Fired, error) {
	list, err := db.reads.LRange(ctx, keyFired(topic), 0, MaxFire-1).Result()
	if err != nil {
		return nil, fmt.Errorf("firings of %s: %w", topic, err)
	}
	fired := make([]Fired, len(list))
	for i, news := range list {
		if fired[i], err = parseFired(news); err != nil {
			return nil, fmt.Errorf("firings of %s: %w", topic, err)
		}
	}
	return fired, nil
}

// SettleFired takes firings off that FiredTimers returned and that are in the
// log now. Those that others took off meanwhile are left out.
func (db *DB) SettleFired(ctx context.Context, topic uuid.UUID, fired []Fired) error {
	for part := range slices.Chunk(fired, MaxFire) {
		args := make([]any, len(part))
		for i := range part {
			args[i] = part[i].news
		}
		if _, err := db.change(ctx, scriptSettleFired, []string{keyFired(topic)}, args...); err != nil {
			return fmt.Errorf("settle firings of %s: %w", topic, err)
		}
	}
	return nil
}

// TopicTimers is how many delayed messages a topic has.
type TopicTimers struct {
	Topic   uuid.UUID
	Waiting int64
	Next    int64 // when the first is due; 0: none waits
	Fired   int64 // firings that SettleFired has not taken off
}

// CountTimers looks at the timers of many topics in few round trips; topics
// without any are left out.
func (db *DB) CountTimers(ctx context.Context, topics []Topic) ([]TopicTimers, error) {
	var out []TopicTimers
	for part := range slices.Chunk(topics, 300) {
		pipe := db.reads.Pipeline()
		firsts := make([]*redis.ZSliceCmd, len(part))
		cards, lengths := make([]*redis.IntCmd, len(part)), make([]*redis.IntCmd, len(part))
		for i, t := range part {
			firsts[i] = pipe.ZRangeWithScores(ctx, keyDue(t.ID), 0, 0)
			cards[i], lengths[i] = pipe.ZCard(ctx, keyDue(t.ID)), pipe.LLen(ctx, keyFired(t.ID))
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, fmt.Errorf("count timers: %w", err)
		}
		for i, t := range part {
			one := TopicTimers{Topic: t.ID, Waiting: cards[i].Val(), Fired: lengths[i].Val()}
			if first := firsts[i].Val(); len(first) > 0 {
				one.Next = int64(first[0].Score)
			}
			if one.Waiting > 0 || one.Fired > 0 {
				out = append(out, one)
			}
		}
	}
	return out, nil
}
