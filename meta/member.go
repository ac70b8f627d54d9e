package meta

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Kinds of members.
const (
	KindQueue     = "queue"     // the coordinator gives it queues
	KindAssign    = "assign"    // it names its queues itself (SEMANTICS 50)
	KindBroadcast = "broadcast" // it gets every message
	KindShared    = "shared"    // it receives from any queue
)

// fencedFor is how long a member that another one replaced is told so.
const fencedFor = 10 * time.Minute

// Subscription is one topic that a member consumes, and which of its messages.
type Subscription struct {
	Topic   string    `json:"topic"`
	TopicID uuid.UUID `json:"topic_id"`
	Tags    string    `json:"tags,omitempty"`   // a TAG expression in its normal form; "" and SQL "": all
	SQL     string    `json:"sql,omitempty"`    // an SQL92 condition in its normal form
	Queues  []uint32  `json:"queues,omitempty"` // of an assign member
}

// Member is one session of a client in a group.
type Member struct {
	ID            string         `json:"id"`         // made by the server
	Connection    string         `json:"connection"` // letters and digits that name the one it last joined by; "": it has none
	ClientID      string         `json:"client_id"`
	Kind          string         `json:"kind"`
	Transport     string         `json:"transport"` // http or websocket
	Address       string         `json:"address"`
	Room          string         `json:"room,omitempty"`
	Subscriptions []Subscription `json:"subscriptions"`
	Key           string         `json:"key,omitempty"` // SHA-256 of the session key; "": it cannot come back as the same member
	TimeoutMS     int64          `json:"timeout_ms"`    // how long it may be silent
	JoinedAt      int64          `json:"joined_at"`

	LastHeartbeat int64 `json:"-"`
	Deadline      int64 `json:"-"` // it is removed if nothing is heard of it until then
	Standby       bool  `json:"-"` // max_members keeps it without queues
}

// RefusedJoin is a client that wanted to join with other subscriptions.
type RefusedJoin struct {
	ClientID      string         `json:"client_id"`
	Address       string         `json:"address"`
	Subscriptions []Subscription `json:"subscriptions"`
	At            int64          `json:"at"`
}

// JoinRequest says who joins a group.
type JoinRequest struct {
	Group   uuid.UUID
	Member  Member // ID, JoinedAt and what follows are filled in
	Timeout time.Duration
	Starts  []OffsetStart // for every queue of the subscribed topics
}

// Joined is a membership.
type Joined struct {
	Member     Member
	Reattached bool   // the same member as before: nothing changed for the group
	Fenced     string // the member of the same client that this one replaced
	Started    int64  // how many start offsets were written
	HeartbeatState
}

// Join makes a client a member. The same client id with the same session key and
// subscriptions is the same member again; with another key it replaces the older
// one, whose calls fail with ErrFencedMember from then on. So do those by the
// connection that the same member had before. ErrGroupNotFound;
// *SubscriptionMismatchError: live members subscribe otherwise (the refusal is
// shown by GroupState); *GroupSharedError: the group is in shared consumption.
func (db *DB) Join(ctx context.Context, request JoinRequest) (Joined, error) {
	joined, err := db.join(ctx, request)
	if err != nil {
		return Joined{}, fmt.Errorf("join group %s: %w", request.Group, err)
	}
	return joined, nil
}

func (db *DB) join(ctx context.Context, request JoinRequest) (Joined, error) {
	m, group := request.Member, request.Group
	if m.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return Joined{}, err
		}
		m.ID = id.String()
	}
	m.TimeoutMS = request.Timeout.Milliseconds()
	m.JoinedAt = 0 // the script writes Redis' clock in its place
	text, err := json.Marshal(m)
	if err != nil {
		return Joined{}, err
	}
	subs, err := subscriptionsText(m.Subscriptions)
	if err != nil {
		return Joined{}, err
	}
	now, err := db.Now(ctx)
	if err != nil {
		return Joined{}, err
	}
	refused, err := json.Marshal(RefusedJoin{ClientID: m.ClientID, Address: m.Address, Subscriptions: m.Subscriptions, At: now})
	if err != nil {
		return Joined{}, err
	}
	keys := []string{keyGroupMeta(group), keyMembers(group), keyBeats(group), keyClients(group), keyFenced(group), keyRefused(group), keyGroupTopics(group)}
	hash := func(topic uuid.UUID) string { return keyOffsets(group, topic) }
	if m.Kind == KindBroadcast {
		hash = func(topic uuid.UUID) string { return keyBroadcast(group, broadcastClient(m.ClientID), topic) }
	}
	keys, topics, starts := startArguments(keys, request.Starts, hash)
	args := append([]any{
		m.ID, m.ClientID, m.Key, m.Kind, text, subs, request.Timeout.Milliseconds(), fencedFor.Milliseconds(), refused,
		channelGroups, groupNotice(group, ChangedMembers), topics,
	}, starts...)
	r, err := db.change(ctx, scriptJoin, keys, args...)
	if err != nil {
		return Joined{}, err
	}
	switch r.status() {
	case "UNLIKE":
		mismatch := &SubscriptionMismatchError{}
		if err := json.Unmarshal([]byte(r.text(1)), &mismatch.Current); err != nil {
			return Joined{}, fmt.Errorf("%w: subscriptions: %w", ErrCorrupt, err)
		}
		return Joined{}, mismatch
	case "SHARED":
		return Joined{}, &GroupSharedError{RetryAfter: time.Duration(r.number(1)) * time.Millisecond}
	}
	joined := Joined{Reattached: r.integer(2) == 1, Fenced: r.text(3), Started: r.integer(4)}
	if m.Kind == KindBroadcast {
		if err := db.touchBroadcast(ctx, group, m.ClientID, request.Starts); err != nil {
			return Joined{}, err
		}
	}
	m.ID = r.text(1)
	joined.Member = m
	joined.HeartbeatState, err = db.Heartbeat(ctx, group, m.ID, request.Timeout, nil)
	return joined, err
}

