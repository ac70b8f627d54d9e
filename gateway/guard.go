package gateway

import (
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// guard checks what every operation checks alike, so that a handler begins
// with its own work: the query's names, the topic's name, Accept, the body's
// type and encoding.
func (s *Server) guard(r route) echo.HandlerFunc {
	named := strings.Contains(r.path, ":topic")
	series := s.metrics.of(r.operation)
	return func(c echo.Context) error {
		x := exchangeOf(c)
		x.route, x.series = &r, series
		if err := checkQuery(c, &r); err != nil {
			return err
		}
		if named {
			if _, err := topicName(c); err != nil {
				return err
			}
		}
		header := c.Request().Header
		if r.answers != "" && !accepts(header.Values("Accept"), r.answers) {
			return newProblem("not_acceptable", "this answer is "+r.answers)
		}
		if r.takes != "" {
			if err := checkContent(header.Values("Content-Type"), header.Values("Content-Encoding"), r.takes); err != nil {
				return err
			}
		}
		return r.handle(c)
	}
}

// checkQuery refuses parameters that the operation does not know, and ones that
// come twice: which of them counts would be anybody's guess.
func checkQuery(c echo.Context, r *route) error {
	raw := c.Request().URL.RawQuery
	if raw == "" {
		return nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return newProblem("unknown_parameter", "the query is malformed", fault{Pointer: "query:", Code: "unknown_parameter", Detail: "the query is malformed"})
	}
	var faults []fault
	for name, given := range values {
		if !slices.Contains(r.query, name) {
			faults = append(faults, fault{Pointer: "query:" + name, Code: "unknown_parameter", Detail: "there is no such parameter"})
		} else if len(given) > 1 && name != r.repeatable {
			faults = append(faults, fault{Pointer: "query:" + name, Code: "unknown_parameter", Detail: "given more than once"})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortFunc(faults, func(a, b fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	faults = faults[:min(len(faults), 20)]
	return newProblem("unknown_parameter", strings.TrimPrefix(faults[0].Pointer, "query:")+": "+faults[0].Detail, faults...)
}

// accepts reports whether the Accept headers allow a media type. The most
// specific range decides; no header, or an empty one, allows all.
func accepts(headers []string, mediaType string) bool {
	if strings.TrimSpace(strings.Join(headers, "")) == "" {
		return true
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	best, allowed := 0, false
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		given, parameters, _ := strings.Cut(item, ";")
		rank := 0
		switch strings.ToLower(strings.TrimSpace(given)) {
		case mediaType:
			rank = 3
		case kind + "/*":
			rank = 2
		case "*/*":
			rank = 1
		}
		if rank > best {
			best, allowed = rank, quality(parameters) > 0
		}
	}
	return allowed
}

// quality is the q of an Accept item; 1 when it has none or a bad one.
func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			if q, err := strconv.ParseFloat(value, 64); err == nil {
				return q
			}
		}
	}
	return 1
}

// checkContent refuses a body of another type. The header must be there: a
// browser sends a body without one to other origins unasked.
func checkContent(types, encodings []string, want string) error {
	if !isContent(types, want) {
		return newProblem("unsupported_media_type", "send Content-Type: "+want)
	}
	if len(encodings) > 1 || len(encodings) == 1 && !slices.Contains([]string{"", "identity", "gzip", "zstd"}, encodings[0]) {
		return newProblem("unsupported_content_encoding", "send gzip, zstd or none")
	}
	return nil
}

// isContent reports whether the Content-Type headers name the media type want.
func isContent(types []string, want string) bool {
	if len(types) != 1 {
		return false
	}
	if types[0] == want { // as nearly every client writes it
		return true
	}
	given, parameters, err := mime.ParseMediaType(types[0])
	if err != nil || given != want {
		return false
	}
	charset, ok := parameters["charset"]
	return !ok || strings.EqualFold(charset, "utf-8")
}
