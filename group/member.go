package group

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Limits of a membership.
const (
	MaxClientID       = 120
	MaxSubscriptions  = 100
	MinSessionTimeout = 6 * time.Second
	MaxSessionTimeout = time.Hour
)

// heartbeats is how many signs of life a member gives per session timeout.
const heartbeats = 4

// ErrAddressDenied says that the group does not admit clients from an address.
var ErrAddressDenied = errors.New("group: clients from this address may not join")

// JoinRequest asks for a membership.
type JoinRequest struct {
	Group string
	// ClientID names the client; two members never have the same. Empty: one is made.
	ClientID string
	// SessionKey, when it is the same as before, finds the same membership again.
	SessionKey string
	// Kind is meta.KindQueue, or meta.KindAssign: then every subscription names its
	// queues. In a broadcasting group it is meta.KindBroadcast. Empty: what fits.
	Kind          string
	Transport     string // http or websocket
	Address       string // of the client
	Room          string // machine room, for the strategies that go by it
	Subscriptions []meta.Subscription
	Timeout       time.Duration // how long it may be silent; 0: the group's

	connection string // of a Session
}

// Assignment is a queue that a member has.
type Assignment struct {
	Topic   string
	TopicID uuid.UUID
	Queue   uint32
	Epoch   int64 // assignment epoch; 0 of a member that names its queues itself, or gets all
	State   string
	// Deadline is until when a queue that is being revoked must be given back.
	Deadline        int64
	Offset, Version int64 // the next to consume, and the version to commit under
	Stopped         bool
}

// Joined is a membership.
type Joined struct {
	Member         meta.Member
	Reattached     bool
	Fenced         string // the member of the same client that this one replaced; "": none
	Timeout        time.Duration
	HeartbeatEvery time.Duration // how often to give a sign of life
	HeartbeatReply
}

