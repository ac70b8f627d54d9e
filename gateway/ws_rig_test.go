package gateway_test

import (
	bigendian "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/bucketmq/bucketmq/segment"
)

// sock is a client's socket. Whatever the server sends is checked against
// asyncapi.yaml.
type sock struct {
	t    testing.TB
	conn *websocket.Conn
	bin  bool
}

// op is an operation of the server.
type op struct {
	Op      string  `json:"op"`
	ID      string  `json:"id"`
	Sub     string  `json:"sub"`
	Problem problem `json:"problem"`
	Request struct {
		Offset int64
		Reply  struct{ Body string }
	}
	Result   sent `json:"result"`
	Replayed bool `json:"replayed"`

	Session    string           `json:"session"`
	Key        string           `json:"key"`
	Resumed    bool             `json:"resumed"`
	Heartbeat  int64            `json:"heartbeat_ms"`
	SessionTTL int64            `json:"session_ttl_ms"`
	Limits     map[string]int64 `json:"limits"`

	Recovered bool      `json:"recovered"`
	Cursor    string    `json:"cursor"`
	Gap       []gap     `json:"gap"`
	Seq       int64     `json:"seq"`
	Items     []message `json:"items"`
	Runs      []struct {
		Topic    string `json:"topic"`
		Queue    int64  `json:"queue"`
		First    int64  `json:"first"`
		Count    int    `json:"count"`
		StoredAt string `json:"stored_at"`

		Receipts []string `json:"receipts"`
		Attempts []int64  `json:"attempts"`
	} `json:"runs"`
	CaughtUp bool `json:"caught_up"`

	MemberID   string       `json:"member_id"`
	ClientID   string       `json:"client_id"`
	SessionKey string       `json:"session_key"`
	Generation int64        `json:"generation"`
	Queues     []ownedQueue `json:"queues"`
	Settled    struct {
		Done, Failed int64
	} `json:"receipts"`
	Transaction deal `json:"transaction"`
	Settings    []struct {
		Topic       string `json:"topic"`
		Concurrency int64  `json:"concurrency"`
	} `json:"settings"`

	gap
	N              int64 `json:"n"`
	GraceMS        int64 `json:"grace_ms"`
	ReconnectAfter int64 `json:"reconnect_after_ms"`

	bodies []byte
}

type ownedQueue struct {
	Topic   string `json:"topic"`
	Queue   int64  `json:"queue"`
	Offset  int64  `json:"offset"`
	Version int64  `json:"version"`
	Stopped bool   `json:"stopped"`
}

