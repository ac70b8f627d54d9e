package gateway

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/segment"
)

// recorder keeps what was added, copied as a draft would.
type recorder struct{ messages []journal.Message }

func (r *recorder) Add(m *journal.Message) error {
	c := *m
	for _, field := range []*[]byte{&c.Tag, &c.Keys, &c.OrderingKey, &c.ContentType, &c.Body, (*[]byte)(&c.Properties)} {
		*field = append([]byte{}, *field...)
	}
	r.messages = append(r.messages, c)
	return nil
}

func scanned(text []byte) (sendRequest, []journal.Message, error) {
	var to recorder
	s := takeScanner(text)
	defer s.release()
	r, err := s.sendRequest(&to)
	return r, to.messages, err
}

func strictly(text []byte) (sendRequest, []journal.Message, []fault, error) {
	var to recorder
	var in strictRequest
	var f faults
	r, err := in.decode(text, &to, &f)
	return r, to.messages, f.list, err
}

// agree fails unless the scanner and the strict decoder say the same of text:
// refused by both, or the same messages from both.
func agree(t *testing.T, text []byte) (accepted bool) {
	t.Helper()
	before := bytes.Clone(text)
	fast, fastMessages, fastErr := scanned(text)
	if !bytes.Equal(before, text) {
		t.Fatalf("the scanner changed its input %q to %q", before, text)
	}
	slow, slowMessages, faults, slowErr := strictly(text)
	switch refused := slowErr != nil || len(faults) > 0; {
	case refused && fastErr == nil:
		t.Fatalf("%q: the scanner accepts what the strict decoder refuses: %v %v", text, slowErr, faults)
	case refused:
		return false
	case fastErr != nil:
		t.Fatalf("%q: the scanner refuses what the strict decoder accepts", text)
	}
	if !reflect.DeepEqual(fast, slow) {
		t.Fatalf("%q: request %+v, strict decoder %+v", text, fast, slow)
	}
	if !reflect.DeepEqual(fastMessages, slowMessages) {
		t.Fatalf("%q: messages\n%+v, strict decoder\n%+v", text, fastMessages, slowMessages)
	}
	return true
}

// accepted and refused requests; both lists are also seeds of the fuzz test.
var acceptedSends = []string{
	`{"messages":[{"body":"hello"}]}`,
	` { "messages" : [ { "body" : "a" } , { "body" : null } , { "body" : "" } ] , "ack" : "none" } `,
	"\t{\r\n\"messages\":[{\"body\":\"x\"}]}\n",
	`{"ack":"durable","messages":[{"body":"x"}],"producer":{"id":"p","epoch":0,"seq":9007199254740991}}`,
	`{"producer":null,"ack":null,"messages":[{"body":"x","tag":null,"keys":null,"properties":null,"queue":null,"encoding":null,"content_type":null,"ordering_key":null,"born_at":null}]}`,
	`{"messages":[{"encoding":"base64","body":"AAECAwT/"},{"body":"","encoding":"base64"},{"body":null,"encoding":"base64"}]}`,
	`{"messages":[{"encoding":"base64","body":"\/\/79"},{"body":"aGk\u003d","encoding":"base64"}]}`,
	`{"messages":[{"body":"{\"a\":[1,\"\\u00e9\"]}\n","content_type":"application/json","tag":"paid","keys":["a","b-2"],"ordering_key":"k","properties":{"b":"2","a":"1","":""},"queue":0}]}`,
	`{"messages":[{"body":"\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC\uD83D\uDE00","queue":4294967295}]}`,
	`{"messages":[{"body":"grüße 😀 日本語 long enough to pass the first word of eight bytes"}]}`,
	`{"messages":[{"b\u006fdy":"escaped name","t\u0061g":"t"}]}`,
	`{"messages":[{"body":"x","queue":-0}]}`,
	`{"messages":[{"body":"x","born_at":"2026-12-01T08:30:00.123Z"},{"body":"x","born_at":"2026-12-01T10:30:00+02:00"}]}`,
	`{"messages":[{"body":"x","keys":[]},{"body":"y","properties":{}}]}`,
}

