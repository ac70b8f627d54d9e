package journal

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// backlog stores segments of about 4 MiB with messages of 1 KiB, tags a to d.
func backlog(n *node, segments int) (refs []meta.SegmentRef) {
	body := strings.Repeat("x", 1000)
	for range segments {
		var all []msg
		for i := range 4000 {
			all = append(all, msg{tag: string(rune('a' + i%4)), body: body})
		}
		refs = append(refs, n.putSilently(all...))
	}
	return refs
}

// catchUp reads the queue from the start on and returns how many bytes of
// records came.
func catchUp(b *testing.B, n *node, expression string) (bytes int64) {
	f := tags(b, expression)
	for offset := int64(0); ; {
		page, err := n.Read(context.Background(), Read{Topic: n.rig.topic, Offset: offset, MaxMessages: 1000, Filter: f})
		if err != nil {
			b.Fatal(err)
		}
		if page.Status == NoNew {
			return bytes
		}
		for i := range page.Messages {
			bytes += int64(len(page.Messages[i].Raw))
		}
		offset = page.Next
	}
}

// BenchmarkCatchUp reads 64 MiB that no cache holds. Each round also fetches the
// same objects and does nothing else: only the ratio means something on a
// machine that others use.
func BenchmarkCatchUp(b *testing.B) {
	r := newRig(b, 1)
	disk, err := objstore.OpenFilesystem(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { disk.Close() })
	r.put = disk
	refs := backlog(r.node(), 16)
	db := r.open()
	for _, expression := range []string{"*", "a"} {
		b.Run("tags "+expression, func(b *testing.B) {
			var raw, read spent
			records := int64(0)
			for b.Loop() {
				raw.add(func() {
					for _, ref := range refs {
						if _, err := disk.Get(context.Background(), segment.ObjectKey(ref.Writer, ref.Seq), 0, -1); err != nil {
							b.Fatal(err)
						}
					}
				})
				reader := (&node{reader: newReader(readerOptions{Store: disk, Meta: db}), rig: r}).start()
				read.add(func() { records += catchUp(b, reader, expression) })
			}
			b.ReportMetric(float64(records)/read.wall.Seconds()/(1<<20), "MiB/s-returned")
			b.ReportMetric(raw.wall.Seconds()/read.wall.Seconds(), "of-raw-GET")
			b.ReportMetric(raw.cpu.Seconds()/read.cpu.Seconds(), "of-raw-GET-cpu")
			b.ReportMetric(float64((read.cpu-raw.cpu).Nanoseconds())/float64(b.N)/(16*4000), "cpu-ns/message-above-raw")
		})
	}
}

// far is a store that takes its time, as one over a network does.
type far struct{ objstore.Store }

func (f far) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	time.Sleep(30 * time.Millisecond)
	return f.Store.Get(ctx, key, off, n)
}

// BenchmarkCatchUpFarAway reads 64 MiB in pages of 100 from a store that answers
// after 30 ms. late-pages are those that had to wait for it.
func BenchmarkCatchUpFarAway(b *testing.B) {
	r := newRig(b, 1)
	backlog(r.node(), 16)
	late, rounds := 0, 0
	for b.Loop() {
		n := r.node(func(o *readerOptions) { o.Store = far{r.store} }).start()
		rounds++
		for offset := int64(0); ; {
			started := time.Now()
			page, err := n.Read(b.Context(), Read{Topic: r.topic, Offset: offset})
			if err != nil {
				b.Fatal(err)
			}
			if page.Status == NoNew {
				break
			}
			if time.Since(started) > 10*time.Millisecond {
				late++
			}
			offset = page.Next
		}
	}
	b.ReportMetric(float64(late)/float64(rounds), "late-pages")
}

// spent sums wall and processor time.
type spent struct{ wall, cpu time.Duration }

