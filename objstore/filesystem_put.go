package objstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Put writes a temporary file, makes it durable, and only then gives it its
// name by link, which fails when the name is taken. See Store.
func (f *Filesystem) Put(ctx context.Context, key string, body []byte) error {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return fmt.Errorf("put %q: %w: %w", key, ErrNotStored, err)
	}
	f.count(verbPut)
	name := path.Join(objectsDir, key)
	if broken := f.broken.Load(); broken != nil {
		return f.refuse(key, name, *broken)
	}
	temp, err := f.writeTemp(body)
	if err != nil {
		return fmt.Errorf("put %s: %w: %w", key, ErrNotStored, err)
	}
	defer func() { _ = f.root.Remove(temp) }() // what stays is removed at the next open
	linked, err := f.link(temp, name)
	if errors.Is(err, fs.ErrExist) {
		return f.compare(key, name, body)
	}
	if err != nil && !linked {
		return fmt.Errorf("put %s: %w: %w", key, ErrNotStored, err)
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	f.moved(len(body), 0)
	return nil
}

// refuse is the answer of a store whose disk has failed.
func (f *Filesystem) refuse(key, name string, broken error) error {
	if _, err := f.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("put %s: %w: the disk failed earlier: %w", key, ErrNotStored, broken)
	}
	return fmt.Errorf("put %s: the disk failed earlier: %w", key, broken)
}

func (f *Filesystem) writeTemp(body []byte) (name string, err error) {
	name = f.tempName()
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = f.write(file, body)
	if err == nil {
		err = f.sync(file)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = f.root.Remove(name) // what stays is removed at the next open
		return "", err
	}
	return name, nil
}

// link gives the temporary file its name and makes that durable.
func (f *Filesystem) link(temp, name string) (linked bool, err error) {
	dir := path.Dir(name)
	for {
		if err := f.ensureDir(dir); err != nil {
			return false, err
		}
		err := f.root.Link(temp, name)
		if err == nil {
			break
		}
		// A Delete may have removed the empty directory since ensureDir.
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if _, tempErr := f.root.Lstat(temp); tempErr != nil {
			return false, errors.Join(err, tempErr)
		}
	}
	return true, f.confirm(dir)
}

// confirm makes the entries of dir durable, and dir itself: another Put may have
// made it again a moment ago and not have got round to its fsync.
func (f *Filesystem) confirm(dir string) error {
	if err := f.syncDir(dir); err != nil {
		return err
	}
	return f.ensureDir(dir)
}

// compare answers a Put whose key is taken. The earlier Put may have died, or
// still be busy, between link and fsync.
func (f *Filesystem) compare(key, name string, body []byte) error {
	file, size, err := f.openObject(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("put %s: %w: the name is a directory of other objects", key, ErrExists)
	}
	if err != nil {
		return fmt.Errorf("put %s: compare: %w", key, err)
	}
	defer func() { _ = file.Close() }()
	same, err := sameBytes(file, size, body)
	switch {
	case err != nil:
		return fmt.Errorf("put %s: compare: %w", key, err)
	case !same:
		return fmt.Errorf("put %s: %w", key, ErrExists)
	}
	if err := f.sync(file); err != nil {
		return fmt.Errorf("put %s: %w", key, f.breakOn(err))
	}
	if err := f.confirm(path.Dir(name)); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// ensureDir makes the directory and those above it, durably. After it has
// returned nil for a directory it costs one map look-up.
func (f *Filesystem) ensureDir(dir string) error {
	f.dirsMu.RLock()
	_, ok := f.dirs[dir]
	f.dirsMu.RUnlock()
	if ok {
		return nil
	}
	f.dirsMu.Lock()
	defer f.dirsMu.Unlock()
	return f.makeDir(dir)
}

// makeDir is ensureDir with dirsMu held.
func (f *Filesystem) makeDir(dir string) error {
	if _, ok := f.dirs[dir]; ok || dir == "." {
		return nil
	}
	parent := path.Dir(dir)
	if err := f.makeDir(parent); err != nil {
		return err
	}
	if err := f.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := f.root.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	if err := f.syncDir(parent); err != nil {
		return err
	}
	f.dirs[dir] = struct{}{}
	return nil
}

func (f *Filesystem) syncDir(dir string) error {
	file, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := f.sync(file); err != nil {
		return f.breakOn(err)
	}
	return nil
}

// breakOn remembers the first fsync that failed after bytes had their name.
func (f *Filesystem) breakOn(err error) error {
	f.broken.CompareAndSwap(nil, &err)
	return err
}
