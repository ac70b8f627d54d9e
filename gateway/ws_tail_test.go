package gateway_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/journal"
)

func TestTailDeliversWithinCredit(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	for _, protocol := range []string{"bmq.v1.json", "bmq.v1.bin"} {
		s := n.socket(protocol)
		if o := s.tail("s1", "orders", `{"position":"latest"}`, 3, 1000); !o.Recovered || o.Cursor == "" || o.Gap != nil {
			t.Errorf("subscribed %+v", o)
		}
		n.send("orders", `[{"body":"1"},{"body":"2"},{"body":"3"},{"body":"4"},{"body":"5"}]`)
		if got := texts(s.collect(3)); got != "1 2 3" {
			t.Errorf("%s: got %s", protocol, got)
		}
		if o := s.want("stalled"); o.Sub != "s1" || o.Reason != "credit" {
			t.Errorf("stalled %+v", o)
		}
		s.do(`{"op":"credit","sub":"s1","messages":10}`)
		if got := texts(s.collect(2)); got != "4 5" {
			t.Errorf("%s: got %s", protocol, got)
		}
		// One message may overdraw the bytes, and only one.
		big := strings.Repeat("x", 1500)
		n.send("orders", `[{"body":"`+big+`"},{"body":"`+big+`"}]`)
		if got := s.collect(1); len(got) != 1 {
			t.Errorf("%s: %d messages for 995 bytes", protocol, len(got))
		}
		s.want("stalled")
		if o := s.call(`{"op":"credit","id":"c","sub":"s1","bytes":505}`, "ok"); o.ID != "c" { // pays back only
			t.Errorf("credit: %+v", o)
		}
		s.do(`{"op":"credit","sub":"s1","bytes":1}`)
		s.collect(1)
		s.conn.Close()
	}
}

func TestTailStallsWithoutCreditOnlyWhenThereIsMore(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	n.send("orders", `[{"body":"1"}]`)
	s := n.socket("bmq.v1.json")
	s.tail("end", "orders", `{"position":"latest"}`, 0, 0)
	s.tail("start", "orders", `{"position":"earliest"}`, 0, 0)
	if o := s.want("stalled"); o.Sub != "start" {
		t.Errorf("stalled %+v", o)
	}
	n.send("orders", `[{"body":"2"}]`)
	if o := s.want("stalled"); o.Sub != "end" {
		t.Errorf("stalled %+v", o)
	}
}

func TestTailPausesSeeksAndEnds(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":2}`)
	s := n.socket("bmq.v1.json")
	s.tail("s1", "orders", `{"position":"latest"}`, 1000, 1<<20)
	n.send("orders", `[{"body":"a","queue":0},{"body":"b","queue":1},{"body":"c","queue":1}]`)
	s.collect(3)
	s.call(`{"op":"pause","id":"1","sub":"s1"}`, "ok")
	n.send("orders", `[{"body":"d","queue":0}]`)
	s.call(`{"op":"auth","id":"2","token":"x"}`, "ok") // nothing came in between
	s.call(`{"op":"resume","id":"3","sub":"s1"}`, "ok")
	if got := texts(s.collect(1)); got != "d" {
		t.Errorf("after resume: %s", got)
	}
	s.call(`{"op":"seek","id":"4","sub":"s1","topic":"orders","queue":1,"to":{"offset":1}}`, "ok")
	if got := texts(s.collect(1)); got != "c" {
		t.Errorf("after a seek to an offset: %s", got)
	}
	s.call(`{"op":"seek","id":"5","sub":"s1","topic":"orders","to":{"position":"earliest"}}`, "ok")
	if got := s.collect(4); len(got) != 4 {
		t.Errorf("after a seek to the start: %+v", got)
	}
	s.call(`{"op":"seek","id":"6","sub":"s1","topic":"orders","to":{"timestamp":"2026-01-01T00:00:00.000Z"}}`, "ok")
	s.collect(4)
	s.call(`{"op":"seek","id":"7","sub":"s1","topic":"orders","queue":0,"to":{"offset":99}}`, "ok")
	if o := s.want("gap"); o.From != 99 || o.To != 2 || o.Reason != "beyond_end" || o.Topic != "orders" {
		t.Errorf("a seek beyond the end: %+v", o)
	}
	s.call(`{"op":"unsubscribe","id":"8","sub":"s1"}`, "ok")
	n.send("orders", `[{"body":"e"}]`)
	s.tail("s1", "orders", `{"position":"latest"}`, 10, 1000) // the name is free again
	n.call("DELETE", "/v1/topics/orders", "").want(t, 204)
	if o := s.want("unsubscribed"); o.Sub != "s1" || o.Problem.Code != "topic_not_found" {
		t.Errorf("after the topic's end: %+v", o)
	}
}

