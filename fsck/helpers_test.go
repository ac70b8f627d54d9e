package fsck_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"iter"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/fsck"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/uuid"
)

var (
	writerA = uuid.MustParse("0198a000-0000-7000-8000-000000000001")
	writerB = uuid.MustParse("0198a000-0000-7000-8000-000000000002")
	topic   = uuid.MustParse("0198a000-0000-7000-8000-00000000000a")
)

// chunk is one chunk of messages with these bodies.
func chunk(bodies ...string) segment.Chunk {
	c := segment.Chunk{Count: uint32(len(bodies)), Tags: segment.TagBloom([]byte("tag"))}
	for _, body := range bodies {
		c.Payload = segment.AppendRecord(c.Payload, &segment.Record{Tag: []byte("tag"), Body: []byte(body)})
	}
	return c
}

// object is a segment of three blocks, with receipts of these seqs of its writer.
func object(writer uuid.UUID, seq uint64, receipts []segment.Receipt, burnt ...uint64) ([]byte, segment.Footer) {
	b := segment.NewBuilder(writer, seq, 1_700_000_000_000)
	keyed := chunk("keyed")
	keyed.Identity = &segment.Identity{Kind: segment.IdentityKey, Parts: 1}
	b.AddChunks(segment.Messages, topic, 2, []segment.Chunk{chunk("one", "two"), keyed})
	b.AddChunks(segment.Control, uuid.Nil, 0, []segment.Chunk{chunk("{}")})
	b.AddReceipts(receipts)
	b.AddBurnt(burnt)
	return b.Finish()
}

func receipt(writer uuid.UUID, seq uint64) segment.Receipt {
	return segment.Receipt{Writer: writer, Seq: seq, Topic: topic, Count: 1}
}

func put(t *testing.T, store objstore.Store, key string, body []byte) {
	t.Helper()
	if err := store.Put(t.Context(), key, body); err != nil {
		t.Fatal(err)
	}
}

// log stores segments with these seqs of writer A; each has a receipt of the one
// before it.
func log(t *testing.T, seqs ...uint64) *objstore.Memory {
	t.Helper()
	store := objstore.NewMemory()
	for _, seq := range seqs {
		var receipts []segment.Receipt
		if seq > 1 {
			receipts = append(receipts, receipt(writerA, seq-1))
		}
		body, _ := object(writerA, seq, receipts)
		put(t, store, segment.ObjectKey(writerA, seq), body)
	}
	return store
}

// replace changes an object behind everybody's back.
func replace(t *testing.T, store objstore.Store, key string, change func([]byte) []byte) {
	t.Helper()
	body, err := store.Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	put(t, store, key, change(bytes.Clone(body)))
}

func run(t *testing.T, store objstore.Store, opts fsck.Options) fsck.Report {
	t.Helper()
	report, err := fsck.Run(t.Context(), store, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// kinds lists the faults as "kind" or "kind@position of its block".
func kinds(r fsck.Report) string {
	var out []string
	for _, f := range r.Faults {
		s := string(f.Kind)
		if f.Block != nil {
			s += "@" + string(rune('0'+f.Block.Count)) // the blocks differ in their counts or kinds
			if f.Block.Kind == "control" {
				s += "c"
			} else if f.Block.Identity {
				s += "i"
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func seal(block []byte) {
	binary.BigEndian.PutUint32(block[4:], crc32.Checksum(block[8:], crc32.MakeTable(crc32.Castagnoli)))
}

func sealFooter(object []byte, footerAt int64) {
	table := crc32.MakeTable(crc32.Castagnoli)
	trailer := object[len(object)-segment.TrailerSize:]
	crc := crc32.Checksum(object[footerAt:len(object)-segment.TrailerSize], table)
	binary.BigEndian.PutUint32(trailer, crc32.Update(crc, table, trailer[4:]))
}

// hidden is a store whose listing of the whole log does not show one key yet, and
// that does not give the bytes of another.
type hidden struct {
	objstore.Store
	unlisted, unreadable string
}

var errDisk = errors.New("input/output error")

func (h hidden) List(ctx context.Context, prefix, after string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		for info, err := range h.Store.List(ctx, prefix, after) {
			if prefix == segment.KeyPrefix && info.Key == h.unlisted {
				continue
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func (h hidden) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if key == h.unreadable {
		return nil, errDisk
	}
	return h.Store.Get(ctx, key, off, n)
}

// measured remembers the largest read.
type measured struct {
	objstore.Store
	largest *int64
}

func (m measured) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	b, err := m.Store.Get(ctx, key, off, n)
	*m.largest = max(*m.largest, int64(len(b)))
	return b, err
}
