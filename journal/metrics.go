package journal

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel"
)

// tracer makes the spans of work that several requests share.
var tracer = otel.Tracer("github.com/bucketmq/bucketmq/journal")

// metrics are the write path's. Every label has a fixed set of values.
type metrics struct {
	requests *prometheus.CounterVec // outcome
	messages prometheus.Counter
	bytes    prometheus.Counter
	latency  prometheus.Histogram

	flushes     *prometheus.CounterVec // reason
	flushBytes  prometheus.Histogram
	putSeconds  *prometheus.HistogramVec // result
	commits     *prometheus.CounterVec   // result
	commitTime  prometheus.Histogram
	buffered    prometheus.Gauge
	undecided   prometheus.Gauge
	burnt       prometheus.Counter
	receipts    prometheus.Gauge
	recoveries  prometheus.Counter
	recovering  prometheus.Gauge
	heartbeatAt prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) *metrics {
	f := promauto.With(registry)
	seconds := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Namespace: "bucketmq", Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Namespace: "bucketmq", Name: name, Help: help})
	}
	histogram := func(name, help string, buckets []float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "bucketmq", Name: name, Help: help, Buckets: buckets}
	}
	return &metrics{
		requests: f.NewCounterVec(prometheus.CounterOpts{
			Namespace: "bucketmq", Name: "produce_requests_total", Help: "Produce requests by outcome."}, []string{"outcome"}),
		messages: counter("produce_messages_total", "Messages of successful produce requests."),
		bytes:    counter("produce_bytes_total", "Encoded bytes of successful produce requests."),
		latency:  f.NewHistogram(histogram("produce_seconds", "From an append to its answer.", seconds)),

		flushes: f.NewCounterVec(prometheus.CounterOpts{
			Namespace: "bucketmq", Name: "flush_total", Help: "Segments sealed, by reason."}, []string{"reason"}),
		flushBytes: f.NewHistogram(histogram("flush_bytes", "Size of sealed segments.", prometheus.ExponentialBuckets(1024, 4, 8))),
		putSeconds: f.NewHistogramVec(histogram("segment_put_seconds", "PUT of a segment, retries included.", seconds), []string{"result"}),
		commits: f.NewCounterVec(prometheus.CounterOpts{
			Namespace: "bucketmq", Name: "commit_total", Help: "Commits of one topic of one segment, by result."}, []string{"result"}),
		commitTime:  f.NewHistogram(histogram("commit_seconds", "One pipeline of commits.", seconds)),
		buffered:    gauge("buffer_bytes", "Memory of appends that are not decided yet."),
		undecided:   gauge("segments_undecided", "Sealed segments whose commits are not decided yet."),
		burnt:       counter("segments_burnt_total", "Segments given up while their PUT might still succeed."),
		receipts:    gauge("receipts_pending", "Receipts of commits that are not in the bucket yet."),
		recoveries:  counter("recoveries_total", "Times this process found Redis to have lost data."),
		recovering:  gauge("recovering", "1 while Redis is being rebuilt from the bucket."),
		heartbeatAt: gauge("heartbeat_timestamp_seconds", "When the writer's last heartbeat reached Redis."),
	}
}

func (m *metrics) produced(p *Pending) {
	outcome := "stored"
	switch {
	case p.ack == None:
		outcome = "buffered"
	case p.draft.duplicate:
		outcome = "duplicate"
	}
	m.requests.WithLabelValues(outcome).Inc()
	m.messages.Add(float64(p.count))
	m.bytes.Add(float64(p.size))
	m.latency.Observe(time.Since(p.began).Seconds())
}

// refusals name the outcomes of requests that failed; the first match counts.
var refusals = []struct {
	err     error
	outcome string
}{
	{ErrOutcomeUnknown, "unknown"},
	{ErrBufferFull, "buffer_full"},
	{ErrRecovering, "recovering"},
	{ErrDraining, "draining"},
	{ErrUnavailable, "unavailable"},
	{ErrTopicNotFound, "topic_not_found"},
	{ErrKeyInFlight, "key_in_flight"},
	{ErrKeyReused, "key_reused"},
}

func (m *metrics) produceRefused(err error) {
	outcome := "refused"
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			outcome = r.outcome
			break
		}
	}
	m.requests.WithLabelValues(outcome).Inc()
}
