package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/meta/redistest"
)

// longPoll sends a poll of queue 0 on a connection of its own, without a
// client's buffers.
func (n *node) longPoll(topic string, offset int) net.Conn {
	n.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	must(n.t, err)
	n.sendPoll(conn, topic, offset)
	return conn
}

func (n *node) sendPoll(conn net.Conn, topic string, offset int) {
	n.t.Helper()
	_, err := fmt.Fprintf(conn, "GET /v1/topics/%s/queues/0/messages?offset=%d&wait_ms=30000 HTTP/1.1\r\nHost: %s\r\n"+
		"User-Agent: test/1.0\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\n\r\n", topic, offset, strings.TrimPrefix(n.url, "http://"))
	must(n.t, err)
}

// scripts is how many scripts and reads of topics a Redis has been asked for.
func scripts(t testing.TB, redis *redistest.Server) (calls int) {
	t.Helper()
	client := redis.Client()
	defer client.Close()
	stats, err := client.Info(context.Background(), "commandstats").Result()
	must(t, err)
	for _, found := range regexp.MustCompile(`cmdstat_(?:evalsha|hmget|hgetall|get):calls=(\d+)`).FindAllStringSubmatch(stats, -1) {
		n, err := strconv.Atoi(found[1])
		must(t, err)
		calls += n
	}
	return calls
}

// answered reads the answer of a poll and returns its body.
func (n *node) answered(conn net.Conn) string {
	n.t.Helper()
	must(n.t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 64), nil)
	must(n.t, err)
	body, err := io.ReadAll(res.Body)
	must(n.t, err)
	return string(body)
}

// The client's side of each connection is in the figure too.
func TestParkedPollsAreSmallAndDoNotAskRedis(t *testing.T) {
	const count = 2000
	// A few may ask before what the first one learned is known to all.
	const fewCalls, mostKiB = 20, 30
	n, waiting := counted(t)
	n.topic("orders", `{"queues":1}`)
	first := n.longPoll("orders", 0)
	defer first.Close()
	eventually(t, "the first one waits", func() bool { return waiting() == 1 })
	n.client.CloseIdleConnections()
	before, goroutines := inUse()
	calls := scripts(t, n.redis)
	spent := func(what string) {
		t.Helper()
		now := scripts(t, n.redis)
		t.Logf("%s: %d calls of Redis", what, now-calls)
		if now-calls > fewCalls {
			t.Errorf("%s: %d calls of Redis", what, now-calls)
		}
		calls = now
	}
	conns := make([]net.Conn, count)
	for i := range conns {
		conns[i] = n.longPoll("orders", 0)
		defer conns[i].Close()
	}
	eventually(t, "all wait", func() bool { return waiting() == count+1 })
	spent("to park them")
	bytes, running := inUse()
	kib := float64(bytes-before) / 1024 / count
	t.Logf("%d parked polls: %.1f KiB and %.2f goroutines each", count, kib, float64(running-goroutines)/count)
	if kib > mostKiB && !raceEnabled {
		t.Errorf("a parked poll takes %.1f KiB", kib)
	}
	n.send("orders", `[{"body":"news","queue":0}]`)
	for _, conn := range conns {
		if body := n.answered(conn); !strings.Contains(body, `"news"`) {
			t.Fatalf("a poll was answered %s", body)
		}
	}
	spent("for one message")
	for _, conn := range conns {
		n.sendPoll(conn, "orders", 1)
	}
	eventually(t, "all wait again", func() bool { return waiting() == count })
	spent("to park them again")
}
