// Package gateway serves the HTTP and WebSocket contract: it parses a request,
// calls one method of the journal or of meta, and encodes the answer.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/replies"
	"github.com/bucketmq/bucketmq/transaction"
)

// Options configure a Server. Zero values are the defaults stated at the fields.
type Options struct {
	Journal *journal.Journal // required; its Run must be running
	Meta    *meta.DB         // required

	// Listen is the address to serve on. Empty = 127.0.0.1:8080. An address
	// that is not loopback needs Insecure, because nothing asks who is calling.
	Listen   string
	Insecure bool
	// AllowedOrigins are the browser origins, such as https://app.example.com,
	// that may use the API besides pages of this very host. "*" = all.
	AllowedOrigins []string

	BodyTimeout time.Duration // for a request's body to arrive; zero = 30 s
	BodyBytes   int64         // all request bodies in memory; zero = 256 MiB
	// CommitInterval is how often merged commits of groups are stored; the first time
	// is 10 s after the start. Zero = 5 s.
	CommitInterval time.Duration
	Grace          time.Duration // for Run to end once its ctx has; zero = 10 s

	// Probe says whether the object store works, for readiness and the cluster
	// page; nil = it is not asked.
	Probe func(context.Context) error
	// Tracing makes a span of every request with the global OpenTelemetry
	// provider and accepts the caller's traceparent.
	Tracing bool

	Log      *slog.Logger          // nil = slog.Default
	Registry prometheus.Registerer // nil = metrics are kept and not exported
	Version  string                // told by getInfo; empty = "dev"
}

func (o Options) withDefaults() Options {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:8080"
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = 30 * time.Second
	}
	if o.BodyBytes == 0 {
		o.BodyBytes = 256 << 20
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	return o
}

// Server answers HTTP requests. Make it with New, then Run it, or mount its
// Handler and call Shutdown yourself.
type Server struct {
	options Options
	journal *journal.Journal
	meta    *meta.DB
	log     *slog.Logger
	metrics *metrics
	bodies  bodyBudget
	sockets *hub
	groups  *group.Groups
	replies *replies.Replies
	// transactions are served by any process; the leader sees to what is left.
	transactions *transaction.Engine
	echo         *echo.Echo
	handler      http.Handler
	http         *http.Server

	draining atomic.Bool
	stopping chan struct{} // closed when draining begins
	stopOnce sync.Once

	mu       sync.Mutex
	listener net.Listener            // guarded by mu
	closers  []func(context.Context) // guarded by mu; see onShutdown
	stopped  chan struct{}           // closed when Shutdown has returned
}

// New makes a server; it refuses an address that others can reach unless
// Options.Insecure says that this is wanted. It opens no socket yet.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	if o.Journal == nil || o.Meta == nil {
		return nil, errors.New("gateway: Options need a Journal and a Meta")
	}
	if err := CheckListen(o.Listen, o.Insecure); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(o.AllowedOrigins, func(origin string) bool { return !validOrigin(origin) }); i >= 0 {
		return nil, fmt.Errorf("gateway: allowed origin %q: want one such as https://app.example.com", o.AllowedOrigins[i])
	}
	s := &Server{
		options:  o,
		journal:  o.Journal,
		meta:     o.Meta,
		log:      o.Log,
		metrics:  newMetrics(o.Registry),
		bodies:   bodyBudget{free: o.BodyBytes},
		stopping: make(chan struct{}),
		stopped:  make(chan struct{}),
	}
	var err error
	if s.groups, err = group.New(group.Options{Journal: o.Journal, Meta: o.Meta, FlushEvery: o.CommitInterval, Log: o.Log, Registry: o.Registry}); err != nil {
		return nil, err
	}
	s.replies = replies.New(o.Meta, s.groups.Signer, o.Registry)
	if s.transactions, err = transaction.New(transaction.Options{Journal: o.Journal, Meta: o.Meta, Log: o.Log, Registry: o.Registry}); err != nil {
		return nil, err
	}
	s.sockets = newHub(s)
	s.echo = s.newEcho()
	s.handler = http.HandlerFunc(s.serve)
	if o.Tracing {
		s.handler = otelhttp.NewHandler(s.handler, "http")
	}
	s.http = newHTTPServer(s.handler, s.log)
	return s, nil
}

