package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
)

// damaged reports an error that is one of ours.
func damaged(err error) bool {
	return errors.Is(err, segment.ErrCorrupt) || errors.Is(err, segment.ErrVersion)
}

func TestEveryFlippedByteIsSeenWhereItIs(t *testing.T) {
	object, footer := sample()
	last := footer.Blocks[len(footer.Blocks)-1]
	footerAt := int(last.Position + last.Length)
	for at := range object {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			bad := bytes.Clone(object)
			bad[at] ^= flip
			_, missing, err := segment.ParseFooter(bad, int64(len(bad)))
			if inFooter := at >= footerAt; inFooter != errors.Is(err, segment.ErrCorrupt) || missing != 0 {
				t.Fatalf("byte %d ^ %#x: ParseFooter says %v, missing %d", at, flip, err, missing)
			}
			for i, row := range footer.Blocks {
				block, payload, err := segment.DecodeBlock(bad[row.Position : row.Position+row.Length])
				hit := at >= int(row.Position) && at < int(row.Position+row.Length)
				if hit != errors.Is(err, segment.ErrCorrupt) {
					t.Fatalf("byte %d ^ %#x: block %d says %v", at, flip, i, err)
				}
				if hit {
					continue
				}
				block.Position = row.Position
				if !block.Equal(row) || !bytes.Equal(payload, object[row.Position+row.Length-int64(len(payload)):row.Position+row.Length]) {
					t.Fatalf("byte %d ^ %#x: block %d changed", at, flip, i)
				}
			}
		}
	}
}

func TestEveryTruncationIsSeen(t *testing.T) {
	object, footer := sample()
	for n := range object {
		short := object[:n]
		if _, _, err := segment.ParseFooter(short, int64(n)); !errors.Is(err, segment.ErrCorrupt) {
			t.Fatalf("first %d bytes: ParseFooter says %v", n, err)
		}
		blocks, faults := segment.ScanBlocks(short)
		whole := 0
		for _, row := range footer.Blocks {
			if row.Position+row.Length <= int64(n) {
				whole++
			}
		}
		last := footer.Blocks[len(footer.Blocks)-1]
		if sawFooter := int64(n) >= last.Position+last.Length+4; len(blocks) != whole || (len(faults) == 0) != sawFooter {
			t.Fatalf("first %d bytes: ScanBlocks found %d blocks, want %d; faults %v", n, len(blocks), whole, faults)
		}
		for _, err := range faults {
			if !errors.Is(err, segment.ErrTruncated) {
				t.Fatalf("first %d bytes: %v, want ErrTruncated", n, err)
			}
		}
	}
	for n := range footer.Blocks[0].Length {
		if _, _, err := segment.DecodeBlock(object[:n]); !errors.Is(err, segment.ErrCorrupt) {
			t.Fatalf("first %d bytes of a block: %v", n, err)
		}
	}
}

