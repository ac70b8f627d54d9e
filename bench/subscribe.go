package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// subscriber waits for messages of a topic from now on, in one of three ways.
type subscriber interface {
	// next blocks until messages arrive and returns them as JSON text, valid
	// until the next call.
	next() ([]byte, error)
	// close ends a next that waits.
	close()
}

// subscribe opens a subscriber that sees every message sent after it returns.
func subscribe(ctx context.Context, s Server, via, topic string, queue int) (subscriber, error) {
	switch via {
	case ViaWebSocket:
		return openSocket(ctx, s, topic)
	case ViaSSE:
		return openEvents(ctx, s, topic)
	case ViaPoll:
		return openPoll(ctx, s, topic, queue)
	default:
		return nil, fmt.Errorf("via %s: want %s, %s or %s", via, ViaWebSocket, ViaSSE, ViaPoll)
	}
}

// socket is a WebSocket in tail mode.
type socket struct{ conn *websocket.Conn }

func openSocket(ctx context.Context, s Server, topic string) (subscriber, error) {
	conn, _, err := socketDialer.DialContext(ctx, socketAddress(s), nil)
	if err != nil {
		return nil, fmt.Errorf("open websocket: %w", err)
	}
	w := &socket{conn: conn}
	if err := w.subscribe(10_000, topic); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return w, nil
}

// socketDialer opens sockets with small buffers: there may be thousands.
var socketDialer = websocket.Dialer{
	Subprotocols: []string{"bmq.v1.json"}, HandshakeTimeout: 10 * time.Second,
	ReadBufferSize: 1024, WriteBufferSize: 1024,
}

func socketAddress(s Server) string { return "ws" + strings.TrimPrefix(s.URL, "http") + "/v1/ws" }

// hello begins a session.
func hello(conn *websocket.Conn) error {
	return (&socket{conn: conn}).exchange(`{"op":"hello","id":"1","client":"bucketmq-bench"}`, `"welcome"`)
}

// subscribe begins a session that follows a topic, with credit for so many
// messages.
func (w *socket) subscribe(messages int, topic string) error {
	if err := hello(w.conn); err != nil {
		return err
	}
	return w.exchange(fmt.Sprintf(`{"op":"subscribe","id":"2","sub":"s","mode":"tail","topics":[{"topic":%q}],`+
		`"from":{"position":"latest"},"credit":{"messages":%d,"bytes":%d}}`, topic, messages, 1<<30), `"subscribed"`)
}

func (w *socket) exchange(send, want string) error {
	if err := w.conn.WriteMessage(websocket.TextMessage, []byte(send)); err != nil {
		return fmt.Errorf("websocket: %w", err)
	}
	if err := w.conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	_, text, err := w.conn.ReadMessage()
	if err != nil {
		return fmt.Errorf("websocket: %w", err)
	}
	if !bytes.Contains(text, []byte(want)) {
		return fmt.Errorf("websocket: want %s, got %.300s", want, text)
	}
	return w.conn.SetReadDeadline(time.Time{})
}

func (w *socket) next() ([]byte, error) {
	for {
		_, text, err := w.conn.ReadMessage()
		if err != nil {
			return nil, err
		}
		switch {
		case bytes.Contains(text[:min(len(text), 64)], []byte(`"op":"ping"`)):
			n, err := lastNumber(text, `"n":`)
			if err != nil {
				return nil, err
			}
			if err := w.conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"op":"pong","n":%d}`, n)); err != nil {
				return nil, err
			}
		case bytes.Contains(text, []byte(`"items":[{`)):
			count := bytes.Count(text, []byte(`"body":`))
			credit := fmt.Appendf(nil, `{"op":"credit","sub":"s","messages":%d,"bytes":%d}`, count, len(text))
			if err := w.conn.WriteMessage(websocket.TextMessage, credit); err != nil {
				return nil, err
			}
			return text, nil
		}
	}
}

func (w *socket) close() { _ = w.conn.Close() }

// events is a stream of server-sent events.
type events struct {
	body io.ReadCloser
	in   *bufio.Reader
}

func openEvents(ctx context.Context, s Server, topic string) (subscriber, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/topics/"+topic+"/stream?position=latest", nil)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return nil, &errStatus{resp.StatusCode, string(text)}
	}
	return &events{body: resp.Body, in: bufio.NewReaderSize(resp.Body, 64<<10)}, nil
}

func (e *events) next() ([]byte, error) {
	for {
		line, err := e.in.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			return data, nil
		}
	}
}

func (e *events) close() { _ = e.body.Close() }

// poll is a long poll of one queue.
type poll struct {
	*reader
}

func openPoll(ctx context.Context, s Server, topic string, queue int) (subscriber, error) {
	host, err := hostOf(s.URL)
	if err != nil {
		return nil, err
	}
	w, err := dialWire(ctx, host)
	if err != nil {
		return nil, err
	}
	p := &poll{&reader{wire: w, host: host, topic: topic, queue: queue}}
	if err := p.ask("position=latest&limit=1"); err != nil {
		w.close()
		return nil, err
	}
	return p, nil
}

func (p *poll) ask(query string) error {
	p.request = fmt.Appendf(p.request[:0], "GET /v1/topics/%s/queues/%d/messages?%s HTTP/1.1\r\nHost: %s\r\n\r\n",
		p.topic, p.queue, query, p.host)
	status, err := p.wire.do(p.request)
	if err != nil {
		return err
	}
	if status != 200 {
		return &errStatus{status, string(p.wire.body)}
	}
	p.offset, err = lastNumber(p.wire.body, `"next_offset":`)
	return err
}

func (p *poll) next() ([]byte, error) {
	for {
		before := p.offset
		if err := p.ask(fmt.Sprintf("offset=%d&limit=1000&max_bytes=4194304&wait_ms=30000", p.offset)); err != nil {
			return nil, err
		}
		if p.offset > before {
			return p.wire.body, nil
		}
	}
}

func (p *poll) close() { p.wire.close() }
