package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/bucketmq/bucketmq/journal"
)

// Close codes. Those from 4000 to 4499 mean: connect again; from 4500 on: do
// not.
const (
	closeNormal              = websocket.CloseNormalClosure
	closeProtocolError       = websocket.CloseProtocolError
	closeUnsupportedData     = websocket.CloseUnsupportedData
	closeInvalidUTF8         = websocket.CloseInvalidFramePayloadData
	closePolicy              = websocket.ClosePolicyViolation
	closeInternal            = websocket.CloseInternalServerErr
	closeShutdown            = 4000
	closeNoPong              = 4008
	closeSlowConsumer        = 4408
	closeSessionTaken        = 4409
	closeUnauthenticated     = 4501
	closeUnsupportedProtocol = 4510
)

const (
	maxHelloBytes = 4 << 10
	// maxFrameBytes bounds a frame of the client once it said hello.
	maxFrameBytes = maxRequestBytes
	// maxPings is how many control frames a client may send between two beats of
	// the clock.
	maxPings = 50
	// lingerFor is how long a closed socket waits for the client to close too.
	lingerFor = time.Second
)

// closing is why a socket is closed.
type closing struct {
	code   int
	reason string
}

// socket is one client. One goroutine reads and carries out its operations;
// others run only while there is something to write, to deliver or to answer.
type socket struct {
	hub       *hub
	conn      *websocket.Conn
	wire      *wire
	bin       bool
	requestID string
	session   string // guarded by hub.mu; set once, by hello
	address   string // of the client, without the port

	ctx  context.Context // ends with the socket
	stop context.CancelFunc

	heardAt  atomic.Int64  // Unix milliseconds of the last bytes that came
	frameAt  atomic.Int64  // when the frame that is being read began; 0 = none
	working  atomic.Bool   // an operation is carried out, so nothing is read
	asides   chan struct{} // owned by run; holds a token for each operation that is carried out aside; nil: there was none
	greeted  atomic.Bool   // hello came
	asking   atomic.Int32  // requests that wait for a reply
	controls atomic.Int32  // control frames since the last beat

	mu       sync.Mutex
	changed  sync.Cond // of what the reader waits for; its L is &mu
	outbox   outbox    // guarded by mu
	acks     acks      // guarded by mu
	subs     map[string]*subscription
	asked    map[string]context.CancelFunc // guarded by mu; producer groups whose checks come here
	deciding int                           // guarded by mu; transactions that are being decided
	pumping  bool                          // guarded by mu; a goroutine runs pump
	pump     bool                          // guarded by mu; there may be something to deliver
	pings    int64                         // guarded by mu; how many pings were sent
	pingAt   int64                         // guarded by mu; Unix milliseconds of the one not answered; 0 = none
	leaveAt  time.Time                     // guarded by mu; when to close at the latest; zero = stay
	leave    closing                       // guarded by mu; why
	bye      bool                          // owned by run; the client said bye: what it says more is not heard
	started  time.Time
}

func newSocket(h *hub, conn *websocket.Conn, w *wire, bin bool, requestID string) *socket {
	s := &socket{hub: h, conn: conn, wire: w, bin: bin, requestID: requestID, started: time.Now()}
	s.ctx, s.stop = context.WithCancel(h.ctx)
	s.changed.L = &s.mu
	s.heard()
	w.socket = s
	s.address = hostOf(conn.RemoteAddr().String())
	conn.SetReadLimit(maxHelloBytes)
	conn.SetPingHandler(s.pinged)
	conn.SetPongHandler(func(string) error { return s.controlled() })
	conn.SetCloseHandler(s.closedByClient)
	return s
}

// heard notes that something came from the client.
func (s *socket) heard() { s.heardAt.Store(time.Now().UnixMilli()) }

// run reads until the socket ends, and ends it.
func (s *socket) run() {
	defer s.end()
	for s.next() {
	}
}

// next waits for a frame and hears it. What an idle socket has on its stack is
// this function's and the library's, so everything else is done elsewhere.
func (s *socket) next() bool {
	kind, in, err := s.conn.NextReader()
	if err != nil {
		s.lost(err)
		return false
	}
	return s.hear(kind, in)
}

