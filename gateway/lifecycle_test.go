package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

func TestShutdownAnswersWhatWaits(t *testing.T) {
	n, waiting := counted(t)
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	held, release := make(chan struct{}), make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	defer let()
	n.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Times: 1, Fault: func(_ context.Context, next func() ([]byte, error)) ([]byte, error) {
		close(held)
		<-release
		return next()
	}})
	poll, send := make(chan answer, 1), make(chan answer, 1)
	ask := func(to chan answer, method, path, body string) {
		a, err := n.try(method, path, body)
		if err != nil {
			t.Error(err)
		}
		to <- a
	}
	go ask(poll, "GET", orders+"/queues/0/messages?wait_ms=30000", "")
	eventually(t, "the poll waits", func() bool { return waiting() == 1 })
	go ask(send, "POST", orders+"/messages", `{"messages":[{"body":"x"}]}`)
	<-held

	started, stopped := time.Now(), make(chan error, 1)
	go func() { stopped <- n.server.Shutdown(t.Context()) }()
	a := <-poll
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("the poll was answered after %v", took)
	}
	if a.status != 200 || !strings.Contains(string(a.body), `"status":"no_new"`) {
		t.Errorf("the poll got %d %s, want an empty page", a.status, a.body)
	}
	select {
	case err := <-stopped:
		t.Errorf("the server stopped (%v) before a request was answered", err)
	default:
	}
	let()
	if a := <-send; a.status != 200 {
		t.Errorf("the message that was on its way got %d %s", a.status, a.body)
	}
	if err := <-stopped; err != nil {
		t.Errorf("shut down: %v", err)
	}
	if _, err := net.DialTimeout("tcp", strings.TrimPrefix(n.url, "http://"), time.Second); err == nil {
		t.Error("the port is still open")
	}
}

func TestShutdownCutsWhatOutlastsTheGrace(t *testing.T) {
	n := start(t, nodeOptions{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /v1/ws/tickets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-Request-Id: slow\r\n\r\n{")
	must(t, err)
	n.call("GET", "/v1/info", "").want(t, 200)
	eventually(t, "the slow request is being read", func() bool { return n.server.Reading() > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := n.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shut down: %v, want the end of the grace", err)
	}
	if ctx.Err() != nil {
		t.Error("a slow request took all of the grace: none is left to store the last batch")
	}
	must(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	if _, err := io.ReadAll(conn); errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the connection is still open: %v", err)
	}
}

func TestAReaderThatLeavesIsNoError(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	body := strings.Repeat("x", 4<<20)
	for range 3 {
		n.call("POST", orders+"/messages/raw", body, "Content-Type", "application/octet-stream").want(t, 200)
	}
	for range 4 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
		must(t, err)
		must(t, conn.(*net.TCPConn).SetReadBuffer(4096))
		_, err = io.WriteString(conn, "GET "+orders+"/queues/0/messages?offset=0&max_bytes=16777216 HTTP/1.1\r\nHost: x\r\n\r\n")
		must(t, err)
		_, err = io.ReadFull(conn, make([]byte, 1024)) // it is being written
		must(t, err)
		must(t, conn.(*net.TCPConn).SetLinger(0))
		must(t, conn.Close())
	}
	eventually(t, "the answers end", func() bool { return strings.Count(n.logs.String(), `"operation":"readMessages"`) >= 4 })
	if logs := n.logs.String(); strings.Contains(logs, `"level":"ERROR"`) {
		t.Errorf("a reader that left is an error of the server: %.1000s", logs[strings.Index(logs, `"level":"ERROR"`):])
	}
}

func TestManagementListener(t *testing.T) {
	registry := prometheus.NewRegistry()
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.Registry = registry }})
	n.call("GET", "/v1/info", "").want(t, 200)
	front := httptest.NewServer(gateway.Management(registry, slog.New(slog.DiscardHandler), n.server.Checks()...))
	defer front.Close()
	manage := *n
	manage.url = front.URL
	manage.call("GET", "/healthz", "").want(t, 200)
	manage.call("GET", "/readyz", "").want(t, 200)
	manage.call("GET", "/debug/pprof/cmdline", "").want(t, 200)
	manage.call("GET", "/v1/info", "").want(t, 404)
	if a := manage.call("GET", "/metrics", "").want(t, 200); !strings.Contains(string(a.body), `bucketmq_http_requests_total{operation="getInfo",status="200"} 1`) {
		t.Errorf("metrics do not count getInfo: %.2000s", a.body)
	}
	n.redis.Stop()
	manage.call("GET", "/healthz", "").want(t, 200)
	if a := manage.call("GET", "/readyz", "").want(t, 503); !strings.Contains(string(a.body), `"redis":"failing"`) {
		t.Errorf("without Redis: %s", a.body)
	}
	n.client.CloseIdleConnections()
}

