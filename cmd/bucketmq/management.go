package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/objstore"
)

// management is the listener for operators: health, metrics and profiles. It is
// up before anything else and down after everything else, so that a long
// recovery or a slow stop can be watched.
type management struct {
	registry *prometheus.Registry
	log      *slog.Logger
	handler  atomic.Pointer[http.Handler]
	server   *http.Server // nil without an address
	listener net.Listener
	done     chan struct{}
}

// startManagement serves on addr; with an empty addr nothing listens.
func startManagement(addr string, registry *prometheus.Registry, log *slog.Logger) (*management, error) {
	m := &management{registry: registry, log: log, done: make(chan struct{})}
	if addr == "" {
		close(m.done)
		return m, nil
	}
	var err error
	if m.listener, err = net.Listen("tcp", addr); err != nil {
		return nil, fmt.Errorf("management listener: %w", err)
	}
	m.unready()
	m.server = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*m.handler.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       75 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go func() {
		defer close(m.done)
		if err := m.server.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("management listener", "err", err)
		}
	}()
	return m, nil
}

// ready says that requests are welcome while every check passes.
func (m *management) ready(checks ...gateway.Check) {
	h := gateway.Management(m.registry, m.log, checks...)
	m.handler.Store(&h)
}

// unready says that the process starts or stops.
func (m *management) unready() {
	m.ready(gateway.Check{Name: "serving", Ask: func(context.Context) error {
		return errors.New("starting or stopping")
	}})
}

// url is where the listener is, empty without one.
func (m *management) url() string {
	if m.listener == nil {
		return ""
	}
	return "http://" + m.listener.Addr().String()
}

// stop ends the listener.
func (m *management) stop(ctx context.Context) error {
	if m.server == nil {
		return nil
	}
	err := m.server.Shutdown(ctx)
	<-m.done
	return err
}

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bucketmq_build_info", Help: "1; its label says what runs.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	r.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

var (
	storeRequests = prometheus.NewDesc("bucketmq_store_requests_total",
		"Requests sent to the object store, retries included.", []string{"verb"}, nil)
	storeBytes = prometheus.NewDesc("bucketmq_store_bytes_total",
		"Object bytes sent to and received from the object store.", []string{"direction"}, nil)
)

// storeCollector exports what the object store counts.
type storeCollector struct{ store objstore.Metered }

var _ prometheus.Collector = storeCollector{}

// Describe lists the two metrics.
func (storeCollector) Describe(out chan<- *prometheus.Desc) {
	out <- storeRequests
	out <- storeBytes
}

// Collect reads the store's counters.
func (c storeCollector) Collect(out chan<- prometheus.Metric) {
	for verb, n := range c.store.Requests() {
		out <- prometheus.MustNewConstMetric(storeRequests, prometheus.CounterValue, float64(n), verb)
	}
	sent, received := c.store.Bytes()
	out <- prometheus.MustNewConstMetric(storeBytes, prometheus.CounterValue, float64(sent), "sent")
	out <- prometheus.MustNewConstMetric(storeBytes, prometheus.CounterValue, float64(received), "received")
}

// bindingKey is the object that ties a bucket to its Redis.
const bindingKey = "bucketmq.json"

// probeEvery is how long an answer of the store counts: readiness is asked for
// often, and requests cost money.
const probeEvery = 30 * time.Second

// storeProbe returns a check that reads one byte of an object that is always
// there once a journal was opened.
func storeProbe(s objstore.Store) func(context.Context) error {
	var mu sync.Mutex
	var good time.Time // guarded by mu: when the store last worked
	return func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(good) < probeEvery {
			return nil
		}
		if _, err := s.Get(ctx, bindingKey, 0, 1); err != nil {
			return err
		}
		good = time.Now()
		return nil
	}
}
