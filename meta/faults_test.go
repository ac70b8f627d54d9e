package meta_test

import (
	"context"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
)

func TestLostReplyIsAnsweredByTheReceipt(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	proxy := newProxy(t, server.Addr())
	db := open(t, meta.Options{Addrs: []string{proxy.addr()}})
	makeReady(t, db)
	topic, w := newTopic(t, db, 1), uuid.New()
	mustCommit(t, db, commitTo(topic, w, 1, map[uint32][]uint32{0: {3}})) // opens the connection
	c := requestCommit(topic, w, 2, keyRequest("k", "b"))
	proxy.dropReplies(1)
	res := commitOne(t, db, c)
	if res.Err == nil || proxy.dropped.Load() != 1 {
		t.Fatalf("lost reply: got %+v after %d lost replies", res, proxy.dropped.Load())
	}
	again := mustCommit(t, db, c)
	if !again.Repeated {
		t.Error("the retry was executed a second time")
	}
	equal(t, "offsets", again.Firsts, [][]int64{{3}})
	equal(t, "request", again.Requests[0].Status, meta.RequestStored)
	states, err := db.Queues(t.Context(), topic)
	check(t, err)
	equal(t, "end of the queue", states[0].Next, 5)
}

func TestLostReplyInAClusterIsAnsweredByTheReceipt(t *testing.T) {
	t.Parallel()
	cluster := redistest.NewCluster(t)
	db := open(t, cluster.Options())
	makeReady(t, db)
	var commits []meta.Commit
	w := uuid.New()
	for range 40 { // so that every node has some
		commits = append(commits, commitTo(newTopic(t, db, 1), w, 1, map[uint32][]uint32{0: {3}}))
	}
	resume := cluster.Nodes[1].Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	first := db.Commit(ctx, commits)
	resume()
	unknown := 0
	for _, res := range first {
		if res.Err != nil {
			unknown++
		}
	}
	if unknown == 0 {
		t.Fatal("no commit went to the paused node")
	}
	for i := range commits {
		equal(t, "offsets", mustCommit(t, db, commits[i]).Firsts, [][]int64{{0}})
	}
}

func TestCommitSurvivesScriptFlush(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	db := open(t, server.Options())
	makeReady(t, db)
	w := uuid.New()
	var commits []meta.Commit
	for range 5 {
		topic := newTopic(t, db, 1)
		commits = append(commits, commitTo(topic, w, 1, map[uint32][]uint32{0: {2}}), commitTo(topic, w, 2, map[uint32][]uint32{0: {3}}))
	}
	check(t, server.Client().ScriptFlush(t.Context()).Err())
	for i, res := range db.Commit(t.Context(), commits) {
		if res.Err != nil || res.Repeated {
			t.Fatalf("commit %d after SCRIPT FLUSH: %+v", i, res)
		}
		equal(t, "offsets", res.Firsts, [][]int64{{int64(i % 2 * 2)}})
	}
}

func TestEvictionIsRefused(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, "--maxmemory-policy", "allkeys-lru")
	if db, err := meta.Open(t.Context(), server.Options()); !errors.Is(err, meta.ErrEviction) {
		t.Errorf("allkeys-lru: got %v, %v, want ErrEviction", db, err)
	}
	cluster := redistest.NewCluster(t)
	check(t, cluster.Nodes[2].Client().ConfigSet(t.Context(), "maxmemory-policy", "volatile-lru").Err())
	if _, err := meta.Open(t.Context(), cluster.Options()); !errors.Is(err, meta.ErrEviction) {
		t.Errorf("volatile-lru on one node of a cluster: got %v, want ErrEviction", err)
	}
}

