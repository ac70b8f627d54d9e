package journal

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// readMetrics count what the read path does.
type readMetrics struct {
	gets     *prometheus.CounterVec // by outcome
	getTime  prometheus.Histogram
	bytes    prometheus.Counter
	hits     prometheus.Counter
	damaged  prometheus.Counter
	lost     *prometheus.CounterVec // by reason
	lookups  prometheus.Counter
	wakeups  prometheus.Counter
	waiting  prometheus.Gauge
	rechecks *prometheus.CounterVec // by outcome
}

func newReadMetrics(registry prometheus.Registerer) *readMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "bucketmq", Subsystem: "read", Name: name, Help: help})
	}
	vector := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "bucketmq", Subsystem: "read", Name: name, Help: help}, []string{label})
	}
	m := &readMetrics{
		gets: vector("gets_total", "Requests for segments, by outcome.", "outcome"),
		getTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "bucketmq", Subsystem: "read", Name: "get_seconds", Help: "Time of a request for a segment.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		bytes:   counter("bytes_total", "Bytes of segments fetched from the store."),
		hits:    counter("cache_hits_total", "Segments served from memory."),
		damaged: counter("damaged_fetches_total", "Segments fetched again because a block of them was damaged."),
		lost:    vector("lost_ranges_total", "Reads that found messages damaged or their object missing. Each is an alarm.", "reason"),
		lookups: counter("index_lookups_total", "Look-ups in the index of a queue."),
		wakeups: counter("wakeups_total", "Waiting readers woken by news."),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "bucketmq", Subsystem: "read", Name: "waiting", Help: "Readers that wait for messages now.",
		}),
		rechecks: vector("rechecks_total", "Periodic look-ups for waiting readers, by outcome: missed = a notice was lost.", "outcome"),
	}
	if registry != nil {
		registry.MustRegister(m.gets, m.getTime, m.bytes, m.hits, m.damaged, m.lost, m.lookups, m.wakeups, m.waiting, m.rechecks)
	}
	return m
}

func (m *readMetrics) fetched(n int, took time.Duration, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "error"
	}
	m.gets.WithLabelValues(outcome).Inc()
	m.getTime.Observe(took.Seconds())
	m.bytes.Add(float64(n))
}
