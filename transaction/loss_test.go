package transaction_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
	"github.com/bucketmq/bucketmq/transaction"
)

// advance puts a transaction into the state in which a process left it that was
// killed at a step of its commit or rollback.
func (n *process) advance(id, state string, logged bool) meta.Transaction {
	n.t.Helper()
	tx := n.state(id)
	next := tx
	next.State, next.DecidedAt, next.Logged = state, time.Now().Add(-3*time.Second).UnixMilli(), logged // the leader does not wait
	if logged {
		must(n.t, n.journal.RecordDecision(n.t.Context(), &next))
	}
	next, err := n.db.PutTransaction(n.t.Context(), &tx, next, 0)
	must(n.t, err)
	return next
}

// swept sweeps until the transaction is settled.
func (n *process) swept(id string) {
	n.t.Helper()
	eventually(n.t, func() string {
		if _, err := n.Sweep(n.t.Context()); err != nil {
			return err.Error()
		}
		if tx := n.state(id); !tx.Settled {
			return fmt.Sprintf("not settled: %+v", tx)
		}
		return ""
	})
}

// A process that dies at any step of a decision leaves it to another one, which
// sees it through: all messages readable, once, or none.
func TestADecisionIsSeenThroughWhereverItsProcessDied(t *testing.T) {
	for name, die := range map[string]func(n *process, id, state string){
		"decided":          func(n *process, id, state string) { n.advance(id, state, false) },
		"decided, in log":  func(n *process, id, state string) { n.advance(id, state, true) },
		"one topic placed": func(n *process, id, state string) { n.placeOne(n.advance(id, state, true)) },
	} {
		for _, state := range []string{meta.TxCommitted, meta.TxRolledBack} {
			t.Run(name+"/"+state, func(t *testing.T) {
				p := newPlant(t)
				a, b := p.process(), p.process()
				a.topic("orders", 2)
				a.topic("stock", 1)
				id := a.begin("sellers", map[string][]string{"orders": {"o1", "o2"}, "stock": {"s"}})
				die(a, id, state)
				a.kill()
				b.swept(id)
				if state == meta.TxRolledBack {
					b.readable("orders")
					b.readable("stock")
					if _, err := b.Commit(t.Context(), id, false); !decidedAs(err, state) {
						t.Errorf("commit: %v", err)
					}
					return
				}
				b.readable("orders", "o1", "o2")
				b.readable("stock", "s")
				tx, err := b.Commit(t.Context(), id, false)
				must(t, err)
				for _, topic := range tx.Topics {
					if topic.Halves[0].First != 0 {
						t.Errorf("%s is at %+v", topic.Name, topic.Halves)
					}
				}
			})
		}
	}
}

// placeOne makes the messages of one topic readable if the transaction is committed.
func (n *process) placeOne(tx meta.Transaction) {
	n.t.Helper()
	if tx.State == meta.TxCommitted {
		_, err := n.journal.PlaceHalves(n.t.Context(), tx.Topics[0].Topic, tx.Topics[0].Halves)
		must(n.t, err)
	}
}

