package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

const (
	// An id says when its request came in, by the clock of a gateway. The message
	// was stored a little before (clocks differ) or later (it waited).
	idEarly = 5 * time.Minute
	idLate  = 15 * time.Minute
	// nearEarly and nearLate are how far that is mostly: one look-up finds the place.
	nearEarly = 2 * time.Second
	nearLate  = 5 * time.Second

	// searchMessages and searchBytes bound what one search looks through.
	searchMessages = 20_000
	searchBytes    = 64 << 20
)

// SearchOptions says what to look for. What is zero does not matter.
type SearchOptions struct {
	Topic meta.Topic
	ID    uuid.UUID // one message; times are taken from it
	Key   string    // one of the message's keys
	Tag   filter.Filter
	// From (included) and To (excluded) bound the time of storing, in Unix
	// milliseconds. A zero To is now.
	From, To int64
	Limit    int    // messages; 0 = DefaultReadMessages, at most MaxReadMessages
	Token    string // of the page before
}

// SearchPage is a part of what a search finds, in the order of storing.
type SearchPage struct {
	Messages []Item
	// ScannedUntil says that everything stored before then, in Unix
	// milliseconds, has been looked through by this page and those before it.
	ScannedUntil int64
	// Token continues the search; empty when it is complete.
	Token string
	// Gaps are stretches that could not be looked through: damaged, or removed
	// by retention while the search went on.
	Gaps []Gap
}

// Search looks through a topic in the order of storing. There is no index of
// ids and keys, but the footers of segments tell which blocks may hold a key. One
// call looks through a bounded number of messages with a bounded number of requests
// to the store, and returns a token to go on with. ErrCursor: the token is not one of this topic.
func (r *reader) Search(ctx context.Context, o SearchOptions) (*SearchPage, error) {
	o.Limit = limitOf(o.Limit, DefaultReadMessages, MaxReadMessages)
	if o.ID != uuid.Nil {
		at := segment.MessageTime(o.ID)
		if o.Token == "" {
			near := o
			near.From = max(o.From, at-nearEarly.Milliseconds())
			if near.To = at + nearLate.Milliseconds(); o.To != 0 {
				near.To = min(near.To, o.To)
			}
			if page, err := r.search(ctx, near); err != nil || len(page.Messages) > 0 {
				return page, err
			}
		}
		o.From = max(o.From, at-idEarly.Milliseconds())
		// Indexed when it is due, or when its transaction is committed, however late that is.
		later := o.Topic.Type == meta.TopicDelay || o.Topic.Type == meta.TopicTransaction || o.Topic.Type == meta.TopicMixed
		if end := at + idLate.Milliseconds(); !later && (o.To == 0 || end < o.To) {
			o.To = end
		}
	}
	return r.search(ctx, o)
}

// search is one call of Search, within what its options say.
func (r *reader) search(ctx context.Context, o SearchOptions) (*SearchPage, error) {
	s := &search{r: r, options: o, page: &SearchPage{}, want: newWant(o.Tag), messages: searchMessages, bytes: searchBytes, reads: searchReads}
	defer s.directories.trim(0)
	inner, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	err := s.start(inner)
	for err == nil && s.open() {
		err = s.step(inner)
	}
	if err != nil && ctx.Err() == nil && inner.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err != nil && !(s.advanced && errors.Is(err, ErrUnavailable)) {
		return nil, err
	}
	s.finish()
	return s.page, nil
}

// search merges the queues of a topic by the time of storing.
type search struct {
	r       *reader
	options SearchOptions
	want    want
	epoch   int64
	now     int64
	queues  []*searched // by queue
	page    *SearchPage

	messages int   // that may still be looked through
	bytes    int64 // that may still be looked through
	reads    int   // requests to the store that may still be made for a key
	found    bool  // the one message that was looked for
	advanced bool  // the token is another one than before

	directories directories // of a search for a key
}

// searched is one queue of a search.
type searched struct {
	queue    uint32
	next     int64
	storedAt int64        // everything stored before then has been looked through
	entries  []meta.Entry // from next on; none: not looked up, or done
	done     bool
}

// start finds where each queue is searched from.
func (s *search) start(ctx context.Context) error {
	cursor, err := cursorOf(FollowOptions{Topic: s.options.Topic, Cursor: s.options.Token})
	if err != nil {
		return err
	}
	if s.now, err = s.r.meta.Now(ctx); err != nil {
		return s.r.indexError(s.options.Topic.ID, err)
	}
	if s.options.To == 0 {
		s.options.To = s.now + 1
	}
	for queue := range s.options.Topic.Queues {
		q := &searched{queue: queue, storedAt: s.options.From}
		s.queues = append(s.queues, q)
		if cursor != nil {
			s.epoch = cursor.Epoch
			if next, ok := cursor.offset(queue); ok {
				q.next = next
				continue
			}
		}
		offset, w, err := s.r.meta.LookupTime(ctx, s.options.Topic.ID, queue, s.options.From, 1)
		if err != nil {
			return s.r.indexError(s.options.Topic.ID, err)
		}
		q.next = offset
		s.epoch = cmp.Or(s.epoch, w.Epoch)
	}
	return nil
}