// Join makes a client a member. Where the group begins in topics that are new to
// it is fixed before Join returns, and durable: nothing sent from then on is missed.
//
// *journal.InvalidError; meta.ErrGroupNotFound; journal.ErrTopicNotFound;
// ErrAddressDenied; *meta.SubscriptionMismatchError: live members consume
// something else; *meta.GroupSharedError: messages of the group are hidden by
// shared consumption.
func (g *Groups) Join(ctx context.Context, r JoinRequest) (*Joined, error) {
	definition, err := g.Get(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	if err := r.complete(definition); err != nil {
		return nil, err
	}
	if !Admits(definition.AllowIPs, definition.DenyIPs, r.Address) {
		return nil, ErrAddressDenied
	}
	topics, err := g.resolve(ctx, r.Subscriptions)
	if err != nil {
		return nil, err
	}
	starts, err := g.starts(ctx, definition, topics)
	if err != nil {
		return nil, err
	}
	request := meta.JoinRequest{Group: definition.ID, Timeout: r.Timeout, Starts: starts, Member: meta.Member{
		ClientID: r.ClientID, Connection: r.connection, Kind: r.Kind, Transport: r.Transport, Address: r.Address, Room: r.Room, Subscriptions: r.Subscriptions,
	}}
	if r.SessionKey != "" {
		sum := sha256.Sum256([]byte(r.SessionKey))
		request.Member.Key = hex.EncodeToString(sum[:])
	}
	joined, err := g.options.Meta.Join(ctx, request)
	if err != nil {
		return nil, unavailable(err)
	}
	g.metrics.joined(r.Kind, joined.Reattached)
	if joined.Reattached {
		g.commits.flushMember(ctx, joined.Member.ID) // what it finished before counts
	}
	if joined.Started > 0 {
		if err := g.recordMember(ctx, definition.ID, joined.Member); err != nil {
			return nil, err
		}
	}
	reply, err := g.reply(ctx, definition, joined.Member, joined.HeartbeatState)
	if err != nil {
		return nil, err
	}
	return &Joined{
		Member: joined.Member, Reattached: joined.Reattached, Fenced: joined.Fenced, Timeout: r.Timeout, HeartbeatEvery: r.Timeout / heartbeats,
		HeartbeatReply: *reply,
	}, nil
}

// complete fills in what was left out and tests the limits.
func (r *JoinRequest) complete(definition meta.Group) error {
	if r.ClientID == "" {
		r.ClientID = "client-" + uuid.NewString()
	}
	if len(r.ClientID) > MaxClientID || !utf8.ValidString(r.ClientID) || strings.ContainsFunc(r.ClientID, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return invalid("client_id", journal.CodeInvalid, fmt.Sprintf("1 to %d bytes of text without blanks", MaxClientID))
	}
	if len(r.Room) > MaxClientID || !utf8.ValidString(r.Room) {
		return invalid("room", journal.CodeTooLong, fmt.Sprintf("at most %d bytes of text", MaxClientID))
	}
	if len(r.Subscriptions) == 0 || len(r.Subscriptions) > MaxSubscriptions {
		return invalid("subscriptions", journal.CodeOutOfRange, fmt.Sprintf("1 to %d subscriptions", MaxSubscriptions))
	}
	if r.Timeout == 0 {
		r.Timeout = time.Duration(definition.SessionTimeoutMS) * time.Millisecond
	} else if r.Timeout < MinSessionTimeout || r.Timeout > MaxSessionTimeout {
		return invalid("session_timeout_ms", journal.CodeOutOfRange,
			fmt.Sprintf("%d to %d", MinSessionTimeout.Milliseconds(), MaxSessionTimeout.Milliseconds()))
	}
	queues := map[string][]uint32{}
	for _, s := range r.Subscriptions {
		if len(s.Queues) > 0 {
			queues[s.Topic] = s.Queues
		}
	}
	if r.Kind == "" {
		r.Kind = meta.KindQueue
		if len(queues) > 0 {
			r.Kind = meta.KindAssign
		}
		if definition.Mode == meta.ModeBroadcasting {
			r.Kind = meta.KindBroadcast
		}
	}
	if definition.Strategy == strategyNearby && r.Kind == meta.KindQueue && r.Room == "" { // else nobody gets a queue
		return invalid("room", journal.CodeRequired, "the group's strategy goes by the rooms of its members")
	}
	broadcasting := definition.Mode == meta.ModeBroadcasting
	switch {
	case broadcasting != (r.Kind == meta.KindBroadcast), r.Kind == meta.KindShared:
		return invalid("kind", journal.CodeConflict, "the group is "+string(definition.Mode))
	case (r.Kind == meta.KindAssign) != (len(queues) > 0), r.Kind == meta.KindAssign && len(queues) != len(r.Subscriptions):
		return invalid("subscriptions", journal.CodeConflict, "every subscription names queues, or none does")
	}
	normal, _, err := compile(r.Subscriptions)
	if err != nil {
		return err
	}
	for i := range normal {
		normal[i].Queues = queues[normal[i].Topic]
	}
	r.Subscriptions = normal
	return nil
}

// resolve finds the subscribed topics and notes their ids.
func (g *Groups) resolve(ctx context.Context, subscriptions []meta.Subscription) ([]meta.Topic, error) {
	topics := make([]meta.Topic, len(subscriptions))
	for i := range subscriptions {
		s := &subscriptions[i]
		topic, err := g.options.Journal.Topic(ctx, s.Topic)
		if err != nil {
			return nil, err
		}
		for _, q := range s.Queues {
			if q >= topic.Queues {
				return nil, &QueueError{Topic: s.Topic, Queue: q, Queues: topic.Queues}
			}
		}
		s.TopicID, topics[i] = topic.ID, topic
	}
	return topics, nil
}

// recordMember writes where a member's group, or the member, begins to the log.
func (g *Groups) recordMember(ctx context.Context, group uuid.UUID, m meta.Member) error {
	if m.Kind != meta.KindBroadcast {
		return g.recordGroup(ctx, group)
	}
	var records []meta.OffsetRecord
	for _, s := range m.Subscriptions {
		found, err := g.options.Meta.BroadcastClient(ctx, group, m.ClientID, s.TopicID)
		if err != nil {
			return unavailable(err)
		}
		records = append(records, found...)
	}
	return g.options.Journal.RecordGroupOffsets(ctx, group, m.ClientID, records)
}

// Leave ends a membership once what it committed is stored. Leaving twice is fine.
func (g *Groups) Leave(ctx context.Context, group, member string) error {
	definition, err := g.Get(ctx, group)
	if err != nil {
		return err
	}
	return g.leave(ctx, definition.ID, member, "")
}

func (g *Groups) leave(ctx context.Context, group uuid.UUID, member, connection string) error {
	g.commits.flushMember(ctx, member)
	g.members.drop(member)
	err := unavailable(g.options.Meta.LeaveBy(ctx, group, member, connection))
	g.bells.ring(group) // a poll in flight ends at once
	return err
}

// Members returns the members of a group, whose its queues are, and who was refused.
func (g *Groups) Members(ctx context.Context, group string) (meta.GroupState, error) {
	definition, err := g.Get(ctx, group)
	if err != nil {
		return meta.GroupState{}, err
	}
	state, err := g.options.Meta.GroupState(ctx, definition.ID)
	return state, unavailable(err)
}

// filterOf is what a member gets of a topic: what it subscribes, narrowed by the
// group's settings.
func filterOf(s meta.Subscription, settings meta.Settings) (filter.Filter, error) {
	if settings.Tags == "" || settings.Tags == "*" {
		return compileFilter(0, s)
	}
	narrow, err := filter.ParseTags(settings.Tags)
	if err != nil {
		return filter.Filter{}, err
	}
	own, err := compileFilter(0, s)
	if err != nil || own.All() {
		return narrow, err
	}
	quoted := make([]string, len(narrow.Tags()))
	for i, tag := range narrow.Tags() {
		quoted[i] = "'" + strings.ReplaceAll(tag, "'", "''") + "'"
	}
	condition := "TAGS IN (" + strings.Join(quoted, ",") + ")"
	if own.SQL() {
		return filter.ParseSQL("(" + own.String() + ") AND " + condition)
	}
	for i, tag := range own.Tags() {
		if i == 0 {
			quoted = quoted[:0]
		}
		quoted = append(quoted, "'"+strings.ReplaceAll(tag, "'", "''")+"'")
	}
	return filter.ParseSQL("TAGS IN (" + strings.Join(quoted, ",") + ") AND " + condition)
}
