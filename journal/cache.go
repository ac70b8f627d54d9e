package journal

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/bucketmq/bucketmq/meta"
)

// class says why an object is read. Each class has its own part of the cache
// and its own share of the requests, so that readers far behind never push out,
// or queue in front of, what readers at the tail need.
type class int

const (
	hot  class = iota // at the tail
	cold              // catching up
	classes
)

// pieceKey names bytes of a segment. length 0 stands for all of it.
type pieceKey struct {
	segment       meta.SegmentRef
	start, length int64
}

// objectCache keeps the objects that were used last, up to a number of bytes
// per class, and loads an object once for all who ask at the same time. Least
// recently used is the rule because a log is read in order: caches that weigh
// frequency turn away the newest object, which is the one everybody needs next.
type objectCache struct {
	slots [classes]chan struct{} // one per load that may run at a time

	mu      sync.Mutex
	items   map[pieceKey]*list.Element // of *cached, guarded by mu
	loads   map[pieceKey]*load         // guarded by mu
	shelves [classes]shelf             // guarded by mu
}

type shelf struct {
	order    list.List // of *cached, newest use first
	capacity int64
	used     int64
	passed   int64 // of used: objects that nobody is in any more
}

type cached struct {
	key    pieceKey
	class  class
	object *object
	weight int64
	passed bool
}

// load is one fetch and those who wait for it.
type load struct {
	done    chan struct{} // closed after object and err are set
	object  *object
	err     error
	waiting int32 // who get the object as well; guarded by the cache's mu
}

// maxHotBytes is what the tail needs at most: the segments of the last moments.
const maxHotBytes = 32 << 20

// newObjectCache shares capacity: half for the tail, as far as that needs it, and
// the rest for catching up, where each reader is in a segment of its own.
func newObjectCache(capacity int64, hotLoads, coldLoads int) *objectCache {
	c := &objectCache{items: make(map[pieceKey]*list.Element), loads: make(map[pieceKey]*load)}
	c.shelves[hot].capacity = min(capacity-capacity/2, maxHotBytes)
	c.shelves[cold].capacity = capacity - c.shelves[hot].capacity
	c.slots[hot] = make(chan struct{}, hotLoads)
	c.slots[cold] = make(chan struct{}, coldLoads)
	return c
}

// get returns the object when it is in memory, else nil. The caller is a user of
// it then.
func (c *objectCache) get(key pieceKey) *object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lookup(key)
}

// lookup needs mu.
func (c *objectCache) lookup(key pieceKey) *object {
	element, ok := c.items[key]
	if !ok {
		return nil
	}
	item := element.Value.(*cached)
	s := &c.shelves[item.class]
	s.order.MoveToFront(element)
	if item.passed {
		item.passed = false
		s.passed -= item.weight
	}
	item.object.retain()
	return item.object
}

// touch reports whether the object is in memory, and keeps it there for longer.
func (c *objectCache) touch(key pieceKey) bool {
	o := c.get(key)
	if o != nil {
		o.release()
	}
	return o != nil
}

// put keeps the object, as one more user of it, instead of an older one under the
// same key. One that is larger than its class may be is not kept.
func (c *objectCache) put(key pieceKey, in class, o *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	item := &cached{key: key, class: in, object: o, weight: o.weight()}
	s := &c.shelves[in]
	if item.weight > s.capacity {
		return
	}
	for s.used+item.weight > s.capacity {
		c.remove(s.order.Back().Value.(*cached).key)
	}
	o.retain()
	s.used += item.weight
	c.items[key] = s.order.PushFront(item)
}

// remove needs mu.
func (c *objectCache) remove(key pieceKey) {
	element, ok := c.items[key]
	if !ok {
		return
	}
	item := element.Value.(*cached)
	s := &c.shelves[item.class]
	s.order.Remove(element)
	s.used -= item.weight
	if item.passed {
		s.passed -= item.weight
	}
	delete(c.items, key)
	item.object.release()
}

// knows reports whether the object is in memory or on its way.
func (c *objectCache) knows(key pieceKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items[key] != nil || c.loads[key] != nil
}

// weight is what the object costs, 0 when it is not in memory.
func (c *objectCache) weight(key pieceKey) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.items[key]; ok {
		return element.Value.(*cached).weight
	}
	return 0
}

// passed says that a reader has read the object to its end: of those that catch
// up hardly anybody needs it again, so it goes before those that are being read.
func (c *objectCache) passed(key pieceKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.items[key]
	if !ok {
		return
	}
	item, s := element.Value.(*cached), &c.shelves[cold]
	if item.class == cold && !item.passed {
		item.passed = true
		s.passed += item.weight
		s.order.MoveToBack(element)
	}
}

// spare is how many bytes the class can take without pushing out an object that
// somebody may be in.
func (c *objectCache) spare(in class) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.shelves[in]
	return s.capacity - s.used + s.passed
}

// capacity is how many bytes the class may hold.
func (c *objectCache) capacity(in class) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shelves[in].capacity
}

// size is how many bytes the class holds.
func (c *objectCache) size(in class) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shelves[in].used
}

// fetch returns the object from memory or loads it, and its caller is a user of
// it. Of those who ask for one key at the same time one loads, in its own
// goroutine, and the others wait; when it was given up because the loader's ctx
// ended, another one takes over.
func (c *objectCache) fetch(ctx context.Context, key pieceKey, in class, read func(context.Context) (*object, error)) (*object, error) {
	for {
		o, running := c.find(key)
		if o != nil {
			return o, nil
		}
		if running != nil {
			o, err := running.wait(ctx)
			if err != nil && ctx.Err() == nil && isContextError(err) {
				continue
			}
			return o, err
		}
		select {
		case c.slots[in] <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		mine := c.start(key)
		if mine != nil {
			c.finish(ctx, key, in, mine, read)
		}
		<-c.slots[in]
		if mine != nil {
			return mine.object, mine.err
		}
	}
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func (c *objectCache) find(key pieceKey) (*object, *load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.lookup(key); o != nil {
		return o, nil
	}
	l := c.loads[key]
	if l != nil {
		l.waiting++
	}
	return nil, l
}

// start makes the caller the loader of key, or returns nil when there is
// nothing to load or another loader by now.
func (c *objectCache) start(key pieceKey) *load {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items[key] != nil || c.loads[key] != nil {
		return nil
	}
	l := &load{done: make(chan struct{})}
	c.loads[key] = l
	return l
}

func (c *objectCache) finish(ctx context.Context, key pieceKey, in class, l *load, read func(context.Context) (*object, error)) {
	l.err = errors.New("journal: load ended early")
	defer func() {
		if l.err == nil {
			c.put(key, in, l.object)
		}
		c.mu.Lock()
		delete(c.loads, key)
		if l.err == nil {
			l.object.users.Add(l.waiting)
		}
		c.mu.Unlock()
		close(l.done)
	}()
	l.object, l.err = read(ctx)
}

func (l *load) wait(ctx context.Context) (*object, error) {
	select {
	case <-l.done: // the loader set object and err before it closed done
		return l.object, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx) // an object that still comes is never released
	}
}

// dropObject forgets what is under key if it is still that object.
func (c *objectCache) dropObject(key pieceKey, o *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.items[key]; ok && element.Value.(*cached).object == o {
		c.remove(key)
	}
}
