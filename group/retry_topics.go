package group

import (
	"sync"
	"time"
)

// retryTopics remembers which retry topics do not exist: most groups never have
// one, and all who receive ask. Notices end that; as they can be lost, it is
// believed for definitionFresh. The zero value is ready.
type retryTopics struct {
	mu   sync.Mutex
	gone map[string]time.Time // guarded by mu; name → until when it is believed
}

func (r *retryTopics) believed(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.gone[name])
}

func (r *retryTopics) note(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone == nil || len(r.gone) >= maxDefinitions {
		r.gone = map[string]time.Time{}
	}
	r.gone[name] = time.Now().Add(definitionFresh)
}

func (r *retryTopics) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.gone, name)
}