// hear reads one frame and carries out its operation.
//
//go:noinline
func (s *socket) hear(kind int, in io.Reader) bool {
	if want := s.frameKind(); kind != want {
		name := "text"
		if s.bin {
			name = "binary"
		}
		s.close(closing{closeUnsupportedData, "send " + name + " frames"})
		return false
	}
	s.frameAt.Store(time.Now().UnixMilli())
	frame, release, err := s.read(in)
	s.frameAt.Store(0)
	if err != nil {
		if p, ok := errors.AsType[*problem](err); ok { // of this frame alone
			s.refuse("", p)
			return true
		}
		s.lost(err)
		return false
	}
	if !s.bin && !utf8.Valid(frame) {
		release()
		s.close(closing{closeInvalidUTF8, "not UTF-8"})
		return false
	}
	s.working.Store(true)
	more := s.carryOut(frame, release)
	s.heard() // the client was not silent while nobody listened
	s.working.Store(false)
	return more
}

func (s *socket) frameKind() int {
	if s.bin {
		return websocket.BinaryMessage
	}
	return websocket.TextMessage
}

// read reads the rest of a frame. Its bytes count against the same budget as
// the bodies of requests. A binary frame is nobody else's: its records are
// stored where they lie.
func (s *socket) read(in io.Reader) (frame []byte, release func(), err error) {
	into := new([]byte)
	if !s.bin {
		into = bodyBuffers.Get().(*[]byte)
	}
	b := bodyBuffer{pooled: into, budget: &s.hub.server.bodies, limit: maxFrameBytes}
	if err := b.fill(in, 0); err != nil {
		b.release()
		if errors.Is(err, journal.ErrBufferFull) {
			return nil, nil, newProblem("buffer_full", "too much is being received")
		}
		return nil, nil, err
	}
	if s.bin {
		frame = *b.pooled
		return frame[:len(frame):len(frame)], b.forget, nil
	}
	return *b.pooled, b.release, nil
}

// lost ends a socket that cannot be read any more. For a broken rule the
// library has queued a close frame of its own, and for one of the client's the
// answer is queued too; then this one is too late to count.
//
//go:noinline
func (s *socket) lost(err error) {
	_, network := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, websocket.ErrReadLimit), errors.Is(err, errTooLong):
		s.close(closing{websocket.CloseMessageTooBig, "the frame is too large"})
	case network, errors.Is(err, io.EOF), websocket.IsCloseError(err, websocket.CloseAbnormalClosure):
		s.mu.Lock()
		s.outbox.last = true
		s.mu.Unlock()
	default:
		s.close(closing{closeProtocolError, ""})
	}
}

// carryOut runs an operation and makes an error of a panic. It returns false
// when the socket is to be read no more.
func (s *socket) carryOut(frame []byte, release func()) (more bool) {
	defer release()
	defer func() {
		if cause := recover(); cause != nil {
			s.hub.server.log.ErrorContext(s.ctx, "panic", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()), "operation", "socket", "request_id", s.requestID)
			s.close(closing{closeInternal, "internal"})
			more = false
		}
	}()
	return s.operate(frame)
}

// controlled counts a control frame and refuses a flood of them.
func (s *socket) controlled() error {
	if s.controls.Add(1) > maxPings {
		s.close(closing{closePolicy, "too many control frames"})
		return errFlood
	}
	return nil
}

var errFlood = errors.New("gateway: too many control frames")

// pinged answers a ping of the protocol itself.
func (s *socket) pinged(data string) error {
	if err := s.controlled(); err != nil {
		return err
	}
	s.push(opPong, []byte(data))
	return nil
}

// closedByClient answers a close frame with the same code.
func (s *socket) closedByClient(code int, _ string) error {
	if code == websocket.CloseNoStatusReceived {
		code = closeNormal
	}
	s.close(closing{code, ""})
	return nil
}

// close queues a close frame as the last one; the first reason counts.
func (s *socket) close(why closing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLocked(why)
}

