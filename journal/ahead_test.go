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
