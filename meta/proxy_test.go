package meta_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between a client and Redis and misbehaves on demand.
type proxy struct {
	t        *testing.T
	listener net.Listener
	target   string
	dropping atomic.Int32 // replies that are still to be lost, each with its connection
	dropped  atomic.Int32
	frozen   atomic.Pointer[struct{ until int32 }]
	opened   atomic.Int32
	done     sync.WaitGroup
	mu       sync.Mutex
	conns    []net.Conn // guarded by mu
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	p := &proxy{t: t, listener: l, target: target}
	p.done.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			c.Close()
		}
		p.mu.Unlock()
		p.done.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// dropReplies loses the next n replies: the server has executed the command,
// the client sees its connection close.
func (p *proxy) dropReplies(n int32) { p.dropping.Store(n) }

// freeze swallows everything on the connections opened so far.
func (p *proxy) freeze() { p.frozen.Store(&struct{ until int32 }{p.opened.Load()}) }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		number := p.opened.Add(1)
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.done.Go(func() { p.pipe(server, client, number, false) })
		p.done.Go(func() { p.pipe(client, server, number, true) })
	}
}

func (p *proxy) pipe(to, from net.Conn, number int32, replies bool) {
	buffer := make([]byte, 64<<10)
	defer to.Close()
	defer from.Close()
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if f := p.frozen.Load(); f != nil && number <= f.until {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if replies && p.dropping.Load() > 0 {
			p.dropping.Add(-1)
			p.dropped.Add(1)
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
