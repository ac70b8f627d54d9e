package objstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bucketmq/bucketmq/objstore"
)

func TestFilesystemHasOneOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	first, err := objstore.OpenFilesystem(dir)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := objstore.OpenFilesystem(dir); err == nil {
		_ = second.Close()
		t.Fatal("the same directory was opened twice")
	}
	if err := first.Put(t.Context(), "log/a/1", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := openFilesystem(t, dir).Get(t.Context(), "log/a/1", 0, -1)
	if err != nil || string(got) != "kept" {
		t.Errorf("after reopening: got %q, error %v", got, err)
	}
}

func TestFilesystemRemovesLeftoversAtOpen(t *testing.T) {
	dir := t.TempDir()
	first, err := objstore.OpenFilesystem(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "tmp", "17")
	if err := os.WriteFile(left, []byte("half an obj"), 0o600); err != nil {
		t.Fatal(err)
	}
	openFilesystem(t, dir)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftover is still there: %v", err)
	}
}

// TestFilesystemSyncsBeforeItAnswers watches every fsync: the file first, then
// each directory that got an entry, and nothing more for a second object.
func TestFilesystemSyncsBeforeItAnswers(t *testing.T) {
	dir := t.TempDir()
	f := openFilesystem(t, dir)
	var synced []string // owned by this goroutine: Put syncs on its caller's
	f.SetSync(func(file *os.File) error {
		name, err := filepath.Rel(dir, file.Name())
		if err != nil {
			t.Error(err)
		}
		synced = append(synced, name)
		return file.Sync()
	})
	for _, test := range []struct {
		key, body string
		want      []string
	}{
		{"log/a/1", "x", []string{"tmp/1", "objects", "objects/log", "objects/log/a"}},
		{"log/a/2", "x", []string{"tmp/2", "objects/log/a"}},
		{"log/b/1", "x", []string{"tmp/3", "objects/log", "objects/log/b"}},
		{"log/b/1", "x", []string{"tmp/4", "objects/log/b/1", "objects/log/b"}}, // the same again may not trust the first
	} {
		synced = nil
		if err := f.Put(t.Context(), test.key, []byte(test.body)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(synced, test.want) {
			t.Errorf("put %s synced %q, want %q", test.key, synced, test.want)
		}
	}
}

func TestFilesystemFullDisk(t *testing.T) {
	dir := t.TempDir()
	f := openFilesystem(t, dir)
	f.SetWrite(func(file *os.File, body []byte) error {
		_, _ = file.Write(body[:len(body)/2]) // what fits
		return syscall.ENOSPC
	})
	err := f.Put(t.Context(), "log/a/1", []byte("does not fit"))
	if !errors.Is(err, objstore.ErrNotStored) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("put on a full disk: got error %v, want ErrNotStored and ENOSPC", err)
	}
	if _, err := f.Get(t.Context(), "log/a/1", 0, -1); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("get: got error %v, want ErrNotFound", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files still use up the disk, error %v", len(left), err)
	}
	f.SetWrite(func(file *os.File, body []byte) error { _, err := file.Write(body); return err })
	if err := f.Put(t.Context(), "log/a/1", []byte("fits now")); err != nil {
		t.Errorf("put after space was made: %v", err)
	}
}

func TestFilesystemFailedFsyncOfFileStoresNothing(t *testing.T) {
	f := openFilesystem(t, t.TempDir())
	f.SetSync(func(*os.File) error { return syscall.EIO })
	err := f.Put(t.Context(), "log/a/1", []byte("x"))
	if !errors.Is(err, objstore.ErrNotStored) || !errors.Is(err, syscall.EIO) {
		t.Errorf("got error %v, want ErrNotStored and EIO", err)
	}
}

// TestFilesystemFailedFsyncOfDirectoryIsNeverForgotten: the system reports a
// lost write once, so success of a later fsync proves nothing.
func TestFilesystemFailedFsyncOfDirectoryIsNeverForgotten(t *testing.T) {
	dir := t.TempDir()
	f := openFilesystem(t, dir)
	if err := f.Put(t.Context(), "log/a/0", []byte("x")); err != nil {
		t.Fatal(err)
	}
	var failed sync.Once
	f.SetSync(func(file *os.File) (err error) {
		if strings.HasSuffix(file.Name(), "log/a") {
			failed.Do(func() { err = syscall.EIO })
		}
		return err
	})
	err := f.Put(t.Context(), "log/a/1", []byte("x"))
	if !errors.Is(err, syscall.EIO) || errors.Is(err, objstore.ErrNotStored) {
		t.Errorf("got error %v, want EIO with the outcome unknown", err)
	}
	err = f.Put(t.Context(), "log/a/1", []byte("x"))
	if !errors.Is(err, syscall.EIO) || errors.Is(err, objstore.ErrNotStored) {
		t.Errorf("the same again: got error %v, want EIO with the outcome unknown", err)
	}
	err = f.Put(t.Context(), "log/a/2", []byte("x"))
	if !errors.Is(err, syscall.EIO) || !errors.Is(err, objstore.ErrNotStored) {
		t.Errorf("the next object: got error %v, want EIO and ErrNotStored", err)
	}
	if got, err := f.Get(t.Context(), "log/a/0", 0, -1); err != nil || string(got) != "x" {
		t.Errorf("reads must go on: got %q, error %v", got, err)
	}
}

func TestFilesystemRefusesSymbolicLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := openFilesystem(t, dir)
	if err := f.Put(t.Context(), "log/real/1", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"log/file-out": filepath.Join(outside, "secret"),
		"log/dir-out":  outside,
		"log/dir-in":   "real",
		"log/file-in":  "real/1",
	} {
		if err := os.Symlink(target, filepath.Join(dir, "objects", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"log/file-out", "log/dir-out/secret", "log/dir-in/1", "log/file-in"} {
		if got, err := f.Get(t.Context(), key, 0, -1); err == nil {
			t.Errorf("get %s: got %q through a symbolic link", key, got)
		}
		if err := f.Put(t.Context(), key, []byte("x")); err == nil {
			t.Errorf("put %s succeeded through a symbolic link", key)
		}
		if err := f.Delete(t.Context(), key); err == nil {
			t.Errorf("delete %s succeeded through a symbolic link", key)
		}
	}
	if err := f.Put(t.Context(), "log/dir-out/new", []byte("x")); err == nil {
		t.Error("put below a link to a directory succeeded")
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("the linked directory has %d files, error %v, want the one it had", len(left), err)
	}
	for _, prefix := range []string{"", "log/dir-out/", "log/dir-in/"} {
		for info, err := range f.List(t.Context(), prefix, "") {
			if err != nil || info.Key != "log/real/1" {
				t.Errorf("list %q: got %q, error %v", prefix, info.Key, err)
			}
		}
	}
}

func TestFilesystemDeleteRemovesEmptyDirectories(t *testing.T) {
	dir := t.TempDir()
	f := openFilesystem(t, dir)
	for _, key := range []string{"log/a/b/1", "log/c/1"} {
		if err := f.Put(t.Context(), key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Delete(t.Context(), "log/a/b/1"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "objects", "log"))
	if err != nil || len(left) != 1 || left[0].Name() != "c" {
		t.Errorf("got %v, error %v, want only c", left, err)
	}
	if err := f.Put(t.Context(), "log/a/b/1", []byte("again")); err != nil {
		t.Errorf("put where a directory was removed: %v", err)
	}
}
