package meta_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var transactionCases = []testCase{
	{"HalfMessagesGetNoOffsets", halfMessagesGetNoOffsets},
	{"HalfMessagesArePlacedOnce", halfMessagesArePlacedOnce},
	{"PlacingRacesGiveOnePlace", placingRacesGiveOnePlace},
	{"RecallTakesNoHalfMessages", recallTakesNoHalfMessages},
	{"DeletedTopicHasNoHalves", deletedTopicHasNoHalves},
	{"RestoredHalvesAreThere", restoredHalvesAreThere},
	{"TransactionStepsAreCompareAndSet", transactionSteps},
	{"OfManyDecisionsOneWins", ofManyDecisionsOneWins},
	{"UndecidedTransactionsAreBounded", undecidedTransactionsAreBounded},
	{"TransactionsAreListedAndForgotten", transactionsAreListed},
	{"HeldTransactionsAnswerRecovering", heldTransactions},
}

// halvesOf makes a commit of half messages, one block of two for each queue given.
func halvesOf(topic meta.Topic, w uuid.UUID, seq uint64, queues ...uint32) meta.Commit {
	c := meta.Commit{Topic: topic.ID, Epoch: topic.Epoch, Writer: w, Seq: seq}
	for i, q := range queues {
		c.Timers = append(c.Timers, meta.CommitTimer{ID: uuid.Must(uuid.NewV7()), Queue: q, Count: 2, Position: int64(100 * i), Length: 100, Request: -1})
	}
	return c
}

func idsOf(c meta.Commit) (ids []uuid.UUID) {
	for _, t := range c.Timers {
		ids = append(ids, t.ID)
	}
	return ids
}

func halves(t testing.TB, db *meta.DB, topic meta.Topic, ids []uuid.UUID) []meta.HalfState {
	t.Helper()
	all, err := db.Halves(t.Context(), topic.ID, ids)
	check(t, err)
	return all
}

func halfMessagesGetNoOffsets(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	w := uuid.New()
	c := halvesOf(topic, w, 1, 0, 1)
	c.Queues = []meta.QueueCommit{{Queue: 0, Chunks: []meta.CommitChunk{{Count: 3, Position: 500, Length: 50, Request: -1}}}}
	res := mustCommit(t, e.db, c)
	if len(res.Entries) != 1 || res.Entries[0].Count != 3 || len(res.Armed) != 2 {
		t.Fatalf("committed %+v", res)
	}
	_, states, err := e.db.Bounds(t.Context(), topic.ID, []uint32{0, 1})
	check(t, err)
	if states[0].Next != 3 || states[1].Next != 0 {
		t.Errorf("bounds %+v", states)
	}
	due, err := e.db.DueTimers(t.Context(), topic.ID, 10)
	check(t, err)
	if len(due.Timers) != 0 || due.Next != 0 {
		t.Errorf("half messages are due: %+v", due)
	}
	got := halves(t, e.db, topic, append(idsOf(c), uuid.New()))
	if len(got) != 2 || got[0].Placed || got[0].Entry.Position != 0 || got[1].Entry.Queue != 1 || got[1].Entry.Count != 2 {
		t.Errorf("halves %+v", got)
	}
	equal(t, "halves after the commit is repeated", halves(t, e.db, topic, idsOf(mustCommitAgain(t, e.db, c))), got)
}

// mustCommitAgain repeats a commit, which must change nothing.
func mustCommitAgain(t testing.TB, db *meta.DB, c meta.Commit) meta.Commit {
	t.Helper()
	if res := mustCommit(t, db, c); !res.Repeated {
		t.Fatal("a repeated commit was applied")
	}
	return c
}

