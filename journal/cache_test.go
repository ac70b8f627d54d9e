package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bucketmq/bucketmq/meta"
)

func keyOf(i int) pieceKey { return pieceKey{segment: meta.SegmentRef{Seq: uint64(i)}} }

func TestTheNewestObjectIsKeptWhateverWasReadBefore(t *testing.T) {
	c := newObjectCache(100<<10, 1, 1)
	for i := range 50 {
		c.put(keyOf(i), hot, newPiece(0, make([]byte, 10<<10), newSegmentMemory(1<<20)))
		for range 100 {
			c.get(keyOf(0))
		}
		if c.get(keyOf(i)) == nil {
			t.Fatalf("object %d is not there right after it came", i)
		}
		if used := c.size(hot); used > 50<<10 {
			t.Fatalf("%d bytes are kept, want at most %d", used, 50<<10)
		}
	}
	if c.get(keyOf(0)) == nil {
		t.Error("the object that was used all the time is gone")
	}
	if c.get(keyOf(30)) != nil {
		t.Error("an old object that nobody used is still there")
	}
}

func TestCatchingUpNeverPushesOutTheTail(t *testing.T) {
	c := newObjectCache(100<<10, 1, 1)
	c.put(keyOf(0), hot, newPiece(0, make([]byte, 10<<10), newSegmentMemory(1<<20)))
	for i := range 100 {
		c.put(keyOf(1+i), cold, newPiece(0, make([]byte, 10<<10), newSegmentMemory(1<<20)))
	}
	if c.get(keyOf(0)) == nil {
		t.Error("the tail's object is gone")
	}
	if used := c.size(cold); used > 50<<10 || used == 0 {
		t.Errorf("catching up holds %d bytes, want at most its half", used)
	}
	c.put(keyOf(1000), hot, newPiece(0, make([]byte, 1<<20), newSegmentMemory(1<<20)))
	if c.get(keyOf(1000)) != nil || c.get(keyOf(0)) == nil {
		t.Error("an object larger than the cache was kept, or cost the others")
	}
}

func TestAnObjectIsLoadedOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newObjectCache(1<<20, 2, 2)
		release := make(chan struct{})
		var loads atomic.Int32
		var done sync.WaitGroup
		for i := range 100 {
			done.Go(func() {
				o, err := c.fetch(t.Context(), keyOf(1), class(i%2), func(context.Context) (*object, error) {
					loads.Add(1)
					<-release
					return newPiece(0, []byte("x"), newSegmentMemory(1<<20)), nil
				})
				if err != nil || string(o.data) != "x" {
					t.Errorf("got %v, %v", o, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		done.Wait()
		if got := loads.Load(); got != 1 {
			t.Errorf("%d loads, want 1", got)
		}
	})
}

func TestALoadThatIsGivenUpIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newObjectCache(1<<20, 2, 2)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := c.fetch(ctx, keyOf(1), hot, func(ctx context.Context) (*object, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			failed <- err
		}()
		synctest.Wait()
		got := make(chan error, 1)
		go func() {
			_, err := c.fetch(t.Context(), keyOf(1), hot, func(context.Context) (*object, error) { return newPiece(0, nil, newSegmentMemory(1<<20)), nil })
			got <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("the one who gave up got %v", err)
		}
		if err := <-got; err != nil {
			t.Errorf("the one who waited got %v, want the object", err)
		}
	})
}

func TestCatchingUpDoesNotTakeTheTailsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newObjectCache(1<<20, 1, 2)
		release := make(chan struct{})
		var running atomic.Int32
		var done sync.WaitGroup
		for i := range 10 {
			done.Go(func() {
				_, _ = c.fetch(t.Context(), keyOf(i), cold, func(context.Context) (*object, error) {
					running.Add(1)
					<-release
					return newPiece(0, nil, newSegmentMemory(1<<20)), nil
				})
			})
		}
		synctest.Wait()
		if got := running.Load(); got != 2 {
			t.Errorf("%d loads at a time, want 2", got)
		}
		_, err := c.fetch(t.Context(), keyOf(100), hot, func(context.Context) (*object, error) { return newPiece(0, nil, newSegmentMemory(1<<20)), nil })
		if err != nil {
			t.Error(err)
		}
		close(release)
		done.Wait()
	})
}
