package gateway

import (
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
)

const (
	defaultReadBytes = 1 << 20
	defaultReadItems = 100
)

// readMessages answers a page of a queue as JSON.
func (s *Server) readMessages(c echo.Context) error {
	base64 := false
	page, queue, err := s.readPage(c, func(p *params, read *journal.Read) {
		base64 = forceBase64(p)
		read.MaxMessages = int(p.integer("limit", defaultReadItems, 1, maxPageItems))
	})
	if err != nil {
		return err
	}
	defer page.Release()
	out := newPageWriter(c)
	defer out.release()
	out.b = append(out.b, `{"status":"`...)
	out.b = append(out.b, page.Status...)
	out.b = append(out.b, `","messages":[`...)
	encoder := messageEncoder{base64: base64}
	for i := range page.Messages {
		if i > 0 {
			out.b = append(out.b, ',')
		}
		m := &page.Messages[i]
		out.b = encoder.append(out.b, queue, m.Offset, m.StoredAt, &m.Record)
		if err := out.spill(); err != nil {
			return err
		}
	}
	out.b = append(out.b, `],"next_offset":`...)
	out.b = strconv.AppendInt(out.b, page.Next, 10)
	out.b = append(out.b, `,"min_offset":`...)
	out.b = strconv.AppendInt(out.b, page.Min, 10)
	out.b = append(out.b, `,"max_offset":`...)
	out.b = strconv.AppendInt(out.b, page.Max, 10)
	out.b = append(out.b, `,"epoch":`...)
	out.b = strconv.AppendInt(out.b, page.Epoch, 10)
	out.b = append(out.b, '}')
	return out.finish(jsonType)
}

// forceBase64 reads the parameter that asks for every body in base64.
func forceBase64(p *params) bool {
	return p.choice("encoding", "text", "text", "base64") == "base64"
}

// readPage reads what the query of readMessages and readFrames asks for; more
// reads parameters of the caller's own. The caller releases the page.
func (s *Server) readPage(c echo.Context, more func(*params, *journal.Read)) (*journal.Page, uint32, error) {
	topic, err := s.topic(c)
	if err != nil {
		return nil, 0, err
	}
	queue, err := queueOf(c, topic)
	if err != nil {
		return nil, 0, err
	}
	p := paramsOf(c)
	read := journal.Read{
		Topic: topic, Queue: queue,
		Epoch:    p.integer("epoch", 0, 1, maxInt53),
		MaxBytes: p.integer("max_bytes", defaultReadBytes, 1, maxReadBytes),
		Wait:     time.Duration(p.integer("wait_ms", 0, 0, journal.MaxWait.Milliseconds())) * time.Millisecond,
		Filter:   filterOf(p),
		Clamp:    p.boolean("clamp"),
	}
	from := startOf(p)
	more(p, &read)
	if err := p.err(); err != nil {
		return nil, 0, err
	}
	if err := s.start(c, &read, from); err != nil {
		return nil, 0, err
	}
	page, err := s.journal.Read(c.Request().Context(), read)
	return page, queue, err
}

// startOf reads where to start: at most one of offset, position and timestamp.
func startOf(p *params) journal.Position {
	from, given := journal.Position{Kind: journal.Earliest}, 0
	if p.has("offset") {
		given++
		from = journal.Position{Kind: journal.AtOffset, Value: p.integer("offset", 0, 0, maxInt53)}
	}
	if p.has("timestamp") {
		given++
		at, _ := p.time("timestamp")
		from = journal.Position{Kind: journal.AtTime, Value: at}
	}
	if p.has("position") {
		given++
		if p.choice("position", "earliest", "earliest", "latest") == "latest" {
			from = journal.Position{Kind: journal.Latest}
		}
	}
	if given > 1 {
		p.fail("offset", "give at most one of offset, position and timestamp")
	}
	return from
}

// start turns a position into the offset of a read.
func (s *Server) start(c echo.Context, read *journal.Read, from journal.Position) (err error) {
	switch from.Kind {
	case journal.AtOffset:
		read.Offset = from.Value
	case journal.AtTime:
		read.Offset, err = s.journal.Find(c.Request().Context(), read.Topic, read.Queue, from.Value)
		read.Clamp = true // what was found may be trimmed meanwhile
	case journal.Earliest:
		read.Offset, read.Clamp = 0, true
	case journal.Latest:
		read.Offset, read.Clamp = maxInt53, true
	}
	return err
}
