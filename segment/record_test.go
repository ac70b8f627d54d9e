package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func drawRecord(t *rapid.T) segment.Record {
	field := func(name string, limit int) []byte {
		return rapid.SliceOfN(rapid.Byte(), 0, limit).Draw(t, name)
	}
	r := segment.Record{
		Attributes:  rapid.SampledFrom([]uint16{0, segment.AttrText, segment.AttrNull}).Draw(t, "attributes"),
		BornAt:      rapid.Int64().Draw(t, "born"),
		Tag:         field("tag", 20),
		Keys:        field("keys", 20),
		OrderingKey: field("ordering key", 64),
		ContentType: field("content type", 20),
	}
	copy(r.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	for range rapid.IntRange(0, 4).Draw(t, "properties") {
		r.Properties = segment.AppendProperty(r.Properties, field("name", 9), field("value", 9))
	}
	if r.Attributes != segment.AttrNull {
		r.Body = field("body", 200)
	}
	return r
}

func TestRecordsSurviveARoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(drawRecord), 0, 5).Draw(t, "records")
		var b []byte
		size := 0
		for i := range want {
			b = segment.AppendRecord(b, &want[i])
			size += segment.RecordSize(&want[i])
		}
		if len(b) != size {
			t.Fatalf("encoded %d bytes, RecordSize says %d", len(b), size)
		}
		var got []segment.Record
		for r, err := range segment.Records(b) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestRecordThatIsCutShortIsCorrupt(t *testing.T) {
	r := message(1, "body")
	r.Tag, r.Properties = []byte("tag"), segment.AppendProperty(nil, "a", "b")
	b := segment.AppendRecord(nil, &r)
	for n := range b {
		if _, _, err := segment.DecodeRecord(b[:n]); !errors.Is(err, segment.ErrCorrupt) {
			t.Errorf("first %d of %d bytes: got %v, want ErrCorrupt", n, len(b), err)
		}
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(b []byte)
		want   error
	}{
		{"length below the header", func(b []byte) { binary.BigEndian.PutUint32(b, 37) }, segment.ErrCorrupt},
		{"length of 4 GiB", func(b []byte) { binary.BigEndian.PutUint32(b, 1<<32-1) }, segment.ErrCorrupt},
		{"tag longer than the record", func(b []byte) { b[30] = 0xff }, segment.ErrCorrupt},
		{"keys longer than the record", func(b []byte) { b[32] = 0xff }, segment.ErrCorrupt},
		{"ordering key longer than the record", func(b []byte) { b[34] = 0xff }, segment.ErrCorrupt},
		{"content type longer than the record", func(b []byte) { b[36] = 0xff }, segment.ErrCorrupt},
		{"properties longer than the record", func(b []byte) { b[38] = 0xff }, segment.ErrCorrupt},
		{"property name past the list", func(b []byte) { b[43] = 9 }, segment.ErrCorrupt},
		{"property value past the list", func(b []byte) { b[46] = 9 }, segment.ErrCorrupt},
		{"list ends inside a length", func(b []byte) { b[41] = 5 }, segment.ErrCorrupt},
		{"tombstone with a body", func(b []byte) { b[5] = byte(segment.AttrNull) }, segment.ErrCorrupt},
		{"text and tombstone", func(b []byte) { b[5] = byte(segment.AttrText | segment.AttrNull) }, segment.ErrCorrupt},
		{"reserved attribute", func(b []byte) { b[5] = 4 }, segment.ErrVersion},
		{"highest reserved attribute", func(b []byte) { b[4] = 0x80 }, segment.ErrVersion},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := segment.Record{Properties: segment.AppendProperty(nil, "n", "v"), Body: []byte("body")}
			b := segment.AppendRecord(nil, &r)
			if _, _, err := segment.DecodeRecord(b); err != nil {
				t.Fatal(err)
			}
			tt.change(b)
			if _, n, err := segment.DecodeRecord(b); !errors.Is(err, tt.want) || n != 0 {
				t.Errorf("got %d bytes, %v, want %v", n, err, tt.want)
			}
		})
	}
}

