package gateway

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/segment"
)

// The strict decoder reads the same requests as the scanner, slowly: by
// reflection, and looking on after the first fault. It is asked only when the
// scanner gave up, and names every faulty message with a JSON pointer.

// maxFaults bounds how many faults one answer lists.
const maxFaults = 100

type strictRequest struct {
	Messages []jsontext.Value `json:"messages"`
	Producer *strictProducer  `json:"producer"`
	Ack      *string          `json:"ack"`
	IfNext   *int64           `json:"if_next_offset"`
}

type strictProducer struct {
	ID    *string `json:"id"`
	Epoch *int64  `json:"epoch"`
	Seq   *int64  `json:"seq"`
}

type strictMessage struct {
	Body        jsontext.Value   `json:"body"`
	Encoding    *string          `json:"encoding"`
	ContentType string           `json:"content_type"`
	Tag         string           `json:"tag"`
	Keys        []string         `json:"keys"`
	OrderingKey string           `json:"ordering_key"`
	Properties  strictProperties `json:"properties"`
	Queue       *int64           `json:"queue"`
	BornAt      *string          `json:"born_at"`
	DelayMS     int64            `json:"delay_ms"`
	DeliverAt   *string          `json:"deliver_at"`
	DelayLevel  int64            `json:"delay_level"`
}

// strictProperties keeps the order of the members, which a map would lose.
type strictProperties []strictProperty

type strictProperty struct {
	name, value string
	isText      bool
}

// UnmarshalJSONFrom reads an object whose members should be strings.
func (p *strictProperties) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() == 'n' {
		return err
	}
	if tok.Kind() != '{' {
		return errors.New("not an object")
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		property := strictProperty{name: name.String(), isText: dec.PeekKind() == '"'}
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if property.isText {
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				return err
			}
			property.value = string(text)
		}
		*p = append(*p, property)
	}
	_, err = dec.ReadToken()
	return err
}

// faults collects what is wrong with a request.
type faults struct{ list []fault }

func (f *faults) add(pointer, code, detail string) {
	if len(f.list) < maxFaults {
		f.list = append(f.list, fault{Pointer: pointer, Code: code, Detail: detail})
	}
}

// decode reads one message into m.
func (m *strictMessage) decode(text []byte, pointer string, f *faults) bool {
	*m = strictMessage{}
	err := json.Unmarshal(text, m, json.RejectUnknownMembers(true))
	if err != nil {
		bad := jsonFault(err)
		f.add(pointer+bad.Pointer, bad.Code, bad.Detail)
		return false
	}
	return true
}

// convert fills to with what the message says. It reports every fault that the
// journal cannot see, and whether there was none.
func (m *strictMessage) convert(to *journal.Message, pointer string, f *faults) bool {
	before := len(f.list)
	*to = journal.Message{
		Queue:       -1,
		Tag:         []byte(m.Tag),
		OrderingKey: []byte(m.OrderingKey),
		ContentType: []byte(m.ContentType),
		DelayMS:     m.DelayMS,
		DelayLevel:  m.DelayLevel,
	}
	m.convertBody(to, pointer, f)
	if m.Queue != nil {
		if to.Queue = *m.Queue; to.Queue < 0 {
			f.add(pointer+"/queue", journal.CodeOutOfRange, "a queue's number is not negative")
		}
	}
	convertTime(m.BornAt, &to.BornAt, pointer+"/born_at", f)
	convertTime(m.DeliverAt, &to.DeliverAt, pointer+"/deliver_at", f)
	m.convertKeys(to, pointer+"/keys", f)
	m.convertProperties(to, pointer+"/properties", f)
	return len(f.list) == before
}

func convertTime(text *string, to *int64, pointer string, f *faults) {
	if text == nil {
		return
	}
	var ok bool
	if *to, ok = parseTime([]byte(*text)); !ok {
		f.add(pointer, journal.CodeInvalid, "not a time of RFC 3339 after 1970")
	}
}

func (m *strictMessage) convertKeys(to *journal.Message, pointer string, f *faults) {
	if len(m.Keys) > maxKeys {
		f.add(pointer, journal.CodeTooMany, fmt.Sprintf("at most %d keys", maxKeys))
		return
	}
	for i, key := range m.Keys {
		if !validKey([]byte(key)) {
			f.add(pointer+"/"+strconv.Itoa(i), journal.CodeInvalid, "a key is not empty and has no blanks or control characters")
		}
		if i > 0 {
			to.Keys = append(to.Keys, ' ')
		}
		to.Keys = append(to.Keys, key...)
	}
}

func (m *strictMessage) convertProperties(to *journal.Message, pointer string, f *faults) {
	if len(m.Properties) > maxProperties {
		f.add(pointer, journal.CodeTooMany, fmt.Sprintf("at most %d properties", maxProperties))
		return
	}
	for _, p := range m.Properties {
		switch {
		case !p.isText:
			f.add(pointer+"/"+escapePointer(p.name), journal.CodeInvalid, "a property's value is a string")
		case len(p.name)+len(p.value) > maxPropertyBytes:
			f.add(pointer+"/"+escapePointer(p.name), journal.CodeTooLong, fmt.Sprintf("properties take at most %d bytes together", maxPropertyBytes))
		default:
			to.Properties = segment.AppendProperty(to.Properties, p.name, p.value)
		}
	}
}

