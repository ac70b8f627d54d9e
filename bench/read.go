package bench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"
)

// Read measures how fast stored messages are read back from the beginning: a
// topic is filled first, then each connection reads its share of the queues
// once, from end to end, until the time is over.
func Read(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	_, topic, remove, err := o.topic(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	fill := o
	fill.Mode, fill.Batch, fill.Rate = ModeFramed, 100, 0
	if _, err := fill.produceTo(ctx, topic); err != nil {
		return nil, fmt.Errorf("fill the topic: %w", err)
	}
	return o.readFrom(ctx, topic)
}

// readFrom is Read of a topic that has messages.
func (o Options) readFrom(ctx context.Context, topic string) (*Result, error) {
	r, m, err := o.start(ctx, "read")
	if err != nil {
		return nil, err
	}
	defer m.close()
	readers := make([]*reader, o.Workers)
	sum, err := load{workers: o.Workers, rate: o.Rate / float64(o.Batch), length: o.Length}.run(ctx,
		func(ctx context.Context, n int) (func() error, func(), error) {
			host, err := hostOf(o.Server.URL)
			if err != nil {
				return nil, nil, err
			}
			w, err := dialWire(ctx, host)
			if err != nil {
				return nil, nil, err
			}
			w.drop = true // where to read on is in the header, or at the end
			rd := &reader{wire: w, host: host, topic: topic, mode: o.Mode, queues: o.Queues, queue: n, stride: o.Workers, limit: o.readLimit()}
			readers[n] = rd
			return rd.step, w.close, nil
		})
	if err != nil {
		return nil, err
	}
	for _, rd := range readers {
		r.Messages += rd.messages
	}
	r.Requests, r.Errors = sum.requests, sum.errors
	if sum.firstError != nil {
		r.FirstError = sum.firstError.Error()
	}
	r.finish(sum.began, &sum.latencies)
	return r, m.charge(ctx, r)
}

// readLimit is how many messages one request asks for.
func (o Options) readLimit() int {
	if o.Mode == ModeSingle {
		return 1
	}
	return 1000
}

// framedLimit leaves the size of a page of records to max_bytes.
const framedLimit = 100_000

// reader reads every so many-th queue, once: what it reads again would come
// from the server's cache.
type reader struct {
	wire     *wire
	host     string
	topic    string
	mode     string
	queues   int
	queue    int
	stride   int
	limit    int
	offset   int64
	messages int64
	request  []byte
}

func (rd *reader) step() error {
	if rd.queue >= rd.queues {
		return errDone
	}
	kind, limit := "messages", rd.limit
	if rd.mode == ModeFramed {
		kind, limit = "frames", framedLimit
	}
	rd.request = rd.request[:0]
	rd.request = fmt.Appendf(rd.request,
		"GET /v1/topics/%s/queues/%d/%s?offset=%d&limit=%d&max_bytes=4194304&clamp=true HTTP/1.1\r\nHost: %s\r\n\r\n",
		rd.topic, rd.queue, kind, rd.offset, limit, rd.host)
	status, err := rd.wire.do(rd.request)
	if err != nil {
		return err
	}
	if status != 200 {
		return &errStatus{status, string(rd.wire.body)}
	}
	var next int64
	if rd.mode == ModeFramed {
		next, err = rd.wire.header("Bmq-Next-Offset")
	} else {
		next, err = lastNumber(rd.wire.body, `"next_offset":`)
	}
	if err != nil {
		return err
	}
	rd.messages += max(next-rd.offset, 0) // offsets are dense and nothing is filtered
	if next <= rd.offset {
		rd.queue, next = rd.queue+rd.stride, 0
	}
	rd.offset = next
	return nil
}

// lastNumber finds the number behind a JSON name without decoding the rest.
func lastNumber(body []byte, name string) (int64, error) {
	at := bytes.LastIndex(body, []byte(name))
	if at < 0 {
		return 0, fmt.Errorf("the answer has no %s", name)
	}
	rest := body[at+len(name):]
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	return strconv.ParseInt(string(rest[:end]), 10, 64)
}

// stampedAt calls found with the time of every stamped body in a JSON text.
func stampedAt(text []byte, found func(time.Time)) {
	const name = `"body":"`
	for {
		at := bytes.Index(text, []byte(name))
		if at < 0 || len(text) < at+len(name)+stampBytes {
			return
		}
		text = text[at+len(name):]
		if ns, err := strconv.ParseInt(string(text[:stampBytes]), 16, 64); err == nil {
			found(time.Unix(0, ns))
		}
	}
}
