package coordinator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestLagIsExportedForABoundedNumberOfPairs(t *testing.T) {
	var m lagMetrics
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&m)
	all := map[pair]lag{}
	for i := range lagSeries + 50 {
		all[pair{fmt.Sprintf("g%03d", i), "t"}] = lag{messages: int64(1000 + i), unknown: 1, since: int64(5000 + i)}
	}
	m.show(all, 10_000)
	const name = "bucketmq_consumer_lag_messages"
	if n, err := testutil.GatherAndCount(registry, name); err != nil || n != lagSeries+1 {
		t.Errorf("%d series, %v; want %d", n, err, lagSeries+1)
	}
	if m.shown[pair{"other", "*"}] != (lag{messages: 50*1000 + 49*25, unknown: 50, since: 5000}) {
		t.Errorf("others: %+v", m.shown[pair{"other", "*"}])
	}
	if _, named := m.shown[pair{"g049", "t"}]; named {
		t.Error("a small lag has a name of its own, a greater one has none")
	}

	// The names stay, whatever the lag becomes.
	for p, l := range all {
		l.messages = 5000 - l.messages
		all[p] = l
	}
	delete(all, pair{"g249", "t"})
	m.show(all, 10_000)
	for _, group := range []string{"g050", "g248", "g000"} { // g000 now has the most of those without a name
		if _, named := m.shown[pair{group, "t"}]; !named {
			t.Errorf("%s has lost its name", group)
		}
	}
	m.show(nil, 0)
	if n, err := testutil.GatherAndCount(registry, name); err != nil || n != 0 {
		t.Errorf("nothing to show: %d series, %v", n, err)
	}
}

func TestLagInTimeIsLeftOutWhenItIsNotKnown(t *testing.T) {
	var m lagMetrics
	m.show(map[pair]lag{
		{"behind", "t"}:  {messages: 3, since: 4000},
		{"done", "t"}:    {},
		{"unknown", "t"}: {messages: 3},
	}, 10_000)
	want := `
# HELP bucketmq_consumer_lag_latency_milliseconds Age of the oldest message that a group has not consumed of a topic; 0 when there is none. Left out when it was not looked up.
# TYPE bucketmq_consumer_lag_latency_milliseconds gauge
bucketmq_consumer_lag_latency_milliseconds{group="behind",topic="t"} 6000
bucketmq_consumer_lag_latency_milliseconds{group="done",topic="t"} 0
`
	if err := testutil.CollectAndCompare(&m, strings.NewReader(want), "bucketmq_consumer_lag_latency_milliseconds"); err != nil {
		t.Error(err)
	}
}
