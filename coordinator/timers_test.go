package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// delaySite is a site with a topic of delayed messages.
type delaySite struct {
	*site
	later meta.Topic
	due   map[string]int64 // body → when it is due
}

func newDelaySite(t *testing.T, s *site, queues uint32) *delaySite {
	t.Helper()
	later, err := s.journal.PutTopic(t.Context(), meta.Topic{Name: "later", Type: meta.TopicDelay, Queues: queues})
	if err != nil {
		t.Fatal(err)
	}
	return &delaySite{site: s, later: later, due: map[string]int64{}}
}

// send sends bodies with their delays in requests of up to 500 messages and
// returns their recall handles.
func (s *delaySite) send(bodies []string, delay func(i int) int64) []string {
	s.t.Helper()
	var handles []string
	for begin := 0; begin < len(bodies); begin += 500 {
		part := bodies[begin:min(begin+500, len(bodies))]
		d, err := s.journal.NewDraft(s.later)
		if err != nil {
			s.t.Fatal(err)
		}
		for i, body := range part {
			m := journal.Message{
				Queue: journal.AnyQueue, Text: true, DelayMS: delay(begin + i), Tag: []byte("t"), Keys: []byte("k1 k2"),
				Properties: segment.AppendProperty(nil, "colour", "red"), Body: []byte(body),
			}
			if err := d.Add(&m); err != nil {
				s.t.Fatal(err)
			}
		}
		a, err := s.journal.Append(s.t.Context(), d, journal.Durable)
		if err != nil {
			s.t.Fatal(err)
		}
		for i, body := range part {
			id, _, offset := a.At(i)
			if offset != -1 || a.Due(i) == 0 {
				s.t.Fatalf("delayed message has offset %d and is due at %d", offset, a.Due(i))
			}
			s.due[body] = a.Due(i)
			handles = append(handles, journal.RecallHandle(s.later.ID, id, a.Due(i)))
		}
	}
	return handles
}

// delivered reads all there is: how often each body, and how late.
func (s *delaySite) delivered() (times map[string]int, late []int64, err error) {
	times = map[string]int{}
	for q := range s.later.Queues {
		for offset := int64(0); ; {
			page, err := s.journal.Read(s.t.Context(), journal.Read{Topic: s.later, Queue: q, Offset: offset, MaxMessages: 1000, MaxBytes: 8 << 20})
			if err != nil {
				return nil, nil, err
			}
			for _, m := range page.Messages {
				body := string(m.Record.Body)
				times[body]++
				late = append(late, m.StoredAt-s.due[body])
				if m.StoredAt < s.due[body] {
					return nil, nil, fmt.Errorf("%s is early: due %d, stored %d", body, s.due[body], m.StoredAt)
				}
				if string(m.Record.Tag) != "t" || string(m.Record.Keys) != "k1 k2" || len(m.Record.Properties) == 0 {
					return nil, nil, fmt.Errorf("%s lost what it had: %+v", body, m.Record)
				}
			}
			offset = page.Next
			page.Release()
			if offset == page.Max {
				break
			}
		}
	}
	return times, late, nil
}

// once waits until every body is there, exactly once, and returns the lateness.
func (s *delaySite) once(bodies []string) (late []int64) {
	s.t.Helper()
	eventually(s.t, func() string {
		times, all, err := s.delivered()
		if err != nil {
			if strings.Contains(err.Error(), "early") {
				s.t.Fatal(err)
			}
			return err.Error()
		}
		for _, body := range bodies {
			if times[body] != 1 {
				return fmt.Sprintf("%s came %d times; %d of %d are there", body, times[body], len(times), len(bodies))
			}
		}
		if len(times) != len(bodies) {
			return fmt.Sprintf("%d messages, want %d", len(times), len(bodies))
		}
		late = all
		return ""
	})
	return late
}

func percentiles(late []int64) (p50, p99, most int64) {
	slices.Sort(late)
	return late[len(late)/2], late[len(late)*99/100], late[len(late)-1]
}

func numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%05d", prefix, i)
	}
	return all
}

func embeddedSite(t *testing.T) *site {
	db, err := meta.OpenEmbedded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return newSiteOn(t, db)
}

func TestDelayedMessagesAreNeverEarlyAndComeOnce(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *site{"redis": newSite, "embedded": embeddedSite} {
		t.Run(name, func(t *testing.T) {
			s := newDelaySite(t, make(t), 3)
			s.coordinate(nil, time.Hour)
			bodies := numbered("m", 400)
			s.send(bodies, func(int) int64 { return 1 + rand.Int64N(1500) })
			p50, p99, most := percentiles(s.once(bodies))
			t.Logf("lateness: p50 %d ms, p99 %d ms, most %d ms", p50, p99, most)
			if p99 > 3000 {
				t.Errorf("p99 lateness is %d ms", p99)
			}
		})
	}
}

func TestTenThousandTimersOfOneSecond(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *site{"redis": newSite, "embedded": embeddedSite} {
		t.Run(name, func(t *testing.T) {
			s := newDelaySite(t, make(t), 4)
			s.coordinate(nil, time.Hour)
			bodies := numbered("m", 10_000)
			began := time.Now()
			s.send(bodies, func(i int) int64 { return max(1, 3000-time.Since(began).Milliseconds()) + int64(i)/10 })
			t.Logf("armed %.0f/s", 10_000/time.Since(began).Seconds())
			p50, p99, most := percentiles(s.once(bodies))
			t.Logf("lateness: p50 %d ms, p99 %d ms, most %d ms", p50, p99, most)
			if p99 > 5000 {
				t.Errorf("p99 lateness is %d ms", p99)
			}
		})
	}
}

func TestCoordinatorsThatEndWhileTimersFireFireEachOnce(t *testing.T) {
	s := newDelaySite(t, newSite(t), 2)
	bodies := numbered("m", 4000)
	s.send(bodies, func(i int) int64 { return 200 + int64(i)/4 })
	for range 6 { // leaders that are cut off in the middle, two at a time
		first, second := s.coordinate(nil, time.Hour), s.coordinate(nil, time.Hour)
		time.Sleep(time.Duration(50+rand.IntN(150)) * time.Millisecond)
		first()
		second()
	}
	s.coordinate(nil, time.Hour)
	s.once(bodies)
}

func TestTimersSurviveTheLossOfRedis(t *testing.T) {
	s := newDelaySite(t, newSite(t), 2)
	stop := s.coordinate(nil, time.Hour)
	soon, late := numbered("soon", 50), numbered("late", 50)
	s.send(soon, func(int) int64 { return 50 })
	handles := s.send(late, func(int) int64 { return 6000 })
	if err := s.journal.Recall(t.Context(), s.later, handles[7]); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		if times, _, err := s.delivered(); err != nil || len(times) != 50 {
			return fmt.Sprintf("%d delivered, %v", len(times), err)
		}
		return ""
	})
	stop() // what has fired is in the log now
	s.redis.Flush()
	s.coordinate(nil, time.Hour)
	s.once(slices.Concat(soon, late[:7], late[8:]))
	topic, err := s.journal.Topic(t.Context(), "later")
	if err != nil || topic.Epoch != 1 {
		t.Errorf("epoch %d, %v: nothing was uncertain", topic.Epoch, err)
	}
	if err := s.journal.Recall(t.Context(), s.later, handles[8]); !errors.Is(err, journal.ErrDelivered) {
		t.Errorf("recall of a delivered message: %v", err)
	}
}

