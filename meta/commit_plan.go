package meta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

// How long Redis remembers what was answered. The log remembers longer.
const (
	receiptTTL  = 24 * time.Hour
	keyTTL      = 10 * time.Minute
	producerTTL = 24 * time.Hour
	recallTTL   = 24 * time.Hour // after the message would have been due
)

// commitPlan is a commit in the order that the script works in: queues by
// number, requests by their first byte. So the receipt means the same to
// everybody who makes this commit from the same segment.
type commitPlan struct {
	commit   *Commit
	queues   []queuePlan
	requests []int // script's order → index in commit.Requests
	keys     []string
	args     []any
}

type queuePlan struct {
	index int // in commit.Queues
	runs  []run
}

// run is a stretch of touching chunks; it becomes one entry when all its
// pieces are stored.
type run struct {
	entry  Entry // Count, Position, Length, Tags of the whole
	pieces []piece
}

// piece is a chunk of a request, or touching chunks that no request may withhold.
type piece struct {
	entry    Entry
	request  int // 1 + its place in commitPlan.requests; 0: none
	from, to int // chunks
}

func planCommit(c *Commit) (*commitPlan, error) {
	p := &commitPlan{commit: c}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("commit %s to %s: %w", segmentName(c), c.Topic, err)
	}
	p.orderRequests()
	for i := range c.Queues {
		p.queues = append(p.queues, queuePlan{index: i})
	}
	slices.SortFunc(p.queues, func(a, b queuePlan) int {
		return cmp.Compare(c.Queues[a.index].Queue, c.Queues[b.index].Queue)
	})
	rank := make([]int, len(c.Requests))
	for at, i := range p.requests {
		rank[i] = at + 1
	}
	for i := range p.queues {
		p.queues[i].runs = layoutRuns(c, c.Queues[p.queues[i].index].Chunks, rank)
	}
	p.encode()
	return p, nil
}

func (p *commitPlan) validate() error {
	seen := make(map[uint32]bool, len(p.commit.Queues))
	for _, q := range p.commit.Queues {
		if seen[q.Queue] {
			return fmt.Errorf("queue %d twice", q.Queue)
		}
		seen[q.Queue] = true
		end := int64(0)
		for _, chunk := range q.Chunks {
			if chunk.Count == 0 || chunk.Length <= 0 || chunk.Position < end ||
				chunk.Request < -1 || chunk.Request >= len(p.commit.Requests) {
				return fmt.Errorf("malformed chunk at %d of queue %d", chunk.Position, q.Queue)
			}
			end = chunk.Position + chunk.Length
		}
	}
	for _, t := range p.commit.Timers {
		if t.Count == 0 || t.Length <= 0 || t.Due < 0 || t.Due > maxOffset || t.Request < -1 || t.Request >= len(p.commit.Requests) {
			return fmt.Errorf("malformed timer at %d of queue %d", t.Position, t.Queue)
		}
	}
	for _, r := range p.commit.Requests {
		if id := r.Identity; !id.Keyed() && (id.Kind != segment.IdentityProducer || id.Epoch < 0 || id.Seq < 0) {
			return fmt.Errorf("malformed identity of kind %d", id.Kind)
		}
	}
	if p.commit.Epoch < 0 || p.commit.Seq > maxOffset {
		return fmt.Errorf("epoch %d or seq %d is out of range", p.commit.Epoch, p.commit.Seq)
	}
	return nil
}

// orderRequests sorts requests by the position of their first byte.
func (p *commitPlan) orderRequests() {
	first := make([]int64, len(p.commit.Requests))
	for i := range first {
		first[i] = maxOffset
		p.requests = append(p.requests, i)
	}
	for _, q := range p.commit.Queues {
		for _, chunk := range q.Chunks {
			if chunk.Request >= 0 {
				first[chunk.Request] = min(first[chunk.Request], chunk.Position)
			}
		}
	}
	for _, t := range p.commit.Timers {
		if t.Request >= 0 {
			first[t.Request] = min(first[t.Request], t.Position)
		}
	}
	slices.SortStableFunc(p.requests, func(a, b int) int { return cmp.Compare(first[a], first[b]) })
}

