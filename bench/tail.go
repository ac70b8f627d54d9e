package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Tail measures a fan-out: every one of Workers subscribers receives every
// message that one producer sends at Rate. Latency is from send to receipt.
func Tail(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Rate == 0 {
		o.Rate = 1000
	}
	return o.deliver(ctx, "tail", o.Server, o.Workers)
}

// EndToEnd measures one message's way from a producer to a subscriber, at Rate,
// and beside it how long the producer waits for its answer.
func EndToEnd(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Rate == 0 {
		o.Rate = 100
	}
	o.Batch = 1
	return o.deliver(ctx, "e2e", o.Server, 1)
}

// deliver sends to o.Server and receives from another (or the same) server.
func (o Options) deliver(ctx context.Context, workload string, from Server, subscribers int) (*Result, error) {
	if o.Via == ViaPoll {
		o.Queues = 1 // a poll sees one queue
	}
	if o.Mode == ModeFramed {
		o.Mode = ModeJSON // subscribers find stamps in text
	}
	_, topic, remove, err := o.topic(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	r, m, err := o.start(ctx, workload)
	if err != nil {
		return nil, err
	}
	defer m.close()

	d := &deliveries{parts: make([]latencies, subscribers)}
	stop, err := d.open(ctx, from, o.Via, topic)
	if err != nil {
		return nil, err
	}
	defer stop()
	workers := 1
	if workload == "e2e" {
		workers = o.Workers
	}
	sum, err := load{workers: workers, rate: o.Rate / float64(o.Batch), length: o.Length}.run(ctx, o.stampingSender(topic))
	if err != nil {
		return nil, err
	}
	sent := sum.requests * int64(o.Batch)
	d.wait(ctx, sent*int64(subscribers))
	stop()
	var all latencies
	for i := range d.parts {
		all.merge(&d.parts[i])
	}
	r.Messages, r.Requests, r.Errors = int64(all.total), sum.requests, sum.errors
	if missing := sent*int64(subscribers) - r.Messages; missing > 0 {
		r.Errors += missing
		r.FirstError = fmt.Sprintf("%d deliveries did not come within 10 s", missing)
	}
	r.finish(sum.began, &all)
	r.ProduceLatencyMS = sum.latencies.quantiles()
	return r, m.charge(ctx, r)
}

// stampingSender returns workers that put the time into every message.
func (o Options) stampingSender(topic string) worker {
	return o.senderOf(func(host string) func() []byte {
		return func() []byte { return o.sendRequest(host, topic, stampOf(time.Now())) }
	})
}

// deliveries collects what subscribers receive.
type deliveries struct {
	parts    []latencies // one per subscriber, read after stop
	received atomic.Int64
}

// open starts the subscribers; the returned function ends and awaits them.
func (d *deliveries) open(ctx context.Context, s Server, via, topic string) (func(), error) {
	var running sync.WaitGroup
	var subs []subscriber
	stop := sync.OnceFunc(func() {
		for _, s := range subs {
			s.close()
		}
		running.Wait()
	})
	for i := range d.parts {
		sub, err := subscribe(ctx, s, via, topic, 0)
		if err != nil {
			stop()
			return nil, err
		}
		subs = append(subs, sub)
		running.Go(func() { d.receive(sub, &d.parts[i]) })
	}
	return stop, nil
}

func (d *deliveries) receive(s subscriber, l *latencies) {
	for {
		text, err := s.next()
		if err != nil {
			return // closed; what is missing is counted
		}
		now := time.Now()
		stampedAt(text, func(at time.Time) {
			l.add(now.Sub(at))
			d.received.Add(1)
		})
	}
}

// wait lets the last messages arrive, for at most 10 s.
func (d *deliveries) wait(ctx context.Context, total int64) {
	deadline := time.Now().Add(10 * time.Second)
	for d.received.Load() < total && time.Now().Before(deadline) && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
}
