package transaction_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/transaction"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is a store and a real Redis that several processes share.
type plant struct {
	t     *testing.T
	redis *redistest.Server
	store *faulty.Store
}

func newPlant(t *testing.T) *plant {
	return &plant{t: t, redis: redistest.New(t), store: faulty.Wrap(objstore.NewMemory())}
}

// process is one process with an engine.
type process struct {
	*transaction.Engine
	t       *testing.T
	journal *journal.Journal
	db      *meta.DB
	kill    func() // nothing more is written
}

func (p *plant) process(edit ...func(*transaction.Options)) *process {
	p.t.Helper()
	db, err := meta.Open(p.t.Context(), p.redis.Options())
	must(p.t, err)
	return newProcess(p.t, p.store, db, false, edit...)
}

func newProcess(t *testing.T, store objstore.Store, db *meta.DB, exclusive bool, edit ...func(*transaction.Options)) *process {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	j, err := journal.Open(t.Context(), journal.Options{
		Store: store, Meta: db, Linger: 2 * time.Millisecond, AppendTimeout: 5 * time.Second, Log: log, Exclusive: exclusive,
	})
	must(t, err)
	options := transaction.Options{Journal: j, Meta: db, Log: log}
	for _, e := range edit {
		e(&options)
	}
	engine, err := transaction.New(options)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = j.Run(ctx) })
	n := &process{Engine: engine, t: t, journal: j, db: db}
	n.kill = sync.OnceFunc(func() {
		engine.Drain()
		cancel()
		running.Wait()
		j.Drain()
		_ = db.Close()
	})
	t.Cleanup(n.kill)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, what func() string) {
	t.Helper()
	last := ""
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if last = what(); last == "" {
			return
		}
	}
	t.Fatal(last)
}

func (n *process) topic(name string, queues uint32) meta.Topic {
	n.t.Helper()
	topic, err := n.journal.PutTopic(n.t.Context(), meta.Topic{Name: name, Type: meta.TopicMixed, Queues: queues})
	must(n.t, err)
	return topic
}

func message(body string) *journal.Message {
	return &journal.Message{Queue: journal.AnyQueue, Text: true, Body: []byte(body)}
}

// draft is a transaction that sends each topic these bodies.
func (n *process) draft(group string, bodies map[string][]string, after ...time.Duration) *transaction.Draft {
	n.t.Helper()
	d, err := n.Draft(group, append(after, 0)[0], "ref of "+group)
	must(n.t, err)
	for name, all := range bodies {
		topic, err := n.journal.Topic(n.t.Context(), name)
		must(n.t, err)
		messages, err := d.Topic(topic)
		must(n.t, err)
		for _, body := range all {
			must(n.t, messages.Add(message(body)))
		}
	}
	return d
}

// begin begins a transaction and returns its id.
func (n *process) begin(group string, bodies map[string][]string, after ...time.Duration) string {
	n.t.Helper()
	t, err := n.draft(group, bodies, after...).Begin(n.t.Context())
	must(n.t, err)
	if t.State != meta.TxOpen {
		n.t.Fatalf("begun: %+v", t)
	}
	return transaction.ID(&t)
}

// send stores a plain message.
func (n *process) send(name, body string) {
	n.t.Helper()
	topic, err := n.journal.Topic(n.t.Context(), name)
	must(n.t, err)
	d, err := n.journal.NewDraft(topic)
	must(n.t, err)
	must(n.t, d.Add(message(body)))
	_, err = n.journal.Append(n.t.Context(), d, journal.Durable)
	must(n.t, err)
}

// read returns what is readable in a topic, sorted, once it can be read.
func (n *process) read(name string) []string {
	n.t.Helper()
	var all []string
	eventually(n.t, func() string {
		var err error
		if all, err = n.tryRead(name); err != nil {
			return err.Error()
		}
		return ""
	})
	slices.Sort(all)
	return all
}

func (n *process) tryRead(name string) (all []string, err error) {
	topic, err := n.journal.Topic(n.t.Context(), name)
	if err != nil {
		return nil, err
	}
	for q := range topic.Queues {
		for offset := int64(0); ; {
			page, err := n.journal.Read(n.t.Context(), journal.Read{Topic: topic, Queue: q, Offset: offset, MaxMessages: 1000, MaxBytes: 8 << 20})
			if err != nil {
				return nil, err
			}
			for _, m := range page.Messages {
				if m.Offset != offset {
					return nil, fmt.Errorf("queue %d: offset %d after %d", q, m.Offset, offset)
				}
				all = append(all, string(m.Record.Body))
				offset++
			}
			done := page.Next >= page.Max && len(page.Messages) == 0
			page.Release()
			if done {
				break
			}
		}
	}
	return all, nil
}

func (n *process) readable(name string, want ...string) {
	n.t.Helper()
	slices.Sort(want)
	if got := n.read(name); !slices.Equal(got, want) {
		n.t.Fatalf("topic %s has %q, want %q", name, got, want)
	}
}

// state waits until the transaction can be looked at, and returns it.
func (n *process) state(id string) meta.Transaction {
	n.t.Helper()
	var tx meta.Transaction
	eventually(n.t, func() string {
		var err error
		if tx, err = n.Transaction(n.t.Context(), id); err != nil && !errors.Is(err, journal.ErrRecovering) {
			n.t.Fatal(err)
		} else if err != nil {
			return err.Error()
		}
		return ""
	})
	return tx
}

// commit commits until the answer is certain.
func (n *process) commit(id string) (meta.Transaction, error) {
	return n.certain(func() (meta.Transaction, error) { return n.Commit(n.t.Context(), id, false) })
}

func (n *process) rollback(id string) (meta.Transaction, error) {
	return n.certain(func() (meta.Transaction, error) { return n.Rollback(n.t.Context(), id) })
}

func (n *process) certain(f func() (meta.Transaction, error)) (tx meta.Transaction, err error) {
	n.t.Helper()
	eventually(n.t, func() string {
		tx, err = f()
		if errors.Is(err, journal.ErrOutcomeUnknown) || errors.Is(err, journal.ErrRecovering) || errors.Is(err, journal.ErrUnavailable) {
			return err.Error()
		}
		return ""
	})
	return tx, err
}

// decidedAs says that err refuses a decision because of that state.
func decidedAs(err error, state string) bool {
	var decided *transaction.DecidedError
	return errors.As(err, &decided) && decided.Current.State == state
}
