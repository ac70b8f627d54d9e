package segment_test

import (
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
)

func benchRecord(size int) segment.Record {
	r := message(1, strings.Repeat("x", size))
	r.Tag, r.Keys = []byte("created"), []byte("order-12345")
	r.Properties = segment.AppendProperty(nil, "source", "checkout")
	return r
}

func BenchmarkAppendRecord(b *testing.B) {
	r := benchRecord(1024)
	dst := make([]byte, 0, 2048)
	b.SetBytes(int64(segment.RecordSize(&r)))
	b.ReportAllocs()
	for b.Loop() {
		dst = segment.AppendRecord(dst[:0], &r)
	}
}

func BenchmarkDecodeRecord(b *testing.B) {
	r := benchRecord(1024)
	encoded := segment.AppendRecord(nil, &r)
	b.SetBytes(int64(len(encoded)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := segment.DecodeRecord(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

// benchChunks is 8 MiB of requests of 100 messages of 1 KiB.
func benchChunks(identity bool) (chunks []segment.Chunk, bytes int) {
	records := make([]segment.Record, 100)
	for i := range records {
		records[i] = benchRecord(1024)
	}
	c := chunk(records...)
	if identity {
		c.Identity = &segment.Identity{Kind: segment.IdentityKey, Parts: 1}
	}
	for bytes < 8<<20 {
		chunks = append(chunks, c)
		bytes += len(c.Payload)
	}
	return chunks, bytes
}

func benchBuild(b *testing.B, identity bool) {
	chunks, size := benchChunks(identity)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		s := segment.NewBuilder(writer, 1, 0)
		s.Reuse(buf)
		s.Grow(size, len(chunks))
		s.AddChunks(segment.Messages, topicA, 0, chunks)
		buf, _ = s.Finish()
	}
}

func BenchmarkBuild8MiBShared(b *testing.B)   { benchBuild(b, false) }
func BenchmarkBuild8MiBIdentity(b *testing.B) { benchBuild(b, true) }

// BenchmarkCopy8MiB is what BenchmarkBuild… is to be compared with.
func BenchmarkCopy8MiB(b *testing.B) {
	chunks, size := benchChunks(false)
	dst := make([]byte, 0, size)
	b.SetBytes(int64(size))
	for b.Loop() {
		dst = dst[:0]
		for i := range chunks {
			dst = append(dst, chunks[i].Payload...)
		}
	}
}

func benchBlock() ([]byte, segment.Block) {
	chunks, _ := benchChunks(false)
	s := segment.NewBuilder(writer, 1, 0)
	s.AddChunks(segment.Messages, topicA, 0, chunks[:2])
	object, footer := s.Finish()
	return object, footer.Blocks[0]
}

func BenchmarkDecodeBlock(b *testing.B) {
	object, row := benchBlock()
	b.SetBytes(row.Length)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := segment.DecodeBlock(object); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeBlockAndRecords(b *testing.B) {
	object, row := benchBlock()
	b.SetBytes(row.Length)
	b.ReportAllocs()
	for b.Loop() {
		_, payload, err := segment.DecodeBlock(object)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range segment.Records(payload) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkParseFooter(b *testing.B) {
	chunks, _ := benchChunks(true)
	s := segment.NewBuilder(writer, 1, 0)
	s.AddChunks(segment.Messages, topicA, 0, chunks)
	s.AddReceipts(make([]segment.Receipt, 100))
	object, _ := s.Finish()
	b.ReportAllocs()
	for b.Loop() {
		mustParse(b, object)
	}
}
