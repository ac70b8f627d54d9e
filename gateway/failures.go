package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
)

// listRetries answers the messages that a group is to get again.
func (s *Server) listRetries(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	state := p.choice("state", "waiting", "waiting", "due")
	limit := int(p.integer("limit", 100, 1, maxPageItems))
	from, skip := p.failuresAfter(retriesList + state[:1])
	encoder := messageEncoder{base64: forceBase64(p)}
	if err := p.err(); err != nil {
		return err
	}
	list, next, skip, err := s.groups.Retries(c.Request().Context(), name, state == "due", from, skip, limit)
	if err != nil {
		return namedGroup(err, name)
	}
	return writeFailures(c, &encoder, list, state, failuresToken(retriesList+state[:1], next, skip))
}

// listDeadLetters answers the messages that a group gave up.
func (s *Server) listDeadLetters(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	f := group.FailureFilter{Topic: p.text("topic", journal.MaxTopicName), Reason: p.text("reason", group.MaxReason)}
	f.From, _ = p.time("from")
	f.To, _ = p.time("to")
	if p.has("message_id") {
		if f.MessageID, err = messageID(p.text("message_id", 64)); err != nil {
			p.fail("message_id", wantMessageID)
		}
	}
	limit := int(p.integer("limit", 100, 1, maxPageItems))
	from, _ := p.failuresAfter(deadLettersList)
	encoder := messageEncoder{base64: forceBase64(p)}
	if err := p.err(); err != nil {
		return err
	}
	list, next, err := s.groups.DeadLetters(c.Request().Context(), name, f, from, limit)
	if err != nil {
		return namedGroup(err, name)
	}
	return writeFailures(c, &encoder, list, "dead", failuresToken(deadLettersList, next, 0))
}

const wantMessageID = "an id such as 019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00"

// messageID reads an id in its usual form.
func messageID(text string) (uuid.UUID, error) {
	if len(text) != 36 {
		return uuid.Nil, fieldFault("message_id", wantMessageID)
	}
	return uuid.Parse(text)
}

const (
	retriesList     = "r" // begins the page tokens of listRetries, before the letter of the state
	deadLettersList = "d" // of listDeadLetters
)

// failuresToken says where a list goes on; "": it is at its end.
func failuresToken(list string, from int64, skip int) string {
	if from < 0 {
		return ""
	}
	return pageToken(list[0], list[1:]+strconv.FormatInt(from, 10)+"."+strconv.Itoa(skip))
}

// failuresAfter reads such a token.
func (p *params) failuresAfter(list string) (from int64, skip int) {
	place := p.after(list[0], func(place string) bool {
		number, rest, found := strings.Cut(strings.TrimPrefix(place, list[1:]), ".")
		var err, err2 error
		from, err = strconv.ParseInt(number, 10, 64)
		skip, err2 = strconv.Atoi(rest)
		return strings.HasPrefix(place, list[1:]) && found && err == nil && err2 == nil && from >= 0 && skip >= 0
	})
	if place == "" {
		return 0, 0
	}
	return from, skip
}

// writeFailures answers a page of failures.
func writeFailures(c echo.Context, encoder *messageEncoder, list []group.Failure, state, token string) error {
	out := newPageWriter(c)
	defer out.release()
	out.b = append(out.b, `{"items":[`...)
	for i := range list {
		if i > 0 {
			out.b = append(out.b, ',')
		}
		out.b = encoder.appendFailure(out.b, &list[i], state)
		if err := out.spill(); err != nil {
			return err
		}
	}
	out.b = append(out.b, ']')
	if token != "" {
		out.b = appendOptional(out.b, `,"next_page_token":`, []byte(token))
	}
	out.b = append(out.b, '}')
	return out.finish(jsonType)
}

func (e *messageEncoder) appendFailure(dst []byte, x *group.Failure, state string) []byte {
	dst = append(append(append(dst, `{"state":"`...), state...), `","at":"`...)
	dst = append(e.clock.append(dst, x.At), `","attempts":`...)
	dst = strconv.AppendInt(dst, x.Attempts, 10)
	dst = appendString(append(dst, `,"reason":`...), []byte(x.Reason))
	dst = appendString(append(dst, `,"topic":`...), []byte(x.Origin.Topic))
	if state == "dead" {
		dst = strconv.AppendInt(append(dst, `,"number":`...), x.Number, 10)
	}
	dst = append(dst, `,"message":`...)
	return append(e.appendOpen(dst, x.Origin.Topic, x.Queue, &x.Stored), "}}"...)
}

