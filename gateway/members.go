package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	minSessionKey = 16
	maxSessionKey = 128
	maxMemberID   = 64
)

type joinRequest struct {
	ClientID         *string          `json:"client_id"`
	SessionKey       *string          `json:"session_key"`
	Subscriptions    []topicSelection `json:"subscriptions"`
	SessionTimeoutMS *int64           `json:"session_timeout_ms"`
	Room             *string          `json:"room"`
}

// topicSelection is a topic, and what is wanted of it.
type topicSelection struct {
	Topic  *string  `json:"topic"`
	Tags   string   `json:"tags"`
	SQL    string   `json:"sql"`
	Queues []uint32 `json:"queues"` // of a member that names its queues itself
}

// selections tests what topics and filters a request names, and points at what is
// wrong under field.
func selections(all []topicSelection, field string, queues bool) ([]meta.Subscription, error) {
	if len(all) == 0 || len(all) > group.MaxSubscriptions {
		return nil, fieldFault(field, outOf(1, group.MaxSubscriptions)+" topics")
	}
	named := map[string]bool{}
	list := make([]meta.Subscription, len(all))
	for i, s := range all {
		at := fmt.Sprintf("%s/%d", field, i)
		switch {
		case s.Topic == nil:
			return nil, missing(at + "/topic")
		case journal.ValidateTopicName(*s.Topic) != nil:
			return nil, fieldFault(at+"/topic", "1 to 127 of A-Z a-z 0-9 . _ -, beginning with a letter or digit")
		case named[*s.Topic]:
			return nil, fieldFault(at+"/topic", "it is named twice")
		case s.Queues != nil && !queues:
			return nil, newProblem("unknown_field", at+"/queues", fault{Pointer: "/" + at + "/queues", Code: "unknown_field", Detail: "there is no such field"})
		case len(s.Queues) > journal.MaxQueues:
			return nil, fieldFault(at+"/queues", fmt.Sprintf("at most %d queues", journal.MaxQueues))
		}
		if _, wrong, detail := parseFilter(s.Tags, s.SQL); detail != "" {
			return nil, fieldFault(at+"/"+wrong, detail)
		}
		named[*s.Topic] = true
		list[i] = meta.Subscription{Topic: *s.Topic, Tags: s.Tags, SQL: s.SQL, Queues: slices.Compact(slices.Sorted(slices.Values(s.Queues)))}
	}
	return list, nil
}

// read makes a request of package group, which tests the rest.
func (r *joinRequest) read(name, address string) (group.JoinRequest, error) {
	request, err := r.member(name, address)
	if err != nil {
		return request, err
	}
	request.Subscriptions, err = selections(r.Subscriptions, "subscriptions", true)
	return request, err
}

// member is read without the subscriptions.
func (r *joinRequest) member(name, address string) (group.JoinRequest, error) {
	request := group.JoinRequest{Group: name, Transport: "http", Address: address}
	if r.ClientID != nil {
		if request.ClientID = *r.ClientID; !visible(*r.ClientID, 1, group.MaxClientID) {
			return request, fieldFault("client_id", outOf(1, group.MaxClientID)+" visible ASCII characters")
		}
	}
	if r.SessionKey != nil {
		if request.SessionKey = *r.SessionKey; !visible(*r.SessionKey, minSessionKey, maxSessionKey) {
			return request, fieldFault("session_key", outOf(minSessionKey, maxSessionKey)+" visible ASCII characters")
		}
	}
	if r.SessionTimeoutMS != nil {
		low, high := group.MinSessionTimeout.Milliseconds(), group.MaxSessionTimeout.Milliseconds()
		if *r.SessionTimeoutMS < low || *r.SessionTimeoutMS > high {
			return request, fieldFault("session_timeout_ms", outOf(low, high))
		}
		request.Timeout = time.Duration(*r.SessionTimeoutMS) * time.Millisecond
	}
	if r.Room != nil {
		request.Room = *r.Room
	}
	return request, nil
}

// visible reports whether text is of visible ASCII characters, so many.
func visible(text string, low, high int) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return len(text) >= low && len(text) <= high
}

