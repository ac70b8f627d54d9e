package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

const (
	timers       = 10_000 // fired in a second, and at once
	timersBatch  = 1000
	timersAhead  = 3 * time.Second // what sending them may take
	timersAtMost = 30 * time.Second
)

const (
	figureTimersArmed = "timers armed, /s"
	figureTimersFired = "timers fired, 10,000 due at once, /s"
	figureTimersLate  = "timer lateness p99 at 10,000/s, ms"
)

// roundTimers measures how fast delayed messages are put down, how fast they
// fire when all are due at once, and how late they are at 10,000 a second.
func (s *suite) roundTimers(ctx context.Context) error {
	coordinator, err := s.startCoordinator(ctx)
	if err != nil {
		return err
	}
	defer coordinator.Kill()
	armed, _, took, err := s.timers(ctx, 0)
	if err != nil {
		return fmt.Errorf("timers at once: %w", err)
	}
	s.note(figureTimersArmed, timers/armed.Seconds())
	s.note(figureTimersFired, timers/max(took, time.Millisecond).Seconds())
	_, late, _, err := s.timers(ctx, time.Second)
	if err != nil {
		return fmt.Errorf("timers of a second: %w", err)
	}
	s.note(figureTimersLate, float64(late[len(late)*99/100]))
	return nil
}

// timers sends messages that are due within spread, and waits for them. It
// returns how long sending took, how late each was, sorted, in milliseconds, and
// the time from the first that was due to the last delivery.
func (s *suite) timers(ctx context.Context, spread time.Duration) (armed time.Duration, late []int64, took time.Duration, err error) {
	o := s.options(s.first.Server, ModeJSON, 1)
	o.Queues, o.TopicType = 1, "delay"
	cl, topic, remove, err := o.topic(ctx)
	if err != nil {
		return 0, nil, 0, err
	}
	defer remove()
	first := time.Now().Add(timersAhead).Truncate(time.Millisecond)
	began := time.Now()
	for begin := 0; begin < timers; begin += timersBatch {
		messages := make([]client.Message, timersBatch)
		for i := range messages {
			due := first.Add(spread * time.Duration(begin+i) / timers).Truncate(time.Millisecond).UTC()
			messages[i].DeliverAt = &due
			messages[i].SetBody([]byte(strconv.FormatInt(due.UnixMilli(), 10)))
		}
		if _, err := cl.Send(ctx, topic, messages, ""); err != nil {
			return 0, nil, 0, err
		}
	}
	armed = time.Since(began)
	if late, err = delivered(ctx, cl, topic, first.Add(timersAtMost)); err != nil {
		return 0, nil, 0, err
	}
	slices.Sort(late)
	if late[0] < 0 {
		return 0, nil, 0, fmt.Errorf("a delayed message was %d ms early", -late[0])
	}
	return armed, late, spread + time.Duration(late[len(late)-1])*time.Millisecond, nil
}

// delivered reads until all messages are there and returns how late each was.
func delivered(ctx context.Context, cl *client.Client, topic string, until time.Time) (late []int64, err error) {
	for offset := int64(0); len(late) < timers; {
		page, err := cl.Read(ctx, client.Read{Topic: topic, Offset: offset, Limit: 1000, Wait: timersAhead})
		if err != nil {
			return nil, err
		}
		for i := range page.Messages {
			body, err := page.Messages[i].Bytes()
			if err != nil {
				return nil, err
			}
			due, err := strconv.ParseInt(string(body), 10, 64)
			if err != nil {
				return nil, err
			}
			late = append(late, page.Messages[i].StoredAt.UnixMilli()-due)
		}
		if offset = page.NextOffset; time.Now().After(until) {
			return nil, fmt.Errorf("%d of %d delayed messages came", len(late), timers)
		}
	}
	return late, nil
}
