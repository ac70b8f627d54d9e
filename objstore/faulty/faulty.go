// Package faulty wraps a store so that a test decides which call goes wrong and
// how. It is for tests only.
package faulty

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/objstore"
)

// ErrInjected is what Fail faults return when they are given no error.
var ErrInjected = errors.New("faulty: injected fault")

// Op names a method of objstore.Store.
type Op string

// The four methods; the empty Op matches all of them.
const (
	Put    Op = "put"
	Get    Op = "get"
	List   Op = "list"
	Delete Op = "delete"
)

// Fault surrounds one call. next does the real call; for Get it returns the
// bytes, for the other methods none. A List is surrounded as a whole before its
// first object: there next does nothing.
type Fault func(ctx context.Context, next func() ([]byte, error)) ([]byte, error)

// Rule says which calls a Fault is applied to.
type Rule struct {
	Op     Op     // empty: every method
	Prefix string // of the key, or of the listed prefix; empty: every key
	Skip   int    // matching calls let through first
	Times  int    // calls hit after that; 0: all
	Fault  Fault

	mu   sync.Mutex
	seen int // guarded by mu
	hits int // guarded by mu
}

// Hits returns how many calls the rule was applied to.
func (r *Rule) Hits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hits
}

func (r *Rule) take(op Op, key string) bool {
	if (r.Op != "" && r.Op != op) || !strings.HasPrefix(key, r.Prefix) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen++
	if r.seen <= r.Skip || (r.Times > 0 && r.hits >= r.Times) {
		return false
	}
	r.hits++
	return true
}

// Store is an objstore.Store with faults.
type Store struct {
	inner objstore.Store

	mu    sync.Mutex
	rules []*Rule        // guarded by mu
	calls map[Op]int     // guarded by mu
	keys  map[string]int // guarded by mu
}

var (
	_ objstore.Store   = (*Store)(nil)
	_ objstore.Metered = (*Store)(nil)
)

// Wrap returns inner with no fault yet.
func Wrap(inner objstore.Store) *Store {
	return &Store{inner: inner, calls: make(map[Op]int), keys: make(map[string]int)}
}

// Add makes the rule effective. The first matching rule wins.
func (s *Store) Add(r *Rule) *Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, r)
	return r
}

// Clear removes every rule. Calls that a fault holds stay held.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// Calls returns how often the method was called, failed calls included.
func (s *Store) Calls(op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[op]
}

// CallsOf returns how often the method was called with this key.
func (s *Store) CallsOf(op Op, key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[string(op)+" "+key]
}

// Requests returns the calls by verb, as objstore.Metered does.
func (s *Store) Requests() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]uint64{"head": 0, "other": 0}
	for _, op := range []Op{Put, Get, List, Delete} {
		all[string(op)] = uint64(s.calls[op])
	}
	return all
}

// Bytes returns what the wrapped store counts.
func (s *Store) Bytes() (sent, received uint64) {
	if inner, ok := s.inner.(objstore.Metered); ok {
		return inner.Bytes()
	}
	return 0, 0
}

// Put stores the object unless a rule says otherwise.
func (s *Store) Put(ctx context.Context, key string, body []byte) error {
	_, err := s.call(ctx, Put, key, func() ([]byte, error) { return nil, s.inner.Put(ctx, key, body) })
	return err
}

// Get reads the range unless a rule says otherwise.
func (s *Store) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return s.call(ctx, Get, key, func() ([]byte, error) { return s.inner.Get(ctx, key, off, n) })
}

// List yields the objects unless a rule says otherwise.
func (s *Store) List(ctx context.Context, prefix, startAfter string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if _, err := s.call(ctx, List, prefix, func() ([]byte, error) { return nil, nil }); err != nil {
			yield(objstore.Info{}, err)
			return
		}
		for info, err := range s.inner.List(ctx, prefix, startAfter) {
			if !yield(info, err) {
				return
			}
		}
	}
}

// Delete removes the object unless a rule says otherwise.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := s.call(ctx, Delete, key, func() ([]byte, error) { return nil, s.inner.Delete(ctx, key) })
	return err
}

func (s *Store) call(ctx context.Context, op Op, key string, next func() ([]byte, error)) ([]byte, error) {
	if fault := s.fault(op, key); fault != nil {
		return fault(ctx, next)
	}
	return next()
}

func (s *Store) fault(op Op, key string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[op]++
	s.keys[string(op)+" "+key]++
	for _, r := range s.rules {
		if r.take(op, key) {
			return r.Fault
		}
	}
	return nil
}

func orInjected(err error) error {
	if err == nil {
		return ErrInjected
	}
	return err
}

// FailBefore returns err (nil: ErrInjected) and does nothing.
func FailBefore(err error) Fault {
	return func(context.Context, func() ([]byte, error)) ([]byte, error) { return nil, orInjected(err) }
}

// FailAfter does the call, then returns err (nil: ErrInjected): the reply is lost.
func FailAfter(err error) Fault {
	return func(_ context.Context, next func() ([]byte, error)) ([]byte, error) {
		if _, realErr := next(); realErr != nil {
			return nil, realErr
		}
		return nil, orInjected(err)
	}
}

// Delay waits before the call; it ends early with ctx and then does nothing.
func Delay(d time.Duration) Fault {
	return func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return next()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Hold waits until release is closed before the call, or ends with ctx and then
// does nothing.
func Hold(release <-chan struct{}) Fault {
	return func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		select {
		case <-release:
			return next()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// HoldAfter does the call, then keeps its reply until release is closed, or
// loses it with the end of ctx.
func HoldAfter(release <-chan struct{}) Fault {
	return func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		body, err := next()
		select {
		case <-release:
			return body, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Flip turns one bit of the byte at this index of what a Get returns; an index
// past the end wraps around.
func Flip(index int) Fault {
	return func(_ context.Context, next func() ([]byte, error)) ([]byte, error) {
		body, err := next()
		if err == nil && len(body) > 0 {
			body[index%len(body)] ^= 0x10
		}
		return body, err
	}
}

// Truncate cuts what a Get returns to n bytes, as if it were all there is.
func Truncate(n int) Fault {
	return func(_ context.Context, next func() ([]byte, error)) ([]byte, error) {
		body, err := next()
		return body[:min(n, len(body))], err
	}
}