// subscriptionsText is what members of a group must have in common.
func subscriptionsText(subs []Subscription) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(subs)
	return strings.TrimSpace(text.String()), err
}

// HeartbeatState is what a member is to know.
type HeartbeatState struct {
	Generation int64
	Standby    bool
	Assigned   []Assignment // its queues, also those it is to give back
}

// Heartbeat renews a membership for timeout and gives back queues that are being
// revoked from it: their next owner has them at once. ErrMemberUnknown,
// ErrFencedMember, ErrGroupNotFound.
func (db *DB) Heartbeat(ctx context.Context, group uuid.UUID, member string, timeout time.Duration, released []Assignment) (HeartbeatState, error) {
	return db.HeartbeatBy(ctx, group, member, "", timeout, released)
}

// HeartbeatBy is the Heartbeat of a member that joined by a connection ("": any). It
// is ErrFencedMember once the member joined by another one.
func (db *DB) HeartbeatBy(ctx context.Context, group uuid.UUID, member, connection string, timeout time.Duration, released []Assignment) (HeartbeatState, error) {
	args := []any{member, timeout.Milliseconds(), channelGroups, groupNotice(group, ChangedAssignment), orDash(connection)}
	for _, a := range released {
		args = append(args, sharedField(a.Topic, a.Queue), a.Epoch)
	}
	keys := []string{keyGroupMeta(group), keyMembers(group), keyBeats(group), keyClients(group), keyFenced(group), keyAssignments(group)}
	r, err := db.change(ctx, scriptHeartbeat, keys, args...)
	if err != nil {
		return HeartbeatState{}, fmt.Errorf("heartbeat of %s: %w", member, err)
	}
	state := HeartbeatState{Generation: r.number(1), Standby: contains(r.text(2), member)}
	if state.Assigned, err = parseAssignments(r.list(3)); err != nil {
		return HeartbeatState{}, fmt.Errorf("heartbeat of %s: %w", member, err)
	}
	return state, nil
}

func contains(ids, id string) bool {
	for other := range strings.FieldsSeq(ids) {
		if other == id {
			return true
		}
	}
	return false
}

// MemberLost says that a member's connection broke ("": any): unless it is heard of
// within window, it is removed. Nothing happens if it joined by another one.
func (db *DB) MemberLost(ctx context.Context, group uuid.UUID, member, connection string, window time.Duration) error {
	_, err := db.change(ctx, scriptMemberLost, []string{keyGroupMeta(group), keyMembers(group), keyBeats(group)},
		member, window.Milliseconds(), channelGroups, groupNotice(group, ChangedMembers), orDash(connection))
	if err != nil {
		return fmt.Errorf("lose member %s: %w", member, err)
	}
	return nil
}

// Leave ends a membership. Leaving twice is fine.
func (db *DB) Leave(ctx context.Context, group uuid.UUID, member string) error {
	return db.LeaveBy(ctx, group, member, "")
}

// LeaveBy is the Leave of a member that joined by a connection ("": any). Nothing
// happens once it joined by another one.
func (db *DB) LeaveBy(ctx context.Context, group uuid.UUID, member, connection string) error {
	_, err := db.change(ctx, scriptLeave, []string{keyGroupMeta(group), keyMembers(group), keyBeats(group), keyClients(group)},
		member, channelGroups, groupNotice(group, ChangedMembers), orDash(connection))
	if err != nil {
		return fmt.Errorf("leave of %s: %w", member, err)
	}
	return nil
}

// ExpireMembers removes members whose deadline has passed, and ends revocations
// that took too long. ErrFenced: the term is over.
func (db *DB) ExpireMembers(ctx context.Context, group uuid.UUID, term int64) (expired []string, err error) {
	keys := []string{keyGroupMeta(group), keyMembers(group), keyBeats(group), keyClients(group), keyAssignments(group), keyFenced(group)}
	r, err := db.change(ctx, scriptExpireMembers, keys, term,
		channelGroups, groupNotice(group, ChangedMembers), groupNotice(group, ChangedAssignment))
	if err != nil {
		return nil, fmt.Errorf("expire members of group %s: %w", group, err)
	}
	ids := reply(r.list(1))
	for i := range ids {
		expired = append(expired, ids.text(i))
	}
	return expired, nil
}
