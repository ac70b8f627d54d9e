package gateway

import (
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

func (m *metrics) observe(operation string, status int, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
}
