package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// ErrNoHalf says that half messages are put down no more: their transaction has
// ended meanwhile.
var ErrNoHalf = errors.New("journal: half messages are put down no more")

// HalfRecords reads half messages that are put down in a topic and nobody else
// can read, as encoded records. It is for people and producers who look at an
// undecided transaction, not a hot path. ErrNoHalf; *CorruptError, of no offsets:
// the stored bytes are damaged or gone; ErrUnavailable.
func (j *Journal) HalfRecords(ctx context.Context, topic uuid.UUID, half meta.Half) ([]byte, error) {
	down, err := j.meta.Halves(ctx, topic, []uuid.UUID{half.ID})
	if err != nil {
		return nil, unavailable(err)
	}
	if len(down) == 0 || down[0].Placed {
		return nil, fmt.Errorf("half messages %s: %w", half.ID, ErrNoHalf)
	}
	e := &down[0].Entry
	var last error
	for range 2 { // a bit may flip on the way
		data, err := j.store.Get(ctx, segment.ObjectKey(e.Segment.Writer, e.Segment.Seq), e.Position, e.Length)
		switch {
		case errors.Is(err, objstore.ErrNotFound), errors.Is(err, objstore.ErrRange):
			last = err
			continue
		case err != nil:
			return nil, fmt.Errorf("%w: read half messages %s: %w", ErrUnavailable, half.ID, err)
		}
		row, payload, err := segment.DecodeBlock(data)
		if errors.Is(err, segment.ErrVersion) {
			return nil, err
		}
		if err == nil && row.Topic == topic && row.DueID == half.ID && row.Transaction != uuid.Nil {
			return payload, nil
		}
		last = err
	}
	j.log.Error("half messages cannot be read", "topic_id", topic, "id", half.ID, "segment", e.Segment, "error", last)
	return nil, &CorruptError{}
}
