package fsck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// object is the check of one segment.
type object struct {
	c      *checker
	bytes  window
	keys   segment.KeyFilters
	result Object
}

// check fills in the result and reports the faults. Its error is the end of ctx.
func (o *object) check(ctx context.Context) error {
	f, err := o.footer(ctx)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("check %s: %w", o.bytes.info.Key, ctx.Err())
	case err == nil:
		o.describe(&f)
		return o.blocks(ctx, f.Blocks)
	case errors.Is(err, segment.ErrVersion):
		o.found(UnknownVersion, nil, err)
		return nil
	case errors.Is(err, segment.ErrCorrupt):
		return o.withoutFooter(ctx, err)
	default:
		o.found(readFault(err), nil, err)
		return nil
	}
}

func (o *object) found(kind FaultKind, block *Block, err error) {
	o.result.Faults++
	o.c.fault(Fault{Kind: kind, Key: o.bytes.info.Key, Block: block, Detail: err.Error()})
}

func readFault(err error) FaultKind {
	if errors.Is(err, objstore.ErrRange) {
		return Truncated
	}
	return Unreadable
}

func (o *object) footer(ctx context.Context) (segment.Footer, error) {
	n := int64(segment.TrailerSize)
	for {
		tail, err := o.bytes.tail(ctx, n)
		if err != nil {
			return segment.Footer{}, err
		}
		f, missing, err := segment.ParseFooter(tail, o.bytes.info.Size)
		if err != nil {
			return f, err
		}
		if missing == 0 {
			if o.keys, err = segment.ParseKeyFilters(bytes.Clone(tail), len(f.Blocks)); err != nil {
				o.found(Mismatch, nil, err)
			}
			return f, nil
		}
		n = int64(len(tail)) + missing
	}
}

// describe takes in what the footer says. An object under another key than its
// own counts for its key, but what it says of others is not believed.
func (o *object) describe(f *segment.Footer) {
	o.result.CreatedAt = time.UnixMilli(f.CreatedAt).UTC()
	o.result.Receipts = len(f.Receipts)
	o.result.Burnt = f.Burnt
	o.c.report.Receipts += int64(len(f.Receipts))
	if f.Writer != o.result.Writer || f.Seq != o.result.Seq {
		o.found(Mismatch, nil, fmt.Errorf("the footer is of %s", segment.ObjectKey(f.Writer, f.Seq)))
		return
	}
	o.c.learn(f)
}

// blocks checks every block that the directory has.
func (o *object) blocks(ctx context.Context, rows []segment.Block) error {
	for i, row := range rows {
		entry := blockOf(row)
		b, err := o.bytes.read(ctx, row.Position, row.Length)
		if ctx.Err() != nil {
			return fmt.Errorf("check %s: %w", o.bytes.info.Key, ctx.Err())
		}
		if err != nil {
			o.foundIn(readFault(err), &entry, err)
		} else {
			o.block(b, row, &entry, func(key string) bool { return o.keys.MayHold(i, key) })
		}
		o.count(entry)
	}
	return nil
}

// withoutFooter checks what can be found of an object whose footer cannot be
// read: its blocks describe themselves.
func (o *object) withoutFooter(ctx context.Context, cause error) error {
	b, err := o.bytes.read(ctx, 0, o.bytes.info.Size)
	if ctx.Err() != nil {
		return fmt.Errorf("check %s: %w", o.bytes.info.Key, ctx.Err())
	}
	if err != nil {
		o.found(DamagedFooter, nil, cause)
		o.found(readFault(err), nil, err)
		return nil
	}
	rows, faults := segment.ScanBlocks(b)
	kind := DamagedFooter
	if n := len(faults); n > 0 && errors.Is(faults[n-1], segment.ErrTruncated) {
		kind = Truncated
	}
	o.found(kind, nil, cause)
	for _, err := range faults {
		o.found(blockFault(err), nil, err)
	}
	for _, row := range rows {
		entry := blockOf(row)
		o.block(b[row.Position:][:row.Length], row, &entry, nil)
		o.count(entry)
	}
	return nil
}

func blockFault(err error) FaultKind {
	switch {
	case errors.Is(err, segment.ErrVersion):
		return UnknownVersion
	case errors.Is(err, segment.ErrTruncated):
		return Truncated
	}
	return DamagedBlock
}

func (o *object) foundIn(kind FaultKind, entry *Block, err error) {
	entry.Fault = kind
	o.found(kind, entry, err)
}

func (o *object) count(entry Block) {
	o.c.report.Blocks++
	if entry.Fault == "" {
		o.c.report.Records += int64(entry.Count)
		if entry.Due != 0 {
			o.c.report.Delayed += int64(entry.Count)
		}
		if entry.Transaction != uuid.Nil {
			o.c.report.Half += int64(entry.Count)
		}
	} else {
		o.c.report.DamagedBlocks++
	}
	if o.c.opts.Object != nil {
		o.result.Blocks = append(o.result.Blocks, entry)
	}
}

// block checks one block's bytes against its CRC, against the directory's row
// and record by record; each key of one is a key that mayHold, if there is one, says
// may be there.
func (o *object) block(b []byte, row segment.Block, entry *Block, mayHold func(key string) bool) {
	block, payload, err := segment.DecodeBlock(b)
	if err != nil {
		// The directory gave the length: too few bytes are damage of the header.
		kind := DamagedBlock
		if errors.Is(err, segment.ErrVersion) {
			kind = UnknownVersion
		}
		o.foundIn(kind, entry, err)
		return
	}
	block.Position = row.Position
	if !block.Equal(row) {
		o.foundIn(Mismatch, entry, errors.New("the header in front of the block is not the directory's"))
		return
	}
	if row.Kind != segment.Messages {
		mayHold = nil
	}
	if kind, err := checkRecords(payload, row, mayHold); err != nil {
		o.foundIn(kind, entry, err)
	}
}

func checkRecords(payload []byte, row segment.Block, mayHold func(key string) bool) (FaultKind, error) {
	n := uint32(0)
	for r, err := range segment.Records(payload) {
		if errors.Is(err, segment.ErrVersion) {
			return UnknownVersion, fmt.Errorf("record %d: %w", n, err)
		}
		if err != nil {
			return DamagedRecord, fmt.Errorf("record %d: %w", n, err)
		}
		bloom := segment.TagBloom(r.Tag)
		if r.BornAt < row.MinBorn || r.BornAt > row.MaxBorn || row.Tags&bloom != bloom {
			return Mismatch, fmt.Errorf("record %d is outside the times or tags of its block", n)
		}
		for key := range strings.FieldsSeq(string(r.Keys)) {
			if mayHold != nil && !mayHold(key) {
				return Mismatch, fmt.Errorf("a key of record %d is not in its block's key filter", n)
			}
		}
		n++
	}
	if n != row.Count {
		return Mismatch, fmt.Errorf("block holds %d records and says %d", n, row.Count)
	}
	return "", nil
}
