package journal

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// Limits of names, messages and requests. GET /v1/info tells them all.
const (
	MaxTopicName     = 127
	MaxBodyBytes     = 4 << 20
	MaxProperties    = 128
	MaxPropertyBytes = 32767 // names and values of one message together
	MaxTagBytes      = 1024
	MaxKeysBytes     = 32767 // all keys of one message, with the blanks between
	MaxOrderingKey   = 64    // characters
	MaxContentType   = 255
	MaxBatchMessages = 1000
	MaxBatchBytes    = 8 << 20 // of encoded records in one request
	MaxQueues        = 1024
	DefaultQueues    = 8
	DefaultRetention = 72 * 60 * 60 * 1000 // milliseconds

	reservedPrefix = "__" // of property names that are ours alone
)

// ValidateTopicName says whether users may name a topic so.
func ValidateTopicName(name string) error {
	switch {
	case name == "":
		return &InvalidError{Index: -1, Field: "topic", Code: CodeRequired, Detail: "a topic needs a name"}
	case len(name) > MaxTopicName:
		return &InvalidError{Index: -1, Field: "topic", Code: CodeTooLong, Detail: fmt.Sprintf("a topic name has at most %d characters", MaxTopicName)}
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != '-') {
			return &InvalidError{Index: -1, Field: "topic", Code: CodeInvalid, Detail: "a topic name matches [A-Za-z0-9][A-Za-z0-9._-]*"}
		}
	}
	return nil
}

// fault is an InvalidError before its message is known; zero = none. It is a
// value so that a valid message costs no allocation.
type fault struct{ field, code, detail string }

func (f fault) at(index int) error {
	return &InvalidError{Index: index, Field: f.field, Code: f.code, Detail: f.detail}
}

// checkRecord tests everything about one message but where it goes.
func checkRecord(r *segment.Record, t *meta.Topic) fault {
	if f := checkBody(r, t); f.code != "" {
		return f
	}
	if f := checkTag(r.Tag); f.code != "" {
		return f
	}
	if f := checkKeys(r.Keys); f.code != "" {
		return f
	}
	if f := checkOrderingKey(r.OrderingKey, t); f.code != "" {
		return f
	}
	if len(r.ContentType) > MaxContentType {
		return fault{"content_type", CodeTooLong, fmt.Sprintf("a content type has at most %d bytes", MaxContentType)}
	}
	if hasControl(r.ContentType) || !utf8.Valid(r.ContentType) {
		return fault{"content_type", CodeInvalid, "a content type is text without control characters"}
	}
	if len(r.Properties) > 0 {
		return checkProperties(r.Properties)
	}
	return fault{}
}

func checkBody(r *segment.Record, t *meta.Topic) fault {
	limit := int64(MaxBodyBytes)
	if t.MaxMessageBytes > 0 {
		limit = min(limit, t.MaxMessageBytes)
	}
	switch {
	case int64(len(r.Body)) > limit:
		return fault{"body", CodeTooLarge, fmt.Sprintf("a body of this topic has at most %d bytes", limit)}
	case r.Attributes&segment.AttrText != 0 && !utf8.Valid(r.Body):
		return fault{"body", CodeInvalid, "a text body is valid UTF-8"}
	}
	return fault{}
}

func checkTag(tag []byte) fault {
	switch {
	case len(tag) > MaxTagBytes:
		return fault{"tag", CodeTooLong, fmt.Sprintf("a tag has at most %d bytes", MaxTagBytes)}
	case bytes.IndexByte(tag, '|') >= 0 || hasBlank(tag) || hasControl(tag) || !utf8.Valid(tag):
		return fault{"tag", CodeInvalid, "a tag is text without blanks, control characters and |"}
	}
	return fault{}
}

// checkKeys tests keys as they are stored, joined by one blank each.
func checkKeys(keys []byte) fault {
	if len(keys) == 0 {
		return fault{}
	}
	if len(keys) > MaxKeysBytes {
		return fault{"keys", CodeTooLong, fmt.Sprintf("the keys of a message have at most %d bytes", MaxKeysBytes)}
	}
	blank := keys[0] == ' ' || keys[len(keys)-1] == ' ' || bytes.Contains(keys, []byte("  "))
	if blank || hasControl(keys) || !utf8.Valid(keys) {
		return fault{"keys", CodeInvalid, "a key is text without blanks and control characters, and not empty"}
	}
	return fault{}
}

func checkOrderingKey(key []byte, t *meta.Topic) fault {
	switch {
	case len(key) == 0 && t.Type == meta.TopicFIFO:
		return fault{"ordering_key", CodeRequired, "a message of a fifo topic needs an ordering key"}
	case len(key) > MaxOrderingKey && utf8.RuneCount(key) > MaxOrderingKey:
		return fault{"ordering_key", CodeTooLong, fmt.Sprintf("an ordering key has at most %d characters", MaxOrderingKey)}
	case len(key) > 0 && len(bytes.TrimSpace(key)) == 0, hasControl(key), !utf8.Valid(key):
		return fault{"ordering_key", CodeInvalid, "an ordering key is text without control characters, and not blank"}
	}
	return fault{}
}

func checkProperties(properties segment.Properties) fault {
	count, size := 0, 0
	for name, value := range properties.All() {
		count++
		size += len(name) + len(value)
		switch {
		case count > MaxProperties:
			return fault{"properties", CodeTooMany, fmt.Sprintf("a message has at most %d properties", MaxProperties)}
		case size > MaxPropertyBytes:
			return fault{"properties", CodeTooLarge, fmt.Sprintf("the properties of a message have at most %d bytes", MaxPropertyBytes)}
		case len(name) == 0 || hasControl(name) || !utf8.Valid(name) || !utf8.Valid(value):
			return fault{"properties", CodeInvalid, "a property name is text without control characters, and not empty; a value is text"}
		case len(name) >= len(reservedPrefix) && string(name[:len(reservedPrefix)]) == reservedPrefix:
			return fault{"properties", CodeReserved, "property names that begin with __ are reserved"}
		case repeats(properties, name, count):
			return fault{"properties", CodeInvalid, "a property name appears twice"}
		}
	}
	return fault{}
}

// repeats says whether one of the properties before the nth has the same name.
func repeats(properties segment.Properties, name []byte, n int) bool {
	for other := range properties.All() {
		if n--; n == 0 {
			return false
		}
		if bytes.Equal(other, name) {
			return true
		}
	}
	return false
}

func hasBlank(b []byte) bool { return bytes.IndexByte(b, ' ') >= 0 }

// hasControl finds the ASCII control characters, tab and line ends among them.
func hasControl(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return true
		}
	}
	return false
}