type gap struct {
	Topic  string `json:"topic"`
	Queue  int64  `json:"queue"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Reason string `json:"reason"`
}

// upgrade opens a socket without a hello; headers are pairs.
func (n *node) upgrade(query string, protocols []string, headers ...string) (*sock, *http.Response, error) {
	header := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Add(headers[i], headers[i+1])
	}
	dialer := websocket.Dialer{Subprotocols: protocols, HandshakeTimeout: 20 * time.Second}
	conn, resp, err := dialer.Dial("ws"+strings.TrimPrefix(n.url, "http")+"/v1/ws"+query, header)
	if err != nil {
		return nil, resp, err
	}
	s := &sock{t: n.t, conn: conn, bin: conn.Subprotocol() == "bmq.v1.bin"}
	n.t.Cleanup(func() { conn.Close() })
	return s, resp, nil
}

func (n *node) socket(protocol string) *sock {
	n.t.Helper()
	s, _, err := n.upgrade("", []string{protocol})
	must(n.t, err)
	s.do(`{"op":"hello","id":"h"}`)
	if w := s.next(); w.Op != "welcome" || w.ID != "h" {
		n.t.Fatalf("hello is answered by %+v", w)
	}
	return s
}

// do sends an operation, as the subprotocol wants it.
func (s *sock) do(text string, bodies ...byte) {
	s.t.Helper()
	kind, frame := websocket.TextMessage, []byte(text)
	if s.bin {
		kind = websocket.BinaryMessage
		frame = append(bigendian.BigEndian.AppendUint32([]byte{1}, uint32(len(text))), text...)
		frame = append(frame, bodies...)
	}
	must(s.t, s.conn.WriteMessage(kind, frame))
}

// read returns the next operation, pings aside.
func (s *sock) read() (o op, err error) {
	s.t.Helper()
	_ = s.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	kind, frame, err := s.conn.ReadMessage()
	if err != nil {
		return o, err
	}
	text := frame
	if s.bin {
		if kind != websocket.BinaryMessage || len(frame) < 5 || frame[0] != 1 {
			s.t.Fatalf("binary frame of kind %d: %.100q", kind, frame)
		}
		end := 5 + int(bigendian.BigEndian.Uint32(frame[1:]))
		text, o.bodies = frame[5:end], frame[end:]
	}
	k, err := theWSContract()
	must(s.t, err)
	k.check(s.t, text, s.bin)
	must(s.t, json.Unmarshal(text, &o))
	return o, nil
}

func (s *sock) next() op {
	s.t.Helper()
	o, err := s.read()
	if err != nil {
		s.t.Fatalf("the socket ended: %v", err)
	}
	return o
}

// want returns the next operation and fails unless it is of this kind.
func (s *sock) want(kind string) op {
	s.t.Helper()
	o := s.next()
	if o.Op != kind {
		s.t.Fatalf("got %s %+v, want %s", o.Op, o, kind)
	}
	return o
}

// call sends an operation and returns its answer.
func (s *sock) call(text, kind string) op {
	s.t.Helper()
	s.do(text)
	return s.want(kind)
}

// refused sends an operation that must be refused as this.
func (s *sock) refused(text, code, pointer string) problem {
	s.t.Helper()
	p := s.call(text, "error").Problem
	if p.Code != code || pointer != "" && (len(p.Errors) == 0 || p.Errors[0]["pointer"] != pointer) {
		s.t.Errorf("%.200s\n is refused as %s %v, want %s at %s", text, p.Code, p.Errors, code, pointer)
	}
	return p
}

// closedWith reads on to the end and fails unless it has this code.
func (s *sock) closedWith(code int) {
	s.t.Helper()
	for {
		if _, err := s.read(); err != nil {
			if e, ok := errors.AsType[*websocket.CloseError](err); !ok || e.Code != code {
				s.t.Errorf("closed with %v, want %d", err, code)
			}
			s.conn.Close()
			return
		}
	}
}

// tail subscribes and returns the answer.
func (s *sock) tail(sub, topic, from string, messages, bytes int) op {
	s.t.Helper()
	return s.call(fmt.Sprintf(`{"op":"subscribe","id":"s","sub":%q,"mode":"tail","topics":[{"topic":%q}],"from":%s,"credit":{"messages":%d,"bytes":%d}}`,
		sub, topic, from, messages, bytes), "subscribed")
}

// collect reads until count messages have come, and gives the credit back.
func (s *sock) collect(count int) (all []message) {
	s.t.Helper()
	for len(all) < count {
		o := s.want("messages")
		all = append(all, o.Items...)
		for _, r := range o.Runs {
			all = append(all, s.records(r.Queue, r.First, r.Count, &o.bodies)...)
		}
	}
	return all
}

func (s *sock) records(queue, first int64, count int, bodies *[]byte) (all []message) {
	s.t.Helper()
	for i := range count {
		r, n, err := segment.DecodeRecord(*bodies)
		must(s.t, err)
		body := string(r.Body)
		all = append(all, message{MessageID: r.ID.String(), Queue: queue, Offset: first + int64(i), Body: &body})
		*bodies = (*bodies)[n:]
	}
	return all
}

// raw opens a socket by hand, so that frames can be wrong.
func (n *node) rawSocket() net.Conn {
	n.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	must(n.t, err)
	n.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET /v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	head := make([]byte, 0, 1024)
	for one := make([]byte, 1); !strings.HasSuffix(string(head), "\r\n\r\n"); head = append(head, one...) {
		_, err := conn.Read(one)
		must(n.t, err)
	}
	if !strings.HasPrefix(string(head), "HTTP/1.1 101 ") {
		n.t.Fatalf("upgrade: %s", head)
	}
	return conn
}
