package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// maxSubTopics is how many topics a subscription may have.
const maxSubTopics = 16

// subscription is what a client receives under one name: the messages of one or
// several topics, from a place that it chose.
type subscription struct {
	socket *socket
	name   string
	base64 bool
	feeds  []*feed

	news    atomic.Bool // there may be messages that nobody has looked for
	reading sync.Mutex  // held while the feeds are read or moved

	// The rest is guarded by the socket's mu.
	creditItems, creditBytes int64
	seq                      int64
	behind                   bool // there are messages, as far as is known
	paused                   bool
	gone                     bool
	consumer                 consumer    // of a group; nil = the subscription is a tail. It never changes
	unwritten                []unwritten // of mode shared: what may still be in the outbox
	pump                     *pump       // reads for the subscription; nil = it has followers of its own
	stalled                  bool        // the client was told that it gave no credit
	at                       int         // index in the pump's members; guarded by the pump's mu
	retryAt                  time.Time   // when to try again after a fault; zero = now
}

// feed is one topic of a subscription.
type feed struct {
	topic    meta.Topic
	queues   []uint32
	filter   filter.Filter
	source   *source           // whom follower notifies
	follower *journal.Follower // owned by who has reading, changed with the socket's mu; nil while a pump reads
	cursor   string            // what the client has got; guarded by the socket's mu
}

type subscribeOp struct {
	opHead
	Sub      string      `json:"sub"`
	Mode     string      `json:"mode"`
	Topics   []subTopic  `json:"topics"`
	From     *fromWhere  `json:"from"`
	Credit   *creditGift `json:"credit"`
	Encoding *string     `json:"encoding"`

	// The rest is of the modes that consume for a group.
	Group            *string `json:"group"`
	ClientID         *string `json:"client_id"`
	SessionKey       *string `json:"session_key"`
	SessionTimeoutMS *int64  `json:"session_timeout_ms"`
	Room             *string `json:"room"`
	Ordered          bool    `json:"ordered"`
	InvisibleMS      *int64  `json:"invisible_ms"`
}

type subTopic struct {
	Topic  string  `json:"topic"`
	Queues []int64 `json:"queues"`
	Tags   string  `json:"tags"`
	SQL    string  `json:"sql"`
}

// fromWhere is where a subscription starts or moves to.
type fromWhere struct {
	Cursor    *string `json:"cursor"`
	Offset    *int64  `json:"offset"`
	Position  *string `json:"position"`
	Timestamp *string `json:"timestamp"`
}

