package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// foundBodies are the bodies of what a search found, in order.
func foundBodies(items []Item) (all []string) {
	for _, item := range items {
		all = append(all, string(item.Record.Body))
	}
	return all
}

// A process that has nothing in memory finds one message among the segments of many
// topics by reading their footers and the block that holds it.
func TestASearchByKeyReadsFootersAndTheBlock(t *testing.T) {
	r := newRig(t, 2)
	n := r.node()
	n.filler = 200 << 10
	const segments = 150
	for i := range segments {
		all := many(20, uint32(i)%2, "a", fmt.Sprint(i, "-"))
		for k := range all {
			all[k].key = fmt.Sprintf("order-%d-%d customer-%d", i, k, i)
		}
		n.putSilently(all...)
	}
	cold := r.node()
	before := r.store.Calls(faulty.Get)
	_, received := r.store.Bytes()
	found, gaps, pages := searchAll(t, cold, SearchOptions{Key: "order-77-5"})
	if !slices.Equal(foundBodies(found), []string{"77-5"}) || len(gaps) != 0 || pages != 1 {
		t.Errorf("found %v, gaps %v, on %d pages", foundBodies(found), gaps, pages)
	}
	gets := r.store.Calls(faulty.Get) - before
	_, after := r.store.Bytes()
	// A footer is wrong about one block in fifty.
	if gets < segments || gets > segments+segments/10 || after-received > uint64(gets)*(footerGuess+8<<10) {
		t.Errorf("%d GETs of %d bytes for %d segments", gets, after-received, segments)
	}
	// What is in memory is not fetched again.
	before = r.store.Calls(faulty.Get)
	if found, _, _ := searchAll(t, cold, SearchOptions{Key: "customer-140", Limit: 50}); len(found) != 20 || r.store.Calls(faulty.Get)-before > 15 {
		t.Errorf("found %d of 20 with %d GETs", len(found), r.store.Calls(faulty.Get)-before)
	}
}

