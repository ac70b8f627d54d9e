package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A message is found by its key once it is delivered, not before, where it was delivered.
func TestASearchByKeyFindsDeliveredMessagesOnly(t *testing.T) {
	n, other := pair(t)
	n.topic("later", `{"queues":1,"type":"delay"}`)
	n.send("later", `[{"body":"soon","keys":["k"],"delay_ms":200},{"body":"far","keys":["k"],"delay_level":18},{"body":"now","keys":["k"]}]`)
	search := func(at *node) string {
		return texts(as[page](t, at.get("/v1/topics/later/search?key=k"), 200).Items)
	}
	if got := search(other); got != "now" {
		t.Errorf("before it is due: %s", got)
	}
	n.fire("later", func() bool { return len(n.read("later", 0, "").Messages) == 2 })
	n.send("later", `[{"body":"last","keys":["k"]}]`)
	for _, at := range []*node{n, other} {
		if got := search(at); got != "now soon last" {
			t.Errorf("found %s", got)
		}
	}
}

func TestADelayedMessageComesWithAllItHadAndFreshPlaceAndTime(t *testing.T) {
	n := alone(t)
	n.topic("later", `{"queues":1,"type":"delay"}`)
	sock := n.socket("bmq.v1.json")
	sock.tail("s", "later", `{"position":"earliest"}`, 100, 1<<20)
	before := time.Now().UTC().Truncate(time.Millisecond)
	due := before.Add(500 * time.Millisecond)
	a := n.send("later", `[
		{"body":"first","delay_ms":300,"tag":"paid","keys":["a","b"],"ordering_key":"k","content_type":"text/plain","properties":{"p":"q"}},
		{"body":"now"},
		{"body":"second","deliver_at":"`+due.Format("2006-01-02T15:04:05.000Z")+`"},
		{"body":"third","delay_level":1}]`)
	if a.Stored != 4 || *a.Results[1].Offset != 0 || a.Results[1].RecallHandle != "" {
		t.Fatalf("answered %+v", a)
	}
	for _, i := range []int{0, 2, 3} {
		if r := a.Results[i]; r.Offset != nil || r.RecallHandle == "" || *r.Queue != 0 {
			t.Errorf("delayed message %d is answered %+v", i, r)
		}
	}
	if got := texts(n.read("later", 0, "").Messages); got != "now" {
		t.Errorf("at first %q can be read", got)
	}
	n.fire("later", func() bool { return n.read("later", 0, "").Max == 4 })
	got := n.read("later", 0, "").Messages
	if texts(got) != "now first second third" {
		t.Fatalf("read %q", texts(got))
	}
	first := got[1]
	if first.MessageID != a.Results[0].MessageID || first.Tag != "paid" || strings.Join(first.Keys, " ") != "a b" ||
		first.OrderingKey != "k" || first.ContentType != "text/plain" || len(first.Properties) != 1 || first.Properties["p"] != "q" || first.Offset != 1 {
		t.Errorf("first came as %+v", first)
	}
	for i, wait := range []time.Duration{1: 300 * time.Millisecond, 2: 500 * time.Millisecond, 3: time.Second} {
		if early := before.Add(wait).Sub(got[i].StoredAt); wait > 0 && early > 0 {
			t.Errorf("message %d is early by %v", i, early)
		}
	}
	if all := texts(sock.collect(4)); all != "now first second third" {
		t.Errorf("the socket got %q", all)
	}
	if frames := n.get("/v1/topics/later/queues/0/frames?offset=1").want(t, http.StatusOK); !strings.Contains(string(frames.body), "second") {
		t.Error("frames do not have the delayed messages")
	}
	filtered := n.read("later", 0, "tags=paid")
	if texts(filtered.Messages) != "first" {
		t.Errorf("by tag %q is read", texts(filtered.Messages))
	}
}

