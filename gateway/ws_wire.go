package gateway

import (
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// idleReadBytes is what a socket that receives nothing keeps to read into.
	idleReadBytes = 256
	// busyReadBytes is what one that receives much reads at a time.
	busyReadBytes = 16 << 10
)

// wire is a socket's connection as the WebSocket library sees it. The library
// reads from it; what it writes by itself, a close frame after a broken rule,
// joins the queue of the socket's one writer.
type wire struct {
	net.Conn
	raw    syscall.RawConn // of Conn; nil when it has none
	socket *socket         // nil during the handshake, whose answer is written at once

	ahead *[busyReadBytes]byte // read ahead; owned by the reader
	data  []byte               // the part of ahead that is still to be delivered
	busy  bool                 // the last read had more than it was asked for
}

var readAhead = sync.Pool{New: func() any { return new([busyReadBytes]byte) }}

// Read reads a little while little comes, and into a larger buffer that is not
// the connection's own while there is much.
func (w *wire) Read(p []byte) (int, error) {
	if len(w.data) == 0 && w.busy && len(p) < busyReadBytes {
		if w.ahead == nil {
			w.ahead = readAhead.Get().(*[busyReadBytes]byte)
		}
		n, err := w.Conn.Read(w.ahead[:])
		w.data, w.busy = w.ahead[:n], n == busyReadBytes
		if err != nil && n == 0 {
			w.giveBack()
			return 0, err
		}
		w.socket.heard()
	}
	if len(w.data) > 0 {
		n := copy(p, w.data)
		w.data = w.data[n:]
		w.giveBack()
		return n, nil
	}
	n, err := w.Conn.Read(p)
	w.busy = n == len(p)
	if n > 0 && w.socket != nil {
		w.socket.heard()
	}
	return n, err
}

// giveBack returns the large buffer once all of it is delivered.
func (w *wire) giveBack() {
	if len(w.data) == 0 && w.ahead != nil {
		readAhead.Put(w.ahead)
		w.ahead, w.data = nil, nil
	}
}

// Write passes on the answer to the handshake and queues everything later.
func (w *wire) Write(p []byte) (int, error) {
	if w.socket == nil {
		return w.Conn.Write(p)
	}
	w.socket.libraryWrote(p)
	return len(p), nil
}

// SetWriteDeadline is for the socket's writer alone.
func (w *wire) SetWriteDeadline(at time.Time) error {
	if w.socket == nil {
		return w.Conn.SetWriteDeadline(at)
	}
	return nil
}

// The opcodes of RFC 6455 that a server sends.
const (
	opText   = 1
	opBinary = 2
	opClose  = 8
	opPong   = 10
)

// appendFrameHeader appends the header of a frame as a server sends it: final
// and without a mask.
func appendFrameHeader(dst []byte, opcode byte, size int) []byte {
	dst = append(dst, 0x80|opcode)
	switch {
	case size < 126:
		return append(dst, byte(size))
	case size < 1<<16:
		return append(dst, 126, byte(size>>8), byte(size))
	}
	return append(dst, 127, 0, 0, 0, 0, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
}

// frameEnd returns where the frame ends that covers byte at of frames as
// appendFrameHeader begins them; at itself if one begins there.
func frameEnd(frames []byte, at int) int {
	end := 0
	for end < at {
		header, size := 2, int(frames[end+1])
		switch size {
		case 126:
			header, size = 4, int(frames[end+2])<<8|int(frames[end+3])
		case 127:
			header, size = 10, 0
			for _, b := range frames[end+2 : end+10] {
				size = size<<8 | int(b)
			}
		}
		end += header + size
	}
	return end
}
