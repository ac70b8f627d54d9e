package group

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// place is one queue of a group.
type place struct {
	group, topic uuid.UUID
	queue        uint32
}

// places gives the receivers of this process one queue of a group after the
// other, so that they do not read the same messages to quarrel about them. It
// is no more than that: grants are decided in Redis. The zero value is ready.
type places struct {
	mu   sync.Mutex
	held map[place]*placeLock // guarded by mu
}

type placeLock struct {
	users int           // holders and waiters, guarded by places.mu
	turn  chan struct{} // holds one token while nobody holds the place
}

// lock takes the place. waited says that somebody else had it meanwhile, so that
// what is known of the queue is old.
func (p *places) lock(ctx context.Context, at place) (unlock func(), waited bool, err error) {
	p.mu.Lock()
	l := p.held[at]
	if l == nil {
		l = &placeLock{turn: make(chan struct{}, 1)}
		l.turn <- struct{}{}
		if p.held == nil {
			p.held = make(map[place]*placeLock)
		}
		p.held[at] = l
	}
	l.users++
	p.mu.Unlock()
	select {
	case <-l.turn:
	default:
		waited = true
		select {
		case <-l.turn:
		case <-ctx.Done():
			p.leave(at, l)
			return nil, true, context.Cause(ctx)
		}
	}
	return func() {
		l.turn <- struct{}{}
		p.leave(at, l)
	}, waited, nil
}

func (p *places) leave(at place, l *placeLock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(p.held, at)
	}
}
