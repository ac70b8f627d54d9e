package objstore_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bucketmq/bucketmq/objstore"
)

// crashDir names the directory of a child process that puts until it is killed.
const crashDir = "OBJSTORE_TEST_CRASH_DIR"

// crashBody is what belongs under the key.
func crashBody(key string) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], h.Sum64())
	body := make([]byte, 1+h.Sum64()%300_000)
	_, _ = rand.NewChaCha8(seed).Read(body) // never fails
	return body
}

// runCrashChild is the child: it prints each key once its Put has returned.
func runCrashChild() {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return
	}
	store, err := objstore.OpenFilesystem(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("log/%d-%d/%d/%020d", os.Getpid(), worker, i/10, i)
				if err := store.Put(context.Background(), key, crashBody(key)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(key) // one write: lines of several workers do not mix
			}
		})
	}
	wg.Wait()
}

func TestFilesystemKilledWhilePutting(t *testing.T) {
	dir := t.TempDir()
	var acknowledged []string
	for round := range 6 {
		acknowledged = append(acknowledged, putUntilKilled(t, dir, 20+17*round)...)
	}
	store := openFilesystem(t, dir)
	for _, key := range acknowledged {
		got, err := store.Get(t.Context(), key, 0, -1)
		if err != nil || !bytes.Equal(got, crashBody(key)) {
			t.Fatalf("acknowledged object %s: %d bytes, error %v", key, len(got), err)
		}
	}
	listed := 0
	for info, err := range store.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		listed++
		got, err := store.Get(t.Context(), info.Key, 0, -1)
		if err != nil || !bytes.Equal(got, crashBody(info.Key)) {
			t.Fatalf("listed object %s is torn: %d bytes, error %v", info.Key, len(got), err)
		}
	}
	if listed < len(acknowledged) {
		t.Errorf("%d objects are listed, and %d were acknowledged", listed, len(acknowledged))
	}
	left, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("%d temporary files are left after open, error %v", len(left), err)
	}
}

// putUntilKilled returns the keys that a child acknowledged before kill -9.
func putUntilKilled(t *testing.T, dir string, count int) []string {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), crashDir+"="+dir)
	var stderr bytes.Buffer
	child.Stderr = &stderr
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	for lines := bufio.NewReader(stdout); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // a last line without its end is no acknowledgement
		}
		if acknowledged = append(acknowledged, line[:len(line)-1]); len(acknowledged) == count {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // killed, as it should
	if len(acknowledged) < count {
		t.Fatalf("the child ended by itself after %d puts: %s", len(acknowledged), stderr.String())
	}
	return acknowledged
}
