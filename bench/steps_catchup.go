package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// roundSockets compares what a message costs the gateway over a WebSocket, sent
// without waiting for answers, with a POST of its own.
func (s *suite) roundSockets(ctx context.Context) error {
	o := s.options(s.first.Server, ModeSingle, pipelinedSockets)
	_, topic, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	r, err := o.produceSockets(ctx, topic)
	if err != nil {
		return err
	}
	s.note("WebSocket produce, pipelined, messages/s", r.MessagesPerSecond)
	s.note("gateway CPU per message, WebSocket, µs", *r.CPUMicrosPerMessage)
	s.note("WebSocket CPU per message ÷ single POST", *r.CPUMicrosPerMessage/s.latest("gateway CPU per message, single POST, µs"))
	return nil
}

// roundTail measures delivery to a WebSocket on the other gateway, alone and
// while a reader on that gateway catches up as fast as it can.
func (s *suite) roundTail(ctx context.Context) error {
	fill := s.options(s.first.Server, ModeFramed, bucketConnections)
	_, topic, remove, err := fill.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	if _, err := fill.produceTo(ctx, topic); err != nil {
		return fmt.Errorf("fill the topic: %w", err)
	}
	alone, err := s.tailP99(ctx)
	if err != nil {
		return err
	}
	stop, err := s.readAgainAndAgain(ctx, topic)
	if err != nil {
		return err
	}
	beside, err := s.tailP99(ctx)
	read, readErr := stop()
	if err := errors.Join(err, readErr); err != nil {
		return err
	}
	if read == 0 {
		return errors.New("the reader that catches up read nothing")
	}
	s.note("tail p99 alone, ms", alone)
	s.note("tail p99 beside a catch-up reader, ms", beside)
	s.note("tail p99 beside a catch-up reader ÷ alone", beside/alone)
	return nil
}

func (s *suite) tailP99(ctx context.Context) (float64, error) {
	o := s.options(s.first.Server, ModeJSON, 32)
	o.Rate, o.Batch, o.Via = 200, 1, ViaWebSocket
	r, err := o.deliver(ctx, "e2e", s.second.Server, 1)
	if err != nil {
		return 0, err
	}
	if r.Errors > 0 {
		return 0, fmt.Errorf("tail: %d errors: %s", r.Errors, r.FirstError)
	}
	return r.LatencyMS.P99, nil
}

// readAgainAndAgain reads a topic through the other gateway from end to end,
// without a pause, until the returned function is called; that one says how
// many messages were read.
func (s *suite) readAgainAndAgain(ctx context.Context, topic string) (func() (int64, error), error) {
	host, err := hostOf(s.second.URL)
	if err != nil {
		return nil, err
	}
	w, err := dialWire(ctx, host)
	if err != nil {
		return nil, err
	}
	w.drop = true
	rd := &reader{wire: w, host: host, topic: topic, mode: ModeFramed, queues: 8, stride: 1, limit: 1000}
	var over atomic.Bool
	var failed error
	var running sync.WaitGroup
	running.Go(func() {
		for !over.Load() && failed == nil {
			if failed = rd.step(); errors.Is(failed, errDone) {
				rd.queue, rd.offset, failed = 0, 0, nil
			}
		}
	})
	return func() (int64, error) {
		over.Store(true)
		running.Wait()
		w.close()
		return rd.messages, failed
	}, nil
}

// noteAllocations notes what one more message in a batch allocates: what a
// request of 200 takes more than one of 100, a hundredth of it. What a request
// takes by itself is in both, and so in neither.
func (s *suite) noteAllocations(ctx context.Context) error {
	var perRequest [2]float64
	for i, batch := range []int{100, 200} {
		o := s.options(s.first.Server, ModeFramed, allocationConnections)
		o.Batch = batch
		r, err := Produce(ctx, o)
		if err != nil {
			return err
		}
		perRequest[i] = *r.AllocationsPerMessage * float64(batch)
	}
	s.note("allocations per framed batch of 100", perRequest[0])
	s.note(figureMarginal, (perRequest[1]-perRequest[0])/100)
	return nil
}