// Redis writes down every change before it answers, so that its data survives
// being killed while thousands fire.
func TestTimersFireOnceWhileRedisRestartsWithItsData(t *testing.T) {
	redis := redistest.New(t, "--appendonly", "yes", "--appendfsync", "always")
	db, err := meta.Open(t.Context(), redis.Options())
	if err != nil {
		t.Fatal(err)
	}
	s := newDelaySite(t, newSiteOn(t, db), 2)
	s.coordinate(nil, time.Hour)
	bodies := numbered("m", 3000)
	s.send(bodies, func(i int) int64 { return 500 + int64(i)/3 })
	for range 2 {
		wait(t.Context(), 500)
		redis.Kill()
		redis.Start()
	}
	s.once(bodies)
}

func TestAStoreThatFailsAtTheDueTimeDelaysNothingAndLosesNothing(t *testing.T) {
	s := newDelaySite(t, newSite(t), 1)
	stop := s.coordinate(nil, time.Hour)
	bodies := numbered("m", 200)
	s.send(bodies, func(int) int64 { return 300 })
	s.store.Add(&faulty.Rule{Op: faulty.Put, Fault: faulty.FailBefore(errors.New("503 slow down"))})
	s.once(bodies)
	s.store.Clear()
	// The offsets get into the log once the store is back.
	eventually(t, func() string {
		fired, err := s.db.FiredTimers(t.Context(), s.later.ID)
		if err != nil || len(fired) != 0 {
			return fmt.Sprintf("%d firings are not in the log, %v", len(fired), err)
		}
		return ""
	})
	stop()
	s.redis.Flush()
	s.once(bodies)
}

// The message is of an hour ago, and is found by its id all the same.
func TestAdoptionPutsTimersDown(t *testing.T) {
	s := newDelaySite(t, newSite(t), 1)
	dead := uuid.Must(uuid.NewV7())
	low, _, err := s.journal.RedisNow()
	if err != nil {
		t.Fatal(err)
	}
	id, err := segment.NewMessageIDBase()
	if err != nil {
		t.Fatal(err)
	}
	hourAgo := segment.MessageTime(id) - time.Hour.Milliseconds()
	for i := range 6 {
		id[i] = byte(hourAgo >> (8 * (5 - i)))
	}
	b := segment.NewBuilder(dead, 1, time.Now().UnixMilli())
	record := segment.Record{ID: id, Tag: []byte("t"), Keys: []byte("k1 k2"), Properties: segment.AppendProperty(nil, "a", "b"), Body: []byte("left")}
	chunk := segment.Chunk{Payload: segment.AppendRecord(nil, &record), Count: 1, Due: low + 400, DueID: id}
	b.AddChunks(segment.Messages, s.later.ID, 0, []segment.Chunk{chunk})
	object, _ := b.Finish()
	if err := s.store.Put(t.Context(), segment.ObjectKey(dead, 1), object); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Beat(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	s.due["left"] = low + 400
	s.coordinate(nil, 100*time.Millisecond)
	s.once([]string{"left"})
	found, err := s.journal.Search(t.Context(), journal.SearchOptions{Topic: s.later, ID: id})
	if err != nil || len(found.Messages) != 1 {
		t.Errorf("by its id: %+v, %v", found, err)
	}
}

func TestRecallRacingItsTimerHasOneWinner(t *testing.T) {
	s := newDelaySite(t, newSite(t), 1)
	s.coordinate(nil, time.Hour)
	const rounds = 200
	bodies := numbered("m", rounds)
	handles := s.send(bodies, func(i int) int64 { return 300 + int64(i)*3 })
	var want []string
	for i, handle := range handles {
		low, _, err := s.journal.RedisNow()
		if err != nil {
			t.Fatal(err)
		}
		wait(t.Context(), s.due[bodies[i]]-low-2+rand.Int64N(5))
		switch err := s.journal.Recall(t.Context(), s.later, handle); {
		case errors.Is(err, journal.ErrDelivered):
			want = append(want, bodies[i])
		case err != nil:
			t.Fatal(err)
		}
	}
	s.once(want)
	t.Logf("%d of %d were delivered", len(want), rounds)
}

// wait lets a moment come.
func wait(ctx context.Context, ms int64) {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
