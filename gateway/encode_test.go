package gateway

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

type decodedMessage struct {
	MessageID   string            `json:"message_id"`
	Queue       int64             `json:"queue"`
	Offset      int64             `json:"offset"`
	StoredAt    time.Time         `json:"stored_at"`
	BornAt      time.Time         `json:"born_at"`
	Tag         string            `json:"tag"`
	Keys        []string          `json:"keys"`
	OrderingKey string            `json:"ordering_key"`
	ContentType string            `json:"content_type"`
	Properties  map[string]string `json:"properties"`
	Encoding    string            `json:"encoding"`
	Body        *string           `json:"body"`
}

func encoded(t *testing.T, e *messageEncoder, r *segment.Record) decodedMessage {
	t.Helper()
	text := e.append(nil, 3, 42, 1796112000120, r)
	var m decodedMessage
	if err := json.Unmarshal(text, &m, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func TestEncodedMessageHasEveryField(t *testing.T) {
	r := segment.Record{
		Attributes: segment.AttrText, ID: uuid.MustParse("019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00"), BornAt: 1796112000005,
		Tag: []byte("paid"), Keys: []byte("a b"), OrderingKey: []byte("k"), ContentType: []byte("text/plain; x=\"y\""), Body: []byte("grüße \"\\\n\x00\x7f😀"),
	}
	want := map[string]string{"": "", "empty": "", "ключ": "значение", "q\"": "\u2028"}
	for name, value := range want {
		r.Properties = segment.AppendProperty(r.Properties, name, value)
	}
	m := encoded(t, new(messageEncoder), &r)
	if m.MessageID != r.ID.String() || m.Queue != 3 || m.Offset != 42 || m.StoredAt.UnixMilli() != 1796112000120 || m.BornAt.UnixMilli() != 1796112000005 {
		t.Errorf("got %+v", m)
	}
	if m.Tag != "paid" || strings.Join(m.Keys, "|") != "a|b" || m.OrderingKey != "k" || m.ContentType != string(r.ContentType) || m.Encoding != "text" || *m.Body != string(r.Body) {
		t.Errorf("got %+v", m)
	}
	if fmt.Sprint(m.Properties) != fmt.Sprint(want) {
		t.Errorf("properties %v, want %v", m.Properties, want)
	}
}

func TestEncodedBodyIsBase64UnlessItWasText(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, c := range []struct {
		name       string
		attributes uint16
		body       []byte
		force      bool
		encoding   string
	}{
		{"text", segment.AttrText, []byte("hello"), false, "text"},
		{"empty text", segment.AttrText, nil, false, "text"},
		{"text, forced", segment.AttrText, []byte("hello"), true, "base64"},
		{"bytes that could be text", 0, []byte("hello"), false, "base64"},
		{"bytes", 0, all, false, "base64"},
		{"text that is none", segment.AttrText, []byte("a\xffb"), false, "base64"},
	} {
		m := encoded(t, &messageEncoder{base64: c.force}, &segment.Record{Attributes: c.attributes, Body: c.body})
		body := []byte(*m.Body)
		if m.Encoding == "base64" {
			body, _ = base64.StdEncoding.DecodeString(*m.Body)
		}
		if m.Encoding != c.encoding || !bytes.Equal(body, c.body) {
			t.Errorf("%s: %s %q, want %s %q", c.name, m.Encoding, body, c.encoding, c.body)
		}
	}
	if m := encoded(t, &messageEncoder{base64: true}, &segment.Record{Attributes: segment.AttrNull}); m.Body != nil {
		t.Errorf("a tombstone has the body %q", *m.Body)
	}
}

// One odd message must not spoil the page that it is on.
func TestEncodedMessageIsValidWhateverTheRecordHolds(t *testing.T) {
	odd := []byte("\xff\"\\\x00\xed\xa0\x80 \xc3")
	r := segment.Record{Attributes: segment.AttrText, BornAt: 1 << 62, Tag: odd, Keys: odd, OrderingKey: odd, ContentType: odd, Body: odd}
	r.Properties = segment.AppendProperty(r.Properties, odd, odd)
	if m := encoded(t, new(messageEncoder), &r); !strings.Contains(m.Tag, "\uFFFD") || m.Encoding != "base64" {
		t.Errorf("got %+v", m)
	}
	r.BornAt = -1
	encoded(t, new(messageEncoder), &r)
}

func TestClockWritesMilliseconds(t *testing.T) {
	var c clock
	for _, at := range []int64{0, 1, 999, 1000, 1796112000120, 1796112000007, 1796112001000, lastMilli, 999} {
		want := time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z07:00")
		if got := string(c.append(nil, at)); got != want {
			t.Errorf("%d: %s, want %s", at, got, want)
		}
	}
}

func BenchmarkEncodePage(b *testing.B) {
	r := segment.Record{Attributes: segment.AttrText, Tag: []byte("paid"), Keys: []byte("order-1 x"), OrderingKey: []byte("customer-1"), Body: bytes.Repeat([]byte("abcdefgh"), 128)}
	r.Properties = segment.AppendProperty(r.Properties, "source", "web")
	var page []byte
	b.ReportAllocs()
	for b.Loop() {
		page = page[:0]
		var e messageEncoder
		for i := range int64(100) {
			r.BornAt = 1796112000000 + i
			page = e.append(page, 1, i, 1796112000120, &r)
		}
	}
	b.SetBytes(int64(len(page)))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/message")
}