func halfMessagesArePlacedOnce(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 2)
	w := uuid.New()
	mustCommit(t, e.db, commitTo(topic, w, 1, map[uint32][]uint32{0: {4}}))
	c := halvesOf(topic, w, 2, 0, 1)
	mustCommit(t, e.db, c)
	down := halves(t, e.db, topic, idsOf(c))
	placed, fired, err := e.db.PlaceHalves(t.Context(), topic.ID, topic.Epoch, down)
	check(t, err)
	if fired.Messages() != 4 || len(placed) != 2 || placed[0].First != 4 || placed[1].First != 0 || !placed[0].Placed || placed[1].Queue != 1 || placed[1].Count != 2 {
		t.Fatalf("placed %+v as %+v", placed, fired.Entries)
	}
	again, fired, err := e.db.PlaceHalves(t.Context(), topic.ID, topic.Epoch, down)
	check(t, err)
	if fired.Messages() != 0 {
		t.Errorf("placed again: %+v", fired.Entries)
	}
	equal(t, "places when repeated", again, placed)
	equal(t, "what is under the ids", halves(t, e.db, topic, idsOf(c)), placed)
	w0, err := e.db.Lookup(t.Context(), topic.ID, 0, 4, 10)
	check(t, err)
	if len(w0.Entries) != 1 || w0.Entries[0].First() != 4 || w0.Entries[0].Segment.Seq != 2 {
		t.Errorf("index %+v", w0.Entries)
	}
	news, err := e.db.FiredTimers(t.Context(), topic.ID)
	check(t, err)
	if len(news) != 2 {
		t.Errorf("news that are not in the log: %+v", news)
	}
	check(t, e.db.SettleFired(t.Context(), topic.ID, news))
	var epoch *meta.EpochError
	if _, _, err := e.db.PlaceHalves(t.Context(), topic.ID, topic.Epoch+1, down); !errors.As(err, &epoch) || epoch.Current != topic.Epoch {
		t.Errorf("placed in another epoch: %v", err)
	}
	more := halvesOf(topic, w, 3, 0)
	mustCommit(t, e.db, more)
	check(t, e.db.DropHalves(t.Context(), topic.ID, append(idsOf(c), idsOf(more)...), true))
	if left := halves(t, e.db, topic, append(idsOf(c), idsOf(more)...)); len(left) != 1 || left[0].ID != more.Timers[0].ID {
		t.Errorf("dropping what is placed left %+v", left)
	}
	check(t, e.db.DropHalves(t.Context(), topic.ID, idsOf(more), false))
	equal(t, "left", halves(t, e.db, topic, idsOf(more)), []meta.HalfState{})
	gone, fired, err := e.db.PlaceHalves(t.Context(), topic.ID, topic.Epoch, down)
	check(t, err)
	if len(gone) != 0 || fired.Messages() != 0 {
		t.Errorf("dropped ones were placed: %+v", gone)
	}
}

func placingRacesGiveOnePlace(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	c := halvesOf(topic, uuid.New(), 1, 0)
	mustCommit(t, e.db, c)
	down := halves(t, e.db, topic, idsOf(c))
	var messages atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			placed, fired, err := e.db.PlaceHalves(context.Background(), topic.ID, topic.Epoch, down)
			if err != nil || len(placed) != 1 || placed[0].First != 0 {
				t.Errorf("placed %+v, %v", placed, err)
			}
			messages.Add(int64(fired.Messages()))
		})
	}
	all.Wait()
	if messages.Load() != 2 {
		t.Errorf("%d messages became readable, want 2", messages.Load())
	}
}

func recallTakesNoHalfMessages(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	c := halvesOf(topic, uuid.New(), 1, 0)
	mustCommit(t, e.db, c)
	far := redisNow(t, e.db) + 60_000
	if _, err := e.db.RecallTimer(t.Context(), topic.ID, c.Timers[0].ID, far); !errors.Is(err, meta.ErrTimerUnknown) {
		t.Errorf("recalled half messages: %v", err)
	}
	if len(halves(t, e.db, topic, idsOf(c))) != 1 {
		t.Error("they are gone")
	}
}

func deletedTopicHasNoHalves(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	c := halvesOf(topic, uuid.New(), 1, 0)
	mustCommit(t, e.db, c)
	down := halves(t, e.db, topic, idsOf(c))
	_, err := e.db.DeleteTopic(t.Context(), topic.Name, 0)
	check(t, err)
	if len(halves(t, e.db, topic, idsOf(c))) != 0 {
		t.Error("half messages outlived their topic")
	}
	if _, _, err := e.db.PlaceHalves(t.Context(), topic.ID, topic.Epoch, down); !errors.Is(err, meta.ErrTopicNotFound) {
		t.Errorf("placed in a deleted topic: %v", err)
	}
}

func restoredHalvesAreThere(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	c := halvesOf(topic, uuid.New(), 1, 0)
	mustCommit(t, e.db, c)
	want := []meta.HalfState{
		{ID: uuid.New(), Entry: meta.Entry{Count: 2, Segment: meta.SegmentRef{Writer: c.Writer, Seq: 4}, Position: 9, Length: 90, Tags: 5}},
		{ID: uuid.New(), Placed: true, Epoch: 3, Queue: 0, First: 7, Count: 2},
	}
	check(t, e.db.RestoreTopic(t.Context(), meta.TopicSnapshot{Topic: topic, Term: 1, Halves: want}))
	equal(t, "halves", halves(t, e.db, topic, append(idsOf(c), want[0].ID, want[1].ID)), want)
}

