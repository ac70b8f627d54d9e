package group

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Limits of a poll.
const (
	MaxPollMessages     = 1000
	DefaultPollMessages = 100
)

// ErrCursor says that a cursor was not made by a poll of this member.
var ErrCursor = errors.New("group: not a cursor of this member")

// PollRequest asks for messages of a member's queues.
type PollRequest struct {
	Group, Member string
	// Cursor is that of the poll before; "": begin at the committed offsets.
	Cursor     string
	AutoCommit bool // commit what Cursor covers, and give back what is being revoked
	// MaxMessages is at most MaxPollMessages; 0: DefaultPollMessages.
	MaxMessages int
	MaxBytes    int64         // of the records; the first message always comes; 0: journal.DefaultReadBytes
	Wait        time.Duration // for the first message, at most journal.MaxWait
}

// PollReply is what was polled.
type PollReply struct {
	Messages    []Polled
	Cursor      string // for the next poll: commits these messages and goes on behind them
	Generation  int64
	Rebalancing bool         // queues are changing hands: poll again at once
	Queues      []Assignment // the member's queues; Offset is where the messages of this poll end
	Gaps        []ReceiveGap // what was passed over because it is no longer there
}

// Polled is a message of one of a member's queues.
type Polled struct {
	Topic string
	Queue uint32
	journal.Stored
	// Origin is set of a message of the group's retry topic: all but its place is as
	// it was where it comes from.
	Origin *Origin
}

// cursor is what a poll delivered. It is signed, and all that is remembered of a
// poll: a lost answer is asked for again with the cursor before, and repeats.
type cursor struct {
	Group  uuid.UUID     `json:"g"`
	Member string        `json:"m"`
	Queues []cursorQueue `json:"q"`
}

type cursorQueue struct {
	Topic   uuid.UUID `json:"t"`
	Queue   uint32    `json:"q"`
	Epoch   int64     `json:"e"` // assignment epoch
	Version int64     `json:"v"` // of the offset
	Next    int64     `json:"n"`
}

// Poll returns messages of the member's queues, and is a sign of life. With
// AutoCommit it first commits what the cursor covers: that was delivered, and the
// caller is done with it. Any gateway goes on from a cursor. A reset, or a change
// of the owner, voids it for the queue: then the stored offset counts. It waits
// up to Wait for the first message, and no longer than a second more; it returns
// early when the queues change hands or the member leaves.
//
// *journal.InvalidError; ErrCursor; meta.ErrMemberUnknown, meta.ErrFencedMember,
// meta.ErrGroupNotFound; journal.ErrUnavailable and ErrRecovering.
func (g *Groups) Poll(ctx context.Context, r PollRequest) (*PollReply, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	m, err := g.session(ctx, r.Group, r.Member)
	if err != nil {
		return nil, err
	}
	c, err := g.openCursor(ctx, m, r.Cursor)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(r.Wait)
	inner, cancel := context.WithDeadlineCause(ctx, deadline.Add(lateBy+readWithin), journal.ErrUnavailable)
	defer cancel()
	p := &poll{g: g, m: m, request: r, deadline: deadline}
	defer p.close()
	if err := p.begin(inner, c); err != nil {
		return nil, err
	}
	reply, err := p.run(inner)
	if err != nil {
		return nil, err
	}
	g.metrics.messages.WithLabelValues("poll").Add(float64(len(reply.Messages)))
	if reply.Cursor, err = p.cursor(inner); err != nil {
		return nil, err
	}
	return reply, nil
}

// readWithin is how long what must be asked of Redis may take.
const readWithin = 5 * time.Second

func (r *PollRequest) check() error {
	if r.MaxMessages == 0 {
		r.MaxMessages = DefaultPollMessages
	}
	if r.MaxBytes <= 0 {
		r.MaxBytes = journal.DefaultReadBytes
	}
	switch {
	case r.MaxMessages < 0 || r.MaxMessages > MaxPollMessages:
		return invalid("max_messages", journal.CodeOutOfRange, fmt.Sprintf("1 to %d", MaxPollMessages))
	case r.Wait < 0 || r.Wait > journal.MaxWait:
		return invalid("wait_ms", journal.CodeOutOfRange, fmt.Sprintf("0 to %d", journal.MaxWait.Milliseconds()))
	}
	return nil
}