// open reports whether there is room for more.
func (s *search) open() bool {
	return !s.found && s.messages > 0 && s.bytes > 0 && s.reads > 0 && len(s.page.Messages) < s.options.Limit && s.oldest() != nil
}

// oldest returns the queue whose next entry was stored first, nil when all are
// done. One that was not looked up yet comes before all.
func (s *search) oldest() *searched {
	var first *searched
	for _, q := range s.queues {
		switch {
		case q.done:
		case len(q.entries) == 0:
			return q
		case first == nil || q.entries[0].StoredAt < first.entries[0].StoredAt:
			first = q
		}
	}
	return first
}

// step looks through the oldest entry, or up what comes next in a queue.
func (s *search) step(ctx context.Context) error {
	q := s.oldest()
	if len(q.entries) == 0 {
		return s.lookup(ctx, q)
	}
	e := &q.entries[0]
	if e.First() > q.next {
		s.gap(q, e.First(), GapCorrupt)
		return nil
	}
	if s.want.rejects(e.Tags) {
		s.messages--
		s.pass(q, e.Next)
		return nil
	}
	if s.options.Key != "" {
		return s.keyed(ctx, q, e)
	}
	return s.entry(ctx, q, e, e.Next)
}

func (s *search) lookup(ctx context.Context, q *searched) error {
	w, err := s.r.meta.Lookup(ctx, s.options.Topic.ID, q.queue, q.next, lookupEntries)
	if err != nil {
		return s.r.indexError(s.options.Topic.ID, err)
	}
	if s.epoch != 0 && w.Epoch != s.epoch {
		return &EpochError{Current: w.Epoch}
	}
	if q.next < w.Min {
		s.gap(q, w.Min, GapTrimmed)
		return nil
	}
	q.entries = w.Entries
	q.stop(s.options.To)
	return nil
}

// stop ends the queue at the first entry that is too new.
func (q *searched) stop(to int64) {
	q.done = len(q.entries) == 0 || q.entries[0].StoredAt >= to
}

// pass goes on behind messages of the queue's next entry.
func (s *search) pass(q *searched, next int64) {
	s.advanced = true
	q.next, q.storedAt = next, q.entries[0].StoredAt
	if q.entries[0].Next > next {
		return
	}
	if q.entries = q.entries[1:]; len(q.entries) > 0 {
		q.stop(s.options.To)
	}
}

func (s *search) gap(q *searched, to int64, reason string) {
	s.page.Gaps = append(s.page.Gaps, Gap{Queue: q.queue, From: q.next, To: to, Reason: reason, Epoch: s.epoch})
	q.next, q.entries, s.advanced = to, nil, true
}

// entry looks through the messages of one entry up to an offset in it.
func (s *search) entry(ctx context.Context, q *searched, e *meta.Entry, end int64) error {
	read := Read{
		Topic: s.options.Topic, Queue: q.queue, Epoch: s.epoch, Filter: s.options.Tag,
		MaxMessages: int(min(end-q.next, MaxReadMessages)), MaxBytes: DefaultReadBytes,
	}
	page, err := s.r.look(ctx, &read, &s.want, q.next, readTimeout)
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		s.gap(q, corrupt.Next, GapCorrupt)
		return nil
	}
	if err != nil {
		return err
	}
	next := min(page.Next, end) // a scan may go beyond
	for i := range page.Messages {
		m := &page.Messages[i]
		if m.Offset >= end || !s.matches(&m.Record) {
			continue
		}
		s.page.Messages = append(s.page.Messages, Item{Queue: q.queue, Stored: *m})
		s.found = s.options.ID != uuid.Nil
		if s.found || len(s.page.Messages) == s.options.Limit {
			next = m.Offset + 1
			break
		}
	}
	s.messages -= int(next - q.next)
	s.bytes -= e.Length * (next - q.next) / int64(e.Count)
	s.pass(q, next)
	return nil
}

// matches tests what the filter does not.
func (s *search) matches(r *segment.Record) bool {
	if s.options.ID != uuid.Nil && r.ID != s.options.ID {
		return false
	}
	if s.options.Key == "" {
		return true
	}
	for key := range bytes.SplitSeq(r.Keys, []byte(" ")) {
		if string(key) == s.options.Key {
			return true
		}
	}
	return false
}

// finish says how far the search came and how to go on.
func (s *search) finish() {
	s.page.ScannedUntil = min(s.options.To, s.now)
	if s.found || !slices.ContainsFunc(s.queues, func(q *searched) bool { return !q.done }) {
		return
	}
	cursor := Cursor{Topic: s.options.Topic.ID, Epoch: s.epoch}
	for _, q := range s.queues {
		cursor.Next = append(cursor.Next, QueueOffset{Queue: q.queue, Offset: q.next})
		switch {
		case q.done:
		case len(q.entries) > 0:
			s.page.ScannedUntil = min(s.page.ScannedUntil, q.entries[0].StoredAt)
		default:
			s.page.ScannedUntil = min(s.page.ScannedUntil, q.storedAt)
		}
	}
	s.page.Token = cursor.String()
}
