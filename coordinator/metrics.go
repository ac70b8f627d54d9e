package coordinator

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	leads             prometheus.Gauge
	failures          prometheus.Counter
	commits, messages prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		leads: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bucketmq_coordinator_leads", Help: "1 while this process is the leader.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_coordinator_round_failures_total", Help: "Rounds of background work that ended with an error.",
		}),
		commits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_coordinator_adopted_commits_total", Help: "Commits made on behalf of dead writers.",
		}),
		messages: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_coordinator_adopted_messages_total", Help: "Messages that became readable by adoption.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.leads, m.failures, m.commits, m.messages)
	}
	return m
}