func layoutRuns(c *Commit, chunks []CommitChunk, rank []int) []run {
	ref := SegmentRef{Writer: c.Writer, Seq: c.Seq}
	var runs []run
	for i, chunk := range chunks {
		one := Entry{Count: chunk.Count, Segment: ref, Position: chunk.Position, Length: chunk.Length, Tags: chunk.Tags}
		request := 0
		if chunk.Request >= 0 {
			request = rank[chunk.Request]
		}
		if i == 0 || chunks[i-1].Position+chunks[i-1].Length != chunk.Position {
			runs = append(runs, run{entry: one, pieces: []piece{{entry: one, request: request, from: i, to: i + 1}}})
			continue
		}
		r := &runs[len(runs)-1]
		r.entry.extend(one)
		if last := &r.pieces[len(r.pieces)-1]; request == 0 && last.request == 0 {
			last.entry.extend(one)
			last.to = i + 1
			continue
		}
		r.pieces = append(r.pieces, piece{entry: one, request: request, from: i, to: i + 1})
	}
	return runs
}

func (e *Entry) extend(more Entry) {
	e.Count += more.Count
	e.Length += more.Length
	e.Tags |= more.Tags
}

// encode writes KEYS and ARGV as lua/commit.lua and lua/plan.lua read them.
func (p *commitPlan) encode() {
	c := p.commit
	identities, order := p.identities()
	p.keys = append(p.keys, keyHead(c.Topic), keyTopicWriters(c.Topic), keyReceipts(c.Topic, c.Writer))
	p.args = append(p.args, channelTopic(c.Topic), formatNumber(c.Epoch), string(c.Writer[:]), formatNumber(c.Seq),
		len(p.queues), len(order), len(p.requests),
		receiptTTL.Milliseconds(), keyTTL.Milliseconds(), producerTTL.Milliseconds())
	for _, q := range p.queues {
		queue := &c.Queues[q.index]
		p.keys = append(p.keys, keyHot(c.Topic, queue.Queue))
		p.args = append(p.args, queueField(queue.Queue), formatNumber(max(queue.KnownNext, 0)))
	}
	for _, i := range order {
		id := c.Requests[i].Identity
		p.keys = append(p.keys, keyIdentity(c.Topic, id))
		p.args = append(p.args, identityKind(id))
	}
	for _, i := range p.requests {
		r := &c.Requests[i]
		p.args = append(p.args, identities[i], identityKind(r.Identity))
		if expected, conditional := r.Identity.Expected(); conditional {
			p.args = append(p.args, string(r.Identity.Body[:]), formatNumber(expected))
		} else if r.Identity.Keyed() {
			p.args = append(p.args, string(r.Identity.Body[:]), "")
		} else {
			p.args = append(p.args, formatNumber(r.Identity.Epoch), formatNumber(r.Identity.Seq))
		}
		p.args = append(p.args, answerPrefix(c.Epoch, r))
	}
	for _, q := range p.queues {
		p.args = append(p.args, len(q.runs))
		for i := range q.runs {
			p.encodeRun(&q.runs[i])
		}
	}
	p.encodeTimers()
}

func (p *commitPlan) encodeRun(r *run) { p.args = appendRun(p.args, r) }

// appendRun writes a run as lua/plan.lua reads it.
func appendRun(args []any, r *run) []any {
	pieces := r.pieces
	if len(pieces) == 1 && pieces[0].request == 0 {
		pieces = nil
	}
	args = append(args, formatNumber(r.entry.Count), formatNumber(r.entry.Length),
		appendEntrySuffix(nil, &r.entry), len(pieces))
	for i := range pieces {
		one := &pieces[i]
		args = append(args, one.request, formatNumber(one.entry.Count), formatNumber(one.entry.Length),
			appendEntrySuffix(nil, &one.entry))
	}
	return args
}

// identities gives each request the number of its key, from 1 on, and for each
// key a request that has it.
func (p *commitPlan) identities() (number map[int]int, order []int) {
	type identity struct {
		kind string
		key  [16]byte
	}
	seen := map[identity]int{}
	number = map[int]int{}
	for _, i := range p.requests {
		id := p.commit.Requests[i].Identity
		key := identity{identityKind(id), id.Key}
		if seen[key] == 0 {
			order = append(order, i)
			seen[key] = len(order)
		}
		number[i] = seen[key]
	}
	return number, order
}

func identityKind(id segment.Identity) string {
	if id.Kind == segment.IdentityProducer {
		return "p"
	}
	return "k"
}

func (r *Request) base() uuid.UUID {
	if r.IDBase == uuid.Nil {
		return r.Identity.IDBase
	}
	return r.IDBase
}

// answerPrefix begins an answer: epoch:base:queues:auto:, then its parts as
// queue.first.count joined by commas. See parseAnswer.
func answerPrefix(epoch int64, r *Request) string {
	return strings.Join([]string{formatNumber(epoch), r.base().String(),
		queueField(r.Identity.Queues), queueField(r.Identity.AutoQueue), ""}, ":")
}
