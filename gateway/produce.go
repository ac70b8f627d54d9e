package gateway

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// sendMessages stores the messages of a JSON request.
func (s *Server) sendMessages(c echo.Context) error {
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	body, release, err := s.readBody(c, maxRequestBytes)
	if err != nil {
		return err
	}
	draft, request, err := s.draft(topic, body)
	if err == nil {
		err = identify(draft, key, request.producer, func(h *fingerprint) { h.add("json", body) })
	}
	if err == nil {
		err = require(draft, request.ifNext, request.ack, "/if_next_offset", "invalid_field")
	}
	release() // the draft has its own copy
	if err != nil {
		return err
	}
	return s.send(c, draft, request.ack)
}

// draft reads a JSON request into a draft. Its error names every faulty
// message.
func (s *Server) draft(topic meta.Topic, text []byte) (*journal.Draft, sendRequest, error) {
	draft, err := s.journal.NewDraft(topic)
	if err != nil {
		return nil, sendRequest{}, err
	}
	draft.Expect(len(text)) // JSON takes about as much as the records do
	scan := takeScanner(text)
	request, err := scan.sendRequest(draft)
	scan.release()
	if !errors.Is(err, errUnusual) {
		return draft, request, err
	}
	if draft, err = s.journal.NewDraft(topic); err != nil {
		return nil, sendRequest{}, err
	}
	var strict strictRequest
	var found faults
	request, err = strict.decode(text, draft, &found)
	if err == nil && len(found.list) > 0 {
		err = invalidMessages(found.list)
	}
	return draft, request, err
}

// send appends a draft and answers where its messages are.
func (s *Server) send(c echo.Context, draft *journal.Draft, ack journal.Ack) error {
	appended, err := s.journal.Append(c.Request().Context(), draft, ack)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if ack == journal.None {
		status = http.StatusAccepted
	}
	answer := sendAnswer{Appended: appended, ack: ack}
	if appended.Duplicate {
		// With a key the first answer comes again as it was; a producer is told
		// per message, because it may ask with other requests in between.
		c.Response().Header().Set("Idempotent-Replayed", "true")
		answer.tellDuplicates = c.Request().Header.Get(keyHeader) == ""
	}
	out := takeBuffer()
	defer out.release()
	out.b = answer.appendTo(out.b)
	return out.answer(c, status, jsonType)
}

// sendAnswer is what a request to send is answered.
type sendAnswer struct {
	*journal.Appended
	ack            journal.Ack
	tellDuplicates bool
}

// appendTo appends the answer as JSON.
func (a *sendAnswer) appendTo(dst []byte) []byte {
	count := a.Len()
	dst = append(dst, `{"stored":`...)
	if a.ack == journal.None {
		dst = append(dst, '0')
	} else {
		dst = strconv.AppendInt(dst, int64(count), 10)
	}
	dst = append(dst, `,"failed":0,"results":[`...)
	for i := range count {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.appendResult(dst, i)
	}
	return append(dst, "]}"...)
}

func (a *sendAnswer) appendResult(dst []byte, i int) []byte {
	id, queue, offset := a.At(i)
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(i), 10)
	if a.ack == journal.None {
		dst = append(dst, `,"status":"accepted"`...)
	} else {
		dst = append(dst, `,"status":"stored"`...)
	}
	delayed := a.Delayed(i)
	if id != (uuid.UUID{}) && (offset >= 0 || a.ack == journal.None || delayed) {
		dst = append(dst, `,"message_id":"`...)
		dst = append(appendUUID(dst, id), '"')
	}
	if offset >= 0 {
		dst = append(dst, `,"queue":`...)
		dst = strconv.AppendUint(dst, uint64(queue), 10)
		dst = append(dst, `,"offset":`...)
		dst = strconv.AppendInt(dst, offset, 10)
	}
	if delayed && id != (uuid.UUID{}) {
		dst = append(dst, `,"queue":`...)
		dst = strconv.AppendUint(dst, uint64(queue), 10)
		dst = append(dst, `,"recall_handle":"`...)
		dst = append(dst, journal.RecallHandle(a.Topic, id, a.Due(i))...)
		dst = append(dst, '"')
	}
	if a.tellDuplicates {
		dst = append(dst, `,"duplicate":true`...)
	}
	return append(dst, '}')
}
