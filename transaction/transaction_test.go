package transaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/transaction"
)

func TestMessagesOfATransactionAreReadableOnceItIsCommitted(t *testing.T) {
	p := newPlant(t)
	a, b := p.process(), p.process()
	a.topic("orders", 2)
	a.topic("stock", 1)
	a.send("stock", "before")
	puts := p.store.Calls(faulty.Put)
	id := a.begin("sellers", map[string][]string{"orders": {"o1", "o2"}, "stock": {"s1"}})
	if n := p.store.Calls(faulty.Put) - puts; n > 2 {
		t.Errorf("beginning took %d PUTs", n)
	}
	a.send("stock", "between")
	a.readable("orders")
	a.readable("stock", "before", "between")
	if tx := b.state(id); tx.State != meta.TxOpen || tx.Reference != "ref of sellers" || len(tx.Topics) != 2 || tx.Checks != 0 {
		t.Errorf("open: %+v", tx)
	}
	tx, err := b.Commit(t.Context(), id, false)
	must(t, err)
	if tx.State != meta.TxCommitted || !tx.Settled {
		t.Errorf("committed: %+v", tx)
	}
	for _, topic := range tx.Topics {
		for _, h := range topic.Halves {
			if want := map[string]int64{"orders": 0, "stock": 2}[topic.Name]; h.First != want || h.Epoch != 1 {
				t.Errorf("%s: %+v, want offset %d", topic.Name, h, want)
			}
		}
	}
	a.readable("orders", "o1", "o2")
	a.readable("stock", "before", "between", "s1")
	again, err := a.Commit(t.Context(), id, false)
	must(t, err)
	if fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", tx) {
		t.Errorf("repeated: %+v, was %+v", again, tx)
	}
	if _, err := a.Rollback(t.Context(), id); !decidedAs(err, meta.TxCommitted) {
		t.Errorf("rolled back after all: %v", err)
	}
	a.readable("orders", "o1", "o2")
}

func TestMessagesOfARolledBackTransactionAreNeverReadable(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	topic := a.topic("orders", 2)
	id := a.begin("sellers", map[string][]string{"orders": {"o1"}})
	tx, err := a.Rollback(t.Context(), id)
	must(t, err)
	if _, err := a.Rollback(t.Context(), id); err != nil {
		t.Errorf("repeated: %v", err)
	}
	if _, err := a.Commit(t.Context(), id, false); !decidedAs(err, meta.TxRolledBack) {
		t.Errorf("committed after all: %v", err)
	}
	if _, err := a.Commit(t.Context(), id, true); !decidedAs(err, meta.TxRolledBack) {
		t.Errorf("committed by force: %v", err)
	}
	a.readable("orders")
	left, err := a.db.Halves(t.Context(), topic.ID, []uuid.UUID{tx.Topics[0].Halves[0].ID})
	must(t, err)
	if len(left) > 0 {
		t.Errorf("still put down: %+v", left)
	}
}

// The first decision wins, and what is readable agrees with it, 200 times.
func TestCommitAndRollbackRacingHaveOneOutcome(t *testing.T) {
	p := newPlant(t)
	a, b := p.process(), p.process()
	a.topic("orders", 4)
	a.topic("stock", 1)
	const races = 200
	var mu sync.Mutex
	committed := map[string]bool{}
	var all sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range races {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			body := fmt.Sprint("m", i)
			id := a.begin("sellers", map[string][]string{"orders": {body}, "stock": {body}})
			var results [4]error
			var race sync.WaitGroup
			for k := range results {
				race.Go(func() {
					n := []*process{a, b}[k/2]
					if k%2 == i%2 {
						_, results[k] = n.Commit(context.Background(), id, false)
					} else {
						_, results[k] = n.Rollback(context.Background(), id)
					}
				})
			}
			race.Wait()
			tx, err := a.Transaction(context.Background(), id)
			if err != nil {
				t.Error(err)
				return
			}
			for k, err := range results {
				asked := meta.TxRolledBack
				if k%2 == i%2 {
					asked = meta.TxCommitted
				}
				if ok := err == nil; ok != (asked == tx.State) || !ok && !decidedAs(err, tx.State) {
					t.Errorf("%s: asked to be %s, answered %v, is %s", body, asked, err, tx.State)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			committed[body] = tx.State == meta.TxCommitted
		})
	}
	all.Wait()
	for _, name := range []string{"orders", "stock"} {
		times := map[string]int{}
		for _, body := range a.read(name) {
			times[body]++
		}
		wins := 0
		for body, visible := range committed {
			want := 0
			if visible {
				want = 1
				wins++
			}
			if times[body] != want {
				t.Errorf("%s of %s is there %d times, committed: %v", body, name, times[body], visible)
			}
		}
		t.Logf("%s: %d of %d committed", name, wins, races)
	}
}