func TestBytesThatWereAddedAreSeen(t *testing.T) {
	object, _ := sample()
	for name, bad := range map[string][]byte{
		"behind":  append(bytes.Clone(object), 0),
		"before":  append([]byte{0}, object...),
		"doubled": append(bytes.Clone(object), object...),
	} {
		if _, _, err := segment.ParseFooter(bad, int64(len(bad))); !errors.Is(err, segment.ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
	}
	if _, _, err := segment.ParseFooter(object, int64(len(object))-1); !errors.Is(err, segment.ErrCorrupt) {
		t.Errorf("tail longer than the object: got %v, want ErrCorrupt", err)
	}
}

func TestScanBlocksStepsOverADamagedBlock(t *testing.T) {
	object, footer := sample()
	for i, row := range footer.Blocks {
		bad := bytes.Clone(object)
		bad[row.Position+row.Length-1] ^= 1
		blocks, faults := segment.ScanBlocks(bad)
		if len(blocks) != len(footer.Blocks)-1 || len(faults) != 1 || !errors.Is(faults[0], segment.ErrCorrupt) {
			t.Errorf("block %d damaged: %d blocks, faults %v", i, len(blocks), faults)
		}
	}
}

// A producer may send the bytes of a block as a body. With the block around it
// damaged, they must not be taken for messages of another topic.
func TestScanBlocksNeverFindsABlockInsideAMessage(t *testing.T) {
	inner, _ := sample()
	b := segment.NewBuilder(writer, 1, 0)
	b.AddChunks(segment.Messages, topicA, 0, []segment.Chunk{chunk(segment.Record{Body: inner})})
	object, _ := b.Finish()
	for _, at := range []int{0, 5, 9, 10, 11, 30} {
		bad := bytes.Clone(object)
		bad[at] ^= 1
		if blocks, faults := segment.ScanBlocks(bad); len(blocks) != 0 || len(faults) == 0 {
			t.Errorf("byte %d: found %+v, faults %v", at, blocks, faults)
		}
	}
}

// reseal gives a changed block or footer a right CRC, as a newer writer would.
func resealBlock(b []byte) {
	binary.BigEndian.PutUint32(b[4:], crc32.Checksum(b[8:], crc32.MakeTable(crc32.Castagnoli)))
}

func resealFooter(object []byte, footerAt int) {
	table := crc32.MakeTable(crc32.Castagnoli)
	trailer := object[len(object)-segment.TrailerSize:]
	crc := crc32.Checksum(object[footerAt:len(object)-segment.TrailerSize], table)
	binary.BigEndian.PutUint32(trailer, crc32.Update(crc, table, trailer[4:]))
}

func TestNewerBlocksAreRefusedNotMisread(t *testing.T) {
	object, footer := sample()
	row := footer.Blocks[1] // has an identity
	tests := []struct {
		name string
		at   int
		to   byte
		want error
	}{
		{"version", 12, 2, segment.ErrVersion},
		{"version 0", 12, 0, segment.ErrVersion},
		{"kind", 13, 3, segment.ErrVersion},
		{"compression", 15, 1 | 2, segment.ErrVersion},
		{"sparse index", 15, 1 | 16, segment.ErrVersion},
		{"highest flag", 14, 0x80, segment.ErrVersion},
		{"identity kind", 64, 4, segment.ErrVersion},
		{"condition of one of several parts", 64, 3, segment.ErrCorrupt},
		{"identity reserved byte", 65, 1, segment.ErrVersion},
		{"identity reserved bytes", 71, 1, segment.ErrVersion},
		{"part past parts", 67, 2, segment.ErrCorrupt},
		{"no records", 39, 0, segment.ErrCorrupt},
		{"more records than fit", 36, 0xff, segment.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := bytes.Clone(object[row.Position : row.Position+row.Length])
			b[tt.at] = tt.to
			resealBlock(b)
			if _, _, err := segment.DecodeBlock(b); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestNewerFootersAreRefusedNotMisread(t *testing.T) {
	object, footer := sample()
	last := footer.Blocks[len(footer.Blocks)-1]
	footerAt := int(last.Position + last.Length)
	trailerAt := len(object) - segment.TrailerSize
	tests := []struct {
		name string
		at   int
		to   byte
		want error
	}{
		{"version", trailerAt + 16, 2, segment.ErrVersion},
		{"reserved byte", trailerAt + 17, 1, segment.ErrVersion},
		{"flags", trailerAt + 19, 1, segment.ErrVersion},
		{"block of another version", footerAt + 48 + 12, 2, segment.ErrVersion},
		{"footer magic", footerAt, 'X', segment.ErrCorrupt},
		{"one block more", footerAt + 39, byte(len(footer.Blocks)) + 1, segment.ErrCorrupt},
		{"one block less", footerAt + 39, byte(len(footer.Blocks)) - 1, segment.ErrCorrupt},
		{"4 billion blocks", footerAt + 36, 0xff, segment.ErrCorrupt},
		{"4 billion receipts", footerAt + 40, 0xff, segment.ErrCorrupt},
		{"4 billion burnt seqs", footerAt + 44, 0xff, segment.ErrCorrupt},
		{"longer block", footerAt + 48 + 10, 0xff, segment.ErrCorrupt},
		{"identity that is not there", footerAt + 48 + 15, 1, segment.ErrVersion},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := bytes.Clone(object)
			b[tt.at] = tt.to
			resealFooter(b, footerAt)
			if _, _, err := segment.ParseFooter(b, int64(len(b))); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestAFooterThatLeavesAGapIsCorrupt(t *testing.T) {
	object, footer := sample()
	last := footer.Blocks[len(footer.Blocks)-1]
	footerAt := int(last.Position + last.Length)
	gap := append(bytes.Clone(object[:footerAt]), 0)
	gap = append(gap, object[footerAt:]...)
	binary.BigEndian.PutUint64(gap[len(gap)-16:], uint64(len(gap)))
	resealFooter(gap, footerAt+1)
	if _, _, err := segment.ParseFooter(gap, int64(len(gap))); !errors.Is(err, segment.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
}
