package journal

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"
)

func TestSegmentMemoryIsUsedAgainBySize(t *testing.T) {
	m := newSegmentMemory(1 << 20)
	for _, n := range []int{0, 1, 30 << 10, 40 << 10, 100 << 10, 600 << 10, 1 << 20, 1<<20 + 1<<15, 5 << 20} {
		b := m.take(n)
		if len(b) != 0 || cap(b) < n || n > 64<<10 && cap(b) > 2*n+64<<10 {
			t.Errorf("%d bytes: room of %d, %d used", n, cap(b), len(b))
		}
		m.give(append(b, 1))
	}
	m.give(nil)
	m.give(make([]byte, 12345)) // not from here
	if b := m.take(12345); cap(b) != 12345 {
		t.Errorf("somebody else's memory was taken in: %d", cap(b))
	}
}

// Whoever has an object keeps its bytes, whatever the cache and others do; the
// last one who lets go gives them back.
func TestAnObjectKeepsItsBytesUntilItsLastUserLetsGo(t *testing.T) {
	PoisonMemory(t)
	memory := newSegmentMemory(64 << 10)
	piece := func(mark byte) *object {
		data := memory.take(64 << 10)[:64<<10]
		copy(data, bytes.Repeat([]byte{mark}, len(data)))
		return newPiece(0, data, memory)
	}
	cache := newObjectCache(200<<10, 1, 1)
	maker := piece('a')
	data := maker.data
	cache.put(keyOf(1), hot, maker)
	reader := cache.get(keyOf(1))
	maker.release()
	cache.put(keyOf(2), hot, piece('b')) // pushes out the first
	if cache.get(keyOf(1)) != nil {
		t.Fatal("both objects fit: the test tests nothing")
	}
	if bytes.Count(data, []byte{'a'}) != len(data) {
		t.Fatal("the bytes of an object that is read were given back")
	}
	reader.release()
	if bytes.Count(data, []byte{poisonByte}) != len(data) {
		t.Fatal("nobody uses the object, and its memory was not given back")
	}
	defer func() {
		if recover() == nil {
			t.Error("one more release than users goes unseen")
		}
	}()
	reader.release()
}

// Of those who wait for one load each becomes a user, also the last.
func TestEverybodyWhoWaitsForAnObjectIsItsUser(t *testing.T) {
	PoisonMemory(t)
	memory := newSegmentMemory(64 << 10)
	cache := newObjectCache(1<<10, 1, 1) // keeps nothing
	start, asked := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			o, err := cache.fetch(context.Background(), keyOf(1), hot, func(context.Context) (*object, error) {
				close(asked)
				<-start
				data := memory.take(64 << 10)[:64<<10]
				copy(data, bytes.Repeat([]byte{'a'}, len(data)))
				return newPiece(0, data, memory), nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			if bytes.Count(o.data, []byte{'a'}) != 64<<10 {
				t.Error("given back while it is read")
			}
			o.release()
		})
	}
	<-asked
	waitUntil(t, func() bool {
		cache.mu.Lock()
		defer cache.mu.Unlock()
		return cache.loads[keyOf(1)] != nil && cache.loads[keyOf(1)].waiting == 15
	})
	close(start)
	all.Wait()
}

func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to that")
		}
	}
}