func TestWhatNoTransactionTakes(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	plain, err := a.journal.PutTopic(t.Context(), meta.Topic{Name: "plain", Type: meta.TopicNormal, Queues: 1})
	must(t, err)
	only, err := a.journal.PutTopic(t.Context(), meta.Topic{Name: "only", Type: meta.TopicTransaction, Queues: 1})
	must(t, err)
	mixed := a.topic("mixed", 1)
	invalid := func(what, field string, err error) {
		t.Helper()
		var e *journal.InvalidError
		if !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", what, err)
		}
	}
	d, err := a.Draft("sellers", 0, "")
	must(t, err)
	_, err = d.Topic(plain)
	invalid("a normal topic", "topic", err)
	m, err := d.Topic(only)
	must(t, err)
	_, err = d.Topic(only)
	invalid("a topic twice", "topics", err)
	delayed := message("late")
	delayed.DelayMS = 1000
	invalid("a delayed message", "delay_ms", m.Add(delayed))
	_, err = d.Begin(t.Context())
	invalid("no message", "topics", err)
	_, err = a.Draft("a b", 0, "")
	invalid("a group name", "producer_group", err)
	_, err = a.Draft("sellers", 2*time.Hour, "")
	invalid("a late check", "check_after_ms", err)
	_, err = a.Draft("sellers", 0, strings.Repeat("r", transaction.MaxReference+1))
	invalid("a long reference", "reference", err)
	loose, err := a.journal.NewDraft(only)
	must(t, err)
	invalid("a plain message in a topic of transactions", "messages", loose.Add(message("plain")))
	d, err = a.Draft("sellers", 0, "")
	must(t, err)
	m, err = d.Topic(mixed)
	must(t, err)
	for range 4 {
		big := message(strings.Repeat("x", journal.MaxBatchBytes/4-1000))
		must(t, m.Add(big))
	}
	m, err = d.Topic(only)
	must(t, err)
	must(t, m.Add(message(strings.Repeat("x", 8000))))
	_, err = d.Begin(t.Context())
	invalid("too many bytes over all topics", "topics", err)
	for _, id := range []string{"", "x", "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGQ", strings.Repeat("A", 200)} {
		if _, err := a.Commit(t.Context(), id, false); !errors.Is(err, transaction.ErrNotFound) {
			t.Errorf("commit of %q: %v", id, err)
		}
	}
}

func TestUndecidedTransactionsAreLimited(t *testing.T) {
	p := newPlant(t)
	a := p.process(func(o *transaction.Options) { o.MaxOpen = 2 })
	a.topic("orders", 1)
	first := a.begin("sellers", map[string][]string{"orders": {"1"}})
	a.begin("sellers", map[string][]string{"orders": {"2"}})
	if _, err := a.draft("sellers", map[string][]string{"orders": {"3"}}).Begin(t.Context()); !errors.Is(err, transaction.ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	a.begin("others", map[string][]string{"orders": {"4"}})
	_, err := a.Commit(t.Context(), first, false)
	must(t, err)
	a.begin("sellers", map[string][]string{"orders": {"5"}})
	a.readable("orders", "1")
	list, err := a.List(t.Context(), "sellers", uuid.Nil, 10)
	must(t, err)
	if len(list) != 3 || list[0].State != meta.TxCommitted || list[2].State != meta.TxOpen {
		t.Errorf("list: %+v", list)
	}
}

// What could not be stored as a whole is never readable, whatever comes later.
func TestATransactionThatFailsToBeginIsNeverReadable(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	a.topic("orders", 1)
	gate := p.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Fault: faulty.FailBefore(nil)})
	d := a.draft("sellers", map[string][]string{"orders": {"lost"}})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	context.AfterFunc(ctx, p.store.Clear)
	if tx, err := d.Begin(ctx); err == nil {
		t.Fatalf("it began: %+v after %d faults", tx, gate.Hits())
	}
	eventually(t, func() string {
		list, err := a.List(t.Context(), "sellers", uuid.Nil, 10)
		if err != nil || len(list) != 1 {
			return fmt.Sprintf("list: %+v, %v", list, err)
		}
		if _, err = a.Commit(t.Context(), transaction.ID(&list[0]), true); !decidedAs(err, meta.TxRolledBack) && !errors.Is(err, transaction.ErrNotFound) {
			t.Fatalf("commit: %v", err)
		}
		if list[0].State != meta.TxRolledBack || list[0].Reason != transaction.ReasonIncomplete {
			return fmt.Sprintf("it is %+v", list[0])
		}
		return ""
	})
	a.send("orders", "after")
	a.readable("orders", "after")
}

func TestATopicThatIsDeletedTakesItsShareAlong(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	a.topic("orders", 1)
	a.topic("stock", 1)
	id := a.begin("sellers", map[string][]string{"orders": {"o"}, "stock": {"s"}})
	_, err := a.journal.DeleteTopic(t.Context(), "stock", 0)
	must(t, err)
	tx, err := a.Commit(t.Context(), id, false)
	must(t, err)
	for _, topic := range tx.Topics {
		if topic.Gone != (topic.Name == "stock") {
			t.Errorf("%+v", topic)
		}
	}
	a.readable("orders", "o")
}
