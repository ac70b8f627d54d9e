package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"

	"github.com/gorilla/websocket"
)

// frames is a WebSocket that costs the machine as little as it can, so that
// what is measured is the server: frames to send are built once, frames that
// come are looked at where they lie.
type frames struct {
	conn  net.Conn
	in    *bufio.Reader
	start []byte // of the last frame's payload
}

// startBytes is how much of a frame is kept, to tell what it is.
const startBytes = 48

// dialFrames opens a WebSocket with gorilla and takes over its connection;
// greet, which may be nil, talks on it before, and must leave nothing unread.
func dialFrames(ctx context.Context, dialer websocket.Dialer, address string, greet func(*websocket.Conn) error) (*frames, error) {
	conn, _, err := dialer.DialContext(ctx, address, nil)
	if err != nil {
		return nil, fmt.Errorf("open websocket: %w", err)
	}
	if greet != nil {
		if err := greet(conn); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return &frames{conn: conn.NetConn(), in: bufio.NewReaderSize(conn.NetConn(), 16<<10)}, nil
}

func (f *frames) close() { _ = f.conn.Close() }

// next reads one frame and calls part, if not nil, with its payload piece by
// piece. It returns whether the frame was one of data.
func (f *frames) next(part func([]byte)) (data bool, err error) {
	opcode, left, err := f.header()
	if err != nil {
		return false, err
	}
	f.start = f.start[:0]
	for left > 0 {
		if _, err := f.in.Peek(1); err != nil {
			return false, err
		}
		piece, err := f.in.Peek(min(left, f.in.Buffered()))
		if err != nil {
			return false, err
		}
		if room := startBytes - len(f.start); room > 0 {
			f.start = append(f.start, piece[:min(room, len(piece))]...)
		}
		if part != nil {
			part(piece)
		}
		left -= len(piece)
		if _, err := f.in.Discard(len(piece)); err != nil {
			return false, err
		}
	}
	return opcode < 8, nil
}

// header reads the header of a frame, which a server does not mask.
func (f *frames) header() (opcode byte, size int, err error) {
	head, err := f.in.Peek(2)
	if err != nil {
		return 0, 0, err
	}
	opcode, size = head[0]&0x0f, int(head[1])
	skip := 2
	switch size {
	case 126:
		skip = 4
		if head, err = f.in.Peek(skip); err == nil {
			size = int(binary.BigEndian.Uint16(head[2:]))
		}
	case 127:
		skip = 10
		if head, err = f.in.Peek(skip); err == nil {
			size = int(binary.BigEndian.Uint64(head[2:]))
		}
	}
	if err != nil {
		return 0, 0, err
	}
	_, err = f.in.Discard(skip)
	return opcode, size, err
}

// clientFrame is a text frame masked with zeros, which leave it as it is.
func clientFrame(text []byte) []byte {
	frame := []byte{0x81}
	switch n := len(text); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(n))
	}
	return append(append(frame, 0, 0, 0, 0), text...)
}

// Sends that a pipelined socket has unanswered, and how many it writes at once.
const (
	socketInFlight = 512
	socketBurst    = 64
)

// pipelined sends one message after the other over each socket, without
// waiting for the answers of the ones before.
type pipelined struct {
	*frames
	burst  []byte
	unread int
	stored int64
}

// produceSockets is produceTo over Workers WebSockets, one message a send.
func (o Options) produceSockets(ctx context.Context, topic string) (*Result, error) {
	o.Mode, o.Batch = "ws", 1
	r, m, err := o.start(ctx, "produce")
	if err != nil {
		return nil, err
	}
	defer m.close()
	send := clientFrame(fmt.Appendf(nil, `{"op":"send","id":"1","topic":%q,"messages":[{"tag":"paid","body":%q}]}`, topic, filler(o.Message)))
	sockets := make([]*pipelined, o.Workers)
	sum, err := load{workers: o.Workers, length: o.Length}.run(ctx,
		func(ctx context.Context, n int) (func() error, func(), error) {
			f, err := dialFrames(ctx, socketDialer, socketAddress(o.Server), hello)
			if err != nil {
				return nil, nil, err
			}
			p := &pipelined{frames: f, burst: bytes.Repeat(send, socketBurst)}
			sockets[n] = p
			return p.step, p.finish, nil
		})
	if err != nil {
		return nil, err
	}
	if sum.firstError != nil {
		return nil, sum.firstError
	}
	for _, p := range sockets {
		r.Messages += p.stored
	}
	r.Requests = sum.requests * socketBurst
	if r.Messages != r.Requests {
		return nil, fmt.Errorf("%d of %d sends were not answered", r.Requests-r.Messages, r.Requests)
	}
	r.finish(sum.began, &latencies{})
	return r, m.charge(ctx, r)
}

func (p *pipelined) step() error {
	for p.unread > socketInFlight-socketBurst {
		if err := p.answer(); err != nil {
			return err
		}
	}
	if _, err := p.conn.Write(p.burst); err != nil {
		return fmt.Errorf("websocket: %w", err)
	}
	p.unread += socketBurst
	return nil
}

func (p *pipelined) answer() error {
	data, err := p.next(nil)
	if err != nil {
		return fmt.Errorf("websocket: %w", err)
	}
	switch {
	case !data || bytes.HasPrefix(p.start, []byte(`{"op":"ping"`)): // what is sent tells the server enough
	case bytes.HasPrefix(p.start, []byte(`{"op":"ok"`)):
		p.stored++
		p.unread--
	default:
		return fmt.Errorf("websocket: want ok, got %s", p.start)
	}
	return nil
}

// finish reads the answers that are due; what does not come is missed in stored.
func (p *pipelined) finish() {
	defer p.close()
	for p.unread > 0 {
		if p.answer() != nil {
			return
		}
	}
}
