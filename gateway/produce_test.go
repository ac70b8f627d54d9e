package gateway_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
)

func everyByte() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func TestMessagesComeBackAsTheyWereSent(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	properties := map[string]string{"empty": "", "ключ 🔑": "значение \n\t\"", "CaseKept": "x"}
	for i := len(properties); i < 64; i++ {
		properties[fmt.Sprintf("p%d", i)] = strings.Repeat("v", i)
	}
	text := func(s string) *string { return &s }
	want := []message{
		{Body: text("hello"), Tag: "paid", Keys: []string{"a", "b"}, OrderingKey: "k", ContentType: "text/plain", Properties: properties},
		{Body: text("")}, {Body: nil}, {Body: text("grüße 😀 \u0000\u001f\u2028 \"\\/")},
		{Body: text(base64.StdEncoding.EncodeToString(everyByte())), Encoding: "base64"},
		{Body: text(""), Encoding: "base64"}, {Body: text("aGVsbG8="), Encoding: "base64"}, {Body: text("aGVsbG8=")},
	}
	var in []map[string]any
	for _, m := range want {
		fields := map[string]any{"body": m.Body}
		for name, value := range map[string]string{"encoding": m.Encoding, "tag": m.Tag, "ordering_key": m.OrderingKey, "content_type": m.ContentType} {
			if value != "" {
				fields[name] = value
			}
		}
		if m.Keys != nil {
			fields["keys"], fields["properties"] = m.Keys, m.Properties
		}
		in = append(in, fields)
	}
	body, err := json.Marshal(map[string]any{"messages": in})
	if err != nil {
		t.Fatal(err)
	}
	result := as[sent](t, n.post("/v1/topics/orders/messages", body), http.StatusOK)
	got := n.read("orders", 0, "")
	if result.Stored != len(want) || result.Failed != 0 || len(got.Messages) != len(want) || got.Status != "found" || got.Next != int64(len(want)) {
		t.Fatalf("stored %+v, read %+v", result, got)
	}
	for i, m := range got.Messages {
		if r := result.Results[i]; r.Index != i || r.Status != "stored" || r.MessageID != m.MessageID || *r.Offset != m.Offset || *r.Queue != 0 || r.Duplicate {
			t.Errorf("message %d was answered %+v and read %+v", i, r, m)
		}
		w := want[i]
		if w.Encoding == "" {
			w.Encoding = "text"
		}
		same := (m.Body == nil) == (w.Body == nil) && (m.Body == nil || *m.Body == *w.Body)
		if !same || m.Encoding != w.Encoding || m.Tag != w.Tag || strings.Join(m.Keys, " ") != strings.Join(w.Keys, " ") ||
			m.OrderingKey != w.OrderingKey || m.ContentType != w.ContentType || !maps.Equal(m.Properties, w.Properties) {
			t.Errorf("message %d: sent %+v, read %+v", i, w, m)
		}
	}
	forced := n.read("orders", 0, "encoding=base64").Messages[0]
	if forced.Encoding != "base64" || *forced.Body != "aGVsbG8=" {
		t.Errorf("encoding=base64 gives %+v", forced)
	}
}

