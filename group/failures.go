package group

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

const (
	// inPlace is below which wait a message comes again where it is: a copy in the
	// retry topic would cost more than it holds up.
	inPlace = time.Second
	// heldFor is how long a message that was given back rests in its place at most
	// before somebody else moves it to the retry topic. The journal recognises a
	// second copy for longer.
	heldFor = 30 * time.Second
)

// failures takes messages that failed out of a group's way: into its retry topic,
// where they are due later, or into its dead-letter topic.
type failures struct {
	journal *journal.Journal
	moved   *prometheus.CounterVec // by target
	none    retryTopics
}

func newFailures(j *journal.Journal, registry prometheus.Registerer) *failures {
	f := &failures{journal: j, moved: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bucketmq_group_failed_total", Help: "Messages that were moved to a retry or dead-letter topic.",
	}, []string{"target"})}
	if registry != nil {
		registry.MustRegister(f.moved)
	}
	return f
}

// failed is a message whose delivery failed.
type failed struct {
	topic    string // where it was delivered from
	queue    uint32
	stored   journal.Stored // as it is there
	attempts int64          // deliveries in all
	reason   string
	due      int64 // when it is to come again, Unix milliseconds
	dead     bool  // it is not to come again
	redriven int64 // its place among the dead letters and 1, if it comes from there
}

// waitOf is how long a message waits after an attempt that failed.
func waitOf(g meta.Group, attempt int64) time.Duration {
	if b := g.Backoff; b != nil {
		ms := float64(b.InitialMS) * math.Pow(b.Multiplier, float64(min(max(attempt-1, 0), 1000)))
		return time.Duration(min(ms, float64(b.MaxMS))) * time.Millisecond
	}
	if len(g.NackDelaysMS) == 0 {
		return 0
	}
	return time.Duration(g.NackDelaysMS[min(max(attempt-1, 0), int64(len(g.NackDelaysMS)-1))]) * time.Millisecond
}

// exhausted says whether a message has had all its attempts.
func exhausted(g meta.Group, attempts int64) bool {
	return g.MaxAttempts > 0 && attempts >= g.MaxAttempts
}

// move stores each message where it goes and reports of each whether it is there;
// repeating it stores nothing twice (PITFALLS 11: a retry is made once per message
// and attempt).
func (f *failures) move(ctx context.Context, g meta.Group, list []failed) []error {
	errs := make([]error, len(list))
	pending := make([]*journal.Pending, len(list))
	for i := range list {
		pending[i], errs[i] = f.enqueue(ctx, g, &list[i])
	}
	for i, p := range pending {
		if errs[i] == nil {
			_, errs[i] = p.Wait(ctx)
		}
		if errs[i] != nil {
			errs[i] = unavailable(errs[i])
			continue
		}
		f.moved.WithLabelValues(target(list[i].dead)).Inc()
	}
	return errs
}

func target(dead bool) string {
	if dead {
		return "dead_letter"
	}
	return "retry"
}

func (f *failures) enqueue(ctx context.Context, g meta.Group, m *failed) (*journal.Pending, error) {
	topic, err := f.topic(ctx, g, m.dead)
	if err != nil {
		return nil, err
	}
	origin, stored := OriginOf(m.stored)
	if origin.Topic == "" {
		origin = Origin{Topic: m.topic, Queue: m.queue, Offset: stored.Offset, MessageID: stored.Record.ID, StoredAt: stored.StoredAt}
	}
	origin.Attempts, origin.Reason = m.attempts, m.reason
	draft, err := f.journal.NewSystemDraft(topic)
	if err != nil {
		return nil, err
	}
	r := &stored.Record
	message := journal.Message{
		Queue: 0, Text: r.Attributes&segment.AttrText != 0, Null: r.Attributes&segment.AttrNull != 0, BornAt: r.BornAt,
		Tag: r.Tag, Keys: r.Keys, OrderingKey: r.OrderingKey, ContentType: r.ContentType, Body: r.Body,
		Properties: origin.append(append(segment.Properties(nil), r.Properties...)),
	}
	if !m.dead {
		message.DeliverAt = m.due
	}
	if err := draft.Add(&message); err != nil {
		return nil, err
	}
	key := failureKey(g.ID, origin.MessageID, m)
	draft.Identify(segment.Identity{Kind: segment.IdentityKey, Key: key, Body: key})
	return f.journal.Enqueue(draft, journal.Durable)
}

// failureKey is the same for all who move one message from one place after one
// attempt.
func failureKey(group, id uuid.UUID, m *failed) (key [16]byte) {
	b := append([]byte("bucketmq "+target(m.dead)+" "+m.topic+" "), group[:]...)
	b = append(b, id[:]...)
	for _, n := range [...]int64{int64(m.queue), m.stored.Offset, m.attempts, m.redriven} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	sum := sha256.Sum256(b)
	copy(key[:], sum[:])
	return key
}

// topic returns the group's retry or dead-letter topic, and makes it when there is none.
func (f *failures) topic(ctx context.Context, g meta.Group, dead bool) (meta.Topic, error) {
	name := journal.RetryTopic(g.Name)
	if dead {
		name = journal.DeadLetterTopic(g.Name)
	}
	t, err := f.journal.SystemTopic(ctx, name, g.ID)
	if err == nil && !dead {
		f.none.forget(name)
	}
	return t, err
}

// retry returns the group's retry topic, if there is one.
func (f *failures) retry(ctx context.Context, g meta.Group) (t meta.Topic, exists bool, err error) {
	name := journal.RetryTopic(g.Name)
	if f.none.believed(name) {
		return meta.Topic{}, false, nil
	}
	t, err = f.journal.Topic(ctx, name)
	if errors.Is(err, journal.ErrTopicNotFound) || err == nil && !journal.OwnedBy(t, g.ID) {
		f.none.note(name)
		return meta.Topic{}, false, nil
	}
	return t, err == nil, err
}

// end deletes the topics of a group that has gone.
func (f *failures) end(ctx context.Context, group string) error {
	for _, name := range [...]string{journal.RetryTopic(group), journal.DeadLetterTopic(group)} {
		if _, err := f.journal.DeleteTopic(ctx, name, 0); err != nil && !errors.Is(err, journal.ErrTopicNotFound) {
			return err
		}
		f.none.forget(name)
	}
	return nil
}
