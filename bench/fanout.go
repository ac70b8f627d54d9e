package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

const (
	fanOutSockets = 1000
	fanOutBytes   = 256 // of a body
	// fanOutSenders keep a server from waiting for the next message.
	fanOutSenders = 4
	// fanOutMark is in every body once and nowhere else, so that a subscriber
	// can count messages without reading them.
	fanOutMark = '~'
	// fanOutTimeout is how long everything that was sent may take to arrive.
	fanOutTimeout = 20 * time.Second
)

// fanOut is a crowd of subscribers that only count.
type fanOut struct {
	subs     []*frames
	running  sync.WaitGroup
	messages atomic.Int64 // deliveries: messages × subscribers
	frames   atomic.Int64
	arrived  chan struct{} // something was counted
}

// openFanOut connects subscribers with open.
func openFanOut(open func() (*frames, error)) (*fanOut, error) {
	f := &fanOut{arrived: make(chan struct{}, 1)}
	for range fanOutSockets {
		sub, err := open()
		if err != nil {
			f.close()
			return nil, err
		}
		f.subs = append(f.subs, sub)
		f.running.Go(func() { f.count(sub) })
	}
	return f, nil
}

func (f *fanOut) close() {
	for _, s := range f.subs {
		s.close()
	}
	f.running.Wait()
}

func (f *fanOut) count(s *frames) {
	for {
		marks := 0
		if _, err := s.next(func(part []byte) { marks += bytes.Count(part, []byte{fanOutMark}) }); err != nil {
			return // closed; what is missing is found out
		}
		if marks == 0 {
			continue
		}
		f.frames.Add(1)
		f.messages.Add(int64(marks))
		select {
		case f.arrived <- struct{}{}:
		default:
		}
	}
}

// await blocks until so many deliveries were counted in all.
func (f *fanOut) await(ctx context.Context, deliveries int64) error {
	timeout := time.After(fanOutTimeout)
	for f.messages.Load() < deliveries {
		select {
		case <-f.arrived:
		case <-timeout:
			return fmt.Errorf("%d of %d deliveries came within %v", f.messages.Load(), deliveries, fanOutTimeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// run sends with every sender at once, a batch each, and again when the batches
// of the turn before have arrived everywhere. It returns the deliveries a
// second and how many messages a frame held.
func (f *fanOut) run(ctx context.Context, length time.Duration, batch int, senders []func() error) (perSecond, perFrame float64, err error) {
	began := time.Now()
	messages, framed := f.messages.Load(), f.frames.Load()
	expected := messages
	for time.Since(began) < length {
		if err := sendAll(senders); err != nil {
			return 0, 0, err
		}
		before := expected
		expected += int64(len(senders) * batch * fanOutSockets)
		if err := f.await(ctx, before); err != nil {
			return 0, 0, err
		}
	}
	if err := f.await(ctx, expected); err != nil {
		return 0, 0, err
	}
	total := float64(f.messages.Load() - messages)
	return total / time.Since(began).Seconds(), total / float64(f.frames.Load()-framed), nil
}

func sendAll(senders []func() error) error {
	failures := make([]error, len(senders))
	var all sync.WaitGroup
	for i, send := range senders {
		all.Go(func() { failures[i] = send() })
	}
	all.Wait()
	return errors.Join(failures...)
}

// openSenders returns functions that send one request each, on a connection of
// its own.
func openSenders(ctx context.Context, host string, request []byte, count int) (senders []func() error, stop func(), err error) {
	var wires []*wire
	stop = func() {
		for _, w := range wires {
			w.close()
		}
	}
	for range count {
		w, err := dialWire(ctx, host)
		if err != nil {
			stop()
			return nil, nil, err
		}
		wires = append(wires, w)
		senders = append(senders, func() error {
			status, err := w.do(request)
			if err == nil && status != http.StatusOK {
				err = &errStatus{status, string(w.body)}
			}
			return err
		})
	}
	return senders, stop, nil
}

// roundFanOut delivers to a thousand WebSockets of one server: messages of one
// sender, each when the one before is durable, so that each makes a frame; and
// batches of several senders, which arrive together. The server does not
// linger, because nothing else is sent meanwhile.
func (s *suite) roundFanOut(ctx context.Context) error {
	dir, err := os.MkdirTemp(s.dir, "fan-out-")
	if err != nil {
		return err
	}
	server, err := StartServer(ctx, s.Binary, nil, "serve", "--linger", "0s", "--data", dir)
	if err != nil {
		return err
	}
	defer server.Kill()
	o := s.options(server.Server, ModeFramed, 1)
	o.Queues, o.Message = 1, fanOutBytes
	_, topic, _, err := o.topic(ctx) // ends with the server
	if err != nil {
		return err
	}
	f, err := openFanOut(func() (*frames, error) {
		return dialFrames(ctx, socketDialer, socketAddress(server.Server), func(c *websocket.Conn) error {
			return (&socket{conn: c}).subscribe(1_000_000, topic)
		})
	})
	if err != nil {
		return err
	}
	defer f.close()
	single, perFrame, err := s.sendFanOut(ctx, f, o, topic, 1, 1)
	if err != nil {
		return err
	}
	backlog, perBacklogFrame, err := s.sendFanOut(ctx, f, o, topic, 100, fanOutSenders)
	if err != nil {
		return err
	}
	s.note("fan-out of 256 B to 1,000, one frame a message, durable, deliveries/s", single)
	s.note("fan-out of 256 B to 1,000, one frame a message: messages a frame", perFrame)
	s.note("fan-out of 256 B to 1,000, under backlog, durable, deliveries/s", backlog)
	s.note("fan-out of 256 B to 1,000, under backlog: messages a frame", perBacklogFrame)
	f.close()
	server.Kill()
	return s.compareFanOut(ctx, single, backlog)
}

func (s *suite) sendFanOut(ctx context.Context, f *fanOut, o Options, topic string, batch, senders int) (perSecond, perFrame float64, err error) {
	host, err := hostOf(o.Server.URL)
	if err != nil {
		return 0, 0, err
	}
	o.Batch = batch
	send, stop, err := openSenders(ctx, host, o.sendRequest(host, topic, []byte{fanOutMark}), senders)
	if err != nil {
		return 0, 0, err
	}
	defer stop()
	return f.run(ctx, s.Step, batch, send)
}

// compareFanOut sets the same of Centrifugo, whose messages are in memory only,
// against these deliveries a second.
func (s *suite) compareFanOut(ctx context.Context, single, backlog float64) error {
	peer, err := s.centrifugoFanOut(ctx)
	if errors.Is(err, errNoPeer) {
		s.skip(figureFanOut, err)
		s.skip(figureBacklog, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("centrifugo: %w", err)
	}
	s.note("Centrifugo, memory, fan-out of 256 B to 1,000, deliveries/s", peer)
	s.note(figureFanOut, single/peer)
	s.note(figureBacklog, backlog/peer)
	return nil
}
