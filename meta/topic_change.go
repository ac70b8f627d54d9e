package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// CreateTopic registers t under its name. A zero ID is filled in; Version and a
// zero Epoch start at 1; the times are Redis'. The name taken: *ExistsError.
//
// The name is claimed first and the state written second. A crash in between
// leaves a name without a topic, which the next CreateTopic completes.
func (db *DB) CreateTopic(ctx context.Context, t Topic) (Topic, error) {
	created, err := db.createTopic(ctx, t)
	if err != nil {
		return Topic{}, fmt.Errorf("create topic %s: %w", t.Name, err)
	}
	return created, nil
}

func (db *DB) createTopic(ctx context.Context, t Topic) (Topic, error) {
	now, err := db.Now(ctx)
	if err != nil {
		return Topic{}, err
	}
	own := t.ID
	if own == uuid.Nil {
		if own, err = uuid.NewV7(); err != nil {
			return Topic{}, err
		}
	}
	t.Version, t.Epoch, t.Deleted = 1, max(t.Epoch, 1), false
	t.CreatedAt, t.UpdatedAt = now, now
	for range casTries {
		r, err := db.change(ctx, scriptClaimName, []string{keyState, keyTopics, keyNames}, t.Name, own.String())
		if err != nil {
			return Topic{}, err
		}
		if t.ID, err = uuid.Parse(r.text(1)); err != nil {
			return Topic{}, fmt.Errorf("%w: id of topic %s", ErrCorrupt, t.Name)
		}
		current, err := db.writeNewTopic(ctx, t)
		if err != nil {
			return Topic{}, err
		}
		switch {
		case current == nil:
			return t, nil
		case !current.Deleted:
			return Topic{}, &ExistsError{Current: *current}
		case t.ID == own: // the id given to us was used and deleted before
			return Topic{}, fmt.Errorf("id %s of a deleted topic", own)
		}
		if err := db.cleanTopic(ctx, *current); err != nil { // its deletion ended halfway
			return Topic{}, err
		}
	}
	return Topic{}, errors.New("too many others want the name")
}

// writeNewTopic writes the state of a topic, or returns what is there.
func (db *DB) writeNewTopic(ctx context.Context, t Topic) (*Topic, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	r, err := db.change(ctx, scriptCreateTopic, []string{keyMeta(t.ID), keyHead(t.ID)},
		text, formatNumber(t.Version), queueField(t.Queues), formatNumber(t.Epoch), channelChange, t.Name)
	if err != nil || r.status() == "CREATED" {
		return nil, err
	}
	current, err := topicsByName.parse(r.text(1), nil)
	return &current, err
}

// UpdateTopic replaces the settings of the topic with t.ID (or, when that is
// zero, t.Name) if its version is ifVersion; 0 stands for any version. Name, ID,
// epoch and creation time stay. *ConflictError, ErrQueueShrink, ErrTopicNotFound.
func (db *DB) UpdateTopic(ctx context.Context, t Topic, ifVersion int64) (Topic, error) {
	updated, err := db.changeTopic(ctx, t.ID, t.Name, ifVersion, func(current Topic) Topic {
		next := t
		next.ID, next.Name, next.Epoch = current.ID, current.Name, current.Epoch
		next.CreatedAt, next.Deleted = current.CreatedAt, false
		return next
	})
	if err != nil {
		return Topic{}, fmt.Errorf("update topic %s: %w", t.Name, err)
	}
	return updated, nil
}

// DeleteTopic ends the topic: its name is free, commits to it are refused, its
// index is gone. It returns the tombstone (Deleted, with the next version).
func (db *DB) DeleteTopic(ctx context.Context, name string, ifVersion int64) (Topic, error) {
	deleted, err := db.changeTopic(ctx, uuid.Nil, name, ifVersion, func(current Topic) Topic {
		current.Deleted = true
		return current
	})
	if err == nil {
		err = db.cleanTopic(ctx, deleted)
	}
	if err != nil {
		return Topic{}, fmt.Errorf("delete topic %s: %w", name, err)
	}
	return deleted, nil
}

// changeTopic applies change to the current state and writes it under the next version.
func (db *DB) changeTopic(ctx context.Context, id uuid.UUID, name string, ifVersion int64, change func(Topic) Topic) (Topic, error) {
	now, err := db.Now(ctx)
	if err != nil {
		return Topic{}, err
	}
	for range casTries {
		var current Topic
		if id == uuid.Nil {
			current, err = topicsByName.find(ctx, db, name)
		} else {
			current, err = topicsByName.live(ctx, db, id)
		}
		if err != nil {
			return Topic{}, topicsByName.missing(ctx, db, err)
		}
		if ifVersion != 0 && ifVersion != current.Version {
			return Topic{}, &ConflictError{Current: current}
		}
		next := change(current)
		next.Version = current.Version + 1
		next.UpdatedAt = max(now, current.UpdatedAt)
		won, err := db.writeTopic(ctx, next, current.Version)
		if err != nil {
			return Topic{}, err
		}
		if won {
			return next, nil
		}
	}
	return Topic{}, errors.New("too many others change the topic")
}

func (db *DB) writeTopic(ctx context.Context, t Topic, ifVersion int64) (won bool, err error) {
	text, err := json.Marshal(t)
	if err != nil {
		return false, err
	}
	state := "live"
	if t.Deleted {
		state = "deleted"
	}
	r, err := db.change(ctx, scriptUpdateTopic, []string{keyMeta(t.ID), keyHead(t.ID)},
		formatNumber(ifVersion), text, formatNumber(t.Version), queueField(t.Queues), state, channelChange, t.Name)
	if err != nil {
		return false, err
	}
	return r.status() == "OK", nil
}

// cleanTopic removes what a deleted topic leaves behind, its name last. The
// tombstone stays, so that a late commit is refused.
func (db *DB) cleanTopic(ctx context.Context, t Topic) error {
	if err := db.unlink(ctx, append(hotKeys(t.ID, t.Queues), keyTopicWriters(t.ID), keyDue(t.ID), keyTimers(t.ID), keyHalves(t.ID), keyFired(t.ID))); err != nil {
		return err
	}
	_, err := db.change(ctx, scriptFreeName, []string{keyTopics, keyNames}, t.Name, t.ID.String())
	return err
}

func hotKeys(topic uuid.UUID, queues uint32) []string {
	keys := make([]string, 0, queues+1)
	for q := range queues {
		keys = append(keys, keyHot(topic, q))
	}
	return keys
}

func (db *DB) unlink(ctx context.Context, keys []string) error {
	const most = 500
	for len(keys) > 0 {
		n := min(most, len(keys))
		if err := db.reads.Unlink(ctx, keys[:n]...).Err(); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}