func TestTailFiltersSeveralTopics(t *testing.T) {
	n := alone(t)
	n.topic("a", `{"queues":2}`)
	n.topic("b", `{"queues":1}`)
	s := n.socket("bmq.v1.json")
	subscribe := `{"op":"subscribe","sub":"s1","mode":"tail","encoding":"base64","topics":[{"topic":"a","tags":"x || y","queues":[1]},{"topic":"b"}],"from":%s,"credit":{"messages":100,"bytes":10000}}`
	s.call(fmt.Sprintf(subscribe, `{"position":"earliest"}`), "subscribed")
	n.send("a", `[{"body":"0","queue":0,"tag":"x"},{"body":"1","queue":1,"tag":"z"},{"body":"2","queue":1,"tag":"y"}]`)
	o := s.want("messages")
	if texts(o.Items) != "Mg==" {
		t.Errorf("of a: %+v", o.Items)
	}
	n.send("b", `[{"body":"3"}]`)
	o = s.want("messages")
	if texts(o.Items) != "Mw==" || o.Seq != 2 {
		t.Errorf("of b: %+v", o)
	}
	n.send("a", `[{"body":"4","queue":1,"tag":"x"}]`)
	s.want("messages")
	other := n.socket("bmq.v1.json")
	if o := other.call(fmt.Sprintf(subscribe, `{"cursor":"`+o.Cursor+`"}`), "subscribed"); !o.Recovered {
		t.Errorf("subscribed %+v", o)
	}
	if o := other.want("messages"); texts(o.Items) != "NA==" {
		t.Errorf("after the cursor: %+v", o.Items)
	}
	s.refused(`{"op":"subscribe","sub":"s2","mode":"tail","topics":[{"topic":"b"},{"topic":"a"}],"from":{"cursor":"`+o.Cursor+`"},"credit":{"messages":1,"bytes":1}}`, "invalid_field", "/from/cursor")
}

// A client that is cut again and again, and comes back to either gateway, gets
// every message once.
func TestTailResumesOnAnotherGateway(t *testing.T) {
	a, b := pair(t)
	a.topic("orders", `{"queues":3}`)
	nodes := []*node{a, b}
	const count = 120
	s := a.socket("bmq.v1.json")
	cursor := s.tail("s1", "orders", `{"position":"latest"}`, 1000, 1<<20).Cursor
	seen, next := map[string]int{}, map[int64]int64{}
	read := func() {
		o := s.want("messages")
		cursor = o.Cursor
		for _, m := range o.Items {
			seen[*m.Body]++
			if m.Offset != next[m.Queue] {
				t.Errorf("queue %d went from %d to %d", m.Queue, next[m.Queue], m.Offset)
			}
			next[m.Queue] = m.Offset + 1
		}
	}
	for i := range count {
		nodes[i%2].send("orders", fmt.Sprintf(`[{"body":"%d","queue":%d}]`, i, i%3))
		if i%6 != 5 {
			continue
		}
		read()
		s.conn.NetConn().Close() // without a close frame, with messages on the way
		s = nodes[i/6%2].socket("bmq.v1.json")
		if o := s.tail("s1", "orders", `{"cursor":"`+cursor+`"}`, 1000, 1<<20); !o.Recovered || o.Gap != nil {
			t.Fatalf("resumed as %+v", o)
		}
	}
	for len(seen) < count {
		read()
	}
	for i := range count {
		if n := seen[strconv.Itoa(i)]; n != 1 {
			t.Errorf("message %d came %d times", i, n)
		}
	}
}

