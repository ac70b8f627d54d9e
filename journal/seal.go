package journal

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

// sealed is a segment between sealing and the decision of its last commit. The
// flusher makes it; the putter writes putErr and object's fate, then closes
// putDone; the committer owns it from then on.
type sealed struct {
	seq      uint64
	batch    *batch
	cargo    cargo
	receipts []segment.Receipt // of cargo, copied by seal
	states   []controlRecord   // of cargo, copied by seal
	sealedAt time.Time
	deadline time.Time // of the PUT

	object  []byte // until the reader takes it
	commits []*topicCommit

	putDone   chan struct{}
	putErr    error      // nil, or ErrUnavailable (surely not stored) or ErrOutcomeUnknown
	note      *burntNote // no later commit before this segment is durable or noted as given up
	undecided int        // topics without a decision; owned by the committer
}

// topicCommit is what one segment commits to one topic.
type topicCommit struct {
	segment *sealed
	topic   *topicBatch
	commit  meta.Commit
	places  [][]place // per queue, per request chunk: where its messages went
	index   []int     // per queue of the batch: its place in commit.Queues
	sought  bool      // a recovery was asked for because Redis has no usable trace of the topic
}

// place says that a chunk's first message is message skip of a commit chunk.
type place struct {
	chunk int
	skip  int64
	timer bool // it is deferred: chunk is its place in commit.Timers
}

// seal encodes the segment. The requests' own buffers are free afterwards.
func (s *sealed) seal(w *writer) {
	b := segment.NewBuilder(w.id, s.seq, s.sealedAt.UnixMilli())
	b.AddReceipts(s.receipts)
	for _, note := range s.cargo.notes {
		b.AddBurnt([]uint64{note.seq})
	}
	blocks := 1
	for _, t := range s.batch.topics {
		blocks += len(t.queues) + t.identified + t.timed
	}
	payload := int(s.batch.size) + len(s.cargo.topics)*1024 + 2*s.batch.keys // 2 bytes of each key are in a filter at most
	b.Reuse(w.memory.take(b.Need(payload, blocks)))
	b.Grow(payload, blocks)
	spans := make([][][]segment.Span, len(s.batch.topics))
	for i, t := range s.batch.topics {
		spans[i] = make([][]segment.Span, len(t.queues))
		for k, q := range t.queues {
			spans[i][k] = b.AddChunks(segment.Messages, t.topic.ID, q.queue, q.chunks)
		}
	}
	s.addControls(b)
	object, footer := b.Finish()
	s.object = object
	s.commits = make([]*topicCommit, len(s.batch.topics))
	for i, t := range s.batch.topics {
		s.commits[i] = newTopicCommit(w.id, s, t, footer.Blocks, spans[i])
		for _, d := range t.requests {
			d.release()
		}
	}
	s.receipts, s.states = nil, nil
	w.metrics.flushBytes.Observe(float64(len(object)))
}

// addControls writes the control records of the batch, those that are owed, and
// the state of every topic that the bucket does not know from this writer.
func (s *sealed) addControls(b *segment.Builder) {
	var chunks []segment.Chunk
	for _, c := range s.states {
		chunks = append(chunks, c.chunk())
	}
	for _, c := range s.batch.controls {
		chunks = append(chunks, c.chunk())
	}
	for i := range s.cargo.topics {
		record, err := newControlRecord(controlTopic, &s.cargo.topics[i])
		if err != nil {
			panic(fmt.Sprintf("journal: a topic that cannot be written: %v", err))
		}
		chunks = append(chunks, record.chunk())
	}
	if len(chunks) > 0 {
		b.AddChunks(segment.Control, uuid.Nil, 0, chunks)
	}
}

// newTopicCommit turns chunks into runs of whole blocks. Neighbouring chunks
// without identity share their blocks and are one commit chunk; a chunk with an
// identity is decided for itself.
func newTopicCommit(writer uuid.UUID, s *sealed, t *topicBatch, blocks []segment.Block, spans [][]segment.Span) *topicCommit {
	c := &topicCommit{segment: s, topic: t, places: make([][]place, len(t.queues))}
	c.commit = meta.Commit{
		Topic: t.topic.ID, Epoch: t.topic.Epoch, Writer: writer, Seq: s.seq,
	}
	requests := make(map[*Draft]int, t.identified)
	for k, q := range t.queues {
		chunks := make([]meta.CommitChunk, 0, 1)
		c.places[k] = make([]place, len(q.chunks))
		end := -1 // the block after the last one of the open run
		for i := range q.chunks {
			span, request := spans[k][i], -1
			if d := q.owners[i].draft; d.identities != nil {
				request = c.request(requests, d)
			}
			if q.chunks[i].Due != 0 || q.chunks[i].Transaction != uuid.Nil {
				c.places[k][i] = place{chunk: len(c.commit.Timers), timer: true}
				c.commit.Timers = append(c.commit.Timers, timerOf(&blocks[span.First], request))
				continue
			}
			last := len(chunks) - 1
			if request >= 0 || last < 0 || chunks[last].Request >= 0 || span.First > end {
				first := &blocks[span.First]
				chunks = append(chunks, meta.CommitChunk{Position: first.Position, Request: request})
				last, end = last+1, span.First
			}
			run := &chunks[last]
			c.places[k][i] = place{chunk: last, skip: int64(run.Count)}
			for ; end < span.First+span.Blocks; end++ {
				run.Length += blocks[end].Length
				run.Tags |= blocks[end].Tags
			}
			run.Count += q.chunks[i].Count
		}
		c.index = append(c.index, len(c.commit.Queues))
		if len(chunks) > 0 { // else all of it is deferred
			c.commit.Queues = append(c.commit.Queues, meta.QueueCommit{Queue: q.queue, Chunks: chunks})
		}
	}
	return c
}

// timerOf is a deferred block as a commit puts it down.
func timerOf(b *segment.Block, request int) meta.CommitTimer {
	return meta.CommitTimer{
		ID: b.DueID, Due: b.Due, Queue: b.Queue, Count: b.Count,
		Position: b.Position, Length: b.Length, Tags: b.Tags, Request: request,
	}
}

// request returns the index of d among the commit's requests.
func (c *topicCommit) request(known map[*Draft]int, d *Draft) int {
	if i, ok := known[d]; ok {
		return i
	}
	i := len(c.commit.Requests)
	known[d] = i
	c.commit.Requests = append(c.commit.Requests, meta.Request{Identity: d.identities[0], IDBase: d.base})
	return i
}
