package coordinator_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a bucket and a Redis with one running journal and a topic.
type site struct {
	t       *testing.T
	redis   *redistest.Server // nil on the embedded server
	store   *faulty.Store
	db      *meta.DB
	journal *journal.Journal
	topic   meta.Topic
}

func newSite(t *testing.T) *site {
	redis := redistest.New(t)
	db, err := meta.Open(t.Context(), redis.Options())
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteOn(t, db)
	s.redis = redis
	return s
}

func newSiteOn(t *testing.T, db *meta.DB) *site {
	s := &site{t: t, store: faulty.Wrap(objstore.NewMemory()), db: db}
	var err error
	s.journal, err = journal.Open(t.Context(), journal.Options{
		Store: s.store, Meta: s.db, Linger: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ran <- s.journal.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ran
		s.db.Close()
	})
	if s.topic, err = s.journal.PutTopic(t.Context(), meta.Topic{Name: "orders", Type: meta.TopicNormal, Queues: 1}); err != nil {
		t.Fatal(err)
	}
	return s
}

// coordinate runs a coordinator until the returned function is called.
func (s *site) coordinate(registry prometheus.Registerer, deadAfter time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- coordinator.Run(ctx, coordinator.Options{
			Journal: s.journal, Meta: s.db, Lease: time.Second, DeadAfter: deadAfter, Forget: 300 * time.Millisecond,
			Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Registry: registry,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("coordinator ended with %v", err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

// leave stores a segment of a writer that never commits it.
func (s *site) leave(writer uuid.UUID, seq uint64, body string) {
	s.t.Helper()
	b := segment.NewBuilder(writer, seq, time.Now().UnixMilli())
	id, err := segment.NewMessageIDBase()
	if err != nil {
		s.t.Fatal(err)
	}
	payload := segment.AppendRecord(nil, &segment.Record{ID: id, Body: []byte(body)})
	b.AddChunks(segment.Messages, s.topic.ID, 0, []segment.Chunk{{Payload: payload, Count: 1}})
	object, _ := b.Finish()
	if err := s.store.Put(s.t.Context(), segment.ObjectKey(writer, seq), object); err != nil {
		s.t.Fatal(err)
	}
}

// readable waits until the queue holds exactly these messages.
func (s *site) readable(want ...string) {
	s.t.Helper()
	eventually(s.t, func() string {
		page, err := s.journal.Read(s.t.Context(), journal.Read{Topic: s.topic, MaxMessages: 100, MaxBytes: 1 << 20})
		if err != nil {
			return err.Error()
		}
		var got []string
		for _, m := range page.Messages {
			got = append(got, string(m.Record.Body))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
		return ""
	})
}

func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		problem := wrong()
		if problem == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(problem)
		}
	}
}

func (s *site) writers() map[uuid.UUID]meta.WriterState {
	s.t.Helper()
	all, _, err := s.db.Writers(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	known := map[uuid.UUID]meta.WriterState{}
	for _, w := range all {
		known[w.Writer] = w
	}
	return known
}

func TestADeadWriterIsAdoptedLookedAtAgainAndForgotten(t *testing.T) {
	s := newSite(t)
	dead := uuid.Must(uuid.NewV7())
	s.leave(dead, 1, "left")
	if err := s.db.Beat(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	s.coordinate(nil, 100*time.Millisecond)
	s.readable("left")
	s.leave(dead, 2, "late") // its upload arrives after the first look
	s.readable("left", "late")
	eventually(t, func() string {
		if _, known := s.writers()[dead]; known {
			return "the dead writer is still known"
		}
		return ""
	})
}

func TestALivingWriterIsLeftAloneAndNothingIsAskedOfTheStore(t *testing.T) {
	s := newSite(t)
	alive := uuid.Must(uuid.NewV7())
	s.leave(alive, 1, "in flight")
	if err := s.db.Beat(t.Context(), alive); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	s.coordinate(registry, time.Hour)
	eventually(t, func() string { return leads(t, registry, 1) })
	before := s.store.Requests()
	for range 10 { // rounds
		if err := s.db.Beat(t.Context(), alive); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	after := s.store.Requests()
	if after["get"] != before["get"] || after["list"] != before["list"] {
		t.Errorf("an idle coordinator asked the store: %v, then %v", before, after)
	}
	s.readable()
}

func TestAWriterThatEndedInOrderIsForgotten(t *testing.T) {
	s := newSite(t)
	ended := uuid.Must(uuid.NewV7())
	if err := s.db.Beat(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	if err := s.db.RetireWriter(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	s.coordinate(nil, time.Hour)
	eventually(t, func() string {
		if _, known := s.writers()[ended]; known {
			return "the ended writer is still known"
		}
		return ""
	})
}

func TestOneOfTwoLeadsAndTheOtherTakesOver(t *testing.T) {
	s := newSite(t)
	first, second := prometheus.NewRegistry(), prometheus.NewRegistry()
	stop := s.coordinate(first, time.Hour)
	eventually(t, func() string { return leads(t, first, 1) })
	s.coordinate(second, time.Hour)
	time.Sleep(100 * time.Millisecond) // five rounds
	if problem := leads(t, second, 0); problem != "" {
		t.Errorf("both lead: %s", problem)
	}
	stop()
	eventually(t, func() string { return leads(t, second, 1) })
}

func leads(t *testing.T, registry *prometheus.Registry, want float64) string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "bucketmq_coordinator_leads" {
			if got := f.GetMetric()[0].GetGauge().GetValue(); got != want {
				return fmt.Sprintf("leads: got %v, want %v", got, want)
			}
			return ""
		}
	}
	return "no metric bucketmq_coordinator_leads"
}
