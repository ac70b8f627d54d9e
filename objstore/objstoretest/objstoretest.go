// Package objstoretest is the contract of objstore.Store as a test suite. Every
// store passes it, and so does any later one.
package objstoretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bucketmq/bucketmq/objstore"
)

// Run runs the whole suite. open returns an empty store for each of its tests
// and registers the store's end with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) objstore.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s objstore.Store)
	}{
		{"PutThenGet", putThenGet},
		{"GetRanges", getRanges},
		{"GetAbsent", getAbsent},
		{"PutSameBytesAgain", putSameBytesAgain},
		{"PutOtherBytesIsRefused", putOtherBytesIsRefused},
		{"ConcurrentPutsHaveOneWinner", concurrentPutsHaveOneWinner},
		{"ConcurrentPutsOfSameBytes", concurrentPutsOfSameBytes},
		{"BytesAreNotShared", bytesAreNotShared},
		{"ListSorted", listSorted},
		{"ListPages", listPages},
		{"ListStopsEarly", listStopsEarly},
		{"ListDuringPuts", listDuringPuts},
		{"Delete", deleteObject},
		{"InvalidKeys", invalidKeys},
		{"EndedContext", endedContext},
		{"CountsRequests", countsRequests},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	chacha := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	_, _ = chacha.Read(b) // never fails
	return b
}

func mustPut(t testing.TB, s objstore.Store, key string, body []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, body); err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
}

func mustHold(t testing.TB, s objstore.Store, key string, want []byte) {
	t.Helper()
	got, err := s.Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("get %s: got %d bytes, want %d bytes that are the stored ones", key, len(got), len(want))
	}
}

func putThenGet(t *testing.T, s objstore.Store) {
	for _, size := range []int{0, 1, 4096, 65537, 9 << 20} {
		key := fmt.Sprintf("log/0198c4a5-0000-7000-8000-000000000001/%020d", size)
		body := random(size)
		mustPut(t, s, key, body)
		mustHold(t, s, key, body)
	}
}

func getRanges(t *testing.T, s objstore.Store) {
	body := random(100_000)
	mustPut(t, s, "ranges/one", body)
	mustPut(t, s, "ranges/empty", nil)
	for _, test := range []struct {
		key    string
		off, n int64
		want   error
	}{
		{"ranges/one", 0, 1, nil},
		{"ranges/one", 0, 100_000, nil},
		{"ranges/one", 0, -1, nil},
		{"ranges/one", 99_999, 1, nil},
		{"ranges/one", 99_999, -1, nil},
		{"ranges/one", 65_535, 2, nil},
		{"ranges/one", 1, -1, nil},
		{"ranges/one", 50, 0, nil},
		{"ranges/one", 0, 100_001, objstore.ErrRange},
		{"ranges/one", 99_999, 2, objstore.ErrRange},
		{"ranges/one", 100_000, 1, objstore.ErrRange},
		{"ranges/one", 100_000, -1, objstore.ErrRange},
		{"ranges/one", 1 << 40, 1, objstore.ErrRange},
		{"ranges/one", -1, 1, objstore.ErrRange},
		{"ranges/one", -1, -1, nil},
		{"ranges/one", -70_000, -1, nil},
		{"ranges/one", -100_000, -1, nil},
		{"ranges/one", -100_001, -1, nil},
		{"ranges/one", -1, 0, objstore.ErrRange},
		{"ranges/empty", 0, -1, nil},
		{"ranges/empty", 0, 1, objstore.ErrRange},
	} {
		got, err := s.Get(t.Context(), test.key, test.off, test.n)
		if !errors.Is(err, test.want) {
			t.Errorf("get %s, %d bytes from %d: got error %v, want %v", test.key, test.n, test.off, err, test.want)
			continue
		}
		if test.want != nil || test.key != "ranges/one" {
			continue
		}
		want := body
		if test.off >= 0 {
			want = body[test.off:]
		} else if -test.off < int64(len(body)) {
			want = body[int64(len(body))+test.off:]
		}
		if test.n >= 0 {
			want = want[:test.n]
		}
		if !bytes.Equal(got, want) {
			t.Errorf("get %s, %d bytes from %d: got %d other bytes", test.key, test.n, test.off, len(got))
		}
	}
}

func getAbsent(t *testing.T, s objstore.Store) {
	mustPut(t, s, "log/there", []byte("x"))
	for _, key := range []string{"absent", "log/absent", "log", "log/there/below", "no/such/dir"} {
		for _, n := range []int64{-1, 1} {
			if _, err := s.Get(t.Context(), key, 0, n); !errors.Is(err, objstore.ErrNotFound) {
				t.Errorf("get %s, %d bytes: got error %v, want ErrNotFound", key, n, err)
			}
		}
	}
}

func putSameBytesAgain(t *testing.T, s objstore.Store) {
	for _, body := range [][]byte{nil, []byte("x"), random(300_000)} {
		key := fmt.Sprintf("again/%d", len(body))
		for range 3 {
			mustPut(t, s, key, body)
		}
		mustHold(t, s, key, body)
	}
}

func putOtherBytesIsRefused(t *testing.T, s objstore.Store) {
	first := random(300_000)
	mustPut(t, s, "taken/one", first)
	sameLength := bytes.Clone(first)
	sameLength[len(first)-1] ^= 1
	for _, other := range [][]byte{nil, []byte("x"), sameLength, append(bytes.Clone(first), 'x')} {
		err := s.Put(t.Context(), "taken/one", other)
		if !errors.Is(err, objstore.ErrExists) {
			t.Errorf("put %d other bytes: got error %v, want ErrExists", len(other), err)
		}
	}
	mustHold(t, s, "taken/one", first)
}

const contenders = 32

