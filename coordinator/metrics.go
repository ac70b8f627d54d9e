package coordinator

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	leads             prometheus.Gauge
	failures          prometheus.Counter
	commits, messages prometheus.Counter

	rebalances, expired, strategyFailures prometheus.Counter
	rebalanceSeconds                      prometheus.Histogram
	timersFired                           prometheus.Counter
	timersLate                            prometheus.Histogram
	timersWaiting                         prometheus.Gauge
	lag                                   lagMetrics

	transactionsUndecided                    prometheus.Gauge
	transactionsExpired, transactionsSettled prometheus.Counter
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
		rebalances: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_coordinator_rebalances_total", Help: "Assignments of groups that were changed.",
		}),
		rebalanceSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "bucketmq_coordinator_rebalance_seconds", Help: "Time from reading a group's state to having written its new assignment.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 7),
		}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_coordinator_expired_members_total", Help: "Members that were silent for too long.",
		}),
		strategyFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_coordinator_strategy_failures_total", Help: "Topics of groups that were left as they were because the strategy failed.",
		}),
	}
	m.timersFired = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "bucketmq_coordinator_timers_fired_total", Help: "Delayed messages that became readable.",
	})
	m.timersLate = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "bucketmq_coordinator_timer_lateness_seconds", Help: "Time from when a delayed message was due to when it became readable.",
		Buckets: []float64{0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5, 30},
	})
	m.timersWaiting = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bucketmq_coordinator_timers_waiting", Help: "Delayed messages that were put down, at the last look at all topics.",
	})
	m.transactionsUndecided = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bucketmq_coordinator_transactions_undecided", Help: "Transactions that are undecided, or decided and not settled, at the last look.",
	})
	m.transactionsExpired = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "bucketmq_coordinator_transactions_expired_total", Help: "Transactions that nobody decided in time.",
	})
	m.transactionsSettled = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "bucketmq_coordinator_transactions_settled_total", Help: "Decisions that were seen through because their process did not.",
	})
	if registry != nil {
		registry.MustRegister(m.transactionsUndecided, m.transactionsExpired, m.transactionsSettled)
		registry.MustRegister(m.leads, m.failures, m.commits, m.messages,
			m.rebalances, m.rebalanceSeconds, m.expired, m.strategyFailures,
			m.timersFired, m.timersLate, m.timersWaiting, &m.lag)
	}
	return m
}
