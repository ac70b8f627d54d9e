package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// searchAll follows the tokens of a search to its end.
func searchAll(t *testing.T, n *node, o SearchOptions) (found []Item, gaps []Gap, pages int) {
	t.Helper()
	o.Topic = n.rig.topic
	until := int64(0)
	for {
		page, err := n.Search(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if page.ScannedUntil < until {
			t.Errorf("page %d was looked through until %d, the one before until %d", pages, page.ScannedUntil, until)
		}
		until = page.ScannedUntil
		for _, m := range page.Messages {
			if page.Token != "" && m.StoredAt > page.ScannedUntil {
				t.Errorf("a message of %d comes with everything until %d", m.StoredAt, page.ScannedUntil)
			}
		}
		found, gaps, pages = append(found, page.Messages...), append(gaps, page.Gaps...), pages+1
		if page.Token == "" {
			return found, gaps, pages
		}
		if page.Token == o.Token {
			t.Fatal("the token made no progress")
		}
		o.Token = page.Token
	}
}

// tick waits until Redis' clock shows another millisecond.
func (n *node) tick() int64 {
	n.rig.t.Helper()
	first, err := n.db.Now(n.rig.t.Context())
	if err != nil {
		n.rig.t.Fatal(err)
	}
	now := first
	waitFor(n.rig.t, "redis' clock moves on", func() bool {
		now, err = n.db.Now(n.rig.t.Context())
		return err == nil && now > first
	})
	return now
}

func TestSearchFindsInTheOrderOfStoring(t *testing.T) {
	r := newRig(t, 3)
	n := r.node()
	var want, middle []string
	var from, to int64
	for i := range 30 {
		at := n.tick()
		if i == 10 {
			from = at
		}
		if i == 20 {
			to = at
		}
		queue := uint32(i*7) % 3
		n.put(msg{queue: queue, tag: "a", key: "k1 k2", body: fmt.Sprint(i)}, msg{queue: queue, tag: "b", key: fmt.Sprint("only", i), body: fmt.Sprint(i, "b")})
		want = append(want, fmt.Sprint(i))
		if i >= 10 && i < 20 {
			middle = append(middle, fmt.Sprint(i))
		}
	}
	names := func(items []Item) (all []string) {
		for _, item := range items {
			all = append(all, string(item.Record.Body))
		}
		return all
	}
	cases := []struct {
		name    string
		options SearchOptions
		want    []string
		pages   int
	}{
		{"tag", SearchOptions{Tag: tags(t, "a")}, want, 1},
		{"tag, page by page", SearchOptions{Tag: tags(t, "a"), Limit: 4}, want, 8},
		{"time and tag", SearchOptions{Tag: tags(t, "a"), From: from, To: to}, middle, 1},
		{"time and tag, page by page", SearchOptions{Tag: tags(t, "a"), From: from, To: to, Limit: 3}, middle, 4},
		{"one of several keys", SearchOptions{Key: "k2"}, want, 1},
		{"a key", SearchOptions{Key: "only17"}, []string{"17b"}, 1},
		{"part of a key", SearchOptions{Key: "only"}, nil, 1},
		{"nothing has the tag", SearchOptions{Tag: tags(t, "c")}, nil, 1},
		{"an empty time", SearchOptions{From: to, To: to}, nil, 1},
		{"the future", SearchOptions{From: time.Now().Add(time.Hour).UnixMilli()}, nil, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found, gaps, pages := searchAll(t, n, c.options)
			if got := names(found); !slices.Equal(got, c.want) || len(gaps) > 0 {
				t.Errorf("got %v, gaps %v, want %v", got, gaps, c.want)
			}
			if pages > c.pages+1 || pages < c.pages {
				t.Errorf("took %d pages, want %d", pages, c.pages)
			}
		})
	}
}