// openAt is a transaction whose next check is at a time.
func openAt(group string, at int64) meta.Transaction {
	return meta.Transaction{ID: uuid.Must(uuid.NewV7()), Group: group, State: meta.TxOpen, NextCheck: at}
}

// forgottenAt is a settled transaction that is forgotten at a time.
func forgottenAt(group string, at int64) meta.Transaction {
	return meta.Transaction{ID: uuid.Must(uuid.NewV7()), Group: group, State: meta.TxCommitted, Logged: true, Settled: true, DecidedAt: at - meta.TransactionKept.Milliseconds()}
}

// newTransaction puts a transaction down.
func newTransaction(t testing.TB, db *meta.DB, tx meta.Transaction, most int) meta.Transaction {
	t.Helper()
	tx, err := db.PutTransaction(t.Context(), nil, tx, most)
	check(t, err)
	return tx
}

func transactionSteps(t *testing.T, e engine) {
	group := "p-" + uuid.NewString()
	k := meta.ProducerKeyOf(group)
	if _, err := e.db.Transaction(t.Context(), k, uuid.New()); !errors.Is(err, meta.ErrTransactionNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
	open := newTransaction(t, e.db, openAt(group, 50), 0)
	var changed *meta.TransactionChangedError
	if _, err := e.db.PutTransaction(t.Context(), nil, open, 0); !errors.As(err, &changed) || changed.Current == nil {
		t.Errorf("made twice: %v", err)
	}
	next := open
	next.State = meta.TxCommitted
	committed, err := e.db.PutTransaction(t.Context(), &open, next, 0)
	check(t, err)
	next.State = meta.TxRolledBack
	if _, err := e.db.PutTransaction(t.Context(), &open, next, 0); !errors.As(err, &changed) || changed.Current.State != meta.TxCommitted {
		t.Errorf("decided twice: %v", err)
	}
	read, err := e.db.Transaction(t.Context(), k, open.ID)
	check(t, err)
	equal(t, "as read", read, committed)
	check(t, e.db.ForgetTransaction(t.Context(), read))
	if _, err := e.db.Transaction(t.Context(), k, open.ID); !errors.Is(err, meta.ErrTransactionNotFound) {
		t.Errorf("a forgotten one: %v", err)
	}
	if _, err := e.db.PutTransaction(t.Context(), &read, next, 0); !errors.As(err, &changed) || changed.Current != nil {
		t.Errorf("changed a forgotten one: %v", err)
	}
}

func ofManyDecisionsOneWins(t *testing.T, e engine) {
	for range 50 {
		open := newTransaction(t, e.db, openAt("racing", 1), 0)
		var won atomic.Int64
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				next := open
				next.State = []string{meta.TxCommitted, meta.TxRolledBack}[i%2]
				_, err := e.db.PutTransaction(context.Background(), &open, next, 0)
				var changed *meta.TransactionChangedError
				if err == nil {
					won.Add(1)
				} else if !errors.As(err, &changed) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d decisions won", won.Load())
		}
	}
}

func undecidedTransactionsAreBounded(t *testing.T, e engine) {
	group := "p-" + uuid.NewString()
	first := newTransaction(t, e.db, openAt(group, 1), 2)
	newTransaction(t, e.db, openAt(group, 1), 2)
	third := openAt(group, 1)
	if _, err := e.db.PutTransaction(t.Context(), nil, third, 2); !errors.Is(err, meta.ErrManyTransactions) {
		t.Errorf("one too many: %v", err)
	}
	decided := forgottenAt(group, 1)
	decided.ID = first.ID
	_, err := e.db.PutTransaction(t.Context(), &first, decided, 0)
	check(t, err)
	_, err = e.db.PutTransaction(t.Context(), nil, third, 2)
	check(t, err)
}

