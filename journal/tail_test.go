package journal_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

// gateway is one journal with its own connection to Redis and its own count of
// requests to the store.
type gateway struct {
	*journal.Journal
	store *faulty.Store
}

func startGateway(t *testing.T, redis *redistest.Server, shared objstore.Store) *gateway {
	t.Helper()
	db, err := meta.Open(t.Context(), redis.Options())
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{store: faulty.Wrap(shared)}
	g.Journal, err = journal.Open(t.Context(), journal.Options{
		Store: g.store, Meta: db, Linger: 5 * time.Millisecond, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- g.Run(context.Background()) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-ran; err != nil {
			t.Errorf("run: %v", err)
		}
		db.Close()
	})
	return g
}

// segmentGets is how many requests for segments the gateway has sent.
func (g *gateway) segmentGets(refs []string) (n int) {
	for _, key := range refs {
		n += g.store.CallsOf(faulty.Get, key)
	}
	return n
}

func segments(t *testing.T, store objstore.Store) (keys []string) {
	t.Helper()
	for info, err := range store.List(t.Context(), "log/", "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

func TestTwoGatewaysTailWhatOneOfThemWrites(t *testing.T) {
	redis, shared := redistest.New(t), objstore.NewMemory()
	producer, other := startGateway(t, redis, shared), startGateway(t, redis, shared)
	topic, err := producer.PutTopic(t.Context(), meta.Topic{Name: "orders", Type: meta.TopicNormal, Queues: 2})
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 20
	got := make(chan []string, 2)
	for _, g := range []*gateway{producer, other} {
		f, err := g.Follow(t.Context(), journal.FollowOptions{Topic: topic})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer f.Close()
			var bodies []string
			for len(bodies) < 2*rounds {
				b, err := f.Next(context.Background(), 0, 0)
				if err != nil || len(b.Gaps) > 0 {
					t.Errorf("got %+v, %v", b, err)
					break
				}
				for _, item := range b.Items {
					bodies = append(bodies, fmt.Sprint(item.Queue, "/", item.Offset, "=", string(item.Record.Body)))
				}
			}
			slices.Sort(bodies)
			got <- bodies
		}()
	}
	var want []string
	before := segments(t, shared)
	for i := range rounds {
		d, err := producer.NewDraft(topic)
		if err != nil {
			t.Fatal(err)
		}
		for queue := range int64(2) {
			body := fmt.Sprint("message ", i)
			if err := d.Add(&journal.Message{Queue: queue, Text: true, Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprint(queue, "/", i, "=", body))
		}
		a, err := producer.Append(t.Context(), d, journal.Durable)
		if err != nil {
			t.Fatal(err)
		}
		// Who is told an offset can read it, at once and on every gateway.
		_, queue, offset := a.At(0)
		for _, g := range []*gateway{producer, other} {
			page, err := g.Read(t.Context(), journal.Read{Topic: topic, Queue: queue, Offset: offset})
			if err != nil || len(page.Messages) == 0 {
				t.Fatalf("offset %d right after it was acknowledged: %+v, %v", offset, page, err)
			}
		}
	}
	slices.Sort(want)
	for range 2 {
		if bodies := <-got; !slices.Equal(bodies, want) {
			t.Errorf("a follower got %d messages:\n%s\nwant\n%s", len(bodies), strings.Join(bodies, "\n"), strings.Join(want, "\n"))
		}
	}
	written := slices.DeleteFunc(segments(t, shared), func(key string) bool { return slices.Contains(before, key) })
	if gets := producer.segmentGets(written); gets != 0 {
		t.Errorf("the producing gateway sent %d GETs for its own segments, want 0", gets)
	}
	if gets := other.segmentGets(written); gets != rounds {
		t.Errorf("the other gateway sent %d GETs for %d segments with messages", gets, rounds)
	}
}
