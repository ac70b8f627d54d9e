package gateway

import (
	"errors"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// writeWithin is how long a client may accept nothing at all.
	writeWithin = 10 * time.Second
	// writeSlice is how often that is looked at.
	writeSlice = time.Second
	// lastWordsWithin is how long one that was given up may take to accept why.
	lastWordsWithin = 3 * time.Second
	// writePart is how much is handed to the connection at a time.
	writePart = 64 << 10
	// deliverBelow is up to how many queued bytes more messages are read for a
	// client; so what a client that does not read costs is bounded.
	deliverBelow = 64 << 10
	// repliesBelow is up to how many queued bytes operations are carried out.
	repliesBelow = 256 << 10
)

// outbox is what waits to be written: whole frames, one after another, so that
// everything that gathers while the writer writes goes out with one call.
type outbox struct {
	bytes   []byte
	pooled  *buffer // holds bytes; nil while there are none
	writing bool    // a goroutine runs write
	last    bool    // nothing may be queued any more
	sending int     // bytes that the writer is at
	written int64   // bytes that the connection has taken of what the writer is done with
	begun   int     // how many bytes at the front are the rest of a frame
}

// ready returns the bytes to append to.
func (o *outbox) ready() []byte {
	if o.pooled == nil {
		o.pooled = takeBuffer()
		o.bytes = o.pooled.b
	}
	return o.bytes
}

// push queues a frame. It is lost when the socket is closing.
func (s *socket) push(opcode byte, parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appendLocked(opcode, parts...)
}

// appendLocked queues a frame and sees to it that somebody writes it. It needs
// mu.
func (s *socket) appendLocked(opcode byte, parts ...[]byte) {
	if s.outbox.last {
		return
	}
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	s.outbox.bytes = appendFrameHeader(s.outbox.ready(), opcode, size)
	for _, part := range parts {
		s.outbox.bytes = append(s.outbox.bytes, part...)
	}
	s.startWriter()
}

// queueLocked queues a frame whose header is in head. It needs mu.
func (s *socket) queueLocked(head, rest []byte) {
	s.outbox.bytes = append(append(s.outbox.ready(), head...), rest...)
	s.startWriter()
}

// directWrite writes to one connection after another without waiting for any.
type directWrite struct {
	call  func(fd uintptr) bool // write
	frame []byte
	n     int // how much of frame was written
}

func (w *directWrite) write(fd uintptr) bool {
	w.n = writeOnce(fd, w.frame)
	return true
}

// writeNow writes a whole frame at once if nothing is before it, and queues what
// the connection does not take. It needs mu.
func (s *socket) writeNow(frame []byte, w *directWrite) {
	w.frame, w.n = frame, 0
	if s.outbox.pooled == nil && !s.outbox.writing {
		if err := s.wire.raw.Write(w.call); err != nil {
			w.n = 0 // the writer meets the same fault
		}
		if w.n == len(frame) {
			return
		}
	}
	s.queueLocked(frame[w.n:], nil)
	if w.n > 0 {
		s.outbox.begun = len(frame) - w.n
	}
}

// pushOp queues an operation without bodies, given as JSON.
func (s *socket) pushOp(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appendOpLocked(text)
}

// appendOpLocked needs mu.
func (s *socket) appendOpLocked(text []byte) {
	if !s.bin {
		s.appendLocked(opText, text)
		return
	}
	var prefix [binPrefix]byte
	s.appendLocked(opBinary, appendBinPrefix(prefix[:0], len(text)), text)
}

// startWriter needs mu.
func (s *socket) startWriter() {
	if !s.outbox.writing {
		s.outbox.writing = true
		s.hub.running.Go(s.write)
	}
}

// write writes what is queued until there is nothing more. It is the one place
// where anything is written to the connection.
func (s *socket) write() {
	for {
		s.mu.Lock()
		taken := s.outbox.pooled
		if taken == nil {
			s.outbox.writing = false
			last := s.outbox.last
			s.resumePump()
			s.changed.Broadcast()
			s.mu.Unlock()
			if last {
				_ = s.wire.Conn.SetReadDeadline(time.Now().Add(lingerFor))
			}
			return
		}
		taken.b = s.outbox.bytes
		begun := s.outbox.begun
		s.outbox.pooled, s.outbox.bytes, s.outbox.sending, s.outbox.begun = nil, nil, len(taken.b), 0
		s.mu.Unlock()
		n, err := s.writeAll(taken.b, begun)
		taken.release()
		s.mu.Lock()
		s.outbox.sending = 0
		s.outbox.written += int64(n)
		if err != nil {
			s.outbox.last, s.outbox.writing = true, false
			s.outbox.pooled, s.outbox.bytes = nil, nil
		}
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			_ = s.wire.Conn.Close()
			return
		}
	}
}

// writeAll hands frames to the connection as fast as the client takes them, and
// returns how many bytes it took. The first of them may have begun already, so many
// bytes are its rest.
func (s *socket) writeAll(frames []byte, begun int) (at int, err error) {
	taken := time.Now() // when the client last accepted anything
	for at < len(frames) {
		_ = s.wire.Conn.SetWriteDeadline(time.Now().Add(writeSlice))
		n, err := s.wire.Conn.Write(frames[at:min(at+writePart, len(frames))])
		at += n
		switch {
		case n > 0 && (err == nil || errors.Is(err, os.ErrDeadlineExceeded)):
			taken = time.Now()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return at, err
		case time.Since(taken) > writeWithin:
			return s.tooSlow(frames, at, begun), err
		}
	}
	_ = s.wire.Conn.SetWriteDeadline(time.Time{}) // who writes without waiting has none
	return at, nil
}

// tooSlow gives up a client that accepts nothing. Should it read again soon, it
// finds the frame that it is at, and why there is no other one. It returns where
// that frame ends.
func (s *socket) tooSlow(frames []byte, at, begun int) int {
	end := begun
	if at > begun {
		end += frameEnd(frames[begun:], at-begun)
	}
	s.hub.metrics.closedWith(closeSlowConsumer)
	message := websocket.FormatCloseMessage(closeSlowConsumer, "slow_consumer")
	rest := append([]byte(nil), frames[at:end]...)
	rest = append(appendFrameHeader(rest, opClose, len(message)), message...)
	_ = s.wire.Conn.SetWriteDeadline(time.Now().Add(lastWordsWithin))
	_, _ = s.wire.Conn.Write(rest)
	return end
}

// queued needs mu.
func (o *outbox) queued() int { return len(o.bytes) + o.sending }

// end is how many bytes the connection has taken once it has all that is queued. It
// needs mu.
func (o *outbox) end() int64 { return o.written + int64(o.queued()) }

// awaitRoom blocks the reader while more is queued or unanswered than a client
// may have: a client that does not read its replies is not listened to.
func (s *socket) awaitRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.outbox.last && (s.outbox.queued() > repliesBelow || s.acks.full()) {
		s.changed.Wait()
	}
}
