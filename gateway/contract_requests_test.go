package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/replies"
)

const replyTo = "/v1/replies"

// asked is a message of a request.
type asked struct {
	Offset     int64
	Body       string
	Properties map[string]string
}

// asked waits for the request at an offset of the only queue of orders.
func (n *node) asked(t testing.TB, offset int) asked {
	t.Helper()
	page := decode[struct{ Messages []asked }](t, n.call("GET", fmt.Sprintf("%s/queues/0/messages?offset=%d&wait_ms=5000&limit=1", orders, offset), "").want(t, 200))
	if len(page.Messages) != 1 {
		t.Fatalf("no request at offset %d", offset)
	}
	return page.Messages[0]
}

func replyBody(address, body string) string {
	text, _ := json.Marshal(map[string]string{"reply_to": address, "body": body})
	return string(text)
}

// requestAnswers goes through requests and replies.
func (k *contract) requestAnswers(t *testing.T) {
	n := start(t, nodeOptions{})
	other := start(t, nodeOptions{beside: n})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	done := make(chan answer, 1)
	go func() {
		done <- k.do(t, n, "requestReply", "POST", orders+"/requests", `{"message":{"body":"2+2","properties":{"lang":"en"}},"timeout_ms":20000}`, 200)
	}()
	m := n.asked(t, 0)
	if m.Body != "2+2" || m.Properties["lang"] != "en" || m.Properties[replies.PropertyID] == "" {
		t.Fatalf("the request is %+v", m)
	}
	address := m.Properties[replies.PropertyAddress]
	k.refused(t, other, "sendReply", "POST", replyTo, replyBody(address[:len(address)-2]+"xx", "x"), 400, "reply_address_invalid")
	k.refused(t, other, "sendReply", "POST", replyTo, `{"reply_to":"`+address+`","body":"*","encoding":"base64"}`, 400, "invalid_field")
	other.call("POST", replyTo, `{"reply_to":"`+address+`"}`).want(t, 400)
	k.refused(t, other, "sendReply", "POST", replyTo, replyBody(address, strings.Repeat("x", replies.MaxReply)), 413, "body_too_large")
	k.do(t, other, "sendReply", "POST", replyTo, `{"reply_to":"`+address+`","body":"NA==","encoding":"base64","content_type":"text/plain","properties":{"by":"me"}}`, 204)
	result := decode[map[string]any](t, <-done)
	if fmt.Sprint(result["reply"]) != "map[body:NA== content_type:text/plain encoding:base64 properties:map[by:me]]" || result["offset"] != 0.0 ||
		result["correlation_id"] != m.Properties[replies.PropertyID] {
		t.Errorf("the result is %v", result)
	}
	k.refused(t, n, "sendReply", "POST", replyTo, replyBody(address, "5"), 409, "already_replied")

	late := k.refused(t, n, "requestReply", "POST", orders+"/requests", `{"message":{"body":"late"},"timeout_ms":1}`, 504, "reply_timeout")
	if late.Errors[0]["offset"] != 1.0 || late.Errors[0]["message_id"] == "" || late.Errors[0]["correlation_id"] == nil {
		t.Errorf("a timeout says %v", late.Errors)
	}
	k.refused(t, n, "sendReply", "POST", replyTo, replyBody(n.asked(t, 1).Properties[replies.PropertyAddress], "5"), 410, "request_over")
	k.refused(t, n, "requestReply", "POST", orders+"/requests", `{"message":{"body":"x","properties":{"__reply_to":"me"}}}`, 400, "reserved_property")
	k.refused(t, n, "requestReply", "POST", orders+"/requests", `{"message":{"body":"x","tag":"a b"}}`, 422, "invalid_message")
	k.refused(t, n, "requestReply", "POST", orders+"/requests", `{"message":{"body":"`+strings.Repeat("x", journal.MaxBodyBytes+1)+`"}}`, 413, "message_too_large")
	n.redis.Stop()
	k.refused(t, n, "sendReply", "POST", replyTo, replyBody(address, "5"), 503, "unavailable")
}

