package meta_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var topicCases = []testCase{
	{"TopicRoundTrip", topicRoundTrip},
	{"NameIsGivenOnce", nameIsGivenOnce},
	{"UpdateChecksTheVersion", updateChecksTheVersion},
	{"QueuesNeverShrink", queuesNeverShrink},
	{"DeleteFreesTheNameAndTheIndex", deleteFreesTheNameAndTheIndex},
	{"TopicsArePagedByName", topicsArePagedByName},
	{"ConcurrentUpdatesAllCount", concurrentUpdatesAllCount},
	{"OddSettingsAreKeptVerbatim", oddSettingsAreKeptVerbatim},
}

func topicRoundTrip(t *testing.T, e engine) {
	made := newTopic(t, e.db, 8)
	if made.ID == uuid.Nil || made.Version != 1 || made.Epoch != 1 || made.CreatedAt == 0 || made.UpdatedAt != made.CreatedAt {
		t.Errorf("new topic: %+v", made)
	}
	got, err := e.db.Topic(t.Context(), made.Name)
	check(t, err)
	equal(t, "by name", got, made)
	got, err = e.db.TopicByID(t.Context(), made.ID)
	check(t, err)
	equal(t, "by id", got, made)
	for _, err := range []error{second(e.db.Topic(t.Context(), "nobody")), second(e.db.TopicByID(t.Context(), uuid.New()))} {
		if !errors.Is(err, meta.ErrTopicNotFound) {
			t.Errorf("unknown topic: got %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func nameIsGivenOnce(t *testing.T, e engine) {
	name := "once-" + uuid.NewString()
	var created atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := e.db.CreateTopic(t.Context(), meta.Topic{Name: name, Queues: 3})
			var exists *meta.ExistsError
			switch {
			case err == nil:
				created.Add(1)
			case !errors.As(err, &exists) || exists.Current.Queues != 3:
				t.Errorf("create: %v", err)
			}
		})
	}
	wg.Wait()
	if created.Load() != 1 {
		t.Errorf("%d creators were told that they won", created.Load())
	}
	topics, err := e.db.Topics(t.Context(), name, "", 10)
	check(t, err)
	if len(topics) != 1 {
		t.Errorf("topics of that name: %+v", topics)
	}
}

func updateChecksTheVersion(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	change := topic
	change.RetentionMS, change.Queues, change.Epoch, change.CreatedAt = 7, 4, 99, 99
	got, err := e.db.UpdateTopic(t.Context(), change, 1)
	check(t, err)
	want := topic
	want.RetentionMS, want.Queues, want.Version, want.UpdatedAt = 7, 4, 2, got.UpdatedAt
	equal(t, "updated", got, want)
	var conflict *meta.ConflictError
	if _, err := e.db.UpdateTopic(t.Context(), change, 1); !errors.As(err, &conflict) || conflict.Current.Version != 2 {
		t.Errorf("old version: got %v", err)
	}
	if _, err := e.db.DeleteTopic(t.Context(), topic.Name, 1); !errors.As(err, &conflict) {
		t.Errorf("delete at an old version: got %v", err)
	}
	change.ID, change.RetentionMS = uuid.Nil, 8
	got, err = e.db.UpdateTopic(t.Context(), change, 0)
	check(t, err)
	if got.Version != 3 || got.ID != topic.ID || got.RetentionMS != 8 {
		t.Errorf("by name, any version: %+v", got)
	}
	change.Name = "nobody"
	if _, err := e.db.UpdateTopic(t.Context(), change, 0); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("unknown topic: got %v", err)
	}
}

func queuesNeverShrink(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 4)
	topic.Queues = 3
	if _, err := e.db.UpdateTopic(t.Context(), topic, 0); !errors.Is(err, meta.ErrQueueShrink) {
		t.Errorf("got %v, want ErrQueueShrink", err)
	}
}

