// Package transaction is what a process does for transactions: half messages over
// several topics are stored, decided once, and then made readable or dropped; who
// began one and forgot it is asked. Every step is one compare-and-set of its state
// in Redis, and a decision is in the log before anybody is told of it.
package transaction

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Limits and times of transactions. GET /v1/info tells them (SEMANTICS 2.9).
const (
	// DefaultCheckAfter is when producers are first asked, after the beginning.
	DefaultCheckAfter = 6 * time.Second
	// MaxCheckAfter bounds what a producer may choose.
	MaxCheckAfter = time.Hour
	// CheckEvery is how long an answer to a check is waited for.
	CheckEvery = 30 * time.Second
	// MaxChecks is how often producers are asked; only checks that were sent count.
	MaxChecks = 15
	// Lifetime is how long a transaction may be undecided, however often it was
	// checked: it expires then.
	Lifetime = 72 * time.Hour
	// MaxOpen is how many undecided transactions a producer group may have.
	MaxOpen = 10_000
	// MaxKept is how many decided ones of a group are remembered.
	MaxKept = 10_000
	// MaxTopics is how many topics a transaction may send to.
	MaxTopics = 16
	// MaxReference bounds the producer's own name for a transaction, in bytes.
	MaxReference = 1024
	// MaxGroupName bounds the name of a producer group.
	MaxGroupName = 120
)

// Reasons of states that no producer asked for.
const (
	ReasonIncomplete = "incomplete" // rolled back: not all of its messages were stored
	ReasonUnanswered = "unanswered" // expired: MaxChecks checks were sent and not answered
	ReasonLifetime   = "lifetime"   // expired: it was undecided for Lifetime
	ReasonForced     = "forced"     // committed after it had expired
)

// Errors. What Redis and the log answer besides is journal's: ErrUnavailable,
// ErrRecovering and ErrDraining changed nothing, ErrOutcomeUnknown says to ask again.
var (
	// ErrNotFound says that no transaction has this id, or none any more.
	ErrNotFound = meta.ErrTransactionNotFound
	// ErrTooMany says that the producer group has MaxOpen undecided transactions.
	ErrTooMany = meta.ErrManyTransactions
)

// DecidedError refuses a decision: another one was first.
type DecidedError struct{ Current meta.Transaction }

func (e *DecidedError) Error() string { return "transaction: it is " + e.Current.State }

// Options says what transactions are kept in.
type Options struct {
	Journal *journal.Journal // required; its Run must be running
	Meta    *meta.DB         // required

	CheckEvery time.Duration // zero = CheckEvery
	MaxChecks  int           // zero = MaxChecks
	Lifetime   time.Duration // zero = Lifetime
	MaxOpen    int           // zero = MaxOpen

	Log      *slog.Logger          // nil = slog.Default
	Registry prometheus.Registerer // nil = metrics are kept and not exported
}

// Engine serves the transactions of an installation. Any process serves any of
// them. Its methods may be called concurrently.
type Engine struct {
	options Options
	journal *journal.Journal
	meta    *meta.DB
	log     *slog.Logger
	metrics *metrics

	drained   chan struct{}
	drainOnce sync.Once

	mu    sync.Mutex
	looks map[string]*look // guarded by mu; by producer group: who waits for checks

	sweep     sync.Mutex
	swept     int   // guarded by sweep; how many producer groups this round of sweeps has looked at
	summing   int64 // guarded by sweep; what they have undecided
	undecided int64 // guarded by sweep; what all had in the last round
}

// New returns an Engine. The error is that of unusable options.
func New(o Options) (*Engine, error) {
	if o.Journal == nil || o.Meta == nil {
		return nil, errors.New("transaction: Options need a Journal and a Meta")
	}
	if o.CheckEvery == 0 {
		o.CheckEvery = CheckEvery
	}
	if o.MaxChecks == 0 {
		o.MaxChecks = MaxChecks
	}
	if o.Lifetime == 0 {
		o.Lifetime = Lifetime
	}
	if o.MaxOpen == 0 {
		o.MaxOpen = MaxOpen
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Engine{
		options: o, journal: o.Journal, meta: o.Meta, log: o.Log, metrics: newMetrics(o.Registry),
		drained: make(chan struct{}), looks: map[string]*look{},
	}, nil
}

// Drain ends every wait for checks, now and later.
func (e *Engine) Drain() { e.drainOnce.Do(func() { close(e.drained) }) }

// An id is base64url of: 1 byte version, 8 bytes key of the producer group, 16
// bytes UUID. So whoever has it finds the transaction in one look-up.
const (
	idVersion = 1
	idBytes   = 1 + 8 + 16
)

// ID returns the name of a transaction by which everybody else knows it.
func ID(t *meta.Transaction) string {
	key := meta.ProducerKeyOf(t.Group)
	b := make([]byte, 0, idBytes)
	b = append(b, idVersion)
	b = append(b, key[:]...)
	b = append(b, t.ID[:]...)
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseID(id string) (key meta.ProducerKey, tx uuid.UUID, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if err != nil || len(b) != idBytes || b[0] != idVersion {
		return key, tx, false
	}
	copy(key[:], b[1:])
	copy(tx[:], b[9:])
	return key, tx, true
}

var validGroup = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ValidateGroup tests the name of a producer group.
func ValidateGroup(name string) error {
	if len(name) > MaxGroupName || !validGroup.MatchString(name) {
		return &journal.InvalidError{Index: -1, Field: "producer_group", Code: journal.CodeInvalid,
			Detail: fmt.Sprintf("1 to %d of A-Z a-z 0-9 . _ -, beginning with a letter or digit", MaxGroupName)}
	}
	return nil
}

// Transaction returns a transaction. ErrNotFound.
func (e *Engine) Transaction(ctx context.Context, id string) (meta.Transaction, error) {
	key, tx, ok := parseID(id)
	if !ok {
		return meta.Transaction{}, fmt.Errorf("transaction %q: %w", id, ErrNotFound)
	}
	return e.read(ctx, key, tx)
}

func (e *Engine) read(ctx context.Context, key meta.ProducerKey, id uuid.UUID) (meta.Transaction, error) {
	t, err := e.meta.Transaction(ctx, key, id)
	if errors.Is(err, ErrNotFound) { // or lost with the rest of Redis
		if lost := e.journal.Trusted(ctx); lost != nil {
			return t, lost
		}
		return t, err
	}
	return t, fault(err)
}

// List returns up to limit transactions of a producer group whose ids sort after
// one, the oldest first.
func (e *Engine) List(ctx context.Context, group string, after uuid.UUID, limit int) ([]meta.Transaction, error) {
	all, err := e.meta.Transactions(ctx, meta.ProducerKeyOf(group), after, limit)
	return all, fault(err)
}

// fault gives an error of Redis the meaning it has for a caller.
func fault(err error) error {
	var changed *meta.TransactionChangedError
	switch {
	case err == nil, errors.Is(err, ErrTooMany), errors.Is(err, ErrNotFound), errors.As(err, &changed),
		errors.Is(err, journal.ErrRecovering), errors.Is(err, journal.ErrUnavailable), errors.Is(err, journal.ErrDraining):
		return err
	case errors.Is(err, meta.ErrRecovering), errors.Is(err, meta.ErrNoState):
		return fmt.Errorf("%w: %w", journal.ErrRecovering, err)
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}
