package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	protocolJSON = "bmq.v1.json"
	protocolBin  = "bmq.v1.bin"
	// bearerProtocol is a subprotocol that carries a token; it is never echoed.
	bearerProtocol = "bmq.bearer."
)

// openWebSocket upgrades the request and leaves the connection to the hub. What
// a page in a browser should learn is said by a close code, because it cannot
// see the answer to an upgrade; a foreign page is refused before there is a
// socket.
func (s *Server) openWebSocket(c echo.Context) error {
	r := c.Request()
	if !websocket.IsWebSocketUpgrade(r) {
		c.Response().Header().Set("Upgrade", "websocket")
		return newProblem("upgrade_required", "connect as a WebSocket, version 13")
	}
	if !s.allowOrigin(r) {
		return newProblem("origin_denied", "the page that opens the socket is of another origin")
	}
	refused := closing{}
	if ticket, given := ticketOf(c); given {
		switch _, err := s.meta.TakeTicket(r.Context(), ticket); {
		case errors.Is(err, meta.ErrTicketNotFound):
			refused = closing{closeUnauthenticated, "the ticket was used, has expired or never was"}
		case err != nil:
			return viaRedis(fmt.Errorf("take a ticket: %w", err))
		}
	}
	protocol, known := chooseProtocol(websocket.Subprotocols(r))
	if !known {
		refused = closing{closeUnsupportedProtocol, "speak " + protocolJSON + " or " + protocolBin}
	}
	header := http.Header{"X-Request-Id": {requestID(c)}}
	if protocol != "" {
		header.Set("Sec-Websocket-Protocol", protocol)
	}
	wire := new(wire)
	conn, err := s.sockets.upgrader.Upgrade(&hijacker{ResponseWriter: c.Response(), wire: wire}, r, header)
	if _, broken := errors.AsType[websocket.HandshakeError](err); broken {
		return newProblem("upgrade_required", err.Error())
	}
	if err != nil {
		return nil //nolint:nilerr // the connection is taken and closed; there is nobody to tell
	}
	c.Response().Status, c.Response().Committed = http.StatusSwitchingProtocols, true
	s.sockets.open(conn, wire, protocol == protocolBin, requestID(c), refused)
	return nil
}

func ticketOf(c echo.Context) (ticket string, given bool) {
	values, given := c.QueryParams()["ticket"]
	if !given {
		return "", false
	}
	return values[0], true
}

// chooseProtocol picks the subprotocol to echo. A client that offers none
// speaks JSON. When none is known the first one is echoed all the same: clients
// hide the close code of a socket whose subprotocol they did not ask for.
func chooseProtocol(offered []string) (echoed string, known bool) {
	for _, protocol := range offered {
		switch {
		case protocol == protocolJSON, protocol == protocolBin:
			return protocol, true
		case echoed == "" && !strings.HasPrefix(protocol, bearerProtocol):
			echoed = protocol
		}
	}
	return echoed, len(offered) == 0
}

// hijacker hands the upgrader a connection that it cannot write to once the
// socket has a writer.
type hijacker struct {
	http.ResponseWriter
	wire *wire
}

// Hijack takes the connection from the HTTP server.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.wire.Conn = conn
	if direct, ok := conn.(syscall.Conn); ok {
		h.wire.raw, _ = direct.SyscallConn() // without one nothing is written directly
	}
	return h.wire, buffered, err
}

// newUpgrader makes an upgrader for small idle sockets. The write buffer of the
// library is never used, so the pool only keeps it from being made.
func newUpgrader() *websocket.Upgrader {
	return &websocket.Upgrader{
		ReadBufferSize:  idleReadBytes,
		WriteBufferPool: noBuffers{},
		CheckOrigin:     func(*http.Request) bool { return true }, // checked before
		Error:           func(http.ResponseWriter, *http.Request, int, error) {},
	}
}

// noBuffers is a pool that is always empty.
type noBuffers struct{}

func (noBuffers) Get() any { return nil }
func (noBuffers) Put(any)  {}