// openCursor reads a cursor of this member.
func (g *Groups) openCursor(ctx context.Context, m *member, text string) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	payload, err := g.Signer.Open(ctx, PurposeCursor, text)
	if errors.Is(err, ErrSignature) {
		return cursor{}, fmt.Errorf("%w: %w", ErrCursor, err)
	}
	if err != nil {
		return cursor{}, err
	}
	var c cursor
	if err := json.Unmarshal(payload, &c); err != nil || c.Group != m.definition.ID || c.Member != m.ID {
		return cursor{}, ErrCursor
	}
	return c, nil
}

// poll is one poll under way.
type poll struct {
	g        *Groups
	m        *member
	request  PollRequest
	deadline time.Time

	generation int64
	held       string // what the member had when the poll began
	revoking   bool
	queues     []Assignment // owned; Offset is where to read on
	settings   map[string]meta.Settings
	turn       int
	ready      time.Time // when the first message that is delayed is due; zero: none is
	followers  []*journal.Follower
	bell       *bell
	reply      PollReply
}

// begin renews the membership, commits what the cursor covers, gives back what is
// being revoked, and finds from where to read.
func (p *poll) begin(ctx context.Context, c cursor) error {
	state, err := p.g.options.Meta.Heartbeat(ctx, p.m.definition.ID, p.m.ID, p.m.timeout, nil)
	if err != nil {
		return unavailable(err)
	}
	p.g.commits.flushMember(ctx, p.m.ID)
	if p.request.AutoCommit {
		if state, err = p.commit(ctx, c, state); err != nil {
			return err
		}
	}
	if p.settings, err = p.g.settingsOf(ctx, p.m.definition.ID, p.m.Member); err != nil {
		return err
	}
	if p.m.Kind == meta.KindBroadcast {
		if err := p.g.beginBroadcast(ctx, p.m); err != nil {
			return err
		}
	}
	all, err := p.g.assigned(ctx, p.m.definition, p.m.Member, state)
	if err != nil {
		return err
	}
	covered := map[sharedPlace]cursorQueue{}
	for _, q := range c.Queues {
		covered[sharedPlace{q.Topic, q.Queue}] = q
	}
	p.generation, p.held = state.Generation, held(state)
	for _, a := range all {
		if a.State == meta.StateRevoking {
			p.revoking = true
			continue
		}
		if q, ok := covered[sharedPlace{a.TopicID, a.Queue}]; ok && q.Epoch == a.Epoch && q.Version == a.Version && q.Next > a.Offset {
			a.Offset = q.Next
		}
		p.queues = append(p.queues, a)
	}
	if n := len(p.queues); n > 0 {
		p.turn = int(time.Now().UnixNano() % int64(n)) // every queue gets its turn
	}
	return nil
}

// held is what tells that a member's queues have changed.
func held(state meta.HeartbeatState) string {
	text := fmt.Sprint(state.Generation, state.Standby)
	for _, a := range state.Assigned {
		text += fmt.Sprint(" ", a.Topic, a.Queue, a.Epoch, a.State)
	}
	return text
}

// commit stores what the cursor covers. Queues that are being revoked are then
// given back: everything that was delivered of them is done.
func (p *poll) commit(ctx context.Context, c cursor, state meta.HeartbeatState) (meta.HeartbeatState, error) {
	var items []meta.OffsetCommit
	for _, q := range c.Queues {
		items = append(items, meta.OffsetCommit{Topic: q.Topic, Queue: q.Queue, Offset: q.Next, Version: q.Version, Epoch: q.Epoch})
	}
	if len(items) > 0 {
		if _, err := p.g.storeCommits(ctx, p.m.definition.ID, p.m.committer(), items); err != nil {
			return state, err
		}
	}
	var released []meta.Assignment
	for _, a := range state.Assigned {
		if a.State == meta.StateRevoking {
			released = append(released, a)
		}
	}
	if len(released) == 0 {
		return state, nil
	}
	state, err := p.g.options.Meta.Heartbeat(ctx, p.m.definition.ID, p.m.ID, p.m.timeout, released)
	return state, unavailable(err)
}