func TestSearchByIDFindsTheOneMessage(t *testing.T) {
	r := newRig(t, 4)
	n := r.node()
	for i := range 20 {
		n.put(many(50, uint32(i)%4, "", fmt.Sprint(i, "-"))...)
	}
	page, err := n.Read(t.Context(), Read{Topic: r.topic, Queue: 2, Offset: 77, MaxMessages: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := page.Messages[0]
	found, _, _ := searchAll(t, n, SearchOptions{ID: want.Record.ID})
	if len(found) != 1 || found[0].Queue != 2 || found[0].Offset != 77 {
		t.Fatalf("got %d messages, want offset 77 of queue 2", len(found))
	}
	absent := want.Record.ID
	absent[15] ^= 1
	if found, _, _ := searchAll(t, n, SearchOptions{ID: absent}); len(found) != 0 {
		t.Errorf("an id that nobody has found %d messages", len(found))
	}
	old := uuid.UUID{6: 0x70, 8: 0x80}
	if found, _, pages := searchAll(t, n, SearchOptions{ID: old}); len(found) != 0 || pages != 1 {
		t.Errorf("an id of another time found %d messages on %d pages", len(found), pages)
	}
}

// However much was stored shortly before, an id leads to its place.
func TestSearchByIDFindsItsPlaceAtOnce(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	for i := range 25 {
		n.putSilently(many(1000, 0, "", fmt.Sprint(i, "-"))...)
	}
	began := n.tick()
	waitFor(t, "what was stored is two seconds old", func() bool {
		now, err := n.db.Now(t.Context())
		return err == nil && now > began+nearEarly.Milliseconds()+100
	})
	n.putSilently(msg{body: "wanted"})
	page, err := n.Read(t.Context(), Read{Topic: r.topic, Offset: 25_000, MaxMessages: 1})
	if err != nil {
		t.Fatal(err)
	}
	cold := r.node()
	before := r.store.Calls(faulty.Get)
	found, err := cold.Search(t.Context(), SearchOptions{Topic: r.topic, ID: page.Messages[0].Record.ID})
	if err != nil || len(found.Messages) != 1 || string(found.Messages[0].Record.Body) != "wanted" || found.Token != "" {
		t.Errorf("got %+v, %v, want the one message", found, err)
	}
	if gets := r.store.Calls(faulty.Get) - before; gets != 1 {
		t.Errorf("took %d GETs, want that of its segment", gets)
	}
}

func TestOneSearchLooksThroughABoundedNumber(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	for i := range 30 {
		n.put(many(1000, 0, "a", fmt.Sprint(i, "-"))...)
	}
	n.put(msg{tag: "a", key: "needle", body: "found"})
	page, err := n.Search(t.Context(), SearchOptions{Topic: r.topic, Key: "needle"})
	if err != nil || page.Token == "" || len(page.Messages) != 0 {
		t.Fatalf("got %+v, %v, want a token to go on with", page, err)
	}
	c, err := ParseCursor(page.Token)
	if err != nil || c.Next[0].Offset < searchMessages || c.Next[0].Offset > searchMessages+MaxReadMessages {
		t.Errorf("the search stopped at %+v, want about %d", c, searchMessages)
	}
	found, _, _ := searchAll(t, n, SearchOptions{Key: "needle"})
	if len(found) != 1 || string(found[0].Record.Body) != "found" {
		t.Errorf("got %d messages, want the one", len(found))
	}
}

func TestSearchSaysWhatItCouldNotLookThrough(t *testing.T) {
	r := newRig(t, 1)
	n := r.node()
	n.put(many(3, 0, "a", "x")...)
	bad := n.putSilently(many(3, 0, "a", "bad")...)
	n.put(many(3, 0, "a", "y")...)
	r.store.Add(&faulty.Rule{Op: faulty.Get, Prefix: segment.ObjectKey(bad.Writer, bad.Seq), Fault: faulty.Flip(80)})
	found, gaps, _ := searchAll(t, n, SearchOptions{Tag: tags(t, "a")})
	if len(found) != 6 || !slices.Equal(gaps, []Gap{{0, 3, 6, GapCorrupt, 1}}) {
		t.Errorf("got %d messages, gaps %+v, want 6 and the damaged three", len(found), gaps)
	}
	other := Cursor{Topic: uuid.New(), Epoch: 1}
	if _, err := n.Search(t.Context(), SearchOptions{Topic: r.topic, Token: other.String()}); !errors.Is(err, ErrCursor) {
		t.Errorf("a token of another topic: %v, want ErrCursor", err)
	}
}