// addressOf is from where a request comes, without the port.
func addressOf(r *http.Request) string { return hostOf(r.RemoteAddr) }

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// joinGroup makes the caller a member.
func (s *Server) joinGroup(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	address := addressOf(c.Request())
	return s.answerOnce(c, "joinGroup "+name, maxControlBytes, func(ctx context.Context, body []byte) (int, any, error) {
		var r joinRequest
		if err := decodeStrict(body, &r); err != nil {
			return 0, nil, err
		}
		request, err := r.read(name, address)
		if err != nil {
			return 0, nil, err
		}
		joined, err := s.groups.Join(ctx, request)
		if err != nil {
			return 0, nil, namedGroup(unsure(err), name)
		}
		status := http.StatusCreated
		if joined.Reattached {
			status = http.StatusOK
		}
		return status, membershipOf(joined), nil
	})
}

func membershipOf(j *group.Joined) api.Membership {
	out := api.Membership{
		MemberId: j.Member.ID, ClientId: j.Member.ClientID, Kind: j.Member.Kind, Generation: j.Generation, Standby: j.Standby,
		Reattached: j.Reattached, Ordered: j.Group.Ordered, HeartbeatMs: j.HeartbeatEvery.Milliseconds(), SessionTimeoutMs: j.Timeout.Milliseconds(),
		Assignments: ownedOf(j.Assignments), Revoking: ownedOf(j.Revoking), Settings: liveSettings(j.Group, j.Subscriptions, j.Settings),
	}
	if j.Fenced != "" {
		out.FencedMemberId = &j.Fenced
	}
	return out
}

func ownedOf(all []group.Assignment) []api.OwnedQueue {
	out := make([]api.OwnedQueue, len(all))
	for i, a := range all {
		out[i] = api.OwnedQueue{
			Topic: a.Topic, Queue: int64(a.Queue), Offset: a.Offset, Version: a.Version, AssignmentEpoch: a.Epoch, Stopped: a.Stopped,
		}
		if a.State == meta.StateRevoking {
			deadline := api.Time(a.Deadline)
			out[i].Deadline = &deadline
		}
	}
	return out
}

