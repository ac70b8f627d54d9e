package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// blocksOf puts 12 messages of a third of a block each: blocks of 3 messages
// with the offsets 0–2, 3–5, 6–8 and 9–11. It returns the blocks.
func blocksOf(t *testing.T, r *rig, n *node) (meta.SegmentRef, []segment.Block) {
	t.Helper()
	var all []msg
	for i := range 12 {
		all = append(all, msg{tag: "a", body: fmt.Sprint(i) + strings.Repeat(".", segment.BlockBytes/3-100)})
	}
	ref, commits := n.build(all, func(meta.SegmentRef, []byte) {})
	n.commit(commits)
	object, err := r.store.Get(t.Context(), segment.ObjectKey(ref.Writer, ref.Seq), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	footer, _, err := segment.ParseFooter(object, int64(len(object)))
	if err != nil || len(footer.Blocks) != 4 || footer.Blocks[1].Count != 3 {
		t.Fatalf("%d blocks, %v, want 4 blocks of 3", len(footer.Blocks), err)
	}
	return ref, footer.Blocks
}

// readAll reads a queue from the start on and steps over what is damaged.
func readAll(t *testing.T, n *node) (found []string, lost []CorruptError) {
	t.Helper()
	for offset := int64(0); ; {
		page, err := n.Read(t.Context(), Read{Topic: n.rig.topic, Offset: offset, MaxBytes: MaxReadBytes})
		var corrupt *CorruptError
		switch {
		case errors.As(err, &corrupt):
			if corrupt.First != offset || corrupt.Next <= offset {
				t.Fatalf("at %d: %v", offset, err)
			}
			lost = append(lost, *corrupt)
			offset = corrupt.Next
		case err != nil:
			t.Fatal(err)
		case page.Status == NoNew:
			return found, lost
		default:
			for _, m := range page.Messages {
				number, _, _ := strings.Cut(string(m.Record.Body), ".")
				found = append(found, number)
			}
			offset = page.Next
		}
	}
}

func TestADamagedByteCostsOnlyItsBlock(t *testing.T) {
	cases := []struct {
		name string
		at   func([]segment.Block) int64
		want []string
		lost []CorruptError
	}{
		{"in a payload", func(b []segment.Block) int64 { return b[1].Position + 5000 }, []string{"0", "1", "2", "6", "7", "8", "9", "10", "11"}, []CorruptError{{3, 6}}},
		{"in a header's length", func(b []segment.Block) int64 { return b[1].Position + 9 }, []string{"0", "1", "2", "6", "7", "8", "9", "10", "11"}, []CorruptError{{3, 6}}},
		{"in the first block's magic", func(b []segment.Block) int64 { return 0 }, []string{"3", "4", "5", "6", "7", "8", "9", "10", "11"}, []CorruptError{{0, 3}}},
		{"in the last block", func(b []segment.Block) int64 { return b[3].Position + b[3].Length - 1 }, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}, []CorruptError{{9, 12}}},
		{"in the footer", func(b []segment.Block) int64 { return b[3].Position + b[3].Length + 30 }, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 1)
			n := r.node()
			_, blocks := blocksOf(t, r, n)
			rule := r.store.Add(&faulty.Rule{Op: faulty.Get, Fault: faulty.Flip(int(c.at(blocks)))})
			found, lost := readAll(t, n)
			if !slices.Equal(found, c.want) || !slices.Equal(lost, c.lost) {
				t.Errorf("got messages %v, lost %v, want %v, %v", found, lost, c.want, c.lost)
			}
			if c.lost == nil {
				return
			}
			if got := testutil.ToFloat64(n.metrics.lost.WithLabelValues("damaged")); got == 0 {
				t.Error("no alarm was raised")
			}
			// The damaged copy stays in memory: it is not fetched with each read.
			before := rule.Hits()
			if again, _ := readAll(t, n); !slices.Equal(again, c.want) || rule.Hits() != before || before != 2 {
				t.Errorf("got %v again after %d GETs, then %d, want the same with 2 in all", again, before, rule.Hits())
			}
		})
	}
}

func TestDamageOnTheWayIsHealed(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	_, blocks := blocksOf(t, r, n)
	r.store.Add(&faulty.Rule{Op: faulty.Get, Times: 1, Fault: faulty.Flip(int(blocks[2].Position + 100))})
	found, lost := readAll(t, n)
	if len(found) != 12 || len(lost) != 0 {
		t.Errorf("got %v, lost %v, want all 12 after a second GET", found, lost)
	}
	if got := testutil.ToFloat64(n.metrics.lost.WithLabelValues("damaged")); got != 0 {
		t.Error("an alarm was raised for damage that was healed")
	}
}

