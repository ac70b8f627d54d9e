package journal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// redisModel commits as the commit script does, without identities.
type redisModel struct {
	mu     sync.Mutex
	topics map[uuid.UUID]*modelTopic
	calls  []meta.Commit // every commit that was sent, in order
	// before may refuse a commit, after may lose the reply of an applied one.
	before, after func(meta.Commit) error
}

type modelTopic struct {
	epoch   int64
	gone    bool
	next    map[uint32]int64
	applied map[string]meta.CommitResult
	last    map[uuid.UUID]uint64
	forgets bool // receipts are not remembered
	entries []meta.Entry
}

func newRedisModel() *redisModel { return &redisModel{topics: make(map[uuid.UUID]*modelTopic)} }

func (m *redisModel) create(t meta.Topic) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.topics[t.ID] = &modelTopic{
		epoch: t.Epoch, next: make(map[uint32]int64),
		applied: make(map[string]meta.CommitResult), last: make(map[uuid.UUID]uint64),
	}
}

// change lets the test change a topic as another process would.
func (m *redisModel) change(id uuid.UUID, f func(*modelTopic)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.topics[id])
}

// faults sets the hooks while commits may run.
func (m *redisModel) faults(before, after func(meta.Commit) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before, m.after = before, after
}

func (m *redisModel) commit(_ context.Context, commits []meta.Commit) []meta.CommitResult {
	m.mu.Lock()
	defer m.mu.Unlock()
	results := make([]meta.CommitResult, len(commits))
	for i, c := range commits {
		m.calls = append(m.calls, c)
		if m.before != nil {
			if err := m.before(c); err != nil {
				results[i].Err = err
				continue
			}
		}
		results[i] = m.apply(c)
		if m.after != nil && results[i].Err == nil {
			if err := m.after(c); err != nil {
				results[i] = meta.CommitResult{Err: err}
			}
		}
	}
	return results
}

func (m *redisModel) apply(c meta.Commit) meta.CommitResult {
	t := m.topics[c.Topic]
	switch {
	case t == nil || t.gone:
		return meta.CommitResult{Err: meta.ErrTopicNotFound}
	case t.epoch != c.Epoch:
		return meta.CommitResult{Err: &meta.EpochError{Current: t.epoch}}
	}
	memo := fmt.Sprint(c.Writer, c.Seq)
	if t.last[c.Writer] >= c.Seq {
		if r, ok := t.applied[memo]; ok && !t.forgets {
			r.Repeated = true
			return r
		}
		return meta.CommitResult{Err: meta.ErrApplied}
	}
	for _, q := range c.Queues {
		if t.next[q.Queue] < q.KnownNext {
			return meta.CommitResult{Err: meta.ErrRolledBack}
		}
	}
	r := meta.CommitResult{Epoch: t.epoch, StoredAt: time.Now().UnixMilli()}
	for _, q := range c.Queues {
		var firsts []int64
		for _, chunk := range q.Chunks {
			firsts = append(firsts, t.next[q.Queue])
			t.next[q.Queue] += int64(chunk.Count)
			r.Entries = append(r.Entries, meta.Entry{
				Queue: q.Queue, Next: t.next[q.Queue], Count: chunk.Count, StoredAt: r.StoredAt,
				Segment:  meta.SegmentRef{Writer: c.Writer, Seq: c.Seq},
				Position: chunk.Position, Length: chunk.Length, Tags: chunk.Tags,
			})
		}
		r.Firsts = append(r.Firsts, firsts)
	}
	t.entries = append(t.entries, r.Entries...)
	t.last[c.Writer], t.applied[memo] = c.Seq, r
	return r
}

// sent returns the seqs of the commits that were sent, repeats included.
func (m *redisModel) sent() []uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var seqs []uint64
	for _, c := range m.calls {
		seqs = append(seqs, c.Seq)
	}
	return seqs
}
