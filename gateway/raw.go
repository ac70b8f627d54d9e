package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/segment"
)

// propertyHeader begins the name of every header that is a property of a raw
// message.
const propertyHeader = "Bmq-Property-"

// sendRawMessage stores one message whose body is the request's.
func (s *Server) sendRawMessage(c echo.Context) error {
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	message := rawMessage(p)
	options := sendOptionsOf(p)
	if err := p.err(); err != nil {
		return err
	}
	if message.Properties, err = propertiesOf(c.Request().Header); err != nil {
		return err
	}
	body, release, err := s.readBody(c, journal.MaxBodyBytes)
	if err != nil {
		return err
	}
	message.Body = body
	draft, err := s.journal.NewDraft(topic)
	if err == nil {
		err = rawFault(draft.Add(&message))
	}
	if err == nil {
		err = identify(draft, key, options.producer, func(h *fingerprint) {
			h.add("raw", body)
			h.add("query", []byte(c.QueryParams().Encode()))
			h.add("properties", message.Properties)
		})
	}
	if err == nil {
		err = require(draft, options.ifNext, options.ack, "query:if_next_offset", "invalid_parameter")
	}
	release() // the draft has its own copy
	if err != nil {
		return err
	}
	return s.send(c, draft, options.ack)
}

// sendOptions are the parameters that the binary ways to send share.
type sendOptions struct {
	producer *producer
	ack      journal.Ack
	ifNext   *int64
}

func sendOptionsOf(p *params) sendOptions {
	o := sendOptions{ack: journal.Durable}
	if p.choice("ack", "durable", "durable", "none") == "none" {
		o.ack = journal.None
	}
	if p.has("if_next_offset") {
		o.ifNext = at(p.integer("if_next_offset", -1, 0, maxInt53))
	}
	if p.has("producer_id") || p.has("producer_epoch") || p.has("producer_seq") {
		o.producer = &producer{
			id:    p.text("producer_id", maxProducerID),
			epoch: p.integer("producer_epoch", -1, 0, maxInt53),
			seq:   p.integer("producer_seq", -1, 0, maxInt53),
		}
		if !o.producer.valid() {
			p.fail("producer_id", "a producer has an id, an epoch and a seq")
		}
	}
	return o
}

// rawMessage is what the query says of a message.
func rawMessage(p *params) journal.Message {
	m := journal.Message{
		Queue:       p.integer("queue", journal.AnyQueue, 0, maxQueueNumber),
		Tag:         []byte(p.text("tag", journal.MaxTagBytes)),
		OrderingKey: []byte(p.text("ordering_key", 4*journal.MaxOrderingKey)),
		ContentType: []byte(p.text("content_type", journal.MaxContentType)),
	}
	m.DelayMS = p.integer("delay_ms", 0, 0, journal.MaxDelay.Milliseconds())
	m.DelayLevel = p.integer("delay_level", 0, 0, journal.MaxDelayLevel)
	m.DeliverAt, _ = p.time("deliver_at")
	keys := p.all("keys")
	if len(keys) > maxKeys || slices.ContainsFunc(keys, func(k string) bool { return !validKey([]byte(k)) }) {
		p.fail("keys", "up to 32 keys, not empty, without blanks and control characters")
	}
	m.Keys = []byte(strings.Join(keys, " "))
	return m
}

// maxQueueNumber is the largest number that a queue could have.
const maxQueueNumber = 1<<32 - 1

// rawFault points at the parameter that a limit is about; a message's own
// problem is not in a JSON document here.
func rawFault(err error) error {
	return binaryFault(err, func(e *journal.InvalidError) string {
		switch e.Field {
		case "body", "messages":
			return ""
		case "properties":
			return "header:" + propertyHeader + "*"
		}
		return "query:" + e.Field
	})
}

// propertiesOf reads properties from headers, sorted by name. Values are
// percent-decoded, because headers carry ASCII only.
func propertiesOf(header http.Header) (segment.Properties, error) {
	var names []string
	for name := range header {
		if len(name) > len(propertyHeader) && strings.EqualFold(name[:len(propertyHeader)], propertyHeader) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	var out segment.Properties
	for _, name := range names {
		values := header[name]
		value, err := url.PathUnescape(values[0])
		switch {
		case len(values) > 1:
			return nil, headerFault(name, "a property is given once")
		case err != nil:
			return nil, headerFault(name, "a value is percent-encoded; write % as %25")
		case len(name)+len(value) > maxPropertyBytes:
			return nil, headerFault(name, "a property is too long")
		}
		property, err := url.PathUnescape(name[len(propertyHeader):])
		if err != nil {
			return nil, headerFault(name, "a name is percent-encoded; write % as %25")
		}
		out = segment.AppendProperty(out, strings.ToLower(property), value)
	}
	return out, nil
}
