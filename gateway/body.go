package gateway

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
)

const (
	// maxRequestBytes bounds the body of a request to send, after decompression.
	maxRequestBytes = 16 << 20
	// maxControlBytes bounds every other body.
	maxControlBytes = 1 << 20
	// maxPooledBytes is the largest buffer that is kept for the next request.
	maxPooledBytes = 1 << 20
)

// bodyBudget bounds the bytes of all request bodies that are in memory, so
// that many large requests at once are refused and not fatal.
type bodyBudget struct {
	mu   sync.Mutex
	free int64 // guarded by mu
}

// take reserves n bytes, or says that there are none.
func (b *bodyBudget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free < n {
		return false
	}
	b.free -= n
	return true
}

func (b *bodyBudget) give(n int64) {
	b.mu.Lock()
	b.free += n
	b.mu.Unlock()
}

var bodyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// requestBody is a bodyBuffer that is kept for the next request, together with
// its release: a method value made for every request would be an allocation.
type requestBody struct {
	bodyBuffer
	own      []byte          // what is read into instead of a pooled buffer
	lent     journal.Records // own, when the journal lends it
	giveBack func()
}

var requestBodies sync.Pool // of *requestBody

func takeRequestBody(budget *bodyBudget, limit int64) *requestBody {
	b, ok := requestBodies.Get().(*requestBody)
	if !ok {
		b = new(requestBody)
		b.giveBack = b.release
	}
	b.bodyBuffer = bodyBuffer{pooled: &b.own, budget: budget, limit: limit}
	return b
}

func (b *requestBody) release() {
	if b.pooled == &b.own {
		b.forget()
		b.lent.Release()
	} else {
		b.bodyBuffer.release()
	}
	b.bodyBuffer, b.own = bodyBuffer{}, nil
	requestBodies.Put(b)
}

// readBody reads the body of a request, decompressed, of at most limit bytes.
// The body must have arrived within the server's body timeout. Call release
// when nothing refers to the bytes any more; it may be called once only.
func (s *Server) readBody(c echo.Context, limit int64) (body []byte, release func(), err error) {
	b := takeRequestBody(&s.bodies, limit)
	b.pooled = bodyBuffers.Get().(*[]byte)
	if err := s.fillBody(c, &b.bodyBuffer); err != nil {
		b.release()
		return nil, nil, err
	}
	return *b.pooled, b.giveBack, nil
}

// readRecords is readBody into memory that the journal may take over: release
// only gives back the body's share of the budget then. Where the length of the
// body is not known before, the bytes are in memory of their own, with no more
// room than they need, and there are no records to take over.
func (s *Server) readRecords(c echo.Context, limit int64) (body []byte, records *journal.Records, release func(), err error) {
	b := takeRequestBody(&s.bodies, limit)
	if n := c.Request().ContentLength; n > 0 && n <= limit && isPlain(c) {
		if !b.budget.take(n) { // before there is memory for it
			b.release()
			return nil, nil, nil, fmt.Errorf("request bodies: %w", journal.ErrBufferFull)
		}
		b.taken = n
		b.lent = journal.LendRecords(int(n) + 1)
		b.own = b.lent.Bytes()
	}
	if err := s.fillBody(c, &b.bodyBuffer); err != nil {
		b.release()
		return nil, nil, nil, err
	}
	body = b.own
	if cap(body) > 2*len(body) && b.lent.None() {
		body = bytes.Clone(body)
	}
	return body, &b.lent, b.giveBack, nil
}

// isPlain says that a body arrives as it is.
func isPlain(c echo.Context) bool {
	encoding := c.Request().Header.Get("Content-Encoding")
	return encoding == "" || encoding == "identity"
}

