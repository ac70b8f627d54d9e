package gateway_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketmq/bucketmq/gateway"
)

// exchange sends bytes as they are and returns the first answer and whether the
// server closed the connection after it.
func (n *node) exchange(text string) (res *http.Response, body []byte, closed bool) {
	n.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	must(n.t, err)
	defer conn.Close()
	must(n.t, conn.SetDeadline(time.Now().Add(15*time.Second)))
	_, err = io.WriteString(conn, text)
	must(n.t, err)
	in := bufio.NewReader(conn)
	res, err = http.ReadResponse(in, nil)
	if err != nil {
		n.t.Fatalf("no answer to %.80q: %v", text, err)
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	must(n.t, err)
	if res.Close {
		_, err = in.ReadByte()
		return res, body, err != nil
	}
	return res, body, false
}

func TestTopicNamesThatAreRefused(t *testing.T) {
	n := start(t, nodeOptions{})
	for _, name := range []string{
		"..", ".", "a%2F..%2Fb", "%2e%2e%2f", `a%5Cb`, "C%3A", "a%3Ab", "%7Bx%7D", "a%7D%7Bb", "*", "%2A", "$", "%F0%9F%98%80",
		"%00", "-a", ".a", "_a", "%E2%80%AEa", "%C3%A9", "e%CC%81", strings.Repeat("x", 128), strings.Repeat("x", 1000),
		"a%0D%0AX-Evil:%201", "a%20b", "a%25b", "%25RETRY%25g", "%ff", "",
	} {
		a := n.call("PUT", "/v1/topics/"+name, `{}`)
		if a.status != 400 || a.problem(t).Code != "invalid_name" {
			t.Errorf("topic %q: got %d %.200s, want 400 invalid_name", name, a.status, a.body)
		}
		if a.header.Get("X-Evil") != "" {
			t.Errorf("topic %q wrote a header", name)
		}
	}
	if names := n.redis.Client().HLen(t.Context(), "{bmq}:topics").Val(); names != 0 {
		t.Errorf("%d refused topics were stored", names)
	}
	for _, name := range []string{"con", "a", "1e3", "0x10", "A.b_c-d", "%6Frders", strings.Repeat("x", 127)} {
		n.call("PUT", "/v1/topics/"+name, `{}`).want(t, 201)
	}
	n.call("GET", "/v1/topics/orders", "").want(t, 200)
}

func TestSmuggledRequestsAreRefused(t *testing.T) {
	n := start(t, nodeOptions{})
	head := "POST /v1/ws/tickets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"two transfer encodings":   head + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"bare LF in a chunk":       head + "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
		"space before the colon":   head + "Content-Length : 2\r\n\r\n{}",
		"NUL in a header":          head + "X-A: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
		"bare CR in a header":      head + "X-A: a\rb\r\nContent-Length: 2\r\n\r\n{}",
		"two lengths":              head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		"a length with a sign":     head + "Content-Length: +2\r\n\r\n{}",
		"no host":                  "GET /v1/info HTTP/1.1\r\n\r\n",
		"two hosts":                "GET /v1/info HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"a control byte in a path": "GET /v1/in\x01fo HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		res, body, closed := n.exchange(text)
		want := 400
		if name == "two transfer encodings" {
			want = 501 // net/http's word for it
		}
		if res.StatusCode != want || !closed {
			t.Errorf("%s: got %d (closed %v) %.100s, want an error and a closed connection", name, res.StatusCode, closed, body)
		}
	}
	// Both lengths: chunks count, so nothing after them is part of this request.
	both := head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	if res, body, _ := n.exchange(both); res.StatusCode != 201 && res.StatusCode != 400 {
		t.Errorf("length and chunks: got %d %.100s", res.StatusCode, body)
	}
}

