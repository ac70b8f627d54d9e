package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/trace"
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
	for _, r := range s.routes() {
		e.Add(r.method, r.path, s.guard(r))
		if before, ok := strings.CutSuffix(r.path, ":topic"); ok {
			e.Add(r.method, before, s.guard(r)) // an empty name is a wrong name
		}
	}
	return e
}

// serve gives the request its id, logs and counts it, and turns a panic and
// every error into an answer. It does what echo's ServeHTTP does, without the
// closures that echo makes of its middleware for every request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := newExchange(w, r)
	// A client that does not read its answer is cut. Every request sets the
	// deadline, because a connection keeps the one before.
	x.cutAt(start.Add(answerWithin))
	header := w.Header()
	header["X-Request-Id"] = x.idHeader[:]
	header["X-Content-Type-Options"] = noSniff
	c := s.echo.AcquireContext()
	c.Reset(r, x)
	defer func() {
		s.finish(c, start)
		s.echo.ReleaseContext(c)
	}()
	if err := s.recovered(c); err != nil {
		s.handleError(err, c)
	}
}

// Values of headers that are the same in every answer. net/http copies them.
var (
	noSniff    = []string{"nosniff"}
	varyOrigin = []string{"Origin"}
	jsonHeader = []string{jsonType}
)

// recovered runs a handler and makes an error of a panic.
func (s *Server) recovered(c echo.Context) (err error) {
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
	return s.admit(c)
}

func (s *Server) finish(c echo.Context, start time.Time) {
	took := time.Since(start)
	status, operation := c.Response().Status, operationOf(c)
	if series := exchangeOf(c).series; series != nil {
		series.observe(status, took)
	} else {
		s.metrics.of(operation).observe(status, took)
	}
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

// admit answers preflights, refuses new work while the server stops, tells
// other origins what they may read, and hands the request to its operation.
func (s *Server) admit(c echo.Context) error {
	r := c.Request()
	if s.answerOrigin(c.Response().Header(), r) {
		return c.NoContent(http.StatusNoContent)
	}
	if s.draining.Load() {
		return newProblem(codeStopping, "another server can answer")
	}
	if err := checkHeaders(r); err != nil {
		return err
	}
	s.echo.Router().Find(r.Method, echo.GetPath(r), c)
	return c.Handler()(c)
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