func (s *Server) fillBody(c echo.Context, b *bodyBuffer) (err error) {
	req := c.Request()
	if req.ContentLength > b.limit {
		c.Response().Header().Set("Connection", "close") // do not read what is refused
		return tooLarge(b.limit)
	}
	if x := exchangeOf(c); x.readUntil(time.Now().Add(s.options.BodyTimeout)) {
		defer func() {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				x.readUntil(time.Time{}) // else the connection is closed anyway
			}
		}()
	}
	in, done, err := decompressed(c, b.limit)
	if err != nil {
		return err
	}
	defer done()
	if err := b.fill(in, req.ContentLength); err != nil {
		return s.bodyError(err, b.limit)
	}
	if in == req.Body {
		_ = req.Body.Close() // it is at its end, so net/http need not look for more
	}
	return nil
}

func tooLarge(limit int64) *problem {
	return newProblem("body_too_large", fmt.Sprintf("at most %d bytes, also after decompression", limit))
}

// errTooLong says that a body goes on after its limit.
var errTooLong = errors.New("gateway: body too large")

// bodyError says what a failed read means.
func (s *Server) bodyError(err error, limit int64) error {
	_, limited := errors.AsType[*http.MaxBytesError](err)
	switch {
	case limited, errors.Is(err, errTooLong), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem("request_timeout", fmt.Sprintf("the body must arrive within %v", s.options.BodyTimeout))
	case errors.Is(err, journal.ErrBufferFull):
		return err
	}
	return newProblem("body_unreadable", "the body is not in the encoding it claims, or ends too early")
}

// decompressed returns the plain body. Both what arrives and what comes out
// are bounded by limit. Call done after the last read.
func decompressed(c echo.Context, limit int64) (in io.Reader, done func(), err error) {
	plain := isPlain(c)
	if plain && c.Request().ContentLength >= 0 {
		return c.Request().Body, func() {}, nil // net/http ends it there, and limit is not below
	}
	arriving := http.MaxBytesReader(c.Response(), c.Request().Body, limit)
	if plain {
		return arriving, func() {}, nil
	}
	switch c.Request().Header.Get("Content-Encoding") {
	case "gzip":
		unzip, err := gzip.NewReader(arriving)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, nil, err
			}
			return nil, nil, newProblem("body_unreadable", "the body is not gzip")
		}
		return unzip, func() {}, nil
	case "zstd":
		unzip, err := zstd.NewReader(arriving, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return nil, nil, newProblem("body_unreadable", "the body is not zstd")
		}
		return unzip, unzip.Close, nil
	}
	return nil, nil, newProblem("unsupported_content_encoding", "send gzip, zstd or none")
}

// bodyBuffer grows a pooled buffer, and what it takes of the budget with it.
type bodyBuffer struct {
	pooled *[]byte
	budget *bodyBudget
	taken  int64
	limit  int64
}

// fill reads everything; expected is how much that will be, if known (> 0).
func (b *bodyBuffer) fill(in io.Reader, expected int64) error {
	buf := (*b.pooled)[:0]
	defer func() { *b.pooled = buf }()
	// One byte more than expected: the end is seen without growing.
	size := int64(cap(buf))
	if expected <= 0 || size <= expected {
		size = max(expected+1, size, 4096)
	}
	if err := b.reserve(size); err != nil {
		return err
	}
	if int64(cap(buf)) < b.taken {
		buf = make([]byte, 0, b.taken)
	}
	for {
		n, err := in.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > b.limit {
			return errTooLong
		}
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(buf) < cap(buf) {
			continue
		}
		// One byte above the limit is enough to see that it is exceeded.
		size = min(2*int64(cap(buf)), b.limit+1)
		if err := b.reserve(size); err != nil {
			return err
		}
		buf = append(make([]byte, 0, size), buf...)
	}
}

// reserve makes the buffer's share of the budget n bytes.
func (b *bodyBuffer) reserve(n int64) error {
	if more := n - b.taken; more > 0 {
		if !b.budget.take(more) {
			return fmt.Errorf("request bodies: %w", journal.ErrBufferFull)
		}
		b.taken = n
	}
	return nil
}

// forget gives the budget back and leaves the bytes to whoever has them.
func (b *bodyBuffer) forget() {
	b.budget.give(b.taken)
	b.taken = 0
}

func (b *bodyBuffer) release() {
	b.forget()
	if cap(*b.pooled) <= maxPooledBytes {
		bodyBuffers.Put(b.pooled)
	}
}
