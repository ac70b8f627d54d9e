package meta_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
)

var feedCases = []testCase{
	{"CommitIsNoticed", commitIsNoticed},
	{"UnwatchedTopicIsSilent", unwatchedTopicIsSilent},
	{"WatchAgainRightAfterUnwatch", watchAgainRightAfterUnwatch},
	{"TopicChangesAreNoticed", topicChangesAreNoticed},
}

// startFeed runs a feed until the test ends.
func startFeed(t testing.TB, db *meta.DB) (*meta.Feed, <-chan meta.Notice) {
	t.Helper()
	notices := make(chan meta.Notice, 1000)
	f := db.NewFeed(func(n meta.Notice) { notices <- n })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("feed ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the feed does not end")
		}
	})
	return f, notices
}

// await returns the first notice that matches.
func await(t testing.TB, notices <-chan meta.Notice, what string, match func(meta.Notice) bool) meta.Notice {
	t.Helper()
	ctx := within(t, 20*time.Second)
	for {
		select {
		case n := <-notices:
			if match(n) {
				return n
			}
		case <-ctx.Done():
			t.Fatalf("never noticed: %s", what)
		}
	}
}

func of(topic meta.Topic) func(meta.Notice) bool {
	return func(n meta.Notice) bool { return n.Topic == topic.ID }
}

func lost(n meta.Notice) bool { return n.Lost }

func commitIsNoticed(t *testing.T, e engine) {
	f, notices := startFeed(t, e.db)
	topic := newTopic(t, e.db, 3)
	check(t, f.Watch(within(t, 10*time.Second), topic.ID))
	res := mustCommit(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {2}, 2: {3, 4}}))
	n := await(t, notices, "the commit", of(topic))
	equal(t, "notice", n, meta.Notice{Topic: topic.ID, Epoch: 1, Entries: res.Entries})
}

func unwatchedTopicIsSilent(t *testing.T, e engine) {
	f, notices := startFeed(t, e.db)
	quiet, loud := newTopic(t, e.db, 1), newTopic(t, e.db, 1)
	ctx := within(t, 20*time.Second)
	check(t, f.Watch(ctx, quiet.ID))
	check(t, f.Watch(ctx, quiet.ID))
	f.Unwatch(quiet.ID)
	w := uuid.New()
	mustCommit(t, e.db, commitTo(quiet, w, 1, map[uint32][]uint32{0: {1}}))
	await(t, notices, "the commit that one watch is left for", of(quiet))
	f.Unwatch(quiet.ID)
	check(t, f.Watch(ctx, loud.ID)) // its confirmation comes after the unsubscription
	mustCommit(t, e.db, commitTo(quiet, w, 2, map[uint32][]uint32{0: {1}}))
	mustCommit(t, e.db, commitTo(loud, w, 1, map[uint32][]uint32{0: {1}}))
	n := await(t, notices, "the watched topic", func(n meta.Notice) bool { return n.Entries != nil })
	if n.Topic != loud.ID {
		t.Error("a topic that nobody watches was noticed")
	}
}

func watchAgainRightAfterUnwatch(t *testing.T, e engine) {
	f, notices := startFeed(t, e.db)
	topic := newTopic(t, e.db, 1)
	ctx, w := within(t, 20*time.Second), uuid.New()
	for seq := uint64(1); seq <= 30; seq++ {
		check(t, f.Watch(ctx, topic.ID))
		mustCommit(t, e.db, commitTo(topic, w, seq, map[uint32][]uint32{0: {1}}))
		n := await(t, notices, "a commit after Watch has returned", of(topic))
		equal(t, "its offset", n.Entries[0].First(), seq-1)
		f.Unwatch(topic.ID)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Watch(canceled, uuid.New()); !errors.Is(err, context.Canceled) {
		t.Errorf("watch under an ended context: got %v", err)
	}
}

func topicChangesAreNoticed(t *testing.T, e engine) {
	f, notices := startFeed(t, e.db)
	check(t, f.Watch(within(t, 10*time.Second), uuid.New())) // subscribed from here on
	topic := newTopic(t, e.db, 1)
	named := func(n meta.Notice) bool { return n.TopicChanged == topic.Name }
	await(t, notices, "creation", named)
	_, err := e.db.UpdateTopic(t.Context(), topic, 0)
	check(t, err)
	await(t, notices, "update", named)
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1}))
	await(t, notices, "restore", named)
	_, err = e.db.DeleteTopic(t.Context(), topic.Name, 0)
	check(t, err)
	await(t, notices, "deletion", named)
}

func TestFeedSurvivesRedis(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	db := open(t, server.Options())
	makeReady(t, db)
	f, notices := startFeed(t, db)
	topic := newTopic(t, db, 1)
	ctx, w := within(t, 60*time.Second), uuid.New()
	check(t, f.Watch(ctx, topic.ID))
	seq := uint64(0)
	works := func(after string) {
		t.Helper()
		seq++
		mustCommit(t, db, commitTo(topic, w, seq, map[uint32][]uint32{0: {1}}))
		await(t, notices, "a commit after "+after, of(topic))
	}
	works("the start")

	check(t, server.Client().Do(ctx, "CLIENT", "KILL", "TYPE", "pubsub").Err())
	await(t, notices, "the cut connection", lost)
	works("CLIENT KILL")

	server.Kill()
	server.Start()
	await(t, notices, "the restart", lost)
	makeReady(t, db)
	check(t, db.RestoreTopic(ctx, meta.TopicSnapshot{Topic: topic, Term: 1}))
	works("a restart")

	other := newTopic(t, db, 1)
	server.Stop()
	watched := make(chan error, 1)
	go func() { watched <- f.Watch(ctx, other.ID) }()
	server.Start()
	check(t, <-watched)
	await(t, notices, "the second restart", lost)
}

func TestFeedLeavesASilentConnection(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	db := open(t, server.Options())
	makeReady(t, db)
	proxy := newProxy(t, server.Addr())
	through := open(t, meta.Options{Addrs: []string{proxy.addr()}})
	f, notices := startFeed(t, through)
	topic := newTopic(t, db, 1)
	ctx := within(t, 60*time.Second)
	check(t, f.Watch(ctx, topic.ID))
	proxy.freeze() // packets vanish, nothing is closed
	await(t, notices, "the silent connection", lost)
	mustCommit(t, db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {1}}))
	await(t, notices, "a commit after that", of(topic))
}
