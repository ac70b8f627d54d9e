package gateway_test

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

func (k *contract) readBounds(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("POST", orders+"/messages", `{"messages":[{"body":"a"},{"body":"b"},{"body":"c"}]}`).want(t, 200)
	queue := orders + "/queues/0"
	for operation, path := range map[string]string{"readMessages": queue + "/messages", "readFrames": queue + "/frames"} {
		k.run(t, n, step{operation: operation, method: "GET", path: path + "?offset=0&epoch=7", status: 409, code: "epoch_changed"})
		a := k.run(t, n, step{operation: operation, method: "GET", path: path + "?offset=9", status: 416, code: "offset_beyond_end"})
		if e := a.problem(t).Errors[0]; e["min_offset"] != 0.0 || e["next_offset"] != 3.0 {
			t.Errorf("%s: bounds %v, want 0 and 3", operation, e)
		}
	}
	k.run(t, n, step{operation: "getMessage", method: "GET", path: queue + "/messages/3", status: 404, code: "message_not_found"})
	k.run(t, n, step{operation: "getRawMessage", method: "GET", path: queue + "/messages/3/raw", status: 404, code: "message_not_found"})

	// Nothing trims yet, so the test moves the queue's start itself.
	topic, err := n.meta.Topic(t.Context(), "orders")
	must(t, err)
	redis, head := n.redis.Client(), "{t:"+topic.ID.String()+"}:head"
	fields := strings.Fields(redis.HGet(t.Context(), head, "0").Val())
	fields[1] = "2"
	must(t, redis.HSet(t.Context(), head, "0", strings.Join(fields, " ")).Err())
	other := start(t, nodeOptions{beside: n}) // remembers nothing
	for operation, path := range map[string]string{
		"readMessages": queue + "/messages?offset=1", "readFrames": queue + "/frames?offset=1",
		"getMessage": queue + "/messages/1", "getRawMessage": queue + "/messages/1/raw",
	} {
		a := k.run(t, other, step{operation: operation, method: "GET", path: path, status: 410, code: "offset_trimmed"})
		if e := a.problem(t).Errors[0]; e["min_offset"] != 2.0 || e["next_offset"] != 3.0 {
			t.Errorf("%s: bounds %v, want 2 and 3", operation, e)
		}
	}
}

func (k *contract) damage(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("POST", orders+"/messages", `{"messages":[{"body":"aaaaaaaaaaaaaaaa"}]}`).want(t, 200)
	other := start(t, nodeOptions{beside: n}) // has nothing cached
	other.store.Add(&faulty.Rule{Op: faulty.Get, Prefix: "log/", Fault: func(_ context.Context, next func() ([]byte, error)) ([]byte, error) {
		text, err := next()
		return bytes.ReplaceAll(text, []byte("aaaa"), []byte("aaab")), err
	}})
	queue := orders + "/queues/0"
	for operation, path := range map[string]string{
		"readMessages": queue + "/messages?offset=0", "readFrames": queue + "/frames?offset=0",
		"getMessage": queue + "/messages/0", "getRawMessage": queue + "/messages/0/raw",
	} {
		a := k.run(t, other, step{operation: operation, method: "GET", path: path, status: 410, code: "data_corrupt"})
		if e := a.problem(t).Errors[0]; e["first_offset"] != 0.0 || e["next_offset"] != 1.0 {
			t.Errorf("%s: told %v, want offsets 0 and 1", operation, e)
		}
	}
}

func (k *contract) ticketKeys(t *testing.T) {
	n := start(t, nodeOptions{})
	ticket := func(status int, code, key, body string) answer {
		return k.run(t, n, step{operation: "createTicket", method: "POST", path: "/v1/ws/tickets", body: body, headers: []string{"Idempotency-Key", key}, status: status, code: code})
	}
	first := ticket(201, "", "one", `{}`)
	again := ticket(201, "", "one", `{}`)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same request twice: %s, then %s", first.body, again.body)
	}
	ticket(422, "idempotency_key_reused", "one", `{"ttl_ms":2000}`)
	n.call("POST", "/v1/ws/tickets", `{"ttl_ms":0}`, "Idempotency-Key", "two").want(t, 400) // is not remembered …
	ticket(201, "", "two", `{"ttl_ms":2000}`)                                               // … so the key is free

	_, err := n.meta.ClaimAnswer(t.Context(), gateway.TicketClaim("three", `{}`), time.Minute)
	must(t, err)
	ticket(409, "idempotency_in_flight", "three", `{}`)
}

func (k *contract) slowBodies(t *testing.T) {
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.BodyTimeout = 50 * time.Millisecond }})
	n.call("PUT", orders, `{}`).want(t, 201)
	k.operations("orders", func(s step, op *openapi3.Operation) {
		if !promises(op, 408, "request_timeout") {
			return
		}
		s.status, s.code = 408, "request_timeout"
		req, err := n.request(s.method, s.path, s.body, s.headers...)
		must(t, err)
		input, _ := k.input(t, req, s, "slow body")
		a := n.half(req)
		if a.status != s.status || a.problem(t).Code != s.code {
			t.Errorf("%s: half a body got %d %.200s", s.operation, a.status, a.body)
			return
		}
		k.check(t, input, s.operation, a, s.code, "slow body of "+s.operation)
	})
}

