package meta_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is one of the servers that every case runs on. Cases of one engine
// run one after the other and share it; each uses topics of its own.
type engine struct {
	db     *meta.DB
	open   func(t testing.TB) *meta.DB // another connection to the same server; nil for the embedded one
	server *redistest.Server           // the real single server, else nil
}

type testCase struct {
	name string
	run  func(t *testing.T, e engine)
}

// TestMeta runs every case on the embedded server, a real server and a cluster.
func TestMeta(t *testing.T) {
	var cases []testCase
	for _, more := range [][]testCase{commitCases, identityCases, lookupCases, topicCases, stateCases, restoreCases, feedCases, modelCases, groupCases, offsetCases, restoreGroupCases, timerCases, transactionCases} {
		cases = append(cases, more...)
	}
	for _, kind := range []string{"embedded", "standalone", "cluster"} {
		t.Run(kind, func(t *testing.T) {
			e := newEngine(t, kind)
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, e) })
			}
		})
	}
}

func newEngine(t testing.TB, kind string) engine {
	t.Helper()
	var e engine
	switch kind {
	case "embedded":
		db, err := meta.OpenEmbedded(t.Context())
		check(t, err)
		t.Cleanup(func() { check(t, db.Close()) })
		e.db = db
	case "standalone":
		s := redistest.New(t)
		e.server = s
		e.open = func(t testing.TB) *meta.DB { return open(t, s.Options()) }
		e.db = e.open(t)
	case "cluster":
		c := redistest.NewCluster(t)
		e.open = func(t testing.TB) *meta.DB { return open(t, c.Options()) }
		e.db = e.open(t)
	}
	makeReady(t, e.db)
	return e
}

func open(t testing.TB, o meta.Options) *meta.DB {
	t.Helper()
	db, err := meta.Open(t.Context(), o)
	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	return db
}

// makeReady recovers an empty store.
func makeReady(t testing.TB, db *meta.DB) {
	t.Helper()
	holder := uuid.New()
	generation, _, ok, err := db.BeginRecovery(t.Context(), uuid.New(), holder, uuid.Nil, time.Minute)
	check(t, err)
	if !ok {
		t.Fatal("recovery of an empty redis is refused")
	}
	check(t, db.FinishRecovery(t.Context(), generation))
	check(t, db.Release(t.Context(), meta.LeaseRecovery, holder))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// newTopic makes a topic under a name of its own.
func newTopic(t testing.TB, db *meta.DB, queues uint32) meta.Topic {
	t.Helper()
	topic, err := db.CreateTopic(t.Context(), meta.Topic{Name: "t-" + uuid.NewString(), Type: meta.TopicNormal, Queues: queues})
	check(t, err)
	return topic
}

// commitTo builds the commit of a segment that holds, per queue, chunks of the
// given sizes, 100 bytes each, one after the other.
func commitTo(topic meta.Topic, writer uuid.UUID, seq uint64, queues map[uint32][]uint32) meta.Commit {
	c := meta.Commit{Topic: topic.ID, Epoch: topic.Epoch, Writer: writer, Seq: seq}
	position := int64(8)
	for q := uint32(0); q < topic.Queues; q++ {
		counts, ok := queues[q]
		if !ok {
			continue
		}
		part := meta.QueueCommit{Queue: q}
		for _, n := range counts {
			part.Chunks = append(part.Chunks, meta.CommitChunk{Count: n, Position: position, Length: 100, Tags: 1 << (n % 64), Request: -1})
			position += 100
		}
		c.Queues = append(c.Queues, part)
	}
	return c
}

// commitOne makes one commit.
func commitOne(t testing.TB, db *meta.DB, c meta.Commit) meta.CommitResult {
	t.Helper()
	return db.Commit(t.Context(), []meta.Commit{c})[0]
}

// mustCommit makes one commit that must be applied.
func mustCommit(t testing.TB, db *meta.DB, c meta.Commit) meta.CommitResult {
	t.Helper()
	res := commitOne(t, db, c)
	if res.Err != nil {
		t.Fatalf("commit seq %d: %v", c.Seq, res.Err)
	}
	return res
}

// equal compares by how values print, so that nil and empty are the same.
func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want)
	if g == w {
		return
	}
	at := 0
	for at < min(len(g), len(w)) && g[at] == w[at] {
		at++
	}
	from := max(0, at-200)
	t.Fatalf("%s, from byte %d on:\n got %.600s\nwant %.600s", what, from, g[from:], w[from:])
}
