package coordinator_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/transaction"
)

// dealSite is a site with a topic of transactions.
type dealSite struct {
	*site
	engine *transaction.Engine
	deals  meta.Topic
}

func newDealSite(t *testing.T, s *site) *dealSite {
	t.Helper()
	deals, err := s.journal.PutTopic(t.Context(), meta.Topic{Name: "deals", Type: meta.TopicTransaction, Queues: 1})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := transaction.New(transaction.Options{
		Journal: s.journal, Meta: s.db, CheckEvery: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &dealSite{site: s, engine: engine, deals: deals}
}

func (s *dealSite) begin(body string) meta.Transaction {
	s.t.Helper()
	d, err := s.engine.Draft("sellers", time.Millisecond, "")
	if err != nil {
		s.t.Fatal(err)
	}
	messages, err := d.Topic(s.deals)
	if err == nil {
		err = messages.Add(&journal.Message{Queue: journal.AnyQueue, Text: true, Body: []byte(body)})
	}
	var tx meta.Transaction
	if err == nil {
		tx, err = d.Begin(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return tx
}

// visible waits until exactly these are readable.
func (s *dealSite) visible(want ...string) (epoch int64) {
	s.t.Helper()
	eventually(s.t, func() string {
		page, err := s.journal.Read(s.t.Context(), journal.Read{Topic: s.deals, MaxMessages: 100, MaxBytes: 1 << 20})
		if err != nil {
			return err.Error()
		}
		defer page.Release()
		var got []string
		for _, m := range page.Messages {
			got = append(got, string(m.Record.Body))
		}
		epoch = page.Epoch
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("readable are %v, want %v", got, want)
		}
		return ""
	})
	return epoch
}

// The gateway that took a decision is gone before it did anything about it.
func TestTheLeaderSeesADecisionThrough(t *testing.T) {
	s := newDealSite(t, newSite(t))
	tx := s.begin("deal")
	decided := tx
	decided.State, decided.DecidedAt = meta.TxCommitted, time.Now().UnixMilli()
	if _, err := s.db.PutTransaction(t.Context(), &tx, decided, 0); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	s.coordinate(registry, time.Hour)
	s.visible("deal")
	if _, err := s.engine.Rollback(t.Context(), transaction.ID(&tx)); err == nil {
		t.Error("it was rolled back after all")
	}
	eventually(t, func() string {
		families, err := registry.Gather()
		for _, f := range families {
			if f.GetName() == "bucketmq_coordinator_transactions_settled_total" && f.GetMetric()[0].GetCounter().GetValue() >= 1 {
				return ""
			}
		}
		return fmt.Sprintf("no decision was counted: %v", err)
	})
}

// The leader logs the offsets that commits give, so that a loss of Redis neither
// gives others nor starts a new epoch.
func TestCommittedTransactionsKeepTheirOffsetsThroughALossOfRedis(t *testing.T) {
	s := newDealSite(t, newSite(t))
	s.coordinate(nil, time.Hour)
	var want []string
	for i := range 5 {
		tx := s.begin(fmt.Sprint("deal", i))
		if _, err := s.engine.Commit(t.Context(), transaction.ID(&tx), false); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint("deal", i))
	}
	s.visible(want...)
	eventually(t, func() string {
		left, err := s.db.FiredTimers(t.Context(), s.deals.ID)
		if err != nil || len(left) > 0 {
			return fmt.Sprintf("%d offsets are not in the log, %v", len(left), err)
		}
		return ""
	})
	s.redis.Flush()
	if epoch := s.visible(want...); epoch != 1 {
		t.Errorf("epoch %d, want 1", epoch)
	}
}

// Checks are counted when a producer gets them; after the last one the leader ends
// it.
func TestTheLeaderEndsWhatNobodyAnswers(t *testing.T) {
	s := newDealSite(t, newSite(t))
	s.coordinate(nil, time.Hour)
	tx := s.begin("deal")
	for n := 1; n <= transaction.MaxChecks; n++ {
		checks, err := s.engine.Await(t.Context(), "sellers", 1, 15*time.Second)
		if err != nil || len(checks) != 1 || checks[0].Checks != n {
			t.Fatalf("check %d: %+v, %v", n, checks, err)
		}
	}
	eventually(t, func() string {
		got, err := s.engine.Transaction(t.Context(), transaction.ID(&tx))
		if err != nil || got.State != meta.TxExpired || got.Checks != transaction.MaxChecks {
			return fmt.Sprintf("it is %+v, %v", got, err)
		}
		return ""
	})
	s.visible()
	var decided *transaction.DecidedError
	if _, err := s.engine.Commit(t.Context(), transaction.ID(&tx), false); !errors.As(err, &decided) {
		t.Errorf("commit: %v", err)
	}
}