func TestTailTellsWhatACursorHasMissed(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	s := n.socket("bmq.v1.json")
	text := s.tail("s1", "orders", `{"position":"latest"}`, 10, 1000).Cursor
	cursor, err := journal.ParseCursor(text)
	must(t, err)
	cursor.Next[0].Offset = 7
	o := s.tail("s2", "orders", `{"cursor":"`+cursor.String()+`"}`, 10, 1000)
	if o.Recovered || len(o.Gap) != 1 || o.Gap[0] != (gap{"orders", 0, 7, 0, "beyond_end"}) {
		t.Errorf("subscribed %+v", o)
	}
	cursor.Next[0].Offset, cursor.Epoch = 0, cursor.Epoch+5
	o = s.tail("s3", "orders", `{"cursor":"`+cursor.String()+`"}`, 10, 1000)
	if o.Recovered || len(o.Gap) != 1 || o.Gap[0].Reason != "epoch_changed" {
		t.Errorf("subscribed %+v", o)
	}
	n.send("orders", `[{"body":"x"}]`)
	for range 3 {
		s.want("messages")
	}
}

func TestTailFollowsNewQueues(t *testing.T) {
	a, b := pair(t)
	a.topic("orders", `{"queues":1}`)
	s := b.socket("bmq.v1.json")
	s.tail("s1", "orders", `{"position":"latest"}`, 10, 1000)
	a.call("PATCH", "/v1/topics/orders", `{"queues":3}`).want(t, 200)
	eventually(t, "the topic has three queues", func() bool {
		r, err := a.try("POST", "/v1/topics/orders/messages", `{"messages":[{"body":"new","queue":2}]}`)
		return err == nil && r.status == 200
	})
	if got := s.collect(1); *got[0].Body != "new" || got[0].Queue != 2 {
		t.Errorf("got %+v", got)
	}
}

// A burst is far more than the client has credit for or reads at once: it is
// throttled, never cut, and loses nothing.
func TestTailBurstToASlowReader(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":4}`)
	s := n.socket("bmq.v1.json")
	s.tail("s1", "orders", `{"position":"latest"}`, 500, 1<<20)
	const count = 100_000
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		var batch strings.Builder
		for i := 0; i < count; i += 1000 {
			batch.Reset()
			for k := range 1000 {
				fmt.Fprintf(&batch, `,{"body":"%d","queue":%d}`, i+k, k%4)
			}
			n.send("orders", "["+batch.String()[1:]+"]")
		}
	}()
	<-sent // all of it before the client reads at all
	seen := make([]bool, count)
	next := map[int64]int64{}
	for got := 0; got < count; {
		o := s.next()
		if o.Op == "stalled" || o.Op == "ping" {
			continue
		}
		if o.Op != "messages" {
			t.Fatalf("got %+v", o)
		}
		for _, m := range o.Items {
			i, err := strconv.Atoi(*m.Body)
			must(t, err)
			if seen[i] || m.Offset != next[m.Queue] {
				t.Fatalf("message %d of queue %d at %d, after %d", i, m.Queue, m.Offset, next[m.Queue])
			}
			seen[i], next[m.Queue] = true, m.Offset+1
		}
		got += len(o.Items)
		s.do(fmt.Sprintf(`{"op":"credit","sub":"s1","messages":%d,"bytes":%d}`, len(o.Items), 5*len(o.Items)))
	}
}

func TestTailSurvivesATimeWithoutRedis(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	s := n.socket("bmq.v1.json")
	s.tail("s1", "orders", `{"position":"latest"}`, 1000, 1<<20)
	resume := n.redis.Pause()
	s.do(`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"}]}`)
	time.AfterFunc(time.Second, resume)
	for answered, delivered := false, false; !answered || !delivered; {
		switch o := s.next(); o.Op {
		case "error": // nothing was stored, or nobody knows
			s.do(`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"}]}`)
		case "ok":
			answered = true
		case "messages":
			delivered = true
		}
	}
}
