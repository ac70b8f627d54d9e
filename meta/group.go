package meta

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// GroupMode says who of a group gets a message.
type GroupMode string

// The modes a group may have.
const (
	ModeClustering   GroupMode = "clustering"   // one of its members
	ModeBroadcasting GroupMode = "broadcasting" // each of its members
)

// Where a group begins in a topic that is new to it.
const (
	ConsumeFromFirst     = "first"     // at the oldest message
	ConsumeFromLast      = "last"      // behind the newest one, when it registers
	ConsumeFromTimestamp = "timestamp" // at the first one stored then or later
)

// How a group's offsets are committed.
const (
	CommitMonotonic = "monotonic" // forward only (SEMANTICS 25)
	CommitOverwrite = "overwrite" // anywhere, as RocketMQ does (SEMANTICS 15)
)

// Group is the definition of a consumer group; its JSON is also the body of the
// control record. Times and durations are milliseconds.
type Group struct {
	ID               uuid.UUID         `json:"id"`
	Name             string            `json:"name"`
	Mode             GroupMode         `json:"mode"`
	Strategy         string            `json:"strategy"` // how queues are dealt out: a name of package assign
	Strategies       StrategyConfig    `json:"strategy_config"`
	ConsumeFrom      string            `json:"consume_from"`
	ConsumeTimestamp int64             `json:"consume_timestamp,omitempty"`
	Ordered          bool              `json:"ordered"`
	InvisibleMS      int64             `json:"invisible_ms"`       // how long a delivery in shared consumption is hidden
	SessionTimeoutMS int64             `json:"session_timeout_ms"` // a member that is silent for longer is removed
	ResumeWindowMS   int64             `json:"resume_window_ms"`   // how long a member whose connection broke may come back
	RevokeTimeoutMS  int64             `json:"revoke_timeout_ms"`  // how long an owner may take to give a queue back
	CommitPolicy     string            `json:"commit_policy"`
	MaxMembers       int               `json:"max_members"` // more stand by; 0: any number
	AllowIPs         []string          `json:"allow_ips,omitempty"`
	DenyIPs          []string          `json:"deny_ips,omitempty"`
	NackDelaysMS     []int64           `json:"nack_delays_ms"`    // before the second, third, … delivery; the last one repeats
	Backoff          *Backoff          `json:"backoff,omitempty"` // in place of NackDelaysMS
	MaxAttempts      int64             `json:"max_attempts"`      // deliveries before a message is a dead letter
	Attributes       map[string]string `json:"attributes,omitempty"`
	Version          int64             `json:"version"`
	CreatedAt        int64             `json:"created_at"`
	UpdatedAt        int64             `json:"updated_at"`
	Deleted          bool              `json:"deleted,omitempty"`
}

// Backoff is waits that grow: InitialMS before the second delivery, each next one
// Multiplier times the one before, and none above MaxMS.
type Backoff struct {
	InitialMS  int64   `json:"initial_ms"`
	MaxMS      int64   `json:"max_ms"`
	Multiplier float64 `json:"multiplier"`
}

// StrategyConfig is what some strategies need.
type StrategyConfig struct {
	VirtualNodes int                   `json:"virtual_nodes,omitempty"` // consistent_hash; 0: 10
	Rooms        []string              `json:"rooms,omitempty"`         // by_machine_room: those that are consumed
	Inner        string                `json:"inner,omitempty"`         // machine_room_nearby: inside a room
	Queues       map[string][]QueueRef `json:"queues,omitempty"`        // by_config: client id → its queues
	TopicRooms   map[string][]string   `json:"topic_rooms,omitempty"`   // topic → room of each queue
}

// QueueRef names a queue.
type QueueRef struct {
	Topic string `json:"topic"`
	Queue uint32 `json:"queue"`
}

// Group returns the live group of that name. ErrGroupNotFound, ErrRecovering.
func (db *DB) Group(ctx context.Context, name string) (Group, error) {
	g, err := groupsByName.find(ctx, db, name)
	if err != nil {
		return Group{}, fmt.Errorf("group %s: %w", name, err)
	}
	return g, nil
}

// GroupByID returns the live group with that id. ErrGroupNotFound.
func (db *DB) GroupByID(ctx context.Context, id uuid.UUID) (Group, error) {
	g, err := groupsByName.live(ctx, db, id)
	if err != nil {
		return Group{}, fmt.Errorf("group %s: %w", id, err)
	}
	return g, nil
}

// Groups returns up to limit live groups whose name starts with prefix and sorts
// after `after`, by name. ErrRecovering.
func (db *DB) Groups(ctx context.Context, prefix, after string, limit int) ([]Group, error) {
	return groupsByName.page(ctx, db, prefix, after, limit)
}