func TestClusterPageShowsWhoIsThere(t *testing.T) {
	n := alone(t)
	other := start(t, nodeOptions{beside: n})
	leader := uuid.New()
	term, ok, err := n.meta.Acquire(t.Context(), meta.LeaseCoordinator, leader, time.Minute)
	if err != nil || !ok {
		t.Fatalf("acquire: %v, %v", ok, err)
	}
	type writer struct{ Writer, State string }
	var page struct {
		Gateway     string
		Gateways    []writer
		Writers     []writer
		Coordinator struct {
			Holder string
			Term   int64
		}
	}
	eventually(t, "both gateways beat", func() bool {
		must(t, json.Unmarshal(n.call("GET", "/v1/cluster", "").want(t, 200).body, &page))
		return len(page.Gateways) == 2
	})
	if page.Coordinator.Holder != leader.String() || page.Coordinator.Term != term {
		t.Errorf("the coordinator is %+v, want %s under term %d", page.Coordinator, leader, term)
	}
	gone := other.journal.Writer().String()
	other.stop()
	must(t, json.Unmarshal(n.call("GET", "/v1/cluster", "").want(t, 200).body, &page))
	for _, w := range page.Writers {
		if want := map[bool]string{true: "retired", false: "live"}[w.Writer == gone]; w.State != want {
			t.Errorf("writer %s is %s, want %s", w.Writer, w.State, want)
		}
	}
	if len(page.Gateways) != 1 || page.Gateways[0].Writer != page.Gateway {
		t.Errorf("gateways %v, want only %s", page.Gateways, page.Gateway)
	}
}

func TestTopicsPageByPage(t *testing.T) {
	n := start(t, nodeOptions{})
	var want []string
	for _, name := range []string{"a", "b1", "b2", "b3", "b4", "c"} {
		n.call("PUT", "/v1/topics/"+name, `{"queues":1}`).want(t, 201)
		if name[0] == 'b' {
			want = append(want, name)
		}
	}
	var got []string
	for path := "/v1/topics?prefix=b&limit=3"; path != ""; {
		var page struct {
			Items []struct{ Topic string }
			Next  string `json:"next_page_token"`
		}
		must(t, json.Unmarshal(n.call("GET", path, "").want(t, 200).body, &page))
		for _, item := range page.Items {
			got = append(got, item.Topic)
		}
		if path = ""; page.Next != "" {
			path = "/v1/topics?prefix=b&limit=3&page_token=" + page.Next
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("pages hold %v, want %v", got, want)
	}
	for _, token := range []string{"x", "dA", "dC4u", "cWE", "dGE=", "%00"} {
		if a := n.call("GET", "/v1/topics?page_token="+token, ""); a.status != 400 || a.problem(t).Code != "invalid_parameter" {
			t.Errorf("token %q: got %d %s", token, a.status, a.body)
		}
	}
}

func TestSettingsLeftOutOfPatchStay(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"type":"fifo","queues":3,"retention_ms":5000,"attributes":{"a":"1"}}`).want(t, 201)
	n.call("PATCH", orders, `{"queues":5}`).want(t, 200)
	type topic struct {
		Type        string
		Queues      int
		RetentionMS int64 `json:"retention_ms"`
		Attributes  map[string]string
	}
	var got topic
	must(t, json.Unmarshal(n.call("GET", orders, "").body, &got))
	if got.Type != "fifo" || got.Queues != 5 || got.RetentionMS != 5000 || got.Attributes["a"] != "1" {
		t.Errorf("after PATCH: %+v", got)
	}
	n.call("PUT", orders, `{}`).want(t, 200)
	got = topic{}
	must(t, json.Unmarshal(n.call("GET", orders, "").body, &got))
	if got.Type != "fifo" || got.Queues != 5 || got.RetentionMS != 72*3600*1000 || len(got.Attributes) != 0 {
		t.Errorf("after PUT: %+v, want defaults, but the type and queues that it has", got)
	}
}

func TestOneOfManyCreatorsWins(t *testing.T) {
	n := start(t, nodeOptions{})
	status := make(chan int, 16)
	for range cap(status) {
		go func() {
			a, err := n.try("PUT", orders, `{}`, "If-None-Match", "*")
			if err != nil {
				t.Error(err)
			}
			status <- a.status
		}()
	}
	count := map[int]int{}
	for range cap(status) {
		count[<-status]++
	}
	if count[http.StatusCreated] != 1 || count[http.StatusPreconditionFailed] != cap(status)-1 {
		t.Errorf("statuses %v, want one 201 and the rest 412", count)
	}
}

func TestCallerThatHasGoneIsNoFaultOfTheServer(t *testing.T) {
	n, waiting := counted(t)
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := n.request("GET", orders+"/queues/0/messages?wait_ms=30000", "")
	must(t, err)
	gone := make(chan error, 1)
	go func() {
		_, err := n.client.Do(req.WithContext(ctx)) //nolint:bodyclose // there is no answer
		gone <- err
	}()
	eventually(t, "the poll waits", func() bool { return waiting() == 1 })
	cancel()
	<-gone
	eventually(t, "the request has ended", func() bool { return strings.Contains(n.logs.String(), `"status":499`) })
	if strings.Contains(n.logs.String(), `"level":"ERROR"`) {
		t.Errorf("the log calls it a fault:\n%s", n.logs)
	}
}
