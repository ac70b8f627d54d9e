package main

import (
	"context"
	"fmt"
	"sync"
)

// parts are the goroutines of a process. The first that ends by itself ends
// the process.
type parts struct {
	running sync.WaitGroup
	once    sync.Once
	ended   chan error
}

// start runs a part; the returned channel is closed when it has ended.
func (p *parts) start(name string, run func() error) <-chan struct{} {
	p.once.Do(func() { p.ended = make(chan error, 8) })
	done := make(chan struct{})
	p.running.Go(func() {
		defer close(done)
		err := run()
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		} else {
			err = fmt.Errorf("%s ended by itself", name)
		}
		select {
		case p.ended <- err:
		default: // nobody waits any more
		}
	})
	return done
}

// wait returns nil when ctx ends, or why a part has ended before.
func (p *parts) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.ended:
		return err
	}
}

// await returns when all parts have ended.
func (p *parts) await() { p.running.Wait() }
