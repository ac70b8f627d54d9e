package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests by operation. Operations come from openapi.yaml, so
// a caller cannot make up label values.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_http_requests_total", Help: "Requests by operation and status.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bucketmq_http_request_seconds", Help: "Time to the end of the answer, long polls included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16),
		}, []string{"operation"}),
	}
	if registry != nil {
		registry.MustRegister(m.requests, m.seconds)
	}
	return m
}

// series are the metrics of one operation, looked up once.
type series struct {
	metrics   *metrics
	operation string
	ok        prometheus.Counter // of status 200
	seconds   prometheus.Observer
}

func (m *metrics) of(operation string) *series {
	return &series{m, operation, m.requests.WithLabelValues(operation, "200"), m.seconds.WithLabelValues(operation)}
}

func (s *series) observe(status int, took time.Duration) {
	if status == http.StatusOK {
		s.ok.Inc()
	} else {
		s.metrics.requests.WithLabelValues(s.operation, strconv.Itoa(status)).Inc()
	}
	s.seconds.Observe(took.Seconds())
}
