package journal_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

func TestFlushedRedisComesBackWithTheSameOffsets(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	j.topic(t, "orders", 4)
	j.topic(t, "quiet", 2)
	want := map[string]at{}
	for i := range 60 {
		body := fmt.Sprint("before-", i)
		want[body] = j.mustSend(t, "orders", body, int64(i%5)-1)
	}
	p.redis.Flush()
	for i := range 20 {
		body := fmt.Sprint("after-", i)
		want[body] = j.mustSend(t, "orders", body, int64(i%5)-1)
	}
	if epoch := checkPlaces(t, j, "orders", 4, want); epoch != 1 {
		t.Errorf("epoch: got %d, want 1: one writer's order is certain", epoch)
	}
	if _, err := j.Topic(t.Context(), "quiet"); err != nil {
		t.Errorf("a topic without messages is gone: %v", err)
	}
}

func TestRedisThatRestartsEmptyIsNoticedByTheHeartbeat(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	j.topic(t, "orders", 1)
	want := map[string]at{"one": j.mustSend(t, "orders", "one", 0)}
	p.redis.Kill()
	p.redis.Start()
	checkPlaces(t, j, "orders", 1, want) // no produce: the reader alone must get there
}

// rollBack has Redis restart with what it held before f.
func (p *plant) rollBack(f func()) {
	p.t.Helper()
	if err := p.redis.Client().Save(p.t.Context()).Err(); err != nil {
		p.t.Fatal(err)
	}
	f()
	p.redis.Kill()
	p.redis.Start()
}

// Nobody writes to the topic again, and the loss is shorter than a heartbeat:
// only that Redis restarted tells of it.
func TestRedisThatRestartsALittleOlderIsRecovered(t *testing.T) {
	p := newPlant(t)
	first, second := p.start(), p.start()
	first.topic(t, "orders", 1)
	want := map[string]at{"kept": first.mustSend(t, "orders", "kept", 0)}
	before, err := second.db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.rollBack(func() { want["lost by redis"] = first.mustSend(t, "orders", "lost by redis", 0) })
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		state, err := second.db.State(t.Context())
		if err == nil && state.Phase == meta.PhaseReady && state.Generation != before.Generation {
			break
		}
		if time.Since(began) > 15*time.Second {
			t.Fatalf("not recovered: %+v, %v", state, err)
		}
	}
	if epoch := checkPlaces(t, second, "orders", 1, want); epoch != 1 {
		t.Errorf("epoch: got %d, want 1", epoch)
	}
}

// A loss of power ends everything, and those who could tell that Redis comes
// back older are gone, one of them without a trace in it.
func TestRedisThatComesBackOlderToNewProcessesIsRecovered(t *testing.T) {
	p := newPlant(t)
	first := p.start()
	first.topic(t, "orders", 1)
	want := map[string]at{"kept": first.mustSend(t, "orders", "kept", 0)}
	p.rollBack(func() {
		young := p.start()
		want["young"] = young.mustSend(t, "orders", "young", 0)
		young.topic(t, "young", 1)
		time.Sleep(1500 * time.Millisecond) // their receipts are in the bucket
		want["last"] = first.mustSend(t, "orders", "last", 0)
		young.stop()
		first.stop()
	})
	j := p.start()
	want["new"] = j.mustSend(t, "orders", "new", 0)
	if epoch := checkPlaces(t, j, "orders", 1, want); epoch != 1 || want["new"].offset != 3 {
		t.Errorf("epoch %d, new message at %d, want 1 and 3", epoch, want["new"].offset)
	}
	if _, err := j.Topic(t.Context(), "young"); err != nil {
		t.Errorf("a topic that Redis had forgotten: %v", err)
	}
}