func TestOversizedRequests(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{}`).want(t, 201)
	head := "POST /v1/topics/orders/messages/raw HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"
	// The length alone is enough: none of the body is sent.
	res, body, closed := n.exchange(head + "Content-Length: 1000000000000\r\n\r\n")
	if res.StatusCode != 413 || !closed || !bytes.Contains(body, []byte("body_too_large")) {
		t.Errorf("a length of 1 TB: got %d (closed %v) %.100s", res.StatusCode, closed, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", n.url+orders+"/messages/raw", io.LimitReader(zeros{}, 1<<30))
	must(t, err)
	req.Header.Set("Content-Type", "application/octet-stream")
	before := n.sent()
	if res, err := n.client.Do(req); err == nil {
		res.Body.Close()
		if res.StatusCode != 413 {
			t.Errorf("an endless body: got %d, want 413", res.StatusCode)
		}
	} // else: cut off while it was still sending
	if n.sent() != before {
		t.Error("an oversized body was stored")
	}
	var bomb bytes.Buffer
	w, err := zstd.NewWriter(&bomb)
	must(t, err)
	_, err = io.CopyN(w, zeros{}, 64<<20)
	must(t, err)
	must(t, w.Close())
	a := n.call("POST", orders+"/messages/raw", bomb.String(), "Content-Type", "application/octet-stream", "Content-Encoding", "zstd")
	if a.status != 413 || a.problem(t).Code != "body_too_large" {
		t.Errorf("a zstd bomb: got %d %.100s", a.status, a.body)
	}
	for name, headers := range map[string][]string{
		"one header":   {"X-Large", strings.Repeat("x", 33<<10)},
		"many headers": manyHeaders(4096),
	} {
		if a, err := n.try("GET", "/v1/info", "", headers...); err == nil && a.status != 431 {
			t.Errorf("%s: got %d, want 431", name, a.status)
		}
	}
	n.call("GET", "/v1/info", "", "X-Large", strings.Repeat("x", 30<<10)).want(t, 200)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func manyHeaders(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("X-H-%d", i), "x")
	}
	return list
}

// sent counts the objects that were written.
func (n *node) sent() uint64 { return n.store.Requests()["put"] }

func TestCompressedBodiesAreRead(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, zipped(t, `{"queues":1}`), "Content-Encoding", "gzip").want(t, 201)
	var small bytes.Buffer
	w, err := zstd.NewWriter(&small)
	must(t, err)
	_, err = io.WriteString(w, `{"messages":[{"body":"packed"}]}`)
	must(t, err)
	must(t, w.Close())
	n.call("POST", orders+"/messages", small.String(), "Content-Encoding", "zstd").want(t, 200)
	if a := n.call("GET", orders+"/queues/0/messages", ""); !bytes.Contains(a.body, []byte(`"packed"`)) {
		t.Errorf("read %s, want the message that was sent compressed", a.body)
	}
}

func TestMethodsAndPathsThatAreNot(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{}`).want(t, 201)
	for _, row := range []struct{ method, path, code string }{
		{"TRACE", orders, "method_not_allowed"},
		{"BREW", orders, "method_not_allowed"},
		{"POST", orders, "method_not_allowed"},
		{"DELETE", "/v1/topics", "method_not_allowed"},
		{"GET", "/v1/ws/tickets", "method_not_allowed"},
		{"GET", "/", "route_not_found"},
		{"GET", "/v1", "route_not_found"},
		{"GET", "/v2/topics", "route_not_found"},
		{"GET", orders + "/", "route_not_found"},
		{"GET", "/v1/topics/a/../b", "route_not_found"},
		{"GET", "/metrics", "route_not_found"},
		{"GET", "/debug/pprof/", "route_not_found"},
		{"GET", "/healthz", "route_not_found"},
		{"GET", "/readyz", "route_not_found"},
	} {
		a := n.call(row.method, row.path, "", "X-HTTP-Method-Override", "DELETE")
		p := a.problem(t)
		if p.Code != row.code || p.Status != a.status {
			t.Errorf("%s %s: got %d %.200s, want %s", row.method, row.path, a.status, a.body, row.code)
		}
		if allow := a.header.Get("Allow"); (row.code == "method_not_allowed") != (allow != "") {
			t.Errorf("%s %s: Allow is %q", row.method, row.path, allow)
		}
	}
	n.call("GET", orders, "").want(t, 200) // no override deleted it
}

func TestRequestIDs(t *testing.T) {
	n := start(t, nodeOptions{})
	if got := n.call("GET", "/v1/info", "", "X-Request-Id", "order/1001:a=b+c_d.e-f").header.Get("X-Request-Id"); got != "order/1001:a=b+c_d.e-f" {
		t.Errorf("a good id came back as %q", got)
	}
	for _, id := range []string{"", "a b", `{"level":"error"}`, strings.Repeat("x", 129), "é", "a\tb"} {
		a := n.call("GET", "/v1/none", "", "X-Request-Id", id)
		got := a.header.Get("X-Request-Id")
		if got == id || len(got) != 36 || a.problem(t).RequestID != got {
			t.Errorf("id %q came back as %q and %q, want one new id", id, got, a.problem(t).RequestID)
		}
	}
}

