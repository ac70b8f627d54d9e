package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// What a store's directory holds.
const (
	lockName   = "LOCK"    // held by flock for as long as the store is open
	tempDir    = "tmp"     // objects being written; emptied at open
	objectsDir = "objects" // one file per object, at its key
)

// Filesystem is a Store in a directory of this machine. Put returns after fsync
// of the file and of every directory that changed, and objects appear whole or
// not at all, whenever the process or the machine dies. One process at a time
// has the directory. Symbolic links in it are refused, never followed.
type Filesystem struct {
	counters

	root  *os.Root
	lock  *os.File
	temps atomic.Uint64

	dirsMu sync.RWMutex
	dirs   map[string]struct{} // directories whose own entry is durable; guarded by dirsMu

	// broken keeps the first failed fsync of a directory: the system may have
	// dropped what it could not write and then report success the next time, so
	// no Put is confirmed until the process starts anew.
	broken atomic.Pointer[error]

	write func(f *os.File, body []byte) error // a seam for tests of a full disk
	sync  func(f *os.File) error              // a seam for tests of a failing disk
}

var (
	_ Store   = (*Filesystem)(nil)
	_ Metered = (*Filesystem)(nil)
)

// OpenFilesystem opens the store in dir, which it creates when it is absent, and
// removes what an interrupted Put left over. It fails when another process has
// the store open.
func OpenFilesystem(dir string) (*Filesystem, error) {
	f := &Filesystem{
		dirs:  make(map[string]struct{}),
		write: func(file *os.File, body []byte) error { _, err := file.Write(body); return err },
		sync:  (*os.File).Sync,
	}
	if err := f.open(dir); err != nil {
		_ = f.Close() // the error that matters is why it did not open
		return nil, fmt.Errorf("open store in %s: %w", dir, err)
	}
	return f, nil
}

func (f *Filesystem) open(dir string) error {
	if err := makeDurableDir(dir); err != nil {
		return err
	}
	var err error
	if f.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	if f.lock, err = f.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if err := lockFile(f.lock); err != nil {
		return fmt.Errorf("another process has it open: %w", err)
	}
	for _, name := range []string{tempDir, objectsDir} {
		if err := f.ensureDir(name); err != nil {
			return err
		}
	}
	return f.removeTemps()
}

// makeDurableDir is MkdirAll with an fsync of every directory that got an entry.
func makeDurableDir(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeDurableDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	return parent.Sync()
}

func (f *Filesystem) removeTemps() error {
	dir, err := f.root.Open(tempDir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.root.Remove(path.Join(tempDir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Close lets another process open the store. Calls that still run may fail.
func (f *Filesystem) Close() error {
	var errs []error
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	if f.root != nil {
		errs = append(errs, f.root.Close())
	}
	return errors.Join(errs...)
}

// Get reads the range. See Store.
func (f *Filesystem) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return f.GetInto(ctx, key, off, n, fresh)
}

// GetInto reads the range into what room returns. See Filler.
func (f *Filesystem) GetInto(ctx context.Context, key string, off, n int64, room func(n int64) []byte) ([]byte, error) {
	body, err := f.get(ctx, key, off, n, room)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("get %q: %w", key, err)
	}
	f.moved(0, len(body))
	return body, nil
}

func (f *Filesystem) get(ctx context.Context, key string, off, n int64, room func(n int64) []byte) ([]byte, error) {
	if err := errors.Join(checkKey(key), checkRange(off, n), ctx.Err()); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	f.count(verbGet)
	file, size, err := f.openObject(path.Join(objectsDir, key))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if off, n, err = resolveRange(size, off, n); err != nil {
		return nil, err
	}
	body := room(n)[:n]
	if _, err := io.ReadFull(io.NewSectionReader(file, off, n), body); err != nil {
		return nil, err
	}
	return body, nil
}

// openObject opens a regular file that no symbolic link leads to.
func (f *Filesystem) openObject(name string) (*os.File, int64, error) {
	if err := f.checkPlain(name); err != nil {
		return nil, 0, err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist // a directory is no object
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// checkPlain refuses a path with a symbolic link anywhere in it.
func (f *Filesystem) checkPlain(name string) error {
	for end := 0; end < len(name); end++ {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			next = len(name) - end
		}
		end += next
		info, err := f.root.Lstat(name[:end])
		switch {
		case errors.Is(err, errNotDir):
			return fs.ErrNotExist // below an object there is none
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link", name[:end])
		}
	}
	return nil
}

// Delete removes the object and the directories it leaves empty. See Store.
func (f *Filesystem) Delete(ctx context.Context, key string) error {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return fmt.Errorf("delete %q: %w", key, err)
	}
	f.count(verbDelete)
	if err := f.remove(path.Join(objectsDir, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

func (f *Filesystem) remove(name string) error {
	if err := f.checkPlain(name); err != nil {
		return err
	}
	info, err := f.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fs.ErrNotExist
	}
	if err := f.root.Remove(name); err != nil {
		return err
	}
	if err := f.syncDir(path.Dir(name)); err != nil {
		return err
	}
	f.prune(path.Dir(name))
	return nil
}

// prune removes directories that became empty, from dir upwards. A Put that
// meets the gap makes the directory anew.
func (f *Filesystem) prune(dir string) {
	f.dirsMu.Lock()
	defer f.dirsMu.Unlock()
	for ; dir != objectsDir; dir = path.Dir(dir) {
		if f.root.Remove(dir) != nil {
			return // not empty
		}
		delete(f.dirs, dir)
	}
}

// tempName returns a name that no other Put of this process uses.
func (f *Filesystem) tempName() string {
	return path.Join(tempDir, strconv.FormatUint(f.temps.Add(1), 10))
}

// sameBytes says whether the file holds exactly body.
func sameBytes(file *os.File, size int64, body []byte) (bool, error) {
	if size != int64(len(body)) {
		return false, nil
	}
	buf := make([]byte, min(len(body), 256<<10))
	for len(body) > 0 {
		n, err := io.ReadFull(file, buf[:min(len(buf), len(body))])
		if err != nil {
			return false, err
		}
		if !bytes.Equal(buf[:n], body[:n]) {
			return false, nil
		}
		body = body[n:]
	}
	return true, nil
}
