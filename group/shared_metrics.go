package group

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/meta"
)

// sharedMetrics count what shared consumption does. No label holds a name that
// users choose.
type sharedMetrics struct {
	messages  *prometheus.CounterVec // by delivery: first, again
	receipts  *prometheus.CounterVec // by verb and result
	skipped   *prometheus.CounterVec // by reason
	conflicts prometheus.Counter
	waiting   prometheus.Gauge
}

func newSharedMetrics(registry prometheus.Registerer) *sharedMetrics {
	m := &sharedMetrics{
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_shared_messages_total", Help: "Messages given to receivers in shared consumption, for the first time or again.",
		}, []string{"delivery"}),
		receipts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_shared_receipts_total", Help: "Receipts that came back, by what was to be done and what became of it.",
		}, []string{"verb", "result"}),
		skipped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_shared_skipped_total", Help: "Messages that groups passed over because they cannot be had any more.",
		}, []string{"reason"}),
		conflicts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_shared_conflicts_total", Help: "Grants that another process was faster at.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bucketmq_shared_waiting", Help: "Receives that wait for messages.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.messages, m.receipts, m.skipped, m.conflicts, m.waiting)
	}
	return m
}

func (m *sharedMetrics) received(attempt int64) {
	delivery := "first"
	if attempt > 1 {
		delivery = "again"
	}
	m.messages.WithLabelValues(delivery).Inc()
}

func (m *sharedMetrics) settled(verb meta.SharedVerb, err error) {
	result := "error"
	switch {
	case err == nil:
		result = "ok"
	case errors.Is(err, ErrReceiptInvalid):
		result = "invalid"
	case errors.Is(err, ErrReceiptExpired):
		result = "expired"
	case errors.Is(err, ErrReceiptSuperseded):
		result = "superseded"
	}
	m.receipts.WithLabelValues(string(verb), result).Inc()
}
