// Package objstore keeps immutable objects: in an S3-compatible bucket, in a
// directory of this machine, or in memory. It decides how bytes become durable
// and how a fault of the store is told apart from a lost answer.
package objstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Store holds immutable objects under keys such as "log/<writer>/<seq>". A key
// is never written twice with different bytes, and no key is a directory of
// another ("a" and "a/b" never both exist).
//
// Every method may be called concurrently, retries transient faults itself
// until ctx ends, and returns an error that matches the cause with errors.Is.
// A context without a deadline may therefore wait for a store that is down as
// long as it stays down.
type Store interface {
	// Put creates the object. nil means that all of body is under key and
	// survives a crash of every gateway. The same bytes again is nil too, so a
	// repeated call is safe; other bytes under key is ErrExists and changes
	// nothing. Any other error leaves the outcome unknown (the object may appear
	// later), unless it is ErrNotStored: then nothing was or will be stored.
	// Put does not keep body.
	Put(ctx context.Context, key string, body []byte) error

	// Get reads n bytes from off on, or everything from off on when n is
	// negative. It returns exactly what was asked for: a range that reaches past
	// the end of the object is ErrRange, an absent object ErrNotFound. n = 0
	// reads nothing and asks nothing. A negative off counts from the end, with a
	// negative n only: the last bytes of the object, or all of it if it has fewer. The
	// caller owns the returned bytes.
	Get(ctx context.Context, key string, off, n int64) ([]byte, error)

	// List yields the objects whose keys begin with prefix and are greater than
	// startAfter, sorted by the bytes of the key. It ends after the first error
	// it yields. Objects put or deleted meanwhile may or may not be seen; every
	// other object is seen exactly once. It is never used on a data path.
	List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error]

	// Delete removes the object; nil means that it is gone, also when it never
	// existed.
	Delete(ctx context.Context, key string) error
}

// Filler is a Store that reads into memory of its caller's.
type Filler interface {
	// GetInto is Get, with the bytes at the start of what room returns when it
	// is told how many they will be. It returns only once nothing writes there
	// any more, whatever its error.
	GetInto(ctx context.Context, key string, off, n int64, room func(n int64) []byte) ([]byte, error)
}

var (
	_ Filler = (*Filesystem)(nil)
	_ Filler = (*S3)(nil)
)

// fresh is the room of a Get: memory that is the caller's from then on.
func fresh(n int64) []byte { return make([]byte, n) }

// Info describes one object of a List.
type Info struct {
	Key        string
	Size       int64
	ModifiedAt time.Time
}

// Metered is what every store of this package tells of its own use. For S3 the
// numbers are requests on the wire, retries included.
type Metered interface {
	// Requests counts by verb: put, get, list, delete, head, other.
	Requests() map[string]uint64
	// Bytes counts object bytes that went to and came from the store.
	Bytes() (sent, received uint64)
}

var (
	// ErrNotFound says that no object has this key.
	ErrNotFound = errors.New("objstore: no such object")
	// ErrExists says that other bytes are already stored under this key.
	ErrExists = errors.New("objstore: key holds other bytes")
	// ErrNotStored says that a Put surely stored nothing and never will.
	ErrNotStored = errors.New("objstore: nothing stored")
	// ErrNoBucket says that the bucket does not exist.
	ErrNoBucket = errors.New("objstore: the bucket does not exist")
	// ErrRange says that the range reaches past the end of the object: it is
	// shorter than its reader was told.
	ErrRange = errors.New("objstore: range past the end of the object")
	// ErrKey says that the key is not one this package accepts.
	ErrKey = errors.New("objstore: invalid key")
)

// maxKeyBytes is what S3 allows, less room for a prefix.
const maxKeyBytes = 900

// checkKey accepts relative slash-separated paths of printable ASCII without
// empty, "." or ".." elements. It keeps a key one and the same in every store.
func checkKey(key string) error {
	if key == "" || len(key) > maxKeyBytes {
		return fmt.Errorf("%w: %d bytes long", ErrKey, len(key))
	}
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c > '~' || c == '\\' {
			return fmt.Errorf("%w: %q has a character outside printable ASCII", ErrKey, key)
		}
	}
	for element := range strings.SplitSeq(key, "/") {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%w: %q has an element that is empty, \".\" or \"..\"", ErrKey, key)
		}
	}
	return nil
}

// checkRange refuses what no object can satisfy before a store is asked.
func checkRange(off, n int64) error {
	if off < 0 && n >= 0 {
		return fmt.Errorf("%w: %d bytes from offset %d", ErrRange, n, off)
	}
	return nil
}

// resolveRange returns from where on, and how many bytes a Get of an object of this
// size returns.
func resolveRange(size, off, n int64) (from, length int64, err error) {
	if off < 0 {
		off = max(0, size+off)
		return off, size - off, nil
	}
	length, err = resolveLength(size, off, n)
	return off, length, err
}

func resolveLength(size, off, n int64) (int64, error) {
	if n < 0 {
		// A range that begins at the end is one that S3 cannot express.
		if off > 0 && off >= size {
			return 0, fmt.Errorf("%w: from %d of %d bytes", ErrRange, off, size)
		}
		return size - off, nil
	}
	if off > size || n > size-off {
		return 0, fmt.Errorf("%w: %d bytes from %d of %d", ErrRange, n, off, size)
	}
	return n, nil
}