func transactionsAreListed(t *testing.T, e engine) {
	group := "p-" + uuid.NewString()
	k := meta.ProducerKeyOf(group)
	check(t, e.db.RegisterProducers(t.Context(), group, 1000))
	var all []meta.Transaction
	for i := range 7 {
		tx := openAt(group, int64(100+i))
		if i%2 == 1 {
			tx = forgottenAt(group, int64(100+i))
		}
		all = append(all, newTransaction(t, e.db, tx, 0))
	}
	page, err := e.db.Transactions(t.Context(), k, uuid.Nil, 3)
	check(t, err)
	rest, err := e.db.Transactions(t.Context(), k, page[2].ID, 10)
	check(t, err)
	equal(t, "list", append(page, rest...), all)
	agenda, err := e.db.DueTransactions(t.Context(), k, 102, 10)
	check(t, err)
	equal(t, "due", agenda, meta.Agenda{Due: []meta.Transaction{all[0], all[2]}, Next: 104})
	agenda, err = e.db.DueTransactions(t.Context(), k, 200, 2)
	check(t, err)
	equal(t, "due, two at most", agenda, meta.Agenda{Due: []meta.Transaction{all[0], all[2]}, Next: 104})
	old, err := e.db.ForgottenTransactions(t.Context(), k, 101, 100, 10)
	check(t, err)
	equal(t, "to forget by time", old, []meta.Transaction{all[1]})
	old, err = e.db.ForgottenTransactions(t.Context(), k, 0, 1, 10)
	check(t, err)
	equal(t, "to forget by number", old, []meta.Transaction{all[1], all[3]})
	groups, total, err := e.db.ProducerGroups(t.Context(), 0, 1000)
	check(t, err)
	if part, again, err := e.db.ProducerGroups(t.Context(), total-1, 10); err != nil || len(part) != 1 || again != total || total != len(groups) {
		t.Errorf("the last of %d groups: %+v of %d, %v", len(groups), part, again, err)
	}
	i := slices.IndexFunc(groups, func(g meta.ProducerGroup) bool { return g.Name == group })
	if i < 0 {
		t.Fatalf("not listed: %+v", groups)
	}
	equal(t, "group", groups[i], meta.ProducerGroup{Name: group, LastBegun: 1000, Undecided: 4, Kept: 3, NextOnAgenda: 100, NextForgetting: 101})
	check(t, e.db.ForgetProducers(t.Context(), group, 1000))
	known, err := e.db.KnownProducers(t.Context())
	check(t, err)
	if !slices.Contains(known, group) {
		t.Error("forgotten, though it began something since")
	}
	check(t, e.db.ForgetProducers(t.Context(), group, 1001))
	if known, err = e.db.KnownProducers(t.Context()); err != nil || slices.Contains(known, group) {
		t.Errorf("still known: %v", err)
	}
}

func heldTransactions(t *testing.T, e engine) {
	group := "p-" + uuid.NewString()
	k := meta.ProducerKeyOf(group)
	open := newTransaction(t, e.db, openAt(group, 1), 0)
	check(t, e.db.HoldTransactions(t.Context(), group, 7))
	if _, err := e.db.Transaction(t.Context(), k, open.ID); !errors.Is(err, meta.ErrRecovering) {
		t.Errorf("read while held: %v", err)
	}
	if _, err := e.db.PutTransaction(t.Context(), &open, open, 0); !errors.Is(err, meta.ErrRecovering) {
		t.Errorf("changed while held: %v", err)
	}
	if _, err := e.db.DueTransactions(t.Context(), k, 5, 5); !errors.Is(err, meta.ErrRecovering) {
		t.Errorf("due while held: %v", err)
	}
	if err := e.db.HoldTransactions(t.Context(), group, 6); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("held by an older recovery: %v", err)
	}
	var want []meta.Transaction
	for i := range 230 {
		tx := openAt(group, int64(10+i))
		tx.Reference = fmt.Sprint(i)
		want = append(want, tx)
	}
	for range 2 { // it may be repeated
		check(t, e.db.RestoreTransactions(t.Context(), group, 7, want))
	}
	if err := e.db.RestoreTransactions(t.Context(), group, 6, nil); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("restored by an older recovery: %v", err)
	}
	if _, err := e.db.Transaction(t.Context(), k, open.ID); !errors.Is(err, meta.ErrTransactionNotFound) {
		t.Errorf("one that was not restored: %v", err)
	}
	all, err := e.db.Transactions(t.Context(), k, uuid.Nil, 1000)
	check(t, err)
	agenda, err := e.db.DueTransactions(t.Context(), k, 1000, 1000)
	check(t, err)
	if len(all) != 230 || len(agenda.Due) != 230 || all[229].Reference != "229" {
		t.Errorf("%d are there, %d are due", len(all), len(agenda.Due))
	}
}
