package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

func draftTo(t testing.TB, topic meta.Topic) *Draft {
	t.Helper()
	topic.ID = uuid.Must(uuid.NewV7())
	if topic.Queues == 0 {
		topic.Queues = 4
	}
	d, err := (&Journal{}).NewDraft(topic)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func properties(n, size int) segment.Properties {
	var p segment.Properties
	for i := range n {
		name := fmt.Sprintf("p%05d", i)
		p = segment.AppendProperty(p, name, strings.Repeat("v", size/n-len(name)))
	}
	return p
}

func TestLimitsOfAMessage(t *testing.T) {
	fifo := meta.Topic{Type: meta.TopicFIFO}
	small := meta.Topic{MaxMessageBytes: 10}
	long := func(n int) []byte { return bytes.Repeat([]byte("k"), n) }
	for _, c := range []struct {
		name        string
		topic       meta.Topic
		message     Message
		field, code string // empty: accepted
	}{
		{"empty body", meta.Topic{}, Message{}, "", ""},
		{"tombstone", meta.Topic{}, Message{Null: true}, "", ""},
		{"tombstone with a body", meta.Topic{}, Message{Null: true, Body: long(1)}, "body", CodeInvalid},
		{"largest body", meta.Topic{}, Message{Body: make([]byte, MaxBodyBytes)}, "", ""},
		{"body too large", meta.Topic{}, Message{Body: make([]byte, MaxBodyBytes+1)}, "body", CodeTooLarge},
		{"body at the topic's limit", small, Message{Body: make([]byte, 10)}, "", ""},
		{"body above the topic's limit", small, Message{Body: make([]byte, 11)}, "body", CodeTooLarge},
		{"text that is none", meta.Topic{}, Message{Text: true, Body: []byte{0xff}}, "body", CodeInvalid},
		{"bytes that are no text", meta.Topic{}, Message{Body: []byte{0xff}}, "", ""},
		{"tag", meta.Topic{}, Message{Tag: []byte("paid/eu")}, "", ""},
		{"tag with a bar", meta.Topic{}, Message{Tag: []byte("a|b")}, "tag", CodeInvalid},
		{"tag with a blank", meta.Topic{}, Message{Tag: []byte("a b")}, "tag", CodeInvalid},
		{"tag with a line end", meta.Topic{}, Message{Tag: []byte("a\r\nb")}, "tag", CodeInvalid},
		{"tag too long", meta.Topic{}, Message{Tag: long(MaxTagBytes + 1)}, "tag", CodeTooLong},
		{"several keys", meta.Topic{}, Message{Keys: []byte("a b c")}, "", ""},
		{"empty key between", meta.Topic{}, Message{Keys: []byte("a  c")}, "keys", CodeInvalid},
		{"empty key at the end", meta.Topic{}, Message{Keys: []byte("a ")}, "keys", CodeInvalid},
		{"keys too long", meta.Topic{}, Message{Keys: long(MaxKeysBytes + 1)}, "keys", CodeTooLong},
		{"longest ordering key", meta.Topic{}, Message{OrderingKey: []byte(strings.Repeat("é", MaxOrderingKey))}, "", ""},
		{"ordering key too long", meta.Topic{}, Message{OrderingKey: long(MaxOrderingKey + 1)}, "ordering_key", CodeTooLong},
		{"blank ordering key", meta.Topic{}, Message{OrderingKey: []byte("  ")}, "ordering_key", CodeInvalid},
		{"fifo without ordering key", fifo, Message{}, "ordering_key", CodeRequired},
		{"fifo with ordering key", fifo, Message{OrderingKey: long(1)}, "", ""},
		{"128 properties", meta.Topic{}, Message{Properties: properties(MaxProperties, 2048)}, "", ""},
		{"129 properties", meta.Topic{}, Message{Properties: properties(MaxProperties+1, 2580)}, "properties", CodeTooMany},
		{"largest properties", meta.Topic{}, Message{Properties: properties(1, MaxPropertyBytes)}, "", ""},
		{"properties too large", meta.Topic{}, Message{Properties: properties(1, MaxPropertyBytes+1)}, "properties", CodeTooLarge},
		{"reserved property", meta.Topic{}, Message{Properties: segment.AppendProperty(nil, "__delay", "1")}, "properties", CodeReserved},
		{"property without a name", meta.Topic{}, Message{Properties: segment.AppendProperty(nil, "", "1")}, "properties", CodeInvalid},
		{"property twice", meta.Topic{}, Message{Properties: segment.AppendProperty(segment.AppendProperty(nil, "a", "1"), "a", "2")}, "properties", CodeInvalid},
		{"content type with a line end", meta.Topic{}, Message{ContentType: []byte("text/plain\n")}, "content_type", CodeInvalid},
		{"last queue", meta.Topic{}, Message{Queue: 3}, "", ""},
		{"no such queue", meta.Topic{}, Message{Queue: 4}, "queue", CodeOutOfRange},
		{"born before 1970", meta.Topic{}, Message{BornAt: -1}, "born_at", CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.message.Queue == 0 {
				c.message.Queue = AnyQueue
			}
			d := draftTo(t, c.topic)
			checkInvalid(t, d.Add(&c.message), c.field, c.code)
			if want := 1; c.code == "" && d.Len() != want {
				t.Errorf("%d messages in the draft, want %d", d.Len(), want)
			}
			if c.code != "" && (d.Len() != 0 || d.Size() != 0) {
				t.Errorf("a refused message left %d messages and %d bytes", d.Len(), d.Size())
			}
		})
	}
}

