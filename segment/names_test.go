package segment_test

import (
	"math/bits"
	"strconv"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/uuid"
)

func TestObjectKeySortsBySeqAndParses(t *testing.T) {
	seqs := []uint64{1, 9, 10, 99, 1 << 40, 1<<64 - 1}
	last := ""
	for _, seq := range seqs {
		key := segment.ObjectKey(writer, seq)
		if key <= last {
			t.Errorf("%s does not sort after %s", key, last)
		}
		last = key
		gotWriter, gotSeq, err := segment.ParseObjectKey(key)
		if err != nil || gotWriter != writer || gotSeq != seq {
			t.Errorf("%s: got %v %d %v", key, gotWriter, gotSeq, err)
		}
	}
	if got, want := segment.ObjectKey(writer, 7), "log/0198a000-0000-7000-8000-000000000001/00000000000000000007"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseObjectKeyRefusesWhatNoWriterNames(t *testing.T) {
	for _, key := range []string{
		"",
		"log/",
		"bucketmq.json",
		"log/0198a000-0000-7000-8000-00000000000A/00000000000000000007",   // upper case
		"log/0198a000-0000-7000-8000-000000000001/0000000000000000007",    // 19 digits
		"log/0198a000-0000-7000-8000-000000000001/000000000000000000007",  // 21 digits
		"log/0198a000-0000-7000-8000-000000000001/00000000000000000000",   // seq 0
		"log/0198a000-0000-7000-8000-000000000001/+0000000000000000007",   // sign
		"log/0198a000-0000-7000-8000-000000000001/99999999999999999999",   // above 64 bits
		"log/0198a000-0000-7000-8000-000000000001_00000000000000000007",   // no slash
		"lag/0198a000-0000-7000-8000-000000000001/00000000000000000007",   // other prefix
		"log/0198a00000-00-7000-8000-000000000001/00000000000000000007",   // no UUID
		"log/0198a000-0000-7000-8000-000000000001/0000000000000000000x",   // no number
		"log/0198a000-0000-7000-8000-000000000001/00000000000000000007.x", // suffix
	} {
		if _, _, err := segment.ParseObjectKey(key); err == nil {
			t.Errorf("%q was taken for a segment's key", key)
		}
	}
}

func TestMessageIDsOfARequestAreDistinctAndKeepItsTime(t *testing.T) {
	before := time.Now().UnixMilli()
	base, err := segment.NewMessageIDBase()
	if err != nil {
		t.Fatal(err)
	}
	after := time.Now().UnixMilli()
	if at := segment.MessageTime(base); at < before || at > after {
		t.Errorf("time %d is outside %d..%d", at, before, after)
	}
	const most = 1024 // ten bits
	seen := map[uuid.UUID]bool{}
	for i := range most {
		id := segment.MessageID(base, i)
		if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("id %d is %v %v", i, id.Version(), id.Variant())
		}
		if segment.MessageTime(id) != segment.MessageTime(base) {
			t.Fatalf("id %d lost its time", i)
		}
		seen[id] = true
	}
	if len(seen) != most || !seen[base] {
		t.Errorf("%d distinct ids, base among them: %v", len(seen), seen[base])
	}
}

// The bits are part of the format: they are stored in blocks and index entries.
func TestTagBloomBitsArePinned(t *testing.T) {
	for tag, want := range map[string]uint64{
		"":         0,
		"greeting": 0x8000020000000000,
		"TagA":     0x880000000,
		"TagB":     0x20100,
	} {
		if got := segment.TagBloom([]byte(tag)); got != want {
			t.Errorf("%q: got %#x, want %#x", tag, got, want)
		}
	}
}

func TestTagBloomSetsTwoBits(t *testing.T) {
	for i := range 10_000 {
		if got := bits.OnesCount64(segment.TagBloom([]byte(strconv.Itoa(i)))); got != 2 {
			t.Fatalf("tag %d sets %d bits", i, got)
		}
	}
}
