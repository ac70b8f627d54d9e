package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// maxLogReceipts bounds the receipts of one object to about 5 MiB.
const maxLogReceipts = 50_000

// writeLog writes control records and receipts as segments of a writer of
// their own, so that what recovery and adoption decided is durable without
// the journal's own writer, whose order of seqs it must not disturb. It returns
// once they are durable.
func writeLog(ctx context.Context, store objstore.Store, states []controlRecord, receipts []segment.Receipt) error {
	writer, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make a writer id: %w", err)
	}
	for seq := uint64(1); seq == 1 || len(receipts) > 0; seq++ {
		b := segment.NewBuilder(writer, seq, time.Now().UnixMilli())
		for _, s := range states {
			b.AddChunks(segment.Control, uuid.Nil, 0, []segment.Chunk{s.chunk()})
		}
		states = nil
		n := min(len(receipts), maxLogReceipts)
		b.AddReceipts(receipts[:n])
		receipts = receipts[n:]
		object, _ := b.Finish()
		key := segment.ObjectKey(writer, seq)
		if err := store.Put(ctx, key, object); err != nil {
			return fmt.Errorf("put %s: %w", key, err)
		}
	}
	return nil
}
