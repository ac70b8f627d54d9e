package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

const (
	// minScan is how many messages one read examines at least, whatever its
	// filter rejects, before it answers that none matched.
	minScan = 800
	// maxScanBytes bounds the bytes that one read looks through for matches.
	maxScanBytes = 32 << 20
	// lookupEntries is how much of the index one look-up returns.
	lookupEntries = 128
	// parallelGets is how many objects one reader that catches up fetches at a time.
	parallelGets = 4
	// missingRetry is how long an indexed object may be absent before it counts
	// as lost: some stores show a new object late.
	missingRetry = 2 * time.Second
	// damagedReads is how often a segment that looks damaged is fetched again
	// before it is called unavailable: damage that is stored reads the same twice.
	damagedReads = 4
)

// errOtherEpoch ends a scan whose topic changed its epoch on the way.
var errOtherEpoch = errors.New("journal: epoch changed during the scan")

// scan collects one page. It is used once, by one goroutine.
type scan struct {
	r     *reader
	read  *Read
	want  *want
	page  *Page
	start int64

	limit    int   // messages that may still be examined
	found    int   // messages of the page
	bytes    int64 // of the page's messages
	examined int64 // bytes looked through
	full     bool
	current  meta.Entry // being looked at
	users    []*object  // that this scan is a user of, then its page
}

