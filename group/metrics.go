package group

import "github.com/prometheus/client_golang/prometheus"

// metrics count what members that own queues do. No label holds a name that
// users choose.
type metrics struct {
	joins    *prometheus.CounterVec // by kind and what it came to: new, again
	commits  *prometheus.CounterVec // by status
	messages *prometheus.CounterVec // by way: poll, push
	nacked   *prometheus.CounterVec // by kind of member
	skipped  *prometheus.CounterVec // by reason
	waiting  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer, pending func() float64) *metrics {
	m := &metrics{
		joins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_group_joins_total", Help: "Members that joined groups, by kind, and whether it was the same member again.",
		}, []string{"kind", "result"}),
		commits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_group_commits_total", Help: "Offset commits of one queue that reached Redis, by what they came to.",
		}, []string{"status"}),
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_group_messages_total", Help: "Messages given to members that own queues, by way.",
		}, []string{"way"}),
		nacked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_group_nacked_total", Help: "Pushed messages that clients gave back, by kind of member.",
		}, []string{"kind"}),
		skipped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_group_skipped_total", Help: "Times that members were led past messages that cannot be had any more, by reason.",
		}, []string{"reason"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bucketmq_group_waiting", Help: "Polls and heartbeats that wait.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.joins, m.commits, m.messages, m.nacked, m.skipped, m.waiting, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "bucketmq_group_commits_pending", Help: "Merged commits that are not stored yet.",
		}, pending))
	}
	return m
}

func (m *metrics) joined(kind string, again bool) {
	result := "new"
	if again {
		result = "again"
	}
	m.joins.WithLabelValues(kind, result).Inc()
}

func (m *metrics) committed(status string) { m.commits.WithLabelValues(status).Inc() }
