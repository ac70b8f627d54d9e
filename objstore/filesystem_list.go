package objstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
)

// List walks the directories in key order, with the names of one directory per
// level in memory. See Store.
func (f *Filesystem) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		f.count(verbList)
		base := ""
		if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
			base = prefix[:i+1]
			if err := checkKey(prefix[:i]); err != nil {
				yield(Info{}, fmt.Errorf("list: %w", err))
				return
			}
			if f.checkPlain(path.Join(objectsDir, base)) != nil {
				return // there is no such directory of ours
			}
		}
		w := walk{store: f, ctx: ctx, prefix: prefix, startAfter: startAfter, yield: yield}
		w.dir(base)
	}
}

// walk is one List under way.
type walk struct {
	store              *Filesystem
	ctx                context.Context
	prefix, startAfter string
	yield              func(Info, error) bool
}

// entry is a name of a directory; sort is the name as it appears inside keys.
type entry struct {
	fs.DirEntry
	sort string
}

// dir yields the objects below a directory, given as the part of the key that it
// stands for: "" or one that ends in a slash. It returns false to stop.
func (w *walk) dir(base string) bool {
	entries, err := w.entries(base)
	if err != nil {
		w.yield(Info{}, fmt.Errorf("list %s: %w", w.prefix, err))
		return false
	}
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			w.yield(Info{}, fmt.Errorf("list %s: %w", w.prefix, err))
			return false
		}
		key := base + e.sort
		more := true
		if e.IsDir() {
			more = !w.wantsDir(key) || w.dir(key)
		} else if strings.HasPrefix(key, w.prefix) && key > w.startAfter {
			more = w.object(key, e)
		}
		if !more {
			return false
		}
	}
	return true
}

// entries are sorted so that the walk meets whole keys in order: "a-b" comes
// before what is below "a/".
func (w *walk) entries(base string) ([]entry, error) {
	dir, err := w.store.root.Open(path.Join(objectsDir, base))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // removed meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	read, err := dir.ReadDir(-1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir) {
		return nil, err
	}
	entries := make([]entry, 0, len(read))
	for _, e := range read {
		switch {
		case e.IsDir():
			entries = append(entries, entry{e, e.Name() + "/"})
		case e.Type().IsRegular():
			entries = append(entries, entry{e, e.Name()})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.sort, b.sort) })
	return entries, nil
}

// wantsDir says whether a wanted key can begin with dir.
func (w *walk) wantsDir(dir string) bool {
	inPrefix := strings.HasPrefix(dir, w.prefix) || strings.HasPrefix(w.prefix, dir)
	allBefore := dir < w.startAfter && !strings.HasPrefix(w.startAfter, dir)
	return inPrefix && !allBefore
}

func (w *walk) object(key string, e entry) bool {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return true // deleted meanwhile
	}
	if err != nil {
		w.yield(Info{}, fmt.Errorf("list %s: %w", w.prefix, err))
		return false
	}
	return w.yield(Info{Key: key, Size: info.Size(), ModifiedAt: info.ModTime()}, nil)
}
