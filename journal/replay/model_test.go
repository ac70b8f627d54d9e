package replay_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/segment"
)

// world is a model of writers that share queues: what they sealed, what landed
// in the bucket, and what a commit in Redis answered.
type world struct {
	next  map[uint32]int64
	truth map[string]int64 // "writer/seq/queue" → first offset of a committed run
	// conditional are the runs of conditional requests.
	conditional map[string]bool
	refused     map[string]bool // runs whose condition did not hold at the commit
	writers     []*modelWriter
}

type modelWriter struct {
	id        uuid.UUID
	sealed    []*modelSegment
	committed int               // sealed[:committed] are decided
	receipts  []segment.Receipt // in commit order
	durable   int               // receipts[:durable] are in a segment that landed
	stated    bool              // so is the topic's state
}

type modelSegment struct {
	replay.Segment
	landed, burnt bool
	carries       int // receipts[:carries] are durable once it landed
	receipted     int // its verdicts are receipts[:receipted] at most; 0: not decided
}

func runKey(writer uuid.UUID, seq uint64, queue uint32) string {
	return fmt.Sprintf("%s/%d/%d", writer, seq, queue)
}

func (w *modelWriter) seal(t *rapid.T, m *world, burnt ...uint64) {
	s := &modelSegment{Segment: replay.Segment{Footer: segment.Footer{
		Writer: w.id, Seq: uint64(len(w.sealed) + 1), CreatedAt: now + int64(rapid.IntRange(0, 50).Draw(t, "clock")), Burnt: burnt,
	}}}
	if !w.stated { // carried until a segment with it has landed: the first may burn
		withTopic(orders())(&s.Segment)
	}
	if len(burnt) == 0 {
		for q := range uint32(2) {
			if n := rapid.IntRange(0, 3).Draw(t, "messages"); n > 0 {
				var condition []segment.Identity
				if rapid.IntRange(0, 2).Draw(t, "conditional") == 0 {
					next := m.next[q] + int64(rapid.IntRange(0, 3).Draw(t, "ahead"))
					condition = append(condition, only(w.id[0], next))
					condition[0].Key[1], condition[0].Key[2] = byte(len(w.sealed)), byte(q)
				}
				messages(q, uint32(n), condition...)(&s.Segment)
			}
		}
	}
	s.Footer.Receipts = append([]segment.Receipt{}, w.receipts[w.durable:]...)
	s.carries = len(w.receipts)
	w.sealed = append(w.sealed, s)
}

func (w *modelWriter) land(i int) {
	s := w.sealed[i]
	s.landed = true
	w.durable = max(w.durable, s.carries)
	w.stated = w.stated || len(s.Topics) > 0
}

// commit applies the oldest undecided segment, as Redis would, once it landed.
func (w *modelWriter) commit(m *world) {
	if w.committed == len(w.sealed) || !w.sealed[w.committed].landed && !w.sealed[w.committed].burnt {
		return
	}
	s := w.sealed[w.committed]
	w.committed++
	if s.burnt {
		return
	}
	before := len(w.receipts)
	for _, b := range s.Footer.Blocks {
		first := m.next[b.Queue]
		m.conditional[runKey(w.id, s.Footer.Seq, b.Queue)] = b.Identity != nil
		if b.Identity != nil && b.Identity.Epoch != first {
			m.refused[runKey(w.id, s.Footer.Seq, b.Queue)] = true
			continue
		}
		m.next[b.Queue] += int64(b.Count)
		m.truth[runKey(w.id, s.Footer.Seq, b.Queue)] = first
		w.receipts = append(w.receipts, segment.Receipt{
			Writer: w.id, Seq: s.Footer.Seq, Topic: topicID, Epoch: 1, Queue: b.Queue,
			First: first, Count: b.Count, Position: b.Position, Length: b.Length, StoredAt: now,
		})
	}
	if len(w.receipts) == before && len(s.Footer.Blocks) > 0 {
		w.receipts = append(w.receipts, segment.Receipt{Writer: w.id, Seq: s.Footer.Seq, Topic: topicID, Epoch: 1})
	}
	s.receipted = len(w.receipts)
}