func TestRefusedRequestsStoreNothing(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":2,"max_message_bytes":1000}`)
	long := strings.Repeat("x", 1001)
	for name, c := range map[string]struct {
		body    string
		status  int
		code    string
		pointer string
	}{
		"no JSON":            {`hello`, 400, "invalid_json", ""},
		"trailing data":      {`{"messages":[{"body":"x"}]} {}`, 400, "invalid_json", ""},
		"unknown field":      {`{"messages":[{"body":"x","nope":1}]}`, 400, "unknown_field", "/messages/0/nope"},
		"case variant":       {`{"messages":[{"body":"x","Tag":"a"}]}`, 400, "unknown_field", "/messages/0/Tag"},
		"duplicate field":    {`{"messages":[{"body":"x","body":"y"}]}`, 400, "duplicate_field", "/messages/0/body"},
		"invalid UTF-8":      {"{\"messages\":[{\"body\":\"\xff\"}]}", 400, "invalid_json", ""},
		"lone surrogate":     {`{"messages":[{"body":"\ud800"}]}`, 400, "invalid_json", ""},
		"too deep":           {`{"messages":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, 400, "invalid_json", ""},
		"wrong type":         {`{"messages":[{"body":"x","tag":5}]}`, 400, "invalid_field", "/messages/0/tag"},
		"no messages":        {`{"messages":[]}`, 422, "invalid_message", "/messages"},
		"too many":           {`{"messages":[` + strings.Repeat(`{"body":""},`, 1000) + `{"body":""}]}`, 422, "invalid_message", "/messages"},
		"no body":            {`{"messages":[{"body":"x"},{"tag":"a"}]}`, 422, "invalid_message", "/messages/1/body"},
		"bad base64":         {`{"messages":[{"body":"a b","encoding":"base64"}]}`, 422, "invalid_message", "/messages/0/body"},
		"bad encoding":       {`{"messages":[{"body":"x","encoding":"hex"}]}`, 422, "invalid_message", "/messages/0/encoding"},
		"blank in key":       {`{"messages":[{"body":"x","keys":["a","b c"]}]}`, 422, "invalid_message", "/messages/0/keys/1"},
		"pipe in tag":        {`{"messages":[{"body":"x","tag":"a|b"}]}`, 422, "invalid_message", "/messages/0/tag"},
		"no such queue":      {`{"messages":[{"body":"x","queue":2}]}`, 422, "invalid_message", "/messages/0/queue"},
		"reserved property":  {`{"messages":[{"body":"x","properties":{"__a":"b"}}]}`, 400, "reserved_property", "/messages/0/properties"},
		"null property":      {`{"messages":[{"body":"x","properties":{"a/b":null}}]}`, 422, "invalid_message", "/messages/0/properties/a~1b"},
		"too large":          {`{"messages":[{"body":"x"},{"body":"` + long + `"}]}`, 413, "message_too_large", "/messages/1/body"},
		"bad ack":            {`{"messages":[{"body":"x"}],"ack":"all"}`, 422, "invalid_message", "/ack"},
		"producer, half":     {`{"messages":[{"body":"x"}],"producer":{"id":"p"}}`, 422, "invalid_message", "/producer/epoch"},
		"long ordering key":  {`{"messages":[{"body":"x","ordering_key":"` + strings.Repeat("k", 65) + `"}]}`, 422, "invalid_message", "/messages/0/ordering_key"},
		"born in the future": {`{"messages":[{"body":"x","born_at":"yesterday"}]}`, 422, "invalid_message", "/messages/0/born_at"},
	} {
		t.Run(name, func(t *testing.T) {
			refusedAs(t, n.post("/v1/topics/orders/messages", []byte(c.body)), c.status, c.code, c.pointer)
		})
	}
	all := refusedAs(t, n.post("/v1/topics/orders/messages", []byte(`{"messages":[{"body":"x"},{"body":"x","tag":"|"},{"body":"x","queue":9},{}]}`)), 422, "invalid_message", "/messages/1/tag")
	if len(all.Errors) != 3 {
		t.Errorf("three faulty messages are told as %+v", all.Errors)
	}
	refusedAs(t, n.post("/v1/topics/orders/messages", []byte(`{"messages":[{"body":"x"}],"producer":{"id":"p","epoch":1,"seq":1}}`), "Idempotency-Key", "k"), 400, "invalid_header", "header:Idempotency-Key")
	refusedAs(t, n.post("/v1/topics/none/messages", []byte(`{"messages":[{"body":"x"}]}`)), 404, "topic_not_found", "")
	for queue := range 2 {
		if p := n.read("orders", queue, "wait_ms=20"); p.Max != 0 {
			t.Errorf("queue %d holds %+v", queue, p.Messages)
		}
	}
}

func TestQueuesAreChosenByNumberThenKey(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":8}`)
	result := n.send("orders", `[{"body":"1","queue":5},{"body":"2","ordering_key":"k"},{"body":"3","ordering_key":"k"},{"body":"4"},{"body":"5"}]`)
	r := result.Results
	if *r[0].Queue != 5 || *r[1].Queue != *r[2].Queue || *r[1].Offset+1 != *r[2].Offset || *r[3].Queue != *r[4].Queue {
		t.Errorf("got %+v", result)
	}
	again := n.send("orders", `[{"body":"6","ordering_key":"k"}]`)
	if *again.Results[0].Queue != *r[1].Queue {
		t.Errorf("key k went to queue %d, then to %d", *r[1].Queue, *again.Results[0].Queue)
	}
}

func TestAckNoneIsAnsweredBeforeItIsStored(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	a := n.post("/v1/topics/orders/messages", []byte(`{"ack":"none","messages":[{"body":"x"},{"body":"y"}]}`))
	result := as[sent](t, a, http.StatusAccepted)
	if len(result.Results) != 2 || result.Stored != 0 || result.Results[1].Status != "accepted" || result.Results[1].Offset != nil {
		t.Fatalf("got %s", a.body)
	}
	got := n.read("orders", 0, "wait_ms=5000&limit=2")
	if len(got.Messages) == 0 || got.Messages[0].MessageID != result.Results[0].MessageID {
		t.Errorf("read %+v, sent %s", got, a.body)
	}
}

func TestRawMessageKeepsItsBytesAndProperties(t *testing.T) {
	n := alone(t)
	n.topic("files", `{"queues":2}`)
	const path = "/v1/topics/files/messages/raw"
	req, err := n.request("POST", path+"?tag=png&keys=a&keys=b&queue=1&ordering_key=k&content_type=image%2Fpng", string(everyByte()),
		binary("Bmq-Property-Source", "50%25 caf%C3%A9")...)
	must(t, err)
	req.Header["bmq-property-empty"] = []string{""} // neither canonical nor with a value
	resp, err := n.client.Do(req)
	must(t, err)
	defer resp.Body.Close()
	var result sent
	must(t, json.NewDecoder(resp.Body).Decode(&result))
	m := n.read("files", 1, "").Messages[0]
	body, err := base64.StdEncoding.DecodeString(*m.Body)
	if err != nil || !bytes.Equal(body, everyByte()) || m.Encoding != "base64" || m.MessageID != result.Results[0].MessageID {
		t.Errorf("read %+v", m)
	}
	want := map[string]string{"source": "50% café", "empty": ""}
	if m.Tag != "png" || strings.Join(m.Keys, " ") != "a b" || m.OrderingKey != "k" || m.ContentType != "image/png" || !maps.Equal(m.Properties, want) {
		t.Errorf("read %+v", m)
	}
	raw := n.get("/v1/topics/files/queues/1/messages/0/raw")
	if !bytes.Equal(raw.body, everyByte()) || raw.header.Get("Content-Type") != "application/octet-stream" ||
		raw.header.Get("Bmq-Content-Type") != "image/png" || raw.header.Get("Bmq-Property-Source") != "50%25 caf%C3%A9" || raw.header.Get("Bmq-Tag") != "png" {
		t.Errorf("raw read: %v", raw.header)
	}
	for query, pointer := range map[string]string{"?tag=a|b": "query:tag", "?queue=2": "query:queue"} {
		refusedAs(t, n.post(path+query, []byte("x"), binary()...), 422, "invalid_message", pointer)
	}
	refusedAs(t, n.post(path+"?keys=a%20b", []byte("x"), binary()...), 400, "invalid_parameter", "query:keys")
	refusedAs(t, n.post(path, []byte("x"), binary("Bmq-Property-A", "%zz")...), 400, "invalid_header", "header:Bmq-Property-A")
	refusedAs(t, n.post(path, []byte("x"), binary("Bmq-Property-__a", "b")...), 400, "reserved_property", "")
	refusedAs(t, n.post(path, make([]byte, 4<<20+1), binary()...), 413, "body_too_large", "")
	if empty := n.post(path+"?queue=0", nil, binary()...); empty.status != 200 {
		t.Errorf("an empty body: %d %s", empty.status, empty.body)
	}
}

// records encodes messages as a producer of framed requests does.
func records(bodies ...string) []byte {
	var out []byte
	for i, body := range bodies {
		r := segment.Record{Attributes: segment.AttrText, Tag: []byte("t"), OrderingKey: fmt.Appendf(nil, "k%d", i%3), Body: []byte(body)}
		out = segment.AppendRecord(out, &r)
	}
	return out
}

func TestFramedMessagesAreStoredAsTheyLie(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":4}`)
	const path = "/v1/topics/orders/messages/framed"
	one := as[sent](t, n.post(path+"?queue=3", records("a", "b", "grüße"), binary()...), 200)
	if one.Stored != 3 || *one.Results[2].Offset != 2 || *one.Results[2].Queue != 3 {
		t.Errorf("got %+v", one)
	}
	got := n.read("orders", 3, "")
	if texts(got.Messages) != "a b grüße" || got.Messages[1].MessageID != one.Results[1].MessageID || got.Messages[0].BornAt.IsZero() {
		t.Errorf("read %+v", got)
	}
	many := as[sent](t, n.post(path, records("a", "b", "c", "d"), binary()...), 200)
	if *many.Results[0].Queue != *many.Results[3].Queue { // both have the key k0
		t.Errorf("got %+v", many)
	}
	for name, body := range map[string][]byte{"cut": records("a", "b")[:70], "noise": []byte("hello"), "zero": make([]byte, 64)} {
		t.Run(name, func(t *testing.T) {
			refusedAs(t, n.post(path, body, binary()...), 400, "invalid_frame", "")
		})
	}
	refusedAs(t, n.post(path+"?queue=4", records("a"), binary()...), 422, "invalid_message", "/0/queue")
	refusedAs(t, n.post(path, nil, binary()...), 422, "invalid_message", "")
}

func TestCompressedRequestsAreRead(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	fmt.Fprintf(w, `{"messages":[{"body":"%s"}]}`, strings.Repeat("z", 100_000))
	w.Close()
	a := n.post("/v1/topics/orders/messages", zipped.Bytes(), "Content-Encoding", "gzip")
	if a.status != 200 || len(*n.read("orders", 0, "").Messages[0].Body) != 100_000 {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestAnIdempotencyKeyStoresOnceOnAnyGateway(t *testing.T) {
	a, b := pair(t)
	a.topic("orders", `{"queues":4}`)
	body := []byte(`{"messages":[{"body":"1","ordering_key":"x"},{"body":"2","ordering_key":"y"},{"body":"3"}]}`)
	const path = "/v1/topics/orders/messages"
	first := a.post(path, body, "Idempotency-Key", "order-1")
	if first.status != 200 || first.header.Get("Idempotent-Replayed") != "" {
		t.Fatalf("first: %d %s %v", first.status, first.body, first.header)
	}
	for _, n := range []*node{a, b} {
		again := n.post(path, body, "Idempotency-Key", "order-1")
		if again.header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(again.body, first.body) {
			t.Errorf("again: %s, first: %s", again.body, first.body)
		}
		refusedAs(t, n.post(path, []byte(`{"messages":[{"body":"other"}]}`), "Idempotency-Key", "order-1"), 422, "idempotency_key_reused", "")
	}
	if other := b.post(path, body, "Idempotency-Key", "order-2"); bytes.Equal(other.body, first.body) {
		t.Error("another key gives the same answer")
	}
	refusedAs(t, a.post(path, body, "Idempotency-Key", "a b"), 400, "invalid_header", "header:Idempotency-Key")

	raw := func(query string) answer {
		return b.post(path+"/raw"+query, []byte("x"), binary("Idempotency-Key", "raw-1")...)
	}
	if one, two := raw("?tag=a"), raw("?tag=a"); one.status != 200 || !bytes.Equal(one.body, two.body) || two.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("raw: %s, then %s", one.body, two.body)
	}
	refusedAs(t, raw("?tag=b"), 422, "idempotency_key_reused", "")
	framed := func() answer {
		return a.post(path+"/framed", records("a", "b"), binary("Idempotency-Key", "framed-1")...)
	}
	if one, two := framed(), framed(); one.status != 200 || !bytes.Equal(one.body, two.body) {
		t.Errorf("framed: %s, then %s", one.body, two.body)
	}
}

// Sent many times at once, on both gateways, a request is stored once.
func TestConcurrentRequestsWithOneKeyStoreOnce(t *testing.T) {
	a, b := pair(t)
	nodes := []*node{a, b}
	nodes[0].topic("orders", `{"queues":1}`)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			a := nodes[i%2].post("/v1/topics/orders/messages", []byte(`{"messages":[{"body":"once"}]}`), "Idempotency-Key", "k")
			if a.status != 200 && a.status != 409 {
				t.Errorf("got %d %s", a.status, a.body)
			}
		})
	}
	wait.Wait()
	if p := nodes[1].read("orders", 0, ""); p.Max != 1 {
		t.Errorf("stored %d times", p.Max)
	}
}