// An old script runs on above maxmemory once it has written something.
func TestFullRedisRefusesAWholeCommit(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	db := open(t, server.Options())
	makeReady(t, db)
	topic, w := newTopic(t, db, 2), uuid.New()
	c := commitTo(topic, w, 1, map[uint32][]uint32{0: {2}, 1: {1}})
	client := server.Client()
	check(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	if res := commitOne(t, db, c); res.Err == nil {
		t.Fatal("a full Redis took a commit")
	}
	check(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	states, err := db.Queues(t.Context(), topic)
	check(t, err)
	equal(t, "queues after the refusal", states, []meta.QueueState{{Queue: 0}, {Queue: 1}})
	if res := mustCommit(t, db, c); res.Repeated {
		t.Error("the refused commit left a receipt")
	}
}

// Keys of the wrong type stand for anything unexpected in Redis.
func TestSpoiledKeysRefuseAWholeCommit(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	db := open(t, server.Options())
	makeReady(t, db)
	client := server.Client()
	for _, key := range []string{"writers", "hot:1", "r:", "i:"} {
		topic, w := newTopic(t, db, 2), uuid.New()
		c := requestCommit(topic, w, 1, keyRequest("k", "b"))
		c.Queues = append(c.Queues, meta.QueueCommit{Queue: 1, Chunks: []meta.CommitChunk{{Count: 1, Length: 9, Request: -1}}})
		spoiled := "{t:" + topic.ID.String() + "}:" + key
		switch key {
		case "r:":
			spoiled += w.String()
		case "i:":
			id := half("k")
			spoiled += hex.EncodeToString(id[:])
		}
		check(t, client.SAdd(t.Context(), spoiled, "spoiled").Err())
		if res := commitOne(t, db, c); res.Err == nil {
			t.Errorf("%s spoiled: the commit was applied", key)
		}
		check(t, client.Del(t.Context(), spoiled).Err())
		res := mustCommit(t, db, c)
		if res.Repeated || res.Firsts[0][0] != 0 || res.Firsts[1][0] != 0 {
			t.Errorf("%s spoiled: the refused commit left something: %+v", key, res)
		}
	}
	topic, w := newTopic(t, db, 1), uuid.New()
	mustCommit(t, db, commitTo(topic, w, 1, map[uint32][]uint32{0: {4}}))
	check(t, client.Del(t.Context(), "{t:"+topic.ID.String()+"}:hot:0").Err())
	if res := commitOne(t, db, commitTo(topic, w, 2, map[uint32][]uint32{0: {4}})); !errors.Is(res.Err, meta.ErrCorrupt) {
		t.Errorf("lost index: got %v, want ErrCorrupt", res.Err)
	}
}

func TestCreateRepairsAHalfCreatedTopic(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	db := open(t, server.Options())
	makeReady(t, db)
	client := server.Client()
	lone := uuid.New() // a name was claimed, then the creator died
	check(t, client.HSet(t.Context(), "{bmq}:topics", "half", lone.String()).Err())
	if _, err := db.Topic(t.Context(), "half"); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("half created: got %v", err)
	}
	made, err := db.CreateTopic(t.Context(), meta.Topic{Name: "half", Queues: 2})
	check(t, err)
	equal(t, "its id", made.ID, lone)
	listed, err := db.Topics(t.Context(), "half", "", 5)
	check(t, err)
	equal(t, "listed", listed, []meta.Topic{made})

	gone := newTopic(t, db, 1) // deleted, but the name was left behind
	_, err = db.DeleteTopic(t.Context(), gone.Name, 0)
	check(t, err)
	check(t, client.HSet(t.Context(), "{bmq}:topics", gone.Name, gone.ID.String()).Err())
	made, err = db.CreateTopic(t.Context(), meta.Topic{Name: gone.Name, Queues: 2})
	check(t, err)
	got, err := db.Topic(t.Context(), gone.Name)
	check(t, err)
	equal(t, "topic", got, made)
}

func TestLostRedisIsRecovering(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	db := open(t, server.Options())
	makeReady(t, db)
	topic, w := newTopic(t, db, 1), uuid.New()
	check(t, db.Beat(t.Context(), w))
	lease, holder := "x", uuid.New()
	before, _, err := db.Acquire(t.Context(), lease, holder, time.Minute)
	check(t, err)
	server.Flush()
	if _, err := db.State(t.Context()); !errors.Is(err, meta.ErrNoState) {
		t.Errorf("state: got %v, want ErrNoState", err)
	}
	_, _, boundsErr := db.Bounds(t.Context(), topic.ID, []uint32{0})
	for _, err := range []error{
		second(db.Topic(t.Context(), topic.Name)), second(db.TopicByID(t.Context(), topic.ID)),
		second(db.Lookup(t.Context(), topic.ID, 0, 0, 1)), boundsErr,
		commitOne(t, db, commitTo(topic, w, 1, map[uint32][]uint32{0: {1}})).Err,
		second(db.CreateTopic(t.Context(), meta.Topic{Name: "new", Queues: 1})),
	} {
		if !errors.Is(err, meta.ErrRecovering) {
			t.Errorf("after the loss: got %v, want ErrRecovering", err)
		}
	}
	if err := db.Beat(t.Context(), w); !errors.Is(err, meta.ErrRolledBack) {
		t.Errorf("beat: got %v, want ErrRolledBack", err)
	}
	after, _, err := db.Acquire(t.Context(), lease, uuid.New(), time.Minute)
	check(t, err)
	if after <= before {
		t.Errorf("term %d after the loss, had %d: the old holder is not fenced", after, before)
	}
}

func TestSentinelLeadsToTheMaster(t *testing.T) {
	t.Parallel()
	sentinel := redistest.NewSentinel(t)
	db := open(t, sentinel.Options())
	makeReady(t, db)
	f, notices := startFeed(t, db)
	topic := newTopic(t, db, 1)
	check(t, f.Watch(within(t, 20*time.Second), topic.ID))
	mustCommit(t, db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{0: {3}}))
	await(t, notices, "a commit", of(topic))
	states, err := open(t, sentinel.Master.Options()).Queues(t.Context(), topic)
	check(t, err)
	equal(t, "end of the queue on the master", states[0].Next, 3)
}
