package journal_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/segment"
)

// sendIf sends one message for a queue's next offset; key may be empty.
func (p *process) sendIf(t *testing.T, body, name string, queue, next int64) (at, bool, error) {
	t.Helper()
	topic, err := p.Topic(t.Context(), "orders")
	if err != nil {
		return at{}, false, err
	}
	d, err := p.NewDraft(topic)
	if err != nil {
		return at{}, false, err
	}
	if err := d.Add(&journal.Message{Queue: queue, Text: true, Body: []byte(body)}); err != nil {
		return at{}, false, err
	}
	if name != "" {
		d.Identify(key(name, body))
	}
	if err := d.Require(next); err != nil {
		return at{}, false, err
	}
	a, err := p.Append(t.Context(), d, journal.Durable)
	if err != nil {
		return at{}, false, err
	}
	_, q, offset := a.At(0)
	return at{q, offset}, a.Duplicate, nil
}

// Two gateways race for every offset, beside sends without a condition; then both
// are killed and Redis is emptied. One wins each offset, and the verdicts that were
// told hold: for the offsets, and for whoever sends again.
func TestOneConditionalSendWinsEachOffsetAndTheVerdictsOutliveRedis(t *testing.T) {
	p := newPlant(t)
	nodes := []*process{p.start(), p.start()}
	nodes[0].topic(t, "orders", 2)
	const rounds, writers = 12, 6
	want := map[string]at{}
	lost := map[string]int64{}
	for round := range int64(rounds) {
		next := 2 * round // a winner, and one without a condition behind it
		var race sync.WaitGroup
		var mu sync.Mutex
		winners := 0
		for w := range writers {
			race.Go(func() {
				body := fmt.Sprintf("%d-%d", round, w)
				where, duplicate, err := nodes[w%2].sendIf(t, body, body, 0, next)
				mu.Lock()
				defer mu.Unlock()
				var conflict *journal.NextOffsetError
				switch {
				case err == nil && !duplicate:
					want[body] = where
					winners++
				case errors.As(err, &conflict) && conflict.Expected == next && conflict.Queue == 0 && conflict.Current == next+1:
					lost[body] = next
				default:
					t.Errorf("%s: %+v, duplicate %v, %v", body, where, duplicate, err)
				}
			})
		}
		race.Go(func() { // in the same segments, of another queue
			nodes[0].mustSend(t, "orders", fmt.Sprint("beside-", round), 1)
		})
		race.Wait()
		if winners != 1 {
			t.Fatalf("round %d has %d winners", round, winners)
		}
		want[fmt.Sprint("plain-", round)] = nodes[1].mustSend(t, "orders", fmt.Sprint("plain-", round), 0)
	}
	for i := range nodes {
		nodes[i].stop()
	}
	again := func(j *process) {
		t.Helper()
		checkPlaces(t, j, "orders", 1, want)
		for body, where := range want {
			if body[0] == 'p' {
				continue
			}
			got, duplicate, err := j.sendIf(t, body, body, 0, where.offset)
			if err != nil || !duplicate || got != where {
				t.Errorf("%s again: %+v, duplicate %v, %v; want %+v", body, got, duplicate, err, where)
			}
		}
		for body, next := range lost {
			var conflict *journal.NextOffsetError
			if _, _, err := j.sendIf(t, body, body, 0, next); !errors.As(err, &conflict) || conflict.Current < 2*rounds {
				t.Errorf("%s again: %v", body, err)
			}
		}
	}
	p.redis.Flush()
	third := p.start()
	again(third)
	bodies, epoch := third.all(t, "orders", 0)
	if len(bodies) != 2*rounds {
		t.Errorf("%d messages in epoch %d: %v", len(bodies), epoch, bodies)
	}
}

