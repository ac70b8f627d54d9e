package gateway_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/gateway"
)

// A thousand members that wait for messages leave producers of other topics
// alone, and hear of a message of their own.
func TestParkedPollsOfMembersDoNotSlowProduce(t *testing.T) {
	const groups, each = 20, 50
	registry := prometheus.NewRegistry()
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.Registry = registry }})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("PUT", "/v1/topics/other", `{"queues":1}`).want(t, 201)
	produce := func() time.Duration {
		var took []time.Duration
		for range 60 {
			began := time.Now()
			n.call("POST", "/v1/topics/other/messages", `{"messages":[{"body":"x"}]}`).want(t, 200)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	var paths []string
	for g := range groups {
		group := fmt.Sprintf("/v1/groups/g%d", g)
		n.call("PUT", group, `{"consume_from":"first"}`).want(t, 201)
		for range each { // every one names the queue itself
			a := n.call("POST", group+"/members", `{"subscriptions":[{"topic":"orders","queues":[0]}]}`).want(t, 201)
			id := decode[struct {
				ID string `json:"member_id"`
			}](t, a).ID
			paths = append(paths, group+"/members/"+id+"/poll")
		}
	}
	alone := produce()
	conns := make([]net.Conn, len(paths))
	for i, path := range paths {
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
		must(t, err)
		defer conn.Close()
		body := `{"wait_ms":30000}`
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
		must(t, err)
		conns[i] = conn
	}
	eventually(t, "all wait", func() bool { return gauge(t, registry, "bucketmq_group_waiting") == groups*each })
	beside := produce()
	t.Logf("a produce takes %v alone and %v beside %d parked polls", alone, beside, len(conns))
	if beside > 4*alone+5*time.Millisecond {
		t.Errorf("a produce takes %v beside %d parked polls, %v alone", beside, len(conns), alone)
	}
	n.call("POST", orders+"/messages", `{"messages":[{"body":"news"}]}`).want(t, 200)
	for _, conn := range conns {
		if body := n.answered(conn); !strings.Contains(body, `"news"`) {
			t.Fatalf("a poll was answered %.200s", body)
		}
	}
}
