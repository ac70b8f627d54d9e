package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/segment"
)

// manyProperties are as many as a message may have, some of them awkward.
func manyProperties() map[string]string {
	p := map[string]string{
		"größe": "weiß", "日本": "東京 🗼", "empty": "", "quoted": "\"\\\n\r\n\t\u2028</script>", "nul": "a\x00b", "a.b-c_d": "id: 7\n\ndata: x",
	}
	for i := len(p); i < 64; i++ {
		p[fmt.Sprint("p", i)] = fmt.Sprint("v", i)
	}
	return p
}

// Properties arrive as they were sent, by every way that pushes messages.
func TestPropertiesArePushedAsTheyWereSent(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	want := manyProperties()
	text, err := json.Marshal([]any{map[string]any{"body": "x", "properties": want}})
	must(t, err)

	s := n.socket("bmq.v1.json")
	s.tail("s1", "orders", `{"position":"earliest"}`, 100, 1<<20)
	b := n.socket("bmq.v1.bin")
	b.tail("s1", "orders", `{"position":"earliest"}`, 100, 1<<20)
	n.send("orders", string(text))

	same := func(way string, got map[string]string) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("%s: properties %q, want %q", way, got, want)
		}
	}
	same("stream", n.stream(t, "position=earliest", "").message().Properties)
	same("bmq.v1.json", s.collect(1)[0].Properties)
	r, _, err := segment.DecodeRecord(b.want("messages").bodies)
	must(t, err)
	got := map[string]string{}
	for name, value := range r.Properties.All() {
		got[string(name)] = string(value)
	}
	same("bmq.v1.bin", got)

	sending, err := json.Marshal(map[string]any{
		"op": "send", "id": "1", "topic": "orders", "messages": []any{map[string]any{"body": "y", "properties": want}},
	})
	must(t, err)
	again := n.socket("bmq.v1.json")
	again.call(string(sending), "ok")
	same("sent by a socket", n.read("orders", 0, "offset=1").Messages[0].Properties)
}

// Ten tabs of a page hold a stream each, on connections of HTTP/1.1 of their
// own; requests beside them are answered and every tab sees every message.
func TestTenStreamsLeaveRoomForRequests(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	tabs := make([]*sse, 10)
	for i := range tabs {
		tabs[i] = n.stream(t, "position=earliest", "")
		if tabs[i].resp.ProtoMajor != 1 {
			t.Fatalf("the stream speaks %s", tabs[i].resp.Proto)
		}
	}
	for round := range 20 {
		body := fmt.Sprint("m", round)
		asked := time.Now()
		n.send("orders", fmt.Sprintf(`[{"body":%q}]`, body))
		if took := time.Since(asked); took > 5*time.Second {
			t.Fatalf("a send beside ten streams took %v", took)
		}
		for i, tab := range tabs {
			if m := tab.message(); *m.Body != body || m.Offset != int64(round) {
				t.Fatalf("tab %d: offset %d %q, want %d %q", i, m.Offset, *m.Body, round, body)
			}
		}
	}
}
