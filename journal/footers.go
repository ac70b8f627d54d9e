package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
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
			case errors.Is(err, objstore.ErrNotFound), errors.Is(err, errNoSegment):
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
		topics, err := readControl(ctx, store, info.Key, b)
		s.Topics = append(s.Topics, topics...)
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
	for {
		var tail []byte
		if want > 0 {
			if tail, err = store.Get(ctx, info.Key, info.Size-want, want); err != nil {
				return f, nil, fmt.Errorf("read the footer of %s: %w", info.Key, err)
			}
		}
		f, missing, err := segment.ParseFooter(tail, info.Size)
		if errors.Is(err, segment.ErrVersion) { // written by a newer release: hands off
			return f, nil, fmt.Errorf("read the footer of %s: %w", info.Key, err)
		}
		if err != nil {
			return rebuildFooter(ctx, store, info, err)
		}
		if missing == 0 {
			return f, nil, nil
		}
		want += missing
	}
}

// rebuildFooter walks the block headers of a segment whose footer is damaged.
func rebuildFooter(ctx context.Context, store objstore.Store, info objstore.Info, cause error) (f segment.Footer, damaged, err error) {
	object, err := store.Get(ctx, info.Key, 0, -1)
	if err != nil {
		return f, nil, fmt.Errorf("read %s: %w", info.Key, err)
	}
	f.Writer, f.Seq, _ = segment.ParseObjectKey(info.Key)
	f.CreatedAt = info.ModifiedAt.UnixMilli()
	blocks, faults := segment.ScanBlocks(object)
	f.Blocks = blocks
	return f, errors.Join(append([]error{cause}, faults...)...), nil
}

// readControl returns the topic states of a control block; with an error, those
// in front of the damage.
func readControl(ctx context.Context, store objstore.Store, key string, b segment.Block) ([]meta.Topic, error) {
	bytes, err := store.Get(ctx, key, b.Position, b.Length)
	if err != nil {
		return nil, fmt.Errorf("read the control records of %s: %w", key, err)
	}
	_, payload, err := segment.DecodeBlock(bytes)
	if err != nil {
		return nil, fmt.Errorf("control records of %s: %w", key, err)
	}
	var topics []meta.Topic
	for r, err := range segment.Records(payload) {
		if err != nil {
			return topics, fmt.Errorf("control records of %s: %w", key, err)
		}
		if string(r.Tag) != controlTopic {
			continue // a kind of a newer release: it is kept, not understood
		}
		var t meta.Topic
		if err := json.Unmarshal(r.Body, &t); err != nil {
			return topics, fmt.Errorf("%w: topic state in %s: %w", segment.ErrCorrupt, key, err)
		}
		topics = append(topics, t)
	}
	return topics, nil
}
