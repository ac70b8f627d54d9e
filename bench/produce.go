package bench

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/segment"
)

// Produce measures durable sends.
func Produce(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	_, topic, remove, err := o.topic(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	return o.produceTo(ctx, topic)
}

// produceTo is Produce into a topic that is there.
func (o Options) produceTo(ctx context.Context, topic string) (*Result, error) {
	r, m, err := o.start(ctx, "produce")
	if err != nil {
		return nil, err
	}
	defer m.close()
	sum, err := load{workers: o.Workers, rate: o.Rate / float64(o.Batch), length: o.Length}.run(ctx, o.sender(topic))
	if err != nil {
		return nil, err
	}
	r.Requests, r.Errors = sum.requests, sum.errors
	r.Messages = sum.requests * int64(o.Batch)
	if sum.firstError != nil {
		r.FirstError = sum.firstError.Error()
	}
	r.finish(sum.began, &sum.latencies)
	return r, m.charge(ctx, r)
}

// sender returns workers that send the same request again and again.
func (o Options) sender(topic string) worker {
	return o.senderOf(func(host string) func() []byte {
		request := o.sendRequest(host, topic, nil)
		return func() []byte { return request }
	})
}

// worker makes the nth worker of a load: what it does, and how it ends.
type worker = func(ctx context.Context, n int) (func() error, func(), error)

// senderOf returns workers that each send what their own requests returns.
func (o Options) senderOf(requests func(host string) func() []byte) worker {
	return func(ctx context.Context, _ int) (func() error, func(), error) {
		host, err := hostOf(o.Server.URL)
		if err != nil {
			return nil, nil, err
		}
		w, err := dialWire(ctx, host)
		if err != nil {
			return nil, nil, err
		}
		request := requests(host)
		return func() error {
			status, err := w.do(request())
			if err != nil {
				return err
			}
			if status != 200 {
				return &errStatus{status, string(w.body)}
			}
			return nil
		}, w.close, nil
	}
}

// sendRequest builds the bytes of one produce request. A stamp is put in front
// of every body.
func (o Options) sendRequest(host, topic string, stamp []byte) []byte {
	body := filler(o.Message)
	copy(body, stamp)
	path := "/v1/topics/" + topic + "/messages"
	switch o.Mode {
	case ModeSingle:
		return rawRequest("POST", host, path+"/raw", "application/octet-stream", body)
	case ModeJSON:
		messages := make([]map[string]any, o.Batch)
		for i := range messages {
			messages[i] = map[string]any{"tag": "paid", "body": string(body)}
		}
		data, err := json.Marshal(map[string]any{"messages": messages})
		if err != nil {
			panic(fmt.Sprintf("bench: encode a request: %v", err))
		}
		return rawRequest("POST", host, path, "application/json", data)
	default:
		var data []byte
		record := segment.Record{Attributes: segment.AttrText, Tag: []byte("paid"), Body: body}
		for range o.Batch {
			data = segment.AppendRecord(data, &record)
		}
		return rawRequest("POST", host, path+"/framed", "application/octet-stream", data)
	}
}

// stampBytes is the length of a stamp: its time in hexadecimal digits.
const stampBytes = 16

// stampOf writes a time so that it survives JSON.
func stampOf(t time.Time) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(t.UnixNano()))
	return fmt.Appendf(nil, "%x", b)
}

// filler is n bytes of text that JSON need not escape.
func filler(n int) []byte {
	const text = "The quick brown fox jumps over the lazy dog, again and again; 0123456789. "
	body := make([]byte, n)
	for i := range body {
		body[i] = text[i%len(text)]
	}
	return body
}