func TestDelaysThatCannotBeAreRefused(t *testing.T) {
	n := alone(t)
	n.topic("later", `{"queues":1,"type":"mixed"}`)
	n.topic("orders", `{"queues":1}`)
	n.topic("fifo", `{"queues":1,"type":"fifo"}`)
	for _, c := range []struct{ topic, message, pointer string }{
		{"later", `{"body":"x","delay_ms":-1}`, "/messages/0/delay_ms"},
		{"later", `{"body":"x","delay_ms":3456000001}`, "/messages/0/delay_ms"},
		{"later", `{"body":"x","delay_level":19}`, "/messages/0/delay_level"},
		{"later", `{"body":"x","delay_level":-1}`, "/messages/0/delay_level"},
		{"later", `{"body":"x","deliver_at":"2999-01-01T00:00:00Z"}`, "/messages/0/deliver_at"},
		{"later", `{"body":"x","deliver_at":"tomorrow"}`, "/messages/0/deliver_at"},
		{"later", `{"body":"x","delay_ms":5,"delay_level":1}`, "/messages/0/delay_level"},
		{"orders", `{"body":"x","delay_ms":5}`, "/messages/0/delay_ms"},
		{"fifo", `{"body":"x","ordering_key":"a","delay_ms":5}`, "/messages/0/delay_ms"},
	} {
		t.Run(c.topic+c.message, func(t *testing.T) {
			a := n.post("/v1/topics/"+c.topic+"/messages", []byte(`{"messages":[`+c.message+`]}`))
			refusedAs(t, a, http.StatusUnprocessableEntity, "invalid_message", c.pointer)
		})
	}
	for _, none := range []string{`"delay_ms":0`, `"delay_level":0`, `"deliver_at":null`, `"deliver_at":"2001-01-01T00:00:00Z"`} {
		if r := n.send("later", `[{"body":"x",`+none+`}]`).Results[0]; r.Offset == nil || r.RecallHandle != "" {
			t.Errorf("%s is answered %+v", none, r)
		}
	}
	if max := n.read("later", 0, "").Max; max != 4 {
		t.Errorf("%d messages are stored, want 4", max)
	}
}

func TestDelayedRequestsAreStoredOnce(t *testing.T) {
	n := alone(t)
	n.topic("later", `{"queues":2,"type":"delay"}`)
	body := `[{"body":"now","queue":1},{"body":"later","delay_ms":200},{"body":"now too","queue":1}]`
	first := n.send("later", body, "Idempotency-Key", "k")
	again := n.send("later", body, "Idempotency-Key", "k")
	for i := range first.Results {
		a, b := first.Results[i], again.Results[i]
		if a.MessageID != b.MessageID || fmt.Sprint(a.Offset == nil) != fmt.Sprint(b.Offset == nil) || a.Offset != nil && *a.Offset != *b.Offset {
			t.Errorf("message %d: %+v, then %+v", i, a, b)
		}
	}
	if again.Results[1].RecallHandle == "" {
		t.Error("the repetition has no handle")
	}
	n.fire("later", func() bool { return n.read("later", 0, "").Max+n.read("later", 1, "").Max >= 3 })
	time.Sleep(300 * time.Millisecond) // when a second one would be due
	tt, err := n.meta.Topic(t.Context(), "later")
	must(t, err)
	_, err = n.journal.Fire(t.Context(), tt.ID)
	must(t, err)
	if all := n.read("later", 0, "").Max + n.read("later", 1, "").Max; all != 3 {
		t.Errorf("%d messages, want 3", all)
	}
	// Through a handle that does not say when: it is delivered now.
	n.call("DELETE", "/v1/topics/later/scheduled/"+again.Results[1].RecallHandle, "").want(t, http.StatusConflict)
}

func TestSocketsSendDelayedMessages(t *testing.T) {
	n := alone(t)
	n.topic("later", `{"queues":1,"type":"delay"}`)
	sock := n.socket("bmq.v1.json")
	ok := sock.call(`{"op":"send","id":"1","topic":"later","messages":[{"body":"x","delay_ms":50}]}`, "ok")
	if len(ok.Result.Results) != 1 || ok.Result.Results[0].RecallHandle == "" {
		t.Errorf("answered %+v", ok.Result)
	}
	n.fire("later", func() bool { return n.read("later", 0, "").Max == 1 })
}

func TestRawMessagesAreDelayedByTheQuery(t *testing.T) {
	n := alone(t)
	n.topic("later", `{"queues":1,"type":"delay"}`)
	a := as[sent](t, n.post("/v1/topics/later/messages/raw?delay_level=1", []byte("x"), binary()...), http.StatusOK)
	if a.Results[0].RecallHandle == "" {
		t.Fatalf("answered %+v", a)
	}
	n.call("DELETE", "/v1/topics/later/scheduled/"+a.Results[0].RecallHandle, "").want(t, http.StatusNoContent)
	// Acknowledged before it is stored, it has no handle, and comes all the same.
	n.post("/v1/topics/later/messages/raw?delay_ms=1&ack=none", []byte("y"), binary()...).want(t, http.StatusAccepted)
	n.fire("later", func() bool { return len(n.read("later", 0, "encoding=base64").Messages) == 1 })
	if got := n.read("later", 0, "").Messages[0]; *got.Body != "eQ==" {
		t.Errorf("read %+v", got)
	}
}