// listMembers answers who consumes for a group, and who was refused.
func (s *Server) listMembers(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	state, err := s.groups.Members(c.Request().Context(), name)
	if err != nil {
		return namedGroup(err, name)
	}
	slices.SortFunc(state.Members, func(a, b meta.Member) int { return compareText(a.ID, b.ID) })
	list := api.MemberList{Generation: state.Generation, Items: make([]api.Member, len(state.Members)), Refused: make([]api.RefusedJoin, len(state.Refused))}
	for i, m := range state.Members {
		list.Items[i] = api.Member{
			MemberId: m.ID, ClientId: m.ClientID, Kind: m.Kind, Transport: m.Transport, Address: m.Address,
			Subscriptions: subscriptionsOf(m.Subscriptions), Standby: m.Standby, JoinedAt: api.Time(m.JoinedAt),
			LastHeartbeatAt: api.Time(m.LastHeartbeat), ExpiresAt: api.Time(m.Deadline),
		}
		if m.Room != "" {
			list.Items[i].Room = &state.Members[i].Room
		}
	}
	for i, r := range state.Refused {
		list.Refused[i] = api.RefusedJoin{ClientId: r.ClientID, Address: r.Address, Subscriptions: subscriptionsOf(r.Subscriptions), RefusedAt: api.Time(r.At)}
	}
	return writeJSON(c, http.StatusOK, list)
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// memberPath reads the group and the member that the path names.
func memberPath(c echo.Context) (name, member string, err error) {
	if name, err = groupName(c); err != nil {
		return "", "", err
	}
	if member = pathParam(c, "member"); !visible(member, 1, maxMemberID) {
		detail := outOf(1, maxMemberID) + " visible ASCII characters"
		return "", "", newProblem("invalid_name", detail, fault{Pointer: "path:member", Code: "invalid_name", Detail: detail})
	}
	return name, member, nil
}

// leaveGroup ends a membership; leaving twice is fine.
func (s *Server) leaveGroup(c echo.Context) error {
	name, member, err := memberPath(c)
	if err != nil {
		return err
	}
	if err := s.groups.Leave(c.Request().Context(), name, member); err != nil {
		return namedGroup(err, name)
	}
	return c.NoContent(http.StatusNoContent)
}

type heartbeatRequest struct {
	Generation *int64          `json:"generation"`
	Released   []meta.QueueRef `json:"released"`
	WaitMS     *int64          `json:"wait_ms"`
}

// heartbeatMember renews a membership, and answers what has changed.
func (s *Server) heartbeatMember(c echo.Context) error {
	name, member, err := memberPath(c)
	if err != nil {
		return err
	}
	var body heartbeatRequest
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	if body.Generation == nil {
		return missing("generation")
	}
	if *body.Generation < 0 || *body.Generation > maxInt53 {
		return fieldFault("generation", "0 to 2^53-1")
	}
	if len(body.Released) > journal.MaxQueues {
		return fieldFault("released", fmt.Sprintf("at most %d queues", journal.MaxQueues))
	}
	wait, err := waitOf(body.WaitMS)
	if err != nil {
		return err
	}
	reply, err := s.groups.Heartbeat(c.Request().Context(), group.HeartbeatRequest{
		Group: name, Member: member, Generation: *body.Generation, Released: body.Released, Wait: wait,
	})
	if err != nil {
		return namedGroup(unsure(err), name)
	}
	return writeJSON(c, http.StatusOK, api.HeartbeatResult{
		Generation: reply.Generation, Standby: reply.Standby, Assignments: ownedOf(reply.Assignments), Revoking: ownedOf(reply.Revoking),
		Settings: liveSettings(reply.Group, reply.Subscriptions, reply.Settings), WaitMs: wait.Milliseconds(),
	})
}

// waitOf reads how long a request may be held; longer than the longest counts as
// the longest.
func waitOf(ms *int64) (time.Duration, error) {
	if ms == nil {
		return 0, nil
	}
	if *ms < 0 || *ms > maxInt53 {
		return 0, fieldFault("wait_ms", "0 to 2^53-1")
	}
	return time.Duration(min(*ms, journal.MaxWait.Milliseconds())) * time.Millisecond, nil
}

// listAssignments answers whose the queues of a group are.
func (s *Server) listAssignments(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	state, err := s.groups.Members(ctx, name)
	if err != nil {
		return namedGroup(err, name)
	}
	progress, err := s.groups.Progress(ctx, name) // knows the queues that nobody has
	if err != nil {
		return namedGroup(err, name)
	}
	list := api.AssignmentList{Generation: state.Generation, Reason: state.Reason, Items: queueAssignments(&state, progress)}
	if state.Generation > 0 {
		decided := api.Time(state.AssignedAt)
		list.Term, list.DecidedAt = &state.Term, &decided
	}
	return writeJSON(c, http.StatusOK, list)
}

func queueAssignments(state *meta.GroupState, progress []group.QueueProgress) []api.QueueAssignment {
	clients := map[string]string{}
	for _, m := range state.Members {
		clients[m.ID] = m.ClientID
	}
	type place struct {
		topic string
		queue uint32
	}
	claims := map[place]*meta.Assignment{}
	for i, a := range state.Assignments {
		claims[place{a.Topic.String(), a.Queue}] = &state.Assignments[i]
	}
	list := []api.QueueAssignment{}
	for i, p := range progress {
		if i > 0 && progress[i-1].Topic == p.Topic && progress[i-1].Queue == p.Queue {
			continue // broadcasting: one for each client
		}
		item := api.QueueAssignment{Topic: p.Topic, Queue: int64(p.Queue), State: "unassigned"}
		if a := claims[place{p.OffsetRecord.Topic.String(), p.Queue}]; a != nil {
			if client, live := clients[a.Owner]; live {
				fillAssignment(&item, a, client)
			}
		}
		list = append(list, item)
	}
	return list
}

func fillAssignment(item *api.QueueAssignment, a *meta.Assignment, client string) {
	since := api.Time(a.At)
	item.State, item.MemberId, item.ClientId, item.AssignmentEpoch, item.AssignedAt = a.State, &a.Owner, &client, &a.Epoch, &since
	if a.State != meta.StateRevoking {
		return
	}
	deadline := api.Time(a.Deadline)
	item.Deadline, item.NextEpoch = &deadline, &a.NextEpoch
	if a.Next != "" {
		item.NextMemberId = &a.Next
	}
}
