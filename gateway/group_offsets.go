package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// listOffsets answers how far a group is in every queue.
func (s *Server) listOffsets(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	client := p.text("client_id", group.MaxClientID)
	var topics []string
	if p.has("topic") {
		topic := p.text("topic", journal.MaxTopicName)
		if journal.ValidateTopicName(topic) != nil {
			p.fail("topic", "the name of a topic")
		}
		topics = append(topics, topic)
	}
	if err := p.err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	g, err := s.groups.Get(ctx, name)
	if err != nil {
		return namedGroup(err, name)
	}
	for _, topic := range topics {
		if _, err := s.journal.Topic(ctx, topic); err != nil {
			return namedTopic(err, topic)
		}
	}
	progress, err := s.groups.Progress(ctx, name, topics...)
	if err != nil {
		return namedGroup(err, name)
	}
	list := api.GroupOffsetList{Items: []api.GroupOffset{}, LagKnown: true}
	lag := int64(0)
	for i := range progress {
		if client != "" && progress[i].Client != client {
			continue
		}
		list.Items = append(list.Items, groupOffsetOf(g, &progress[i]))
		list.LagKnown = list.LagKnown && progress[i].LagKnown
		lag += progress[i].Lag
	}
	if list.LagKnown {
		list.Lag = &lag
	}
	return writeJSON(c, http.StatusOK, list)
}

// groupOffsetOf is a group's progress in a queue as the contract shows it
// (SEMANTICS 32).
func groupOffsetOf(g meta.Group, p *group.QueueProgress) api.GroupOffset {
	out := api.GroupOffset{
		Group: g.Name, GroupId: g.ID.String(), Mode: api.GroupMode(g.Mode), Topic: p.Topic, TopicId: p.OffsetRecord.Topic.String(),
		TopicType: api.TopicType(p.Type), Queue: int64(p.Queue), Version: p.Version, Stopped: p.Stopped, MinOffset: p.Min, NextOffset: p.Next, LagKnown: p.LagKnown, LagExceeded: p.LagExceeded,
	}
	if p.Member != "" {
		out.MemberId = &p.Member
	}
	if p.Client != "" {
		out.ClientId = &p.Client
	}
	if p.LagKnown {
		out.Lag, out.LagMs = &p.Lag, &p.LagMS
	}
	if p.Begun {
		created, updated := api.Time(p.CreatedAt), api.Time(p.UpdatedAt)
		out.Offset, out.StartOffset, out.UpdatedBy = &p.Offset, &p.Start, &p.By
		out.CreatedAt, out.UpdatedAt = &created, &updated
	}
	return out
}

type commitRequest struct {
	MemberID *string        `json:"member_id"`
	Sync     bool           `json:"sync"`
	Offsets  []offsetCommit `json:"offsets"`
}

type offsetCommit struct {
	Topic   *string `json:"topic"`
	Queue   *int64  `json:"queue"`
	Offset  *int64  `json:"offset"`
	Version *int64  `json:"version"`
	Epoch   int64   `json:"assignment_epoch"`
}

// commitResult is api.CommitResult with errors as problems have them.
type commitResult struct {
	Accepted int64           `json:"accepted"`
	Failed   int64           `json:"failed"`
	Results  []commitOutcome `json:"results"`
}

type commitOutcome struct {
	Index   int64  `json:"index"`
	Status  string `json:"status"`
	Offset  *int64 `json:"offset,omitempty"`
	Version *int64 `json:"version,omitempty"`
	Error   *fault `json:"error,omitempty"`
}

