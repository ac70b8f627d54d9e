package gateway

import (
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
)

const maxTokenBytes = 8192

// searchMessages looks through a bounded part of a topic, by message id, or by
// key, time and tag.
func (s *Server) searchMessages(c echo.Context) error {
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	search := searchOf(p)
	search.Topic = topic
	encoder := messageEncoder{base64: forceBase64(p)}
	if err := p.err(); err != nil {
		return err
	}
	page, err := s.journal.Search(c.Request().Context(), search)
	if err != nil {
		return cursorFault(err, "query:page_token")
	}
	out := newPageWriter(c)
	defer out.release()
	out.b = append(out.b, `{"items":[`...)
	for i := range page.Messages {
		if i > 0 {
			out.b = append(out.b, ',')
		}
		m := &page.Messages[i]
		out.b = encoder.append(out.b, m.Queue, m.Offset, m.StoredAt, &m.Record)
		if err := out.spill(); err != nil {
			return err
		}
	}
	out.b = append(out.b, ']')
	for i, gap := range page.Gaps {
		if i == 0 {
			out.b = append(out.b, `,"gaps":[`...)
		} else {
			out.b = append(out.b, ',')
		}
		out.b = appendGap(out.b, gap)
	}
	if len(page.Gaps) > 0 {
		out.b = append(out.b, ']')
	}
	if page.ScannedUntil > 0 {
		out.b = append(out.b, `,"scanned_until":"`...)
		out.b = append(encoder.clock.append(out.b, page.ScannedUntil), '"')
	}
	if page.Token != "" {
		out.b = appendOptional(out.b, `,"next_page_token":`, []byte(page.Token))
	}
	out.b = append(out.b, '}')
	return out.finish(jsonType)
}

// searchOf reads what to look for.
func searchOf(p *params) journal.SearchOptions {
	search := journal.SearchOptions{
		Limit: int(p.integer("limit", defaultReadItems, 1, maxPageItems)),
		Token: p.text("page_token", maxTokenBytes),
	}
	from, byTime := p.time("from")
	to, bounded := p.time("to")
	search.From, search.To = from, to
	if p.has("message_id") {
		id, err := uuid.Parse(p.text("message_id", 64))
		if err != nil || len(p.values.Get("message_id")) != 36 {
			p.fail("message_id", "an id such as 019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00")
		}
		search.ID = id
		if p.has("key") || p.has("from") || p.has("to") || p.has("tag") {
			p.fail("message_id", "give either message_id, or key or from with to and tag")
		}
		return search
	}
	if search.Key = p.text("key", journal.MaxKeysBytes); p.has("key") && !validKey([]byte(search.Key)) {
		p.fail("key", "not empty, without blanks and control characters")
	}
	if !p.has("from") && !p.has("key") {
		p.fail("from", "give message_id, key or from")
	}
	if byTime && bounded && to <= from {
		p.fail("to", "after from")
	}
	if tag := p.text("tag", journal.MaxTagBytes); tag != "" {
		var err error
		if search.Tag, err = filter.ParseTags(tag); err != nil || len(search.Tag.Tags()) != 1 {
			p.fail("tag", "one tag")
		}
	}
	return search
}
