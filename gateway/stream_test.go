package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// event is one server-sent event; a comment has no name.
type event struct {
	id, name, data string
	comment        bool
	retry          string
}

// sse is an open stream.
type sse struct {
	t      *testing.T
	cancel context.CancelFunc
	resp   *http.Response
	lines  *bufio.Reader
	lastID string
}

func (n *node) stream(t *testing.T, query, lastID string) *sse {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", n.url+"/v1/topics/orders/stream?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := n.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	s := &sse{t: t, cancel: cancel, resp: resp, lines: bufio.NewReader(resp.Body), lastID: lastID}
	t.Cleanup(s.close)
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Accel-Buffering") != "no" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("stream: %d %v", resp.StatusCode, resp.Header)
	}
	return s
}

func (s *sse) close() {
	s.cancel()
	s.resp.Body.Close()
}

// next reads one event, as a browser does; ok is false at the end.
func (s *sse) next() (e event, ok bool) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			if e.id != "" {
				s.lastID = e.id
			}
			return e, true
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "":
			e.comment = true
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data += value
		case "retry":
			e.retry = value
		default:
			s.t.Fatalf("line %q", line)
		}
	}
}

// message skips what a browser does not show and returns the next message.
func (s *sse) message() message {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			s.t.Fatal("the stream ended")
		}
		if e.data == "" {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(e.data), &m); err != nil || e.name != "message" || e.id == "" {
			s.t.Fatalf("event %+v: %v", e, err)
		}
		return m
	}
}

func TestStreamResumesWithoutLossOrRepeat(t *testing.T) {
	a, b := pair(t)
	nodes := []*node{a, b}
	nodes[0].topic("orders", `{"queues":3}`)
	const count = 60
	s := nodes[0].stream(t, "encoding=text", "")
	if e, ok := s.next(); !ok || e.retry == "" {
		t.Fatalf("first event %+v", e)
	}
	if e, ok := s.next(); !ok || e.id == "" {
		t.Fatalf("where the stream begins is not told: %+v", e)
	}
	seen := map[string]int{}
	next := map[int64]int64{}
	for i := range count {
		nodes[i%2].send("orders", fmt.Sprintf(`[{"body":"%d","queue":%d}]`, i, i%3))
		if i%4 != 3 {
			continue
		}
		// The connection is cut with messages unread, and the other gateway goes on.
		for range 2 {
			m := s.message()
			seen[*m.Body]++
			if m.Offset != next[m.Queue] {
				t.Errorf("queue %d went from %d to %d", m.Queue, next[m.Queue], m.Offset)
			}
			next[m.Queue] = m.Offset + 1
		}
		s.close()
		s = nodes[(i/4)%2].stream(t, "", s.lastID)
	}
	for len(seen) < count {
		seen[*s.message().Body]++
	}
	for i := range count {
		if n := seen[strconv.Itoa(i)]; n != 1 {
			t.Errorf("message %d came %d times", i, n)
		}
	}
}

func TestStreamStartsAndFilters(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":2}`)
	n.send("orders", `[{"body":"1","queue":0,"tag":"a"},{"body":"2","queue":0,"tag":"b"},{"body":"3","queue":1,"tag":"b"}]`)
	if m := n.stream(t, "position=earliest&tags=b&queues=1&encoding=base64", "").message(); *m.Body != "Mw==" {
		t.Errorf("got %+v", m)
	}
	latest := n.stream(t, "tags=b", "")
	n.send("orders", `[{"body":"4","queue":0,"tag":"a"},{"body":"5","queue":0,"tag":"b"}]`)
	if m := latest.message(); *m.Body != "5" {
		t.Errorf("got %+v", m)
	}
	for query, want := range map[string][2]string{
		"?queues=2": {"invalid_parameter", "query:queues"}, "?position=middle": {"invalid_parameter", "query:position"},
		"?tags=a%20b": {"invalid_parameter", "query:tags"}, "?offset=1": {"unknown_parameter", "query:offset"},
	} {
		refusedAs(t, n.get("/v1/topics/orders/stream"+query), 400, want[0], want[1])
	}
	refusedAs(t, n.get("/v1/topics/orders/stream", "Last-Event-ID", "nonsense"), 400, "invalid_header", "header:Last-Event-ID")
	refusedAs(t, n.get("/v1/topics/none/stream"), 404, "topic_not_found", "")
}

func TestStreamEndsWithTheServerAndSaysWhenToComeBack(t *testing.T) {
	n, other := pair(t)
	n.topic("orders", `{"queues":1}`)
	s := n.stream(t, "", "")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := n.server.Shutdown(ctx); err != nil {
		t.Fatalf("shut down: %v", err)
	}
	var last event
	for {
		e, ok := s.next()
		if !ok {
			break
		}
		last = e
	}
	if ms, err := strconv.Atoi(last.retry); err != nil || ms < 100 {
		t.Errorf("the stream ends with %+v", last)
	}
	other.send("orders", `[{"body":"after"}]`)
	if m := other.stream(t, "", s.lastID).message(); *m.Body != "after" {
		t.Errorf("got %+v", m)
	}
}

func TestStreamOfADeletedTopicEndsWithAProblem(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	s := n.stream(t, "", "")
	n.call("DELETE", "/v1/topics/orders", "").want(t, 204)
	for {
		e, ok := s.next()
		if !ok {
			t.Fatal("the stream ended without a word")
		}
		if e.name == "error" {
			var p problem
			if err := json.Unmarshal([]byte(e.data), &p); err != nil || p.Code != "topic_not_found" {
				t.Errorf("error %s", e.data)
			}
			return
		}
	}
}

func TestSilentStreamHasAHeartbeat(t *testing.T) {
	t.Parallel()
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	s := n.stream(t, "", "")
	for range 2 {
		s.next()
	}
	start := time.Now()
	if e, ok := s.next(); !ok || !e.comment || e.data != "" || time.Since(start) > 17*time.Second {
		t.Errorf("got %+v after %v", e, time.Since(start))
	}
}

// A client that never reads fills the socket's buffers, and is then cut; the
// server holds no more than one part of the stream for it.
// Not beside other tests: it looks at the heap, which is everybody's.
func TestStreamCutsAClientThatNeverReads(t *testing.T) {
	n, following := counted(t)
	n.topic("orders", `{"queues":1}`)
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	must(t, err)
	defer conn.Close()
	must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	fmt.Fprintf(conn, "GET /v1/topics/orders/stream?position=earliest HTTP/1.1\r\nHost: x\r\n\r\n")
	eventually(t, "the stream is open", func() bool { return following() == 1 })
	message := `{"body":"` + strings.Repeat("x", 100_000) + `"}`
	batch := "[" + strings.Repeat(message+",", 19) + message + "]"
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range 10 { // 20 MB, far more than the sockets hold
		n.send("orders", batch)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ; following() > 0; <-tick.C {
		if time.Since(start) > 25*time.Second {
			t.Fatal("the client was not cut")
		}
	}
	if took := time.Since(start); took < 9*time.Second {
		t.Errorf("cut after %v: it had no time to read", took)
	}
	runtime.GC()
	runtime.GC() // what is kept to be used again goes with the second
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 80<<20 { // the memory store and the cache hold the messages
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
