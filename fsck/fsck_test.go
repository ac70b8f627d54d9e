package fsck_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/fsck"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/go-cmp/cmp"
)

func TestWholeLogHasNoFaults(t *testing.T) {
	store := log(t, 1, 2, 3)
	var objects []fsck.Object
	var progress []fsck.Progress
	r := run(t, store, fsck.Options{
		Object:   func(o fsck.Object) { objects = append(objects, o) },
		Progress: func(p fsck.Progress) { progress = append(progress, p) },
	})
	if len(r.Faults) != 0 {
		t.Fatalf("faults: %+v", r.Faults)
	}
	got := r
	got.Bytes = 0
	want := fsck.Report{
		Complete: true, Objects: 3, Segments: 3, Blocks: 9, Records: 12, Receipts: 2, Faults: []fsck.Fault{},
		Writers: []fsck.Writer{{Writer: writerA, Segments: 3, LastSeq: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(objects) != 3 || len(objects[0].Blocks) != 3 || objects[2].Receipts != 1 || objects[1].Seq != 2 {
		t.Errorf("objects: %+v", objects)
	}
	if n := len(progress); n != 3 || progress[n-1].Blocks != 9 || progress[n-1].Bytes != r.Bytes || progress[n-1].Key != segment.ObjectKey(writerA, 3) {
		t.Errorf("progress: %+v", progress)
	}
	if gets := store.Requests()["get"]; gets != 3 {
		t.Errorf("%d GETs for 3 small segments", gets)
	}
}

// A filter that rules out a key of its block would hide messages from a search.
func TestAKeyFilterThatMissesAKeyIsAFault(t *testing.T) {
	store := objstore.NewMemory()
	b := segment.NewBuilder(writerA, 1, 0)
	c := segment.Chunk{Count: 1}
	c.Payload = segment.AppendRecord(nil, &segment.Record{Keys: []byte("order-1 customer-2")})
	b.AddChunks(segment.Messages, topic, 0, []segment.Chunk{c})
	body, f := b.Finish()
	key := segment.ObjectKey(writerA, 1)
	put(t, store, key, body)
	if r := run(t, store, fsck.Options{}); len(r.Faults) != 0 {
		t.Fatalf("faults: %+v", r.Faults)
	}
	filter := len(body) - segment.TrailerSize - 4 - 8
	footer := f.Blocks[0].Length
	replace(t, store, key, func(b []byte) []byte {
		clear(b[filter : filter+8])
		resealFooter(b, footer)
		return b
	})
	if r := run(t, store, fsck.Options{}); len(r.Faults) != 1 || r.Faults[0].Kind != fsck.Mismatch || r.Faults[0].Block == nil {
		t.Errorf("faults: %+v", r.Faults)
	}
	replace(t, store, key, func(b []byte) []byte {
		b[filter-1] = 3 // no filter is that small
		resealFooter(b, footer)
		return b
	})
	if r := run(t, store, fsck.Options{}); len(r.Faults) != 1 || r.Faults[0].Kind != fsck.Mismatch {
		t.Errorf("faults: %+v", r.Faults)
	}
}

// resealFooter gives a changed footer a right CRC.
func resealFooter(object []byte, at int64) {
	table := crc32.MakeTable(crc32.Castagnoli)
	trailer := object[len(object)-segment.TrailerSize:]
	crc := crc32.Checksum(object[at:len(object)-segment.TrailerSize], table)
	binary.BigEndian.PutUint32(trailer, crc32.Update(crc, table, trailer[4:]))
}

func TestEmptyLogHasNoFaults(t *testing.T) {
	store := objstore.NewMemory()
	put(t, store, "bucketmq.json", []byte("{}"))
	r := run(t, store, fsck.Options{})
	if r.Objects != 0 || len(r.Faults) != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestPlantedFaultIsFoundAndNothingElse(t *testing.T) {
	_, f := object(writerA, 2, []segment.Receipt{receipt(writerA, 1)})
	first, keyed, control := f.Blocks[0], f.Blocks[1], f.Blocks[2]
	footerAt := control.Position + control.Length
	flip := func(at int64) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 1; return b }
	}
	cut := func(n int64) func([]byte) []byte {
		return func(b []byte) []byte { return b[:n] }
	}
	tests := []struct {
		name   string
		change func([]byte) []byte
		want   string
		blocks int64 // in the report, of 9
	}{
		{"payload", flip(first.Position + first.Length - 1), "damaged_block@2", 9},
		{"block magic", flip(keyed.Position), "damaged_block@1i", 9},
		{"block length", flip(keyed.Position + 8), "damaged_block@1i", 9},
		{"block version", flip(keyed.Position + 12), "damaged_block@1i", 9},
		{"control block", flip(control.Position + 70), "damaged_block@1c", 9},
		{"two blocks", func(b []byte) []byte { return flip(first.Position + 70)(flip(control.Position + 70)(b)) }, "damaged_block@2 damaged_block@1c", 9},
		{"footer", flip(footerAt + 50), "damaged_footer", 9},
		{"footer magic", flip(footerAt), "damaged_footer damaged_block", 9},
		{"trailer", func(b []byte) []byte { return flip(int64(len(b)) - 1)(b) }, "damaged_footer", 9},
		{"footer and a block", func(b []byte) []byte { return flip(footerAt + 50)(flip(keyed.Position + 100)(b)) }, "damaged_footer damaged_block", 8},
		{"cut inside a block", cut(keyed.Position + 10), "truncated truncated", 7},
		{"cut between blocks", cut(control.Position), "truncated truncated", 8},
		{"cut before the footer", cut(footerAt), "truncated truncated", 9},
		{"cut inside the footer", cut(footerAt + 20), "damaged_footer", 9},
		{"empty object", cut(0), "truncated truncated", 6},
		{"bytes added", func(b []byte) []byte { return append(b, 0) }, "damaged_footer", 9},
		{"no segment at all", func([]byte) []byte { return bytes.Repeat([]byte("text "), 99) }, "damaged_footer damaged_block", 6},
		{"newer segment", func(b []byte) []byte { b[len(b)-8] = 2; sealFooter(b, footerAt); return b }, "unknown_version", 6},
		{"newer block", func(b []byte) []byte {
			b[first.Position+12] = 2
			seal(b[first.Position:][:first.Length])
			return b
		}, "unknown_version@2", 9},
		{"header against directory", func(b []byte) []byte {
			b[first.Position+35] = 7
			seal(b[first.Position:][:first.Length])
			return b
		}, "mismatch@2", 9},
		{"another segment's bytes", func([]byte) []byte { b, _ := object(writerA, 9, nil); return b }, "mismatch", 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := log(t, 1, 2, 3)
			replace(t, store, segment.ObjectKey(writerA, 2), tt.change)
			for _, readBytes := range []int64{0, 200} {
				r := run(t, store, fsck.Options{ReadBytes: readBytes})
				if got := kinds(r); got != tt.want || r.Blocks != tt.blocks {
					t.Errorf("reading %d bytes: got %d blocks, %q; want %d, %q: %+v", readBytes, r.Blocks, got, tt.blocks, tt.want, r.Faults)
				}
				for _, f := range r.Faults {
					if f.Key != segment.ObjectKey(writerA, 2) || f.Detail == "" {
						t.Errorf("fault at the wrong place: %+v", f)
					}
				}
			}
		})
	}
}

func TestWholeBlockWithWrongContentsIsFound(t *testing.T) {
	good := chunk("one", "two")
	miscounted, garbage, late, untagged, newer := good, good, good, good, good
	miscounted.Count = 1
	garbage.Payload = bytes.Repeat([]byte{0xee}, 100)
	late.MinBorn, late.MaxBorn = 5, 6
	untagged.Tags = 0
	newer.Payload = bytes.Clone(good.Payload)
	newer.Payload[4] = 0x80
	for name, tt := range map[string]struct {
		chunk segment.Chunk
		want  string
	}{
		"count": {miscounted, "mismatch@1"}, "record": {garbage, "damaged_record@2"}, "times": {late, "mismatch@2"},
		"tags": {untagged, "mismatch@2"}, "newer record": {newer, "unknown_version@2"},
	} {
		b := segment.NewBuilder(writerA, 1, 0)
		b.AddChunks(segment.Messages, topic, 0, []segment.Chunk{tt.chunk})
		body, _ := b.Finish()
		store := objstore.NewMemory()
		put(t, store, segment.ObjectKey(writerA, 1), body)
		if got := kinds(run(t, store, fsck.Options{})); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestEveryFlippedByteIsAFault(t *testing.T) {
	body, _ := object(writerA, 1, nil)
	for at := range body {
		store := objstore.NewMemory()
		bad := bytes.Clone(body)
		bad[at] ^= 0x10
		put(t, store, segment.ObjectKey(writerA, 1), bad)
		if r := run(t, store, fsck.Options{}); len(r.Faults) == 0 {
			t.Fatalf("byte %d flipped: no fault", at)
		}
	}
}

func TestStrayKeysAreFaults(t *testing.T) {
	store := log(t, 1)
	put(t, store, "log/readme.txt", []byte("hello"))
	put(t, store, "log/"+writerA.String()+"/7", []byte("hello"))
	r := run(t, store, fsck.Options{})
	if got := kinds(r); got != "stray_key stray_key" || r.Segments != 1 || r.Objects != 3 {
		t.Errorf("got %q in %+v", got, r)
	}
}

func TestSegmentStoredWhileTheLogIsListedIsNotMissing(t *testing.T) {
	key := segment.ObjectKey(writerA, 2)
	r := run(t, hidden{Store: log(t, 1, 2, 3), unlisted: key}, fsck.Options{})
	if len(r.Faults) != 0 || r.Segments != 3 || r.Writers[0].Segments != 3 {
		t.Errorf("got %+v", r)
	}
}

func TestUnreadableObjectDoesNotEndTheCheck(t *testing.T) {
	key := segment.ObjectKey(writerA, 2)
	r := run(t, hidden{Store: log(t, 1, 2, 3), unreadable: key}, fsck.Options{})
	if got := kinds(r); got != "unreadable" || r.Faults[0].Key != key || r.Blocks != 6 {
		t.Errorf("got %q: %+v", got, r)
	}
}

func TestCancelledCheckIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := log(t, 1, 2, 3)
	r, err := fsck.Run(ctx, store, fsck.Options{Object: func(fsck.Object) { cancel() }})
	if !errors.Is(err, context.Canceled) || len(r.Faults) != 0 || r.Segments != 1 {
		t.Errorf("got %v, %+v", err, r)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || r.Complete || strings.Contains(text.String(), "no faults") {
		t.Errorf("a check that was cut off says: %s", &text)
	}
}

func TestFaultsBeyondTheLimitAreCounted(t *testing.T) {
	store := log(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		put(t, store, "log/"+name, nil)
	}
	r := run(t, store, fsck.Options{MaxFaults: 3})
	if len(r.Faults) != 3 || r.FaultsOmitted != 1 {
		t.Errorf("%d faults, %d omitted", len(r.Faults), r.FaultsOmitted)
	}
}

func TestLargeObjectIsReadInPieces(t *testing.T) {
	b := segment.NewBuilder(writerA, 1, 0)
	for range 100 {
		b.AddChunks(segment.Messages, topic, 0, []segment.Chunk{chunk(strings.Repeat("x", 10_000))})
	}
	body, _ := b.Finish()
	store := objstore.NewMemory()
	put(t, store, segment.ObjectKey(writerA, 1), body)
	largest := int64(0)
	r := run(t, measured{store, &largest}, fsck.Options{ReadBytes: 64 << 10})
	if len(r.Faults) != 0 || r.Blocks != 100 || r.Records != 100 {
		t.Errorf("got %+v", r)
	}
	if largest > 64<<10 {
		t.Errorf("read %d bytes at once, limit 64 KiB", largest)
	}
	if gets := store.Requests()["get"]; gets > 20 {
		t.Errorf("%d GETs for 1 MB in pieces of 64 KiB", gets)
	}
}

func TestReportAsTextAndJSON(t *testing.T) {
	store := log(t, 1, 2, 4)
	replace(t, store, segment.ObjectKey(writerA, 2), func(b []byte) []byte { b[70] ^= 1; return b })
	var text bytes.Buffer
	r := run(t, store, fsck.Options{Object: func(o fsck.Object) {
		if err := o.WriteText(&text); err != nil {
			t.Error(err)
		}
	}})
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"block at 0, ", "queue 2, 2 records, DAMAGED_BLOCK\n", "1 FAULTS",
		"FAULT damaged_block " + segment.ObjectKey(writerA, 2) + " [block at 0",
		"FAULT missing_segment " + segment.ObjectKey(writerA, 3) + ": seq 3 committed and not stored",
		"3 segments, last seq 4; missing: seq 3", "9 blocks (1 damaged), 10 records", "2 faults\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back fsck.Report
	if err := json.Unmarshal(encoded, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Error(diff)
	}
}

func TestObjectTooLargeToScanIsNotHeldInMemory(t *testing.T) {
	store := log(t, 1)
	replace(t, store, segment.ObjectKey(writerA, 1), func(b []byte) []byte { return b[:len(b)-1] })
	largest := int64(0)
	r := run(t, measured{store, &largest}, fsck.Options{ReadBytes: 50})
	if got := kinds(r); got != "damaged_footer unreadable" || largest > 50 {
		t.Errorf("got %q, read %d bytes at once", got, largest)
	}
}