// cursor names what was delivered, and where reading goes on.
func (p *poll) cursor(ctx context.Context) (string, error) {
	c := cursor{Group: p.m.definition.ID, Member: p.m.ID}
	for _, a := range p.queues {
		c.Queues = append(c.Queues, cursorQueue{Topic: a.TopicID, Queue: a.Queue, Epoch: a.Epoch, Version: a.Version, Next: a.Offset})
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return p.g.Signer.Seal(ctx, PurposeCursor, payload)
}

// run reads, and waits for messages while there is none.
func (p *poll) run(ctx context.Context) (*PollReply, error) {
	for {
		if err := p.read(ctx); err != nil {
			return nil, err
		}
		if len(p.reply.Messages) > 0 || len(p.reply.Gaps) > 0 || p.revoking || !time.Now().Before(p.deadline) {
			break
		}
		if p.bell == nil { // listen first, look again, then wait
			if err := p.listen(ctx); err != nil {
				return nil, err
			}
			continue
		}
		wait := min(time.Until(p.deadline), recheckEvery)
		if !p.ready.IsZero() {
			wait = min(wait, max(0, time.Until(p.ready)))
		}
		if !p.await(ctx, wait) {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			break
		}
		changed, err := p.changed(ctx)
		if err != nil {
			return nil, err
		}
		if changed {
			p.reply.Rebalancing = true
			break
		}
	}
	p.reply.Generation, p.reply.Queues = p.generation, p.queues
	p.reply.Rebalancing = p.reply.Rebalancing || p.revoking
	return &p.reply, nil
}

func (p *poll) await(ctx context.Context, d time.Duration) bool {
	p.g.metrics.waiting.Inc()
	defer p.g.metrics.waiting.Dec()
	return p.bell.wait(ctx, d, p.g.drained)
}

// changed renews the membership and says whether the member's queues, or its
// progress in one, are others than when the poll began.
func (p *poll) changed(ctx context.Context) (bool, error) {
	state, err := p.g.options.Meta.Heartbeat(ctx, p.m.definition.ID, p.m.ID, p.m.timeout, nil)
	if err != nil {
		return false, unavailable(err)
	}
	if held(state) != p.held {
		return true, nil
	}
	all, err := p.g.assigned(ctx, p.m.definition, p.m.Member, state)
	if err != nil {
		return false, err
	}
	stored := map[sharedPlace]Assignment{}
	for _, a := range all {
		stored[sharedPlace{a.TopicID, a.Queue}] = a
	}
	for i := range p.queues {
		a := &p.queues[i]
		now := stored[sharedPlace{a.TopicID, a.Queue}]
		if now.Version != a.Version {
			return true, nil
		}
		a.Stopped = now.Stopped
	}
	return len(all) != len(p.queues), nil
}

// listen makes the poll hear of changes of the group and of new messages.
func (p *poll) listen(ctx context.Context) error {
	p.bell = p.g.bells.hear(p.m.definition.ID)
	consumed, err := p.g.consumed(ctx, p.m.definition, p.m.Member)
	if err != nil {
		return err
	}
	for _, s := range consumed {
		at := journal.Cursor{Topic: s.TopicID}
		for _, a := range p.queues {
			if a.TopicID == s.TopicID {
				at.Next = append(at.Next, journal.QueueOffset{Queue: a.Queue, Offset: a.Offset})
			}
		}
		if len(at.Next) == 0 {
			continue
		}
		topic, err := p.g.options.Journal.Topic(ctx, s.Topic)
		if err != nil {
			return err
		}
		f, err := filterOf(s, p.settings[s.Topic])
		if err != nil {
			return err
		}
		queues := make([]uint32, len(at.Next))
		for i, next := range at.Next {
			queues[i] = next.Queue
		}
		at.Epoch = topic.Epoch
		follower, err := p.g.options.Journal.Follow(ctx, journal.FollowOptions{
			Topic: topic, Queues: queues, Cursor: at.String(), Filter: f, Notify: p.bell.call,
		})
		if err != nil {
			return err
		}
		p.followers = append(p.followers, follower)
	}
	return nil
}

func (p *poll) close() {
	for _, f := range p.followers {
		f.Close()
	}
	if p.bell != nil {
		p.bell.leave()
	}
}
