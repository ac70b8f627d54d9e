package gateway

import (
	"crypto/rand"
	"encoding/binary"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// exchange is what the gateway knows of one request besides its context. It is
// the context's writer: so it is found without a map, and all of it is one
// allocation.
type exchange struct {
	http.ResponseWriter
	id       string
	idHeader [1]string // the value of X-Request-Id
	route    *route    // nil: none was found
	series   *series   // of the route's operation
}

func newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, id: r.Header.Get("X-Request-Id")}
	if !validRequestID(x.id) {
		x.id = newRequestID()
	}
	x.idHeader[0] = x.id
	return x
}

// Unwrap lets a http.ResponseController find what the writer can do.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// exchangeOf returns the exchange of a request; every context that serve makes
// has one.
func exchangeOf(c echo.Context) *exchange { return c.Response().Writer.(*exchange) }

// Not every writer has deadlines (a recorder has none): then there is none. The
// plain server's has, and is asked without a controller, which is an allocation.

// cutAt sets when a client that does not read its answer is cut.
func (x *exchange) cutAt(deadline time.Time) {
	if w, ok := x.ResponseWriter.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = w.SetWriteDeadline(deadline)
		return
	}
	_ = http.NewResponseController(x.ResponseWriter).SetWriteDeadline(deadline)
}

// readUntil sets when a body must have arrived; false: there is no such limit.
func (x *exchange) readUntil(deadline time.Time) bool {
	if w, ok := x.ResponseWriter.(interface{ SetReadDeadline(time.Time) error }); ok {
		return w.SetReadDeadline(deadline) == nil
	}
	return http.NewResponseController(x.ResponseWriter).SetReadDeadline(deadline) == nil
}

// requestID is the id that the request is logged and answered under.
func requestID(c echo.Context) string { return exchangeOf(c).id }

// operationOf is the operationId of the request's route, or "none".
func operationOf(c echo.Context) string {
	if r := exchangeOf(c).route; r != nil {
		return r.operation
	}
	return "none"
}

const maxRequestID = 128

func validRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("._:/=+-", c) < 0 {
			return false
		}
	}
	return true
}

// newRequestID makes a UUID of version 7. uuid.NewV7 would take a lock for an
// order within the millisecond that nobody needs here.
func newRequestID() string {
	var id uuid.UUID
	_, _ = rand.Read(id[6:]) // never fails
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	var text [36]byte
	return string(appendUUID(text[:0], id))
}