// Redis is emptied between the steps: what was answered holds, and what was not
// decided is undecided.
func TestTransactionsSurviveTheLossOfRedis(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	a.topic("orders", 2)
	a.topic("stock", 1)
	begin := func(body string) string {
		return a.begin("sellers", map[string][]string{"orders": {body + "1", body + "2"}, "stock": {body}}, 50*time.Millisecond)
	}
	open, committed, rolled := begin("open"), begin("committed"), begin("rolled")
	decided, logged, partly := begin("decided"), begin("logged"), begin("partly")
	_, err := a.Commit(t.Context(), committed, false)
	must(t, err)
	_, err = a.Rollback(t.Context(), rolled)
	must(t, err)
	a.advance(decided, meta.TxCommitted, false)
	a.advance(logged, meta.TxCommitted, true)
	a.placeOne(a.advance(partly, meta.TxCommitted, true))
	p.redis.Flush()

	if tx := a.state(open); tx.State != meta.TxOpen || tx.Checks != 0 || tx.Reference != "ref of sellers" {
		t.Errorf("open: %+v", tx)
	}
	if tx := a.state(decided); tx.State != meta.TxOpen {
		t.Errorf("a decision that nobody was told and that is not in the log: %+v", tx)
	}
	a.swept(committed)
	a.swept(logged)
	a.swept(partly)
	a.readable("orders", "committed1", "committed2", "logged1", "logged2", "partly1", "partly2")
	a.readable("stock", "committed", "logged", "partly")
	if _, err := a.rollback(committed); !decidedAs(err, meta.TxCommitted) {
		t.Errorf("rollback of a committed one: %v", err)
	}
	if _, err := a.commit(rolled); !decidedAs(err, meta.TxRolledBack) {
		t.Errorf("commit of a rolled back one: %v", err)
	}
	checks, err := a.Await(t.Context(), "sellers", 10, 10*time.Second)
	must(t, err)
	if len(checks) != 2 {
		t.Errorf("undecided ones are checked: got %d, want 2", len(checks))
	}
	_, err = a.commit(open)
	must(t, err)
	_, err = a.rollback(decided)
	must(t, err)
	p.redis.Flush()
	if tx := a.state(decided); tx.State != meta.TxRolledBack {
		t.Errorf("rolled back and lost: %+v", tx)
	}
	for _, id := range []string{committed, logged, partly, open} {
		a.swept(id) // no leader has logged their offsets: they get new ones, under a new epoch
	}
	a.readable("stock", "committed", "logged", "open", "partly")
	a.readable("orders", "committed1", "committed2", "logged1", "logged2", "open1", "open2", "partly1", "partly2")
	a.send("stock", "plain")
	a.readable("stock", "committed", "logged", "open", "partly", "plain")
}

// Decisions go on while Redis is emptied again and again: what was answered holds
// in the end, whatever was overtaken.
func TestAnsweredDecisionsHoldThroughManyLosses(t *testing.T) {
	p := newPlant(t)
	a, b := p.process(), p.process()
	a.topic("orders", 1)
	answers := map[string]string{} // id → what the first certain answer was
	bodies := map[string]string{}
	var ids []string
	for i := range 24 {
		body := fmt.Sprintf("m%02d", i)
		var tx meta.Transaction
		eventually(t, func() string {
			var err error
			if tx, err = a.draft("sellers", map[string][]string{"orders": {body}}).Begin(t.Context()); err != nil {
				body += "'" // what failed to begin may be there, undecided
				return err.Error()
			}
			return ""
		})
		id := transaction.ID(&tx)
		ids, bodies[id] = append(ids, id), body
	}
	stop := make(chan struct{})
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		for range 3 {
			select {
			case <-stop:
				return
			case <-time.After(150 * time.Millisecond):
				p.redis.Flush()
			}
		}
	}()
	for i, id := range ids {
		n := []*process{a, b}[i%2]
		decide, state := n.commit, meta.TxCommitted
		if i%3 == 0 {
			decide, state = n.rollback, meta.TxRolledBack
		}
		if _, err := decide(id); err != nil {
			t.Fatalf("%s: %v", bodies[id], err)
		}
		answers[id] = state
	}
	close(stop)
	<-flushed
	p.redis.Flush()
	visible := map[string]int{}
	for _, id := range ids {
		if tx := b.state(id); tx.State != answers[id] {
			t.Errorf("%s was answered %s and is %s", bodies[id], answers[id], tx.State)
		}
		b.swept(id)
	}
	for _, body := range b.read("orders") {
		visible[body]++
	}
	for id, state := range answers {
		want := 0
		if state == meta.TxCommitted {
			want = 1
		}
		if visible[bodies[id]] != want {
			t.Errorf("%s is %s and there %d times", bodies[id], state, visible[bodies[id]])
		}
	}
}

