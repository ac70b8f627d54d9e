package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
)

// alone starts one gateway, pair two over one bucket and one Redis.
func alone(t testing.TB) *node { return start(t, nodeOptions{}) }

func pair(t testing.TB) (a, b *node) {
	a = alone(t)
	return a, start(t, nodeOptions{beside: a})
}

// counted starts a gateway and counts the readers that wait in it.
func counted(t testing.TB) (n *node, waiting func() int) {
	registry := prometheus.NewRegistry()
	n = start(t, nodeOptions{journal: func(o *journal.Options) { o.Registry = registry }})
	return n, func() int { return gauge(t, registry, "bucketmq_read_waiting") }
}

// gauge reads a gauge or a counter without labels.
func gauge(t testing.TB, registry *prometheus.Registry, name string) int {
	t.Helper()
	families, err := registry.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			m := f.GetMetric()[0]
			return int(m.GetGauge().GetValue() + m.GetCounter().GetValue())
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// post sends bytes; headers are pairs of name and value.
func (n *node) post(path string, body []byte, headers ...string) answer {
	n.t.Helper()
	return n.call(http.MethodPost, path, string(body), headers...)
}

func (n *node) get(path string, headers ...string) answer {
	n.t.Helper()
	return n.call(http.MethodGet, path, "", headers...)
}

// poll is a GET that its caller may give up.
func (n *node) poll(ctx context.Context, path string) (int, error) {
	req, err := n.request(http.MethodGet, path, "")
	if err != nil {
		return 0, err
	}
	resp, err := n.client.Do(req.WithContext(ctx))
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// binary returns the headers of a binary request.
func binary(more ...string) []string {
	return append([]string{"Content-Type", "application/octet-stream"}, more...)
}

func (n *node) topic(name, settings string) {
	n.t.Helper()
	n.call(http.MethodPut, "/v1/topics/"+name, settings).want(n.t, http.StatusCreated)
}

// message is a message as it was read.
type message struct {
	MessageID   string            `json:"message_id"`
	Queue       int64             `json:"queue"`
	Offset      int64             `json:"offset"`
	StoredAt    time.Time         `json:"stored_at"`
	BornAt      time.Time         `json:"born_at"`
	Tag         string            `json:"tag"`
	Keys        []string          `json:"keys"`
	OrderingKey string            `json:"ordering_key"`
	ContentType string            `json:"content_type"`
	Properties  map[string]string `json:"properties"`
	Encoding    string            `json:"encoding"`
	Body        *string           `json:"body"`
	Receipt     string            `json:"receipt"`
	Attempt     int64             `json:"attempt"`
}

type page struct {
	Status    string    `json:"status"`
	Messages  []message `json:"messages"`
	Items     []message `json:"items"`
	Next      int64     `json:"next_offset"`
	Min       int64     `json:"min_offset"`
	Max       int64     `json:"max_offset"`
	Epoch     int64     `json:"epoch"`
	Token     string    `json:"next_page_token"`
	ScannedAt time.Time `json:"scanned_until"`
}

type sent struct {
	Stored  int      `json:"stored"`
	Failed  int      `json:"failed"`
	Results []result `json:"results"`
}

// result is what became of one message.
type result struct {
	Index        int    `json:"index"`
	Status       string `json:"status"`
	MessageID    string `json:"message_id"`
	Queue        *int64 `json:"queue"`
	Offset       *int64 `json:"offset"`
	Duplicate    bool   `json:"duplicate"`
	RecallHandle string `json:"recall_handle"`
}

// as decodes an answer and fails unless it has the status.
func as[T any](t testing.TB, a answer, status int) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.want(t, status).body, &v); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return v
}

// refusedAs fails unless an answer is that problem, pointing there.
func refusedAs(t testing.TB, a answer, status int, code, pointer string) problem {
	t.Helper()
	p := a.want(t, status).problem(t)
	if p.Code != code || p.Status != status {
		t.Errorf("%d %s, want %d %s: %s", p.Status, p.Code, status, code, a.body)
	}
	if pointer != "" && (len(p.Errors) == 0 || p.Errors[0]["pointer"] != pointer) {
		t.Errorf("points at %+v, want %s", p.Errors, pointer)
	}
	return p
}

// send stores messages and returns the answer.
func (n *node) send(topic, messages string, headers ...string) sent {
	n.t.Helper()
	return as[sent](n.t, n.post("/v1/topics/"+topic+"/messages", []byte(`{"messages":`+messages+`}`), headers...), http.StatusOK)
}

func (n *node) read(topic string, queue int, query string) page {
	n.t.Helper()
	return as[page](n.t, n.get(fmt.Sprintf("/v1/topics/%s/queues/%d/messages?%s", topic, queue, query)), http.StatusOK)
}

// texts are the bodies of messages, one after another.
func texts(messages []message) string {
	var all []string
	for _, m := range messages {
		all = append(all, *m.Body)
	}
	return strings.Join(all, " ")
}
