package gateway_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/journal"
)

// benchNode is a gateway as it runs in production: it logs no request, and its
// segments take what comes within a few milliseconds.
func benchNode(t testing.TB) *node {
	n := start(t, nodeOptions{
		journal: func(o *journal.Options) {
			o.Linger, o.Log = 5*time.Millisecond, slog.New(slog.DiscardHandler)
		},
		gateway: func(o *gateway.Options) { o.Log = slog.New(slog.DiscardHandler) },
	})
	n.topic("orders", `{"queues":8}`)
	return n
}

// rawClient sends one request again and again over one connection. It reads and
// writes fixed bytes and allocates nothing, so that what is counted is the
// server.
type rawClient struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
}

func newRawClient(url string, request []byte) (*rawClient, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return nil, err
	}
	return &rawClient{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), request: request}, nil
}

func (c *rawClient) post() error {
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	return skipAnswer(c.in)
}

// postRequest is a POST as it goes over the wire.
func postRequest(url, path, contentType string, body []byte) []byte {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		path, strings.TrimPrefix(url, "http://"), contentType, len(body))
	return append([]byte(head), body...)
}

// allocationsPerRequest counts the allocations of everything but the client:
// net/http, the gateway, the journal, and what the segments and their commits
// cost, which the requests share.
func allocationsPerRequest(t testing.TB, connections, each int, url string, request []byte) float64 {
	clients := make([]*rawClient, connections)
	for i := range clients {
		c, err := newRawClient(url, request)
		must(t, err)
		defer c.conn.Close()
		clients[i] = c
	}
	round := func() {
		var all sync.WaitGroup
		for _, c := range clients {
			all.Go(func() {
				for range each {
					if err := c.post(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	}
	round() // fills the pools and the caches
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	round()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(connections*each)
}

// TestProducingAllocatesLittle pins what a request costs the whole server while
// many connections send.
func TestProducingAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates and empties pools at random")
	}
	n := benchNode(t)
	const path = "/v1/topics/orders/messages"
	single := []byte(`{"messages":[{"body":"` + strings.Repeat("x", 1024) + `"}]}`)
	text, framed := batches()

	perRequest := allocationsPerRequest(t, 128, 40, n.url, postRequest(n.url, path, "application/json", single))
	t.Logf("single: %.1f allocations", perRequest)
	if perRequest > 40 {
		t.Errorf("a single message costs %.1f allocations, want at most 40", perRequest)
	}
	for name, request := range map[string][]byte{
		"JSON":   postRequest(n.url, path, "application/json", text),
		"framed": postRequest(n.url, path+"/framed", "application/octet-stream", framed),
	} {
		perBatch := allocationsPerRequest(t, 64, 15, n.url, request)
		t.Logf("%s batch of 100: %.1f allocations", name, perBatch)
		if more := (perBatch - perRequest) / 99; more > 0.2 {
			t.Errorf("%s: one more message in a batch costs %.2f allocations, want at most 0.2", name, more)
		}
	}
}
