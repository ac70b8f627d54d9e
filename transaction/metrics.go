package transaction

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are those of this process. The label has a fixed set of values.
type metrics struct {
	transactions     *prometheus.CounterVec // outcome: begun, failed, committed, rolled_back, expired
	checks, returned prometheus.Counter
	producers        prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) *metrics {
	f := promauto.With(registry)
	return &metrics{
		transactions: f.NewCounterVec(prometheus.CounterOpts{
			Namespace: "bucketmq", Name: "transactions_total", Help: "Transactions that this process began or decided, by outcome."}, []string{"outcome"}),
		checks:    f.NewCounter(prometheus.CounterOpts{Namespace: "bucketmq", Name: "transaction_checks_total", Help: "Checks that were handed to a live producer."}),
		returned:  f.NewCounter(prometheus.CounterOpts{Namespace: "bucketmq", Name: "transaction_checks_returned_total", Help: "Checks that did not reach their producer and do not count."}),
		producers: f.NewGauge(prometheus.GaugeOpts{Namespace: "bucketmq", Name: "transaction_producers_waiting", Help: "Producers that wait for checks at this process."}),
	}
}
