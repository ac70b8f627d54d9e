package meta_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

var stateCases = []testCase{
	{"RecoveryHasOneOwner", recoveryHasOneOwner},
	{"StoreIsBound", storeIsBound},
	{"LeaseHasOneHolderAndAGrowingTerm", leaseHasOneHolder},
	{"WritersBeat", writersBeat},
	{"TicketIsTakenOnce", ticketIsTakenOnce},
	{"AnswerIsGivenAgain", answerIsGivenAgain},
}

func recoveryHasOneOwner(t *testing.T, e engine) {
	ctx := t.Context()
	before, err := e.db.State(ctx)
	check(t, err)
	a, b := uuid.New(), uuid.New()
	if _, _, ok, err := e.db.BeginRecovery(ctx, before.StoreID, a, uuid.New(), time.Minute); ok || err != nil {
		t.Fatalf("recovery of a generation that is gone: %v, %v", ok, err)
	}
	first, term, ok, err := e.db.BeginRecovery(ctx, before.StoreID, a, before.Generation, 40*time.Millisecond)
	if !ok || err != nil {
		t.Fatalf("begin: %v, %v", ok, err)
	}
	for _, err := range []error{second(e.db.Topic(ctx, "nobody")), second(e.db.TopicByID(ctx, uuid.New())),
		second(e.db.Topics(ctx, "", "", 1)), second(e.db.CreateTopic(ctx, meta.Topic{Name: "new", Queues: 1})),
		second(e.db.Lookup(ctx, uuid.New(), 0, 0, 1))} {
		if !errors.Is(err, meta.ErrRecovering) {
			t.Errorf("during recovery: got %v", err)
		}
	}
	var next uuid.UUID
	var nextTerm int64
	for ok = false; !ok; { // until the first lease has run out
		next, nextTerm, ok, err = e.db.BeginRecovery(ctx, before.StoreID, b, before.Generation, time.Minute)
		check(t, err)
	}
	if nextTerm <= term || next == first {
		t.Errorf("second owner: generation %s term %d after %s term %d", next, nextTerm, first, term)
	}
	if _, _, ok, _ := e.db.BeginRecovery(ctx, before.StoreID, a, before.Generation, time.Minute); ok {
		t.Error("two recoveries at a time")
	}
	if err := e.db.FinishRecovery(ctx, first); !errors.Is(err, meta.ErrFenced) {
		t.Errorf("finish of the first owner: got %v, want ErrFenced", err)
	}
	check(t, e.db.FinishRecovery(ctx, next))
	check(t, e.db.FinishRecovery(ctx, next))
	check(t, e.db.Release(ctx, meta.LeaseRecovery, b))
	got, err := e.db.State(ctx)
	check(t, err)
	equal(t, "state", got, meta.State{StoreID: before.StoreID, Generation: next, Phase: meta.PhaseReady})
}

func storeIsBound(t *testing.T, e engine) {
	state, err := e.db.State(t.Context())
	check(t, err)
	_, _, _, err = e.db.BeginRecovery(t.Context(), uuid.New(), uuid.New(), state.Generation, time.Minute)
	if !errors.Is(err, meta.ErrStoreMismatch) {
		t.Errorf("another store: got %v, want ErrStoreMismatch", err)
	}
}

func leaseHasOneHolder(t *testing.T, e engine) {
	ctx := t.Context()
	name, a, b := "l-"+uuid.NewString(), uuid.New(), uuid.New()
	acquire := func(holder uuid.UUID, ttl time.Duration) int64 {
		t.Helper()
		term, ok, err := e.db.Acquire(ctx, name, holder, ttl)
		check(t, err)
		if ok != (term > 0) {
			t.Fatalf("term %d, ok %v", term, ok)
		}
		return term
	}
	held := func(want uuid.UUID, wantTerm int64) {
		t.Helper()
		holder, term, ok, err := e.db.LeaseHolder(ctx, name)
		check(t, err)
		if holder != want || term != wantTerm || ok != (wantTerm > 0) {
			t.Fatalf("held by %s under term %d (%v), want %s under %d", holder, term, ok, want, wantTerm)
		}
	}
	held(uuid.Nil, 0)
	first := acquire(a, time.Minute)
	held(a, first)
	if got := acquire(b, time.Minute); got != 0 {
		t.Fatal("two holders")
	}
	if got := acquire(a, 30*time.Millisecond); got != first {
		t.Fatalf("renewed under term %d, had %d", got, first)
	}
	var taken int64
	for taken == 0 {
		taken = acquire(b, time.Minute)
	}
	if taken <= first || acquire(a, time.Minute) != 0 {
		t.Fatalf("taken over under term %d after %d", taken, first)
	}
	check(t, e.db.Release(ctx, name, a))
	if acquire(a, time.Minute) != 0 {
		t.Fatal("released by another holder")
	}
	held(b, taken)
	check(t, e.db.Release(ctx, name, b))
	held(uuid.Nil, 0)
	if got := acquire(a, time.Minute); got <= taken {
		t.Fatalf("after the release: term %d, want more than %d", got, taken)
	}
}

