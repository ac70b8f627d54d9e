package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

const (
	// searchReads bounds the requests to the store of one search by key: footers,
	// and blocks that may hold the key.
	searchReads = 256
	// searchAhead is how many footers are fetched at a time.
	searchAhead = 8
	// searchKept is how many directories a search holds on to.
	searchKept = 64
)

// directory is what a search by key knows of a segment: its blocks, and which of them
// may hold the key. One without an object knows nothing.
type directory struct {
	object  *object // whose memory filters is in; released with the directory
	filters segment.KeyFilters
}

// directories are those that a search used last.
type directories struct {
	known map[meta.SegmentRef]*directory
	order []meta.SegmentRef // oldest first
}

func (d *directories) add(ref meta.SegmentRef, one *directory) {
	if d.known == nil {
		d.known = make(map[meta.SegmentRef]*directory)
	}
	d.known[ref], d.order = one, append(d.order, ref)
}

// trim releases all but the most directories that were added last.
func (d *directories) trim(most int) {
	for len(d.order) > most {
		if one := d.known[d.order[0]]; one.object != nil {
			one.object.release()
		}
		delete(d.known, d.order[0])
		d.order = d.order[1:]
	}
}

// keyed looks for the key in an entry: in the next of its blocks that may hold it.
func (s *search) keyed(ctx context.Context, q *searched, e *meta.Entry) error {
	d, err := s.directory(ctx, e)
	if err != nil {
		return err
	}
	if d.object == nil {
		s.reads--
		return s.entry(ctx, q, e, e.Next)
	}
	s.messages--
	for sp, err := range d.object.listed(s.options.Topic.ID, e) {
		if err != nil {
			return s.entry(ctx, q, e, e.Next)
		}
		if sp.next() <= q.next || s.want.rejects(sp.tags) || !d.filters.MayHold(d.row(sp), s.options.Key) {
			continue
		}
		if sp.first > q.next {
			s.pass(q, sp.first)
		}
		return s.block(ctx, q, e, sp, d.object)
	}
	s.pass(q, e.Next)
	return nil
}

// row returns the place of a block in the directory.
func (d *directory) row(sp span) int {
	row, _ := slices.BinarySearchFunc(d.object.directory, sp.position, func(b segment.Block, position int64) int {
		return cmp.Compare(b.Position, position)
	})
	return row
}

// block looks through the messages of one block. It is in the part of the segment that
// is here already, or fetched alone. What cannot be read so is left to entry, which
// knows about faults.
func (s *search) block(ctx context.Context, q *searched, e *meta.Entry, sp span, o *object) error {
	if sp.position < o.start {
		s.reads--
		var err error
		key := pieceKey{segment: e.Segment, start: sp.position, length: sp.length}
		o, err = s.r.cache.fetch(ctx, key, cold, func(ctx context.Context) (*object, error) {
			data, err := s.r.get(ctx, key)
			return newPiece(key.start, data, s.r.memory), err
		})
		if err != nil {
			return s.entry(ctx, q, e, sp.next())
		}
	} else {
		o.retain()
	}
	b, err := o.block(s.options.Topic.ID, e.Queue, sp)
	if err != nil {
		o.release()
		return s.entry(ctx, q, e, sp.next())
	}
	found := len(s.page.Messages)
	next, err := s.records(q, e, sp, b)
	if len(s.page.Messages) == found {
		o.release() // else the messages are in its memory
	}
	if err != nil {
		return err
	}
	s.messages -= int(next - q.next)
	s.bytes -= sp.length
	s.pass(q, next)
	return nil
}

