package coordinator

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// lagSeries bounds the pairs of group and topic that are exported by name.
	lagSeries = 200
	// lagOther and lagAll name the sum of all others; no topic is called so.
	lagOther, lagAll = "other", "*"
)

// pair is a group that consumes a topic.
type pair struct{ group, topic string }

// lag is how far a group is behind the end of a topic.
type lag struct {
	messages int64
	unknown  int64 // queues without an offset: how much is left of them is unknown
	exceeded int64 // queues of which more is left than the group's max_lag
	since    int64 // when the oldest of the messages was stored; 0: not known
}

var (
	descLag = prometheus.NewDesc("bucketmq_consumer_lag_messages",
		"Messages between a group's offsets and the ends of a topic's queues; those of groups and topics that are not listed by name are in group other, topic *.",
		[]string{"group", "topic"}, nil)
	descLagUnknown = prometheus.NewDesc("bucketmq_consumer_lag_unknown_queues",
		"Queues of a topic that a group consumes without an offset yet: their messages are not in the lag.",
		[]string{"group", "topic"}, nil)
	descLagExceeded = prometheus.NewDesc("bucketmq_consumer_lag_exceeded_queues",
		"Queues of a topic of which more is left to a group than the max_lag of its settings.",
		[]string{"group", "topic"}, nil)
	descLagLatency = prometheus.NewDesc("bucketmq_consumer_lag_latency_milliseconds",
		"Age of the oldest message that a group has not consumed of a topic; 0 when there is none. Left out when it was not looked up.",
		[]string{"group", "topic"}, nil)
)

// lagMetrics exports the newest measurement; nothing while this process does
// not lead.
type lagMetrics struct {
	mu    sync.Mutex
	shown map[pair]lag // guarded by mu
	at    int64        // guarded by mu: when that was measured, by Redis' clock
}

// Describe names the metrics.
func (m *lagMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- descLag
	ch <- descLagUnknown
	ch <- descLagExceeded
	ch <- descLagLatency
}

// Collect gives the metrics.
func (m *lagMetrics) Collect(ch chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, l := range m.shown {
		ch <- prometheus.MustNewConstMetric(descLag, prometheus.GaugeValue, float64(l.messages), p.group, p.topic)
		ch <- prometheus.MustNewConstMetric(descLagUnknown, prometheus.GaugeValue, float64(l.unknown), p.group, p.topic)
		ch <- prometheus.MustNewConstMetric(descLagExceeded, prometheus.GaugeValue, float64(l.exceeded), p.group, p.topic)
		if age := m.at - l.since; l.messages == 0 || l.since > 0 {
			if l.messages == 0 {
				age = 0
			}
			ch <- prometheus.MustNewConstMetric(descLagLatency, prometheus.GaugeValue, float64(max(age, 0)), p.group, p.topic)
		}
	}
}

// show takes a measurement. A pair that was exported by name stays so while it
// exists; free places go to those with the most lag.
func (m *lagMetrics) show(all map[pair]lag, at int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = at
	named := slices.SortedFunc(maps.Keys(all), func(a, b pair) int {
		_, hadA := m.shown[a]
		_, hadB := m.shown[b]
		return cmp.Or(-compareBools(hadA, hadB), -cmp.Compare(all[a].messages, all[b].messages),
			cmp.Compare(a.group, b.group), cmp.Compare(a.topic, b.topic))
	})
	m.shown = make(map[pair]lag, min(len(named), lagSeries+1))
	var rest lag
	for i, p := range named {
		if i < lagSeries {
			m.shown[p] = all[p]
			continue
		}
		rest.messages += all[p].messages
		rest.unknown += all[p].unknown
		rest.exceeded += all[p].exceeded
		if since := all[p].since; since > 0 && (rest.since == 0 || since < rest.since) {
			rest.since = since
		}
	}
	if len(named) > lagSeries {
		m.shown[pair{lagOther, lagAll}] = rest
	}
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
