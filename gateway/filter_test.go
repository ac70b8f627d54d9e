package gateway_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// sendRegions stores one message per region in queue 0, its amount being its place.
func sendRegions(n *node, topic string, regions ...string) {
	for i, region := range regions {
		n.send(topic, fmt.Sprintf(`[{"body":"%d","queue":0,"tag":"t%d","properties":{"region":"%s","amount":"%d"}}]`, i, i%2, region, i))
	}
}

func TestReadsTakeAnSQLCondition(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	sendRegions(n, "orders", "eu", "us", "eu", "cn", "eu")
	for sql, want := range map[string]struct{ status, bodies string }{
		"region = 'eu'":                     {"found", "0 2 4"},
		"region = 'eu' AND amount > 1":      {"found", "2 4"},
		"NOT region IN ('eu','us')":         {"found", "3"},
		"TAGS = 't1'":                       {"found", "1 3"},
		"TAGS = 't1' AND region = 'eu'":     {"no_match", ""},
		"missing IS NULL\n-- and no more\n": {"found", "0 1 2 3 4"},
	} {
		got := n.read("orders", 0, "sql="+url.QueryEscape(sql))
		if got.Status != want.status || texts(got.Messages) != want.bodies || got.Next != 5 {
			t.Errorf("%s: got %s %s, next %d, want %+v", sql, got.Status, texts(got.Messages), got.Next, want)
		}
	}
	const path = "/v1/topics/orders/queues/0/"
	for _, read := range []string{path + "messages", path + "frames", "/v1/topics/orders/stream"} {
		for sql, detail := range map[string]string{
			"region ==":                    "sql: at position 8: \"=\" where a value belongs",
			"a = 1 garbage":                "sql: at position 6: \"garbage\" after the end of the expression",
			"\xff = 1":                     "sql: not UTF-8, or a NUL",
			strings.Repeat("(", 100) + "a": "sql: at position 64: an expression is at most 64 levels deep",
			"a = 1" + strings.Repeat(" OR a=1", 2000): "sql: at most 8192 bytes",
		} {
			got := refusedAs(t, n.get(read+"?sql="+url.QueryEscape(sql)), 400, "invalid_parameter", "query:sql")
			if got.Detail != detail {
				t.Errorf("%.20q: detail %q, want %q", sql, got.Detail, detail)
			}
		}
		refusedAs(t, n.get(read+"?tags=a&sql=a%3D1"), 400, "invalid_parameter", "query:sql")
	}
}

func TestALongPollWaitsForWhatMeetsItsCondition(t *testing.T) {
	n, waiting := counted(t)
	n.topic("orders", `{"queues":1}`)
	got := make(chan page, 1)
	go func() {
		got <- n.read("orders", 0, "offset=0&wait_ms=10000&sql="+url.QueryEscape("amount >= 2 AND region = 'eu'"))
	}()
	eventually(t, "the poll waits", func() bool { return waiting() == 1 }) // else its first read may answer no_match
	sendRegions(n, "orders", "eu", "us", "us", "eu")
	select {
	case p := <-got:
		if p.Status != "found" || texts(p.Messages) != "3" || p.Next != 4 {
			t.Errorf("got %+v", p)
		}
	case <-time.After(8 * time.Second):
		t.Fatal("the poll was not answered")
	}
}

func TestStreamsAndSocketsTakeAnSQLCondition(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	stream := n.stream(t, "sql="+url.QueryEscape("region = 'us'"), "")
	s := n.socket("bmq.v1.json")
	subscribe := `{"op":"subscribe","sub":"%s","mode":"tail","topics":[{"topic":"orders","sql":"%s"}],"credit":{"messages":100,"bytes":10000}}`
	s.call(fmt.Sprintf(subscribe, "eu", "region = 'eu'"), "subscribed")
	s.call(fmt.Sprintf(subscribe, "us", "region = 'us' AND TAGS = 't1'"), "subscribed") // same tags or none: never the same pump
	s.call(fmt.Sprintf(subscribe, "cn", "region = 'cn' AND TAGS = 't1'"), "subscribed")
	sendRegions(n, "orders", "eu", "us", "cn", "cn")
	want := map[string]string{"eu": "0", "us": "1", "cn": "3"}
	for len(want) > 0 {
		o := s.want("messages")
		if texts(o.Items) != want[o.Sub] {
			t.Fatalf("%s got %s, want %s", o.Sub, texts(o.Items), want[o.Sub])
		}
		delete(want, o.Sub)
	}
	if m := stream.message(); *m.Body != "1" {
		t.Errorf("the stream got %+v", m)
	}
	s.refused(fmt.Sprintf(subscribe, "bad", "region ="), "invalid_field", "/topics/0/sql")
	s.refused(`{"op":"subscribe","sub":"bad","mode":"tail","topics":[{"topic":"orders","tags":"a","sql":"a=1"}],"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/topics/0/sql")
}