// records adds what matches of a block and returns where to go on.
func (s *search) records(q *searched, e *meta.Entry, sp span, b *block) (next int64, err error) {
	from := max(q.next, sp.first)
	rest := b.from(uint32(from - sp.first))
	for offset := from; offset < sp.next(); offset++ {
		r, n, err := segment.DecodeRecord(rest)
		if err != nil {
			return 0, fmt.Errorf("record of a checked block: %w", err)
		}
		if s.matches(&r) && s.options.Tag.Match(&r) {
			s.page.Messages = append(s.page.Messages, Item{Queue: q.queue, Stored: Stored{
				Offset: offset, StoredAt: e.StoredAt, Record: r, Raw: rest[:n:n],
			}})
			if len(s.page.Messages) == s.options.Limit {
				return offset + 1, nil
			}
		}
		rest = rest[n:]
	}
	return sp.next(), nil
}

// directory returns what is known of an entry's segment, and fetches it together
// with those that come next.
func (s *search) directory(ctx context.Context, e *meta.Entry) (*directory, error) {
	if d := s.directories.known[e.Segment]; d != nil {
		return d, nil
	}
	s.directories.trim(searchKept)
	refs := s.upcoming(e)
	found := make([]*directory, len(refs))
	group, inner := errgroup.WithContext(ctx)
	for i, ref := range refs {
		if whole := s.r.cache.get(pieceKey{segment: ref}); whole != nil {
			found[i] = directoryOf(whole)
			continue
		}
		s.reads--
		group.Go(func() (err error) {
			found[i], err = s.r.footer(inner, ref)
			return err
		})
	}
	err := group.Wait()
	for i, ref := range refs {
		if found[i] != nil {
			s.directories.add(ref, found[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return s.directories.known[e.Segment], nil
}

// upcoming returns the segment of an entry and those that are looked through next.
func (s *search) upcoming(e *meta.Entry) []meta.SegmentRef {
	refs := []meta.SegmentRef{e.Segment}
	var entries []*meta.Entry
	for _, q := range s.queues {
		for i := range q.entries {
			if entry := &q.entries[i]; entry.StoredAt < s.options.To && !s.want.rejects(entry.Tags) {
				entries = append(entries, entry)
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b *meta.Entry) int { return cmp.Compare(a.StoredAt, b.StoredAt) })
	for _, entry := range entries {
		if len(refs) >= min(searchAhead, s.reads) {
			break
		}
		if s.directories.known[entry.Segment] == nil && !slices.Contains(refs, entry.Segment) {
			refs = append(refs, entry.Segment)
		}
	}
	return refs
}

// footer returns the directory of a segment from the end of its object. What cannot
// be had so is not known: only the messages tell then.
func (r *reader) footer(ctx context.Context, ref meta.SegmentRef) (*directory, error) {
	key := pieceKey{segment: ref, start: -1}
	o, err := r.cache.fetch(ctx, key, cold, func(ctx context.Context) (*object, error) {
		for want := int64(footerGuess); ; {
			tail, err := r.get(ctx, pieceKey{segment: ref, start: -want, length: -1})
			if err != nil {
				return nil, err
			}
			size, err := segment.ObjectSize(tail)
			if err != nil {
				return nil, err
			}
			f, missing, err := segment.ParseFooter(tail, size)
			switch {
			case err != nil:
				return nil, err
			case missing > 0 && want > int64(len(tail)):
				return nil, fmt.Errorf("%w: footer longer than its object", segment.ErrCorrupt)
			case missing > 0:
				want = int64(len(tail)) + missing
				r.memory.give(tail)
				continue
			}
			o := newPiece(size-int64(len(tail)), tail, r.memory)
			o.directory = f.Blocks
			return o, nil
		}
	})
	if ctx.Err() != nil || errors.Is(err, ErrUnavailable) {
		return nil, err
	}
	if err != nil {
		return &directory{}, nil
	}
	return directoryOf(o), nil
}

// directoryOf takes over its caller's use of an object that ends with a footer.
func directoryOf(o *object) *directory {
	if o.directory != nil {
		if filters, err := segment.ParseKeyFilters(o.data, len(o.directory)); err == nil {
			return &directory{object: o, filters: filters}
		}
	}
	o.release()
	return &directory{}
}
