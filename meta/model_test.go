package meta_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/bucketmq/bucketmq/meta"
)

var modelCases = []testCase{{"RandomCommitsAndLookupsMatchTheModel", randomCommitsMatchTheModel}}

// model is what a topic must look like after any sequence of commits.
type model struct {
	entries  map[uint32][]meta.Entry
	stored   map[string]meta.RequestOutcome // by idempotency key
	commits  []meta.Commit
	receipts []meta.CommitResult
}

func (m *model) next(queue uint32) int64 {
	if all := m.entries[queue]; len(all) > 0 {
		return all[len(all)-1].Next
	}
	return 0
}

// commit is the whole specification of a first execution.
func (m *model) commit(c meta.Commit, storedAt int64) (firsts [][]int64, statuses []string) {
	statuses = make([]string, len(c.Requests))
	for i, r := range c.Requests {
		statuses[i] = meta.RequestStored
		if _, dup := m.stored[string(r.Identity.Key[:])]; dup {
			statuses[i] = meta.RequestDuplicate
		}
		m.stored[string(r.Identity.Key[:])] = meta.RequestOutcome{}
	}
	for _, q := range c.Queues {
		var given []int64
		next := m.next(q.Queue)
		for _, chunk := range q.Chunks {
			if chunk.Request >= 0 && statuses[chunk.Request] != meta.RequestStored {
				given = append(given, -1)
				continue
			}
			given = append(given, next)
			next += int64(chunk.Count)
			m.entries[q.Queue] = append(m.entries[q.Queue], meta.Entry{Queue: q.Queue, Next: next, Count: chunk.Count, StoredAt: storedAt,
				Segment: meta.SegmentRef{Writer: c.Writer, Seq: c.Seq}, Position: chunk.Position, Length: chunk.Length})
		}
		firsts = append(firsts, given)
	}
	return firsts, statuses
}

// limitChecks bounds how many sequences rapid tries, unless -rapid.checks asks
// for another number than its default.
func limitChecks(t *testing.T, n string) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if before := f.Value.String(); before == f.DefValue {
		check(t, f.Value.Set(n))
		t.Cleanup(func() { check(t, f.Value.Set(before)) })
	}
}

func randomCommitsMatchTheModel(t *testing.T, e engine) {
	checks := "40"
	if e.open == nil {
		checks = "10" // the embedded server is much slower under -race
	}
	limitChecks(t, checks)
	rapid.Check(t, func(rt *rapid.T) {
		topic := newTopic(t, e.db, 3)
		m := &model{entries: map[uint32][]meta.Entry{}, stored: map[string]meta.RequestOutcome{}}
		writers := []uuid.UUID{uuid.New(), uuid.New()}
		seqs := map[uuid.UUID]uint64{}
		rt.Repeat(map[string]func(*rapid.T){
			"commit": func(rt *rapid.T) {
				w := rapid.SampledFrom(writers).Draw(rt, "writer")
				seqs[w] += rapid.Uint64Range(1, 3).Draw(rt, "step")
				c := randomCommit(rt, topic, w, seqs[w], m)
				res := e.db.Commit(t.Context(), []meta.Commit{c})[0]
				if res.Err != nil || res.Repeated {
					rt.Fatalf("commit: %+v", res)
				}
				firsts, statuses := m.commit(c, res.StoredAt)
				equal(t, "offsets", res.Firsts, firsts)
				for i, want := range statuses {
					equal(t, "request", res.Requests[i].Status, want)
				}
				m.commits, m.receipts = append(m.commits, c), append(m.receipts, res)
			},
			"repeat": func(rt *rapid.T) {
				if len(m.commits) == 0 {
					rt.Skip("nothing to repeat")
				}
				i := rapid.IntRange(0, len(m.commits)-1).Draw(rt, "commit")
				res := e.db.Commit(t.Context(), []meta.Commit{m.commits[i]})[0]
				if errors.Is(res.Err, meta.ErrApplied) && i < len(m.commits)-8 {
					return
				}
				want := m.receipts[i]
				want.Repeated = true
				equal(t, "receipt", res, want)
			},
			"lookup": func(rt *rapid.T) {
				queue := rapid.Uint32Range(0, 2).Draw(rt, "queue")
				offset := rapid.Int64Range(-1, m.next(queue)+1).Draw(rt, "offset")
				win, err := e.db.Lookup(t.Context(), topic.ID, queue, offset, 1)
				check(t, err)
				equal(t, "end", win.Next, m.next(queue))
				var want []meta.Entry
				for _, entry := range m.entries[queue] {
					if entry.First() <= offset && offset < entry.Next {
						want = []meta.Entry{entry}
					}
				}
				equal(t, "entry", win.Entries, want)
			},
		})
	})
}

// randomCommit leaves gaps between all chunks, so that each is an entry.
func randomCommit(rt *rapid.T, topic meta.Topic, w uuid.UUID, seq uint64, m *model) meta.Commit {
	c := meta.Commit{Topic: topic.ID, Epoch: topic.Epoch, Writer: w, Seq: seq}
	position := int64(0)
	for q := range topic.Queues {
		part := meta.QueueCommit{Queue: q, KnownNext: m.next(q)}
		for range rapid.IntRange(0, 3).Draw(rt, "chunks") {
			chunk := meta.CommitChunk{Count: rapid.Uint32Range(1, 1000).Draw(rt, "count"), Position: position, Length: 10, Request: -1}
			if rapid.Bool().Draw(rt, "identified") {
				chunk.Request = len(c.Requests)
				c.Requests = append(c.Requests, keyRequest(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(rt, "key"), "body"))
			}
			part.Chunks = append(part.Chunks, chunk)
			position += 11
		}
		c.Queues = append(c.Queues, part)
	}
	return c
}
