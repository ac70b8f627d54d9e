package meta

import (
	"context"
	"fmt"

	"github.com/google/uuid"
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
	t, err := topicsByName.find(ctx, db, name)
	if err != nil {
		return Topic{}, fmt.Errorf("topic %s: %w", name, err)
	}
	return t, nil
}

// TopicByID returns the live topic with that id. ErrTopicNotFound, ErrRecovering.
func (db *DB) TopicByID(ctx context.Context, id uuid.UUID) (Topic, error) {
	t, err := topicsByName.live(ctx, db, id)
	if err != nil {
		return Topic{}, fmt.Errorf("topic %s: %w", id, topicsByName.missing(ctx, db, err))
	}
	return t, nil
}

// Topics returns up to limit live topics whose name starts with prefix and
// sorts after `after`, by name. ErrRecovering.
func (db *DB) Topics(ctx context.Context, prefix, after string, limit int) ([]Topic, error) {
	return topicsByName.page(ctx, db, prefix, after, limit)
}