func checkInvalid(t *testing.T, err error, field, code string) {
	t.Helper()
	var invalid *InvalidError
	switch {
	case code == "" && err != nil:
		t.Errorf("refused: %v", err)
	case code != "" && (!errors.As(err, &invalid) || invalid.Field != field || invalid.Code != code):
		t.Errorf("got error %v, want %s of %s", err, code, field)
	}
}

func TestLimitsOfARequest(t *testing.T) {
	d := draftTo(t, meta.Topic{})
	for range MaxBatchMessages {
		if err := d.Add(&Message{Queue: AnyQueue}); err != nil {
			t.Fatal(err)
		}
	}
	checkInvalid(t, d.Add(&Message{Queue: AnyQueue}), "messages", CodeTooMany)
	d = draftTo(t, meta.Topic{})
	if err := d.Add(&Message{Queue: AnyQueue, Body: make([]byte, MaxBodyBytes)}); err != nil {
		t.Fatal(err)
	}
	checkInvalid(t, d.Add(&Message{Queue: AnyQueue, Body: make([]byte, MaxBodyBytes)}), "messages", CodeTooLarge)
}

func TestFIFOQueueIsTheOrderingKeys(t *testing.T) {
	key := []byte("order-1")
	of := int64(xxhash.Sum64(key) % 4)
	d := draftTo(t, meta.Topic{Type: meta.TopicFIFO})
	if err := d.Add(&Message{Queue: of, OrderingKey: key}); err != nil {
		t.Error(err)
	}
	checkInvalid(t, d.Add(&Message{Queue: (of + 1) % 4, OrderingKey: key}), "queue", CodeConflict)
}

func TestTopicNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "Orders-1.eu_west": true, strings.Repeat("a", 127): true, strings.Repeat("a", 128): false,
		"": false, ".": false, "..": false, "-a": false, "_a": false, "a/b": false, "a:b": false, "a b": false,
		"é": false, "%RETRY%g": false, "a}{b": false, "a\x00": false,
	} {
		if err := ValidateTopicName(name); (err == nil) != ok {
			t.Errorf("%q: got error %v, want accepted: %v", name, err, ok)
		}
	}
}

// framed encodes records as a client does, with ids and times left out.
func framed(keys ...string) []byte {
	var b []byte
	for i, key := range keys {
		b = segment.AppendRecord(b, &segment.Record{OrderingKey: []byte(key), Body: fmt.Appendf(nil, "body %d", i)})
	}
	return b
}