var refusedSends = []string{
	``, ` `, `null`, `[]`, `"x"`, `{`, `{}`, `{"messages":null}`, `{"messages":[]}`, `{"messages":{}}`,
	`{"messages":[{"body":"x"}]}x`, `{"messages":[{"body":"x"}]}{}`, `{"messages":[{"body":"x"}]},`,
	`{"messages":[{"body":"x"},]}`, `{"messages":[{"body":"x",}]}`, `{"messages":[{"body":"x"}],}`, `{,"messages":[{"body":"x"}]}`,
	`{"messages":[,{"body":"x"}]}`, `{"messages":[{"body":"x"} {"body":"y"}]}`, `{"messages":[null]}`, `{"messages":[[]]}`,
	`{"messages":[{}]}`, `{"messages":[{"tag":"x"}]}`, `{"messages":[{"body":1}]}`, `{"messages":[{"body":["x"]}]}`, `{"messages":[{"body":true}]}`,
	`{"messages":[{"body":"x"}],"unknown":1}`, `{"messages":[{"body":"x","unknown":1}]}`, `{"Messages":[{"body":"x"}]}`, `{"messages":[{"Body":"x"}]}`,
	`{"messages":[{"body":"x"}],"messages":[{"body":"y"}]}`, `{"messages":[{"body":"x","body":"y"}]}`, `{"messages":[{"body":"x","b\u006fdy":"y"}]}`,
	`{"messages":[{"body":null,"body":"y"}]}`, `{"messages":[{"body":"x","tag":null,"tag":null}]}`,
	`{"messages":[{"body":"x","properties":{"a":"1","a":"2"}}]}`, `{"messages":[{"body":"x","properties":{"a":"1","\u0061":"2"}}]}`,
	`{"messages":[{"body":"x","properties":{"a":null}}]}`, `{"messages":[{"body":"x","properties":{"a":1}}]}`, `{"messages":[{"body":"x","properties":[]}]}`,
	`{"messages":[{"body":"x","keys":[""]}]}`, `{"messages":[{"body":"x","keys":["a b"]}]}`, `{"messages":[{"body":"x","keys":["a\tb"]}]}`,
	`{"messages":[{"body":"x","keys":[null]}]}`, `{"messages":[{"body":"x","keys":"a"}]}`, `{"messages":[{"body":"x","keys":{}}]}`,
	`{"messages":[{"body":"x","queue":-1}]}`, `{"messages":[{"body":"x","queue":1.0}]}`, `{"messages":[{"body":"x","queue":1e2}]}`,
	`{"messages":[{"body":"x","queue":01}]}`, `{"messages":[{"body":"x","queue":"1"}]}`, `{"messages":[{"body":"x","queue":99999999999999999999}]}`,
	`{"messages":[{"body":"x","queue":-}]}`, `{"messages":[{"body":"x","queue":1 2}]}`, `{"messages":[{"body":"x","queue":+1}]}`,
	`{"messages":[{"body":"x","encoding":"hex"}]}`, `{"messages":[{"body":"x","encoding":"base64"}]}`, `{"messages":[{"body":"aGk","encoding":"base64"}]}`,
	`{"messages":[{"body":"aGk=\n","encoding":"base64"}]}`, `{"messages":[{"body":"aGl=","encoding":"base64"}]}`, `{"messages":[{"body":"a_-k","encoding":"base64"}]}`,
	`{"messages":[{"body":"x","born_at":"yesterday"}]}`, `{"messages":[{"body":"x","born_at":"1969-12-31T23:59:59Z"}]}`, `{"messages":[{"body":"x","born_at":1}]}`,
	`{"messages":[{"body":"x"}],"ack":"all"}`, `{"messages":[{"body":"x"}],"ack":1}`,
	`{"messages":[{"body":"x"}],"producer":{}}`, `{"messages":[{"body":"x"}],"producer":{"id":"","epoch":1,"seq":1}}`, `{"messages":[{"body":"x"}],"producer":{"id":"p","epoch":-1,"seq":1}}`,
	`{"messages":[{"body":"x"}],"producer":{"id":"p","epoch":1,"seq":9007199254740992}}`, `{"messages":[{"body":"x"}],"producer":{"id":"p","epoch":1,"seq":null}}`,
	`{"messages":[{"body":"x"}],"producer":{"id":"p","epoch":1,"seq":1,"x":1}}`, `{"messages":[{"body":"x"}],"producer":{"id":"p","id":"p","epoch":1,"seq":1}}`,
	"{\"messages\":[{\"body\":\"\xff\"}]}", "{\"messages\":[{\"body\":\"\xc3\"}]}", "{\"messages\":[{\"body\":\"a long enough plain run \xed\xa0\x80\"}]}",
	"{\"messages\":[{\"body\":\"\\n\xff\"}]}", "{\"messages\":[{\"body\":\"\xc3\\n\xa9\"}]}", "{\"messages\":[{\"body\":\"x\",\"\xff\":1}]}",
	`{"messages":[{"body":"\ud800"}]}`, `{"messages":[{"body":"\udc00"}]}`, `{"messages":[{"body":"\ud800x"}]}`, `{"messages":[{"body":"\ud800\n"}]}`, `{"messages":[{"body":"\ud800\ud800"}]}`,
	`{"messages":[{"body":"\u12"}]}`, `{"messages":[{"body":"\u12g4"}]}`, `{"messages":[{"body":"\x41"}]}`, `{"messages":[{"body":"\`, `{"messages":[{"body":"\u`, `{"messages":[{"body":"x`,
	"{\"messages\":[{\"body\":\"a\nb\"}]}", "{\"messages\":[{\"body\":\"a\x00b\"}]}", "{\"messages\":[{\"body\":\"\\n\x1f\"}]}",
	"\ufeff" + `{"messages":[{"body":"x"}]}`, `{"messages":[{"body":"x"}]/**/}`, `{'messages':[{"body":"x"}]}`, "{\"messages\":[{\"body\":\"x\"}]}\x00",
	`{"messages":[{"body":nul}]}`, `{"messages":[{"body":nulll}]}`, `{"messages":[{"body" "x"}]}`, `{"messages":[{"body":}]}`, `{"messages":[{"body":"x"]}}`,
}

func TestScannerAcceptsWhatTheStrictDecoderAccepts(t *testing.T) {
	for _, text := range acceptedSends {
		if !agree(t, []byte(text)) {
			_, _, faults, err := strictly([]byte(text))
			t.Errorf("%s is refused: %v %v", text, err, faults)
		}
	}
}

func TestScannerRefusesWhatTheStrictDecoderRefuses(t *testing.T) {
	for _, text := range refusedSends {
		if agree(t, []byte(text)) {
			t.Errorf("%q is accepted", text)
		}
	}
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, text := range []string{`{"messages":` + deep + `}`, `{"messages":[{"body":` + deep + `}]}`} {
		if agree(t, []byte(text)) {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestScannerCountsMessagesKeysAndProperties(t *testing.T) {
	message := func(n int) string {
		return `{"messages":[` + strings.Repeat(`{"body":"x"},`, n-1) + `{"body":"x"}]}`
	}
	keys := func(n int) string {
		return `{"messages":[{"body":"x","keys":[` + strings.Repeat(`"k",`, n-1) + `"k"]}]}`
	}
	properties := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"p%d":"v"`, i)
		}
		return `{"messages":[{"body":"x","properties":{` + b.String()[1:] + `}}]}`
	}
	value := func(n int) string {
		return `{"messages":[{"body":"x","properties":{"p":"` + strings.Repeat("v", n) + `"}}]}`
	}
	for name, c := range map[string]struct {
		text func(int) string
		most int
	}{
		"messages": {message, maxBatch}, "keys": {keys, maxKeys}, "properties": {properties, maxProperties}, "property bytes": {value, maxPropertyBytes - 1},
	} {
		if !agree(t, []byte(c.text(c.most))) {
			t.Errorf("%s: %d are refused", name, c.most)
		}
		if agree(t, []byte(c.text(c.most+1))) {
			t.Errorf("%s: %d are accepted", name, c.most+1)
		}
	}
}