// commitOffsets moves a group's progress.
func (s *Server) commitOffsets(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	var body commitRequest
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	request, err := body.read(name)
	if err != nil {
		return err
	}
	results, err := s.groups.Commit(c.Request().Context(), request)
	if err != nil {
		return namedGroup(unsure(err), name)
	}
	answer := commitResult{Results: make([]commitOutcome, len(results))}
	var faults []fault
	for i, r := range results {
		out := commitOutcome{Index: int64(i), Status: r.Status}
		if r.Version > 0 {
			out.Offset, out.Version = &results[i].Offset, &results[i].Version
		}
		if f := refusedCommit(&results[i], request.Items[i].Topic, "/offsets/"+strconv.Itoa(i)); f != nil {
			out.Status, out.Error = "failed", f
			faults = append(faults, *f)
			answer.Failed++
		} else {
			answer.Accepted++
		}
		answer.Results[i] = out
	}
	switch {
	case answer.Accepted == 0:
		return refusedAll(faults)
	case answer.Failed > 0:
		return writeJSON(c, http.StatusMultiStatus, answer)
	}
	return writeJSON(c, http.StatusOK, answer)
}

// refusedCommit says why a commit does not count; nil: it does.
func refusedCommit(r *group.CommitResult, topic, pointer string) *fault {
	f := fault{Pointer: pointer}
	if r.Err != nil {
		if e, ok := errors.AsType[*journal.BoundsError](r.Err); ok {
			f = outside(e, pointer).faults[0]
			return &f
		}
		f = itemProblem(namedTopic(r.Err, topic), pointer)
		return &f
	}
	switch r.Status {
	case meta.OffsetVersionConflict:
		f.Code, f.Detail, f.Offset, f.Version = "version_conflict", "the queue was reset since", &r.Offset, &r.Version
	case meta.OffsetNotOwner:
		f.Code, f.Detail = "not_owner", "the queue is another member's, or the member's anew"
	case meta.OffsetNoRecord:
		f.Code, f.Detail = "offset_not_found", "the group has no offset in the queue"
	default:
		return nil
	}
	return &f
}

func (r *commitRequest) read(name string) (group.CommitRequest, error) {
	request := group.CommitRequest{Group: name, Sync: r.Sync}
	if r.MemberID != nil {
		if request.Member = *r.MemberID; !visible(*r.MemberID, 1, maxMemberID) {
			return request, fieldFault("member_id", outOf(1, maxMemberID)+" visible ASCII characters")
		}
	}
	if n := len(r.Offsets); n == 0 || n > journal.MaxQueues {
		return request, fieldFault("offsets", outOf(1, journal.MaxQueues)+" queues")
	}
	type place struct {
		topic string
		queue int64
	}
	named := map[place]bool{}
	for i, o := range r.Offsets {
		at := fmt.Sprintf("offsets/%d/", i)
		switch {
		case o.Topic == nil:
			return request, missing(at + "topic")
		case journal.ValidateTopicName(*o.Topic) != nil:
			return request, fieldFault(at+"topic", "the name of a topic")
		case o.Queue == nil:
			return request, missing(at + "queue")
		case *o.Queue < 0 || *o.Queue > 1<<32-1:
			return request, fieldFault(at+"queue", outOf(0, 1<<32-1))
		case o.Offset == nil:
			return request, missing(at + "offset")
		case *o.Offset < 0 || *o.Offset > maxInt53:
			return request, fieldFault(at+"offset", "0 to 2^53-1")
		case o.Version == nil:
			return request, missing(at + "version")
		case *o.Version < 1 || *o.Version > maxInt53:
			return request, fieldFault(at+"version", "1 to 2^53-1")
		case o.Epoch < 0 || o.Epoch > maxInt53:
			return request, fieldFault(at+"assignment_epoch", "0 to 2^53-1")
		case named[place{*o.Topic, *o.Queue}]:
			return request, fieldFault(at+"queue", "it is named twice")
		}
		named[place{*o.Topic, *o.Queue}] = true
		request.Items = append(request.Items, group.CommitItem{
			Topic: *o.Topic, Queue: uint32(*o.Queue), Offset: *o.Offset, Version: *o.Version, Epoch: o.Epoch,
		})
	}
	return request, nil
}