func writersBeat(t *testing.T, e engine) {
	ctx := t.Context()
	a, b := uuid.New(), uuid.New()
	check(t, e.db.Beat(ctx, a))
	check(t, e.db.Beat(ctx, a))
	check(t, e.db.Beat(ctx, b))
	check(t, e.db.RetireWriter(ctx, b))
	list, now, err := e.db.Writers(ctx)
	check(t, err)
	found := map[uuid.UUID]meta.WriterState{}
	for _, w := range list {
		found[w.Writer] = w
	}
	if w := found[a]; w.Retired || w.BeatAt == 0 || w.BeatAt > now || now-w.BeatAt > 10_000 {
		t.Errorf("living writer at %d: %+v", now, w)
	}
	if !found[b].Retired {
		t.Errorf("retired writer: %+v", found[b])
	}
	check(t, e.db.ForgetWriter(ctx, a))
	if err := e.db.Beat(ctx, a); !errors.Is(err, meta.ErrRolledBack) {
		t.Errorf("a beat that forgets earlier ones: got %v, want ErrRolledBack", err)
	}
	check(t, e.db.Beat(ctx, a))
}

func ticketIsTakenOnce(t *testing.T, e engine) {
	ctx, token := t.Context(), uuid.NewString()
	check(t, e.db.PutTicket(ctx, token, []byte("who"), time.Minute))
	got, err := e.db.TakeTicket(ctx, token)
	check(t, err)
	equal(t, "payload", string(got), "who")
	if _, err := e.db.TakeTicket(ctx, token); !errors.Is(err, meta.ErrTicketNotFound) {
		t.Errorf("second take: got %v", err)
	}
	check(t, e.db.PutTicket(ctx, token, []byte("who"), 30*time.Millisecond))
	check(t, e.db.PutTicket(ctx, token+"later", []byte("who"), time.Minute))
	eventually(t, "the ticket expires", func() bool {
		_, err := e.db.TakeTicket(ctx, token)
		if err == nil { // still there: put it back until it goes by itself
			check(t, e.db.PutTicket(ctx, token, []byte("who"), time.Millisecond))
		}
		return errors.Is(err, meta.ErrTicketNotFound)
	})
	_, err = e.db.TakeTicket(ctx, token+"later")
	check(t, err)
}

func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	ctx := within(t, 20*time.Second)
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func answerIsGivenAgain(t *testing.T, e engine) {
	ctx := t.Context()
	k := meta.AnswerKey{Scope: "s" + uuid.NewString(), Key: half("k"), Body: half("b")}
	claim := func(k meta.AnswerKey) ([]byte, error) { return e.db.ClaimAnswer(ctx, k, time.Minute) }
	got, err := claim(k)
	check(t, err)
	if got != nil {
		t.Fatalf("first claim: %q", got)
	}
	if _, err := claim(k); !errors.Is(err, meta.ErrAnswerPending) {
		t.Errorf("second claim: got %v", err)
	}
	check(t, e.db.DropAnswer(ctx, k))
	_, err = claim(k)
	check(t, err)
	check(t, e.db.StoreAnswer(ctx, k, []byte{0, '\n', 0xff}, time.Minute))
	check(t, e.db.DropAnswer(ctx, k))
	check(t, e.db.StoreAnswer(ctx, k, []byte("late"), time.Minute))
	got, err = claim(k)
	check(t, err)
	equal(t, "answer", got, []byte{0, '\n', 0xff})
	other := k
	other.Body = half("c")
	if _, err := claim(other); !errors.Is(err, meta.ErrKeyReused) {
		t.Errorf("other body: got %v", err)
	}
	other.Scope += "x"
	got, err = claim(other)
	check(t, err)
	if got != nil {
		t.Errorf("other scope: %q", got)
	}
}