// Redis comes back older than a decision that was answered, and the opposite one
// is asked for before anybody has noticed: the first one holds.
func TestAnAnswerHoldsThoughRedisWentBack(t *testing.T) {
	for _, state := range []string{meta.TxCommitted, meta.TxRolledBack} {
		t.Run(state, func(t *testing.T) {
			p := newPlant(t)
			a, b := p.process(), p.process()
			a.topic("orders", 1)
			id := a.begin("sellers", map[string][]string{"orders": {"o"}})
			must(t, p.redis.Client().Save(t.Context()).Err())
			decide, opposite := a.commit, b.rollback
			if state == meta.TxRolledBack {
				decide, opposite = a.rollback, b.commit
			}
			_, err := decide(id)
			must(t, err)
			p.redis.Kill()
			p.redis.Start()
			if _, err := opposite(id); !decidedAs(err, state) {
				t.Errorf("the opposite is answered %v", err)
			}
			b.swept(id)
			if state == meta.TxCommitted {
				b.readable("orders", "o")
			} else {
				b.readable("orders")
			}
		})
	}
}

// Embedded: a start is a recovery.
func TestTransactionsSurviveARestartOfTheEmbeddedServer(t *testing.T) {
	store := objstore.NewMemory()
	start := func() *process {
		db, err := meta.OpenEmbedded(t.Context())
		must(t, err)
		return newProcess(t, store, db, true)
	}
	a := start()
	a.topic("orders", 2)
	open := a.begin("sellers", map[string][]string{"orders": {"open"}}, 20*time.Millisecond)
	committed := a.begin("sellers", map[string][]string{"orders": {"committed"}})
	rolled := a.begin("sellers", map[string][]string{"orders": {"rolled"}})
	_, err := a.Commit(t.Context(), committed, false)
	must(t, err)
	_, err = a.Rollback(t.Context(), rolled)
	must(t, err)
	a.kill()

	b := start()
	b.swept(committed)
	b.readable("orders", "committed")
	if _, err := b.Commit(t.Context(), rolled, false); !decidedAs(err, meta.TxRolledBack) {
		t.Errorf("commit of a rolled back one: %v", err)
	}
	checks, err := b.Await(t.Context(), "sellers", 10, 10*time.Second)
	must(t, err)
	if len(checks) != 1 || transaction.ID(&checks[0]) != open {
		t.Fatalf("checks: %+v", checks)
	}
	_, err = b.Commit(t.Context(), open, false)
	must(t, err)
	b.readable("orders", "committed", "open")
}

// What a process began and never opened, because it died, is rolled back by the
// leader after a while.
func TestWhatADeadProcessBeganIsRolledBack(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	topic := a.topic("orders", 1)
	id := a.begin("sellers", map[string][]string{"orders": {"begun"}})
	tx := a.state(id)
	begun := tx
	begun.State, begun.CreatedAt = meta.TxBegun, time.Now().Add(-2*meta.BeginGrace).UnixMilli()
	_, err := a.db.PutTransaction(t.Context(), &tx, begun, 0)
	must(t, err)
	if _, err := a.Commit(t.Context(), id, false); !errors.Is(err, transaction.ErrNotFound) {
		t.Errorf("commit of what nobody was told of: %v", err)
	}
	a.kill()
	b := p.process()
	b.swept(id)
	if tx := b.state(id); tx.State != meta.TxRolledBack || tx.Reason != transaction.ReasonIncomplete {
		t.Errorf("it is %+v", tx)
	}
	b.readable("orders")
	left, err := b.db.Halves(t.Context(), topic.ID, []uuid.UUID{tx.Topics[0].Halves[0].ID})
	must(t, err)
	if len(left) > 0 {
		t.Errorf("still put down: %+v", left)
	}
}

