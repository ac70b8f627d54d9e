package gateway

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
)

const maxPollCursor = 256 << 10

type pollRequest struct {
	Cursor      string `json:"cursor"`
	AutoCommit  *bool  `json:"auto_commit"`
	MaxMessages *int64 `json:"max_messages"`
	MaxBytes    *int64 `json:"max_bytes"`
	WaitMS      *int64 `json:"wait_ms"`
}

// pollMember answers messages of a member's own queues.
func (s *Server) pollMember(c echo.Context) error {
	name, member, err := memberPath(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	encoder := messageEncoder{base64: forceBase64(p)}
	if err := p.err(); err != nil {
		return err
	}
	var body pollRequest
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	request, err := body.read(name, member)
	if err != nil {
		return err
	}
	reply, err := s.groups.Poll(c.Request().Context(), request)
	if err != nil {
		return namedGroup(unsure(err), name)
	}
	out := newPageWriter(c)
	defer out.release()
	out.b = append(out.b, `{"messages":[`...)
	for i := range reply.Messages {
		m := &reply.Messages[i]
		if i > 0 {
			out.b = append(out.b, ',')
		}
		out.b = encoder.appendOpen(out.b, m.Topic, m.Queue, &m.Stored)
		if m.Origin != nil {
			out.b = appendOrigin(out.b, m.Origin)
		}
		out.b = append(out.b, '}')
		if err := out.spill(); err != nil {
			return err
		}
	}
	queues, err := json.Marshal(ownedOf(reply.Queues))
	if err != nil {
		return fmt.Errorf("encode the queues of a member: %w", err)
	}
	out.b = append(appendGaps(out.b, reply.Gaps), `,"queues":`...)
	out.b = append(append(out.b, queues...), `,"cursor":"`...)
	out.b = append(append(out.b, reply.Cursor...), `","generation":`...)
	out.b = append(strconv.AppendInt(out.b, reply.Generation, 10), `,"rebalancing":`...)
	out.b = append(strconv.AppendBool(out.b, reply.Rebalancing), `,"wait_ms":`...)
	out.b = append(strconv.AppendInt(out.b, request.Wait.Milliseconds(), 10), '}')
	return out.finish(jsonType)
}

func (r *pollRequest) read(name, member string) (group.PollRequest, error) {
	request := group.PollRequest{Group: name, Member: member, Cursor: r.Cursor, AutoCommit: r.AutoCommit == nil || *r.AutoCommit}
	if len(r.Cursor) > maxPollCursor {
		return request, newProblem("cursor_invalid", "it is too long", fault{Pointer: "/cursor", Code: "cursor_invalid"})
	}
	messages, err := limitOf("max_messages", r.MaxMessages, group.MaxPollMessages)
	if err != nil {
		return request, err
	}
	request.MaxMessages = int(messages)
	if request.MaxBytes, err = limitOf("max_bytes", r.MaxBytes, maxReadBytes); err != nil {
		return request, err
	}
	request.Wait, err = waitOf(r.WaitMS)
	return request, err
}

// limitOf reads a limit from 1 to high; 0 = it is not given.
func limitOf(field string, n *int64, high int64) (int64, error) {
	if n == nil {
		return 0, nil
	}
	if *n < 1 || *n > high {
		return 0, fieldFault(field, outOf(1, high))
	}
	return *n, nil
}

// appendOpen appends a message of one of several topics, without the last brace.
func (e *messageEncoder) appendOpen(dst []byte, topic string, queue uint32, m *journal.Stored) []byte {
	dst = e.append(dst, queue, m.Offset, m.StoredAt, &m.Record)
	return append(append(append(dst[:len(dst)-1], `,"topic":"`...), topic...), '"') // a topic's name needs no escaping
}

// appendGaps ends a list of messages and appends what was passed over.
func appendGaps(dst []byte, gaps []group.ReceiveGap) []byte {
	dst = append(dst, `],"gaps":[`...)
	for i, gap := range gaps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"topic":%q,"queue":%d,"from":%d,"to":%d,"reason":%q}`, gap.Topic, gap.Queue, gap.From, gap.To, gap.Reason)
	}
	return append(dst, ']')
}

type seekRequest struct {
	Topic *string `json:"topic"`
	Queue *int64  `json:"queue"`
	target
}

// target is where a seek or a reset leads.
type target struct {
	To        *string `json:"to"`
	Timestamp *string `json:"timestamp"`
	Offset    *int64  `json:"offset"`
}

// seekMember moves one queue of a member.
func (s *Server) seekMember(c echo.Context) error {
	name, member, err := memberPath(c)
	if err != nil {
		return err
	}
	var body seekRequest
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	request := group.SeekRequest{Group: name, Member: member}
	if request.Topic, err = topicOfBody(body.Topic); err != nil {
		return err
	}
	if body.Queue == nil {
		return missing("queue")
	}
	if *body.Queue < 0 || *body.Queue > 1<<32-1 {
		return fieldFault("queue", outOf(0, 1<<32-1))
	}
	request.Queue = uint32(*body.Queue)
	if request.To, request.Value, err = body.read(nil); err != nil {
		return err
	}
	ctx := c.Request().Context()
	topic, err := s.journal.Topic(ctx, request.Topic)
	if err != nil {
		return namedTopic(err, request.Topic)
	}
	if request.Queue >= topic.Queues {
		return &group.QueueError{Topic: topic.Name, Queue: request.Queue, Queues: topic.Queues}
	}
	done, err := s.groups.Seek(ctx, request)
	if err != nil {
		return namedGroup(unsure(err), name)
	}
	return writeJSON(c, http.StatusOK, changeOf(request.Topic, &done))
}

func changeOf(topic string, r *group.QueueReset) api.OffsetChange {
	change := api.OffsetChange{Topic: topic, Queue: int64(r.Queue), NewOffset: r.New, NewVersion: r.Version}
	if r.Begun {
		change.OldOffset, change.OldVersion = &r.Old, r.Version-1
	}
	return change
}

// topicOfBody reads a topic's name.
func topicOfBody(name *string) (string, error) {
	switch {
	case name == nil:
		return "", missing("topic")
	case journal.ValidateTopicName(*name) != nil:
		return "", fieldFault("topic", "the name of a topic")
	}
	return *name, nil
}

// read tests that exactly what the target needs is given. A nil shift means that
// there is no such target.
func (t *target) read(shift *optionalShift) (to string, value int64, err error) {
	if t.To == nil {
		return "", 0, missing("to")
	}
	to = *t.To
	fields := []struct {
		name  string
		given bool
	}{{group.ToTimestamp, t.Timestamp != nil}, {group.ToOffset, t.Offset != nil}, {group.ToShift, shift != nil && shift.Shift != nil}}
	for _, f := range fields {
		if f.given && f.name != to {
			return to, 0, fieldFault(f.name, "is given with to: "+f.name+" only")
		}
		if !f.given && f.name == to && (f.name != group.ToShift || shift != nil) {
			return to, 0, missing(f.name)
		}
	}
	switch to {
	case group.ToEarliest, group.ToLatest:
		return to, 0, nil
	case group.ToTimestamp:
		at, err := api.ParseTime(*t.Timestamp)
		if err != nil {
			return to, 0, fieldFault("timestamp", wantTime)
		}
		return to, int64(at), nil
	case group.ToOffset:
		if *t.Offset < 0 || *t.Offset > maxInt53 {
			return to, 0, fieldFault("offset", "0 to 2^53-1")
		}
		return to, *t.Offset, nil
	}
	if shift == nil {
		return to, 0, fieldFault("to", "earliest, latest, timestamp or offset")
	}
	if to != group.ToShift {
		return to, 0, fieldFault("to", "earliest, latest, timestamp, offset or shift")
	}
	if *shift.Shift < -maxInt53 || *shift.Shift > maxInt53 {
		return to, 0, fieldFault("shift", "-(2^53-1) to 2^53-1")
	}
	return to, *shift.Shift, nil
}

// optionalShift is the target that only a reset has.
type optionalShift struct {
	Shift *int64 `json:"shift"`
}
