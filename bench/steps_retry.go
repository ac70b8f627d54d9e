package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

const (
	failures        = 2000
	failureWorkers  = 16
	failureWait     = 4 * time.Second // what giving all of them back may take
	failuresAtMost  = 60 * time.Second
	figureGivenBack = "messages given back to the retry topic, /s"
	figureRetried   = "retries received and acknowledged, /s"
	figureDead      = "messages given up to the dead letters, /s"
)

// roundRetries measures how fast a group in shared mode gives messages back through
// its retry topic, takes them from there, and gives messages up.
func (s *suite) roundRetries(ctx context.Context) error {
	coordinator, err := s.startCoordinator(ctx)
	if err != nil {
		return err
	}
	defer coordinator.Kill()
	o := s.options(s.first.Server, ModeJSON, 1)
	o.Queues = 8
	cl, topic, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	from := "first"
	group := "g-" + topic
	retry := client.Retry{DelaysMS: []int64{failureWait.Milliseconds(), 0}}
	if _, err := cl.CreateGroup(ctx, group, client.GroupSettings{ConsumeFrom: &from, Retry: &retry}); err != nil {
		return err
	}
	defer func() { _ = cl.DeleteGroup(context.WithoutCancel(ctx), group, true) }()
	for begin := 0; begin < failures; begin += timersBatch {
		messages := make([]client.Message, timersBatch)
		for i := range messages {
			messages[i].SetBody([]byte("0123456789"))
		}
		if _, err := cl.Send(ctx, topic, messages, ""); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, failuresAtMost)
	defer cancel()
	began := time.Now()
	took, err := handleAll(ctx, cl, group, topic, giveBack(ctx, cl, group, false))
	if err != nil {
		return fmt.Errorf("give back: %w", err)
	}
	s.note(figureGivenBack, failures/took.Seconds())
	select {
	case <-time.After(time.Until(began.Add(took + failureWait))):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	took, err = handleAll(ctx, cl, group, topic, func(receipts []string) error { return cl.AckMessages(ctx, group, receipts) })
	if err != nil {
		return fmt.Errorf("receive again: %w", err)
	}
	s.note(figureRetried, failures/took.Seconds())
	if _, err := cl.ResetOffsets(ctx, group, client.Reset{Topic: topic, To: "earliest"}); err != nil {
		return err
	}
	took, err = handleAll(ctx, cl, group, topic, giveBack(ctx, cl, group, true))
	if err != nil {
		return fmt.Errorf("give up: %w", err)
	}
	s.note(figureDead, failures/took.Seconds())
	return nil
}

// handleAll receives the topic's messages with several workers and does with each
// batch what is to be done; it returns the time until all are done.
func handleAll(ctx context.Context, cl *client.Client, group, topic string, do func(receipts []string) error) (time.Duration, error) {
	var done atomic.Int64
	var workers sync.WaitGroup
	faults := make(chan error, failureWorkers)
	request := client.Receive{Topics: []client.Selection{{Topic: topic}}, MaxMessages: 32, WaitMS: 1000}
	began := time.Now()
	for range failureWorkers {
		workers.Go(func() {
			for done.Load() < failures && ctx.Err() == nil {
				got, err := cl.ReceiveMessages(ctx, group, request)
				if err == nil && len(got.Messages) > 0 {
					receipts := make([]string, len(got.Messages))
					for i := range got.Messages {
						receipts[i] = got.Messages[i].Receipt
					}
					if err = do(receipts); err == nil {
						done.Add(int64(len(receipts)))
					}
				}
				if err != nil {
					faults <- err
					return
				}
			}
		})
	}
	workers.Wait()
	took := time.Since(began)
	if n := done.Load(); n < failures {
		select {
		case err := <-faults:
			return 0, err
		default:
			return 0, fmt.Errorf("%d of %d messages came: %w", n, failures, context.Cause(ctx))
		}
	}
	return took, nil
}

// giveBack gives messages back, or up.
func giveBack(ctx context.Context, cl *client.Client, group string, dead bool) func(receipts []string) error {
	return func(receipts []string) error {
		items := make([]client.Nack, len(receipts))
		for i, r := range receipts {
			items[i] = client.Nack{Receipt: r, DeadLetter: dead}
		}
		return cl.NackMessages(ctx, group, items)
	}
}