func TestFramedRecordsOfOneQueueAreNotCopied(t *testing.T) {
	records := framed("", "", "")
	d := draftTo(t, meta.Topic{})
	if err := d.AddFramed(records, AnyQueue); err != nil {
		t.Fatal(err)
	}
	if len(d.parts) != 1 || &d.parts[0].records.b[0] != &records[0] || len(d.parts[0].records.b) != len(records) {
		t.Fatal("the records were copied")
	}
	i := 0
	for r, err := range segment.Records(records) {
		if err != nil {
			t.Fatal(err)
		}
		if r.ID != segment.MessageID(d.base, i) || r.BornAt != d.bornAt {
			t.Errorf("record %d was stamped %s at %d", i, r.ID, r.BornAt)
		}
		i++
	}
	// A message behind them must not be written into the caller's memory.
	if err := d.Add(&Message{Queue: AnyQueue, Body: []byte("more")}); err != nil {
		t.Fatal(err)
	}
	if d.Len() != 4 || bodiesOf(t, d, 0) != "body 0,body 1,body 2,more" {
		t.Errorf("the draft holds %d messages: %s", d.Len(), bodiesOf(t, d, 0))
	}
}

func bodiesOf(t *testing.T, d *Draft, part int) string {
	t.Helper()
	var all []string
	for r, err := range segment.Records(d.parts[part].records.b) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(r.Body))
	}
	return strings.Join(all, ",")
}

func TestFramedRecordsOfSeveralQueuesAreSplitInOrder(t *testing.T) {
	a, b := keysOfTwoQueues()
	d := draftTo(t, meta.Topic{})
	if err := d.AddFramed(framed(a, a, b, "", a), AnyQueue); err != nil {
		t.Fatal(err)
	}
	got := []string{bodiesOf(t, d, 0), bodiesOf(t, d, 1), bodiesOf(t, d, 2)}
	if want := []string{"body 0,body 1,body 4", "body 2", "body 3"}; !slices.Equal(got, want) {
		t.Errorf("parts hold %q, want %q", got, want)
	}
}

// keysOfTwoQueues returns ordering keys that go to different ones of 4 queues
// and to the same one of 1.
func keysOfTwoQueues() (a, b string) {
	a = "a"
	for i := 0; ; i++ {
		b = fmt.Sprint("b", i)
		if xxhash.Sum64String(a)%4 != xxhash.Sum64String(b)%4 {
			return a, b
		}
	}
}

func TestFramedRecordsThatAreNoneAreRefusedByIndex(t *testing.T) {
	good := framed("", "")
	reserved := segment.AppendRecord(slices.Clone(good), &segment.Record{Properties: segment.AppendProperty(nil, "__x", "1")})
	for name, c := range map[string]struct {
		records     []byte
		field, code string
	}{
		"cut short":         {good[:len(good)-1], "records", CodeMalformed},
		"trailing byte":     {append(slices.Clone(good), 0), "records", CodeMalformed},
		"reserved property": {reserved, "properties", CodeReserved},
	} {
		err := draftTo(t, meta.Topic{}).AddFramed(slices.Clone(c.records), AnyQueue)
		checkInvalid(t, err, c.field, c.code)
		var invalid *InvalidError
		if want := 2; errors.As(err, &invalid) && name != "cut short" && invalid.Index != want {
			t.Errorf("%s: index %d, want %d", name, invalid.Index, want)
		}
	}
}

