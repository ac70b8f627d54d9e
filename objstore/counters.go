package objstore

import (
	"maps"
	"sync"
)

// Verbs of Requests.
const (
	verbPut    = "put"
	verbGet    = "get"
	verbList   = "list"
	verbDelete = "delete"
	verbHead   = "head"
	verbOther  = "other"
)

// counters is embedded by every store and makes it Metered.
type counters struct {
	mu             sync.Mutex
	requests       map[string]uint64 // guarded by mu
	sent, received uint64            // guarded by mu
}

func (c *counters) count(verb string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests == nil {
		c.requests = make(map[string]uint64)
	}
	c.requests[verb]++
}

func (c *counters) moved(sent, received int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent += uint64(sent)
	c.received += uint64(received)
}

// Requests returns how often each verb was sent to the store so far.
func (c *counters) Requests() map[string]uint64 {
	all := map[string]uint64{verbPut: 0, verbGet: 0, verbList: 0, verbDelete: 0, verbHead: 0, verbOther: 0}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(all, c.requests)
	return all
}

// Bytes returns how many object bytes were sent to and received from the store.
func (c *counters) Bytes() (sent, received uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent, c.received
}
