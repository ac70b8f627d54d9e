package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/gateway"
)

// masked makes a frame as a client sends it, with a mask of zeros.
func masked(first byte, payload string) []byte {
	size := []byte{0x80 | byte(len(payload))}
	if len(payload) > 125 {
		size = []byte{0x80 | 126, byte(len(payload) >> 8), byte(len(payload))}
	}
	return append(append(append([]byte{first}, size...), 0, 0, 0, 0), payload...)
}

// closeCode reads frames of the server until a close frame and returns its code;
// 0 when the connection ends without one.
func closeCode(t *testing.T, conn net.Conn) int {
	t.Helper()
	must(t, conn.SetReadDeadline(time.Now().Add(15*time.Second)))
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(conn, head); err != nil {
			return 0
		}
		size := int(head[1])
		if size == 126 {
			more := make([]byte, 2)
			if _, err := io.ReadFull(conn, more); err != nil {
				return 0
			}
			size = int(more[0])<<8 | int(more[1])
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(conn, payload); err != nil {
			return 0
		}
		if head[0] == 0x88 {
			return int(payload[0])<<8 | int(payload[1])
		}
	}
}

func TestSocketRefusesBadFrames(t *testing.T) {
	n := alone(t)
	hello := masked(0x81, `{"op":"hello"}`)
	for name, c := range map[string]struct {
		frames []byte
		code   int
	}{
		"unmasked":                  {[]byte{0x81, 2, '{', '}'}, 1002},
		"reserved bit 1":            {masked(0xC1, "{}"), 1002},
		"reserved bit 2":            {masked(0xA1, "{}"), 1002},
		"reserved bit 3":            {masked(0x91, "{}"), 1002},
		"unknown opcode":            {masked(0x83, "{}"), 1002},
		"fragmented ping":           {masked(0x09, "x"), 1002},
		"ping of 126 bytes":         {masked(0x89, strings.Repeat("x", 126)), 1002},
		"continuation of nothing":   {masked(0x80, "{}"), 1002},
		"text within text":          {append(masked(0x01, "{"), masked(0x81, "}")...), 1002},
		"most significant bit":      {[]byte{0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0}, 1009},
		"a length of 2^62":          {[]byte{0x81, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0}, 1009},
		"just over the limit":       {[]byte{0x81, 0xFF, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0}, 1009},
		"bad UTF-8":                 {masked(0x81, "{\"op\":\"\xff\"}"), 1007},
		"bad UTF-8 in a close":      {masked(0x88, "\x03\xe8\xff"), 1002},
		"a close code of one byte":  {masked(0x88, "\x03"), 1000},
		"a close code nobody sends": {masked(0x88, "\x03\xed"), 1002},
		"a close code of the app":   {masked(0x88, "\x0f\xa0x"), 4000},
		"a close without a code":    {masked(0x88, ""), 1000},
		"binary for text":           {masked(0x82, "{}"), 1003},
	} {
		for _, before := range [][]byte{nil, hello} {
			conn := n.rawSocket()
			_, err := conn.Write(append(bytes.Clone(before), c.frames...))
			must(t, err)
			code := c.code
			if got := closeCode(t, conn); got != code {
				t.Errorf("%s (hello: %t): closed with %d, want %d", name, before != nil, got, code)
			}
			conn.Close()
		}
	}
}

// Frames that come in pieces, with pings between, are one operation.
func TestSocketReadsFragmentsAndAnswersPings(t *testing.T) {
	n := alone(t)
	conn := n.rawSocket()
	var in []byte
	in = append(in, masked(0x01, `{"op":`)...)
	in = append(in, masked(0x89, "now")...)
	in = append(in, masked(0x00, `"hel`)...)
	in = append(in, masked(0x80, `lo"}`)...)
	for i := range in { // byte by byte
		_, err := conn.Write(in[i : i+1])
		must(t, err)
	}
	must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	head := make([]byte, 5)
	_, err := io.ReadFull(conn, head)
	must(t, err)
	if string(head) != "\x8a\x03now" {
		t.Errorf("the ping is answered %q", head)
	}
	_, err = io.ReadFull(conn, head[:4])
	must(t, err)
	if head[0] != 0x81 || head[1] != 126 {
		t.Errorf("hello is answered %q", head)
	}
}

func TestSocketCutsAFloodOfPings(t *testing.T) {
	n := alone(t)
	conn := n.rawSocket()
	ping := bytes.Repeat(masked(0x89, "x"), 10_000)
	_, _ = conn.Write(ping) // may be cut on the way
	if code := closeCode(t, conn); code != 1008 && code != 0 {
		t.Errorf("closed with %d", code)
	}
	s := n.socket("bmq.v1.json") // pings in moderation are fine
	for range 20 {
		must(t, s.conn.WriteControl(websocket.PingMessage, []byte("x"), time.Now().Add(time.Second)))
	}
	s.call(`{"op":"auth","id":"1","token":"x"}`, "ok")
}

