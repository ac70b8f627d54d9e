package gateway

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// buffer holds an answer while it is encoded.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxPooledBuffer is how large a buffer may have grown and still be kept.
const maxPooledBuffer = 256 << 10

func takeBuffer() *buffer {
	b := buffers.Get().(*buffer)
	b.b = b.b[:0]
	return b
}

// release gives the buffer back; nothing may use its bytes after.
func (b *buffer) release() {
	if cap(b.b) <= maxPooledBuffer {
		buffers.Put(b)
	}
}

// answer sends what is gathered as the whole answer.
func (b *buffer) answer(c echo.Context, status int, contentType string) error {
	if len(b.b) > lengthKnown {
		c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(b.b)))
	}
	if contentType == jsonType {
		c.Response().Header()[echo.HeaderContentType] = jsonHeader
	}
	return c.Blob(status, contentType, b.b)
}

// lengthKnown is up to where net/http finds the length of an answer by itself
// and does not send it in chunks.
const lengthKnown = 2048

// writeDeadline bounds how long a client may take to accept one part of an
// answer. A client that reads nothing is cut, and its answer's memory with it.
const writeDeadline = 30 * time.Second

// spillAt is how much of an answer is gathered before it is sent.
const spillAt = 64 << 10

// pageWriter writes an answer that may be large: small ones whole, with their
// length; larger ones part by part, so that memory stays small.
type pageWriter struct {
	*buffer
	c       echo.Context
	started bool
}

func newPageWriter(c echo.Context) *pageWriter { return &pageWriter{buffer: takeBuffer(), c: c} }

// spill sends what is gathered if that is enough.
func (w *pageWriter) spill() error {
	if len(w.b) < spillAt {
		return nil
	}
	if !w.started {
		w.c.Response().Header().Set(echo.HeaderContentType, jsonType)
		w.c.Response().WriteHeader(http.StatusOK)
		w.started = true
	}
	err := w.write(w.b)
	w.b = w.b[:0]
	return err
}

func (w *pageWriter) write(part []byte) error {
	if len(part) == 0 {
		return nil
	}
	// Not every writer has deadlines (a recorder has none): then there is none.
	_ = http.NewResponseController(w.c.Response()).SetWriteDeadline(time.Now().Add(writeDeadline))
	_, err := w.c.Response().Write(part)
	return err
}

// finish sends the rest.
func (w *pageWriter) finish(contentType string) error {
	if w.started {
		return w.write(w.b)
	}
	return w.answer(w.c, http.StatusOK, contentType)
}
