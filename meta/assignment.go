package meta

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// States of an assignment.
const (
	StateOwned    = "owned"
	StateRevoking = "revoking" // the owner is to give it back to Next, until Deadline
)

// Assignment says whose a queue is.
type Assignment struct {
	Topic     uuid.UUID
	Queue     uint32
	Owner     string // member id
	Epoch     int64  // the generation in which the owner was decided
	State     string
	Next      string // who gets it; "": nobody
	NextEpoch int64
	Deadline  int64 // of a revocation
	At        int64 // since when the owner has it
}

// parseAssignments reads fields and claims in turn.
func parseAssignments(list []any) ([]Assignment, error) {
	r := reply(list)
	assignments := make([]Assignment, 0, len(r)/2)
	for i := 0; i+1 < len(r); i += 2 {
		a, err := parseAssignment(r.text(i), r.text(i+1))
		if err != nil {
			return nil, err
		}
		assignments = append(assignments, a)
	}
	return assignments, nil
}

func parseAssignment(field, text string) (a Assignment, err error) {
	topic, queue, _ := strings.Cut(field, ":")
	q, ok := parseQueue(queue)
	if a.Topic, err = uuid.Parse(topic); err != nil || !ok {
		return a, fmt.Errorf("%w: assignment of %q", ErrCorrupt, field)
	}
	a.Queue = q
	words := strings.Fields(text)
	if len(words) != 7 {
		return a, fmt.Errorf("%w: assignment %q", ErrCorrupt, text)
	}
	a.Owner, a.State, a.Next = words[0], words[2], words[3]
	if a.Next == "-" {
		a.Next = ""
	}
	for _, n := range []struct {
		field *int64
		text  string
	}{{&a.Epoch, words[1]}, {&a.NextEpoch, words[4]}, {&a.Deadline, words[5]}, {&a.At, words[6]}} {
		if *n.field, ok = parseNumber(n.text); !ok {
			return a, fmt.Errorf("%w: assignment %q", ErrCorrupt, text)
		}
	}
	return a, nil
}

// Target is who shall have a queue.
type Target struct {
	Topic uuid.UUID
	Queue uint32
	Owner string // member id; "": nobody
}

// Assign decides who owns which queue, for a coordinator of that term and on the
// ground of a GroupState of that revision. A queue that nobody has is granted at
// once; one whose owner stays is left alone, and a revocation of it not yet done
// is taken back; any other is revoked from its owner for the new one. When that
// changes nothing, the generation stays. ErrFenced: the term is over.
// ErrGroupChanged: the group has another revision by now.
func (db *DB) Assign(ctx context.Context, group uuid.UUID, term, revision int64, reason string, targets []Target, standby []string) (generation int64, changed bool, err error) {
	g, err := groupsByName.live(ctx, db, group)
	if err != nil {
		return 0, false, fmt.Errorf("assign queues of group %s: %w", group, err)
	}
	args := []any{
		term, revision, reason, g.RevokeTimeoutMS, channelGroups, groupNotice(group, ChangedAssignment), strings.Join(standby, " "),
	}
	for _, t := range targets {
		owner := t.Owner
		if owner == "" {
			owner = "-"
		}
		args = append(args, sharedField(t.Topic, t.Queue), owner)
	}
	r, err := db.change(ctx, scriptAssign, []string{keyGroupMeta(group), keyMembers(group), keyAssignments(group)}, args...)
	if err != nil {
		return 0, false, fmt.Errorf("assign queues of group %s: %w", group, err)
	}
	return r.number(1), r.integer(2) == 1, nil
}

// GroupState is everything that a group's assignment goes by, at one moment.
type GroupState struct {
	Group         Group
	Members       []Member // in no order
	Assignments   []Assignment
	Refused       []RefusedJoin  // the last that were refused, newest first
	Subscriptions []Subscription // what the members have in common, also of a group that has none any more
	Generation    int64
	Revision      int64 // grows with every change that an assignment depends on
	Term          int64 // of the last coordinator
	Reason        string
	AssignedAt    int64
	Now           int64 // Redis' clock
}

// GroupState reads a group. ErrGroupNotFound, ErrRecovering.
func (db *DB) GroupState(ctx context.Context, group uuid.UUID) (GroupState, error) {
	keys := []string{keyGroupMeta(group), keyMembers(group), keyBeats(group), keyAssignments(group), keyRefused(group)}
	r, err := db.read(ctx, scriptGroupState, keys)
	if err != nil {
		return GroupState{}, fmt.Errorf("state of group %s: %w", group, err)
	}
	s := GroupState{
		Generation: r.number(2), Revision: r.number(3), Term: r.number(4), Reason: r.text(5), AssignedAt: r.number(6), Now: r.number(8),
	}
	if s.Group, err = groupsByName.parse(r.text(1), nil); err != nil {
		return GroupState{}, fmt.Errorf("state of group %s: %w", group, err)
	}
	if s.Members, err = parseMembers(r.list(9), r.list(10), r.text(7)); err != nil {
		return GroupState{}, fmt.Errorf("state of group %s: %w", group, err)
	}
	if s.Assignments, err = parseAssignments(r.list(11)); err != nil {
		return GroupState{}, fmt.Errorf("state of group %s: %w", group, err)
	}
	refused := reply(r.list(12))
	for i := range refused {
		var row RefusedJoin
		if err := json.Unmarshal([]byte(refused.text(i)), &row); err != nil {
			return GroupState{}, fmt.Errorf("state of group %s: %w: %w", group, ErrCorrupt, err)
		}
		s.Refused = append(s.Refused, row)
	}
	if text := r.text(13); text != "" {
		if err := json.Unmarshal([]byte(text), &s.Subscriptions); err != nil {
			return GroupState{}, fmt.Errorf("state of group %s: %w: %w", group, ErrCorrupt, err)
		}
	}
	return s, nil
}

func parseMembers(members, beats reply, standby string) ([]Member, error) {
	heard := make(map[string]string, len(beats)/2)
	for i := 0; i+1 < len(beats); i += 2 {
		heard[beats.text(i)] = beats.text(i + 1)
	}
	parsed := make([]Member, 0, len(members)/2)
	for i := 0; i+1 < len(members); i += 2 {
		var m Member
		if err := json.Unmarshal([]byte(members.text(i+1)), &m); err != nil {
			return nil, fmt.Errorf("%w: member: %w", ErrCorrupt, err)
		}
		deadline, last, _ := strings.Cut(heard[m.ID], " ")
		m.Deadline, _ = parseNumber(deadline)
		m.LastHeartbeat, _ = parseNumber(last)
		m.Standby = contains(standby, m.ID)
		parsed = append(parsed, m)
	}
	return parsed, nil
}

// GroupSharedError says that members which own queues must wait: messages of the
// group are hidden by shared consumption.
type GroupSharedError struct{ RetryAfter time.Duration }

func (e *GroupSharedError) Error() string {
	return fmt.Sprintf("meta: the group is in shared consumption for another %v", e.RetryAfter)
}
