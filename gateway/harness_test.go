package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

// node is one gateway of a test, over a real Redis and a store with faults.
type node struct {
	t       testing.TB
	redis   *redistest.Server
	store   *faulty.Store
	meta    *meta.DB
	journal *journal.Journal
	server  *gateway.Server
	url     string
	client  *http.Client
	logs    *logBuffer
	stop    func()
}

// nodeOptions change what start makes.
type nodeOptions struct {
	journal func(*journal.Options)
	gateway func(*gateway.Options)
	beside  *node // share its Redis and store
}

// start runs a gateway until the test ends.
func start(t testing.TB, o nodeOptions) *node {
	t.Helper()
	n := &node{t: t, logs: new(logBuffer)}
	if o.beside != nil {
		n.redis, n.store = o.beside.redis, o.beside.store
	} else {
		n.redis, n.store = redistest.New(t), faulty.Wrap(objstore.NewMemory())
	}
	log := slog.New(slog.NewJSONHandler(n.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(t.Context())
	db, err := meta.Open(ctx, n.redis.Options())
	must(t, err)
	n.meta = db
	jo := journal.Options{Store: n.store, Meta: db, Linger: time.Millisecond, AppendTimeout: 10 * time.Second, Log: log}
	if o.journal != nil {
		o.journal(&jo)
	}
	n.journal, err = journal.Open(ctx, jo)
	must(t, err)
	gopts := gateway.Options{Journal: n.journal, Meta: db, Listen: "127.0.0.1:0", Log: log, Version: "1.0.0-test", Grace: 5 * time.Second}
	if o.gateway != nil {
		o.gateway(&gopts)
	}
	n.server, err = gateway.New(gopts)
	must(t, err)
	addr, err := n.server.Listen(ctx)
	must(t, err)
	n.url = "http://" + addr.String()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	n.client = &http.Client{Transport: transport, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	var running sync.WaitGroup
	journalCtx, journalCancel := context.WithCancel(context.WithoutCancel(ctx))
	running.Go(func() {
		if err := n.journal.Run(journalCtx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("journal: %v", err)
		}
	})
	running.Go(func() {
		if err := n.server.Run(ctx); err != nil {
			t.Errorf("gateway: %v", err)
		}
	})
	var once sync.Once
	n.stop = func() {
		once.Do(func() {
			transport.CloseIdleConnections()
			cancel()
			closing, done := context.WithTimeout(context.Background(), 3*time.Second)
			defer done()
			_ = n.journal.Close(closing) // a test may have taken Redis away
			journalCancel()
			running.Wait()
			_ = db.Close()
		})
	}
	t.Cleanup(n.stop)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// problem is what tests look at in an error.
type problem struct {
	Type         string           `json:"type"`
	Title        string           `json:"title"`
	Status       int              `json:"status"`
	Code         string           `json:"code"`
	Detail       string           `json:"detail"`
	Instance     string           `json:"instance"`
	RequestID    string           `json:"request_id"`
	Retryable    bool             `json:"retryable"`
	Definite     bool             `json:"definite"`
	RetryAfterMS int64            `json:"retry_after_ms"`
	Errors       []map[string]any `json:"errors"`
}

func (a answer) problem(t testing.TB) problem {
	t.Helper()
	var p problem
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("status %d has Content-Type %q, want a problem; body %.200s", a.status, got, a.body)
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("problem %.200s: %v", a.body, err)
	}
	return p
}

// call sends one request; headers are pairs of name and value.
func (n *node) call(method, path, body string, headers ...string) answer {
	n.t.Helper()
	a, err := n.try(method, path, body, headers...)
	must(n.t, err)
	return a
}

func (n *node) try(method, path, body string, headers ...string) (answer, error) {
	req, err := n.request(method, path, body, headers...)
	if err != nil {
		return answer{}, err
	}
	res, err := n.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, text}, err
}

func (n *node) request(method, path, body string, headers ...string) (*http.Request, error) {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(n.t.Context(), method, n.url+path, in)
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	return req, nil
}

// want fails the test unless the answer has this status.
func (a answer) want(t testing.TB, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d; body %.300s", a.status, status, a.body)
	}
	return a
}

// eventually waits until done, which is how a test waits for what happens on
// its own; it fails after ten seconds.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline.C:
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

// logBuffer collects log records.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// half sends a request with half of its body and waits for the answer.
func (n *node) half(req *http.Request) answer {
	n.t.Helper()
	conn, err := net.Dial("tcp", req.URL.Host)
	must(n.t, err)
	defer conn.Close()
	must(n.t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n", req.Method, req.URL.RequestURI(), req.URL.Host)
	must(n.t, req.Header.Write(&text))
	text.WriteString("\r\n{")
	_, err = conn.Write(text.Bytes())
	must(n.t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), req)
	must(n.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(n.t, err)
	return answer{res.StatusCode, res.Header, body}
}

// zipped compresses a text.
func zipped(t testing.TB, text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	must(t, err)
	must(t, w.Close())
	return out.String()
}