func (s *spent) add(work func()) {
	started, before := time.Now(), processorTime()
	work()
	s.wall += time.Since(started)
	s.cpu += processorTime() - before
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkReadInMemory reads pages of 100 messages from a segment in memory.
func BenchmarkReadInMemory(b *testing.B) {
	r := newRig(b, 1)
	n := r.node().start()
	hold := newWaiter(want{})
	tail := n.tails.sit(r.topic, hold, []uint32{0}, false)
	defer tail.leave(hold)
	n.subscribe(b.Context(), tail, time.Second)
	if _, err := n.Read(b.Context(), Read{Topic: r.topic}); err != nil {
		b.Fatal(err)
	}
	var all []msg
	for i := range 4000 {
		all = append(all, msg{tag: string(rune('a' + i%4)), body: strings.Repeat("x", 100)})
	}
	n.put(all...)
	for name, expression := range map[string]string{"all": "*", "one of four tags": "b"} {
		b.Run(name, func(b *testing.B) {
			f := tags(b, expression)
			b.ReportAllocs()
			offset, messages := int64(0), 0
			before := processorTime()
			for b.Loop() {
				page, err := n.Read(b.Context(), Read{Topic: r.topic, Offset: offset, MaxMessages: 100, Filter: f})
				if err != nil {
					b.Fatal(err)
				}
				messages += len(page.Messages)
				offset = (offset + 400) % 3600
			}
			b.ReportMetric(float64((processorTime()-before).Nanoseconds())/float64(messages), "cpu-ns/message")
		})
	}
}

// BenchmarkTailWake is the time from the commit's reply to a reader of this or
// another node having its message.
func BenchmarkTailWake(b *testing.B) {
	r := newRig(b, 1)
	producer, other := r.node().start(), r.node().start()
	offset := int64(0)
	for name, n := range map[string]*node{"same node": producer, "other node": other} {
		b.Run(name, func(b *testing.B) {
			var took time.Duration
			b.ReportAllocs()
			for b.Loop() {
				waiting := n.goRead(b.Context(), Read{Offset: offset, Wait: 20 * time.Second})
				n.parked(1)
				started := time.Now()
				producer.put(msg{body: "x"})
				a := <-waiting
				took += a.at.Sub(started)
				offset++
			}
			b.ReportMetric(float64(took.Microseconds())/float64(b.N), "µs/put-to-reader")
		})
	}
}

// TestAParkedReaderCostsLittleMemory parks many readers and divides what the
// process grew by their number. Their HTTP connections are not in it.
func TestAParkedReaderCostsLittleMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies memory")
	}
	const readers, most = 2000, 14 << 10
	r := newRig(t, 8)
	n := r.node().start()
	used := func() (heap, stack uint64) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse, m.StackInuse
	}
	heap, stack := used()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	for i := range readers {
		done.Go(func() {
			_, _ = n.Read(ctx, Read{Topic: r.topic, Queue: uint32(i) % 8, Wait: MaxWait})
		})
	}
	n.parked(readers)
	heapAfter, stackAfter := used()
	cancel()
	done.Wait()
	each := (heapAfter - heap + stackAfter - stack) / readers
	t.Logf("%d bytes for each parked reader, %d of them its stack", each, (stackAfter-stack)/readers)
	if each > most {
		t.Errorf("%d bytes for each parked reader, want at most %d", each, most)
	}
}

// BenchmarkTailBesideCatchUp is the tail's latency on another node while a
// reader there catches up flat out, and without one.
func BenchmarkTailBesideCatchUp(b *testing.B) {
	r := newRig(b, 2)
	writer := r.node()
	backlog(writer, 24)
	for _, beside := range []bool{false, true} {
		b.Run(fmt.Sprint("catching up=", beside), func(b *testing.B) {
			producer, other := r.node().start(), r.node(func(o *readerOptions) { o.CacheBytes = 16 << 20 }).start()
			stop := make(chan struct{})
			var done sync.WaitGroup
			if beside {
				done.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							catchUp(b, other, "*")
						}
					}
				})
			}
			page, err := other.Read(b.Context(), Read{Topic: r.topic, Queue: 1, Offset: 1 << 50, Clamp: true})
			if err != nil {
				b.Fatal(err)
			}
			offset := page.Next
			var took []time.Duration
			for b.Loop() {
				waiting := other.goRead(b.Context(), Read{Queue: 1, Offset: offset, Wait: 20 * time.Second})
				other.parked(1)
				started := time.Now()
				producer.put(msg{queue: 1, body: "x"})
				a := <-waiting
				took = append(took, a.at.Sub(started))
				offset++
			}
			close(stop)
			done.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		})
	}
}