type resetRequest struct {
	Topic  *string  `json:"topic"`
	Queues []uint32 `json:"queues"`
	target
	optionalShift
	DryRun bool `json:"dry_run"`
}

// What an offset record says changed it.
const (
	resetBy = "reset"
	stopBy  = "stop"
	startBy = "start"
)

// resetOffsets moves a group's progress in a topic.
func (s *Server) resetOffsets(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	return s.answerOnce(c, "resetOffsets "+name, maxControlBytes, func(ctx context.Context, body []byte) (int, any, error) {
		var r resetRequest
		if err := decodeStrict(body, &r); err != nil {
			return 0, nil, err
		}
		request, err := r.read(name)
		if err != nil {
			return 0, nil, err
		}
		done, err := s.groups.Reset(ctx, request)
		if err != nil {
			return 0, nil, namedGroup(namedTopic(err, request.Topic), name)
		}
		result := api.ResetResult{DryRun: request.DryRun, Items: make([]api.OffsetChange, len(done))}
		for i := range done {
			result.Items[i] = changeOf(request.Topic, &done[i])
		}
		return http.StatusOK, result, nil
	})
}

func (r *resetRequest) read(name string) (request group.ResetRequest, err error) {
	request = group.ResetRequest{Group: name, DryRun: r.DryRun, By: resetBy, Queues: r.Queues}
	if request.Topic, err = topicOfBody(r.Topic); err != nil {
		return request, err
	}
	if r.Queues != nil && (len(r.Queues) == 0 || len(r.Queues) > journal.MaxQueues) {
		return request, fieldFault("queues", outOf(1, journal.MaxQueues)+" queues")
	}
	request.To, request.Value, err = r.target.read(&r.optionalShift)
	return request, err
}

// exportOffsets answers the offsets of a group as RocketMQ's consumerOffset.json
// has them (SEMANTICS 18). That has no place for clients: of a broadcasting group
// it is the smallest offset of any, so that whoever goes on from there misses nothing.
func (s *Server) exportOffsets(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	progress, err := s.groups.Progress(c.Request().Context(), name)
	if err != nil {
		return namedGroup(err, name)
	}
	out := api.OffsetExport{OffsetTable: map[string]api.OffsetTable{}}
	for _, p := range progress {
		if !p.Begun {
			continue
		}
		key := p.Topic + "@" + name
		if out.OffsetTable[key] == nil {
			out.OffsetTable[key] = api.OffsetTable{}
		}
		queue := strconv.FormatUint(uint64(p.Queue), 10)
		if known, another := out.OffsetTable[key][queue]; another && known <= p.Offset {
			continue
		}
		out.OffsetTable[key][queue] = p.Offset
	}
	return writeJSON(c, http.StatusOK, out)
}

type groupQueueSettings struct {
	Stopped *bool `json:"stopped"`
}

// updateGroupQueue stops or starts the consumption of a queue.
func (s *Server) updateGroupQueue(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	queue, err := queueOf(c, topic)
	if err != nil {
		return err
	}
	var body groupQueueSettings
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	if body.Stopped == nil {
		return missing("stopped")
	}
	ctx, by := c.Request().Context(), startBy
	if *body.Stopped {
		by = stopBy
	}
	if _, err := s.groups.SetStopped(ctx, name, topic.Name, queue, *body.Stopped, by); err != nil {
		return namedGroup(unsure(err), name)
	}
	g, err := s.groups.Get(ctx, name)
	if err != nil {
		return namedGroup(err, name)
	}
	progress, err := s.groups.Progress(ctx, name, topic.Name)
	if err != nil {
		return namedGroup(err, name)
	}
	for i := range progress {
		if progress[i].Queue == queue {
			return writeJSON(c, http.StatusOK, groupOffsetOf(g, &progress[i]))
		}
	}
	return fmt.Errorf("queue %d of group %s: %w", queue, name, meta.ErrNoOffset)
}
