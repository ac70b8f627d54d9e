package journal

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// clockFresh is how long a reading of Redis' clock is carried on by this
	// process' own.
	clockFresh = 2 * time.Second
	// clockTimeout bounds one reading.
	clockTimeout = 2 * time.Second
)

// clock is Redis' clock as this process knows it without asking each time. It
// may be used concurrently.
type clock struct {
	read func(context.Context) (int64, error)

	mu       sync.Mutex
	asked    time.Time // guarded by mu; before the last reading
	answered time.Time // guarded by mu; after it
	reading  int64     // guarded by mu
}

// now returns bounds of Redis' clock in Unix milliseconds: it is at least low
// and at most high. They differ by what a reading took. ErrUnavailable.
func (c *clock) now() (low, high int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered.IsZero() || time.Since(c.answered) > clockFresh {
		ctx, cancel := context.WithTimeout(context.Background(), clockTimeout)
		defer cancel()
		asked := time.Now()
		reading, err := c.read(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("%w: read the clock of redis: %w", ErrUnavailable, err)
		}
		c.asked, c.answered, c.reading = asked, time.Now(), reading
	}
	// The reading was cut to whole milliseconds.
	low = c.reading + time.Since(c.answered).Milliseconds()
	high = c.reading + 1 + time.Since(c.asked).Milliseconds() + 1
	return low, high, nil
}
