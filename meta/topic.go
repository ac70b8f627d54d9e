package meta

import (
	"context"

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

// CreateTopic registers t under its name. A zero ID is filled in, Epoch and
// Version start at 1, the times are Redis'. The name taken: *ExistsError.
func (db *DB) CreateTopic(ctx context.Context, t Topic) (Topic, error) { panic("unwritten") }

// Topic returns the live topic of that name.
func (db *DB) Topic(ctx context.Context, name string) (Topic, error) { panic("unwritten") }

// TopicByID returns the live topic with that id.
func (db *DB) TopicByID(ctx context.Context, id uuid.UUID) (Topic, error) { panic("unwritten") }

// UpdateTopic replaces the settings of the topic with t.ID (or, when that is
// zero, t.Name) if its version is ifVersion; 0 stands for any version. Name, ID,
// epoch and creation time stay. Other version: *ConflictError.
func (db *DB) UpdateTopic(ctx context.Context, t Topic, ifVersion int64) (Topic, error) {
	panic("unwritten")
}

// DeleteTopic ends the topic: its name is free, commits to it are refused, its
// index is gone. It returns the tombstone (Deleted, with the next version).
func (db *DB) DeleteTopic(ctx context.Context, name string, ifVersion int64) (Topic, error) {
	panic("unwritten")
}

// Topics returns up to limit live topics whose name starts with prefix and
// sorts after `after`, by name.
func (db *DB) Topics(ctx context.Context, prefix, after string, limit int) ([]Topic, error) {
	panic("unwritten")
}
