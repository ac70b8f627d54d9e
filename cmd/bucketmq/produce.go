package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/client"
)

const (
	maxBatch      = 1000    // messages in one request
	maxBatchBytes = 4 << 20 // bodies in one request; JSON may double them
	maxLineBytes  = 4 << 20 // the largest body that any topic accepts
)

type produceCmd struct {
	clientFlags
	Topic       string            `arg:"" help:"The topic to send to."`
	Message     []string          `arg:"" optional:"" help:"Messages to send; without any, every line of standard input is one."`
	Tag         string            `placeholder:"TAG" help:"Tag of the messages, for consumers to filter by."`
	Key         []string          `sep:"none" placeholder:"KEY" help:"Key to find the messages by. Repeatable."`
	OrderingKey string            `placeholder:"KEY" help:"Messages with the same ordering key go to the same queue, in order."`
	Queue       *int64            `placeholder:"N" help:"Send to this queue, instead of one chosen by the server."`
	ContentType string            `placeholder:"TYPE" help:"Media type that readers are told; the server does not look at it."`
	Property    map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"Property of the messages. Repeatable."`
	Delay       time.Duration     `placeholder:"DURATION" help:"Deliver the messages so much later, up to 960h; the topic is of type delay or mixed."`
	DeliverAt   string            `placeholder:"TIME" help:"Deliver the messages then (RFC 3339)."`
	DelayLevel  int64             `placeholder:"N" help:"Deliver the messages after the wait of level 1 (1s) to 18 (2h)."`
	IfNext      *int64            `name:"if-next-offset" placeholder:"N" help:"Store only if the queue's next offset is N, else fail; every further request goes on where the one before ended."`
	Whole       bool              `help:"Send all of standard input as one message."`
	Batch       int               `default:"1000" placeholder:"N" help:"At most this many messages in one request (1 to 1000)."`
	RetryFor    time.Duration     `default:"30s" placeholder:"DURATION" help:"How long to repeat a request that was not answered or is to be repeated; nothing is stored twice."`
	JSON        bool              `name:"json" help:"Print one JSON object per message: its id, queue and offset; of a delayed one the recall handle."`

	deliverAt *time.Time
}

// Run sends the messages and returns when all of them are durable.
func (c *produceCmd) Run(env *environment) error {
	if c.Batch < 1 || c.Batch > maxBatch {
		return usageError(fmt.Sprintf("--batch %d: want 1 to %d", c.Batch, maxBatch))
	}
	if c.Whole && len(c.Message) > 0 {
		return usageError("--whole sends standard input: give no messages as arguments")
	}
	if c.IfNext != nil && (c.Queue == nil || *c.IfNext < 0) {
		return usageError("--if-next-offset is an offset of the queue that --queue names")
	}
	if err := c.checkDelay(); err != nil {
		return err
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(env.ctx)
	defer cancel()
	bodies := make(chan []byte, maxBatch)
	read := make(chan error, 1)
	go func() { // ends with the input, or the process
		defer close(bodies)
		read <- c.read(ctx, env, bodies)
	}()
	p := progress{out: env.stderr, on: isTerminal(env.stderr), verb: "stored"}
	for batch := range batches(bodies, c.Batch) {
		if err := c.send(ctx, env, cl, batch); err != nil {
			p.end()
			return fmt.Errorf("after %s: %w", plural(p.count, "stored message"), err)
		}
		p.add(int64(len(batch)))
		if c.IfNext != nil {
			*c.IfNext += int64(len(batch))
		}
	}
	p.end()
	return <-read
}

// checkDelay reads when the messages are to be delivered.
func (c *produceCmd) checkDelay() error {
	given := 0
	for _, set := range []bool{c.Delay != 0, c.DeliverAt != "", c.DelayLevel != 0} {
		if set {
			given++
		}
	}
	switch {
	case given > 1:
		return usageError("give one of --delay, --deliver-at and --delay-level")
	case c.Delay < 0 || c.Delay > 0 && c.Delay < time.Millisecond:
		return usageError(fmt.Sprintf("--delay %v: at least 1ms", c.Delay))
	case c.DeliverAt == "":
		return nil
	}
	at, err := time.Parse(time.RFC3339, c.DeliverAt)
	if err != nil {
		return usageError(fmt.Sprintf("--deliver-at %s: want a time like 2026-12-01T08:30:00Z", c.DeliverAt))
	}
	c.deliverAt = &at
	return nil
}

// read passes on every message of the command line or of standard input.
func (c *produceCmd) read(ctx context.Context, env *environment, out chan<- []byte) error {
	pass := func(body []byte) bool {
		select {
		case out <- body:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for _, m := range c.Message {
		if !pass([]byte(m)) {
			return ctx.Err()
		}
	}
	if len(c.Message) > 0 {
		return nil
	}
	if isTerminal(env.stdin) {
		fmt.Fprintln(env.stderr, "One message per line; end with Ctrl-D.")
	}
	if c.Whole {
		body, err := io.ReadAll(io.LimitReader(env.stdin, maxLineBytes+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		if len(body) > maxLineBytes {
			return fmt.Errorf("standard input is over %s", humanBytes(maxLineBytes))
		}
		pass(body)
		return ctx.Err()
	}
	lines := bufio.NewScanner(env.stdin)
	lines.Buffer(make([]byte, 64<<10), maxLineBytes+1)
	lines.Split(splitLines)
	for n := 1; lines.Scan(); n++ {
		if !pass(append([]byte{}, lines.Bytes()...)) {
			return ctx.Err()
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is over %s: send it with --whole, or split it", humanBytes(maxLineBytes))
	}
	return lines.Err()
}

// splitLines is bufio.ScanLines that keeps a carriage return: a body is stored
// as it came.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	for i, c := range data {
		if c == '\n' {
			return i + 1, data[:i], nil
		}
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// batches yields what is there already, up to size: a slow input is sent as it
// comes, a fast one in full requests.
func batches(in <-chan []byte, size int) func(yield func([][]byte) bool) {
	return func(yield func([][]byte) bool) {
		var held []byte // came, but did not fit
		for {
			first := held
			held = nil
			if first == nil {
				var ok bool
				if first, ok = <-in; !ok {
					return
				}
			}
			batch, bytes := [][]byte{first}, len(first)
			ended := false
		fill:
			for len(batch) < size {
				select {
				case body, ok := <-in:
					if !ok {
						ended = true
						break fill
					}
					if bytes+len(body) > maxBatchBytes {
						held = body
						break fill
					}
					batch, bytes = append(batch, body), bytes+len(body)
				default:
					break fill
				}
			}
			if !yield(batch) || ended {
				return
			}
		}
	}
}

// send stores one batch. A request without a clear answer is repeated under
// the same idempotency key, so it is stored at most once.
func (c *produceCmd) send(ctx context.Context, env *environment, cl *client.Client, bodies [][]byte) error {
	messages := make([]client.Message, len(bodies))
	for i, body := range bodies {
		messages[i] = client.Message{
			Queue: c.Queue, Tag: c.Tag, Keys: c.Key, OrderingKey: c.OrderingKey,
			ContentType: c.ContentType, Properties: c.Property,
			DelayMS: c.Delay.Milliseconds(), DeliverAt: c.deliverAt, DelayLevel: c.DelayLevel,
		}
		messages[i].SetBody(body)
	}
	key := uuid.NewString()
	deadline := time.Now().Add(c.RetryFor)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		var result client.SendResult
		var err error
		if c.IfNext != nil {
			result, err = cl.SendIf(ctx, c.Topic, messages, key, *c.IfNext)
		} else {
			result, err = cl.Send(ctx, c.Topic, messages, key)
		}
		if err == nil {
			return c.report(env, result)
		}
		pause := wait/2 + rand.N(wait)
		if after := retryAfter(err); after > pause {
			pause = after
		}
		if !mayRepeat(err) || time.Now().Add(pause).After(deadline) {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func mayRepeat(err error) bool {
	var problem *client.Problem
	if errors.As(err, &problem) {
		return problem.Retryable || problem.Status == 429 || problem.Status >= 500
	}
	return errors.Is(err, client.ErrUnreachable)
}

func retryAfter(err error) time.Duration {
	var problem *client.Problem
	if errors.As(err, &problem) {
		return problem.RetryAfter()
	}
	return 0
}

// report prints each message's place, and fails when one was not stored.
func (c *produceCmd) report(env *environment, result client.SendResult) error {
	for _, r := range result.Results {
		if c.JSON {
			if err := printJSON(env.stdout, r); err != nil {
				return err
			}
		}
	}
	if result.Failed == 0 {
		return nil
	}
	for _, r := range result.Results {
		if r.Error != nil {
			return fmt.Errorf("%d of %d messages were not stored; the first: %s (%s)",
				result.Failed, result.Failed+result.Stored, r.Error.Detail, r.Error.Code)
		}
	}
	return fmt.Errorf("%d messages were not stored", result.Failed)
}