// Of many repliers one is heard, and whoever waits gets exactly what that one said.
func TestTheFirstReplyCounts(t *testing.T) {
	n := start(t, nodeOptions{})
	other := start(t, nodeOptions{beside: n})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	for i := range 10 {
		done := make(chan answer, 1)
		go func() { done <- n.call("POST", orders+"/requests", `{"message":{"body":"?"},"timeout_ms":20000}`) }()
		address := n.asked(t, i).Properties[replies.PropertyAddress]
		var all sync.WaitGroup
		won := make(chan string, 8)
		for j := range 8 {
			all.Go(func() {
				said := fmt.Sprint(j)
				if []*node{n, other}[j%2].call("POST", replyTo, replyBody(address, said)).status == 204 {
					won <- said
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d replies were taken", len(won))
		}
		got := decode[struct{ Reply struct{ Body string } }](t, (<-done).want(t, 200))
		if said := <-won; got.Reply.Body != said {
			t.Errorf("the reply is %q, taken was %q", got.Reply.Body, said)
		}
	}
}

// A reply in the last moment is either refused or brought.
func TestAReplyAtTheDeadlineIsRefusedOrBrought(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	for i := range 15 {
		done := make(chan answer, 1)
		began := time.Now()
		go func() { done <- n.call("POST", orders+"/requests", `{"message":{"body":"?"},"timeout_ms":400}`) }()
		address := n.asked(t, i).Properties[replies.PropertyAddress]
		time.Sleep(time.Until(began.Add(400*time.Millisecond + time.Duration(i-7)*time.Millisecond)))
		reply := n.call("POST", replyTo, replyBody(address, "!"))
		if result := <-done; (reply.status == 204) != (result.status == 200) {
			t.Errorf("the reply got %d, the request %d", reply.status, result.status)
		}
	}
}

// A request outlives a Redis that goes away for a while, and a server that stops
// answers those that wait.
func TestRequestsWaitThroughARedisThatComesBackAndEndWithTheServer(t *testing.T) {
	n := start(t, nodeOptions{})
	other := start(t, nodeOptions{beside: n})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	done := make(chan answer, 1)
	ask := func() {
		done <- n.call("POST", orders+"/requests", `{"message":{"body":"?"},"timeout_ms":30000}`)
	}
	go ask()
	address := n.asked(t, 0).Properties[replies.PropertyAddress]
	must(t, n.redis.Client().ClientKillByFilter(t.Context(), "TYPE", "pubsub").Err())
	other.call("POST", replyTo, replyBody(address, "!")).want(t, 204)
	(<-done).want(t, 200)
	go ask()
	n.asked(t, 1)
	go func() { _ = n.server.Shutdown(t.Context()) }()
	if a := (<-done).want(t, 504); a.problem(t).Code != "reply_timeout" || !strings.Contains(string(a.body), "stops") {
		t.Errorf("at shutdown: %s", a.body)
	}
	address = other.asked(t, 1).Properties[replies.PropertyAddress]
	if p := other.call("POST", replyTo, replyBody(address, "!")).want(t, 410).problem(t); p.Code != "request_over" {
		t.Errorf("a reply that nobody waits for: %+v", p)
	}
}

// Over sockets: several requests of one wait at a time, and are answered as their
// replies come.
func TestRequestsAndRepliesOverSockets(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	e := &eater{sock: n.socket("bmq.v1.json")}
	other := &eater{sock: n.socket("bmq.v1.json")}
	var addresses []string
	for i := range 3 {
		e.do(fmt.Sprintf(`{"op":"request","id":"r%d","topic":"orders","message":{"body":"%d"},"timeout_ms":20000}`, i, i))
		addresses = append(addresses, n.asked(t, i).Properties[replies.PropertyAddress])
	}
	for _, i := range []int{2, 0, 1} {
		other.call(fmt.Sprintf(`{"op":"reply","id":"x%d","reply_to":%q,"body":"re %d"}`, i, addresses[i], i), "ok")
		o := e.until("ok")
		if o.ID != fmt.Sprintf("r%d", i) || o.Request.Reply.Body != fmt.Sprintf("re %d", i) || o.Request.Offset != int64(i) {
			t.Errorf("the answer is %+v", o)
		}
	}
	other.do(fmt.Sprintf(`{"op":"reply","id":"again","reply_to":%q,"body":"x"}`, addresses[0]))
	if p := other.until("error").Problem; p.Code != "already_replied" {
		t.Errorf("a second reply: %+v", p)
	}
	e.do(`{"op":"request","id":"late","topic":"orders","message":{"body":"x"},"timeout_ms":1}`)
	if o := e.until("error"); o.ID != "late" || o.Problem.Code != "reply_timeout" {
		t.Errorf("a timeout: %+v", o)
	}
	e.do(`{"op":"request","topic":"orders","message":{"body":"x"}}`)
	if o := e.until("error"); o.Problem.Code != "invalid_field" {
		t.Errorf("a request without an id: %+v", o)
	}
}