// errExposed says that an address can be reached by others.
var errExposed = errors.New("others can reach it and there is no authentication: listen on 127.0.0.1, or allow it as insecure if something in front checks the callers")

// CheckListen refuses an address that is not loopback unless insecure is true.
func CheckListen(addr string, insecure bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("gateway: listen on %q: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if !insecure && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("gateway: listen on %q: %w", addr, errExposed)
	}
	return nil
}

// newHTTPServer makes a server with the limits that both listeners have. There
// is no write timeout: long polls and streams have their own deadlines.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            5 * time.Second,
		IdleTimeout:                  75 * time.Second,
		MaxHeaderBytes:               maxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// maxHeaderBytes bounds the headers of a request. net/http allows up to 8 KiB
// more, so checkHeaders counts again.
const maxHeaderBytes = 32 << 10

// Handler is everything of the public listener.
func (s *Server) Handler() http.Handler { return s.handler }

// Listen opens the socket, so that its address is known before Run.
func (s *Server) Listen(ctx context.Context) (net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", s.options.Listen)
		if err != nil {
			return nil, fmt.Errorf("gateway: %w", err)
		}
		s.listener = l
	}
	return s.listener.Addr(), nil
}

// Run serves until ctx ends or Shutdown is called. When ctx ends it shuts down
// within Options.Grace. It returns nil after an orderly stop.
func (s *Server) Run(ctx context.Context) error {
	if _, err := s.Listen(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	l := s.listener
	s.mu.Unlock()
	grouping, endGroups := context.WithCancel(context.WithoutCancel(ctx))
	var groups sync.WaitGroup
	groups.Go(func() { _ = s.groups.Run(grouping) })  // ends with grouping
	groups.Go(func() { _ = s.replies.Run(grouping) }) // likewise
	defer groups.Wait()
	defer endGroups()
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(l) }()
	select {
	case err := <-served:
		if !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("gateway: serve: %w", err)
		}
		<-s.stopped
		return nil
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Grace)
	defer cancel()
	err := s.Shutdown(grace)
	<-served
	return err
}

// onShutdown registers what closes connections that http.Server does not know
// of any more. It is called once draining has begun and must return when ctx
// ends at the latest.
func (s *Server) onShutdown(closer func(context.Context)) {
	s.mu.Lock()
	s.closers = append(s.closers, closer)
	s.mu.Unlock()
}

// Shutdown stops in this order: new work is refused with 503, waiting polls and
// streams are answered, sockets are closed, running requests end. What is left
// when three quarters of ctx's time are over is cut off, which is its error. The
// journal is drained, not closed: its owner does that next, in what remains.
func (s *Server) Shutdown(ctx context.Context) (err error) {
	s.stopOnce.Do(func() {
		defer close(s.stopped)
		if end, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end.Add(-time.Until(end)/4))
			defer cancel()
		}
		s.draining.Store(true)
		close(s.stopping)
		s.journal.Drain()
		s.groups.Drain()
		s.transactions.Drain()
		s.mu.Lock()
		closers := s.closers
		s.mu.Unlock()
		for _, closer := range closers {
			closer(ctx)
		}
		if err = s.http.Shutdown(ctx); err != nil {
			err = errors.Join(fmt.Errorf("gateway: shut down: cut off requests that did not end: %w", err), s.http.Close())
		}
		if unsaved := s.groups.Close(ctx); unsaved != nil {
			s.log.Warn("the last progress of groups is not stored: messages come again", "err", unsaved)
		}
	})
	<-s.stopped
	return err
}
