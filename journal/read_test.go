package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/segment"
)

func tags(t testing.TB, expression string) filter.Filter {
	t.Helper()
	f, err := filter.ParseTags(expression)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// trim removes the messages before min from a queue as retention will.
func (r *rig) trim(queue uint32, min int64) {
	r.t.Helper()
	key := "{t:" + r.topic.ID.String() + "}:head"
	head, err := r.redis.Client().HGet(r.t.Context(), key, fmt.Sprint(queue)).Result()
	if err != nil {
		r.t.Fatal(err)
	}
	fields := strings.Fields(head)
	fields[1] = fmt.Sprint(min)
	if err := r.redis.Client().HSet(r.t.Context(), key, fmt.Sprint(queue), strings.Join(fields, " ")).Err(); err != nil {
		r.t.Fatal(err)
	}
}

func TestReadAnswersWithTheStatusAndNextOffsetOfEachCase(t *testing.T) {
	r := newRig(t, 4)
	n := r.node()
	// Queue 0 stays empty. Queue 1 holds 3..9 of ten; queue 2 only tag a, in two segments.
	n.put(append(many(10, 1, "a", "x"), many(4, 2, "a", "y")...)...)
	n.put(many(3, 2, "a", "z")...)
	r.trim(1, 3)
	cases := []struct {
		name    string
		read    Read
		status  string
		next    int64
		count   int
		min     int64
		max     int64
		bounds  *BoundsError
		epochIs int64
	}{
		{name: "never had a message, offset 0", read: Read{Queue: 0}, status: NoNew},
		{name: "never had a message, other offset", read: Read{Queue: 0, Offset: 5}, bounds: &BoundsError{}},
		{name: "never had a message, clamped", read: Read{Queue: 0, Offset: 5, Clamp: true}, status: NoNew},
		{name: "unknown queue, offset 0", read: Read{Queue: 99}, status: NoNew},
		{name: "unknown queue, other offset", read: Read{Queue: 99, Offset: 1}, bounds: &BoundsError{}},
		{name: "below min", read: Read{Queue: 1, Offset: 2}, bounds: &BoundsError{Trimmed: true, Min: 3, Next: 10}},
		{name: "negative", read: Read{Queue: 1, Offset: -1}, bounds: &BoundsError{Trimmed: true, Min: 3, Next: 10}},
		{name: "below min, clamped", read: Read{Queue: 1, Offset: 0, Clamp: true, MaxMessages: 2}, status: Found, next: 5, count: 2, min: 3, max: 10},
		{name: "at min", read: Read{Queue: 1, Offset: 3, MaxMessages: 1}, status: Found, next: 4, count: 1, min: 3, max: 10},
		{name: "at the end", read: Read{Queue: 1, Offset: 10}, status: NoNew, next: 10, min: 3, max: 10},
		{name: "beyond the end", read: Read{Queue: 1, Offset: 11}, bounds: &BoundsError{Min: 3, Next: 10}},
		{name: "beyond the end, clamped", read: Read{Queue: 1, Offset: 11, Clamp: true}, status: NoNew, next: 10, min: 3, max: 10},
		{name: "beyond the end never falls back to min 0", read: Read{Queue: 2, Offset: 8}, bounds: &BoundsError{Next: 7}},
		{name: "all rejected", read: Read{Queue: 2, Filter: tags(t, "b")}, status: NoMatch, next: 7, max: 7},
		{name: "rejected from the middle", read: Read{Queue: 2, Offset: 2, Filter: tags(t, "b")}, status: NoMatch, next: 7, max: 7},
		{name: "found over two segments", read: Read{Queue: 2, Filter: tags(t, "a||b")}, status: Found, next: 7, count: 7, max: 7},
		{name: "limited by count", read: Read{Queue: 2, Offset: 3, MaxMessages: 2}, status: Found, next: 5, count: 2, max: 7},
		{name: "limited by bytes, the first message always comes", read: Read{Queue: 2, MaxBytes: 1}, status: Found, next: 1, count: 1, max: 7},
		{name: "current epoch", read: Read{Queue: 2, Epoch: 1, MaxMessages: 1}, status: Found, next: 1, count: 1, max: 7},
		{name: "other epoch", read: Read{Queue: 2, Epoch: 9}, epochIs: 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.read.Topic = r.topic
			page, err := n.Read(t.Context(), c.read)
			var bounds *BoundsError
			var epoch *EpochError
			switch {
			case c.bounds != nil:
				if !errors.As(err, &bounds) || *bounds != *c.bounds {
					t.Fatalf("got %+v, %v, want %+v", page, err, c.bounds)
				}
				return
			case c.epochIs != 0:
				if !errors.As(err, &epoch) || epoch.Current != c.epochIs {
					t.Fatalf("got %+v, %v, want epoch %d", page, err, c.epochIs)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if page.Status != c.status || page.Next != c.next || len(page.Messages) != c.count {
				t.Errorf("got %s, next %d, %d messages, want %s, %d, %d", page.Status, page.Next, len(page.Messages), c.status, c.next, c.count)
			}
			if page.Min != c.min || page.Max != c.max || page.Epoch != 1 {
				t.Errorf("got bounds %d to %d of epoch %d, want %d to %d of 1", page.Min, page.Max, page.Epoch, c.min, c.max)
			}
			for i, m := range page.Messages {
				if want := page.Next - int64(len(page.Messages)-i); m.Offset != want {
					t.Errorf("message %d has offset %d, want %d", i, m.Offset, want)
				}
			}
		})
	}
}

func TestOnePullExaminesEightHundredMessages(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	n.put(append(many(2000, 0, "a", "x"), msg{tag: "b", body: "match"})...)
	offset := int64(0)
	for pull, want := range []struct {
		status string
		next   int64
	}{{NoMatch, 800}, {NoMatch, 1600}, {Found, 2001}} {
		page, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: offset, MaxMessages: 32, Filter: tags(t, "b")})
		if err != nil {
			t.Fatal(err)
		}
		if page.Status != want.status || page.Next != want.next {
			t.Fatalf("pull %d: %s, next %d, want %s, %d", pull+1, page.Status, page.Next, want.status, want.next)
		}
		offset = page.Next
	}
	// The same when no tag bit can tell: the filter's tag is in every entry.
	mixed := many(2000, 0, "a", "x")
	mixed[0].tag = "c"
	n.put(mixed...)
	page, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: offset + 1, Filter: tags(t, "c")})
	if err != nil || page.Status != NoMatch || page.Next != offset+801 {
		t.Fatalf("got %+v, %v, want no_match up to %d", page, err, offset+801)
	}
}

