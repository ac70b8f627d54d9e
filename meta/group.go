package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
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
	NackDelaysMS     []int64           `json:"nack_delays_ms"` // before the second, third, … delivery; the last one repeats
	Attributes       map[string]string `json:"attributes,omitempty"`
	Version          int64             `json:"version"`
	CreatedAt        int64             `json:"created_at"`
	UpdatedAt        int64             `json:"updated_at"`
	Deleted          bool              `json:"deleted,omitempty"`
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
	g, err := db.groupNamed(ctx, name)
	if err != nil {
		return Group{}, fmt.Errorf("group %s: %w", name, err)
	}
	return g, nil
}

func (db *DB) groupNamed(ctx context.Context, name string) (Group, error) {
	pipe := db.reads.Pipeline()
	idCmd := pipe.HGet(ctx, keyGroups, name)
	phaseCmd := pipe.HGet(ctx, keyState, "phase")
	_, _ = pipe.Exec(ctx) // every command carries its own error
	text, err := idCmd.Result()
	if errors.Is(err, redis.Nil) {
		return Group{}, groupMissingIn(phaseCmd.Result())
	}
	if err != nil {
		return Group{}, err
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return Group{}, fmt.Errorf("%w: id of group %s", ErrCorrupt, name)
	}
	g, err := db.liveGroup(ctx, id)
	if errors.Is(err, ErrGroupNotFound) {
		return Group{}, groupMissingIn(phaseCmd.Result())
	}
	return g, err
}

// groupMissingIn says what the absence of a group means in a phase.
func groupMissingIn(phase string, err error) error {
	if err = missingIn(phase, err); errors.Is(err, ErrTopicNotFound) {
		return ErrGroupNotFound
	}
	return err
}

// GroupByID returns the live group with that id. ErrGroupNotFound.
func (db *DB) GroupByID(ctx context.Context, id uuid.UUID) (Group, error) {
	g, err := db.liveGroup(ctx, id)
	if err != nil {
		return Group{}, fmt.Errorf("group %s: %w", id, err)
	}
	return g, nil
}

func (db *DB) liveGroup(ctx context.Context, id uuid.UUID) (Group, error) {
	g, err := parseGroup(db.reads.HGet(ctx, keyGroupMeta(id), "json").Result())
	if err == nil && g.Deleted {
		return Group{}, ErrGroupNotFound
	}
	return g, err
}

func parseGroup(text string, err error) (Group, error) {
	if errors.Is(err, redis.Nil) {
		return Group{}, ErrGroupNotFound
	}
	if err != nil {
		return Group{}, err
	}
	var g Group
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return Group{}, fmt.Errorf("%w: group: %w", ErrCorrupt, err)
	}
	return g, nil
}

// Groups returns up to limit live groups whose name starts with prefix and sorts
// after `after`, by name. ErrRecovering.
func (db *DB) Groups(ctx context.Context, prefix, after string, limit int) ([]Group, error) {
	var groups []Group
	for len(groups) < limit {
		names, err := db.sortedNames(ctx, keyGroupNames, prefix, after, limit-len(groups))
		if err != nil {
			return nil, fmt.Errorf("list groups: %w", err)
		}
		if len(names) == 0 {
			return groups, nil
		}
		after = names[len(names)-1]
		page, err := db.groupsNamed(ctx, names)
		if err != nil {
			return nil, fmt.Errorf("list groups: %w", err)
		}
		groups = append(groups, page...)
	}
	return groups, nil
}

// groupsNamed reads groups, without those that have just come or gone.
func (db *DB) groupsNamed(ctx context.Context, names []string) ([]Group, error) {
	ids, err := db.reads.HMGet(ctx, keyGroups, names...).Result()
	if err != nil {
		return nil, err
	}
	pipe := db.reads.Pipeline()
	var cmds []*redis.StringCmd
	for _, value := range ids {
		text, _ := value.(string)
		if id, err := uuid.Parse(text); err == nil {
			cmds = append(cmds, pipe.HGet(ctx, keyGroupMeta(id), "json"))
		}
	}
	_, _ = pipe.Exec(ctx) // every command carries its own error
	var groups []Group
	for _, cmd := range cmds {
		g, err := parseGroup(cmd.Result())
		if errors.Is(err, ErrGroupNotFound) || err == nil && g.Deleted {
			continue
		}
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}
