package gateway

import (
	"errors"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
)

// sendFramedMessages stores a concatenation of encoded records. The journal
// keeps the request's bytes as they lie, in memory of its own.
func (s *Server) sendFramedMessages(c echo.Context) error {
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	queue := p.integer("queue", journal.AnyQueue, 0, maxQueueNumber)
	options := sendOptionsOf(p)
	if err := p.err(); err != nil {
		return err
	}
	body, records, release, err := s.readRecords(c, journal.MaxBatchBytes)
	if err != nil {
		return err
	}
	draft, err := s.journal.NewDraft(topic)
	if err == nil { // before the journal writes ids into the body
		err = identify(draft, key, options.producer, func(h *fingerprint) {
			h.add("framed", body)
			h.add("query", []byte(c.QueryParams().Encode()))
		})
	}
	if err == nil {
		err = framedFault(draft.AddRecords(records, body, queue))
	}
	if err == nil {
		err = require(draft, options.ifNext, options.ack, "query:if_next_offset", "invalid_parameter")
	}
	release() // from here on the journal counts it
	if err != nil {
		return err
	}
	return s.send(c, draft, options.ack)
}

// framedFault points at the record by its number in the body.
func framedFault(err error) error {
	return binaryFault(err, func(e *journal.InvalidError) string {
		if e.Index < 0 {
			return ""
		}
		return "/" + strconv.Itoa(e.Index) + "/" + e.Field
	})
}

// binaryFault makes the problem of a message that was not sent as JSON.
func binaryFault(err error, pointer func(*journal.InvalidError) string) error {
	e, ok := errors.AsType[*journal.InvalidError](err)
	if !ok {
		return err
	}
	return invalidMessages([]fault{{Pointer: pointer(e), Code: e.Code, Detail: e.Detail}})
}
