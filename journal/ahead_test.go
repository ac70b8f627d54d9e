package journal

import (
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// behind stores so many segments that a reader of the first ones is no reader
// at the tail.
func behind(n *node, messages int) (refs []meta.SegmentRef) {
	for range hotEntries + 4 {
		refs = append(refs, n.putSilently(many(messages, 0, "", "m")...))
	}
	return refs
}

// page reads some messages and fails when they are not there.
func (n *node) page(offset int64, messages int) {
	n.rig.t.Helper()
	page, err := n.Read(n.rig.t.Context(), Read{Topic: n.rig.topic, Offset: offset, MaxMessages: messages})
	if err != nil || len(page.Messages) != messages {
		n.rig.t.Fatalf("offset %d: %+v, %v", offset, page, err)
	}
}

func TestTheNextObjectIsLoadedBeforeItIsAskedFor(t *testing.T) {
	r := newRig(t, 1)
	n := r.node().start()
	refs := behind(r.node(), 100)
	for offset := int64(0); offset < 100; offset += 20 {
		n.page(offset, 20)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(10 * time.Second)
	for !n.cache.touch(pieceKey{segment: refs[1]}) {
		if time.Now().After(deadline) {
			t.Fatal("the next object never came")
		}
		<-tick.C
	}
	for offset := int64(100); offset < int64(100*len(refs)); offset += 20 {
		n.page(offset, 20)
	}
	for i, ref := range refs {
		if gets := r.gets(ref); gets != 1 {
			t.Errorf("%d requests for segment %d, want 1", gets, i)
		}
	}
}

func TestWhoLooksAtOneMessageLoadsNothingAhead(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	refs := behind(r.node(), 100)
	n.page(99, 1)  // the last of its segment
	n.page(110, 5) // far from the end of its segment
	if len(n.aheads) != 0 {
		t.Errorf("%d objects asked for ahead", len(n.aheads))
	}
	n.page(150, 20)
	if len(n.aheads) != aheadObjects {
		t.Fatalf("%d objects asked for ahead, want %d", len(n.aheads), aheadObjects)
	}
	for i := range aheadObjects {
		if next := <-n.aheads; next.entry.Segment != refs[2+i] {
			t.Errorf("asked for %v, want %v", next.entry.Segment, refs[2+i])
		}
	}
}

func TestASmallCacheIsNotFilledAhead(t *testing.T) {
	r := newRig(t, 1)
	refs := behind(r.node(), 100)
	n := r.node()
	n.page(0, 10)
	weight := n.cache.weight(pieceKey{segment: refs[0]})
	small := r.node(func(o *readerOptions) { o.CacheBytes = 2 * 2 * weight })
	small.page(80, 20)
	if len(small.aheads) != 0 {
		t.Error("an object was asked for ahead that would push out the one that is read")
	}
}

// A reader that is ahead of the others does not push out what they are in; what
// they have passed makes room.
func TestWhatIsBeingReadIsNotPushedOutByWhatIsLoadedAhead(t *testing.T) {
	r := newRig(t, 1)
	writer := r.node()
	refs := append(behind(writer, 100), behind(writer, 100)...)
	n := r.node()
	n.page(0, 10)
	weight := n.cache.weight(pieceKey{segment: refs[0]})
	full := r.node(func(o *readerOptions) { o.CacheBytes = 2 * 4 * weight })
	for _, at := range []int64{110, 410, 710} { // three readers, each in its segment
		full.page(at, 10)
	}
	full.page(160, 20) // in the second half: there is room for one more
	if len(full.aheads) != 1 {
		t.Fatalf("%d objects asked for ahead, there is room for 1", len(full.aheads))
	}
	full.page(1010, 10) // takes it
	if spare := full.cache.spare(cold); spare >= weight {
		t.Fatalf("%d bytes are spare: the test tests nothing", spare)
	}
	<-full.aheads
	full.page(160, 20)
	if len(full.aheads) != 0 {
		t.Error("an object was asked for ahead that would push out one that is read")
	}
	full.page(480, 20) // passes its segment
	if len(full.aheads) != 1 {
		t.Errorf("%d objects asked for ahead where one was passed", len(full.aheads))
	}
	full.page(520, 10) // takes the place of the one that was passed
	for i, at := range []int64{1, 5, 7, 10} {
		if full.cache.weight(pieceKey{segment: refs[at]}) == 0 {
			t.Errorf("reader %d lost what it is in", i)
		}
	}
}
