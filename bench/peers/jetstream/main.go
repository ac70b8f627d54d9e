// Command jetstream is the load that `bucketmq bench goals` puts on a NATS
// server: it publishes to a stream on files, reads the stream back in order if
// asked to, and prints one line of JSON. It has a module of its own, so that
// the client of a peer is no dependency of the product.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// result is what is printed.
type result struct {
	Published     int64   `json:"published"`
	PublishPerSec float64 `json:"publish_per_second"`
	ReadPerSec    float64 `json:"read_per_second"`
}

type options struct {
	url                       string
	publishers, pending, size int
	length                    time.Duration
	read                      bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", nats.DefaultURL, "the server")
	flag.IntVar(&o.publishers, "publishers", 16, "connections that publish")
	flag.IntVar(&o.pending, "pending", 500, "messages of a publisher that are not acknowledged")
	flag.IntVar(&o.size, "size", 1024, "bytes of a message")
	flag.DurationVar(&o.length, "length", 2*time.Second, "how long to publish")
	flag.BoolVar(&o.read, "read", false, "read everything back with an ordered consumer")
	flag.Parse()
	r, err := run(context.Background(), o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "jetstream:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (r result, err error) {
	conn, err := nats.Connect(o.url)
	if err != nil {
		return r, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return r, err
	}
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "bench", Subjects: []string{"bench"}, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return r, fmt.Errorf("make the stream: %w", err)
	}
	defer func() { err = errors.Join(err, js.DeleteStream(ctx, "bench")) }()
	began := time.Now()
	if r.Published, err = publishAll(o, began.Add(o.length)); err != nil {
		return r, err
	}
	r.PublishPerSec = float64(r.Published) / time.Since(began).Seconds()
	if o.read {
		began = time.Now()
		if err := readAll(ctx, stream, r.Published); err != nil {
			return r, err
		}
		r.ReadPerSec = float64(r.Published) / time.Since(began).Seconds()
	}
	return r, nil
}

// publishAll publishes until a time and returns how many were acknowledged.
func publishAll(o options, end time.Time) (int64, error) {
	var all sync.WaitGroup
	var published atomic.Int64
	failures := make([]error, o.publishers)
	for i := range failures {
		all.Go(func() {
			n, err := publish(o, end)
			published.Add(n)
			failures[i] = err
		})
	}
	all.Wait()
	return published.Load(), errors.Join(failures...)
}

func publish(o options, end time.Time) (int64, error) {
	conn, err := nats.Connect(o.url)
	if err != nil {
		return 0, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	var refused atomic.Int64
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(o.pending),
		jetstream.WithPublishAsyncErrHandler(func(jetstream.JetStream, *nats.Msg, error) { refused.Add(1) }))
	if err != nil {
		return 0, err
	}
	body := make([]byte, o.size)
	for i := range body {
		body[i] = 'a' + byte(i%26)
	}
	sent := int64(0)
	for time.Now().Before(end) {
		if _, err := js.PublishAsync("bench", body, jetstream.WithStallWait(30*time.Second)); err != nil {
			return 0, fmt.Errorf("publish: %w", err)
		}
		sent++
	}
	select {
	case <-js.PublishAsyncComplete():
		return sent - refused.Load(), nil
	case <-time.After(30 * time.Second):
		return 0, errors.New("not everything was acknowledged in 30 s")
	}
}

// readAll reads so many messages with an ordered consumer.
func readAll(ctx context.Context, stream jetstream.Stream, count int64) error {
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return fmt.Errorf("make a consumer: %w", err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(5000))
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	defer messages.Stop()
	for range count {
		if _, err := messages.Next(); err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
	return nil
}