func TestASearchByKeyMakesABoundedNumberOfRequests(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	for i := range 2*searchReads + 50 {
		n.putSilently(msg{key: fmt.Sprint("k", i), body: fmt.Sprint(i)})
	}
	cold := r.node()
	o := SearchOptions{Topic: r.topic, Key: fmt.Sprint("k", 2*searchReads+40)}
	var found []Item
	for pages := 1; ; pages++ {
		before := r.store.Calls(faulty.Get)
		page, err := cold.Search(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if gets := r.store.Calls(faulty.Get) - before; gets > searchReads+searchAhead {
			t.Errorf("page %d took %d GETs", pages, gets)
		}
		found = append(found, page.Messages...)
		if o.Token = page.Token; o.Token == "" {
			if pages < 3 || len(found) != 1 {
				t.Errorf("found %d messages on %d pages", len(found), pages)
			}
			return
		}
	}
}

// Any search by key finds what a look at every message finds: over queues, pages and
// times, of small and large messages, through a process that wrote them and one that
// did not, while more come.
func TestSearchesByKeyMatchALookAtEveryMessage(t *testing.T) {
	r := newRig(t, 3)
	writer := r.node()
	reader := r.node()
	random := rand.New(rand.NewPCG(1, 2))
	type stored struct {
		keys []string
		body string
	}
	var all []stored
	more := func() {
		var batch []msg
		for range 1 + random.IntN(30) {
			m := msg{queue: uint32(random.IntN(3)), body: fmt.Sprint(len(all), strings.Repeat(".", random.IntN(20_000)))}
			var keys []string
			for range random.IntN(4) {
				if key := fmt.Sprint("k", random.IntN(12)); !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
			m.key = strings.Join(keys, " ")
			all = append(all, stored{keys, m.body})
			batch = append(batch, m)
		}
		writer.tick()
		writer.put(batch...)
	}
	for range 30 {
		more()
	}
	for try := range 40 {
		n := []*node{writer, reader}[try%2]
		o := SearchOptions{Topic: r.topic, Key: fmt.Sprint("k", random.IntN(13)), Limit: 1 + random.IntN(40)}
		var got []string
		for {
			page, err := n.Search(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, foundBodies(page.Messages)...)
			if o.Token = page.Token; o.Token == "" {
				break
			}
			if len(got)%3 == 0 && len(all) < 1500 {
				more()
			}
		}
		var want []string
		for _, m := range all {
			if slices.Contains(m.keys, o.Key) {
				want = append(want, m.body)
			}
		}
		slices.Sort(got) // within a segment they come queue by queue
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("try %d, %s: found %d messages, want %d", try, o.Key, len(got), len(want))
		}
	}
}

// withoutFilters stores segments as they were before there were key filters.
type withoutFilters struct{ objstore.Store }

func (s withoutFilters) Put(ctx context.Context, key string, body []byte) error {
	trailer := bytes.Clone(body[len(body)-segment.TrailerSize:])
	if trailer[19]&2 != 0 {
		end := len(body) - segment.TrailerSize
		section := int(binary.BigEndian.Uint32(body[end-4:])) + 4
		footer := int(binary.BigEndian.Uint32(trailer[4:]))
		body = body[:end-section]
		trailer[19] = 0
		binary.BigEndian.PutUint32(trailer[4:], uint32(footer-section))
		binary.BigEndian.PutUint64(trailer[8:], uint64(len(body)+segment.TrailerSize))
		table := crc32.MakeTable(crc32.Castagnoli)
		binary.BigEndian.PutUint32(trailer, crc32.Update(crc32.Checksum(body[len(body)-footer+section:], table), table, trailer[4:]))
		body = append(bytes.Clone(body), trailer...)
	}
	return s.Store.Put(ctx, key, body)
}

func TestASearchByKeyReadsSegmentsWithoutFilters(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	n.putSilently(msg{key: "a b", body: "new"}, msg{key: "c", body: "other"})
	r.put = withoutFilters{r.store}
	n.putSilently(msg{key: "b", body: "old"}, msg{key: "c", body: "other"})
	n.putSilently(msg{body: "without keys"})
	if got, gaps, _ := searchAll(t, r.node(), SearchOptions{Key: "b"}); !slices.Equal(foundBodies(got), []string{"new", "old"}) || len(gaps) != 0 {
		t.Errorf("found %v, gaps %v", foundBodies(got), gaps)
	}
}

// A damaged footer costs a search nothing but time, a damaged block its own messages.
func TestASearchByKeyOverDamage(t *testing.T) {
	for name, c := range map[string]struct {
		at   func(object []byte) int
		want []string
		gaps []Gap
	}{
		"in the footer":  {func(b []byte) int { return len(b) - 30 }, []string{"0", "1", "2"}, nil},
		"in the trailer": {func(b []byte) int { return len(b) - 10 }, []string{"0", "1", "2"}, nil},
		"in the block":   {func([]byte) int { return 100 }, []string{"0", "2"}, []Gap{{0, 2, 4, GapCorrupt, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			n := r.node()
			for i := range 3 {
				ref := n.putSilently(msg{key: "k", body: fmt.Sprint(i)}, msg{key: "x", body: "other"})
				if i != 1 {
					continue
				}
				key := segment.ObjectKey(ref.Writer, ref.Seq)
				object, err := r.store.Get(t.Context(), key, 0, -1)
				if err != nil {
					t.Fatal(err)
				}
				object = bytes.Clone(object)
				object[c.at(object)] ^= 1
				if err := errors.Join(r.store.Delete(t.Context(), key), r.store.Put(t.Context(), key, object)); err != nil {
					t.Fatal(err)
				}
			}
			got, gaps, _ := searchAll(t, r.node(), SearchOptions{Key: "k"})
			if !slices.Equal(foundBodies(got), c.want) || !slices.Equal(gaps, c.gaps) {
				t.Errorf("found %v, gaps %v; want %v, %v", foundBodies(got), gaps, c.want, c.gaps)
			}
		})
	}
}

// A store that fails ends the page where it fails; the token goes on from there.
func TestASearchByKeyGoesOnAfterTheStoreWasAway(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	for i := range 40 {
		n.putSilently(msg{key: "k", body: fmt.Sprint(i)})
	}
	cold := r.node()
	r.store.Add(&faulty.Rule{Op: faulty.Get, Skip: 20, Fault: faulty.FailBefore(errors.New("503 slow down"))})
	o := SearchOptions{Topic: r.topic, Key: "k"}
	page, err := cold.Search(t.Context(), o)
	if err != nil || page.Token == "" || len(page.Messages) == 0 || len(page.Messages) == 40 {
		t.Fatalf("got %+v, %v, want a part and a token", page, err)
	}
	found := page.Messages
	o.Token = page.Token
	if _, err := cold.Search(t.Context(), o); !errors.Is(err, ErrUnavailable) {
		t.Errorf("while the store is away: %v, want ErrUnavailable", err)
	}
	r.store.Clear()
	rest, _, _ := searchAll(t, cold, o)
	if found = append(found, rest...); len(found) != 40 {
		t.Errorf("found %d of 40", len(found))
	}
	for i, m := range found {
		if string(m.Record.Body) != fmt.Sprint(i) {
			t.Errorf("message %d is %s", i, m.Record.Body)
		}
	}
}
