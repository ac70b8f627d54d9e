package gateway

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// maxInt53 is the largest integer that every JSON reader reads exactly.
const maxInt53 = 1<<53 - 1

// params reads the query of a request. What is wrong is collected: err reports
// all of it at once. The names are checked before the handler runs.
type params struct {
	values url.Values
	faults []fault
}

// paramsOf reads the query of a request.
func paramsOf(c echo.Context) *params {
	if c.Request().URL.RawQuery == "" {
		return new(params)
	}
	return &params{values: c.QueryParams()}
}

// fail records that a parameter is wrong.
func (p *params) fail(name, detail string) {
	p.faults = append(p.faults, fault{Pointer: "query:" + name, Code: "invalid_parameter", Detail: detail})
}

// err is nil when no parameter was wrong.
func (p *params) err() error {
	if len(p.faults) == 0 {
		return nil
	}
	return newProblem("invalid_parameter", strings.TrimPrefix(p.faults[0].Pointer, "query:")+": "+p.faults[0].Detail, p.faults...)
}

// has reports whether the parameter is given, also when it is empty.
func (p *params) has(name string) bool { return len(p.values[name]) > 0 }

// text returns a parameter of at most maxBytes bytes of UTF-8 without control
// characters, "" when it is not given.
func (p *params) text(name string, maxBytes int) string {
	value := p.values.Get(name)
	switch {
	case len(value) > maxBytes:
		p.fail(name, "at most "+strconv.Itoa(maxBytes)+" bytes")
	case !utf8.ValidString(value):
		p.fail(name, "not UTF-8")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		p.fail(name, "no control characters")
	default:
		return value
	}
	return ""
}

// all returns every value of a parameter that may be repeated.
func (p *params) all(name string) []string { return p.values[name] }

// integer returns a parameter between low and high, or missing when it is not
// given.
func (p *params) integer(name string, missing, low, high int64) int64 {
	if !p.has(name) {
		return missing
	}
	n, ok := parseInteger(p.values.Get(name))
	if !ok || n < low || n > high {
		p.fail(name, strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10))
		return missing
	}
	return n
}

// integers returns a list of integers from 0 to high, separated by commas; nil
// when it is not given.
func (p *params) integers(name string, high int64) []int64 {
	if !p.has(name) {
		return nil
	}
	var list []int64
	for item := range strings.SplitSeq(p.values.Get(name), ",") {
		n, ok := parseInteger(item)
		if !ok || n < 0 || n > high || len(list) >= journal.MaxQueues || slices.Contains(list, n) {
			p.fail(name, "a list such as 0,3 of different numbers up to "+strconv.FormatInt(high, 10))
			return nil
		}
		list = append(list, n)
	}
	return list
}

// parseInteger reads decimal digits only: no sign but a minus, no blanks, no
// leading zero.
func parseInteger(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// boolean returns a parameter that is true or false; false when not given.
func (p *params) boolean(name string) bool {
	switch p.values.Get(name) {
	case "true":
		return true
	case "false":
		return false
	}
	if p.has(name) {
		p.fail(name, "true or false")
	}
	return false
}

// time returns a time in Unix milliseconds; ok is false when it is not given
// or wrong.
func (p *params) time(name string) (ms int64, ok bool) {
	if !p.has(name) {
		return 0, false
	}
	at, err := api.ParseTime(p.values.Get(name))
	if err != nil {
		p.fail(name, "a time such as 2026-12-01T08:30:00.000Z")
		return 0, false
	}
	return int64(at), true
}

// choice returns a parameter that is one of the allowed words.
func (p *params) choice(name, missing string, allowed ...string) string {
	value := p.values.Get(name)
	switch {
	case !p.has(name):
		return missing
	case slices.Contains(allowed, value):
		return value
	}
	p.fail(name, "one of "+strings.Join(allowed, ", "))
	return missing
}

// pathParam returns a part of the path as it was before percent-encoding.
func pathParam(c echo.Context, name string) string {
	raw := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return raw // already decoded by net/url
	}
	if value, err := url.PathUnescape(raw); err == nil {
		return value
	}
	return raw
}

// pathInteger returns a number of the path.
func pathInteger(c echo.Context, name string, high int64) (int64, error) {
	n, ok := parseInteger(pathParam(c, name))
	if !ok || n < 0 || n > high {
		detail := "0 to " + strconv.FormatInt(high, 10)
		return 0, newProblem("invalid_parameter", name+": "+detail, fault{Pointer: "path:" + name, Code: "invalid_parameter", Detail: detail})
	}
	return n, nil
}

// topicName returns the topic's name in the path, if a topic may have it.
func topicName(c echo.Context) (string, error) {
	name := pathParam(c, "topic")
	if err := journal.ValidateTopicName(name); err != nil {
		const detail = "1 to 127 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"
		return "", newProblem("invalid_name", detail, fault{Pointer: "path:topic", Code: "invalid_name", Detail: detail})
	}
	return name, nil
}

// topic returns the topic that the path names.
func (s *Server) topic(c echo.Context) (meta.Topic, error) {
	name, err := topicName(c)
	if err != nil {
		return meta.Topic{}, err
	}
	t, err := s.journal.Topic(c.Request().Context(), name)
	if err != nil {
		return meta.Topic{}, namedTopic(err, name)
	}
	return t, nil
}

// queueOf returns the queue that the path names, if the topic has it.
func queueOf(c echo.Context, t meta.Topic) (uint32, error) {
	queue, err := pathInteger(c, "queue", 1<<32-1)
	if err != nil {
		return 0, err
	}
	if queue >= int64(t.Queues) {
		return 0, newProblem("queue_not_found", "the topic has "+strconv.FormatInt(int64(t.Queues), 10)+" queues",
			fault{Pointer: "path:queue", Code: "queue_not_found", Queues: at(int64(t.Queues))})
	}
	return uint32(queue), nil
}

// offsetOf returns the offset that the path names.
func offsetOf(c echo.Context) (int64, error) { return pathInteger(c, "offset", maxInt53) }