// closeLocked needs mu.
func (s *socket) closeLocked(why closing) {
	if s.outbox.last {
		return
	}
	s.hub.metrics.closedWith(why.code)
	s.hub.server.log.DebugContext(s.ctx, "socket closes", "code", why.code, "reason", why.reason, "request_id", s.requestID)
	s.appendLocked(opClose, websocket.FormatCloseMessage(why.code, why.reason[:min(len(why.reason), 120)]))
	s.outbox.last = true
	s.changed.Broadcast()
}

// libraryWrote queues a frame that the library made after a broken rule: a
// close frame.
func (s *socket) libraryWrote(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outbox.last {
		return
	}
	if len(frame) >= 4 {
		s.hub.metrics.closedWith(int(frame[2])<<8 | int(frame[3]))
	}
	s.outbox.bytes = append(s.outbox.ready(), frame...)
	s.outbox.last = true
	s.startWriter()
	s.changed.Broadcast()
}

// cut ends the connection without a word.
func (s *socket) cut() {
	s.mu.Lock()
	s.outbox.last = true
	s.mu.Unlock()
	_ = s.wire.Conn.Close()
}

// end waits for the writer to send what is queued, waits a little for the client
// to close its side, so that it can still read that, and lets everything go.
func (s *socket) end() {
	s.mu.Lock()
	s.outbox.last = true
	for s.outbox.writing {
		s.changed.Wait()
	}
	subs := s.subs
	s.subs = nil
	s.mu.Unlock()
	s.stop()
	for _, sub := range subs {
		if sub.consumer != nil {
			sub.reading.Lock()     // a look that is under way ends with s.ctx
			sub.endConsumer(s.bye) // else the client may come back
			sub.reading.Unlock()
			continue
		}
		sub.end()
	}
	raw := s.wire.Conn
	if half, ok := raw.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = raw.SetReadDeadline(time.Now().Add(lingerFor))
		_, _ = io.Copy(io.Discard, io.LimitReader(raw, maxFrameBytes))
	}
	_ = raw.Close()
	s.hub.leave(s)
	s.hub.server.log.DebugContext(s.ctx, "socket ended", "request_id", s.requestID, "lasted", time.Since(s.started))
}

// tick looks after the times of a socket.
func (s *socket) tick(now time.Time) {
	s.controls.Store(0)
	at := now.UnixMilli()
	if !s.greeted.Load() {
		if now.Sub(s.started) > helloWithin {
			s.close(closing{closeUnauthenticated, "no hello in time"})
		}
		return
	}
	if began := s.frameAt.Load(); began > 0 && at-began > s.hub.server.options.BodyTimeout.Milliseconds() {
		s.close(closing{closePolicy, "a frame takes too long"})
		return
	}
	s.retry(now)
	s.mu.Lock()
	if !s.leaveAt.IsZero() && now.After(s.leaveAt) {
		s.closeLocked(s.leave)
	}
	s.mu.Unlock()
	if s.working.Load() {
		return
	}
	silent := at - s.heardAt.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.outbox.last:
	case silent < pingAfter.Milliseconds():
		s.pingAt = 0
	case s.pingAt == 0:
		s.pings++
		s.pingAt = at
		s.appendOpLocked(appendPing(nil, s.pings))
	case at-s.pingAt > pongWithin.Milliseconds() && !s.outbox.writing:
		s.closeLocked(closing{closeNoPong, "no_pong"})
	}
}

// goAway tells the client to leave, and closes once what it sent is answered.
func (s *socket) goAway(grace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outbox.last {
		return
	}
	if s.greeted.Load() {
		s.appendOpLocked(appendGoaway(nil, grace, reconnectAfter()))
	}
	s.leaveLocked(closing{closeShutdown, "shutdown"}, grace)
}

// leaveLocked closes the socket as soon as everything that the client sent is
// answered, but at the latest after a while. It needs mu.
func (s *socket) leaveLocked(why closing, within time.Duration) {
	s.leave, s.leaveAt = why, time.Now().Add(within)
	s.leaveIfAnswered()
}

// leaveIfAnswered needs mu.
func (s *socket) leaveIfAnswered() {
	if !s.leaveAt.IsZero() && s.acks.empty() && s.deciding == 0 {
		s.closeLocked(s.leave)
	}
}
