package coordinator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/meta"
)

func TestTheLeaderExportsTheLagOfEveryGroup(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("measured", 2)
	gone := s.makeTopic("gone", 1)
	s.fill(topic, 0, 2) // before the group: no lag
	c := s.crowd(meta.Group{})
	m := c.join("c0", time.Minute, topic, gone)
	m.live()
	registry := prometheus.NewRegistry()
	stop := s.lead(s.db, func(o *coordinator.Options) { o.LagEvery, o.Registry = 20*time.Millisecond, registry })
	epoch := ownerOf(t, c.becomes("map[c0:3]"), topic, 0).Epoch
	s.fill(topic, 0, 5)
	s.fill(topic, 1, 7)
	s.fill(gone, 0, 1)
	if status, err := m.commit(topic, 0, 4, epoch); err != nil || status != meta.OffsetStored {
		t.Fatalf("commit: %q, %v", status, err)
	}
	if _, err := s.journal.DeleteTopic(t.Context(), gone.Name, 0); err != nil {
		t.Fatal(err)
	}
	shows := func(lines string) {
		t.Helper()
		want := `
# HELP bucketmq_consumer_lag_messages Messages between a group's offsets and the ends of a topic's queues; those of groups and topics that are not listed by name are in group other, topic *.
# TYPE bucketmq_consumer_lag_messages gauge
` + lines
		eventually(t, func() string {
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "bucketmq_consumer_lag_messages"); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	shows(`bucketmq_consumer_lag_messages{group="` + c.group.Name + `",topic="measured"} 10` + "\n")
	eventually(t, func() string {
		n, err := testutil.GatherAndCount(registry, "bucketmq_consumer_lag_latency_milliseconds")
		if err != nil || n != 1 {
			return "no lag in time is exported"
		}
		return ""
	})
	if _, err := s.db.PutGroupSettings(t.Context(), c.group.ID, meta.Settings{Topic: topic.ID, MaxLag: 6}, 0); err != nil {
		t.Fatal(err)
	}
	want := `
# HELP bucketmq_consumer_lag_exceeded_queues Queues of a topic of which more is left to a group than the max_lag of its settings.
# TYPE bucketmq_consumer_lag_exceeded_queues gauge
bucketmq_consumer_lag_exceeded_queues{group="` + c.group.Name + `",topic="measured"} 1
`
	eventually(t, func() string { // 3 are left of queue 0 and 7 of queue 1
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "bucketmq_consumer_lag_exceeded_queues"); err != nil {
			return err.Error()
		}
		return ""
	})
	stop()
	if n, err := testutil.GatherAndCount(registry, "bucketmq_consumer_lag_messages"); err != nil || n != 0 {
		t.Errorf("who does not lead exports %d series, %v", n, err)
	}
}