// A process dies between the PUT of half messages and their commit: adoption puts
// them down as they are, and indexes nothing.
func TestAdoptionPutsHalfMessagesDown(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	topic := a.topic("orders", 1)
	writer, tx := uuid.New(), uuid.Must(uuid.NewV7())
	base, err := segment.NewMessageIDBase()
	must(t, err)
	b := segment.NewBuilder(writer, 1, time.Now().UnixMilli())
	payload := segment.AppendRecord(nil, &segment.Record{ID: base, Body: []byte("half")})
	b.AddChunks(segment.Messages, topic.ID, 0, []segment.Chunk{{Payload: payload, Count: 1, Transaction: tx, DueID: base}})
	object, _ := b.Finish()
	must(t, p.store.Put(t.Context(), segment.ObjectKey(writer, 1), object))
	for i := range 2 {
		done, err := a.journal.Adopt(t.Context(), writer)
		must(t, err)
		if want := 1 - i; done.Timers != want || done.Messages != 0 {
			t.Errorf("adoption %d: %+v", i, done)
		}
	}
	a.readable("orders")
	down, err := a.db.Halves(t.Context(), topic.ID, []uuid.UUID{base})
	must(t, err)
	if len(down) != 1 || down[0].Entry.Segment.Writer != writer {
		t.Fatalf("put down: %+v", down)
	}
	halves, err := a.journal.PlaceHalves(t.Context(), topic.ID, []meta.Half{{ID: base, First: -1}})
	must(t, err)
	if halves[0].First != 0 {
		t.Errorf("placed: %+v", halves)
	}
	a.readable("orders", "half")
}

// A transaction may be decided long after it began, and its messages are found by
// their ids all the same.
func TestMessagesOfATransactionThatIsCommittedLateAreFoundByTheirIDs(t *testing.T) {
	p := newPlant(t)
	a := p.process()
	topic, err := a.journal.PutTopic(t.Context(), meta.Topic{Name: "orders", Type: meta.TopicTransaction, Queues: 1})
	must(t, err)
	id, err := segment.NewMessageIDBase()
	must(t, err)
	hourAgo := segment.MessageTime(id) - time.Hour.Milliseconds()
	for i := range 6 {
		id[i] = byte(hourAgo >> (8 * (5 - i)))
	}
	writer := uuid.New()
	b := segment.NewBuilder(writer, 1, time.Now().UnixMilli())
	payload := segment.AppendRecord(nil, &segment.Record{ID: id, Body: []byte("half")})
	b.AddChunks(segment.Messages, topic.ID, 0, []segment.Chunk{{Payload: payload, Count: 1, Transaction: uuid.Must(uuid.NewV7()), DueID: id}})
	object, _ := b.Finish()
	must(t, p.store.Put(t.Context(), segment.ObjectKey(writer, 1), object))
	_, err = a.journal.Adopt(t.Context(), writer)
	must(t, err)
	_, err = a.journal.PlaceHalves(t.Context(), topic.ID, []meta.Half{{ID: id, First: -1}})
	must(t, err)
	a.readable("orders", "half")
	found, err := a.journal.Search(t.Context(), journal.SearchOptions{Topic: topic, ID: id})
	must(t, err)
	if len(found.Messages) != 1 || string(found.Messages[0].Record.Body) != "half" {
		t.Errorf("by its id: %+v", found)
	}
}

// The same on a cluster, where a topic, a producer group and the list of groups
// lie in different slots.
func TestTransactionsOnARedisCluster(t *testing.T) {
	cluster := redistest.NewCluster(t)
	db, err := meta.Open(t.Context(), cluster.Options())
	must(t, err)
	a := newProcess(t, objstore.NewMemory(), db, false)
	a.topic("orders", 2)
	a.topic("stock", 1)
	committed := a.begin("sellers", map[string][]string{"orders": {"o1", "o2"}, "stock": {"s"}})
	rolled := a.begin("others", map[string][]string{"orders": {"never"}, "stock": {"never"}})
	asked := a.begin("third", map[string][]string{"orders": {"asked"}}, time.Millisecond)
	_, err = a.Commit(t.Context(), committed, false)
	must(t, err)
	_, err = a.Rollback(t.Context(), rolled)
	must(t, err)
	checks, err := a.Await(t.Context(), "third", 4, 10*time.Second)
	must(t, err)
	if len(checks) != 1 || transaction.ID(&checks[0]) != asked {
		t.Fatalf("checks: %+v", checks)
	}
	done, err := a.Sweep(t.Context())
	must(t, err)
	if done.Groups != 3 || done.Undecided != 1 {
		t.Errorf("swept: %+v", done)
	}
	_, err = a.Commit(t.Context(), asked, false)
	must(t, err)
	a.readable("orders", "asked", "o1", "o2")
	a.readable("stock", "s")
}
