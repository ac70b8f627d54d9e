package gateway

import (
	"encoding/base64"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/segment"
)

// messageScanner reads the JSON of messages to be sent. One is used by one
// request or one socket at a time; its buffers are reused from message to
// message, so a message is valid only until the next one is read.
type messageScanner struct {
	scanner
	message    journal.Message
	keys       []byte
	properties segment.Properties
}

// The members of a message, as bits of what was seen already.
const (
	seenBody = 1 << iota
	seenEncoding
	seenContentType
	seenTag
	seenKeys
	seenOrderingKey
	seenProperties
	seenQueue
	seenBornAt
	seenDelayMS
	seenDeliverAt
	seenDelayLevel
)

// memberOf returns the bit of a member's name, 0 for an unknown one.
func memberOf(name []byte) int {
	switch string(name) {
	case "body":
		return seenBody
	case "encoding":
		return seenEncoding
	case "content_type":
		return seenContentType
	case "tag":
		return seenTag
	case "keys":
		return seenKeys
	case "ordering_key":
		return seenOrderingKey
	case "properties":
		return seenProperties
	case "queue":
		return seenQueue
	case "born_at":
		return seenBornAt
	case "delay_ms":
		return seenDelayMS
	case "deliver_at":
		return seenDeliverAt
	case "delay_level":
		return seenDelayLevel
	}
	return 0
}

// next reads one message object into s.message. On anything unexpected s.bad
// is set and the message means nothing.
func (s *messageScanner) next() {
	m := &s.message
	*m = journal.Message{Queue: -1}
	s.scratch = s.scratch[:0]
	seen, encoded := 0, false
	s.take('{')
	for name, more := s.member(true); more; name, more = s.member(false) {
		member := memberOf(name)
		if member == 0 || seen&member != 0 {
			s.fail()
			return
		}
		seen |= member
		if s.null() { // of a body: a tombstone; of anything else: not given
			m.Null = m.Null || member == seenBody
			continue
		}
		switch member {
		case seenBody:
			m.Body = s.str()
		case seenEncoding:
			encoded = s.encoding()
		case seenContentType:
			m.ContentType = s.str()
		case seenTag:
			m.Tag = s.str()
		case seenKeys:
			m.Keys = s.keyList()
		case seenOrderingKey:
			m.OrderingKey = s.str()
		case seenProperties:
			m.Properties = s.propertyMap()
		case seenQueue:
			m.Queue = s.integer()
			if m.Queue < 0 { // would mean: choose one
				s.fail()
			}
		case seenBornAt:
			m.BornAt = s.time()
		case seenDelayMS:
			m.DelayMS = s.integer()
		case seenDeliverAt:
			m.DeliverAt = s.time()
		case seenDelayLevel:
			m.DelayLevel = s.integer()
		}
	}
	if seen&seenBody == 0 {
		s.fail()
	}
	m.Text = !encoded && !m.Null
	if encoded && !m.Null && !s.bad {
		m.Body = s.decode(m.Body)
	}
}

// encoding reads how the body is written: true for base64.
func (s *messageScanner) encoding() bool {
	switch string(s.str()) {
	case "text":
	case "base64":
		return true
	default:
		s.fail()
	}
	return false
}

// decode returns the bytes that a base64 body stands for.
func (s *messageScanner) decode(body []byte) []byte {
	from := len(s.scratch)
	var ok bool
	if s.scratch, ok = appendBase64(s.scratch, body); !ok {
		s.fail()
		return nil
	}
	return s.scratch[from:len(s.scratch):len(s.scratch)]
}

// appendBase64 decodes standard base64 with padding, and nothing else: no line
// breaks, no stray bits.
func appendBase64(dst, text []byte) ([]byte, bool) {
	for _, c := range text {
		if c == '\n' || c == '\r' { // the decoder would skip them
			return dst, false
		}
	}
	dst, err := base64.StdEncoding.Strict().AppendDecode(dst, text)
	return dst, err == nil
}

// keyList reads the keys and joins them by the space that no key may hold.
func (s *messageScanner) keyList() []byte {
	s.keys = s.keys[:0]
	s.take('[')
	count := 0
	for more := s.element(true, ']'); more; more = s.element(false, ']') {
		key := s.str()
		if count++; count > maxKeys || !validKey(key) {
			s.fail()
			return nil
		}
		if count > 1 {
			s.keys = append(s.keys, ' ')
		}
		s.keys = append(s.keys, key...)
	}
	return s.keys
}

// validKey tells whether a key may be joined with others: not empty, no blanks
// or control characters.
func validKey(key []byte) bool {
	for _, c := range key {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return len(key) > 0
}

// time reads a time as Unix milliseconds.
func (s *messageScanner) time() int64 {
	at, ok := parseTime(s.str())
	if !ok {
		s.fail()
	}
	return at
}

// Limits of a message. The journal checks properties again; here they bound
// the search for a repeated name, and what the encoded list can hold.
const (
	maxKeys          = 32
	maxProperties    = 128
	maxPropertyBytes = 32767
)

// propertyMap reads the properties in their order.
func (s *messageScanner) propertyMap() segment.Properties {
	s.properties = s.properties[:0]
	count := 0
	s.take('{')
	for name, more := s.member(true); more; name, more = s.member(false) {
		value := s.str()
		count++
		if count > maxProperties || len(name)+len(value) > maxPropertyBytes || hasProperty(s.properties, name) {
			s.fail()
			return nil
		}
		s.properties = segment.AppendProperty(s.properties, name, value)
	}
	return s.properties
}

func hasProperty(properties segment.Properties, name []byte) bool {
	for known := range properties.All() {
		if string(known) == string(name) {
			return true
		}
	}
	return false
}