func TestMaxBytesIsSoft(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	n.put(msg{body: strings.Repeat("x", 5000)}, msg{body: "small"}, msg{body: "small"})
	page, err := n.Read(t.Context(), Read{Topic: r.topic, MaxBytes: 100})
	if err != nil || len(page.Messages) != 1 || page.Next != 1 {
		t.Fatalf("got %+v, %v, want the first message alone", page, err)
	}
	small := int64(len(page.Messages[0].Raw)-5000) + 5
	page, err = n.Read(t.Context(), Read{Topic: r.topic, Offset: 1, MaxBytes: 2 * small})
	if err != nil || len(page.Messages) != 2 {
		t.Fatalf("got %+v, %v, want the two that fit exactly", page, err)
	}
	page, err = n.Read(t.Context(), Read{Topic: r.topic, Offset: 1, MaxBytes: 2*small - 1})
	if err != nil || len(page.Messages) != 1 || page.Next != 2 {
		t.Fatalf("got %+v, %v, want one and to go on at 2", page, err)
	}
}

// TestAnyRangeReadsLikeTheModel compares random reads of random segments, by
// several nodes with caches of several sizes, with a list in memory.
func TestAnyRangeReadsLikeTheModel(t *testing.T) {
	r := newRig(t, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	nodes := []*node{
		r.node().start(),
		r.node(func(o *readerOptions) { o.CacheBytes = 64 << 10 }).start(),
		r.node(func(o *readerOptions) { o.CacheBytes = 1 }).start(),
	}
	model := make([][]msg, 3)
	for range 30 {
		var segment []msg
		for queue := range uint32(3) {
			for range rng.IntN(120) {
				m := msg{queue: queue, tag: string(rune('a' + rng.IntN(4))), body: fmt.Sprint(queue, "/", len(model[queue]))}
				if rng.IntN(60) == 0 {
					m.body += strings.Repeat(".", rng.IntN(100<<10))
				}
				segment = append(segment, m)
				model[queue] = append(model[queue], m)
			}
		}
		if len(segment) > 0 {
			nodes[rng.IntN(len(nodes))].put(segment...)
		}
	}
	expressions := []string{"*", "a", "b||c", "none", "d"}
	for range 300 {
		n := nodes[rng.IntN(len(nodes))]
		queue := uint32(rng.IntN(3))
		f := tags(t, expressions[rng.IntN(len(expressions))])
		read := Read{
			Topic: r.topic, Queue: queue, Offset: int64(rng.IntN(len(model[queue]) + 1)), Filter: f,
			MaxMessages: 1 + rng.IntN(200), MaxBytes: int64(1 + rng.IntN(1<<20)),
		}
		page, err := n.Read(t.Context(), read)
		if err != nil {
			t.Fatal(err)
		}
		want := model[queue][read.Offset:page.Next]
		var match []string
		for _, m := range want {
			if f.Match(&segment.Record{Tag: []byte(m.tag)}) {
				match = append(match, m.body)
			}
		}
		if !slices.Equal(bodies(page.Messages), match) {
			t.Fatalf("%+v: got %d messages up to %d, the model has %d", read, len(page.Messages), page.Next, len(match))
		}
		if page.Next == read.Offset && page.Next != page.Max {
			t.Fatalf("%+v made no progress", read)
		}
	}
	for _, n := range nodes {
		if used := n.cache.size(hot) + n.cache.size(cold); used > n.cache.shelves[hot].capacity+n.cache.shelves[cold].capacity {
			t.Errorf("cache holds %d bytes, more than it may", used)
		}
	}
}

func TestFindIsTheExactLowerBound(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	var stored []int64
	for i := range 5 {
		n.put(many(3, 0, "", fmt.Sprint(i, "-"))...)
		page, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: int64(3 * i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Messages {
			stored = append(stored, m.StoredAt)
		}
		time.Sleep(2 * time.Millisecond) // Redis' clock must move on: there is nothing to wait for
	}
	for at := stored[0] - 2; at <= stored[len(stored)-1]+2; at++ {
		want, _ := slices.BinarySearch(stored, at)
		got, err := n.Find(t.Context(), r.topic, 0, at)
		if err != nil || got != int64(want) {
			t.Fatalf("Find(%d) = %d, %v, want %d", at, got, err, want)
		}
	}
}