func TestTwoProcessesLoseNothingWhenRedisIsFlushedUnderLoad(t *testing.T) {
	p := newPlant(t)
	first, second := p.start(), p.start()
	first.topic(t, "orders", 2)
	var mu sync.Mutex
	acked := map[string]bool{}
	var load sync.WaitGroup
	for n, j := range []*process{first, second} {
		for worker := range 4 {
			load.Go(func() {
				for i := range 60 {
					body := fmt.Sprintf("%d-%d-%d", n, worker, i)
					_, _, err := j.send(t.Context(), "orders", body, int64(i%2))
					if err == nil {
						mu.Lock()
						acked[body] = true
						mu.Unlock()
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
	}
	time.Sleep(120 * time.Millisecond)
	p.redis.Flush()
	load.Wait()
	for _, body := range []string{"last-0", "last-1"} {
		first.mustSend(t, "orders", body, 0)
		acked[body] = true
	}
	found := map[string]int{}
	for q := range uint32(2) {
		a, epochA := first.all(t, "orders", q)
		b, epochB := second.all(t, "orders", q)
		if fmt.Sprint(a) != fmt.Sprint(b) || epochA != epochB {
			t.Errorf("queue %d reads differently through the two processes: %d/%d messages, epochs %d/%d", q, len(a), len(b), epochA, epochB)
		}
		for _, body := range a {
			found[body]++
		}
	}
	for body := range acked {
		if found[body] == 0 {
			t.Errorf("acknowledged message %s is lost", body)
		}
	}
	for body, n := range found {
		if n > 1 {
			t.Errorf("%s is stored %d times", body, n)
		}
	}
	if len(acked) < 100 {
		t.Errorf("only %d of 480 were acknowledged: the test shows nothing", len(acked))
	}
}

func TestEveryOffsetSurvivesACrashAndAnEmptyRedis(t *testing.T) {
	p := newPlant(t)
	want := map[string]at{}
	for round := range 4 {
		j := p.start(func(o *journal.Options) { o.Exclusive = true })
		if round == 0 {
			j.topic(t, "orders", 3)
		}
		for i := range 15 {
			body := fmt.Sprintf("%d-%d", round, i)
			want[body] = j.mustSend(t, "orders", body, int64(i%4)-1)
		}
		if epoch := checkPlaces(t, j, "orders", 3, want); epoch != 1 {
			t.Errorf("round %d: epoch %d, want 1", round, epoch)
		}
		if round == 2 { // once in order, else as by kill -9
			if err := j.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		j.stop()
		p.redis.Flush()
	}
}

func TestIdempotencyKeysAndSequencesSurviveTheLossOfRedis(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	j.topic(t, "orders", 4)
	key := segment.Identity{Kind: segment.IdentityKey, Key: [16]byte{1}, Body: [16]byte{2}}
	seq := segment.Identity{Kind: segment.IdentityProducer, Key: [16]byte{3}, Epoch: 1, Seq: 7}
	places := map[string]at{}
	for name, id := range map[string]segment.Identity{"key": key, "seq": seq} {
		where, duplicate, err := j.send(t.Context(), "orders", name, -1, id)
		if err != nil || duplicate {
			t.Fatalf("%s: duplicate %v, %v", name, duplicate, err)
		}
		places[name] = where
	}
	p.redis.Flush()
	j.mustSend(t, "orders", "between", 0)
	for name, id := range map[string]segment.Identity{"key": key, "seq": seq} {
		where, duplicate, err := j.send(t.Context(), "orders", name, -1, id)
		if err != nil || !duplicate || where != places[name] {
			t.Errorf("%s again: got %+v duplicate %v (%v), want %+v as a duplicate", name, where, duplicate, err, places[name])
		}
	}
	seq.Seq = 9
	var gap *journal.GapError
	if _, _, err := j.send(t.Context(), "orders", "gap", -1, seq); !errors.As(err, &gap) || gap.Expected != 8 {
		t.Errorf("a gap after the recovery: got %v, want expected 8", err)
	}
}

func TestADamagedFooterLosesNoMessage(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	j.topic(t, "orders", 1)
	want := map[string]at{}
	for i := range 10 {
		body := fmt.Sprint("m", i)
		want[body] = j.mustSend(t, "orders", body, 0)
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.stop()
	var segments []string
	for info, err := range p.store.List(t.Context(), "log/", "") {
		if err != nil {
			t.Fatal(err)
		}
		segments = append(segments, info.Key)
	}
	p.damage(segments[len(segments)/2], -10) // in the trailer
	p.redis.Flush()
	checkPlaces(t, p.start(), "orders", 1, want)
}

// A recovery makes what it finds durable, so a fault on the way to it must not
// become one of the bucket.
func TestWhatOneReadGarblesOrDeniesIsNotLost(t *testing.T) {
	p := newPlant(t)
	first, second := p.start(), p.start()
	first.topic(t, "orders", 1)
	want := map[string]at{}
	for i := range 10 {
		body := fmt.Sprint("m", i)
		want[body] = []*process{first, second}[i%2].mustSend(t, "orders", body, 0)
	}
	for _, j := range []*process{first, second} {
		if err := j.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		j.stop()
	}
	for info, err := range p.store.List(t.Context(), "log/", "") {
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range []faulty.Fault{
			faulty.FailBefore(objstore.ErrNotFound), faulty.Flip(int(info.Size) - 10), faulty.Flip(int(info.Size) - 60),
		} {
			p.store.Add(&faulty.Rule{Op: faulty.Get, Prefix: info.Key, Times: 1, Fault: fault})
		}
	}
	p.redis.Flush()
	if epoch := checkPlaces(t, p.start(), "orders", 1, want); epoch != 1 {
		t.Errorf("epoch: got %d, want 1", epoch)
	}
}

func TestOfManyProcessesOneRebuilds(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	j.topic(t, "orders", 1)
	where := j.mustSend(t, "orders", "one", 0)
	j.stop()
	p.redis.Flush()
	lists := p.store.Calls(faulty.List)
	var starts sync.WaitGroup
	for range 5 {
		starts.Go(func() { checkPlaces(t, p.start(), "orders", 1, map[string]at{"one": where}) })
	}
	starts.Wait()
	if n := p.store.Calls(faulty.List) - lists; n != 1 {
		t.Errorf("the bucket was listed %d times, want once", n)
	}
}

func TestTheStoreOfAnotherRedisIsRefused(t *testing.T) {
	p := newPlant(t)
	p.start()
	db, err := meta.Open(t.Context(), p.redis.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	o := p.options(db)
	o.Store = objstore.NewMemory()
	if _, err := journal.Open(t.Context(), o); !errors.Is(err, journal.ErrWrongStore) {
		t.Errorf("got %v, want ErrWrongStore", err)
	}
}

// What a receipt proves is not committed a second time, at other offsets.
func TestAdoptionNoticesThatRedisLostCommits(t *testing.T) {
	p := newPlant(t)
	dead, j := p.start(), p.start()
	topic := dead.topic(t, "orders", 1)
	want := map[string]at{"a": dead.mustSend(t, "orders", "a", 0), "b": dead.mustSend(t, "orders", "b", 0)}
	if err := dead.Close(t.Context()); err != nil { // its receipts are in the bucket
		t.Fatal(err)
	}
	if err := p.redis.Client().Del(t.Context(), "{t:"+topic.ID.String()+"}:writers").Err(); err != nil {
		t.Fatal(err)
	}
	for info, err := range p.store.List(t.Context(), "log/", "") {
		if err != nil {
			t.Fatal(err)
		}
		writer, _, err := segment.ParseObjectKey(info.Key)
		if err != nil {
			t.Fatal(err)
		}
		done, err := j.Adopt(t.Context(), writer)
		if err != nil && !errors.Is(err, journal.ErrRecovering) || done.Commits > 0 {
			t.Errorf("adoption of what has receipts: %+v, %v", done, err)
		}
	}
	want["c"] = at{0, 2}
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(50 * time.Millisecond) {
		if _, _, err := j.send(t.Context(), "orders", "c", 0); err == nil {
			break
		}
	}
	if bodies, epoch := j.all(t, "orders", 0); fmt.Sprint(bodies) != "[a b c]" || epoch != 1 {
		t.Errorf("got %v in epoch %d, want a, b and c in epoch 1", bodies, epoch)
	}
	checkPlaces(t, j, "orders", 1, want)
}

func TestAdoptionCommitsWhatADeadWriterLeftOnceAndInOrder(t *testing.T) {
	p := newPlant(t)
	j := p.start()
	topic := j.topic(t, "orders", 1)
	j.mustSend(t, "orders", "first", 0)
	dead := uuid.Must(uuid.NewV7())
	if err := j.db.Beat(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	for seq, body := range []string{"left-1", "burnt", "left-3"} {
		b := segment.NewBuilder(dead, uint64(seq+1), time.Now().UnixMilli())
		base, _ := segment.NewMessageIDBase()
		payload := segment.AppendRecord(nil, &segment.Record{ID: base, Body: []byte(body)})
		b.AddChunks(segment.Messages, topic.ID, 0, []segment.Chunk{{Payload: payload, Count: 1}})
		if seq == 2 {
			b.AddBurnt([]uint64{2})
		}
		object, _ := b.Finish()
		if err := p.store.Put(t.Context(), segment.ObjectKey(dead, uint64(seq+1)), object); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := j.Adopt(t.Context(), dead); err != nil {
				t.Errorf("adopt: %v", err)
			}
		})
	}
	both.Wait()
	check := func() {
		t.Helper()
		bodies, epoch := j.all(t, "orders", 0)
		if fmt.Sprint(bodies) != "[first left-1 left-3]" || epoch != 1 {
			t.Errorf("got %v in epoch %d", bodies, epoch)
		}
	}
	check()
	p.redis.Flush() // and the receipts of the adoption hold
	check()
}
