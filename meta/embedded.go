package meta

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// embedded is a Redis-compatible server inside this process. It keeps nothing.
type embedded struct {
	mini    *miniredis.Miniredis
	stop    chan struct{}
	stopped sync.WaitGroup
}

// OpenEmbedded starts a Redis-compatible server inside this process, reachable
// on loopback with a random password only, and connects to it. Close ends it,
// and everything in it is gone.
func OpenEmbedded(ctx context.Context) (*DB, error) {
	password := rand.Text()
	e := &embedded{mini: miniredis.NewMiniRedis(), stop: make(chan struct{})}
	e.mini.RequireAuth(password)
	if err := e.mini.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start embedded redis: %w", err)
	}
	e.stopped.Go(e.expire)
	db, err := open(ctx, Options{Addrs: []string{e.mini.Addr()}, Password: password, Log: slog.Default()})
	if err != nil {
		e.close()
		return nil, fmt.Errorf("embedded redis: %w", err)
	}
	db.server = e
	return db, nil
}

func (e *embedded) close() {
	close(e.stop)
	e.stopped.Wait()
	e.mini.Close()
}

// expire lets keys expire: the server has no clock of its own for that. One
// step visits every key under the server's lock, so steps are spaced to take
// about one percent of the time; a key may go one step too early.
func (e *embedded) expire() {
	const shortest, longest = 100 * time.Millisecond, 5 * time.Second
	timer := time.NewTimer(shortest)
	defer timer.Stop()
	last := time.Now()
	for {
		select {
		case <-e.stop:
			return
		case <-timer.C:
		}
		start := time.Now()
		e.mini.FastForward(start.Sub(last))
		last = start
		timer.Reset(min(max(100*time.Since(start), shortest), longest))
	}
}
