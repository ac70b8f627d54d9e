package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/trace"
)

const (
	keyRequestID = "bmq.request_id"
	keyOperation = "bmq.operation"
)

// answerWithin bounds a request from its headers to the end of its answer: the
// body, the longest poll or append, and the writing. Streams move it on.
const answerWithin = 2 * time.Minute

// newEcho sets up the router. This file, the guard and the signatures of the
// handlers are all that know echo.
func (s *Server) newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.handleError
	e.IPExtractor = echo.ExtractIPDirect() // X-Forwarded-For is anybody's claim
	e.Pre(s.observe, s.admit)
	for _, r := range s.routes() {
		e.Add(r.method, r.path, s.guard(r))
		if before, ok := strings.CutSuffix(r.path, ":topic"); ok {
			e.Add(r.method, before, s.guard(r)) // an empty name is a wrong name
		}
	}
	return e
}

// observe gives the request its id, logs and counts it, and turns a panic and
// every error into an answer.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		id := c.Request().Header.Get("X-Request-Id")
		if !validRequestID(id) {
			id = newRequestID()
		}
		c.Set(keyRequestID, id)
		header := c.Response().Header()
		header.Set("X-Request-Id", id)
		header.Set("X-Content-Type-Options", "nosniff")
		// A client that does not read its answer is cut. Every request sets the
		// deadline, because a connection keeps the one before.
		_ = http.NewResponseController(c.Response()).SetWriteDeadline(start.Add(answerWithin))
		defer func() { s.finish(c, start) }()
		if err := s.recovered(next, c); err != nil {
			s.handleError(err, c)
		}
		return nil
	}
}

// recovered runs a handler and makes an error of a panic.
func (s *Server) recovered(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if e, ok := cause.(error); ok && errors.Is(e, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler) // a wish, not a fault
		}
		s.log.ErrorContext(c.Request().Context(), "panic", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()),
			"operation", operationOf(c), "request_id", requestID(c))
		err = fmt.Errorf("gateway: panic: %v", cause)
	}()
	return next(c)
}

func (s *Server) finish(c echo.Context, start time.Time) {
	took := time.Since(start)
	status, operation := c.Response().Status, operationOf(c)
	s.metrics.observe(operation, status, took)
	ctx := c.Request().Context()
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetName(operation)
	}
	if !s.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	// No query: it may hold a ticket.
	s.log.DebugContext(ctx, "request", "method", c.Request().Method, "path", c.Request().URL.EscapedPath(), "operation", operation,
		"status", status, "bytes", c.Response().Size, "took", took, "remote", c.Request().RemoteAddr, "request_id", requestID(c))
}

// admit answers preflights, refuses new work while the server stops, and tells
// other origins what they may read.
func (s *Server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.answerOrigin(c.Response().Header(), c.Request()) {
			return c.NoContent(http.StatusNoContent)
		}
		if s.draining.Load() {
			return newProblem(codeStopping, "another server can answer")
		}
		if err := checkHeaders(c.Request()); err != nil {
			return err
		}
		return next(c)
	}
}

func checkHeaders(r *http.Request) error {
	size := len(r.Method) + len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	if size > maxHeaderBytes {
		return newProblem("headers_too_large", fmt.Sprintf("at most %d bytes", maxHeaderBytes))
	}
	return nil
}

// requestID is the id that the request is logged and answered under.
func requestID(c echo.Context) string {
	id, _ := c.Get(keyRequestID).(string)
	return id
}

// operationOf is the operationId of the request's route, or "none".
func operationOf(c echo.Context) string {
	if operation, ok := c.Get(keyOperation).(string); ok {
		return operation
	}
	return "none"
}

const maxRequestID = 128

func validRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("._:/=+-", c) < 0 {
			return false
		}
	}
	return true
}

func newRequestID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("gateway: no randomness: " + err.Error())
	}
	return id.String()
}
