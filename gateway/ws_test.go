package gateway_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/segment"
)

func TestSocketSubprotocols(t *testing.T) {
	n := alone(t)
	for _, c := range []struct {
		offered []string
		echoed  string
		code    int
	}{
		{nil, "", 0},
		{[]string{"bmq.v1.json"}, "bmq.v1.json", 0},
		{[]string{"bmq.v1.bin"}, "bmq.v1.bin", 0},
		{[]string{"other", "bmq.v1.bin", "bmq.v1.json"}, "bmq.v1.bin", 0},
		{[]string{"bmq.bearer.dG9rZW4", "bmq.v1.json"}, "bmq.v1.json", 0},
		{[]string{"mqtt", "stomp"}, "mqtt", 4510},
		{[]string{"bmq.bearer.dG9rZW4"}, "", 4510},
	} {
		s, resp, err := n.upgrade("", c.offered)
		must(t, err)
		if got := resp.Header.Values("Sec-Websocket-Protocol"); len(got) > 1 || strings.Join(got, "") != c.echoed {
			t.Errorf("%v: echoed %v, want %q", c.offered, got, c.echoed)
		}
		if c.code != 0 {
			s.closedWith(c.code)
			continue
		}
		w := s.call(`{"op":"hello","id":"1","client":"test/1","token":"unused"}`, "welcome")
		if w.Session == "" || w.Key == "" || w.Resumed || w.Heartbeat != 20000 || w.SessionTTL <= 0 || w.Limits["subscriptions"] != 100 {
			t.Errorf("%v: welcome %+v", c.offered, w)
		}
	}
}

func TestSocketOrigins(t *testing.T) {
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.AllowedOrigins = []string{"https://app.example.com"} }})
	host := strings.TrimPrefix(n.url, "http://")
	for origin, allowed := range map[string]bool{
		"http://" + host: true, "https://app.example.com": true,
		"null": false, "https://evil.example": false, "http://app.example.com": false, "https://app.example.com:8443": false,
		"https://app.example.com.evil": false, "https://evilapp.example.com": false, "http://127.0.0.1:1": false, "": false,
	} {
		s, resp, err := n.upgrade("", nil, "Origin", origin)
		if allowed != (err == nil) {
			t.Errorf("origin %q: %v", origin, err)
		}
		if !allowed && (resp == nil || resp.StatusCode != 403) {
			t.Errorf("origin %q: answer %+v", origin, resp)
		}
		if s != nil {
			s.conn.Close()
		}
	}
	if _, _, err := n.upgrade("", nil, "Origin", "https://app.example.com", "Origin", "https://evil.example"); err == nil {
		t.Error("two origins were accepted")
	}
}

func TestSocketTicketsOpenOneSocket(t *testing.T) {
	a, b := pair(t)
	ticket := as[struct{ Ticket string }](t, a.post("/v1/ws/tickets", []byte(`{}`)), 201).Ticket
	s, _, err := b.upgrade("?ticket="+ticket, nil)
	must(t, err)
	s.call(`{"op":"hello"}`, "welcome")
	for _, used := range []string{ticket, "tkt_never", ""} {
		s, _, err := a.upgrade("?ticket="+used, []string{"bmq.v1.json"})
		must(t, err)
		s.closedWith(4501)
	}
	if _, resp, err := a.upgrade("?token=secret", nil); err == nil || resp.StatusCode != 400 {
		t.Errorf("?token= is answered %v", err)
	}
	if got := a.get("/v1/ws"); got.status != 426 || got.header.Get("Upgrade") != "websocket" {
		t.Errorf("a plain GET is answered %d %v", got.status, got.header)
	}
}

func TestSocketHelloComesFirst(t *testing.T) {
	n := alone(t)
	for _, first := range []string{
		`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"}]}`, `{"op":"pong","n":1}`, `not json`, `{"op":"hello","extra":1}`, `{"id":"1"}`,
	} {
		s, _, err := n.upgrade("", nil)
		must(t, err)
		s.call(first, "error")
		s.closedWith(4501)
	}
	s, _, err := n.upgrade("", nil)
	must(t, err)
	s.do(`{"op":"hello","client":"` + strings.Repeat("x", 5000) + `"}`)
	s.closedWith(1009)
	s = n.socket("bmq.v1.json")
	s.refused(`{"op":"hello","id":"2"}`, "invalid_field", "/op")
}

