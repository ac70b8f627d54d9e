package gateway

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// immutable is how long a single message may be cached. A message never changes
// within its topic's epoch; the bound is for topics that are deleted and made
// again under the same name.
const immutable = "private, max-age=3600, immutable"

// getMessage answers one message as JSON.
func (s *Server) getMessage(c echo.Context) error {
	p := paramsOf(c)
	encoder := messageEncoder{base64: forceBase64(p)}
	if err := p.err(); err != nil {
		return err
	}
	m, queue, err := s.message(c)
	if err != nil {
		return err
	}
	etag := `"` + m.Record.ID.String() + `"`
	if encoder.base64 {
		etag = `"` + m.Record.ID.String() + `.base64"` // another representation
	}
	if known, err := cached(c, etag); known || err != nil {
		return err
	}
	out := newPageWriter(c)
	defer out.release()
	out.b = encoder.append(out.b, queue, m.Offset, m.StoredAt, &m.Record)
	return out.finish(jsonType)
}

// getRawMessage answers the body of one message. It is never called what its
// producer called it, so that no browser runs a stored page or script.
func (s *Server) getRawMessage(c echo.Context) error {
	m, queue, err := s.message(c)
	if err != nil {
		return err
	}
	if known, err := cached(c, `"`+m.Record.ID.String()+`.raw"`); known || err != nil {
		return err
	}
	describe(c.Response().Header(), queue, m)
	out := newPageWriter(c)
	defer out.release()
	c.Response().Header().Set(echo.HeaderContentType, bytesType)
	c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(m.Record.Body)))
	c.Response().WriteHeader(http.StatusOK)
	return out.write(m.Record.Body)
}

// message reads the one message that the path names.
func (s *Server) message(c echo.Context) (*journal.Stored, uint32, error) {
	topic, err := s.topic(c)
	if err != nil {
		return nil, 0, err
	}
	queue, err := queueOf(c, topic)
	if err != nil {
		return nil, 0, err
	}
	offset, err := offsetOf(c)
	if err != nil {
		return nil, 0, err
	}
	m, err := s.messageAt(c, topic, queue, offset)
	return m, queue, err
}

func (s *Server) messageAt(c echo.Context, topic meta.Topic, queue uint32, offset int64) (*journal.Stored, error) {
	page, err := s.journal.Read(c.Request().Context(), journal.Read{Topic: topic, Queue: queue, Offset: offset, MaxMessages: 1, MaxBytes: 1})
	if err != nil {
		if p := readProblem(err); p != nil && p.code == "offset_beyond_end" {
			return nil, noMessage(p.faults...)
		}
		return nil, err
	}
	if len(page.Messages) == 0 || page.Messages[0].Offset != offset {
		return nil, noMessage(fault{Pointer: "path:offset", Code: "message_not_found", MinOffset: at(page.Min), NextOffset: at(page.Max)})
	}
	return &page.Messages[0], nil
}

// noMessage says that there is nothing at an offset yet.
func noMessage(faults ...fault) *problem {
	for i := range faults {
		faults[i].Pointer, faults[i].Code = "path:offset", "message_not_found"
	}
	return newProblem("message_not_found", "no message has this offset yet", faults...)
}

// cached adds the caching headers of a message. It reports whether the caller
// has this representation already, and then answers so.
func cached(c echo.Context, etag string) (bool, error) {
	c.Response().Header().Set("Cache-Control", immutable)
	return notModified(c, etag)
}

// maxDescription bounds the headers of properties; many clients take no more
// than 16 KiB of headers in all.
const maxDescription = 8 << 10

// describe adds what a message has besides its body as headers, percent-encoded
// where a header could not carry it. Properties that do not fit are left out
// together and counted.
func describe(header http.Header, queue uint32, m *journal.Stored) {
	r := &m.Record
	var c clock
	header.Set("Bmq-Message-Id", r.ID.String())
	header.Set("Bmq-Queue", strconv.FormatUint(uint64(queue), 10))
	header.Set("Bmq-Offset", strconv.FormatInt(m.Offset, 10))
	header.Set("Bmq-Stored-At", string(c.append(nil, m.StoredAt)))
	header.Set("Bmq-Born-At", string(c.append(nil, r.BornAt)))
	for _, field := range []struct {
		name  string
		value []byte
	}{{"Bmq-Tag", r.Tag}, {"Bmq-Keys", r.Keys}, {"Bmq-Ordering-Key", r.OrderingKey}, {"Bmq-Content-Type", r.ContentType}} {
		if len(field.value) > 0 {
			header.Set(field.name, escapeHeader(field.value))
		}
	}
	if r.Attributes&segment.AttrNull != 0 {
		header.Set("Bmq-Tombstone", "true")
	}
	describeProperties(header, r.Properties)
}

func describeProperties(header http.Header, properties segment.Properties) {
	size, count := 0, 0
	values := make(map[string]string)
	for name, value := range properties.All() {
		escaped := escapeHeader(value)
		key := propertyHeader + escapeToken(name)
		values[key] = escaped
		size += len(key) + len(escaped) + len(": \r\n")
		count++
	}
	if size > maxDescription {
		header.Set("Bmq-Properties-Omitted", strconv.Itoa(count))
		return
	}
	for key, value := range values {
		header[key] = []string{value} // as the producer wrote it, not in canonical form
	}
}

// escapeHeader percent-encodes what is not visible ASCII, and the percent sign;
// single blanks inside stay.
func escapeHeader(value []byte) string {
	return escapeBytes(value, func(i int, c byte) bool {
		if c == ' ' {
			return i > 0 && i < len(value)-1
		}
		return ' ' < c && c < 0x7f && c != '%'
	})
}

// escapeToken percent-encodes what the name of a header may not have.
func escapeToken(name []byte) string {
	return escapeBytes(name, func(_ int, c byte) bool {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return true
		}
		return c == '-' || c == '_' || c == '.'
	})
}

func escapeBytes(text []byte, plain func(int, byte) bool) string {
	out := make([]byte, 0, len(text))
	for i, c := range text {
		if plain(i, c) {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(out)
}

const upperHex = "0123456789ABCDEF"