// Nothing is decompressed, so a bomb is only as large as it is.
func TestSocketOffersNoCompression(t *testing.T) {
	n := alone(t)
	dialer := websocket.Dialer{EnableCompression: true}
	conn, resp, err := dialer.Dial("ws"+strings.TrimPrefix(n.url, "http")+"/v1/ws", nil)
	must(t, err)
	defer conn.Close()
	if got := resp.Header.Get("Sec-Websocket-Extensions"); got != "" {
		t.Errorf("extensions %q", got)
	}
}

func TestSocketEndsWhenTheClientIsSilent(t *testing.T) {
	t.Parallel()
	n := alone(t)
	mute, _, err := n.upgrade("", nil)
	must(t, err)
	quiet, pinging, never := n.socket("bmq.v1.json"), n.socket("bmq.v1.bin"), n.socket("bmq.v1.json")
	start := time.Now()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		mute.closedWith(4501) // no hello
		if took := time.Since(start); took < 9*time.Second || took > 14*time.Second {
			t.Errorf("no hello: closed after %v", took)
		}
	}()
	answered := make(chan struct{})
	go func() { // answers with anything, and is left alone
		defer close(answered)
		for range 2 {
			o, err := pinging.read()
			if err != nil || o.Op != "ping" || o.N == 0 {
				t.Errorf("got %+v, %v", o, err)
				return
			}
			pinging.do(`{"op":"pong","n":1}`)
		}
	}()
	if o := quiet.want("ping"); o.N != 1 || time.Since(start) < 19*time.Second || time.Since(start) > 24*time.Second {
		t.Errorf("ping %+v after %v", o, time.Since(start))
	}
	never.closedWith(4008)
	if took := time.Since(start); took < 29*time.Second || took > 36*time.Second {
		t.Errorf("no pong: closed after %v", took)
	}
	<-ended
	<-answered
}

// A client that never reads its answers is not listened to any more, and then
// cut; what the server holds for it stays small.
func TestSocketCutsAClientThatNeverReads(t *testing.T) {
	t.Parallel()
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.BodyBytes = 64 << 20 }})
	n.topic("orders", `{"queues":1}`)
	conn := n.rawSocket()
	must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	_, err := conn.Write(masked(0x81, `{"op":"hello"}`))
	must(t, err)
	_, err = conn.Write(masked(0x81, `{"op":"subscribe","sub":"s","mode":"tail","topics":[{"topic":"orders"}],"credit":{"messages":1000000,"bytes":1000000000}}`))
	must(t, err)
	flooded := make(chan int)
	go func() { // refused operations, each answered with a problem
		sent := 0
		bad := bytes.Repeat(masked(0x81, `{"op":"nothing","id":"x"}`), 100)
		must(t, conn.SetWriteDeadline(time.Now().Add(25*time.Second)))
		for {
			k, err := conn.Write(bad)
			if sent += k; err != nil {
				flooded <- sent
				return
			}
		}
	}()
	message := `{"body":"` + strings.Repeat("x", 100_000) + `"}`
	batch := "[" + strings.Repeat(message+",", 19) + message + "]"
	for range 10 {
		n.send("orders", batch)
	}
	start := time.Now()
	sent := <-flooded
	if took := time.Since(start); took > 24*time.Second {
		t.Errorf("cut after %v", took)
	}
	if sent > 32<<20 {
		t.Errorf("%d bytes of operations were taken from a client that does not read", sent)
	}
}

// One that reads again soon after it was given up finds whole frames, and why
// there are no more.
func TestSocketTellsASlowClient(t *testing.T) {
	t.Parallel()
	n, slow := closedSlow(t)
	n.topic("orders", `{"queues":1}`)
	s := n.socket("bmq.v1.json")
	// The system must not hold all of it for the client.
	must(t, s.conn.NetConn().(*net.TCPConn).SetReadBuffer(64<<10))
	s.tail("s1", "orders", `{"position":"latest"}`, 1000, 1<<30)
	message := `{"body":"` + strings.Repeat("x", 1_000_000) + `"}`
	for range 4 { // in few requests: it is full well before the last, but not long before
		n.send("orders", "["+strings.Repeat(message+",", 5)+message+"]")
	}
	// Nothing is read until the server has given the client up; it then has 3 s.
	for end := time.Now().Add(25 * time.Second); slow() == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a client that reads nothing is not given up")
		}
	}
	must(t, s.conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	for {
		_, frame, err := s.conn.ReadMessage()
		if err != nil {
			if e, ok := errors.AsType[*websocket.CloseError](err); !ok || e.Code != 4408 {
				t.Errorf("ended with %v", err)
			}
			return
		}
		if !json.Valid(frame) {
			t.Fatal("a frame is not whole")
		}
	}
}

// closedSlow starts a gateway and counts the sockets that it gave up as slow.
func closedSlow(t *testing.T) (n *node, slow func() float64) {
	registry := prometheus.NewRegistry()
	n = start(t, nodeOptions{gateway: func(o *gateway.Options) { o.Registry = registry }})
	return n, func() float64 {
		families, err := registry.Gather()
		must(t, err)
		for _, f := range families {
			if f.GetName() != "bucketmq_ws_closed_total" {
				continue
			}
			for _, m := range f.GetMetric() {
				if m.GetLabel()[0].GetValue() == "4408" {
					return m.GetCounter().GetValue()
				}
			}
		}
		return 0
	}
}
