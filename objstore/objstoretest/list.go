package objstoretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/objstore"
)

func keys(t testing.TB, s objstore.Store, prefix, startAfter string) []string {
	t.Helper()
	var keys []string
	for info, err := range s.List(t.Context(), prefix, startAfter) {
		if err != nil {
			t.Fatalf("list %q after %q: %v", prefix, startAfter, err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

func listSorted(t *testing.T, s objstore.Store) {
	if got := keys(t, s, "", ""); len(got) != 0 {
		t.Fatalf("list of an empty store: got %q", got)
	}
	all := []string{
		"bucketmq.json", "data/t/1", "log-old/1", "log/a-b/1", "log/a-b/2", "log/a.b", "log/a/00000000000000000009",
		"log/a/00000000000000000010", "log/a/b/c", "log/a0/1", "log/ab/1", "zz",
	}
	slices.Sort(all)
	for i := range all {
		mustPut(t, s, all[(i*5)%len(all)], []byte(all[(i*5)%len(all)]))
	}
	starts := append([]string{"", "a", "log", "log/", "log/a", "log/a/", "log/a/5", "log/b", "zzz"}, all...)
	for _, prefix := range []string{"", "b", "l", "log", "log/", "log/a", "log/a/", "log/a/0000", "log/a-b/", "absent/", "log/a/b/c", "log/a/b/c/"} {
		for _, start := range starts {
			var want []string
			for _, key := range all {
				if strings.HasPrefix(key, prefix) && key > start {
					want = append(want, key)
				}
			}
			if got := keys(t, s, prefix, start); !slices.Equal(got, want) {
				t.Errorf("list %q after %q:\n got %q\nwant %q", prefix, start, got, want)
			}
		}
	}
	for info, err := range s.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Since(info.ModifiedAt); info.Size != int64(len(info.Key)) || age < -5*time.Second || age > time.Minute {
			t.Errorf("list: got %+v, want its size to be %d and to be modified just now", info, len(info.Key))
		}
	}
}

// listPages has more objects than any service returns at once.
func listPages(t *testing.T, s objstore.Store) {
	const count = 1111
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := worker; i < count; i += 8 {
				if err := s.Put(t.Context(), fmt.Sprintf("pages/%020d", i), nil); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	wg.Wait()
	got := keys(t, s, "pages/", "")
	for i, key := range got {
		if want := fmt.Sprintf("pages/%020d", i); key != want {
			t.Fatalf("object %d: got %s, want %s", i, key, want)
		}
	}
	if len(got) != count {
		t.Fatalf("got %d objects, want %d", len(got), count)
	}
	if rest := keys(t, s, "pages/", got[1000]); len(rest) != count-1001 {
		t.Errorf("after %s: got %d objects, want %d", got[1000], len(rest), count-1001)
	}
}

func listStopsEarly(t *testing.T, s objstore.Store) {
	for _, key := range []string{"early/a", "early/b/c", "early/d"} {
		mustPut(t, s, key, []byte(key))
	}
	for wanted := 1; wanted <= 2; wanted++ {
		var got []string
		for info, err := range s.List(t.Context(), "early/", "") {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, info.Key); len(got) == wanted {
				break
			}
		}
		if want := []string{"early/a", "early/b/c"}[:wanted]; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// listDuringPuts: what a list shows is whole, and what was there is shown.
func listDuringPuts(t *testing.T, s objstore.Store) {
	body := random(20_000)
	for i := range 10 {
		mustPut(t, s, fmt.Sprintf("during/old/%d", i), body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for writer := range 3 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				key := fmt.Sprintf("during/new-%d/%d", writer, i)
				err := s.Put(ctx, key, body)
				if err == nil && i%2 == 1 {
					err = s.Delete(ctx, key) // leaves directories empty at times
				}
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", key, err)
				}
			}
		})
	}
	for range 10 {
		old := 0
		for info, err := range s.List(t.Context(), "during/", "") {
			if err != nil {
				t.Errorf("list: %v", err)
				break
			}
			if info.Size != int64(len(body)) {
				t.Errorf("list shows %s with %d bytes, want %d", info.Key, info.Size, len(body))
			}
			if strings.HasPrefix(info.Key, "during/old/") {
				old++
			}
		}
		if old != 10 {
			t.Errorf("list shows %d of 10 objects that were there all the time", old)
		}
	}
	cancel()
	wg.Wait()
}
