package segment_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestFooterDescribesTheObject(t *testing.T) {
	object, want := sample()
	got := mustParse(t, object)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	for i, row := range got.Blocks {
		block, _, err := segment.DecodeBlock(object[row.Position:])
		block.Position = row.Position
		if err != nil || !block.Equal(row) {
			t.Errorf("block %d: %v, its header says %+v, the directory %+v", i, err, block, row)
		}
	}
	scanned, faults := segment.ScanBlocks(object)
	if diff := cmp.Diff(want.Blocks, scanned); diff != "" || faults != nil {
		t.Errorf("ScanBlocks: %v %s", faults, diff)
	}
}

func TestSmallTailSaysHowMuchIsMissing(t *testing.T) {
	object, want := sample()
	size := int64(len(object))
	have, calls := int64(0), 0
	for {
		calls++
		f, missing, err := segment.ParseFooter(object[size-have:], size)
		if err != nil {
			t.Fatal(err)
		}
		if missing == 0 {
			if diff := cmp.Diff(want, f, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			break
		}
		have += missing
	}
	if calls != 3 {
		t.Errorf("took %d calls from an empty tail, want 3", calls)
	}
}

func TestSegmentWithReceiptsOnly(t *testing.T) {
	b := segment.NewBuilder(writer, 1, 5)
	b.AddReceipts([]segment.Receipt{{Writer: writer, Seq: 1, Topic: topicA, Count: 1}})
	size := b.Size()
	object, want := b.Finish()
	if len(object) != size {
		t.Errorf("Size said %d, the object has %d bytes", size, len(object))
	}
	if diff := cmp.Diff(want, mustParse(t, object), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestChunksWithoutIdentityShareABlock(t *testing.T) {
	keyed := chunk(message(2, "c"))
	keyed.Identity = &segment.Identity{Kind: segment.IdentityKey, Parts: 1}
	b := segment.NewBuilder(writer, 1, 0)
	spans := b.AddChunks(segment.Messages, topicA, 1, []segment.Chunk{
		chunk(message(0, "a"), message(1, "b")), chunk(message(9, "x")), {}, keyed, chunk(message(3, "d")), chunk(message(4, "e")),
	})
	more := b.AddChunks(segment.Messages, topicA, 1, []segment.Chunk{chunk(message(5, "f"))})
	want := []segment.Span{{First: 0, Blocks: 1}, {First: 0, Blocks: 1, Skip: 2}, {}, {First: 1, Blocks: 1}, {First: 2, Blocks: 1}, {First: 2, Blocks: 1, Skip: 1}}
	if diff := cmp.Diff(want, spans); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]segment.Span{{First: 3, Blocks: 1}}, more); diff != "" {
		t.Error(diff)
	}
	_, f := b.Finish()
	var counts []uint32
	for _, row := range f.Blocks {
		counts = append(counts, row.Count)
	}
	if diff := cmp.Diff([]uint32{3, 1, 2, 1}, counts); diff != "" {
		t.Error(diff)
	}
}

func TestBlocksAreCutAt256KiB(t *testing.T) {
	record := message(0, strings.Repeat("x", 100<<10-segment.RecordSize(&segment.Record{}))) // 100 KiB as stored
	huge := message(0, strings.Repeat("y", 300<<10))
	var many []segment.Record
	for range 7 {
		many = append(many, record)
	}
	keyed := chunk(many...)
	keyed.Identity = &segment.Identity{Kind: segment.IdentityKey, Parts: 1}
	tests := []struct {
		name   string
		chunks []segment.Chunk
		want   []uint32
	}{
		{"between chunks", []segment.Chunk{chunk(record), chunk(record), chunk(record)}, []uint32{2, 1}},
		{"inside a chunk", []segment.Chunk{chunk(many...)}, []uint32{2, 2, 2, 1}},
		{"what is left of a chunk is shared", []segment.Chunk{chunk(many...), chunk(record)}, []uint32{2, 2, 2, 2}},
		{"one record above the limit", []segment.Chunk{chunk(record, huge, record)}, []uint32{1, 1, 1}},
		{"never with an identity", []segment.Chunk{keyed}, []uint32{7}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := segment.NewBuilder(writer, 1, 0)
			b.AddChunks(segment.Messages, topicA, 0, tt.chunks)
			object, f := b.Finish()
			var counts []uint32
			for _, row := range f.Blocks {
				counts = append(counts, row.Count)
				if _, _, err := segment.DecodeBlock(object[row.Position:]); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(tt.want, counts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBuilderPanicsWhenAChunkToBeCutIsNoRecords(t *testing.T) {
	bad := chunk(message(0, strings.Repeat("x", 200<<10)), message(1, strings.Repeat("x", 200<<10)))
	miscounted := bad
	miscounted.Count = 3
	broken := bad
	broken.Payload = append(bytes.Clone(bad.Payload), 1)
	for name, c := range map[string]segment.Chunk{"miscounted": miscounted, "broken": broken} {
		b := segment.NewBuilder(writer, 1, 0)
		if !panics(func() { b.AddChunks(segment.Messages, topicA, 0, []segment.Chunk{c}) }) {
			t.Errorf("%s: no panic", name)
		}
	}
}

// Every record comes back where its span says, whatever was added.
func TestSpansFindEveryRecord(t *testing.T) {
	type want struct {
		span  segment.Span
		topic uuid.UUID
		queue uint32
		chunk segment.Chunk
	}
	rapid.Check(t, func(t *rapid.T) {
		b := segment.NewBuilder(writer, 1, 0)
		var wants []want
		serial := 0
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			topic := rapid.SampledFrom([]uuid.UUID{topicA, topicB}).Draw(t, "topic")
			queue := rapid.Uint32Max(3).Draw(t, "queue")
			var chunks []segment.Chunk
			first := len(wants)
			for range rapid.IntRange(0, 5).Draw(t, "chunks") {
				var records []segment.Record
				for range rapid.IntRange(1, 4).Draw(t, "records") {
					serial++
					r := message(serial%1000, strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 90 << 10}).Draw(t, "size")))
					r.BornAt = int64(serial)
					r.Tag = []byte(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "tag"))
					records = append(records, r)
				}
				c := chunk(records...)
				if rapid.Bool().Draw(t, "identity") {
					c.Identity = &segment.Identity{Kind: segment.IdentityProducer, Seq: int64(serial), Parts: 1}
				}
				chunks = append(chunks, c)
				wants = append(wants, want{topic: topic, queue: queue, chunk: c})
			}
			for i, span := range b.AddChunks(segment.Messages, topic, queue, chunks) {
				wants[first+i].span = span
			}
		}
		size := b.Size()
		object, _ := b.Finish()
		if len(object) != size {
			t.Fatalf("Size said %d, the object has %d bytes", size, len(object))
		}
		f := mustParse(t, object)
		for _, w := range wants {
			var got []byte
			skip := w.span.Skip
			for _, row := range f.Blocks[w.span.First : w.span.First+w.span.Blocks] {
				block, payload, err := segment.DecodeBlock(object[row.Position:])
				if err != nil || block.Topic != w.topic || block.Queue != w.queue {
					t.Fatalf("%v: block of %v/%d, want %v/%d", err, block.Topic, block.Queue, w.topic, w.queue)
				}
				if (block.Identity == nil) != (w.chunk.Identity == nil) || (block.Identity != nil && *block.Identity != *w.chunk.Identity) {
					t.Fatalf("identity: got %v, want %v", block.Identity, w.chunk.Identity)
				}
				n := uint32(0)
				for r, err := range segment.Records(payload) {
					if err != nil {
						t.Fatal(err)
					}
					bloom := segment.TagBloom(r.Tag)
					if r.BornAt < block.MinBorn || r.BornAt > block.MaxBorn || block.Tags&bloom != bloom {
						t.Fatalf("record %v is outside the bounds of its block %+v", r.BornAt, block)
					}
					if n++; skip > 0 {
						skip--
					} else {
						got = segment.AppendRecord(got, &r)
					}
				}
				if n != block.Count {
					t.Fatalf("%d records in a block of %d", n, block.Count)
				}
			}
			if !bytes.HasPrefix(got, w.chunk.Payload) {
				t.Fatalf("span %+v holds other records than were added", w.span)
			}
		}
	})
}

func TestGrownBuilderNeverMovesTheObject(t *testing.T) {
	const blocks = 100
	keyed := chunk(message(0, strings.Repeat("x", 20<<10)))
	keyed.Identity = &segment.Identity{Kind: segment.IdentityKey, Parts: 1}
	var chunks []segment.Chunk
	for range blocks {
		chunks = append(chunks, keyed)
	}
	b := segment.NewBuilder(writer, 1, 0)
	b.AddReceipts(make([]segment.Receipt, 50))
	b.Grow(blocks*len(keyed.Payload), blocks)
	room := segment.Room(b)
	b.AddChunks(segment.Messages, topicA, 0, chunks)
	object, _ := b.Finish()
	mustParse(t, object)
	if &object[0] != &room[0] {
		t.Error("the object was moved although Grow was told its size")
	}
}

func TestBuilderWritesIntoAReusedBuffer(t *testing.T) {
	buf := make([]byte, 100, 64<<10)
	b := segment.NewBuilder(writer, 1, 0)
	b.Reuse(buf)
	b.Grow(1000, 1)
	b.AddChunks(segment.Messages, topicA, 0, []segment.Chunk{chunk(message(0, "a"))})
	object, _ := b.Finish()
	mustParse(t, object)
	if &object[0] != &buf[0] {
		t.Error("a buffer with room was not used")
	}
}
