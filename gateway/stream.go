package gateway

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	// heartbeatEvery is how long a stream is silent at most.
	heartbeatEvery = 15 * time.Second
	// streamWriteTimeout bounds how long a client may take to accept a part of
	// the stream; one that does not read is cut and can come back by its cursor.
	streamWriteTimeout = 10 * time.Second
	// streamMessages and streamBytes bound what a stream has in memory.
	streamMessages = 256
	streamBytes    = 256 << 10

	// retryLeastMS and retryMostMS bound the wait before a client connects
	// again; each is told another one, so that they do not come all at once.
	retryLeastMS = 500
	retryMostMS  = 2000

	maxCursorBytes = 64 << 10
)

// streamMessages answers messages as they arrive, as server-sent events.
func (s *Server) streamMessages(c echo.Context) error {
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	follow := followOf(p, topic)
	base64 := forceBase64(p)
	if err := p.err(); err != nil {
		return err
	}
	if follow.Cursor = c.Request().Header.Get("Last-Event-ID"); len(follow.Cursor) > maxCursorBytes {
		return headerFault("Last-Event-ID", "not a cursor")
	}
	follower, err := s.journal.Follow(c.Request().Context(), follow)
	if err != nil {
		return cursorFault(err, "header:Last-Event-ID")
	}
	defer follower.Close()
	events := eventStream{c: c, log: s.log, control: http.NewResponseController(c.Response()), follower: follower}
	events.encoder.base64 = base64
	if err := events.open(); err != nil {
		return err
	}
	return events.run(c.Request().Context())
}

// followOf reads what to follow.
func followOf(p *params, topic meta.Topic) journal.FollowOptions {
	follow := journal.FollowOptions{Topic: topic, Filter: filterOf(p), From: journal.Position{Kind: journal.Latest}}
	for _, queue := range p.integers("queues", int64(topic.Queues)-1) {
		follow.Queues = append(follow.Queues, uint32(queue))
	}
	if p.has("position") || p.has("timestamp") {
		follow.From = startOf(p)
	}
	return follow
}

// cursorFault points at where a cursor that cannot be used came from.
func cursorFault(err error, pointer string) error {
	if !errors.Is(err, journal.ErrCursor) {
		return err
	}
	code := "invalid_parameter"
	if pointer == "header:Last-Event-ID" {
		code = "invalid_header"
	}
	const detail = "not a cursor of this topic"
	return newProblem(code, detail, fault{Pointer: pointer, Code: code, Detail: detail})
}

// eventStream writes what a follower receives as server-sent events.
type eventStream struct {
	c        echo.Context
	log      *slog.Logger
	control  *http.ResponseController
	follower *journal.Follower
	encoder  messageEncoder
	lastID   string // the cursor that the client has
}

// open sends the headers and where the stream begins: a client that is cut
// before the first message then comes back without missing it.
func (e *eventStream) open() error {
	header := e.c.Response().Header()
	header.Set(echo.HeaderContentType, streamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	e.c.Response().WriteHeader(http.StatusOK)
	out := takeBuffer()
	defer out.release()
	out.b = appendRetry(out.b)
	out.b = e.appendHeartbeat(out.b)
	return e.send(out)
}

// run writes until the client goes, the server stops or the topic ends.
func (e *eventStream) run(ctx context.Context) error {
	for {
		batch, err := e.next(ctx)
		switch {
		case err == nil:
			err = e.write(batch)
		case ctx.Err() != nil:
			return nil // the client has gone
		case errors.Is(err, context.DeadlineExceeded):
			err = e.write(&journal.Batch{})
		case errors.Is(err, journal.ErrDraining):
			return e.end(nil)
		default:
			return e.end(err)
		}
		if err != nil {
			return err
		}
	}
}

// next waits for a batch, but not longer than the stream may be silent.
func (e *eventStream) next(ctx context.Context) (*journal.Batch, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatEvery)
	defer cancel()
	return e.follower.Next(ctx, streamMessages, streamBytes)
}

// write sends one event per gap and message, or a heartbeat when there is none.
func (e *eventStream) write(batch *journal.Batch) error {
	out := takeBuffer()
	defer out.release()
	for i, gap := range batch.Gaps {
		if i == len(batch.Gaps)-1 { // the cursor covers all of them
			out.b = e.appendID(out.b, batch.Cursor(-1))
		}
		out.b = append(out.b, "event: gap\ndata: "...)
		out.b = append(appendGap(out.b, gap), "\n\n"...)
	}
	for i := range batch.Items {
		m := &batch.Items[i]
		out.b = e.appendID(out.b, batch.Cursor(i))
		out.b = append(out.b, "event: message\ndata: "...)
		out.b = e.encoder.append(out.b, m.Queue, m.Offset, m.StoredAt, &m.Record)
		out.b = append(out.b, "\n\n"...)
		if len(out.b) >= spillAt {
			if err := e.send(out); err != nil {
				return err
			}
		}
	}
	if len(batch.Gaps)+len(batch.Items) == 0 {
		out.b = e.appendHeartbeat(out.b)
	}
	return e.send(out)
}

// send hands what is encoded to the client.
func (e *eventStream) send(out *buffer) error {
	if len(out.b) == 0 {
		return nil
	}
	// Not every writer has deadlines (a recorder has none): then there is none.
	_ = e.control.SetWriteDeadline(time.Now().Add(streamWriteTimeout))
	if _, err := e.c.Response().Write(out.b); err != nil {
		return err
	}
	out.b = out.b[:0]
	return e.control.Flush()
}

// end tells the client when to come back, and why it should not if err says so.
func (e *eventStream) end(err error) error {
	out := takeBuffer()
	defer out.release()
	out.b = appendRetry(out.b)
	if err != nil {
		p, expected := toProblem(err)
		if !expected {
			e.log.ErrorContext(e.c.Request().Context(), "stream failed", "err", err, "operation", operationOf(e.c), "request_id", requestID(e.c))
		}
		out.b = append(out.b, "event: error\ndata: "...)
		out.b = append(out.b, p.encode(e.c.Request().URL.EscapedPath(), requestID(e.c))...)
		out.b = append(out.b, "\n\n"...)
	}
	return e.send(out)
}

func (e *eventStream) appendID(dst []byte, cursor string) []byte {
	e.lastID = cursor
	dst = append(dst, "id: "...)
	dst = append(dst, cursor...)
	return append(dst, '\n')
}

// appendHeartbeat appends a comment, with the cursor where that has moved past
// messages that do not match. An event without data moves a client's
// Last-Event-ID and is not shown to it.
func (e *eventStream) appendHeartbeat(dst []byte) []byte {
	dst = append(dst, ":\n"...)
	if cursor := e.follower.Cursor(); cursor != e.lastID {
		dst = e.appendID(dst, cursor)
	}
	return append(dst, '\n')
}

func appendRetry(dst []byte) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, retryLeastMS+rand.Int64N(retryMostMS-retryLeastMS), 10)
	return append(dst, "\n\n"...)
}

// appendGap appends a stretch that the stream does not carry as a JSON object.
func appendGap(dst []byte, gap journal.Gap) []byte {
	dst = append(dst, `{"queue":`...)
	dst = strconv.AppendUint(dst, uint64(gap.Queue), 10)
	dst = append(dst, `,"from":`...)
	dst = strconv.AppendInt(dst, gap.From, 10)
	dst = append(dst, `,"to":`...)
	dst = strconv.AppendInt(dst, gap.To, 10)
	dst = append(dst, `,"reason":"`...)
	dst = append(dst, gap.Reason...)
	return append(dst, `"}`...)
}