// An answer to a conditional send means that the log has the verdict. It does not
// wait for the second that an idle writer keeps receipts back.
func TestAVerdictOnAConditionIsDurableWhenItIsTold(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	j.topic(t, "orders", 1)
	began := time.Now()
	const sends = 10
	for i := range int64(sends) {
		if _, _, err := j.sendIf(t, fmt.Sprint(i), "", 0, i); err != nil {
			t.Fatal(err)
		}
		var conflict *journal.NextOffsetError
		if _, _, err := j.sendIf(t, fmt.Sprint(i), "", 0, i); !errors.As(err, &conflict) || conflict.Current != i+1 {
			t.Fatalf("the same offset once more: %v", err)
		}
		receipts := map[uint64]bool{}
		for info, err := range p.store.List(t.Context(), "log/", "") {
			if err != nil {
				t.Fatal(err)
			}
			object, err := p.store.Get(t.Context(), info.Key, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			f, _, err := segment.ParseFooter(object, int64(len(object)))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range f.Receipts {
				receipts[r.Seq] = true
			}
		}
		if len(receipts) < 2*int(i+1) {
			t.Fatalf("%d receipts after %d verdicts", len(receipts), 2*(i+1))
		}
	}
	if took := time.Since(began); took > sends*time.Second/2 {
		t.Errorf("%d verdicts took %v", 2*sends, took)
	}
}

// Adoption decides as the writer's own commit would have.
func TestAdoptionDecidesConditions(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	topic := j.topic(t, "orders", 1)
	j.mustSend(t, "orders", "first", 0)
	dead := uuid.Must(uuid.NewV7())
	if err := j.db.Beat(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	b := segment.NewBuilder(dead, 1, time.Now().UnixMilli())
	for i, next := range []int64{0, 1, 1, 2} {
		base, _ := segment.NewMessageIDBase()
		body := fmt.Sprint(i)
		id := key(body, body)
		id.Kind, id.Epoch, id.Parts, id.Queues, id.IDBase = segment.IdentityCondition, next, 1, 1, base
		payload := segment.AppendRecord(nil, &segment.Record{ID: base, Body: []byte(body)})
		b.AddChunks(segment.Messages, topic.ID, 0, []segment.Chunk{{Payload: payload, Count: 1, Identity: &id}})
	}
	object, _ := b.Finish()
	if err := p.store.Put(t.Context(), segment.ObjectKey(dead, 1), object); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Adopt(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if bodies, epoch := j.all(t, "orders", 0); fmt.Sprint(bodies) != "[first 1 3]" || epoch != 1 {
			t.Errorf("got %v in epoch %d", bodies, epoch)
		}
		if where, duplicate, err := j.sendIf(t, "3", "3", 0, 2); err != nil || !duplicate || where.offset != 2 {
			t.Errorf("sent again: %+v, duplicate %v, %v", where, duplicate, err)
		}
	}
	check()
	p.redis.Flush()
	check()
}

// Where a request cannot have a condition it is refused before anything is stored.
func TestWhatCannotBeConditional(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	topic := j.topic(t, "orders", 2)
	for name, c := range map[string]struct {
		messages []journal.Message
		id       segment.Identity
		next     int64
	}{
		"a negative offset":     {messages: []journal.Message{{}}, next: -1},
		"an offset beyond 2^53": {messages: []journal.Message{{}}, next: 1 << 53},
		"no queue":              {messages: []journal.Message{{Queue: journal.AnyQueue}}},
		"a queue by key":        {messages: []journal.Message{{Queue: journal.AnyQueue, OrderingKey: []byte("k")}}},
		"two queues":            {messages: []journal.Message{{}, {Queue: 1}}},
		"a producer":            {messages: []journal.Message{{}}, id: producer("p", 1, 1)},
	} {
		d, err := j.NewDraft(topic)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.messages {
			if err := d.Add(&c.messages[i]); err != nil {
				t.Fatal(err)
			}
		}
		d.Identify(c.id)
		var invalid *journal.InvalidError
		if err := d.Require(c.next); !errors.As(err, &invalid) || invalid.Field != "if_next_offset" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
