package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

const (
	pageMessages = 500
	pageBytes    = 4 << 20
	pollWait     = 25 * time.Second
)

// cursor is the place in one queue up to which messages were read.
type cursor struct {
	topic  string
	queue  int64
	tags   string
	sql    string
	offset int64 // next to read
	end    int64 // where the stored messages ended when reading began
	epoch  int64

	page []client.Stored // read, not yet printed; oldest first
	note string          // something that the user should know about the page
}

// fill reads on until the cursor has messages or has come to its end. With a
// wait it ignores the end and returns after one long poll.
func (q *cursor) fill(ctx context.Context, cl *client.Client, wait time.Duration) error {
	for len(q.page) == 0 && (wait > 0 || q.offset < q.end) {
		page, err := cl.Read(ctx, client.Read{
			Topic: q.topic, Queue: q.queue, Offset: q.offset, Tags: q.tags, SQL: q.sql,
			Limit: pageMessages, MaxBytes: pageBytes, Wait: wait, Clamp: true,
		})
		if err != nil {
			return err
		}
		switch {
		case page.Epoch != q.epoch:
			q.note = fmt.Sprintf("queue %d: epoch %d is now %d; offsets may have been given anew", q.queue, q.epoch, page.Epoch)
			q.epoch = page.Epoch
		case page.MinOffset > q.offset:
			q.note = fmt.Sprintf("queue %d: offsets %d to %d are no longer kept", q.queue, q.offset, page.MinOffset-1)
		}
		q.page = page.Messages
		if wait == 0 && len(page.Messages) == 0 && page.NextOffset <= q.offset {
			return nil // the queue ends before it did
		}
		q.offset = page.NextOffset
		if wait > 0 {
			return nil
		}
	}
	return nil
}

// mergeStored prints what is stored in all queues, by time of storing; within a
// queue, in its order.
func mergeStored(queues []*cursor, fill func(*cursor) error, p *printer) error {
	for {
		var oldest *cursor
		for _, q := range queues {
			if len(q.page) == 0 {
				if err := fill(q); err != nil {
					return err
				}
			}
			if len(q.page) == 0 || q.page[0].Offset >= q.end {
				continue // what came after the start is for follow
			}
			if oldest == nil || q.page[0].StoredAt.Before(oldest.page[0].StoredAt) {
				oldest = q
			}
		}
		if oldest == nil {
			return nil
		}
		m := oldest.page[0]
		oldest.page = oldest.page[1:]
		if err := p.print(&m); err != nil {
			return err
		}
	}
}

// arrival is what one long poll brought.
type arrival struct {
	messages []client.Stored
	note     string
	err      error
}

// followAll keeps one long poll open per queue and prints what arrives. It
// outlives restarts of the server.
func followAll(ctx context.Context, env *environment, cl *client.Client, queues []*cursor, p *printer) error {
	ctx, cancel := context.WithCancel(ctx)
	var polls sync.WaitGroup
	defer polls.Wait()
	defer cancel()
	arrivals := make(chan arrival)
	for _, q := range queues {
		polls.Go(func() { q.follow(ctx, cl, arrivals) })
	}
	told := false
	for {
		select {
		case a := <-arrivals:
			if a.note != "" {
				fmt.Fprintln(env.stderr, "bucketmq:", a.note)
			}
			if a.err != nil && !mayRepeat(a.err) {
				return a.err
			}
			if a.err != nil && !told {
				fmt.Fprintln(env.stderr, "bucketmq: waiting for the server:", a.err)
			}
			told = a.err != nil
			for i := range a.messages {
				if err := p.print(&a.messages[i]); err != nil {
					return err
				}
			}
			if err := p.out.Flush(); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// follow polls one queue until ctx ends or an error that lasts.
func (q *cursor) follow(ctx context.Context, cl *client.Client, out chan<- arrival) {
	pause := 100 * time.Millisecond
	for ctx.Err() == nil {
		err := q.fill(ctx, cl, pollWait)
		if ctx.Err() != nil {
			return
		}
		a := arrival{messages: q.page, note: q.note, err: err}
		q.page, q.note = nil, ""
		select {
		case out <- a:
		case <-ctx.Done():
			return
		}
		if err == nil {
			pause = 100 * time.Millisecond
			continue
		}
		var problem *client.Problem
		if errors.As(err, &problem) {
			pause = max(pause, problem.RetryAfter())
		}
		if sleep(ctx, pause/2+rand.N(pause)) != nil {
			return
		}
		pause = min(2*pause, 5*time.Second)
	}
}