// stopping drives a handler that outlives its server, as connections that are
// open while it drains do.
func (k *contract) stopping(t *testing.T) {
	n := start(t, nodeOptions{})
	front := httptest.NewServer(n.server.Handler())
	defer front.Close()
	n.call("PUT", orders, `{}`).want(t, 201)
	must(t, n.server.Shutdown(t.Context()))
	n.client.CloseIdleConnections()
	n.url = front.URL
	k.everyPromise(t, n, 503, "shutting_down", "orders")
}

func (k *contract) bufferFull(t *testing.T) {
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.BodyBytes = 1024 }})
	_, err := n.meta.CreateTopic(t.Context(), meta.Topic{Name: "orders", Type: meta.TopicNormal, Queues: 1})
	must(t, err)
	k.everyPromise(t, n, 503, "buffer_full", "orders", append(slices.Collect(maps.Keys(groupBodies)), "putTopic", "updateTopic", "createTicket", "sendReply", "beginTransaction", "pollChecks")...)
	full := start(t, nodeOptions{journal: func(o *journal.Options) { o.BufferBytes = 1 }})
	db := full.meta
	_, err = db.CreateTopic(t.Context(), meta.Topic{Name: "orders", Type: meta.TopicNormal, Queues: 1})
	must(t, err)
	k.everyPromise(t, full, 503, "buffer_full", "orders", "sendMessages", "sendRawMessage", "sendFramedMessages", "requestReply")
}

// everyPromise runs every operation, or only some, that promises an error.
func (k *contract) everyPromise(t *testing.T, n *node, status int, code, topic string, only ...string) {
	ran := map[string]bool{}
	k.operations(topic, func(s step, op *openapi3.Operation) {
		if s.operation == "sendReply" && code == "unavailable" {
			return // it needs an address: requestAnswers
		}
		if promises(op, status, code) && (len(only) == 0 || slices.Contains(only, s.operation)) {
			s.status, s.code = status, code
			a := k.run(t, n, s)
			ran[s.operation] = true
			if status == http.StatusServiceUnavailable && a.header.Get("Retry-After") == "" {
				t.Errorf("%s: %s without Retry-After", s.operation, code)
			}
		}
	})
	if len(ran) == 0 || len(ran) < len(only) {
		t.Errorf("%d %s: ran only %v", status, code, slices.Sorted(maps.Keys(ran)))
	}
}

func (k *contract) recovering(t *testing.T) {
	n := start(t, nodeOptions{})
	state, err := n.meta.State(t.Context())
	must(t, err)
	_, _, ok, err := n.meta.BeginRecovery(t.Context(), state.StoreID, uuid.New(), state.Generation, time.Minute)
	if err != nil || !ok {
		t.Fatalf("begin recovery: %v, %v", ok, err)
	}
	k.everyPromise(t, n, 503, "recovering", "orders")
}

func (k *contract) unknownOutcomes(t *testing.T) {
	n := start(t, nodeOptions{journal: func(o *journal.Options) { o.AppendTimeout = 200 * time.Millisecond }})
	n.call("PUT", orders, `{}`).want(t, 201)
	// The object is stored and the writer never learns of it.
	n.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Fault: func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		if _, err := next(); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	defer n.store.Clear()
	for _, s := range sends {
		s.status, s.code = 504, "outcome_unknown"
		k.run(t, n, s)
	}
	k.run(t, n, step{operation: "requestReply", method: "POST", path: orders + "/requests", body: `{"message":{"body":"x"}}`, status: 504, code: "outcome_unknown"})
	k.run(t, n, step{operation: "updateTopic", method: "PATCH", path: orders, body: `{}`, status: 504, code: "outcome_unknown"})
	k.run(t, n, step{operation: "putTopic", method: "PUT", path: "/v1/topics/new", body: `{}`, status: 504, code: "outcome_unknown"})
	k.run(t, n, step{operation: "deleteTopic", method: "DELETE", path: orders, status: 504, code: "outcome_unknown"})
	k.unknownGroups(t)
	k.unknownRecall(t)
	k.unknownTransactions(t)
}

func (k *contract) redisGone(t *testing.T) {
	n := start(t, nodeOptions{journal: func(o *journal.Options) { o.AppendTimeout = 500 * time.Millisecond }})
	n.redis.Stop()
	k.everyPromise(t, n, 503, "unavailable", "orders")
	a := n.call("GET", "/v1/cluster", "").want(t, 200)
	if !bytes.Contains(a.body, []byte(`"redis":{"detail":"it does not answer","status":"failing"}`)) {
		t.Errorf("without Redis the cluster page says %s", a.body)
	}
}
