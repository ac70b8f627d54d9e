package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// The leader's process is stopped for three leases. When it goes on, another one
// leads, and it changes nothing.
func TestALeaderStoppedForThreeLeasesChangesNothing(t *testing.T) {
	const lease = time.Second
	redis, s3 := redistest.New(t), s3test.New(t)
	env := []string{
		"BUCKETMQ_REDIS=redis://" + redis.Addr(), "BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket,
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey, "BUCKETMQ_LEADER_LEASE=" + lease.String(),
	}
	start := func() *bench.Child {
		c, err := bench.Start(t.Context(), binary, env, "coordinator", "--management-listen", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Kill)
		return c
	}
	first := start()
	db, err := meta.Open(t.Context(), redis.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	g := newWatchedGroup(t, db)
	g.join("c0")
	before := g.waitFor("map[c0:4]")

	stopped := time.Now()
	if err := first.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	g.join("c1") // of which the stopped one will read when it goes on
	second := start()
	g.waitFor("map[c0:2 c1:2]")
	g.join("c2")
	state := g.waitFor("map[c0:2 c1:1 c2:1]")
	waitFor(t, "three leases to pass", func() bool { return time.Since(stopped) > 3*lease })
	_, term, held, err := db.LeaseHolder(t.Context(), coordinator.LeaseName)
	if err != nil || !held || state.Term != term || term <= before.Term {
		t.Fatalf("term %d, then %d of the lease and %d of the group; held %v, %v", before.Term, term, state.Term, held, err)
	}

	if err := first.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the first to see that it leads no more", func() bool {
		return strings.Contains(metrics(t, first), "\nbucketmq_coordinator_leads 0\n")
	})
	if !strings.Contains(metrics(t, second), "\nbucketmq_coordinator_leads 1\n") {
		t.Error("the second does not lead any more")
	}
	after := g.state()
	if after.Generation != state.Generation || after.Term != term || fmt.Sprint(after.Assignments) != fmt.Sprint(state.Assignments) {
		t.Errorf("generation %d, term %d, %v; before it went on: %d, %d, %v",
			after.Generation, after.Term, after.Assignments, state.Generation, term, state.Assignments)
	}
	g.join("c3")
	g.waitFor("map[c0:1 c1:1 c2:1 c3:1]") // the second goes on
}

// watchedGroup is a group that consumes a topic of four queues.
type watchedGroup struct {
	t     *testing.T
	db    *meta.DB
	topic meta.Topic
	group meta.Group
}

func newWatchedGroup(t *testing.T, db *meta.DB) *watchedGroup {
	t.Helper()
	topic, err := db.CreateTopic(t.Context(), meta.Topic{Name: "watched", Type: meta.TopicNormal, Queues: 4})
	if err != nil {
		t.Fatal(err)
	}
	// Nobody here gives a queue back: it changes hands when its time is up.
	group, err := db.CreateGroup(t.Context(), meta.Group{Name: "watchers", Mode: meta.ModeClustering, RevokeTimeoutMS: 100})
	if err != nil {
		t.Fatal(err)
	}
	return &watchedGroup{t, db, topic, group}
}

func (g *watchedGroup) join(client string) {
	g.t.Helper()
	subscription := meta.Subscription{Topic: g.topic.Name, TopicID: g.topic.ID}
	request := meta.JoinRequest{Group: g.group.ID, Timeout: time.Minute, Member: meta.Member{
		ClientID: client, Kind: meta.KindQueue, Key: uuid.NewString(), Subscriptions: []meta.Subscription{subscription},
	}}
	for q := range g.topic.Queues {
		request.Starts = append(request.Starts, meta.OffsetStart{Topic: g.topic.ID, Queue: q})
	}
	if _, err := g.db.Join(g.t.Context(), request); err != nil {
		g.t.Fatal(err)
	}
}

func (g *watchedGroup) state() meta.GroupState {
	g.t.Helper()
	state, err := g.db.GroupState(g.t.Context(), g.group.ID)
	if err != nil {
		g.t.Fatal(err)
	}
	return state
}

// waitFor waits until the clients own as many queues as it says.
func (g *watchedGroup) waitFor(want string) (state meta.GroupState) {
	g.t.Helper()
	waitFor(g.t, "assignment "+want, func() bool {
		state = g.state()
		clients, counts := map[string]string{}, map[string]int{}
		for _, m := range state.Members {
			clients[m.ID] = m.ClientID
		}
		for _, a := range state.Assignments {
			if a.State == meta.StateOwned {
				counts[clients[a.Owner]]++
			}
		}
		return fmt.Sprint(counts) == want
	})
	return state
}