type creditGift struct {
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// check adds credit to what there is, or says which limit that breaks.
func (g *creditGift) check(items, bytes int64, pointer string) error {
	switch {
	case g.Messages < 0 || g.Messages > maxCreditItems-items:
		return wrong(pointer+"messages", fmt.Sprintf("0 to %d, together with what is left", maxCreditItems))
	case g.Bytes < 0 || g.Bytes > maxCreditBytes-bytes:
		return wrong(pointer+"bytes", fmt.Sprintf("0 to %d, together with what is left", maxCreditBytes))
	}
	return nil
}

// position reads where to start; cursors are read elsewhere.
func (w *fromWhere) position(field string, missing journal.PositionKind) (journal.Position, error) {
	given, at := 0, journal.Position{Kind: missing}
	if w == nil {
		return at, nil
	}
	if w.Cursor != nil {
		given++
	}
	if w.Offset != nil {
		given++
		at = journal.Position{Kind: journal.AtOffset, Value: *w.Offset}
		if at.Value < 0 || at.Value > maxInt53 {
			return at, wrong(field+"/offset", "0 to 2^53-1")
		}
	}
	if w.Timestamp != nil {
		given++
		ms, err := api.ParseTime(*w.Timestamp)
		if err != nil {
			return at, wrong(field+"/timestamp", "a time such as 2026-12-01T08:30:00.000Z")
		}
		at = journal.Position{Kind: journal.AtTime, Value: int64(ms)}
	}
	if w.Position != nil {
		given++
		switch *w.Position {
		case "earliest":
			at = journal.Position{Kind: journal.Earliest}
		case "latest":
			at = journal.Position{Kind: journal.Latest}
		default:
			return at, wrong(field+"/position", "earliest or latest")
		}
	}
	if given > 1 {
		return at, wrong(field, "give one of its members")
	}
	return at, nil
}

// subscribe starts a subscription.
func (s *socket) subscribe(text []byte) error {
	var op subscribeOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	if err := s.checkSubscribe(&op); err != nil {
		return err
	}
	if op.Mode != modeTail {
		return s.consume(&op)
	}
	from, err := op.From.position("from", journal.Latest)
	if err != nil {
		return err
	}
	sub := &subscription{
		socket: s, name: op.Sub, base64: op.Encoding != nil && *op.Encoding == "base64", behind: true,
		creditItems: op.Credit.Messages, creditBytes: op.Credit.Bytes,
	}
	cursors, err := op.cursors()
	if err != nil {
		return err
	}
	var gaps []topicGap
	for i := range op.Topics {
		f, err := s.newFeed(&op.Topics[i], i)
		if err == nil {
			var lost []topicGap
			lost, err = sub.start(f, from, cursors[i])
			gaps = append(gaps, lost...)
		}
		if err != nil {
			sub.end()
			return err
		}
	}
	if !sub.mayReceive() {
		sub.behind = sub.lagging()
	}
	answer := appendSubscribed(nil, op.ID, sub, len(gaps) == 0, gaps)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs == nil {
		s.subs = make(map[string]*subscription, 1)
	}
	s.subs[sub.name] = sub
	s.appendOpLocked(answer)
	s.wakeLocked()
	return nil
}

// cursors takes a subscription's cursor apart: one for each topic, in order.
func (op *subscribeOp) cursors() ([]string, error) {
	if op.From == nil || op.From.Cursor == nil {
		return make([]string, len(op.Topics)), nil
	}
	if len(*op.From.Cursor) > maxCursorBytes {
		return nil, wrong("from/cursor", "not a cursor of these topics")
	}
	parts := strings.Split(*op.From.Cursor, ".")
	if len(parts) != len(op.Topics) || parts[0] == "" {
		return nil, wrong("from/cursor", "not a cursor of these topics")
	}
	return parts, nil
}

// topic finds a topic that an operation names.
func (s *socket) topic(name, pointer string) (meta.Topic, error) {
	if err := journal.ValidateTopicName(name); err != nil {
		const detail = "1 to 127 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"
		return meta.Topic{}, newProblem("invalid_name", detail, fault{Pointer: pointer, Code: "invalid_name", Detail: detail})
	}
	t, err := s.hub.server.journal.Topic(s.ctx, name)
	if errors.Is(err, journal.ErrTopicNotFound) {
		return t, newProblem("topic_not_found", "there is no such topic", fault{Pointer: pointer, Code: "topic_not_found"})
	}
	return t, err
}

// newFeed reads one topic of a subscribe.
func (s *socket) newFeed(in *subTopic, i int) (*feed, error) {
	at := fmt.Sprintf("topics/%d", i)
	topic, err := s.topic(in.Topic, "/"+at+"/topic")
	if err != nil {
		return nil, err
	}
	f := &feed{topic: topic}
	for _, queue := range in.Queues {
		if queue < 0 || queue >= int64(topic.Queues) {
			return nil, wrong(at+"/queues", fmt.Sprintf("the topic has queues 0 to %d", topic.Queues-1))
		}
		f.queues = append(f.queues, uint32(queue))
	}
	field, detail := "", ""
	if f.filter, field, detail = parseFilter(in.Tags, in.SQL); detail != "" {
		return nil, wrong(at+"/"+field, detail)
	}
	return f, nil
}

// start adds a feed that follows from a position, or from a cursor and says
// what is missing since then.
func (sub *subscription) start(f *feed, from journal.Position, cursor string) (gaps []topicGap, err error) {
	if cursor != "" {
		if cursor, gaps, err = sub.socket.recover(f, cursor); err != nil {
			return nil, err
		}
	}
	follower, err := sub.follow(f, from, cursor)
	if err != nil {
		return nil, err
	}
	f.follower, f.cursor = follower, follower.Cursor()
	sub.feeds = append(sub.feeds, f)
	sub.socket.hub.shared.join(f.topic.ID)
	return gaps, nil
}

func (sub *subscription) follow(f *feed, from journal.Position, cursor string) (*journal.Follower, error) {
	source := &source{sub: sub}
	follower, err := sub.socket.hub.server.journal.Follow(sub.socket.ctx, journal.FollowOptions{
		Topic: f.topic, Queues: f.queues, From: from, Cursor: cursor, Filter: f.filter, Notify: source.notify,
	})
	if err == nil {
		f.source = source
	}
	return follower, err
}

// notify says that there may be messages for the subscription.
func (sub *subscription) notify() {
	if sub.news.CompareAndSwap(false, true) {
		sub.socket.wake()
	}
}

// recover moves a cursor to where the topic still is, and says what lies in
// between.
func (s *socket) recover(f *feed, text string) (string, []topicGap, error) {
	cursor, err := journal.ParseCursor(text)
	if err != nil || cursor.Topic != f.topic.ID {
		return "", nil, wrong("from/cursor", "not a cursor of these topics")
	}
	queues := make([]uint32, 0, len(cursor.Next))
	for _, next := range cursor.Next {
		if next.Queue < f.topic.Queues {
			queues = append(queues, next.Queue)
		}
	}
	epoch, states, err := s.bounds(f.topic, queues)
	if err != nil {
		return "", nil, err
	}
	var gaps []topicGap
	moved := journal.Cursor{Topic: cursor.Topic, Epoch: epoch}
	for i, state := range states {
		from := cursor.Next[i].Offset
		to, reason := from, ""
		switch {
		case from < state.Min:
			to, reason = state.Min, journal.GapTrimmed
		case from > state.Next:
			to, reason = state.Next, journal.GapBeyondEnd
		}
		if cursor.Epoch != epoch {
			reason = journal.GapEpoch
		}
		if reason != "" {
			gaps = append(gaps, topicGap{f.topic.Name, journal.Gap{Queue: state.Queue, From: from, To: to, Reason: reason, Epoch: epoch}})
		}
		moved.Next = append(moved.Next, journal.QueueOffset{Queue: state.Queue, Offset: to})
	}
	return moved.String(), gaps, nil
}

// bounds asks where queues begin and end.
func (s *socket) bounds(topic meta.Topic, queues []uint32) (int64, []meta.QueueState, error) {
	ctx, cancel := context.WithTimeout(s.ctx, askWithin)
	defer cancel()
	return s.hub.server.meta.Bounds(ctx, topic.ID, queues)
}

// askWithin bounds a question to Redis.
const askWithin = 5 * time.Second

// cursor is where the subscription is: the cursors of its topics, in order.
func (sub *subscription) cursor() string {
	if len(sub.feeds) == 1 {
		return sub.feeds[0].cursor
	}
	parts := make([]string, len(sub.feeds))
	for i, f := range sub.feeds {
		parts[i] = f.cursor
	}
	return strings.Join(parts, ".")
}

// lagging reports whether there is more than the client has got, where that
// cannot be found out by reading: without credit.
func (sub *subscription) lagging() bool {
	for _, f := range sub.feeds {
		cursor, err := journal.ParseCursor(f.cursor)
		if err != nil {
			return true
		}
		queues := make([]uint32, len(cursor.Next))
		for i, next := range cursor.Next {
			queues[i] = next.Queue
		}
		epoch, states, err := sub.socket.bounds(f.topic, queues)
		if err != nil || epoch != cursor.Epoch {
			return true
		}
		for i, state := range states {
			if cursor.Next[i].Offset != state.Next {
				return true
			}
		}
	}
	return false
}

// end gives the feeds back. It may be called while they are read, but not with
// the socket locked.
func (sub *subscription) end() {
	s := sub.socket
	if sub.consumer != nil {
		sub.endConsumer(true)
		return
	}
	var followers [maxSubTopics]*journal.Follower
	s.mu.Lock()
	sub.leavePump()
	for i, f := range sub.feeds {
		followers[i] = f.follower
	}
	s.mu.Unlock()
	for i, f := range sub.feeds {
		if followers[i] != nil {
			followers[i].Close()
		}
		sub.socket.hub.shared.leave(f.topic.ID)
	}
}
