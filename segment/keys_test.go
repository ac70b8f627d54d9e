package segment_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
)

func withKeys(i int, keys string) segment.Record {
	m := message(i%1000, "body")
	m.Keys = []byte(keys)
	return m
}

func mustFilters(t testing.TB, object []byte, blocks int) segment.KeyFilters {
	t.Helper()
	f, err := segment.ParseKeyFilters(object, blocks)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestKeyFiltersMissNoKeyAndRuleMostOthersOut(t *testing.T) {
	for _, keys := range []int{1, 3, 8, 100, 5000} {
		b := segment.NewBuilder(writer, 1, 0)
		var records []segment.Record
		for i := range keys {
			records = append(records, withKeys(i, fmt.Sprintf("order-%d customer-%d", i, i%7)))
		}
		b.AddChunks(segment.Messages, topicA, 0, []segment.Chunk{chunk(message(0, "no key"))})
		b.AddChunks(segment.Messages, topicA, 1, []segment.Chunk{chunk(records...)})
		b.AddChunks(segment.Control, topicB, 0, []segment.Chunk{chunk(withKeys(0, "control"))})
		size := b.Size()
		object, footer := b.Finish()
		if size != len(object) {
			t.Errorf("size %d was told as %d", len(object), size)
		}
		f := mustFilters(t, object, len(footer.Blocks))
		in := func(key string) (rows []int) {
			for row := range footer.Blocks {
				if f.MayHold(row, key) {
					rows = append(rows, row)
				}
			}
			return rows
		}
		for i := range keys {
			key := fmt.Sprint("order-", i)
			found := false
			for _, row := range in(key) {
				if row == 0 || row == len(footer.Blocks)-1 {
					t.Fatalf("block %d has no keys and may hold %s", row, key)
				}
				found = true
			}
			if !found {
				t.Fatalf("%s of %d keys is missed", key, keys)
			}
		}
		wrong := 0
		const tries = 5000
		for i := range tries {
			wrong += len(in(fmt.Sprint("absent-", i)))
		}
		if rate := float64(wrong) / tries / float64(len(footer.Blocks)-2); rate > 0.05 {
			t.Errorf("%d keys: %.1f %% of absent ones may be there", keys, 100*rate)
		}
	}
}

// What a filter takes depends on how many keys there are, not on how many messages.
func TestKeyFiltersAreAsLargeAsTheKeysAreMany(t *testing.T) {
	size := func(distinct int) int {
		var lengths [2]int
		for with := range lengths {
			b := segment.NewBuilder(writer, 1, 0)
			var records []segment.Record
			for i := range 2000 {
				r := withKeys(i, fmt.Sprintf("key-%04d", i%distinct))
				if with == 0 {
					r.Keys, r.Body = nil, []byte(strings.Repeat("x", 4+len(r.Keys)))
				}
				records = append(records, r)
			}
			b.AddChunks(segment.Messages, topicA, 0, []segment.Chunk{chunk(records...)})
			object, _ := b.Finish()
			lengths[with] = len(object)
		}
		return lengths[1] - lengths[0]
	}
	for distinct, most := range map[int]int{1: 8 + 9, 100: 256 + 9, 2000: 4096 + 9} {
		if got := size(distinct); got > most || got < 8+9 {
			t.Errorf("%d keys take %d bytes, want at most %d", distinct, got, most)
		}
	}
}

// Whatever the section says, its reader takes no more memory than it has bytes.
func TestDamagedKeyFiltersAreRefused(t *testing.T) {
	object, footer := sample()
	blocks := len(footer.Blocks)
	end := len(object) - segment.TrailerSize - 4
	length := int(binary.BigEndian.Uint32(object[end:]))
	for name, change := range map[string]func([]byte){
		"an empty section":   func(b []byte) { binary.BigEndian.PutUint32(b[end:], 0) },
		"a section too long": func(b []byte) { binary.BigEndian.PutUint32(b[end:], uint32(len(b))) },
		"a row too far":      func(b []byte) { binary.BigEndian.PutUint32(b[end-length:], uint32(blocks)) },
		"too few bits":       func(b []byte) { b[end-length+4] = 5 },
		"too many bits":      func(b []byte) { b[end-length+4] = 30 },
		"bits past the end":  func(b []byte) { b[end-length+4] = 20 },
		"half a header":      func(b []byte) { binary.BigEndian.PutUint32(b[end:], 4) },
	} {
		b := append([]byte(nil), object...)
		change(b)
		if _, err := segment.ParseKeyFilters(b, blocks); !errors.Is(err, segment.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
	for n := range segment.TrailerSize + 100 {
		if _, err := segment.ParseKeyFilters(object[len(object)-n:], blocks); !errors.Is(err, segment.ErrCorrupt) {
			t.Fatalf("a tail of %d bytes: %v, want ErrCorrupt", n, err)
		}
	}
}

func FuzzKeyFilters(f *testing.F) {
	for _, object := range seeds(f) {
		f.Add(object, "a")
	}
	f.Fuzz(func(t *testing.T, b []byte, key string) {
		filters, err := segment.ParseKeyFilters(b, 1<<20)
		if err == nil {
			for row := range 8 {
				filters.MayHold(row, key)
			}
		}
	})
}

// BenchmarkBuild8MiBKeys is BenchmarkBuild8MiBShared with a key in each message.
func BenchmarkBuild8MiBKeys(b *testing.B) {
	chunks, size := benchChunks(false)
	for i := range chunks {
		var payload []byte
		for r, err := range segment.Records(chunks[i].Payload) {
			if err != nil {
				b.Fatal(err)
			}
			r.Keys = fmt.Appendf(nil, "order-%d-%d", i, len(payload))
			payload = segment.AppendRecord(payload, &r)
		}
		chunks[i].Payload = payload
	}
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
