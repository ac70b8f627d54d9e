package transaction_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/transaction"
)

// quick checks often, and seldom.
func quick(every time.Duration, most int) func(*transaction.Options) {
	return func(o *transaction.Options) { o.CheckEvery, o.MaxChecks = every, most }
}

func TestAProducerIsAskedInTimeAndNeverEarly(t *testing.T) {
	p := newPlant(t)
	a, b := p.process(), p.process()
	a.topic("orders", 1)
	answered := make(chan meta.Transaction, 1)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	waiting.Go(func() { // a live producer, at the other process, before anything is due
		if checks, err := b.Await(context.Background(), "sellers", 10, 20*time.Second); err == nil && len(checks) == 1 {
			answered <- checks[0]
		}
		close(answered)
	})
	id := a.begin("sellers", map[string][]string{"orders": {"o"}}, 700*time.Millisecond)
	check, ok := <-answered
	now, err := a.db.Now(t.Context())
	must(t, err)
	if !ok || transaction.ID(&check) != id || check.Checks != 1 || check.Reference != "ref of sellers" {
		t.Fatalf("asked %+v", check)
	}
	if early := check.CreatedAt + 700 - check.CheckedAt; early > 0 || now-check.CheckedAt > 5000 {
		t.Errorf("asked %d ms early; it took until %d, sent at %d", early, now, check.CheckedAt)
	}
	// It is not asked again before the time for an answer is over.
	if more, err := a.Await(t.Context(), "sellers", 10, 300*time.Millisecond); err != nil || len(more) > 0 {
		t.Errorf("asked again: %+v, %v", more, err)
	}
	if tx, err := a.Answer(t.Context(), id, ""); err != nil || tx.State != meta.TxOpen {
		t.Errorf("unknown: %+v, %v", tx, err)
	}
	if tx, err := a.Answer(t.Context(), id, meta.TxCommitted); err != nil || tx.State != meta.TxCommitted || tx.Checks != 1 {
		t.Errorf("commit: %+v, %v", tx, err)
	}
	a.readable("orders", "o")
}

