package objstore

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a Store that lasts as long as its process. It is for unit tests.
type Memory struct {
	counters

	objectsMu sync.RWMutex
	objects   map[string]memoryObject // guarded by objectsMu
}

type memoryObject struct {
	body       []byte // never changed once stored
	modifiedAt time.Time
}

var (
	_ Store   = (*Memory)(nil)
	_ Metered = (*Memory)(nil)
)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{objects: make(map[string]memoryObject)}
}

// Put stores a copy of body under key. See Store.
func (m *Memory) Put(ctx context.Context, key string, body []byte) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("put: %w: %w", ErrNotStored, err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("put %s: %w: %w", key, ErrNotStored, err)
	}
	m.count(verbPut)
	m.objectsMu.Lock()
	defer m.objectsMu.Unlock()
	if old, ok := m.objects[key]; ok {
		if bytes.Equal(old.body, body) {
			return nil
		}
		return fmt.Errorf("put %s: %w", key, ErrExists)
	}
	m.objects[key] = memoryObject{body: bytes.Clone(body), modifiedAt: time.Now()}
	m.moved(len(body), 0)
	return nil
}

// Get returns a copy of the range. See Store.
func (m *Memory) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	if err := checkRange(off, n); err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	if n == 0 {
		return nil, nil
	}
	m.count(verbGet)
	m.objectsMu.RLock()
	object, ok := m.objects[key]
	m.objectsMu.RUnlock()
	if !ok {
		return nil, fmt.Errorf("get %s: %w", key, ErrNotFound)
	}
	off, n, err := resolveRange(int64(len(object.body)), off, n)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	m.moved(0, int(n))
	return bytes.Clone(object.body[off : off+n]), nil
}

// List yields from a snapshot of the keys. See Store.
func (m *Memory) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		m.count(verbList)
		for _, info := range m.snapshot(prefix, startAfter) {
			if err := ctx.Err(); err != nil {
				yield(Info{}, fmt.Errorf("list %s: %w", prefix, err))
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (m *Memory) snapshot(prefix, startAfter string) []Info {
	m.objectsMu.RLock()
	defer m.objectsMu.RUnlock()
	var infos []Info
	for key, object := range m.objects {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			infos = append(infos, Info{Key: key, Size: int64(len(object.body)), ModifiedAt: object.modifiedAt})
		}
	}
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
	return infos
}

// Delete removes the object. See Store.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	m.count(verbDelete)
	m.objectsMu.Lock()
	defer m.objectsMu.Unlock()
	delete(m.objects, key)
	return nil
}
