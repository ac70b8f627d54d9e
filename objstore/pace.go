package objstore

import (
	"context"
	"sync"
	"time"
)

// pace spaces requests out while the service asks for fewer: the gap doubles
// with such an answer and shrinks with each success, so many callers together
// settle at a rate that the service bears.
type pace struct {
	turn chan struct{} // held by the caller whose request leaves next

	mu     sync.Mutex
	gap    time.Duration // 0: no limit; guarded by mu
	last   time.Time     // when a request left; guarded by mu
	slowed time.Time     // when the gap last grew; guarded by mu
}

const (
	minGap = time.Millisecond
	maxGap = time.Second
)

func newPace() *pace { return &pace{turn: make(chan struct{}, 1)} }

// wait returns nil when the caller's request may leave. A caller that gives up
// leaves no hole: turns are taken one by one, never in advance.
func (p *pace) wait(ctx context.Context) error {
	if p.delay() == 0 {
		return ctx.Err()
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	timer := time.NewTimer(p.delay())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	return nil
}

// delay is how long the next request still has to wait; 0 means no limit.
func (p *pace) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap == 0 {
		return 0
	}
	return max(time.Until(p.last.Add(p.gap)), 1)
}

// slower grows the gap, once for all the requests that were under way together.
func (p *pace) slower() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.slowed) > p.gap+20*time.Millisecond {
		p.gap = min(max(2*p.gap, 4*minGap), maxGap)
		p.slowed = now
	}
}

func (p *pace) faster() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap = p.gap * 4 / 5; p.gap < minGap {
		p.gap = 0
	}
}