func (m *strictMessage) convertBody(to *journal.Message, pointer string, f *faults) {
	encoded := false
	if m.Encoding != nil {
		switch *m.Encoding {
		case "text":
		case "base64":
			encoded = true
		default:
			f.add(pointer+"/encoding", journal.CodeInvalid, "an encoding is text or base64")
		}
	}
	switch m.Body.Kind() {
	case 'n':
		to.Null = true
		return
	case '"':
		text, err := jsontext.AppendUnquote(nil, m.Body)
		if err != nil {
			f.add(pointer+"/body", journal.CodeInvalid, "not a string")
			return
		}
		if to.Body, to.Text = text, !encoded; !encoded {
			return
		}
		if to.Body, encoded = appendBase64(nil, text); !encoded {
			f.add(pointer+"/body", journal.CodeInvalid, "not standard base64 with padding")
		}
	case 0:
		f.add(pointer+"/body", journal.CodeRequired, "a message has a body, null for a tombstone")
	default:
		f.add(pointer+"/body", journal.CodeInvalid, "a body is a string or null")
	}
}

// parseTime reads a time of RFC 3339 as Unix milliseconds.
func parseTime(text []byte) (int64, bool) {
	var at time.Time
	if at.UnmarshalText(text) != nil {
		return 0, false
	}
	ms := at.UnixMilli()
	return ms, 0 < ms && ms <= lastMilli
}

// decode reads a whole request. With no faults its messages are in the draft.
func (r *strictRequest) decode(text []byte, to adder, f *faults) (sendRequest, error) {
	if err := decodeStrict(text, r); err != nil {
		return sendRequest{}, err
	}
	return r.read(to, f)
}

// read checks a request that is decoded.
func (r *strictRequest) read(to adder, f *faults) (sendRequest, error) {
	send := r.options(f)
	send.count = len(r.Messages)
	switch n := len(r.Messages); {
	case n == 0:
		f.add("/messages", journal.CodeRequired, "a request has at least one message")
	case n > maxBatch:
		f.add("/messages", journal.CodeTooMany, fmt.Sprintf("a request has at most %d messages", maxBatch))
		return send, nil
	}
	return send, r.add(to, f)
}

// options reads what a request says besides its messages.
func (r *strictRequest) options(f *faults) sendRequest {
	send := sendRequest{ack: journal.Durable}
	if r.Ack != nil {
		switch *r.Ack {
		case "durable":
		case "none":
			send.ack = journal.None
		default:
			f.add("/ack", journal.CodeInvalid, "ack is durable or none")
		}
	}
	if r.Producer != nil {
		send.producer = r.Producer.convert(f)
	}
	if send.ifNext = r.IfNext; r.IfNext != nil && (*r.IfNext < 0 || *r.IfNext > maxInt53) {
		f.add("/if_next_offset", "invalid_field", "0 to 2^53-1")
	}
	return send
}

// add checks every message and adds it to the draft.
func (r *strictRequest) add(to adder, f *faults) error {
	return addMessages(to, r.Messages, "/messages/", f)
}

// addMessages checks messages, whose places begin so, and adds them.
func addMessages(to adder, messages []jsontext.Value, places string, f *faults) error {
	var in strictMessage
	var out journal.Message
	for i, text := range messages {
		pointer := places + strconv.Itoa(i)
		if !in.decode(text, pointer, f) || !in.convert(&out, pointer, f) {
			continue
		}
		err := to.Add(&out)
		if invalid, ok := errors.AsType[*journal.InvalidError](err); ok && invalid.Index < 0 && invalid.Code == journal.CodeConflict {
			f.add(strings.TrimSuffix(places, "/"), invalid.Code, invalid.Detail) // the topic takes none of them
			return nil
		} else if ok {
			f.add(pointer+"/"+invalid.Field, invalid.Code, invalid.Detail)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (p *strictProducer) convert(f *faults) *producer {
	out := new(producer)
	switch {
	case p.ID == nil:
		f.add("/producer/id", journal.CodeRequired, "a producer has an id")
	case len(*p.ID) == 0 || len(*p.ID) > maxProducerID:
		f.add("/producer/id", journal.CodeInvalid, fmt.Sprintf("1 to %d bytes", maxProducerID))
	default:
		out.id = *p.ID
	}
	for _, number := range []struct {
		name     string
		from, to *int64
	}{{"epoch", p.Epoch, &out.epoch}, {"seq", p.Seq, &out.seq}} {
		switch {
		case number.from == nil:
			f.add("/producer/"+number.name, journal.CodeRequired, "a producer has an id, an epoch and a seq")
		case *number.from < 0 || *number.from > maxInt53:
			f.add("/producer/"+number.name, journal.CodeOutOfRange, "0 to 2^53-1")
		default:
			*number.to = *number.from
		}
	}
	return out
}
