package s3test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"

	"github.com/bucketmq/bucketmq/objstore"
)

// Proxy stands between a client and a server and spoils what its rules match.
type Proxy struct {
	server  *http.Server
	address string
	backend string // host:port
	client  *http.Transport
	options objstore.S3Options

	ctx    context.Context // ends with the proxy, and with it what faults hold
	cancel context.CancelFunc
	later  sync.WaitGroup // duplicates on their way

	mu    sync.Mutex
	rules []*Rule        // guarded by mu
	calls map[string]int // by method; guarded by mu
}

// NewProxy starts a proxy in front of the server that the options name. It
// lives as long as the test.
func NewProxy(t testing.TB, server objstore.S3Options) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("s3test: %v", err)
	}
	p := &Proxy{
		address: listener.Addr().String(),
		backend: strings.TrimPrefix(server.Endpoint, "http://"),
		client:  &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		options: server,
		calls:   make(map[string]int),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() {
		_ = p.server.Serve(listener) // ends with Close
		close(served)
	}()
	t.Cleanup(func() {
		p.cancel()
		_ = p.server.Close()
		<-served
		p.later.Wait()
		p.client.CloseIdleConnections()
	})
	return p
}

// Options returns the server's options, by way of the proxy.
func (p *Proxy) Options() objstore.S3Options {
	o := p.options
	o.Endpoint = "http://" + p.address
	return o
}

// Add makes the rule effective. The first matching rule wins.
func (p *Proxy) Add(r *Rule) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
	return r
}

// Clear removes every rule.
func (p *Proxy) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

// Calls returns how many requests of each HTTP method arrived.
func (p *Proxy) Calls() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.calls)
}

// ServeHTTP forwards the request, or lets the matching rule's fault deal with it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	fault := p.fault(r)
	if fault == nil {
		fault = passOn
	}
	fault(&exchange{proxy: p, w: w, r: r, body: body})
}

func (p *Proxy) fault(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[r.Method]++
	for _, rule := range p.rules {
		if rule.take(r) {
			return rule.Fault
		}
	}
	return nil
}

// Rule says which requests a Fault is applied to.
type Rule struct {
	Method string // empty: every method
	Path   string // part of the path and query; empty: every path
	Header string // a header that the request has; empty: any request
	Skip   int    // matching requests let through first
	Times  int    // requests hit after that; 0: all
	Fault  Fault

	mu   sync.Mutex
	seen int // guarded by mu
	hits int // guarded by mu
}

// Hits returns how many requests the rule was applied to.
func (r *Rule) Hits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hits
}

func (r *Rule) take(req *http.Request) bool {
	if (r.Method != "" && r.Method != req.Method) || !strings.Contains(req.URL.RequestURI(), r.Path) {
		return false
	}
	if r.Header != "" && req.Header.Get(r.Header) == "" {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen++
	if r.seen <= r.Skip || (r.Times > 0 && r.hits >= r.Times) {
		return false
	}
	r.hits++
	return true
}

// exchange is one request at the proxy.
type exchange struct {
	proxy *Proxy
	w     http.ResponseWriter
	r     *http.Request
	body  []byte
	sign  bool // the fault changed signed headers
}

// answer is a server's complete answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// forward sends the request to the server and reads its whole answer.
func (e *exchange) forward(ctx context.Context) (*answer, error) {
	req := e.r.Clone(ctx)
	req.URL.Scheme, req.URL.Host, req.RequestURI = "http", e.proxy.backend, ""
	req.Body, req.ContentLength = http.NoBody, int64(len(e.body))
	if len(e.body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(e.body))
	}
	if e.sign {
		o := e.proxy.options
		req.Header.Del("Authorization")
		req = signer.SignV4(*req, o.AccessKey, o.SecretKey, "", o.Region)
	}
	res, err := e.proxy.client.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("s3test: forward: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("s3test: forward: %w", err)
	}
	return &answer{res.StatusCode, res.Header, body}, nil
}

// reply sends an answer to the client; change may spoil it first.
func (e *exchange) reply(a *answer, err error) {
	if err != nil {
		e.w.WriteHeader(http.StatusBadGateway)
		return
	}
	maps.Copy(e.w.Header(), a.header)
	if a.header.Get("Content-Length") == "" {
		e.w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	e.w.WriteHeader(a.status)
	_, _ = e.w.Write(a.body) // fails when the client has gone
}

// drop ends the connection without a word.
func (e *exchange) drop() {
	conn, _, err := http.NewResponseController(e.w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// wait returns when the client or the proxy has gone, or after d.
func (e *exchange) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.r.Context().Done():
	case <-e.proxy.ctx.Done():
	}
}