// scan reads one page from offset on without waiting. An error is returned only
// when there is nothing before it; else the page ends there and the next read
// meets it.
func (r *reader) scan(ctx context.Context, read *Read, w *want, offset int64) (*Page, error) {
	s := &scan{
		r: r, read: read, want: w, start: offset,
		page:  &Page{Next: offset},
		limit: max(minScan, read.MaxMessages),
	}
	err := s.run(ctx)
	s.page.users = s.users
	if s.found == 0 {
		s.page.Release()
	}
	if s.page.Next > s.start || s.found > 0 {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	switch {
	case s.found > 0:
		s.page.Status = Found
	case s.page.Next > s.start:
		s.page.Status = NoMatch
	default:
		s.page.Status = NoNew
	}
	return s.page, nil
}

// run fills the page window by window, and waits a little for an object that is
// indexed but not there.
func (s *scan) run(ctx context.Context) error {
	missingSince := time.Time{}
	for pause := 50 * time.Millisecond; !s.full; {
		more, err := s.step(ctx)
		if !errors.Is(err, objstore.ErrNotFound) {
			if err != nil || !more {
				return err
			}
			continue
		}
		if s.page.Next > s.start {
			return nil
		}
		if missingSince.IsZero() {
			missingSince = time.Now()
		}
		if time.Since(missingSince)+pause > missingRetry {
			return s.lost("missing", &CorruptError{First: s.page.Next, Next: s.current.Next}, err)
		}
		if t := s.r.tails.of(s.read.Topic.ID); t != nil {
			t.forget(s.read.Queue)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		pause *= 2
	}
	return nil
}

// step examines one window of the index and reports whether there may be more.
func (s *scan) step(ctx context.Context) (more bool, err error) {
	before := s.page.Next
	w, err := s.r.window(ctx, s.read, before)
	if err != nil {
		return false, err
	}
	if err := s.enter(&w.Window); err != nil || s.page.Next == w.Next {
		return false, err
	}
	if s.page.Next != before {
		return true, nil // clamped: the window was looked up at another offset
	}
	objects := s.prefetch(ctx, w.Entries, w.class)
	for i := range w.Entries {
		s.current = w.Entries[i]
		if s.current.Next <= s.page.Next {
			continue
		}
		if s.current.First() > s.page.Next {
			return false, &CorruptError{First: s.page.Next, Next: s.current.First()}
		}
		if s.want.rejects(s.current.Tags) {
			s.skip(s.current.Next)
		} else if err := s.entry(ctx, &s.current, w.class, objects[s.current.Segment]); err != nil {
			return false, err
		}
		if w.class == cold && s.page.Next == s.current.Next {
			s.r.cache.passed(pieceKey{segment: s.current.Segment})
		}
		if s.full {
			if w.class == cold {
				s.lookAhead(w.Entries[i:])
			}
			return false, nil
		}
	}
	if s.page.Next == before {
		return false, &CorruptError{First: before, Next: w.Next}
	}
	// What is remembered of the tail may have been behind: a reader that found
	// nothing there asks Redis.
	return s.page.Next < w.Next || (w.remembered && s.found == 0), nil
}

// enter takes over the queue's bounds and refuses an offset outside of them.
func (s *scan) enter(w *meta.Window) error {
	switch {
	case s.page.Next == s.start: // nothing read so far
		if s.read.Epoch != 0 && s.read.Epoch != w.Epoch {
			return &EpochError{Current: w.Epoch}
		}
		if s.page.Next < w.Min || s.page.Next > w.Next {
			if !s.read.Clamp {
				return &BoundsError{Trimmed: s.page.Next < w.Min, Min: w.Min, Next: w.Next}
			}
			s.page.Next = min(max(s.page.Next, w.Min), w.Next)
			s.start = s.page.Next
		}
	case s.page.Epoch != w.Epoch:
		return errOtherEpoch
	case s.page.Next < w.Min || s.page.Next > w.Next:
		return &BoundsError{Trimmed: s.page.Next < w.Min, Min: w.Min, Next: w.Next}
	}
	s.page.Epoch, s.page.Min, s.page.Max = w.Epoch, w.Min, w.Next
	return nil
}

// skip passes messages up to next that are known not to match.
func (s *scan) skip(next int64) {
	n := min(next-s.page.Next, int64(s.limit))
	s.page.Next += n
	s.examine(int(n), 0)
}

// examine counts messages and bytes that were looked at.
func (s *scan) examine(n int, bytes int64) {
	s.limit -= n
	s.examined += bytes
	if s.limit <= 0 || s.examined >= maxScanBytes {
		s.full = true
	}
}

// entry examines the messages of one entry from the page's next offset on.
func (s *scan) entry(ctx context.Context, e *meta.Entry, in class, o *object) error {
	var err error
	if o == nil || !o.holds(e) {
		if o, err = s.r.object(ctx, s.read.Topic.ID, e, in); err != nil {
			return err
		}
		s.use(o)
	}
	var damage *CorruptError
	err = s.object(e, o)
	for n := 0; errors.As(err, &damage); n++ {
		switch {
		case o.final:
			return s.lost("damaged", damage, err)
		case n == damagedReads:
			return fmt.Errorf("%w: segment reads differently each time: %v", ErrUnavailable, err)
		}
		if o, err = s.r.again(ctx, e, in, o); err != nil {
			return err
		}
		s.use(o)
		err = s.object(e, o)
	}
	return err
}

// use keeps an object, which was given to this scan, until its page is released.
func (s *scan) use(o *object) {
	if n := len(s.users); n > 0 && s.users[n-1] == o {
		o.release()
		return
	}
	s.users = append(s.users, o)
}

// object examines the messages of one entry in the object that holds its bytes.
func (s *scan) object(e *meta.Entry, o *object) error {
	for sp, err := range o.spans(s.read.Topic.ID, e) {
		if err != nil {
			return err
		}
		if sp.next() <= s.page.Next {
			continue
		}
		if s.want.rejects(sp.tags) {
			s.skip(sp.next())
		} else {
			b, err := o.block(s.read.Topic.ID, e.Queue, sp)
			if err != nil {
				return err
			}
			examine := s.records
			if s.read.Raw {
				examine = s.runs
			}
			if err := examine(b, sp, e.StoredAt); err != nil {
				return err
			}
		}
		if s.full {
			return nil
		}
	}
	return nil
}

// records examines the messages of one checked block. Each is decoded into the
// page's next free place and stays there if it matches.
func (s *scan) records(b *block, sp span, storedAt int64) error {
	rest := b.from(uint32(s.page.Next - sp.first))
	for s.page.Next < sp.next() && !s.full {
		m := s.place(b)
		var n int
		var err error
		if m.Record, n, err = segment.DecodeRecord(rest); err != nil {
			return fmt.Errorf("record of a checked block: %w", err)
		}
		if s.want.filter.Match(&m.Record) {
			m.Offset, m.StoredAt, m.Raw = s.page.Next, storedAt, rest[:n:n]
			if !s.take(int64(n)) {
				return nil
			}
		}
		rest = rest[n:]
		s.page.Next++
		s.examine(1, int64(n))
	}
	return nil
}

// place returns room for one more message behind the page's messages. When all
// that is read matches, the room is made once, by the size of the block's records.
func (s *scan) place(b *block) *Stored {
	n := len(s.page.Messages)
	if n == cap(s.page.Messages) {
		room := int64(max(n, 32))
		if s.want.filter.All() {
			room = s.read.MaxBytes/max(1, int64(len(b.payload))/int64(b.row.Count)) + 1
		}
		room = min(room, int64(s.read.MaxMessages-n), s.page.Max-s.page.Next)
		s.page.Messages = slices.Grow(s.page.Messages, int(max(1, room)))
	}
	return &s.page.Messages[:n+1][n]
}

// take makes the message in the free place one of the page and reports whether
// there was room for its bytes. The first message always has room.
func (s *scan) take(bytes int64) bool {
	if !s.room(1, bytes) {
		return false
	}
	s.page.Messages = s.page.Messages[:len(s.page.Messages)+1]
	return true
}

// room counts n more messages of the page and reports whether it may have them.
func (s *scan) room(n int, bytes int64) bool {
	if s.found > 0 && s.bytes+bytes > s.read.MaxBytes {
		s.full = true
		return false
	}
	s.bytes += bytes
	s.found += n
	s.full = s.found >= s.read.MaxMessages
	return true
}

// lost raises the alarm for messages that cannot be read.
func (s *scan) lost(reason string, damage *CorruptError, cause error) error {
	damage = &CorruptError{First: max(damage.First, s.page.Next), Next: damage.Next}
	s.r.metrics.lost.WithLabelValues(reason).Inc()
	s.r.log.Error("stored messages cannot be read", "reason", reason, "topic", s.read.Topic.ID, "queue", s.read.Queue,
		"first", damage.First, "next", damage.Next, "cause", cause)
	return damage
}

// prefetch loads the objects that the page will need, several at a time. What
// goes wrong here is met again by the one who needs it.
func (s *scan) prefetch(ctx context.Context, entries []meta.Entry, in class) map[meta.SegmentRef]*object {
	missing := s.missing(entries)
	if len(missing) < 2 {
		return nil
	}
	loaded := make([]*object, len(missing))
	var group errgroup.Group
	for i, e := range missing {
		group.Go(func() error {
			loaded[i], _ = s.r.object(ctx, s.read.Topic.ID, e, in)
			return nil
		})
	}
	_ = group.Wait() // only ever nil
	objects := make(map[meta.SegmentRef]*object, len(missing))
	for i, e := range missing {
		if loaded[i] != nil {
			s.use(loaded[i])
			objects[e.Segment] = loaded[i]
		}
	}
	return objects
}

// missing returns the entries in whose objects the rest of the page lies and
// which are not in memory, one for each object.
func (s *scan) missing(entries []meta.Entry) []*meta.Entry {
	messages, bytes := int64(s.read.MaxMessages-s.found), s.read.MaxBytes-s.bytes
	var missing []*meta.Entry
	for i := range entries {
		e := &entries[i]
		if messages <= 0 || bytes <= 0 || len(missing) == parallelGets {
			break
		}
		if e.Next <= s.page.Next || s.want.rejects(e.Tags) {
			continue
		}
		messages -= e.Next - max(e.First(), s.page.Next)
		bytes -= e.Length
		repeated := len(missing) > 0 && missing[len(missing)-1].Segment == e.Segment
		if !repeated && !s.r.cache.touch(pieceKey{segment: e.Segment}) {
			missing = append(missing, e)
		}
	}
	return missing
}

// sleep waits, or returns the cause of ctx's end.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
}