func deleteFreesTheNameAndTheIndex(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	mustCommit(t, e.db, commitTo(topic, uuid.New(), 1, map[uint32][]uint32{1: {3}}))
	gone, err := e.db.DeleteTopic(t.Context(), topic.Name, 1)
	check(t, err)
	if !gone.Deleted || gone.Version != 2 || gone.ID != topic.ID {
		t.Errorf("tombstone: %+v", gone)
	}
	for _, err := range []error{
		second(e.db.Topic(t.Context(), topic.Name)), second(e.db.TopicByID(t.Context(), topic.ID)),
		second(e.db.DeleteTopic(t.Context(), topic.Name, 0)), second(e.db.UpdateTopic(t.Context(), topic, 0)),
		second(e.db.Lookup(t.Context(), topic.ID, 1, 0, 1)), second(e.db.Queues(t.Context(), topic)),
	} {
		if !errors.Is(err, meta.ErrTopicNotFound) {
			t.Errorf("after the end: got %v", err)
		}
	}
	seqs, err := e.db.LastSeqs(t.Context(), topic.ID)
	check(t, err)
	if len(seqs) != 0 {
		t.Errorf("writers of a deleted topic: %v", seqs)
	}
	again, err := e.db.CreateTopic(t.Context(), meta.Topic{Name: topic.Name, Queues: 2})
	check(t, err)
	if again.ID == topic.ID {
		t.Error("a new topic has the id of the deleted one")
	}
	equal(t, "its first offset", mustCommit(t, e.db, commitTo(again, uuid.New(), 1, map[uint32][]uint32{1: {3}})).Firsts, [][]int64{{0}})
}

func topicsArePagedByName(t *testing.T, e engine) {
	prefix := "page-" + uuid.NewString()[:8]
	want := []string{prefix, prefix + "-a", prefix + "-b", prefix + ".c", prefix + "Z", prefix + "z"}
	for i := range want {
		_, err := e.db.CreateTopic(t.Context(), meta.Topic{Name: want[len(want)-1-i], Queues: 1})
		check(t, err)
	}
	_, err := e.db.CreateTopic(t.Context(), meta.Topic{Name: "q" + prefix, Queues: 1})
	check(t, err)
	_, err = e.db.DeleteTopic(t.Context(), want[2], 0)
	check(t, err)
	var got []string
	for after := ""; ; {
		page, err := e.db.Topics(t.Context(), prefix, after, 2)
		check(t, err)
		if len(page) == 0 {
			break
		}
		for _, topic := range page {
			after = topic.Name
			got = append(got, after)
		}
	}
	equal(t, "names", got, append(want[:2:2], want[3:]...))
	all, err := e.db.Topics(t.Context(), "", "q"+prefix[:7], 1)
	check(t, err)
	if len(all) != 1 || !strings.HasPrefix(all[0].Name, "qpage-") {
		t.Errorf("without a prefix: %+v", all)
	}
}

func concurrentUpdatesAllCount(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if _, err := e.db.UpdateTopic(t.Context(), topic, 0); err != nil {
				t.Errorf("update: %v", err)
			}
		})
	}
	wg.Wait()
	got, err := e.db.TopicByID(t.Context(), topic.ID)
	check(t, err)
	equal(t, "version", got.Version, 7)
}

func oddSettingsAreKeptVerbatim(t *testing.T, e engine) {
	odd := map[string]string{`]]..redis.call('flushall')..[[`: "\x00\n\r\"", "1e3": "0x10", "": "{x}"}
	made, err := e.db.CreateTopic(t.Context(), meta.Topic{Name: "odd-" + uuid.NewString(), Queues: 1, Attributes: odd,
		RetentionBytes: 1<<63 - 1, MaxMessageBytes: 1<<53 + 1})
	check(t, err)
	got, err := e.db.TopicByID(t.Context(), made.ID)
	check(t, err)
	equal(t, "topic", got, made)
	equal(t, "attributes", got.Attributes, odd)
}
