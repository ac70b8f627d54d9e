package bench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// load is how a set of workers runs: until a time, at a rate or flat out.
type load struct {
	workers int
	rate    float64 // requests per second over all workers; 0 = flat out
	length  time.Duration
}

// tally is what the workers of one load did together.
type tally struct {
	latencies  latencies
	requests   int64
	errors     int64
	firstError error
	began      time.Time
}

// run calls a function of each worker again and again. With a rate, requests
// are due at fixed times and their latency counts from then, so that a server
// that stalls is not measured less.
func (l load) run(ctx context.Context, worker func(ctx context.Context, n int) (func() error, func(), error)) (*tally, error) {
	steps := make([]func() error, l.workers)
	for i := range steps {
		step, done, err := worker(ctx, i)
		if err != nil {
			return nil, err
		}
		defer done()
		steps[i] = step
	}
	parts := make([]tally, l.workers)
	began := time.Now()
	var turn atomic.Int64
	var all sync.WaitGroup
	for i, step := range steps {
		all.Go(func() { l.work(ctx, began, &turn, step, &parts[i]) })
	}
	all.Wait()
	sum := &tally{began: began}
	for i := range parts {
		sum.latencies.merge(&parts[i].latencies)
		sum.requests += parts[i].requests
		sum.errors += parts[i].errors
		if sum.firstError == nil {
			sum.firstError = parts[i].firstError
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if sum.requests == 0 {
		if sum.firstError != nil {
			return nil, sum.firstError
		}
		return nil, errNothing
	}
	return sum, nil
}

func (l load) work(ctx context.Context, began time.Time, turn *atomic.Int64, step func() error, t *tally) {
	end := began.Add(l.length)
	for ctx.Err() == nil {
		due := time.Now()
		if l.rate > 0 {
			due = began.Add(time.Duration(float64(turn.Add(1)-1) / l.rate * float64(time.Second)))
			time.Sleep(time.Until(due))
		}
		if !due.Before(end) {
			return
		}
		if err := step(); errors.Is(err, errDone) {
			return
		} else if err != nil {
			t.errors++
			if t.firstError == nil {
				t.firstError = err
			}
			if t.errors > 1000 || isFatal(err) {
				return
			}
			continue
		}
		t.latencies.add(time.Since(due))
		t.requests++
	}
}

// errDone ends a worker that has nothing left to do.
var errDone = errors.New("done")

// isFatal says whether a worker cannot go on: its connection is gone.
func isFatal(err error) bool {
	_, answered := err.(*errStatus)
	return !answered
}