// appendOrigin appends where a message of a retry topic comes from.
func appendOrigin(dst []byte, o *group.Origin) []byte {
	dst = appendString(append(dst, `,"origin":{"topic":`...), []byte(o.Topic))
	dst = strconv.AppendUint(append(dst, `,"queue":`...), uint64(o.Queue), 10)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), o.Offset, 10)
	dst = strconv.AppendInt(append(dst, `,"attempts":`...), o.Attempts, 10)
	dst = appendString(append(dst, `,"reason":`...), []byte(o.Reason))
	return append(dst, '}')
}

// deadLetterSelection is the body of purgeDeadLetters.
type deadLetterSelection struct {
	Topic     *string `json:"topic"`
	Reason    *string `json:"reason"`
	MessageID *string `json:"message_id"`
	From      *string `json:"from"`
	To        *string `json:"to"`
	Limit     *int64  `json:"limit"`
	PageToken *string `json:"page_token"`
	DryRun    bool    `json:"dry_run"`
}

// redriveRequest is the body of redriveDeadLetters.
type redriveRequest struct {
	deadLetterSelection
	Rate *int64 `json:"rate"`
}

func (r *deadLetterSelection) read(name string) (h group.HandleRequest, err error) {
	h = group.HandleRequest{Group: name, DryRun: r.DryRun, Limit: group.MaxFailures}
	if r.Topic != nil {
		if h.Topic = *r.Topic; h.Topic == "" || len(h.Topic) > journal.MaxTopicName {
			return h, fieldFault("topic", outOf(1, journal.MaxTopicName)+" characters")
		}
	}
	if r.Reason != nil {
		if h.Reason = *r.Reason; h.Reason == "" || len(h.Reason) > group.MaxReason {
			return h, fieldFault("reason", outOf(1, group.MaxReason)+" bytes")
		}
	}
	if r.MessageID != nil {
		if h.MessageID, err = messageID(*r.MessageID); err != nil {
			return h, fieldFault("message_id", wantMessageID)
		}
	}
	for _, at := range []struct {
		field string
		text  *string
		to    *int64
	}{{"from", r.From, &h.From}, {"to", r.To, &h.To}} {
		if at.text == nil {
			continue
		}
		ms, err := api.ParseTime(*at.text)
		if err != nil {
			return h, fieldFault(at.field, wantTime)
		}
		*at.to = int64(ms)
	}
	if r.Limit != nil {
		if *r.Limit < 1 || *r.Limit > group.MaxFailures {
			return h, fieldFault("limit", outOf(1, group.MaxFailures))
		}
		h.Limit = int(*r.Limit)
	}
	if r.PageToken != nil {
		p := params{values: url.Values{"page_token": {*r.PageToken}}}
		if h.After, _ = p.failuresAfter(deadLettersList); p.err() != nil {
			return h, fieldFault("page_token", "not a token of dead letters")
		}
	}
	return h, nil
}

// redriveDeadLetters gives dead letters to the group once more.
func (s *Server) redriveDeadLetters(c echo.Context) error {
	var body redriveRequest
	return s.handleDeadLetters(c, &body, func(ctx context.Context, name string) (group.HandleRequest, group.Handled, error) {
		request, err := body.read(name)
		if err != nil {
			return request, group.Handled{}, err
		}
		if body.Rate != nil {
			if *body.Rate < 1 || *body.Rate > group.MaxRedriveRate {
				return request, group.Handled{}, fieldFault("rate", outOf(1, group.MaxRedriveRate))
			}
			request.Rate = int(*body.Rate)
		}
		done, err := s.groups.Redrive(ctx, request)
		return request, done, err
	})
}

// purgeDeadLetters drops dead letters.
func (s *Server) purgeDeadLetters(c echo.Context) error {
	var body deadLetterSelection
	return s.handleDeadLetters(c, &body, func(ctx context.Context, name string) (group.HandleRequest, group.Handled, error) {
		request, err := body.read(name)
		if err != nil {
			return request, group.Handled{}, err
		}
		done, err := s.groups.Purge(ctx, request)
		return request, done, err
	})
}

func (s *Server) handleDeadLetters(c echo.Context, body any, do func(context.Context, string) (group.HandleRequest, group.Handled, error)) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	if err := s.readJSON(c, body); err != nil {
		return err
	}
	request, done, err := do(c.Request().Context(), name)
	if err != nil {
		return namedGroup(unsure(err), name)
	}
	out := api.HandledDeadLetters{Matched: done.Matched, Done: done.Done, DryRun: request.DryRun}
	if token := failuresToken(deadLettersList, done.Next, 0); token != "" {
		out.NextPageToken = &token
	}
	return writeJSON(c, http.StatusOK, out)
}