func TestScannerKeepsEveryByteOfABody(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	text := fmt.Appendf(nil, `{"messages":[{"encoding":"base64","body":"%s"}]}`, base64.StdEncoding.EncodeToString(all))
	_, messages, err := scanned(text)
	if err != nil || len(messages) != 1 || !bytes.Equal(messages[0].Body, all) || messages[0].Text {
		t.Errorf("bytes 0x00-0xff came out as %+v, %v", messages, err)
	}
}

// The strict decoder must see every fault, so that a client can mend a batch
// in one go.
func TestStrictDecoderListsEveryFaultyMessage(t *testing.T) {
	text := `{"messages":[{"body":"ok"},{"body":1},{"tag":"t"},{"body":"x","nope":1},{"body":"x","keys":["a","b c"]},{"body":"x","properties":{"a/b":null}}],"ack":"all"}`
	_, _, faults, err := strictly([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, f := range faults {
		got[f.Pointer] = true
	}
	for _, want := range []string{"/ack", "/messages/1/body", "/messages/2/body", "/messages/3/nope", "/messages/4/keys/1", "/messages/5/properties/a~1b"} {
		if !got[want] {
			t.Errorf("no fault at %s in %v", want, faults)
		}
	}
	if len(faults) != 6 {
		t.Errorf("%d faults, want 6: %v", len(faults), faults)
	}
	many := `{"messages":[` + strings.Repeat(`{},`, maxBatch-1) + `{}]}`
	if _, _, faults, _ = strictly([]byte(many)); len(faults) != maxFaults {
		t.Errorf("%d faults listed of %d, want %d", len(faults), maxBatch, maxFaults)
	}
}

func FuzzScannerAgreesWithTheStrictDecoder(f *testing.F) {
	for _, text := range append(append([]string{}, acceptedSends...), refusedSends...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agree(t, text) })
}

// FuzzScannedString compares strings alone, where the fuzzer gets further.
func FuzzScannedString(f *testing.F) {
	for _, text := range []string{`"a"`, `"\ud83d\ude00"`, "\"\xff\"", `"\u0000 long enough for words \" and more"`, "\"é\\né\"", `"\ud800"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want string
		wantErr := json.Unmarshal(text, &want)
		if jsontext.Value(text).Kind() != '"' {
			return
		}
		var s scanner
		s.reset(text)
		got := string(s.str())
		if ok := s.end(); ok != (wantErr == nil) || ok && got != want {
			t.Fatalf("%q: got %q, %v; want %q, %v", text, got, ok, want, wantErr)
		}
		if wantErr != nil {
			return
		}
		var back string
		if err := json.Unmarshal(appendString(nil, []byte(want)), &back); err != nil || back != want {
			t.Fatalf("%q was encoded as %q: %v", want, appendString(nil, []byte(want)), err)
		}
	})
}

var _ adder = (*recorder)(nil)

func benchmarkBatch(n, size int, body string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"messages":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"tag":"paid","keys":["order-%d"],"ordering_key":"customer-%d","properties":{"source":"web","region":"eu"},"body":"%s"}`, i, i%17, strings.Repeat(body, size/len(body)))
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// draftLike appends records as a draft does, so that the copy is counted.
type draftLike struct{ buffer []byte }

func (d *draftLike) Add(m *journal.Message) error {
	r := segment.Record{Attributes: segment.AttrText, Tag: m.Tag, Keys: m.Keys, OrderingKey: m.OrderingKey, ContentType: m.ContentType, Properties: m.Properties, Body: m.Body}
	d.buffer = segment.AppendRecord(d.buffer, &r)
	return nil
}

func BenchmarkScanBatch(b *testing.B) {
	for _, c := range []struct {
		name, body string
	}{{"plain", "abcdefgh"}, {"unicode", "grüße😀"}, {"escaped", `{\"k\":\"v\",\"n\":1}`}} {
		text := benchmarkBatch(100, 1024, c.body)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var to draftLike
			for b.Loop() {
				to.buffer = to.buffer[:0]
				s := takeScanner(text)
				if _, err := s.sendRequest(&to); err != nil {
					b.Fatal(err)
				}
				s.release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/message")
		})
	}
}

func BenchmarkStrictBatch(b *testing.B) {
	text := benchmarkBatch(100, 1024, "abcdefgh")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var to draftLike
	for b.Loop() {
		to.buffer = to.buffer[:0]
		var in strictRequest
		var f faults
		if _, err := in.decode(text, &to, &f); err != nil || len(f.list) > 0 {
			b.Fatal(err, f.list)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/message")
}
