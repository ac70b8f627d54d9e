package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

// messageEncoder appends messages as JSON. It allocates nothing per message and
// never fails: what is not valid text is written as base64 (the body) or with
// replacement characters (everything else), so one odd message cannot spoil a
// page.
type messageEncoder struct {
	// base64 forces the encoding of every body, also where it was given as text.
	base64 bool

	clock clock
}

// append appends one message of a queue as a JSON object.
func (e *messageEncoder) append(dst []byte, queue uint32, offset, storedAt int64, r *segment.Record) []byte {
	dst = append(dst, `{"message_id":"`...)
	dst = appendUUID(dst, r.ID)
	dst = append(dst, `","queue":`...)
	dst = strconv.AppendUint(dst, uint64(queue), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, offset, 10)
	dst = append(dst, `,"stored_at":"`...)
	dst = e.clock.append(dst, storedAt)
	dst = append(dst, `","born_at":"`...)
	dst = e.clock.append(dst, r.BornAt)
	dst = append(dst, '"')
	return e.appendContent(dst, r)
}

// appendContent appends what the producer said of a message and ends the object.
func (e *messageEncoder) appendContent(dst []byte, r *segment.Record) []byte {
	dst = appendOptional(dst, `,"tag":`, r.Tag)
	dst = appendKeys(dst, r.Keys)
	dst = appendOptional(dst, `,"ordering_key":`, r.OrderingKey)
	dst = appendOptional(dst, `,"content_type":`, r.ContentType)
	dst = appendProperties(dst, r.Properties)
	dst = e.appendBody(dst, r)
	return append(dst, '}')
}

func (e *messageEncoder) appendBody(dst []byte, r *segment.Record) []byte {
	switch {
	case r.Attributes&segment.AttrNull != 0:
		return append(dst, `,"encoding":"text","body":null`...)
	case e.base64, r.Attributes&segment.AttrText == 0, !utf8.Valid(r.Body):
		dst = append(dst, `,"encoding":"base64","body":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, r.Body)
		return append(dst, '"')
	}
	dst = append(dst, `,"encoding":"text","body":`...)
	return appendString(dst, r.Body)
}

// appendOptional appends a member unless its value is empty, which means that
// the message does not have it.
func appendOptional(dst []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return appendString(append(dst, name...), value)
}

// appendKeys appends the keys, which a record holds joined by one space.
func appendKeys(dst, keys []byte) []byte {
	if len(keys) == 0 {
		return dst
	}
	dst = append(dst, `,"keys":[`...)
	for more := true; more; {
		var key []byte
		key, keys, more = bytes.Cut(keys, []byte{' '})
		dst = appendString(dst, key)
		if more {
			dst = append(dst, ',')
		}
	}
	return append(dst, ']')
}

func appendProperties(dst []byte, properties segment.Properties) []byte {
	first := true
	for name, value := range properties.All() {
		if first {
			dst = append(dst, `,"properties":{`...)
		} else {
			dst = append(dst, ',')
		}
		first = false
		dst = appendString(dst, name)
		dst = append(dst, ':')
		dst = appendString(dst, value)
	}
	if first {
		return dst
	}
	return append(dst, '}')
}

// appendString appends text as a JSON string. Bytes that are not UTF-8 become
// U+FFFD.
func appendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for at := 0; ; {
		stop, wide := plainRun(text, at)
		run := text[at:stop]
		if wide && !utf8.Valid(run) {
			run = bytes.ToValidUTF8(run, []byte("\uFFFD"))
		}
		dst = append(dst, run...)
		if stop == len(text) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, text[stop])
		at = stop + 1
	}
}

const hexDigits = "0123456789abcdef"

// appendEscape appends a character that a JSON string may not hold as it is.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendUUID appends the usual text of an id.
func appendUUID(dst []byte, id uuid.UUID) []byte {
	dst = hex.AppendEncode(dst, id[:4])
	for _, part := range [...][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		dst = hex.AppendEncode(append(dst, '-'), part)
	}
	return dst
}

// clock appends times as RFC 3339 in UTC with milliseconds. It remembers the
// last second, because the messages of a page were mostly stored together.
type clock struct {
	second int64
	text   []byte // the second up to its fraction; empty before the first use
}

// lastMilli is the end of the last year that RFC 3339 can write.
const lastMilli = 253402300799999

func (c *clock) append(dst []byte, at int64) []byte {
	at = min(max(at, 0), lastMilli)
	if second := at / 1000; second != c.second || len(c.text) == 0 {
		c.second = second
		c.text = time.Unix(second, 0).UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
	}
	dst = append(dst, c.text...)
	ms := at % 1000
	return append(dst, byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}
