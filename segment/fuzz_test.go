package segment_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
)

// bounded runs decode and fails when it allocates more than its input warrants.
func bounded(t *testing.T, input int, decode func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	decode()
	runtime.ReadMemStats(&after)
	if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(2*input+1<<20); got > limit {
		t.Fatalf("%d bytes of input made it allocate %d, limit %d", input, got, limit)
	}
}

func seeds(f *testing.F) [][]byte {
	paths, err := filepath.Glob("testdata/*.seg")
	if err != nil || len(paths) == 0 {
		f.Fatal("no seeds in testdata", err)
	}
	var objects [][]byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		objects = append(objects, b)
	}
	return objects
}

func FuzzDecodeRecord(f *testing.F) {
	for _, object := range seeds(f) {
		for _, row := range mustParse(f, object).Blocks {
			_, payload, err := segment.DecodeBlock(object[row.Position:])
			if err != nil {
				f.Fatal(err)
			}
			f.Add(payload)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, len(b), func() {
			r, n, err := segment.DecodeRecord(b)
			if err != nil {
				if !damaged(err) || n != 0 {
					t.Fatalf("%d, %v", n, err)
				}
				return
			}
			for range r.Properties.All() {
			}
		})
		if r, n, err := segment.DecodeRecord(b); err == nil {
			if again := segment.AppendRecord(nil, &r); !bytes.Equal(again, b[:n]) {
				t.Fatalf("%x became %x", b[:n], again)
			}
		}
	})
}

func FuzzDecodeBlock(f *testing.F) {
	for _, object := range seeds(f) {
		for _, row := range mustParse(f, object).Blocks {
			f.Add(object[row.Position : row.Position+row.Length])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		// A mutated block seldom has a right CRC: mend it, so that what is behind
		// the check is tried too.
		if len(b) >= 64 {
			b = bytes.Clone(b)
			b[8], b[9], b[10], b[11] = byte(len(b)>>24), byte(len(b)>>16), byte(len(b)>>8), byte(len(b))
			resealBlock(b)
		}
		bounded(t, len(b), func() {
			block, payload, err := segment.DecodeBlock(b)
			if err != nil {
				if !damaged(err) {
					t.Fatal(err)
				}
				return
			}
			if block.Length != int64(len(b)) || len(payload) >= len(b) {
				t.Fatalf("block of %d bytes in %d with a payload of %d", block.Length, len(b), len(payload))
			}
		})
		if block, payload, err := segment.DecodeBlock(b); err == nil {
			again := segment.NewBuilder(writer, 1, 0)
			identity := block.Identity
			if identity == nil && !block.Deferred() && len(payload) > segment.BlockBytes {
				return // it would be cut
			}
			again.AddChunks(block.Kind, block.Topic, block.Queue, []segment.Chunk{{
				Payload: payload, Count: block.Count, MinBorn: block.MinBorn, MaxBorn: block.MaxBorn, Tags: block.Tags, Identity: identity,
				Due: block.Due, DueID: block.DueID, Transaction: block.Transaction,
			}})
			object, footer := again.Finish()
			if got := footer.Blocks[0]; !got.Equal(block) || !bytes.Equal(object[:got.Length], b) {
				t.Fatalf("%+v became %+v", block, got)
			}
		}
	})
}

func FuzzParseFooter(f *testing.F) {
	for _, object := range seeds(f) {
		blocks := int64(0)
		for _, row := range mustParse(f, object).Blocks {
			blocks += row.Length
		}
		f.Add(object[blocks:], blocks, true)
		f.Add(object[blocks:], blocks, false)
	}
	f.Fuzz(func(t *testing.T, tail []byte, before int64, mend bool) {
		if before < 0 || before > 1<<50 {
			return
		}
		size := before + int64(len(tail))
		if mend && len(tail) >= segment.TrailerSize {
			tail = bytes.Clone(tail)
			trailer := tail[len(tail)-segment.TrailerSize:]
			n := len(tail) - segment.TrailerSize
			copy(trailer[4:], []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
			for i := range 8 {
				trailer[8+i] = byte(size >> (56 - 8*i))
			}
			resealFooter(tail, 0)
		}
		bounded(t, len(tail), func() {
			_, missing, err := segment.ParseFooter(tail, size)
			switch {
			case err != nil && (!damaged(err) || missing != 0):
				t.Fatalf("missing %d, %v", missing, err)
			case missing < 0 || int64(len(tail))+missing > size:
				t.Fatalf("missing %d of an object of %d", missing, size)
			}
		})
		footer, missing, err := segment.ParseFooter(tail, size)
		if err != nil || missing > 0 {
			return
		}
		b := segment.NewBuilder(footer.Writer, footer.Seq, footer.CreatedAt)
		b.AddReceipts(footer.Receipts)
		b.AddBurnt(footer.Burnt)
		if len(footer.Blocks) == 0 {
			if object, _ := b.Finish(); !bytes.Equal(object, tail) {
				t.Fatalf("%x became %x", tail, object)
			}
		}
	})
}

func FuzzScanObject(f *testing.F) {
	for _, object := range seeds(f) {
		f.Add(object)
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		var rows []segment.Block
		bounded(t, len(object), func() {
			var faults []error
			rows, faults = segment.ScanBlocks(object)
			for _, err := range faults {
				if !damaged(err) {
					t.Fatal(err)
				}
			}
		})
		for _, row := range rows {
			block, payload, err := segment.DecodeBlock(object[row.Position:])
			if block.Position = row.Position; err != nil || !block.Equal(row) {
				t.Fatalf("scan found %+v, the block is %+v, %v", row, block, err)
			}
			n := uint32(0)
			for _, err := range segment.Records(payload) {
				if err != nil && !damaged(err) {
					t.Fatal(err)
				}
				n++
			}
		}
		footer, missing, err := segment.ParseFooter(object, int64(len(object)))
		if missing != 0 || (err != nil && !damaged(err)) {
			t.Fatalf("missing %d of a whole object, %v", missing, err)
		}
		for _, row := range footer.Blocks {
			if row.Position < 0 || row.Length <= 0 || row.Position+row.Length > int64(len(object)) {
				t.Fatalf("directory row %+v is outside an object of %d", row, len(object))
			}
		}
	})
}
