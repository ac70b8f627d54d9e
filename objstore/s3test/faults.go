package s3test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fault deals with one request in place of the proxy.
type Fault func(e *exchange)

// hold is longer than any client waits.
const hold = time.Hour

func passOn(e *exchange) { e.reply(e.forward(e.r.Context())) }

// Status answers with an S3 error and does not forward the request.
func Status(status int, code string) Fault {
	return Body(status, fmt.Sprintf(`<Error><Code>%s</Code><Message>injected</Message></Error>`, code))
}

// Body answers with this XML and does not forward the request.
func Body(status int, xml string) Fault {
	return func(e *exchange) {
		e.reply(&answer{status, http.Header{"Content-Type": {"application/xml"}}, []byte(xml)}, nil)
	}
}

// StatusAfter forwards the request, then answers with an S3 error in place of
// what the server said.
func StatusAfter(status int, code string) Fault {
	return func(e *exchange) {
		_, _ = e.forward(e.r.Context()) // what matters is what the server did
		Status(status, code)(e)
	}
}

// HangBefore never forwards the request nor answers it.
func HangBefore() Fault { return func(e *exchange) { e.wait(hold) } }

// HangAfter forwards the request and never answers it.
func HangAfter() Fault {
	return func(e *exchange) {
		_, _ = e.forward(context.WithoutCancel(e.r.Context())) // what matters is what the server did
		e.wait(hold)
	}
}

// DropBefore ends the connection and does not forward the request.
func DropBefore() Fault { return func(e *exchange) { e.drop() } }

// DropAfter forwards the request and ends the connection without an answer.
func DropAfter() Fault {
	return func(e *exchange) {
		_, _ = e.forward(e.r.Context()) // what matters is what the server did
		e.drop()
	}
}

// Slow forwards the request and drips the answer's body, one byte each pause.
func Slow(pause time.Duration) Fault {
	return func(e *exchange) {
		a, err := e.forward(e.r.Context())
		if err != nil || len(a.body) == 0 {
			e.reply(a, err)
			return
		}
		first := *a
		first.body = nil
		first.header.Set("Content-Length", strconv.Itoa(len(a.body)))
		e.reply(&first, nil)
		flusher := http.NewResponseController(e.w)
		for i := range a.body {
			if _, err := e.w.Write(a.body[i : i+1]); err != nil || flusher.Flush() != nil || e.r.Context().Err() != nil {
				return
			}
			e.wait(pause)
		}
	}
}

// Delay waits, then forwards the request.
func Delay(d time.Duration) Fault {
	return func(e *exchange) {
		e.wait(d)
		passOn(e)
	}
}

// Truncate announces the whole body, sends n bytes of it and ends the connection.
func Truncate(n int) Fault {
	return func(e *exchange) {
		a, err := e.forward(e.r.Context())
		if err != nil {
			e.reply(a, err)
			return
		}
		a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
		a.body = a.body[:min(n, len(a.body))]
		e.reply(a, nil)
	}
}

// Shorten sends n bytes of the body and announces no more, as if they were all.
func Shorten(n int) Fault {
	return func(e *exchange) {
		a, err := e.forward(e.r.Context())
		if err == nil {
			a.body = a.body[:min(n, len(a.body))]
			a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
		}
		e.reply(a, err)
	}
}

// Flip turns one bit of the byte at this index of the answer's body.
func Flip(index int) Fault {
	return func(e *exchange) {
		a, err := e.forward(e.r.Context())
		if err == nil && len(a.body) > 0 {
			a.body[index%len(a.body)] ^= 0x10
		}
		e.reply(a, err)
	}
}

// FlipRequest turns one bit of the byte at this index of the request's body.
func FlipRequest(index int) Fault {
	return func(e *exchange) {
		if len(e.body) > 0 {
			e.body[index%len(e.body)] ^= 0x10
		}
		passOn(e)
	}
}

// WholeForRange answers a ranged read with 200 and the whole object.
func WholeForRange() Fault {
	return func(e *exchange) {
		e.r.Header.Del("Range")
		e.sign = true
		passOn(e)
	}
}

// OtherRange answers a ranged read with a range of the same length that begins
// at another offset.
func OtherRange(first, last int64) Fault {
	return func(e *exchange) {
		e.r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
		e.sign = true
		passOn(e)
	}
}

// Unconditional forwards a PUT without its condition, as a service does that
// ignores it.
func Unconditional() Fault {
	return func(e *exchange) {
		e.r.Header.Del("If-None-Match")
		e.sign = true
		passOn(e)
	}
}

// NotYet answers 404 as if the object were not visible yet.
func NotYet() Fault { return Status(http.StatusNotFound, "NoSuchKey") }

// Again forwards the request, and once more after the delay: a packet that was
// on its way for long. The second answer goes to done.
func Again(delay time.Duration, done chan<- int) Fault {
	return func(e *exchange) {
		a, err := e.forward(e.r.Context())
		copied := *e
		copied.r = e.r.Clone(e.proxy.ctx)
		e.proxy.later.Go(func() {
			copied.wait(delay)
			status := 0
			if a, err := copied.forward(e.proxy.ctx); err == nil {
				status = a.status
			}
			done <- status
		})
		e.reply(a, err)
	}
}