func FuzzFramed(f *testing.F) {
	f.Add(framed("", "a", ""), int64(-1))
	f.Add(framed("a", "b"), int64(2))
	f.Add([]byte{0, 0, 0, 0}, int64(9))
	f.Fuzz(func(t *testing.T, records []byte, queue int64) {
		d := draftTo(t, meta.Topic{})
		if err := d.AddFramed(records, queue); err != nil {
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		count, size := 0, 0
		for i := range d.parts {
			for r, err := range segment.Records(d.parts[i].records.b) {
				if err != nil {
					t.Fatalf("accepted what does not decode: %v", err)
				}
				size += segment.RecordSize(&r)
				count++
			}
		}
		if count != d.Len() || size != d.Size() || size != len(records) {
			t.Fatalf("%d messages of %d bytes became %d of %d", d.Len(), len(records), count, size)
		}
	})
}

func TestDuplicateIsAnsweredAsTheFirstTime(t *testing.T) {
	a, b := keysOfTwoQueues()
	first := uuid.Must(uuid.NewV7())
	d := draftTo(t, meta.Topic{Queues: 8})
	for _, m := range []Message{{Queue: AnyQueue, OrderingKey: []byte(a)}, {Queue: AnyQueue, OrderingKey: []byte(b)},
		{Queue: AnyQueue, OrderingKey: []byte(a)}, {Queue: AnyQueue}, {Queue: 1}} {
		if err := d.Add(&m); err != nil {
			t.Fatal(err)
		}
	}
	// The first sending was split among 4 queues; messages without a choice
	// went to queue 3.
	offsets := map[uint32]int64{}
	parts := map[uint32]uint32{uint32(xxhash.Sum64String(a) % 4): 2}
	parts[uint32(xxhash.Sum64String(b)%4)]++
	parts[1]++
	var answer []meta.Part
	for q := range uint32(4) {
		offsets[q] = int64(q) * 100
		if parts[q] > 0 {
			answer = append(answer, meta.Part{Queue: q, First: offsets[q], Count: parts[q]})
		}
		if q == 3 {
			answer = append(answer, meta.Part{Queue: 3, First: 900, Count: 1})
		}
	}
	d.repeat(meta.RequestOutcome{IDBase: first, Queues: 4, AutoQueue: 3, Parts: answer})
	got := &Appended{base: d.base, count: d.count, parts: d.parts, routes: d.routes}
	for i, key := range []string{a, b, a} {
		id, queue, offset := got.At(i)
		if id != segment.MessageID(first, i) || queue != uint32(xxhash.Sum64String(key)%4) || offset/100 != int64(queue) {
			t.Errorf("message %d: %s in queue %d at %d", i, id, queue, offset)
		}
	}
	if _, queue, offset := got.At(3); queue != 3 || offset != 900 {
		t.Errorf("the message without a choice: queue %d at %d, want 3 at 900", queue, offset)
	}
	if _, queue, _ := got.At(4); queue != 1 {
		t.Errorf("the message with a queue: %d, want 1", queue)
	}
}

func TestForgottenDuplicateHasNoOffsets(t *testing.T) {
	d := draftTo(t, meta.Topic{})
	if err := d.Add(&Message{Queue: 2}); err != nil {
		t.Fatal(err)
	}
	d.repeat(meta.RequestOutcome{})
	got := &Appended{base: d.base, count: d.count, parts: d.parts, routes: d.routes}
	if id, _, offset := got.At(0); id != uuid.Nil || offset != -1 {
		t.Errorf("got id %s and offset %d, want neither", id, offset)
	}
}

// Lent memory is taken over where a request goes to one queue as it lies, and
// given back at once where it does not.
func TestRecordsInLentMemoryAreTakenOver(t *testing.T) {
	record := func(key string) segment.Record {
		return segment.Record{OrderingKey: []byte(key), Body: []byte("body of " + key)}
	}
	for name, keys := range map[string][]string{"one queue": {"", ""}, "several queues": {"a", "b", "c", "d"}, "none": nil} {
		d := draftTo(t, meta.Topic{Queues: 4})
		lent := LendRecords(600)
		records := lent.Bytes()
		for _, key := range keys {
			r := record(key)
			records = segment.AppendRecord(records, &r)
		}
		memory := lent.b[:1]
		if err := d.AddRecords(&lent, records, AnyQueue); err != nil || !lent.None() {
			t.Fatalf("%s: %v, still lent: %v", name, err, !lent.None())
		}
		if taken := len(d.parts) > 0 && d.parts[0].records.from != nil && &d.parts[0].records.b[0] == &memory[0]; taken != (name == "one queue") {
			t.Errorf("%s: taken over: %v", name, taken)
		}
	}
	lent := LendRecords(600)
	if err := draftTo(t, meta.Topic{Queues: 4}).AddRecords(&lent, append(lent.Bytes(), "no record"...), AnyQueue); err == nil || lent.None() {
		t.Errorf("malformed: %v, still lent: %v", err, !lent.None())
	}
	lent.Release()
	lent.Release() // is nothing
}