func TestProducerSequencesAreKeptInOrderOnAnyGateway(t *testing.T) {
	a, b := pair(t)
	a.topic("orders", `{"queues":1}`)
	send := func(n *node, epoch, seq int) answer {
		return n.post("/v1/topics/orders/messages", fmt.Appendf(nil, `{"messages":[{"body":"%d"}],"producer":{"id":"p","epoch":%d,"seq":%d}}`, seq, epoch, seq))
	}
	first := as[sent](t, send(a, 1, 7), 200)
	as[sent](t, send(b, 1, 8), 200)
	again := as[sent](t, send(b, 1, 7), 200)
	if !again.Results[0].Duplicate || again.Results[0].MessageID != first.Results[0].MessageID || *again.Results[0].Offset != 0 {
		t.Errorf("seq 7 again: %+v, first %+v", again, first)
	}
	gap := refusedAs(t, send(a, 1, 10), 409, "producer_gap", "/producer/seq")
	if gap.Errors[0]["expected_seq"] != 9.0 {
		t.Errorf("gap: %+v", gap)
	}
	as[sent](t, send(b, 2, 0), 200)
	fenced := refusedAs(t, send(a, 1, 9), 409, "producer_fenced", "/producer/epoch")
	if fenced.Errors[0]["current_epoch"] != 2.0 {
		t.Errorf("fenced: %+v", fenced)
	}
	if got := texts(a.read("orders", 0, "").Messages); got != "7 8 0" {
		t.Errorf("stored %s", got)
	}
	raw := as[sent](t, a.post("/v1/topics/orders/messages/raw?producer_id=p&producer_epoch=2&producer_seq=0", []byte("x"), binary()...), 200)
	if !raw.Results[0].Duplicate {
		t.Errorf("raw: %+v", raw)
	}
	refusedAs(t, a.post("/v1/topics/orders/messages/raw?producer_id=p", []byte("x"), binary()...), 400, "invalid_parameter", "query:producer_id")
}