func TestDamageThatReadsDifferentlyIsNotBelieved(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	_, blocks := blocksOf(t, r, n)
	for _, at := range []int64{100, 101} {
		r.store.Add(&faulty.Rule{Op: faulty.Get, Times: 1, Fault: faulty.Flip(int(blocks[2].Position + at))})
	}
	r.store.Add(&faulty.Rule{Op: faulty.Get, Times: 1, Fault: faulty.Truncate(int(blocks[2].Position))})
	found, lost := readAll(t, n)
	if len(found) != 12 || len(lost) != 0 {
		t.Errorf("got %v, lost %v, want all 12 after a fourth GET", found, lost)
	}
}

func TestATruncatedObjectCostsWhatIsMissing(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	ref, blocks := blocksOf(t, r, n)
	key := segment.ObjectKey(ref.Writer, ref.Seq)
	object, err := r.store.Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := r.store.Put(t.Context(), key, object[:blocks[2].Position+10]); err != nil {
		t.Fatal(err)
	}
	found, lost := readAll(t, n)
	if !slices.Equal(found, []string{"0", "1", "2", "3", "4", "5"}) || !slices.Equal(lost, []CorruptError{{6, 12}}) {
		t.Errorf("got %v, lost %v, want 0 to 5, lost 6 to 12", found, lost)
	}
}

func TestAMissingObjectIsLostOnlyAfterItHadTimeToAppear(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	n.putSilently(many(3, 0, "", "x")...)
	r.store.Add(&faulty.Rule{Op: faulty.Get, Times: 3, Fault: faulty.FailBefore(objstore.ErrNotFound)})
	page, err := n.Read(t.Context(), Read{Topic: r.topic})
	if err != nil || len(page.Messages) != 3 {
		t.Fatalf("got %+v, %v, want the messages once the object appears", page, err)
	}
	gone := n.putSilently(many(3, 0, "", "y")...)
	n.put(many(3, 0, "", "z")...)
	if err := r.store.Delete(t.Context(), segment.ObjectKey(gone.Writer, gone.Seq)); err != nil {
		t.Fatal(err)
	}
	page, err = n.Read(t.Context(), Read{Topic: r.topic, Offset: 1})
	if err != nil || page.Next != 3 {
		t.Fatalf("got %+v, %v, want what lies before the missing object", page, err)
	}
	started := time.Now()
	var corrupt *CorruptError
	if _, err = n.Read(t.Context(), Read{Topic: r.topic, Offset: 4}); !errors.As(err, &corrupt) || *corrupt != (CorruptError{4, 6}) {
		t.Fatalf("got %v, want that 4 to 6 are lost", err)
	}
	if took := time.Since(started); took < missingRetry/2 || took > missingRetry+time.Second {
		t.Errorf("gave up after %v, want about %v", took, missingRetry)
	}
	if got := testutil.ToFloat64(n.metrics.lost.WithLabelValues("missing")); got != 1 {
		t.Errorf("%v alarms, want 1", got)
	}
	if page, err = n.Read(t.Context(), Read{Topic: r.topic, Offset: 6}); err != nil || len(page.Messages) != 3 {
		t.Fatalf("got %+v, %v, want what lies behind", page, err)
	}
}

func TestAHoleInTheIndexIsSaid(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	n.put(many(3, 0, "", "x")...)
	n.put(many(3, 0, "", "y")...)
	n.put(many(3, 0, "", "z")...)
	// Take the middle entry out, as a recovery from a bucket without it does.
	list := "{t:" + r.topic.ID.String() + "}:hot:0"
	entry, err := r.redis.Client().LIndex(t.Context(), list, 1).Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.redis.Client().LRem(t.Context(), list, 1, entry).Err(); err != nil {
		t.Fatal(err)
	}
	found, lost := readAll(t, n)
	if len(found) != 6 || !slices.Equal(lost, []CorruptError{{3, 6}}) {
		t.Errorf("got %v, lost %v, want 6 messages, lost 3 to 6", found, lost)
	}
	var corrupt *CorruptError
	if _, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: 4}); !errors.As(err, &corrupt) || *corrupt != (CorruptError{4, 6}) {
		t.Errorf("inside the hole: %v, want that 4 to 6 are lost", err)
	}
}

