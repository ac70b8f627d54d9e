package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

const (
	footersParallel = 8
	// footerGuess is what is read of an object's end at first: most footers fit.
	footerGuess = 32 << 10
	// footersProgress is how often a long scan says how far it is.
	footersProgress = 3 * time.Second
)

// logScan is what the footers of a part of the bucket say.
type logScan struct {
	segments []replay.Segment
	damaged  int // segments whose footer could not be read and was rebuilt from the block headers
}

// scanLog reads the footer and the control records of every segment under
// prefix. A damaged footer is rebuilt from the blocks, without receipts; an
// object that is no segment is left alone.
func scanLog(ctx context.Context, store objstore.Store, prefix string, log *slog.Logger) (*logScan, error) {
	out := &logScan{}
	var mu sync.Mutex // guards out
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(footersParallel)
	told, listed := time.Now(), 0
	for info, err := range store.List(ctx, prefix, "") {
		if err != nil {
			return nil, errors.Join(fmt.Errorf("list %s: %w", prefix, err), group.Wait())
		}
		if listed++; time.Since(told) > footersProgress {
			told = time.Now()
			log.Info("reading the log", "segments", listed, "at", info.Key)
		}
		group.Go(func() error {
			s, damaged, err := scanSegment(ctx, store, info)
			switch {
			case errors.Is(err, errNoSegment):
				log.Warn("not a segment", "key", info.Key)
				return nil
			case err != nil:
				return err
			}
			if damaged != nil {
				log.Error("segment is damaged: its receipts or states may be lost", "key", info.Key, "err", damaged)
			}
			mu.Lock()
			defer mu.Unlock()
			s.Damaged = damaged != nil
			out.segments = append(out.segments, s)
			if damaged != nil {
				out.damaged++
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

var errNoSegment = errors.New("journal: not a segment")

// scanSegment reads one footer; damaged says why it had to be rebuilt.
func scanSegment(ctx context.Context, store objstore.Store, info objstore.Info) (s replay.Segment, damaged, err error) {
	writer, seq, err := segment.ParseObjectKey(info.Key)
	if err != nil {
		return s, nil, errNoSegment
	}
	s.Footer, damaged, err = readFooter(ctx, store, info)
	if errors.Is(err, objstore.ErrNotFound) {
		s.Footer = segment.Footer{Writer: writer, Seq: seq, CreatedAt: info.ModifiedAt.UnixMilli()}
		return s, err, nil
	}
	if err != nil {
		return s, nil, err
	}
	if s.Footer.Writer != writer || s.Footer.Seq != seq {
		damaged = errors.Join(damaged, fmt.Errorf("%w: the footer names another segment", segment.ErrCorrupt))
		s.Footer.Writer, s.Footer.Seq = writer, seq
		s.Footer.Receipts, s.Footer.Burnt = nil, nil
	}
	for _, b := range s.Footer.Blocks {
		if b.Kind != segment.Control {
			continue
		}
		err := readControl(ctx, store, info.Key, b, &s)
		if errors.Is(err, segment.ErrCorrupt) {
			damaged = errors.Join(damaged, err)
			continue
		}
		if err != nil {
			return s, nil, err
		}
	}
	return s, damaged, nil
}

func readFooter(ctx context.Context, store objstore.Store, info objstore.Info) (f segment.Footer, damaged, err error) {
	want := min(int64(footerGuess), info.Size)
	r := rereader{store: store, key: info.Key}
	for {
		var tail []byte
		if want > 0 {
			if tail, err = r.get(ctx, info.Size-want, want); err != nil {
				return f, nil, fmt.Errorf("read the footer of %s: %w", info.Key, err)
			}
		}
		f, missing, err := segment.ParseFooter(tail, info.Size)
		switch {
		case errors.Is(err, segment.ErrVersion): // written by a newer release: hands off
			return f, nil, fmt.Errorf("read the footer of %s: %w", info.Key, err)
		case err == nil && missing == 0:
			return f, nil, nil
		case err == nil:
			want += missing
		case r.settled(tail):
			return rebuildFooter(ctx, store, info, err)
		}
	}
}

// rereader reads an object whose bytes look damaged until it is certain that
// they are stored so: what a recovery takes for lost is lost for good, so neither
// a bit that flips on the way nor a store that denies what it lists may do.
type rereader struct {
	store objstore.Store
	key   string
	last  []byte
	reads int
}

const (
	// rereads bounds how often an object is read that looks different each time.
	rereads = 10
	// listedWait is how long a store may deny an object that it lists.
	listedWait = 2 * time.Second
)

func (r *rereader) get(ctx context.Context, off, n int64) ([]byte, error) {
	for began := time.Now(); ; {
		data, err := r.store.Get(ctx, r.key, off, n)
		if !errors.Is(err, objstore.ErrNotFound) || time.Since(began) > listedWait {
			if r.reads++; err == nil && r.reads > rereads {
				return nil, fmt.Errorf("%w: it reads differently each time", ErrUnavailable)
			}
			return data, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// settled says whether damaged bytes are those of the read before, and so
// those that are stored.
func (r *rereader) settled(data []byte) bool {
	same := r.last != nil && bytes.Equal(data, r.last) || len(data) == 0
	r.last = data
	return same
}

// rebuildFooter walks the block headers of a segment whose footer is damaged.
func rebuildFooter(ctx context.Context, store objstore.Store, info objstore.Info, cause error) (f segment.Footer, damaged, err error) {
	r := rereader{store: store, key: info.Key}
	var blocks []segment.Block
	var faults []error
	for {
		object, err := r.get(ctx, 0, -1)
		if err != nil {
			return f, nil, fmt.Errorf("read %s: %w", info.Key, err)
		}
		if blocks, faults = segment.ScanBlocks(object); r.settled(object) {
			break
		}
	}
	f.Writer, f.Seq, _ = segment.ParseObjectKey(info.Key)
	f.CreatedAt = info.ModifiedAt.UnixMilli()
	f.Blocks = blocks
	return f, errors.Join(append([]error{cause}, faults...)...), nil
}

// readControl adds the states of a control block to s; with an error, those in
// front of the damage.
func readControl(ctx context.Context, store objstore.Store, key string, b segment.Block, s *replay.Segment) error {
	reread := rereader{store: store, key: key}
	var payload []byte
	for {
		data, err := reread.get(ctx, b.Position, b.Length)
		if err != nil {
			return fmt.Errorf("read the control records of %s: %w", key, err)
		}
		if _, payload, err = segment.DecodeBlock(data); err == nil {
			break
		}
		if reread.settled(data) {
			return fmt.Errorf("control records of %s: %w", key, err)
		}
	}
	for r, err := range segment.Records(payload) {
		if err != nil {
			return fmt.Errorf("control records of %s: %w", key, err)
		}
		if err := addState(s, string(r.Tag), r.Body); err != nil {
			return fmt.Errorf("%w: %s state in %s: %w", segment.ErrCorrupt, r.Tag, key, err)
		}
	}
	return nil
}

// addState adds the state of a control record; a kind of a newer release is kept
// in the log and not understood.
func addState(s *replay.Segment, kind string, body []byte) error {
	switch kind {
	case controlTopic:
		return decodeState(body, &s.Topics)
	case controlRecall:
		return decodeState(body, &s.Recalls)
	case controlTransaction:
		return decodeState(body, &s.Transactions)
	case controlDecision:
		return decodeState(body, &s.Decisions)
	case controlGroup:
		return decodeState(body, &s.Groups)
	case controlGroupSettings:
		return decodeState(body, &s.Settings)
	case controlGroupOffsets:
		return decodeState(body, &s.Offsets)
	}
	return nil
}

func decodeState[T any](body []byte, states *[]T) error {
	var state T
	if err := json.Unmarshal(body, &state); err != nil {
		return err
	}
	*states = append(*states, state)
	return nil
}
