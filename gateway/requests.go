package gateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/replies"
	"github.com/bucketmq/bucketmq/segment"
)

// defaultReplyTimeout is how long a request waits that does not say.
const defaultReplyTimeout = 5 * time.Second

// replyRequest is the body of requestReply.
type replyRequest struct {
	Message   jsontext.Value `json:"message"`
	TimeoutMS *int64         `json:"timeout_ms"`
}

// requestReply stores a message and waits for the reply to it.
func (s *Server) requestReply(c echo.Context) error {
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	body, release, err := s.readBody(c, maxRequestBytes)
	if err != nil {
		return err
	}
	var request replyRequest
	if err = decodeStrict(body, &request); err == nil {
		request.Message = bytes.Clone(request.Message)
	}
	release()
	if err != nil {
		return err
	}
	result, err := s.request(c.Request().Context(), topic, &request)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, result)
}

// requestResult is api.RequestResult with the reply as it was written.
type requestResult struct {
	MessageID     string         `json:"message_id"`
	Queue         int64          `json:"queue"`
	Offset        int64          `json:"offset"`
	CorrelationID string         `json:"correlation_id"`
	Reply         jsontext.Value `json:"reply"`
}

// request carries a request out.
func (s *Server) request(ctx context.Context, topic meta.Topic, r *replyRequest) (*requestResult, error) {
	timeout := defaultReplyTimeout
	if r.TimeoutMS != nil {
		if *r.TimeoutMS < 1 || *r.TimeoutMS > replies.MaxTimeout.Milliseconds() {
			return nil, fieldFault("timeout_ms", outOf(1, replies.MaxTimeout.Milliseconds()))
		}
		timeout = time.Duration(*r.TimeoutMS) * time.Millisecond
	}
	if r.Message == nil {
		return nil, missing("message")
	}
	draft, err := s.journal.NewDraft(topic)
	if err != nil {
		return nil, err
	}
	begun, err := s.replies.Begin(ctx, timeout)
	if err != nil {
		return nil, viaRedis(err)
	}
	defer begun.End()
	draft.Reserve(segment.AppendProperty(segment.AppendProperty(nil, replies.PropertyAddress, begun.Address), replies.PropertyID, begun.ID.String()))
	if err := addRequest(draft, r.Message); err != nil {
		return nil, err
	}
	appended, err := s.journal.Append(ctx, draft, journal.Durable)
	if err != nil {
		return nil, err
	}
	id, queue, offset := appended.At(0)
	reply, err := begun.Wait(ctx, s.stopping)
	if stopped := errors.Is(err, replies.ErrStopped); stopped || errors.Is(err, replies.ErrTimeout) {
		detail := fmt.Sprintf("the message is stored; no reply came within %d ms", timeout.Milliseconds())
		if stopped {
			detail = "the message is stored; this server stops and takes no reply any more"
		}
		p := newProblem("reply_timeout", detail, fault{
			Pointer: "/timeout_ms", Code: "reply_timeout", MessageID: id.String(), CorrelationID: begun.ID.String(), Queue: at(int64(queue)),
		})
		if offset >= 0 {
			p.faults[0].Offset = at(offset)
		}
		p.unsure = err != replies.ErrTimeout && err != replies.ErrStopped // Redis did not say whether there was a reply
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	return &requestResult{
		MessageID: id.String(), Queue: int64(queue), Offset: offset, CorrelationID: begun.ID.String(), Reply: reply,
	}, nil
}

// addRequest reads the one message of a request into a draft.
func addRequest(draft *journal.Draft, message jsontext.Value) error {
	var found faults
	strict := strictRequest{Messages: []jsontext.Value{message}}
	if _, err := strict.read(draft, &found); err != nil {
		return err
	}
	if len(found.list) == 0 {
		return nil
	}
	for i := range found.list {
		found.list[i].Pointer = strings.Replace(found.list[i].Pointer, "/messages/0", "/message", 1)
	}
	return invalidMessages(found.list)
}

// requestOp is a request on a socket.
type requestOp struct {
	opHead
	Topic     *string        `json:"topic"`
	Message   jsontext.Value `json:"message"`
	TimeoutMS *int64         `json:"timeout_ms"`
}

// maxAsking is how many requests of a socket may wait.
const maxAsking = 64

// requestOp carries out a request; other operations need not wait for it.
func (s *socket) requestOp(text []byte) error {
	var op requestOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	switch {
	case op.ID == "":
		return missing("id")
	case op.Topic == nil:
		return missing("topic")
	}
	topic, err := s.topic(*op.Topic, "/topic")
	if err != nil {
		return err
	}
	if s.asking.Add(1) > maxAsking {
		s.asking.Add(-1)
		return newProblem("buffer_full", fmt.Sprintf("%d requests of this socket wait", maxAsking))
	}
	return s.aside(func() {
		defer s.asking.Add(-1)
		result, err := s.hub.server.request(s.ctx, topic, &replyRequest{Message: op.Message, TimeoutMS: op.TimeoutMS})
		if err != nil {
			s.refuse(op.ID, err)
			return
		}
		s.pushOp(append(appendValue(append(appendHead(nil, "ok", op.ID), `,"request":`...), result), '}'))
	})
}

// replyOp is a reply on a socket.
type replyOp struct {
	opHead
	newReply
}

func (s *socket) replyOp(text []byte) error {
	var op replyOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	ctx, cancel := s.settleWithin()
	defer cancel()
	if err := s.hub.server.reply(ctx, &op.newReply); err != nil {
		return err
	}
	s.ok(op.ID)
	return nil
}

// newReply is the body of sendReply.
type newReply struct {
	ReplyTo     *string           `json:"reply_to"`
	Body        jsontext.Value    `json:"body"`
	Encoding    *string           `json:"encoding"`
	ContentType *string           `json:"content_type"`
	Properties  map[string]string `json:"properties"`
}

// sendReply brings a reply to the request that waits for it.
func (s *Server) sendReply(c echo.Context) error {
	var body newReply
	if err := s.readJSONUpTo(c, &body, replies.MaxReply); err != nil {
		return err
	}
	if err := s.reply(c.Request().Context(), &body); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) reply(ctx context.Context, r *newReply) error {
	if r.ReplyTo == nil {
		return missing("reply_to")
	}
	if n := len(*r.ReplyTo); n == 0 || n > replies.MaxAddress {
		return fieldFault("reply_to", outOf(1, replies.MaxAddress)+" characters")
	}
	reply, err := r.read()
	if err != nil {
		return err
	}
	text := appendValue(nil, reply)
	if len(text) > replies.MaxReply {
		return newProblem("body_too_large", fmt.Sprintf("a reply takes at most %d bytes", replies.MaxReply))
	}
	if _, err = s.replies.Reply(ctx, *r.ReplyTo, text); err != nil {
		return unsure(viaRedis(err))
	}
	return nil
}

// read tests a reply.
func (r *newReply) read() (*api.Reply, error) {
	reply := &api.Reply{Encoding: "text", ContentType: r.ContentType}
	if r.ContentType != nil && (len(*r.ContentType) > journal.MaxContentType || !utf8.ValidString(*r.ContentType)) {
		return nil, fieldFault("content_type", outOf(0, journal.MaxContentType)+" bytes")
	}
	if len(r.Properties) > journal.MaxProperties {
		return nil, fieldFault("properties", fmt.Sprintf("at most %d", journal.MaxProperties))
	}
	if len(r.Properties) > 0 {
		reply.Properties = &r.Properties
	}
	if r.Encoding != nil {
		if *r.Encoding != "text" && *r.Encoding != "base64" {
			return nil, fieldFault("encoding", "text or base64")
		}
		reply.Encoding = api.Encoding(*r.Encoding)
	}
	switch r.Body.Kind() {
	case 'n':
		return reply, nil
	case '"':
	case 0:
		return nil, missing("body")
	default:
		return nil, fieldFault("body", "a string or null")
	}
	text, err := jsontext.AppendUnquote(nil, r.Body)
	if err != nil {
		return nil, fieldFault("body", "a string or null")
	}
	body := string(text)
	if reply.Encoding == "base64" {
		if _, err := base64.StdEncoding.Strict().DecodeString(body); err != nil {
			return nil, fieldFault("body", "not base64")
		}
	}
	reply.Body = &body
	return reply, nil
}
