package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

const later = "/v1/topics/later"

// fire plays the coordinator: it fires what is due in a topic until done.
func (n *node) fire(topic string, done func() bool) {
	n.t.Helper()
	t, err := n.meta.Topic(n.t.Context(), topic)
	must(n.t, err)
	eventually(n.t, "delayed messages of "+topic+" fire", func() bool {
		_, err := n.journal.Fire(n.t.Context(), t.ID)
		must(n.t, err)
		return done()
	})
}

func (k *contract) delays(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", later, `{"queues":1,"type":"delay"}`).want(t, 201)
	send := func(message string) result {
		a := k.run(t, n, step{operation: "sendMessages", method: "POST", path: later + "/messages", body: `{"messages":[` + message + `]}`, status: 200})
		return as[sent](t, a, 200).Results[0]
	}
	far := send(`{"body":"far","delay_level":18}`)
	if far.RecallHandle == "" || far.MessageID == "" || far.Offset != nil {
		t.Fatalf("a delayed message is answered %+v", far)
	}
	for range 2 {
		k.run(t, n, step{operation: "recallMessage", method: "DELETE", path: later + "/scheduled/" + far.RecallHandle, status: 204})
	}
	soon := send(`{"body":"soon","delay_ms":1}`)
	n.fire("later", func() bool { return len(n.read("later", 0, "").Messages) == 1 })
	k.run(t, n, step{operation: "recallMessage", method: "DELETE", path: later + "/scheduled/" + soon.RecallHandle, status: 409, code: "already_delivered"})
	k.run(t, n, step{operation: "recallMessage", method: "DELETE", path: later + "/scheduled/" + soon.RecallHandle[1:], status: 404, code: "handle_not_found"})
	k.run(t, n, step{operation: "sendRawMessage", method: "POST", path: later + "/messages/raw?deliver_at=2000-01-01T00:00:00Z", headers: octets, body: "x", status: 200})
	n.call("POST", later+"/messages/raw?delay_ms=3456000001", "x", octets...).want(t, 400)
}

// unknownRecall recalls while no object's fate is told.
func (k *contract) unknownRecall(t *testing.T) {
	n := start(t, nodeOptions{journal: func(o *journal.Options) { o.AppendTimeout = 200 * time.Millisecond }})
	n.call("PUT", later, `{"queues":1,"type":"delay"}`).want(t, 201)
	handle := n.send("later", `[{"body":"x","delay_ms":60000}]`).Results[0].RecallHandle
	n.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Fault: func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		if _, err := next(); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	defer n.store.Clear()
	k.run(t, n, step{operation: "recallMessage", method: "DELETE", path: later + "/scheduled/" + handle, status: 504, code: "outcome_unknown"})
}