// Of many live producers one gets a check; of many checks each goes to one.
func TestEveryCheckGoesToOneProducer(t *testing.T) {
	p := newPlant(t)
	a, b := p.process(), p.process()
	a.topic("orders", 1)
	const n = 30
	for i := range n {
		a.begin("sellers", map[string][]string{"orders": {fmt.Sprint(i)}}, time.Millisecond)
	}
	a.begin("others", map[string][]string{"orders": {"x"}}, time.Millisecond)
	var mu sync.Mutex
	got := map[uuid.UUID]int{}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for {
				checks, err := []*process{a, b}[i%2].Await(context.Background(), "sellers", 3, 2*time.Second)
				if err != nil || len(checks) > 3 {
					t.Errorf("%d checks, %v", len(checks), err)
				}
				if len(checks) == 0 {
					return
				}
				mu.Lock()
				for _, c := range checks {
					got[c.ID] += c.Checks
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(got) != n {
		t.Errorf("%d transactions were checked, want %d", len(got), n)
	}
	for id, times := range got {
		if times != 1 {
			t.Errorf("%s was checked %d times", id, times)
		}
	}
}

// Only checks that were sent count; after the last one that nobody answered the
// transaction is out of the producers' hands, and kept.
func TestAnUnansweredTransactionExpiresAfterItsChecks(t *testing.T) {
	p := newPlant(t)
	a := p.process(quick(30*time.Millisecond, 3))
	topic := a.topic("orders", 1)
	id := a.begin("sellers", map[string][]string{"orders": {"o"}}, time.Millisecond)
	sweep := func() {
		t.Helper()
		_, err := a.Sweep(t.Context())
		must(t, err)
	}
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); { // nobody lives
		sweep()
	}
	if tx := a.state(id); tx.State != meta.TxOpen || tx.Checks != 0 {
		t.Fatalf("without a producer: %+v", tx)
	}
	returned := false
	for n := 1; n <= 3; {
		checks, err := a.Await(t.Context(), "sellers", 1, 10*time.Second)
		must(t, err)
		if len(checks) != 1 || checks[0].Checks != n {
			t.Fatalf("check %d: %+v", n, checks)
		}
		if n == 2 && !returned { // it did not get through
			returned = true
			must(t, a.GiveBack(t.Context(), checks[0]))
			if tx := a.state(id); tx.Checks != 1 {
				t.Errorf("given back: %+v", tx)
			}
			continue
		}
		n++
	}
	if checks, err := a.Await(t.Context(), "sellers", 1, 200*time.Millisecond); err != nil || len(checks) > 0 {
		t.Errorf("a fourth check: %+v, %v", checks, err)
	}
	eventually(t, func() string {
		sweep()
		if tx := a.state(id); tx.State != meta.TxExpired || !tx.Logged || tx.Reason != transaction.ReasonUnanswered {
			return fmt.Sprintf("it is %+v", tx)
		}
		return ""
	})
	a.readable("orders")
	if _, err := a.Commit(t.Context(), id, false); !decidedAs(err, meta.TxExpired) {
		t.Errorf("commit: %v", err)
	}
	down, err := a.db.Halves(t.Context(), topic.ID, []uuid.UUID{a.state(id).Topics[0].Halves[0].ID})
	must(t, err)
	if len(down) != 1 {
		t.Error("its messages are not kept")
	}
	p.redis.Flush()
	if tx := a.state(id); tx.State != meta.TxExpired {
		t.Errorf("after a loss of Redis: %+v", tx)
	}
	tx, err := a.certain(func() (meta.Transaction, error) { return a.Commit(t.Context(), id, true) })
	if err != nil || tx.State != meta.TxCommitted || tx.Reason != transaction.ReasonForced {
		t.Fatalf("forced: %+v, %v", tx, err)
	}
	a.readable("orders", "o")
	if _, err := a.Rollback(t.Context(), id); !decidedAs(err, meta.TxCommitted) {
		t.Errorf("rollback: %v", err)
	}
}

func TestAnExpiredTransactionMayBeRolledBack(t *testing.T) {
	p := newPlant(t)
	a := p.process(func(o *transaction.Options) { o.Lifetime = time.Millisecond })
	topic := a.topic("orders", 1)
	id := a.begin("sellers", map[string][]string{"orders": {"o"}}, time.Millisecond)
	eventually(t, func() string {
		_, err := a.Sweep(t.Context())
		must(t, err)
		if tx := a.state(id); tx.State != meta.TxExpired || tx.Reason != transaction.ReasonLifetime {
			return fmt.Sprintf("it is %+v", tx)
		}
		return ""
	})
	tx, err := a.Rollback(t.Context(), id)
	must(t, err)
	down, err := a.db.Halves(t.Context(), topic.ID, []uuid.UUID{tx.Topics[0].Halves[0].ID})
	must(t, err)
	if tx.State != meta.TxRolledBack || len(down) != 0 {
		t.Errorf("rolled back: %+v, put down: %+v", tx, down)
	}
	if _, err := a.Commit(t.Context(), id, true); !decidedAs(err, meta.TxRolledBack) {
		t.Errorf("forced after that: %v", err)
	}
}

// What is of no interest any more is forgotten, and what an expired one kept with it.
func TestOldTransactionsAreForgotten(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	topic := a.topic("orders", 1)
	old := map[string]meta.Transaction{}
	for _, state := range []string{meta.TxCommitted, meta.TxExpired} {
		id := a.begin("sellers", map[string][]string{"orders": {state}})
		tx := a.state(id)
		next := tx
		next.State, next.Logged, next.Settled = state, true, state != meta.TxExpired
		next.DecidedAt = time.Now().Add(-73 * time.Hour).UnixMilli()
		next, err := a.db.PutTransaction(t.Context(), &tx, next, 0)
		must(t, err)
		old[state] = next
	}
	kept := a.begin("sellers", map[string][]string{"orders": {"kept"}})
	_, err := a.Sweep(t.Context())
	must(t, err)
	list, err := a.List(t.Context(), "sellers", uuid.Nil, 10)
	must(t, err)
	if len(list) != 1 || transaction.ID(&list[0]) != kept {
		t.Errorf("left: %+v", list)
	}
	down, err := a.db.Halves(t.Context(), topic.ID, []uuid.UUID{old[meta.TxExpired].Topics[0].Halves[0].ID})
	must(t, err)
	if len(down) > 0 {
		t.Errorf("still put down: %+v", down)
	}
}

func TestADrainEndsWaitingProducers(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if checks, err := a.Await(context.Background(), "sellers", 1, time.Minute); err != nil || len(checks) > 0 {
				t.Errorf("%+v, %v", checks, err)
			}
		})
	}
	a.Drain()
	all.Wait()
}