func TestAStoreThatDoesNotAnswerIsUnavailable(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	n.putSilently(msg{body: "x"})
	r.store.Add(&faulty.Rule{Op: faulty.Get, Times: 1, Fault: faulty.FailBefore(nil)})
	if _, err := n.Read(t.Context(), Read{Topic: r.topic}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	// A waiting reader outlives the fault.
	waiting := n.goRead(t.Context(), Read{Offset: 1, Wait: 20 * time.Second})
	n.parked(1)
	rule := r.store.Add(&faulty.Rule{Op: faulty.Get, Times: 1, Fault: faulty.FailBefore(nil)})
	r.node().start().put(msg{body: "y"})
	if a := <-waiting; a.err != nil || a.page.Status != Found || rule.Hits() != 1 {
		t.Errorf("got %+v, %v after %d faults, want the message after one", a.page, a.err, rule.Hits())
	}
}

// TestCatchingUpFetchesPiecesOfSegmentsThatAreMostlyOthers reads a topic that is
// a small part of large segments, whole and with damage.
func TestCatchingUpFetchesPiecesOfSegmentsThatAreMostlyOthers(t *testing.T) {
	r := newRig(t, 1)
	n, writer := r.node(), r.node()
	writer.filler = 3 << 20
	var refs []meta.SegmentRef
	for i := range 4 {
		refs = append(refs, writer.putSilently(many(3, 0, "", fmt.Sprint(i, "-"))...))
	}
	writer.filler = 0
	for range lookupEntries {
		writer.putSilently(msg{body: "more"})
	}
	read := func(offset int64) (*Page, error) {
		return n.Read(t.Context(), Read{Topic: r.topic, Offset: offset, MaxMessages: 3})
	}
	whole := testutil.ToFloat64(n.metrics.bytes)
	if page, err := read(0); err != nil || len(page.Messages) != 3 {
		t.Fatalf("got %+v, %v", page, err)
	}
	if got := testutil.ToFloat64(n.metrics.bytes) - whole; got < 3<<20 {
		t.Errorf("the first segment was fetched as %v bytes: nobody knows yet how it is shared", got)
	}
	before := testutil.ToFloat64(n.metrics.bytes)
	for range 2 {
		page, err := read(3)
		if err != nil || !slices.Equal(bodies(page.Messages), []string{"1-0", "1-1", "1-2"}) {
			t.Fatalf("got %+v, %v", page, err)
		}
	}
	if got := testutil.ToFloat64(n.metrics.bytes) - before; got != minPiece {
		t.Errorf("the second segment was fetched as %v bytes, want one piece of %d", got, minPiece)
	}
	// Damage on the way of a piece is healed by the whole segment; damage for
	// good costs the entry.
	r.store.Add(&faulty.Rule{Op: faulty.Get, Prefix: segment.ObjectKey(refs[2].Writer, refs[2].Seq), Times: 1, Fault: faulty.Flip(minPiece - 10)})
	if page, err := read(6); err != nil || page.Next != 9 {
		t.Errorf("got %+v, %v, want the messages after a second GET", page, err)
	}
	r.store.Add(&faulty.Rule{Op: faulty.Get, Prefix: segment.ObjectKey(refs[3].Writer, refs[3].Seq), Fault: faulty.Truncate(100)})
	var corrupt *CorruptError
	if _, err := read(10); !errors.As(err, &corrupt) || *corrupt != (CorruptError{10, 12}) {
		t.Errorf("got %v, want that 10 to 12 are lost", err)
	}
	if page, err := read(12); err != nil || page.Next != 15 {
		t.Errorf("got %+v, %v, want what lies behind", page, err)
	}
}

func TestARedisThatWentBackIsNeverBelieved(t *testing.T) {
	r := newRig(t, 1)
	suspected := make(chan uuid.UUID, 10)
	n := r.node(func(o *readerOptions) { o.RolledBack = func(topic uuid.UUID) { suspected <- topic } }).start()
	n.put(many(3, 0, "", "x")...)
	waiting := n.goRead(t.Context(), Read{Offset: 3, Wait: 2 * time.Second})
	n.parked(1)
	key := "{t:" + r.topic.ID.String() + "}:"
	before, err := r.redis.Client().HGet(t.Context(), key+"head", "0").Result()
	if err != nil {
		t.Fatal(err)
	}
	n.put(many(2, 0, "", "y")...)
	if a := <-waiting; a.err != nil || a.page.Next != 5 {
		t.Fatalf("got %+v, %v", a.page, a.err)
	}
	// A failover to a replica that has not seen the last commit.
	if err := r.redis.Client().HSet(t.Context(), key+"head", "0", before).Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.redis.Client().RPop(t.Context(), key+"hot:0").Err(); err != nil {
		t.Fatal(err)
	}
	if page, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: 5}); !errors.Is(err, ErrRecovering) {
		t.Errorf("got %+v, %v, want ErrRecovering and no bounds of the past", page, err)
	}
	if got := <-suspected; got != r.topic.ID {
		t.Errorf("topic %s was suspected, want %s", got, r.topic.ID)
	}
}