func TestRecordsStopsAtTheFirstError(t *testing.T) {
	a, b := message(0, "a"), message(1, "b")
	payload := segment.AppendRecord(segment.AppendRecord(nil, &a), &b)
	payload = append(payload, 0, 0, 0)
	var seen []string
	for r, err := range segment.Records(payload) {
		if err != nil {
			seen = append(seen, "error")
			continue
		}
		seen = append(seen, string(r.Body))
	}
	if got := strings.Join(seen, " "); got != "a b error" {
		t.Errorf("got %q", got)
	}
}

func TestFieldsOfADecodedRecordCannotGrowIntoEachOther(t *testing.T) {
	r := segment.Record{Tag: []byte("t"), Keys: []byte("k"), Properties: segment.AppendProperty(nil, "n", "v"), Body: []byte("b")}
	b := segment.AppendRecord(nil, &r)
	b = append(b, "next"...)
	before := bytes.Clone(b)
	got, _, err := segment.DecodeRecord(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range [][]byte{got.Tag, got.Keys, got.OrderingKey, got.ContentType, got.Properties, got.Body} {
		_ = append(field, "overflow"...)
	}
	if !bytes.Equal(b, before) {
		t.Error("append to a field changed the buffer")
	}
}

func TestStampRecordSetsIDAndBornAtOnly(t *testing.T) {
	r := segment.Record{Tag: []byte("t"), Body: []byte("b")}
	b := segment.AppendRecord(nil, &r)
	r.ID, r.BornAt = segment.MessageID(idBase, 5), 1234
	segment.StampRecord(b, r.ID, r.BornAt)
	if want := segment.AppendRecord(nil, &r); !bytes.Equal(b, want) {
		t.Errorf("got %x, want %x", b, want)
	}
}

func TestAppendRecordPanicsRatherThanWriteWhatNobodyReads(t *testing.T) {
	long := make([]byte, 1<<16)
	for _, r := range []segment.Record{
		{Tag: long}, {Keys: long}, {OrderingKey: long}, {ContentType: long},
		{Attributes: 4}, {Attributes: segment.AttrNull, Body: []byte("x")}, {Attributes: segment.AttrNull | segment.AttrText},
	} {
		if !panics(func() { segment.AppendRecord(nil, &r) }) {
			t.Errorf("no panic for attributes %#x, tag of %d bytes", r.Attributes, len(r.Tag))
		}
	}
	if !panics(func() { segment.AppendProperty(nil, "name", long) }) || !panics(func() { segment.AppendProperty(nil, long, "") }) {
		t.Error("no panic for a long property")
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func TestPropertiesYieldInOrderAndStopAtAFault(t *testing.T) {
	p := segment.AppendProperty(nil, "a", "1")
	p = segment.AppendProperty(p, []byte("b"), "")
	list := func(p segment.Properties) string {
		s := ""
		for name, value := range p.All() {
			s += fmt.Sprintf("%s=%s ", name, value)
		}
		return s
	}
	if got := list(p); got != "a=1 b= " {
		t.Errorf("got %q", got)
	}
	if got := list(p[:len(p)-1]); got != "a=1 " {
		t.Errorf("cut short: got %q", got)
	}
	for range p.All() {
		break
	}
}

func TestRecordCodecDoesNotAllocate(t *testing.T) {
	r := message(1, strings.Repeat("x", 1024))
	r.Tag, r.Properties = []byte("tag"), segment.AppendProperty(nil, "a", "b")
	b := segment.AppendRecord(nil, &r)
	dst := make([]byte, 0, 2*len(b))
	if n := testing.AllocsPerRun(100, func() { dst = segment.AppendRecord(dst[:0], &r) }); n != 0 {
		t.Errorf("AppendRecord allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		got, _, err := segment.DecodeRecord(b)
		for range got.Properties.All() {
		}
		if err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("DecodeRecord allocates %v times", n)
	}
}
