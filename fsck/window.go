package fsck

import (
	"context"
	"fmt"

	"github.com/bucketmq/bucketmq/objstore"
)

// oversize is how many times ReadBytes one block or footer may have.
const oversize = 8

// window reads one object in large pieces and keeps the last one, so that a
// segment of usual size is fetched once.
type window struct {
	store     objstore.Store
	info      objstore.Info
	readBytes int64

	at   int64
	data []byte
}

// tail returns at least n bytes of the object's end, or all of it.
func (w *window) tail(ctx context.Context, n int64) ([]byte, error) {
	want := min(max(n, w.readBytes), w.info.Size)
	return w.read(ctx, w.info.Size-want, want)
}

// read returns n bytes from off on. They are valid until the next call.
func (w *window) read(ctx context.Context, off, n int64) ([]byte, error) {
	if n > oversize*w.readBytes {
		return nil, fmt.Errorf("%d bytes at %d are more than may be held in memory", n, off)
	}
	if off >= w.at && off+n <= w.at+int64(len(w.data)) {
		return w.data[off-w.at:][:n], nil
	}
	ahead := min(max(n, w.readBytes), w.info.Size-off)
	w.data = nil // never two of them at once
	b, err := w.store.Get(ctx, w.info.Key, off, ahead)
	if err != nil {
		return nil, err
	}
	if int64(len(b)) != ahead || ahead < n {
		return nil, fmt.Errorf("asked for %d bytes at %d, got %d", n, off, len(b))
	}
	w.at, w.data = off, b
	return b[:n], nil
}
