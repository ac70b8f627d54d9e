package gateway

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
)

// problemType is the media type of every error (RFC 9457).
const problemType = "application/problem+json"

// problem is an error as the client sees it. Its code decides everything but
// the details; see kinds.
type problem struct {
	code       string
	detail     string
	faults     []fault
	retryAfter time.Duration // zero: as its kind says
	etag       string        // for the ETag header
	as         int           // status where the code's usual one does not fit; 0: it does
	unsure     bool          // something may have been changed, whatever its kind says
}

// fault is one place of a problem, with the current state where that helps.
type fault struct {
	Pointer      string `json:"pointer"`
	Code         string `json:"code"`
	Detail       string `json:"detail,omitempty"`
	MinOffset    *int64 `json:"min_offset,omitempty"`
	FirstOffset  *int64 `json:"first_offset,omitempty"`
	NextOffset   *int64 `json:"next_offset,omitempty"`
	Epoch        *int64 `json:"epoch,omitempty"`
	CurrentEpoch *int64 `json:"current_epoch,omitempty"`
	ExpectedSeq  *int64 `json:"expected_seq,omitempty"`
	Queues       *int64 `json:"queues,omitempty"`
	Type         string `json:"type,omitempty"`
	ETag         string `json:"etag,omitempty"`

	Generation     *int64             `json:"generation,omitempty"`
	Subscriptions  []api.Subscription `json:"subscriptions,omitempty"`
	Offset         *int64             `json:"offset,omitempty"`
	Version        *int64             `json:"version,omitempty"`
	Attempt        *int64             `json:"attempt,omitempty"`
	CurrentAttempt *int64             `json:"current_attempt,omitempty"`
	Deadline       *api.Time          `json:"deadline,omitempty"`
	Now            *api.Time          `json:"now,omitempty"`
	Retryable      bool               `json:"retryable,omitzero"`

	MessageID     string `json:"message_id,omitempty"`
	CorrelationID string `json:"correlation_id,omitempty"`
	Queue         *int64 `json:"queue,omitempty"`
	Outcome       string `json:"outcome,omitempty"` // of a transaction
}

// at makes a number of a fault.
func at(n int64) *int64 { return &n }

// newProblem makes a problem of a code that is in kinds.
func newProblem(code, detail string, faults ...fault) *problem {
	if _, known := kinds[code]; !known {
		panic("gateway: no such code: " + code)
	}
	return &problem{code: code, detail: detail, faults: faults}
}

// Error says what went wrong, for logs.
func (p *problem) Error() string { return p.code + ": " + p.detail }

func (p *problem) status() int {
	if p.as != 0 {
		return p.as
	}
	return kinds[p.code].status
}

// wait is how long the client should wait before it tries again; 0 = it should
// not, or need not wait.
func (p *problem) wait() time.Duration {
	if p.retryAfter > 0 {
		return p.retryAfter
	}
	return kinds[p.code].retryAfter
}

// problemBody is the JSON of a problem.
type problemBody struct {
	Type         string  `json:"type"`
	Title        string  `json:"title"`
	Status       int     `json:"status"`
	Code         string  `json:"code"`
	Detail       string  `json:"detail,omitempty"`
	Instance     string  `json:"instance,omitempty"`
	RequestID    string  `json:"request_id"`
	Retryable    bool    `json:"retryable"`
	Definite     bool    `json:"definite"`
	RetryAfterMS int64   `json:"retry_after_ms,omitzero"`
	Errors       []fault `json:"errors,omitempty"`
}

// encode writes the problem as JSON. Detail and faults may quote the request,
// so bytes that are not UTF-8 are replaced.
func (p *problem) encode(instance, requestID string) []byte {
	kind := kinds[p.code]
	body, err := json.Marshal(problemBody{
		Type:         "urn:bucketmq:error:" + p.code,
		Title:        kind.title,
		Status:       p.status(),
		Code:         p.code,
		Detail:       p.detail,
		Instance:     instance,
		RequestID:    requestID,
		Retryable:    kind.retryable,
		Definite:     kind.definite && !p.unsure,
		RetryAfterMS: p.wait().Milliseconds(),
		Errors:       p.faults,
	}, allowInvalidUTF8)
	if err != nil {
		panic("gateway: encode a problem: " + err.Error())
	}
	return body
}

// handleError is the one place where an error becomes an answer.
func (s *Server) handleError(err error, c echo.Context) {
	p, expected := toProblem(err)
	req := c.Request()
	level := slog.LevelDebug
	if !expected && !callerLeft(c, err) {
		level = slog.LevelError
	}
	s.log.Log(req.Context(), level, "request failed", "err", err, "operation", operationOf(c), "request_id", requestID(c))
	if c.Response().Committed {
		// The status is out; a cut connection is all that can still say so.
		if req.Context().Err() == nil && !errors.Is(err, http.ErrAbortHandler) {
			s.log.WarnContext(req.Context(), "answer cut short", "err", err, "operation", operationOf(c), "request_id", requestID(c))
		}
		panic(http.ErrAbortHandler)
	}
	s.writeProblem(c, p)
}

// callerLeft says that an answer ended because its reader closed the connection.
func callerLeft(c echo.Context, err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "write" && c.Response().Committed && c.Request().Context().Err() != nil
}

func (s *Server) writeProblem(c echo.Context, p *problem) {
	header := c.Response().Header()
	if wait := p.wait(); wait > 0 {
		header.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
	if p.etag != "" {
		header.Set("ETag", p.etag)
	} else {
		header.Del("ETag")
	}
	if p.status() == http.StatusRequestTimeout || p.code == codeStopping {
		header.Set("Connection", "close")
	}
	header.Del("Location")
	header.Set("Cache-Control", "no-store")
	instance := ""
	if c.Request().URL != nil {
		instance = c.Request().URL.EscapedPath()
	}
	if err := c.Blob(p.status(), problemType, p.encode(instance, requestID(c))); err != nil {
		s.log.DebugContext(c.Request().Context(), "answer not delivered", "err", err, "request_id", requestID(c))
	}
}