func TestSocketRefusesOneOperationAndGoesOn(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":2}`)
	s := n.socket("bmq.v1.json")
	for _, c := range []struct{ text, code, pointer string }{
		{`{`, "invalid_json", ""},
		{`[]`, "invalid_field", ""},
		{`{"op":"nothing","id":"1"}`, "unknown_operation", "/op"},
		{`{"op":7,"id":"1"}`, "invalid_field", "/op"},
		{`{"id":"1"}`, "invalid_field", "/op"},
		{`{"op":"pong","n":1,"n":2}`, "duplicate_field", "/n"},
		{`{"op":"pong","n":1,"N":2}`, "unknown_field", "/N"},
		{`{"op":"pong"}`, "invalid_field", "/n"},
		{`{"op":"auth"}`, "invalid_field", "/token"},
		{`{"op":"pong","n":1,"deep":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "invalid_json", ""},
		{`{"op":"pong","id":"` + strings.Repeat("x", 65) + `","n":1}`, "invalid_field", "/id"},
		{`{"op":"send","id":"1","topic":"none","messages":[{"body":"x"}]}`, "topic_not_found", "/topic"},
		{`{"op":"send","id":"1","topic":"a:b","messages":[{"body":"x"}]}`, "invalid_name", "/topic"},
		{`{"op":"send","id":"1","topic":"orders","messages":[]}`, "invalid_message", "/messages"},
		{`{"op":"send","id":"1","topic":"orders"}`, "invalid_message", "/messages"},
		{`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"},{"body":"x","tag":"a b"}]}`, "invalid_message", "/messages/1/tag"},
		{`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x","nope":1}]}`, "unknown_field", "/messages/0/nope"},
		{`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x","queue":9}]}`, "invalid_message", "/messages/0/queue"},
		{`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"}],"delay":1}`, "unknown_field", "/delay"},
		{`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"}],"idempotency_key":"a b"}`, "invalid_field", "/idempotency_key"},
		{`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"}],"idempotency_key":"k","producer":{"id":"p","epoch":0,"seq":1}}`, "invalid_field", "/idempotency_key"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"none","topics":[{"topic":"orders"}],"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/mode"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[{"topic":"none"}],"credit":{"messages":1,"bytes":1}}`, "topic_not_found", "/topics/0/topic"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[{"topic":"orders","tags":"a b"}],"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/topics/0/tags"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[{"topic":"orders","queues":[2]}],"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/topics/0/queues"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[],"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/topics"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[{"topic":"orders"}]}`, "invalid_field", "/credit"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[{"topic":"orders"}],"credit":{"messages":-1,"bytes":1}}`, "invalid_field", "/credit/messages"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[{"topic":"orders"}],"from":{"cursor":"x"},"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/from/cursor"},
		{`{"op":"subscribe","id":"1","sub":"s","mode":"tail","topics":[{"topic":"orders"}],"from":{"position":"latest","timestamp":"2026-12-01T00:00:00Z"},"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/from"},
		{`{"op":"subscribe","id":"1","sub":"","mode":"tail","topics":[{"topic":"orders"}],"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/sub"},
		{`{"op":"credit","sub":"none","messages":1}`, "subscription_not_found", "/sub"},
		{`{"op":"pause","sub":"none"}`, "subscription_not_found", "/sub"},
		{`{"op":"unsubscribe","sub":"none"}`, "subscription_not_found", "/sub"},
		{`{"op":"seek","sub":"none","topic":"orders","to":{"position":"latest"}}`, "subscription_not_found", "/sub"},
	} {
		s.refused(c.text, c.code, c.pointer)
	}
	if o := s.call(`{"op":"auth","id":"a","token":"new"}`, "ok"); o.ID != "a" {
		t.Errorf("auth is answered %+v", o)
	}
	s.tail("s1", "orders", `{"position":"latest"}`, 1, 1)
	s.refused(`{"op":"subscribe","id":"1","sub":"s1","mode":"tail","topics":[{"topic":"orders"}],"credit":{"messages":1,"bytes":1}}`, "subscription_exists", "/sub")
	s.refused(`{"op":"credit","sub":"s1","messages":1000000}`, "invalid_field", "/messages")
	s.refused(`{"op":"seek","sub":"s1","topic":"orders","to":{"offset":1}}`, "invalid_field", "/queue")
	s.refused(`{"op":"seek","sub":"s1","topic":"other","to":{"position":"latest"}}`, "invalid_field", "/topic")
	s.refused(`{"op":"seek","sub":"s1","topic":"orders","queue":5,"to":{"position":"latest"}}`, "invalid_field", "/queue")
	for i := 2; i <= 100; i++ {
		s.tail("s"+strconv.Itoa(i), "orders", `{"position":"latest"}`, 1, 1)
	}
	s.refused(`{"op":"subscribe","id":"1","sub":"s101","mode":"tail","topics":[{"topic":"orders"}],"credit":{"messages":1,"bytes":1}}`, "too_many_subscriptions", "/sub")
	s.do(`{"op":"bye"}`)
	s.closedWith(1000)
}

func TestSocketSendsInOrder(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":2}`)
	s := n.socket("bmq.v1.json")
	const count = 500
	for i := range count {
		// The odd ones are written so that the strict decoder reads them.
		if i%2 == 0 {
			s.do(fmt.Sprintf(`{"op":"send","id":"%d","topic":"orders","messages":[{"body":"m%d","queue":1}]}`, i, i))
		} else {
			s.do(fmt.Sprintf(`{"messages":[{"body":"m%d","queue":1}],"id":"%d","op":"send","topic":"orders"}`, i, i))
		}
	}
	for i := range count {
		o := s.want("ok")
		if o.ID != strconv.Itoa(i) || o.Result.Stored != 1 || *o.Result.Results[0].Offset != int64(i) {
			t.Fatalf("answer %d is %+v", i, o)
		}
	}
	if m := n.read("orders", 1, "offset=499").Messages; len(m) != 1 || *m[0].Body != "m499" {
		t.Errorf("stored %+v", m)
	}
	// A send that is refused keeps its place among the answers.
	s.do(`{"op":"send","id":"a","topic":"orders","messages":[{"body":"x"}]}`)
	s.do(`{"op":"send","id":"b","topic":"orders","messages":[{"body":"x","tag":"a b"}]}`)
	s.do(`{"op":"send","topic":"orders","messages":[{"body":"no answer"}]}`)
	s.do(`{"op":"send","id":"c","topic":"orders","messages":[{"body":"x"}],"ack":"none"}`)
	if a, b, c := s.want("ok"), s.want("error"), s.want("ok"); a.ID != "a" || b.ID != "b" || c.ID != "c" || c.Result.Results[0].Status != "accepted" {
		t.Errorf("answers %+v %+v %+v", a, b, c)
	}
	send := `{"op":"send","id":"k","topic":"orders","messages":[{"body":"once"}],"idempotency_key":"key"}`
	first := s.call(send, "ok")
	again := s.call(strings.Replace(send, `"k"`, `"other"`, 1), "ok")
	if first.Replayed || !again.Replayed || *first.Result.Results[0].Offset != *again.Result.Results[0].Offset {
		t.Errorf("with a key: %+v then %+v", first, again)
	}
	s.refused(strings.Replace(send, "once", "twice", 1), "idempotency_key_reused", "")
	p := `{"op":"send","id":"p","topic":"orders","messages":[{"body":"p"}],"producer":{"id":"p1","epoch":1,"seq":%d}}`
	s.call(fmt.Sprintf(p, 1), "ok")
	if o := s.call(fmt.Sprintf(p, 1), "ok"); !o.Result.Results[0].Duplicate {
		t.Errorf("a sequence again: %+v", o)
	}
	s.refused(fmt.Sprintf(p, 3), "producer_gap", "/producer/seq")
	only := `{"op":"send","id":"i","topic":"orders","messages":[{"body":"only","queue":1}],"if_next_offset":%d}`
	if o := s.refused(fmt.Sprintf(only, 0), "next_offset_conflict", "/if_next_offset"); o.Errors[0]["next_offset"] == nil {
		t.Errorf("a conflict tells no offset: %+v", o)
	}
	next := n.read("orders", 1, "position=latest").Next
	if o := s.call(fmt.Sprintf(only, next), "ok"); *o.Result.Results[0].Offset != next {
		t.Errorf("stored at %+v, want %d", o.Result, next)
	}
	s.refused(strings.Replace(fmt.Sprintf(only, next+1), `}]`, `}],"ack":"none"`, 1), "invalid_field", "/if_next_offset")
	s.refused(strings.Replace(fmt.Sprintf(only, next+1), `,"queue":1`, ``, 1), "invalid_field", "/if_next_offset")
	s.do(`{"op":"send","id":"last","topic":"orders","messages":[{"body":"x"}]}`)
	s.do(`{"op":"bye"}`)
	if o := s.want("ok"); o.ID != "last" {
		t.Errorf("before the end: %+v", o)
	}
	s.closedWith(1000)
}

func TestSocketSpeaksRecords(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	s := n.socket("bmq.v1.bin")
	s.tail("s1", "orders", `{"position":"earliest"}`, 100, 1<<20)
	s.do(`{"op":"send","id":"1","topic":"orders","queue":0}`, []byte(frames("a", "b"))...)
	records := []byte(nil)
	for o := s.next(); ; o = s.next() {
		if o.Op == "messages" {
			records = o.bodies
			if r := o.Runs[0]; len(o.Runs) != 1 || r.Topic != "orders" || r.First != 0 || r.Count != 2 {
				t.Errorf("runs %+v", o.Runs)
			}
			break
		}
		if o.Op != "ok" || o.Result.Stored != 2 {
			t.Fatalf("got %+v", o)
		}
	}
	r, size, err := segment.DecodeRecord(records)
	must(t, err)
	if string(r.Body) != "a" || r.ID.String() == "" || r.BornAt == 0 {
		t.Errorf("record %+v", r)
	}
	if r, _, err = segment.DecodeRecord(records[size:]); err != nil || string(r.Body) != "b" {
		t.Errorf("record %+v: %v", r, err)
	}
	n.topic("others", `{"queues":1}`)
	s.do(`{"op":"send","id":"2","topic":"others"}`, 1, 2, 3)
	for o := s.next(); o.Op != "error"; o = s.next() {
	}
	s.do(`{"op":"pong","n":1}`, 1)
	if o := s.want("error"); o.Problem.Code != "invalid_frame" {
		t.Errorf("bodies of a pong: %+v", o)
	}
	must(t, s.conn.WriteMessage(2, []byte{1, 0, 0, 1, 0, '{'}))
	if o := s.want("error"); o.Problem.Code != "invalid_frame" {
		t.Errorf("a header that is too long: %+v", o)
	}
	must(t, s.conn.WriteMessage(1, []byte("{}")))
	s.closedWith(1003)
}

func TestSocketSessionMovesToANewSocket(t *testing.T) {
	a, b := pair(t)
	hello := func(n *node, resume string) (*sock, op) {
		s, _, err := n.upgrade("", nil)
		must(t, err)
		return s, s.call(`{"op":"hello","resume":`+resume+`}`, "welcome")
	}
	first, w := hello(a, "null")
	claim := fmt.Sprintf(`{"session":%q,"key":%q}`, w.Session, w.Key)
	if _, w := hello(a, fmt.Sprintf(`{"session":%q,"key":"wrong"}`, w.Session)); w.Resumed {
		t.Error("a wrong key resumes a session")
	}
	_, again := hello(a, claim)
	if !again.Resumed || again.Session != w.Session || again.Key != w.Key {
		t.Errorf("resumed as %+v, was %+v", again, w)
	}
	first.closedWith(4409)
	if _, w := hello(b, claim); !w.Resumed {
		t.Error("another gateway does not resume the session")
	}
}

func TestSocketGoesAwayWithTheServer(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	s, quiet := n.socket("bmq.v1.json"), n.socket("bmq.v1.bin")
	late, _, err := n.upgrade("", nil)
	must(t, err)
	s.tail("s1", "orders", `{"position":"latest"}`, 1, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- n.server.Shutdown(ctx) }()
	pauses := map[int64]bool{}
	for _, s := range []*sock{s, quiet} {
		o := s.want("goaway")
		if o.ReconnectAfter < 100 || o.Reason != "shutdown" {
			t.Errorf("goaway %+v", o)
		}
		pauses[o.ReconnectAfter] = true
		s.closedWith(4000)
	}
	late.closedWith(4000)
	must(t, <-done)
	if len(pauses) != 2 {
		t.Error("both clients come back at the same time") // 1 in 1,500 by chance
	}
}
