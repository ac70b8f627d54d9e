package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// named says how things of one kind, which have a name and an id, are found.
type named[T any] struct {
	what    string                 // what they are, in errors
	ids     string                 // HASH name → id
	names   string                 // ZSET of the names, for ordered listing
	state   func(uuid.UUID) string // the HASH whose field json is the state
	deleted func(T) bool           // it is a tombstone
	absent  error                  // there is no live one
}

var (
	topicsByName = named[Topic]{"topic", keyTopics, keyNames, keyMeta, func(t Topic) bool { return t.Deleted }, ErrTopicNotFound}
	groupsByName = named[Group]{"group", keyGroups, keyGroupNames, keyGroupMeta, func(g Group) bool { return g.Deleted }, ErrGroupNotFound}
)

// parse reads a state, or what Redis answered instead.
func (n named[T]) parse(text string, err error) (T, error) {
	var v T
	if errors.Is(err, redis.Nil) {
		return v, n.absent
	}
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return v, fmt.Errorf("%w: %s: %w", ErrCorrupt, n.what, err)
	}
	return v, nil
}

// live returns the live one with that id.
func (n named[T]) live(ctx context.Context, db *DB, id uuid.UUID) (T, error) {
	v, err := n.parse(db.reads.HGet(ctx, n.state(id), "json").Result())
	if err == nil && n.deleted(v) {
		var none T
		return none, n.absent
	}
	return v, err
}

// find returns the live one of that name. While Redis is not ready an absent one
// is ErrRecovering.
func (n named[T]) find(ctx context.Context, db *DB, name string) (T, error) {
	var none T
	pipe := db.reads.Pipeline()
	idCmd := pipe.HGet(ctx, n.ids, name)
	phaseCmd := pipe.HGet(ctx, keyState, "phase")
	_, _ = pipe.Exec(ctx) // every command carries its own error
	text, err := idCmd.Result()
	if errors.Is(err, redis.Nil) {
		phase, err := phaseCmd.Result()
		return none, n.missingIn(phase, err)
	}
	if err != nil {
		return none, err
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return none, fmt.Errorf("%w: id of %s %s", ErrCorrupt, n.what, name)
	}
	v, err := n.live(ctx, db, id)
	return v, n.missing(ctx, db, err)
}

// missing turns the absence of one into ErrRecovering while Redis is not ready:
// then nothing can be said about what exists.
func (n named[T]) missing(ctx context.Context, db *DB, err error) error {
	if !errors.Is(err, n.absent) {
		return err
	}
	phase, stateErr := db.reads.HGet(ctx, keyState, "phase").Result()
	return n.missingIn(phase, stateErr)
}

// missingIn says what the absence of one means in a phase.
func (n named[T]) missingIn(phase string, err error) error {
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if phase != PhaseReady {
		return ErrRecovering
	}
	return n.absent
}

// page returns up to limit live ones whose name starts with prefix and sorts
// after `after`, by name. ErrRecovering.
func (n named[T]) page(ctx context.Context, db *DB, prefix, after string, limit int) ([]T, error) {
	var all []T
	for len(all) < limit {
		names, err := n.namesAfter(ctx, db, prefix, after, limit-len(all))
		if err != nil {
			return nil, fmt.Errorf("list %ss: %w", n.what, err)
		}
		if len(names) == 0 {
			return all, nil
		}
		after = names[len(names)-1]
		part, err := n.read(ctx, db, names)
		if err != nil {
			return nil, fmt.Errorf("list %ss: %w", n.what, err)
		}
		all = append(all, part...)
	}
	return all, nil
}

func (n named[T]) namesAfter(ctx context.Context, db *DB, prefix, after string, limit int) ([]string, error) {
	by := &redis.ZRangeBy{Min: "[" + prefix, Max: "+", Count: int64(limit)}
	if after >= prefix && after != "" {
		by.Min = "(" + after
	}
	if prefix != "" {
		by.Max = "(" + prefix + "\xff" // above every character a name may have
	}
	if by.Min == "[" {
		by.Min = "-"
	}
	pipe := db.reads.Pipeline()
	namesCmd := pipe.ZRangeByLex(ctx, n.names, by)
	phaseCmd := pipe.HGet(ctx, keyState, "phase")
	_, _ = pipe.Exec(ctx) // every command carries its own error
	phase, err := phaseCmd.Result()
	if err := n.missingIn(phase, err); !errors.Is(err, n.absent) {
		return nil, err
	}
	return namesCmd.Result()
}

// read returns the live ones of these names, without those that have just come
// or gone.
func (n named[T]) read(ctx context.Context, db *DB, names []string) ([]T, error) {
	ids, err := db.reads.HMGet(ctx, n.ids, names...).Result()
	if err != nil {
		return nil, err
	}
	pipe := db.reads.Pipeline()
	var cmds []*redis.StringCmd
	for _, value := range ids {
		text, _ := value.(string)
		if id, err := uuid.Parse(text); err == nil {
			cmds = append(cmds, pipe.HGet(ctx, n.state(id), "json"))
		}
	}
	_, _ = pipe.Exec(ctx) // every command carries its own error
	var all []T
	for _, cmd := range cmds {
		v, err := n.parse(cmd.Result())
		if errors.Is(err, n.absent) || err == nil && n.deleted(v) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// knownBatch is how many names one step of known reads.
const knownBatch = 1000

// known returns every one that Redis has a name and a state of, also while Redis
// is not ready. It is for a recovery, which must hold them all.
func (n named[T]) known(ctx context.Context, db *DB) ([]T, error) {
	var all []T
	for after := "-"; ; {
		names, err := db.reads.ZRangeByLex(ctx, n.names, &redis.ZRangeBy{Min: after, Max: "+", Count: knownBatch}).Result()
		if err != nil {
			return nil, fmt.Errorf("list every %s: %w", n.what, err)
		}
		if len(names) == 0 {
			return all, nil
		}
		part, err := n.read(ctx, db, names)
		if err != nil {
			return nil, fmt.Errorf("list every %s: %w", n.what, err)
		}
		all = append(all, part...)
		after = "(" + names[len(names)-1]
	}
}

// give gives a name to an id, whoever had it before.
func (n named[T]) give(ctx context.Context, db *DB, name string, id uuid.UUID) error {
	pipe := db.reads.TxPipeline()
	pipe.HSet(ctx, n.ids, name, id.String())
	pipe.ZAdd(ctx, n.names, redis.Z{Member: name})
	_, err := pipe.Exec(ctx)
	return err
}

// KnownTopics returns every topic that Redis has a name and a state of, also
// while Redis is not ready. It is for a recovery, which must hold them all.
func (db *DB) KnownTopics(ctx context.Context) ([]Topic, error) { return topicsByName.known(ctx, db) }

// KnownGroups is KnownTopics for groups.
func (db *DB) KnownGroups(ctx context.Context) ([]Group, error) { return groupsByName.known(ctx, db) }
