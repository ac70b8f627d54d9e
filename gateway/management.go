package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Check is one thing that must work for a process to be ready.
type Check struct {
	Name string
	Ask  func(context.Context) error
}

// checkTimeout bounds all checks of one readiness request together.
const checkTimeout = 2 * time.Second

// Management is the handler of a process's own listener: /healthz (the process
// lives), /readyz (every check passes), /metrics and /debug/pprof. It is for
// operators only: never mount it where callers of the API come in.
func Management(gather prometheus.Gatherer, log *slog.Logger, checks ...Check) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answerChecks(w, http.StatusOK, map[string]string{})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
		defer cancel()
		status, found := http.StatusOK, map[string]string{}
		for _, check := range checks {
			found[check.Name] = "ok"
			if err := check.Ask(ctx); err != nil {
				status, found[check.Name] = http.StatusServiceUnavailable, "failing"
				log.WarnContext(ctx, "not ready", "check", check.Name, "err", err)
			}
		}
		answerChecks(w, status, found)
	})
	if gather != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(gather, promhttp.HandlerOpts{}))
	}
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

func answerChecks(w http.ResponseWriter, status int, checks map[string]string) {
	body, err := json.Marshal(map[string]any{"ready": status == http.StatusOK, "checks": checks})
	if err != nil {
		panic("gateway: encode checks: " + err.Error())
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the prober is gone if this fails
}

// Checks are what a gateway must have to be ready: it is not stopping, Redis
// answers and holds a state that may be used, and the store works.
func (s *Server) Checks() []Check {
	checks := []Check{
		{"serving", func(context.Context) error {
			if s.draining.Load() {
				return errors.New("stopping")
			}
			return nil
		}},
		{"redis", s.meta.Ready},
		{"index", s.indexReady},
	}
	if s.options.Probe != nil {
		checks = append(checks, Check{"store", s.options.Probe})
	}
	return checks
}