func TestLogsHoldOneRecordPerEvent(t *testing.T) {
	n := start(t, nodeOptions{})
	evil := "%0a%7B%22level%22:%22ERROR%22%7D%1b%5B31m"
	n.call("GET", "/v1/topics/"+evil+"?secret=hunter2", "", "User-Agent", "{\"level\":\"ERROR\"}", "X-Forwarded-For", "203.0.113.9", "X-Request-Id", "{\"level\":\"ERROR\"}").want(t, 400)
	n.call("GET", "/v1/"+evil, "").want(t, 404)
	n.stop()
	for line := range strings.Lines(n.logs.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if record["level"] == "ERROR" {
			t.Errorf("a caller wrote %s", line)
		}
	}
	for _, canary := range []string{"hunter2", "203.0.113.9", "\x1b"} {
		if strings.Contains(n.logs.String(), canary) {
			t.Errorf("the log holds %q", canary)
		}
	}
}

func TestOtherOrigins(t *testing.T) {
	const friend = "https://app.example.com"
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.AllowedOrigins = []string{friend} }})
	preflight := func(origin string) answer {
		return n.call("OPTIONS", orders, "", "Origin", origin, "Access-Control-Request-Method", "PUT",
			"Access-Control-Request-Headers", strings.Repeat(",", 20_000))
	}
	a := preflight(friend).want(t, 204)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  friend,
		"Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
		"Access-Control-Allow-Headers": "*, Authorization",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("preflight: %s is %q, want %q", name, got, want)
		}
	}
	a = n.call("PUT", orders, `{}`, "Origin", friend).want(t, 201)
	if a.header.Get("Access-Control-Allow-Origin") != friend || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "ETag") {
		t.Errorf("an allowed page is told %v", a.header)
	}
	a = n.call("PUT", orders, `{`, "Origin", friend).want(t, 400)
	if a.header.Get("Access-Control-Allow-Origin") != friend {
		t.Error("an allowed page may not read the error")
	}
	for _, origin := range []string{"https://evil.example", "null", "http://app.example.com", "https://app.example.com:444", "https://app.example.com.evil", "https://goodapp.example.com", "HTTPS://APP.EXAMPLE.COM"} {
		for _, a := range []answer{preflight(origin), n.call("GET", "/v1/info", "", "Origin", origin)} {
			for name := range a.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("origin %s is sent %s", origin, name)
				}
			}
			if a.header.Get("Vary") != "Origin" {
				t.Errorf("origin %s: no Vary", origin)
			}
		}
	}
	// What a page may send to another origin without asking is not read.
	for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
		n.call("POST", orders+"/messages", `{"messages":[{"body":"x"}]}`, "Content-Type", contentType, "Origin", "https://evil.example").want(t, 415)
	}
}

func TestAddressesThatNeedInsecure(t *testing.T) {
	for addr, safe := range map[string]bool{
		"127.0.0.1:0": true, "localhost:80": true, "[::1]:80": true, "127.8.9.1:80": true,
		"0.0.0.0:80": false, ":80": false, "[::]:80": false, "192.168.1.5:80": false, "example.com:80": false, "localhost.evil.example:80": false,
	} {
		if err := gateway.CheckListen(addr, false); (err == nil) != safe {
			t.Errorf("%s: %v, want safe %v", addr, err, safe)
		}
		if err := gateway.CheckListen(addr, true); err != nil {
			t.Errorf("%s, insecure: %v", addr, err)
		}
	}
	n := start(t, nodeOptions{})
	if _, err := gateway.New(gateway.Options{Journal: n.journal, Meta: n.meta, Listen: "0.0.0.0:0"}); err == nil {
		t.Error("New takes an open address without authentication")
	}
	for _, origin := range []string{"app.example.com", "https://app.example.com/", "https://app.example.com?x", "null", "https://APP.example.com"} {
		o := gateway.Options{Journal: n.journal, Meta: n.meta, AllowedOrigins: []string{origin}}
		if _, err := gateway.New(o); err == nil {
			t.Errorf("New takes the origin %q", origin)
		}
	}
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	t.Parallel()
	n := start(t, nodeOptions{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /v1/info HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	must(t, err)
	must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the connection is still open after 10 s: %v", err)
	}
}
