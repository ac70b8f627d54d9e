package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// TopicType says how messages of a topic become visible.
type TopicType string

// The types a topic may have.
const (
	TopicNormal      TopicType = "normal"
	TopicFIFO        TopicType = "fifo"
	TopicDelay       TopicType = "delay"
	TopicTransaction TopicType = "transaction"
	TopicMixed       TopicType = "mixed"
)

// Topic is the state of a topic; its JSON is also the body of the control record.
type Topic struct {
	ID              uuid.UUID         `json:"id"`
	Name            string            `json:"name"`
	Type            TopicType         `json:"type"`
	Queues          uint32            `json:"queues"`
	Epoch           int64             `json:"epoch"`
	Version         int64             `json:"version"`
	RetentionMS     int64             `json:"retention_ms"`
	RetentionBytes  int64             `json:"retention_bytes"`
	MaxMessageBytes int64             `json:"max_message_bytes"`
	Attributes      map[string]string `json:"attributes,omitempty"`
	CreatedAt       int64             `json:"created_at"`
	UpdatedAt       int64             `json:"updated_at"`
	Deleted         bool              `json:"deleted,omitempty"`
}

// casTries is how often a change without ifVersion is tried against others.
const casTries = 16

// Topic returns the live topic of that name. ErrTopicNotFound, ErrRecovering.
func (db *DB) Topic(ctx context.Context, name string) (Topic, error) {
	t, err := db.topicNamed(ctx, name)
	if err != nil {
		return Topic{}, fmt.Errorf("topic %s: %w", name, err)
	}
	return t, nil
}

func (db *DB) topicNamed(ctx context.Context, name string) (Topic, error) {
	pipe := db.reads.Pipeline()
	idCmd := pipe.HGet(ctx, keyTopics, name)
	phaseCmd := pipe.HGet(ctx, keyState, "phase")
	_, _ = pipe.Exec(ctx) // every command carries its own error
	text, err := idCmd.Result()
	if errors.Is(err, redis.Nil) {
		return Topic{}, missingIn(phaseCmd.Result())
	}
	if err != nil {
		return Topic{}, err
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return Topic{}, fmt.Errorf("%w: id of topic %s", ErrCorrupt, name)
	}
	t, err := db.liveTopic(ctx, id)
	return t, db.missing(ctx, err)
}

// TopicByID returns the live topic with that id. ErrTopicNotFound, ErrRecovering.
func (db *DB) TopicByID(ctx context.Context, id uuid.UUID) (Topic, error) {
	t, err := db.liveTopic(ctx, id)
	if err != nil {
		return Topic{}, fmt.Errorf("topic %s: %w", id, db.missing(ctx, err))
	}
	return t, nil
}

func (db *DB) liveTopic(ctx context.Context, id uuid.UUID) (Topic, error) {
	t, err := parseTopic(db.reads.HGet(ctx, keyMeta(id), "json").Result())
	if err == nil && t.Deleted {
		return Topic{}, ErrTopicNotFound
	}
	return t, err
}

func parseTopic(text string, err error) (Topic, error) {
	if errors.Is(err, redis.Nil) {
		return Topic{}, ErrTopicNotFound
	}
	if err != nil {
		return Topic{}, err
	}
	var t Topic
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return Topic{}, fmt.Errorf("%w: topic: %w", ErrCorrupt, err)
	}
	return t, nil
}

// missingIn says what the absence of a topic means in a phase.
func missingIn(phase string, err error) error {
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if phase != PhaseReady {
		return ErrRecovering
	}
	return ErrTopicNotFound
}

// Topics returns up to limit live topics whose name starts with prefix and
// sorts after `after`, by name. ErrRecovering.
func (db *DB) Topics(ctx context.Context, prefix, after string, limit int) ([]Topic, error) {
	var topics []Topic
	for len(topics) < limit {
		names, err := db.sortedNames(ctx, keyNames, prefix, after, limit-len(topics))
		if err != nil {
			return nil, fmt.Errorf("list topics: %w", err)
		}
		if len(names) == 0 {
			return topics, nil
		}
		after = names[len(names)-1]
		page, err := db.topicsNamed(ctx, names)
		if err != nil {
			return nil, fmt.Errorf("list topics: %w", err)
		}
		topics = append(topics, page...)
	}
	return topics, nil
}

// sortedNames reads up to limit names of a set that start with prefix and sort
// after `after`. ErrRecovering.
func (db *DB) sortedNames(ctx context.Context, set, prefix, after string, limit int) ([]string, error) {
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
	namesCmd := pipe.ZRangeByLex(ctx, set, by)
	phaseCmd := pipe.HGet(ctx, keyState, "phase")
	_, _ = pipe.Exec(ctx) // every command carries its own error
	if err := missingIn(phaseCmd.Result()); !errors.Is(err, ErrTopicNotFound) {
		return nil, err
	}
	return namesCmd.Result()
}

// topicsNamed reads topics, without those that have just come or gone.
func (db *DB) topicsNamed(ctx context.Context, names []string) ([]Topic, error) {
	ids, err := db.reads.HMGet(ctx, keyTopics, names...).Result()
	if err != nil {
		return nil, err
	}
	pipe := db.reads.Pipeline()
	var cmds []*redis.StringCmd
	for _, value := range ids {
		text, _ := value.(string)
		if id, err := uuid.Parse(text); err == nil {
			cmds = append(cmds, pipe.HGet(ctx, keyMeta(id), "json"))
		}
	}
	_, _ = pipe.Exec(ctx) // every command carries its own error
	var topics []Topic
	for _, cmd := range cmds {
		t, err := parseTopic(cmd.Result())
		if errors.Is(err, ErrTopicNotFound) || err == nil && t.Deleted {
			continue
		}
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	return topics, nil
}
