package objstore_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

func eachStore(b *testing.B, run func(b *testing.B, s objstore.Store)) {
	b.Run("memory", func(b *testing.B) { run(b, objstore.NewMemory()) })
	b.Run("filesystem", func(b *testing.B) { run(b, openFilesystem(b, b.TempDir())) })
	b.Run("s3", func(b *testing.B) { run(b, openS3(b, s3test.New(b))) })
}

var benchSizes = []int{4 << 10, 1 << 20}

// BenchmarkPut stores one object at a time.
func BenchmarkPut(b *testing.B) {
	eachStore(b, func(b *testing.B, s objstore.Store) {
		var n atomic.Int64
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
				body := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Put(b.Context(), fmt.Sprintf("log/a/%020d", n.Add(1)), body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

// BenchmarkGet reads 4 KiB out of the middle of an object, or 1 MiB.
func BenchmarkGet(b *testing.B) {
	eachStore(b, func(b *testing.B, s objstore.Store) {
		if err := s.Put(b.Context(), "log/a/1", make([]byte, 4<<20)); err != nil {
			b.Fatal(err)
		}
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Get(b.Context(), "log/a/1", 1<<20, int64(size)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

// BenchmarkList pages through 3,000 objects of three directories.
func BenchmarkList(b *testing.B) {
	const count = 3000
	eachStore(b, func(b *testing.B, s objstore.Store) {
		var wg sync.WaitGroup
		for worker := range 16 {
			wg.Go(func() {
				for i := worker; i < count; i += 16 {
					if err := s.Put(b.Context(), fmt.Sprintf("log/%d/%020d", i%3, i), nil); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		for b.Loop() {
			got := 0
			for _, err := range s.List(b.Context(), "log/", "") {
				if err != nil {
					b.Fatal(err)
				}
				got++
			}
			if got != count {
				b.Fatalf("got %d objects, want %d", got, count)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/list")
	})
}
