package segment_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write testdata anew; only with a new format version")

func goldens() map[string]func() ([]byte, segment.Footer) {
	return map[string]func() ([]byte, segment.Footer){
		"v1-keys.seg": sample,
		"v1-receipts.seg": func() ([]byte, segment.Footer) {
			b := segment.NewBuilder(writer, 8, 1_700_000_001_000)
			b.AddReceipts([]segment.Receipt{{Writer: writer, Seq: 7, Topic: topicA, Epoch: 1, Queue: 3, First: 104, Count: 5, Position: 0, Length: 642, StoredAt: 1_700_000_000_600, Tags: 9}})
			return b.Finish()
		},
		"v1-delayed.seg": func() ([]byte, segment.Footer) {
			b := segment.NewBuilder(writer, 10, 1_700_000_003_000)
			soon, keyed := chunk(message(0, "soon")), chunk(message(1, "keyed"))
			soon.Due, soon.DueID = 1_700_000_060_000, segment.MessageID(idBase, 0)
			keyed.Due, keyed.DueID = 1_700_000_120_000, segment.MessageID(idBase, 1)
			keyed.Identity = &segment.Identity{Kind: segment.IdentityKey, Key: [16]byte{1}, Queues: 8, Parts: 1, IDBase: idBase}
			b.AddChunks(segment.Messages, topicA, 3, []segment.Chunk{chunk(message(2, "now")), soon, keyed, chunk(message(3, "now too"))})
			b.AddReceipts([]segment.Receipt{{Writer: writer, Seq: 6, Topic: topicA, Epoch: 1, Queue: 3, Position: 500, Length: 300, StoredAt: 1_700_000_002_000}})
			return b.Finish()
		},
		"v1-condition.seg": func() ([]byte, segment.Footer) {
			b := segment.NewBuilder(writer, 12, 1_700_000_005_000)
			only := chunk(message(0, "only there"), message(1, "or not at all"))
			only.Identity = &segment.Identity{Kind: segment.IdentityCondition, Key: [16]byte{1}, Body: [16]byte{2}, Epoch: 42, Queues: 8, Parts: 1, IDBase: idBase}
			b.AddChunks(segment.Messages, topicA, 3, []segment.Chunk{only})
			return b.Finish()
		},
		"v1-half.seg": func() ([]byte, segment.Footer) {
			b := segment.NewBuilder(writer, 11, 1_700_000_004_000)
			half, keyed := chunk(message(0, "half"), message(1, "of it")), chunk(message(2, "keyed"))
			half.Transaction, half.DueID = transaction, segment.MessageID(idBase, 0)
			keyed.Transaction, keyed.DueID = transaction, segment.MessageID(idBase, 2)
			keyed.Identity = &segment.Identity{Kind: segment.IdentityKey, Key: [16]byte{1}, Queues: 8, Parts: 1, IDBase: idBase}
			b.AddChunks(segment.Messages, topicA, 3, []segment.Chunk{chunk(message(3, "now")), half, keyed, chunk(message(4, "now too"))})
			b.AddReceipts([]segment.Receipt{{Writer: writer, Seq: 6, Topic: topicA, Epoch: 1, Queue: 3, Position: 500, Length: 300, StoredAt: 1_700_000_002_000}})
			return b.Finish()
		},
		"v1-burnt.seg": func() ([]byte, segment.Footer) {
			b := segment.NewBuilder(writer, 9, 1_700_000_002_000)
			b.AddBurnt([]uint64{8})
			return b.Finish()
		},
	}
}

// Bytes that were written once must be read for ever, and what is written must
// stay the same: other versions and other programs read it.
func TestVersion1IsPinnedByteForByte(t *testing.T) {
	for name, build := range goldens() {
		t.Run(name, func(t *testing.T) {
			object, want := build()
			if *update {
				if err := os.WriteFile("testdata/"+name, object, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile("testdata/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(object, golden) {
				t.Errorf("the builder writes\n%s\ntestdata holds\n%s", hex.Dump(object), hex.Dump(golden))
			}
			if diff := cmp.Diff(want, mustParse(t, golden), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// testdata/v1.seg is the sample from before there were key filters.
func TestASegmentWithoutKeyFiltersIsRead(t *testing.T) {
	old, err := os.ReadFile("testdata/v1.seg")
	if err != nil {
		t.Fatal(err)
	}
	_, want := sample()
	if diff := cmp.Diff(want, mustParse(t, old), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	filters, err := segment.ParseKeyFilters(old, len(want.Blocks))
	if err != nil || !filters.MayHold(0, "a") || !filters.MayHold(0, "nobody has it") {
		t.Errorf("filters %+v, %v: every block may hold every key", filters, err)
	}
}

// The example in docs/framing.md is what the code reads and writes.
func TestFramingExampleIsTrue(t *testing.T) {
	doc, err := os.ReadFile("../docs/framing.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```hex\n(.*?)```").FindSubmatch(doc)
	if example == nil {
		t.Fatal("docs/framing.md has no hex example")
	}
	framed, err := hex.DecodeString(strings.Join(strings.Fields(string(example[1])), ""))
	if err != nil {
		t.Fatal(err)
	}
	want := []segment.Record{
		{Attributes: segment.AttrText, Tag: []byte("greeting"), Keys: []byte("a b"), Properties: segment.AppendProperty(nil, "lang", "en"), Body: []byte("hello")},
		{Attributes: segment.AttrNull, OrderingKey: []byte("user-7")},
	}
	var got []segment.Record
	var again []byte
	for r, err := range segment.Records(framed) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
		again = segment.AppendRecord(again, &r)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(again, framed) {
		t.Errorf("encoded again:\n%s\nthe document has\n%s", hex.Dump(again), hex.Dump(framed))
	}
}
