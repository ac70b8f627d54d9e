package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/bench"
)

// startFixed runs `serve` on an address that stays the same over restarts.
func startFixed(t *testing.T, data, address string) *bench.Child {
	t.Helper()
	c, err := bench.Start(t.Context(), binary, nil, "serve", "--data", data, "--listen", address, "--management-listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// lines reads a stream line by line in the background.
type lines struct{ c chan string }

func newLines(r io.Reader) lines {
	l := lines{make(chan string, 100)}
	go func() {
		defer close(l.c)
		for s := bufio.NewScanner(r); s.Scan(); {
			l.c <- s.Text()
		}
	}()
	return l
}

func (l lines) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-l.c:
		if got != want {
			t.Fatalf("got line %q, want %q", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("no line %q in 20 s", want)
	}
}

func metrics(t *testing.T, server *bench.Child) string {
	t.Helper()
	resp, err := http.Get(server.Management + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// waitFor asks until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 20 s for %s", what)
		}
	}
}