// burn gives the oldest undecided segment up and makes a note of it durable,
// before anything later is committed. The segment itself may land all the same.
func (w *modelWriter) burn(t *rapid.T, m *world) {
	if w.committed == len(w.sealed) || w.sealed[w.committed].landed || len(w.sealed[w.committed].Footer.Burnt) > 0 {
		return
	}
	s := w.sealed[w.committed]
	s.burnt = true
	s.landed = rapid.Bool().Draw(t, "landed late")
	w.seal(t, m, s.Footer.Seq)
	w.land(len(w.sealed) - 1)
}

func TestReplayFindsEveryCommitAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &world{next: map[uint32]int64{}, truth: map[string]int64{}, refused: map[string]bool{}, conditional: map[string]bool{}}
		for i := range rapid.IntRange(1, 3).Draw(t, "writers") {
			m.writers = append(m.writers, &modelWriter{id: uuid.UUID{byte(i + 1)}})
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w := rapid.SampledFrom(m.writers).Draw(t, "writer")
			switch rapid.SampledFrom([]string{"seal", "land", "commit", "commit", "burn"}).Draw(t, "step") {
			case "seal":
				w.seal(t, m)
			case "land": // uploads run in parallel and finish in any order
				if n := len(w.sealed); n > w.committed {
					w.land(rapid.IntRange(w.committed, n-1).Draw(t, "which"))
				}
			case "commit":
				w.commit(m)
			case "burn":
				w.burn(t, m)
			}
		}
		var b bucket
		for _, w := range m.writers {
			for _, s := range w.sealed {
				if s.landed {
					b = append(b, s.Segment)
				}
			}
		}
		check(t, m, replay.Replay(b, replay.Options{Now: now, Exclusive: rapid.Bool().Draw(t, "exclusive")}))
	})
}

// told are the runs of segments whose receipts are durable: only then is a verdict on a
// condition answered.
func (m *world) told() map[string]bool {
	told := map[string]bool{}
	for _, w := range m.writers {
		for _, s := range w.sealed {
			for q := range uint32(2) {
				told[runKey(w.id, s.Footer.Seq, q)] = s.receipted > 0 && s.receipted <= w.durable
			}
		}
	}
	return told
}

func check(t *rapid.T, m *world, plan replay.Plan) {
	if len(plan.Topics) == 0 {
		if len(m.truth) > 0 {
			t.Fatalf("the topic is gone")
		}
		return
	}
	got := plan.Topics[0]
	found := map[string]int64{}
	for q, s := range got.Snapshot.Queues {
		next := int64(0)
		for _, e := range s.Entries {
			key := runKey(e.Segment.Writer, e.Segment.Seq, q)
			if _, twice := found[key]; twice {
				t.Fatalf("%s is in the index twice", key)
			}
			if e.First() != next {
				t.Fatalf("queue %d: entry at %d, want %d", q, e.First(), next)
			}
			found[key], next = e.First(), e.Next
		}
	}
	told := m.told()
	for key := range m.refused {
		// What a producer was told holds.
		if _, ok := found[key]; ok && told[key] {
			t.Fatalf("run %s was refused and is in the index", key)
		}
	}
	for key, first := range m.truth {
		at, ok := found[key]
		if !ok && m.conditional[key] && !told[key] && got.EpochRaised {
			continue
		}
		if !ok {
			t.Fatalf("committed run %s is lost", key)
		}
		if !got.EpochRaised && at != first {
			t.Fatalf("run %s moved from %d to %d within its epoch", key, first, at)
		}
	}
	for _, w := range m.writers {
		for _, s := range w.sealed {
			for q := range uint32(2) {
				if _, ok := found[runKey(w.id, s.Footer.Seq, q)]; ok && s.burnt {
					t.Fatalf("burnt segment %d of %s is in the index", s.Footer.Seq, w.id)
				}
			}
		}
	}
}
