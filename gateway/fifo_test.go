package gateway_test

import (
	"fmt"
	"net/http"
	"testing"
)

// However a message comes, a fifo topic refuses it without an ordering key and
// stores nothing of its request.
func TestFIFOTopicsRefuseMessagesWithoutAnOrderingKey(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1,"type":"fifo"}`).want(t, http.StatusCreated)
	const octets = "application/octet-stream"
	for _, c := range []struct{ path, body, media string }{
		{"/messages", `{"messages":[{"body":"kept out","ordering_key":"a"},{"body":"x"}]}`, "application/json"},
		{"/messages/raw", "x", octets},
		{"/messages/framed", frames("x"), octets},
		{"/requests", `{"message":{"body":"x"}}`, "application/json"},
	} {
		a := n.call("POST", orders+c.path, c.body, "Content-Type", c.media)
		if p := a.problem(t); a.status != http.StatusUnprocessableEntity || p.Code != "invalid_message" {
			t.Errorf("%s is answered %d %s", c.path, a.status, a.body)
		}
	}
	e := &eater{sock: n.socket("bmq.v1.json")}
	e.do(`{"op":"send","id":"1","topic":"orders","messages":[{"body":"x"}]}`)
	if o := e.until("error"); o.ID != "1" || o.Problem.Code != "invalid_message" {
		t.Errorf("a send over a socket: %+v", o)
	}
	n.call("POST", orders+"/messages", `{"messages":[{"body":"first","ordering_key":"a"}]}`).want(t, http.StatusOK)
	if m := n.asked(t, 0); m.Body != "first" {
		t.Errorf("the first message is %s", fmt.Sprint(m))
	}
}