// race calls put from many goroutines and returns their errors.
func race(put func(i int) error) []error {
	errs := make([]error, contenders)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range errs {
		wg.Go(func() {
			<-start
			errs[i] = put(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func concurrentPutsHaveOneWinner(t *testing.T, s objstore.Store) {
	for round := range 5 {
		key := fmt.Sprintf("race/%d/object", round) // the directory is new, too
		body := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1000) }
		winner := -1
		for i, err := range race(func(i int) error { return s.Put(t.Context(), key, body(i)) }) {
			switch {
			case err == nil && winner >= 0:
				t.Fatalf("round %d: contenders %d and %d both stored their bytes", round, winner, i)
			case err == nil:
				winner = i
			case !errors.Is(err, objstore.ErrExists):
				t.Fatalf("round %d: contender %d: got error %v, want ErrExists", round, i, err)
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody stored the object", round)
		}
		mustHold(t, s, key, body(winner))
	}
}

func concurrentPutsOfSameBytes(t *testing.T, s objstore.Store) {
	body := random(10_000)
	for i, err := range race(func(int) error { return s.Put(t.Context(), "same/object", body) }) {
		if err != nil {
			t.Errorf("contender %d: %v", i, err)
		}
	}
	mustHold(t, s, "same/object", body)
}

func bytesAreNotShared(t *testing.T, s objstore.Store) {
	body := []byte("as it was put")
	mustPut(t, s, "own/object", body)
	copy(body, "XXXX")
	got, err := s.Get(t.Context(), "own/object", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	copy(got, "YYYY")
	mustHold(t, s, "own/object", []byte("as it was put"))
}

func deleteObject(t *testing.T, s objstore.Store) {
	if err := s.Delete(t.Context(), "never/was"); err != nil {
		t.Errorf("delete of an absent object: %v", err)
	}
	mustPut(t, s, "gone/one", []byte("one"))
	mustPut(t, s, "gone/two", []byte("two"))
	if err := s.Delete(t.Context(), "gone"); err != nil {
		t.Errorf("delete of what is only a directory: %v", err)
	}
	mustHold(t, s, "gone/one", []byte("one"))
	for range 2 {
		if err := s.Delete(t.Context(), "gone/one"); err != nil {
			t.Fatalf("delete: %v", err)
		}
	}
	if _, err := s.Get(t.Context(), "gone/one", 0, -1); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("get after delete: got error %v, want ErrNotFound", err)
	}
	if got := keys(t, s, "", ""); !slices.Equal(got, []string{"gone/two"}) {
		t.Errorf("list after delete: got %q", got)
	}
	if err := s.Delete(t.Context(), "gone/two"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	mustPut(t, s, "gone/one", []byte("other bytes"))
	mustHold(t, s, "gone/one", []byte("other bytes"))
}

func invalidKeys(t *testing.T, s objstore.Store) {
	for _, key := range []string{
		"", "/", "/etc/passwd", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b",
		"a\x00b", "a b", "a\nb", "a\\b", "ä", string(bytes.Repeat([]byte("k"), 1000)),
	} {
		if err := s.Put(t.Context(), key, []byte("x")); !errors.Is(err, objstore.ErrKey) || !errors.Is(err, objstore.ErrNotStored) {
			t.Errorf("put %q: got error %v, want ErrKey and ErrNotStored", key, err)
		}
		if _, err := s.Get(t.Context(), key, 0, -1); !errors.Is(err, objstore.ErrKey) {
			t.Errorf("get %q: got error %v, want ErrKey", key, err)
		}
		if err := s.Delete(t.Context(), key); !errors.Is(err, objstore.ErrKey) {
			t.Errorf("delete %q: got error %v, want ErrKey", key, err)
		}
	}
	if got := keys(t, s, "", ""); len(got) != 0 {
		t.Errorf("list: got %q, want none", got)
	}
}

func endedContext(t *testing.T, s objstore.Store) {
	mustPut(t, s, "ended/there", []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "ended/new", []byte("x")); !errors.Is(err, context.Canceled) || !errors.Is(err, objstore.ErrNotStored) {
		t.Errorf("put: got error %v, want Canceled and ErrNotStored", err)
	}
	if _, err := s.Get(ctx, "ended/there", 0, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("get: got error %v, want Canceled", err)
	}
	if err := s.Delete(ctx, "ended/there"); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: got error %v, want Canceled", err)
	}
	for _, err := range s.List(ctx, "ended/", "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("list: got error %v, want Canceled", err)
		}
	}
	mustHold(t, s, "ended/there", []byte("x"))
}

func countsRequests(t *testing.T, s objstore.Store) {
	metered, ok := s.(objstore.Metered)
	if !ok {
		t.Fatal("the store does not count its requests")
	}
	before := metered.Requests()
	sent, received := metered.Bytes()
	mustPut(t, s, "count/one", make([]byte, 1000))
	mustPut(t, s, "count/two", make([]byte, 500))
	for range 3 {
		if _, err := s.Get(t.Context(), "count/one", 10, 20); err != nil {
			t.Fatal(err)
		}
	}
	_ = keys(t, s, "count/", "")
	if err := s.Delete(t.Context(), "count/one"); err != nil {
		t.Fatal(err)
	}
	after := metered.Requests()
	want := map[string]uint64{"put": 2, "get": 3, "list": 1, "delete": 1, "head": 0, "other": 0}
	for verb, n := range want {
		if got := after[verb] - before[verb]; got != n {
			t.Errorf("%s requests: got %d, want %d", verb, got, n)
		}
	}
	sentNow, receivedNow := metered.Bytes()
	if sentNow-sent != 1500 || receivedNow-received != 60 {
		t.Errorf("bytes: got %d sent and %d received, want 1500 and 60", sentNow-sent, receivedNow-received)
	}
}
