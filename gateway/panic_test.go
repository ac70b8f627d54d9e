package gateway

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

func TestPanicsAndUnknownErrorsAreProblems(t *testing.T) {
	var logs strings.Builder
	s := &Server{log: slog.New(slog.NewTextHandler(&logs, nil)), metrics: newMetrics(nil)}
	s.echo = s.newEcho()
	for path, handle := range map[string]echo.HandlerFunc{
		"/panic":   func(echo.Context) error { panic("secret one") },
		"/unknown": func(echo.Context) error { return errors.New("secret two") },
		"/http":    func(echo.Context) error { return echo.NewHTTPError(http.StatusTeapot, "secret three") },
	} {
		s.echo.Add(http.MethodGet, path, s.guard(route{path: path, operation: "test", handle: handle}))
		w := httptest.NewRecorder()
		s.serve(w, httptest.NewRequest(http.MethodGet, path, nil))
		var p problemBody
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatalf("%s: %q: %v", path, w.Body, err)
		}
		if w.Code != 500 || p.Code != codeInternal || p.Retryable || p.Definite || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
		if !strings.Contains(logs.String(), p.RequestID) {
			t.Errorf("%s: the log does not have request %s", path, p.RequestID)
		}
	}
	for _, secret := range []string{"secret one", "secret two", "secret three"} {
		if !strings.Contains(logs.String(), secret) {
			t.Errorf("the log does not have %q", secret)
		}
	}
}
