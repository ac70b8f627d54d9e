package meta

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// States of a transaction.
const (
	// TxBegun: its half messages are on their way to the log; nobody was told of it.
	TxBegun = "begun"
	// TxOpen: its half messages are in the log; it may be committed or rolled back.
	TxOpen = "open"
	// TxCommitted: its messages are readable, or will be in a moment.
	TxCommitted = "committed"
	// TxRolledBack: its messages are never readable.
	TxRolledBack = "rolled_back"
	// TxExpired: nobody decided it in time. Its messages are not readable and are
	// kept for a while: it may still be rolled back, or committed by force.
	TxExpired = "expired"
)

// Errors of transactions.
var (
	// ErrTransactionNotFound says that no transaction has this id, or none any more.
	ErrTransactionNotFound = errors.New("meta: transaction not found")
	// ErrManyTransactions says that the producer group has too many undecided ones.
	ErrManyTransactions = errors.New("meta: too many undecided transactions")
)

// TransactionChangedError says that a transaction is not in the state that it was
// read in.
type TransactionChangedError struct {
	Current *Transaction // nil: it is gone
}

func (e *TransactionChangedError) Error() string { return "meta: transaction changed in between" }

// ProducerKey names a producer group in keys.
type ProducerKey [8]byte

// ProducerKeyOf returns the key of a group's name.
func ProducerKeyOf(group string) ProducerKey {
	sum := sha256.Sum256([]byte(group))
	return ProducerKey(sum[:8])
}

// Transaction is the whole state of one transaction. A change of it is
// PutTransaction.
type Transaction struct {
	ID        uuid.UUID `json:"id"` // UUIDv7
	Group     string    `json:"group"`
	State     string    `json:"state"`
	Reason    string    `json:"reason,omitempty"` // of a state that no producer asked for
	CreatedAt int64     `json:"created_at"`
	// CheckAfter is when producers are first asked, in milliseconds after it was opened.
	CheckAfter int64              `json:"check_after"`
	Reference  string             `json:"reference,omitempty"` // the producer's own name for it
	Topics     []TransactionTopic `json:"topics"`

	Checks    int   `json:"checks,omitempty"` // sent to a producer
	CheckedAt int64 `json:"checked_at,omitempty"`
	NextCheck int64 `json:"next_check,omitempty"` // while open

	DecidedAt int64 `json:"decided_at,omitempty"`
	Logged    bool  `json:"logged,omitempty"`  // the decision is in the log
	Placed    bool  `json:"placed,omitempty"`  // of a committed one: its messages are readable, First is set
	Settled   bool  `json:"settled,omitempty"` // nothing is left to be done

	raw string // as Redis holds it; "" of a new one
}

// TransactionTopic is what a transaction sends to one topic.
type TransactionTopic struct {
	Topic    uuid.UUID `json:"topic"`
	Name     string    `json:"name"`
	Messages int       `json:"messages"`
	Base     uuid.UUID `json:"base"` // of the message ids
	Halves   []Half    `json:"halves,omitempty"`
	Gone     bool      `json:"gone,omitempty"` // the topic was deleted before the messages became readable
}

// Half is a run of half messages of one queue, known by the id of its first.
type Half struct {
	ID    uuid.UUID `json:"id"`
	Queue uint32    `json:"queue"`
	Count uint32    `json:"count"`
	Epoch int64     `json:"epoch,omitempty"` // of the topic, when First was given
	First int64     `json:"first"`           // offset of the first message; −1: none yet
}

// Undecided says that a decision may still be taken by a producer.
func (t *Transaction) Undecided() bool { return t.State == TxBegun || t.State == TxOpen }

// When says when something has to be done about a transaction, in Unix
// milliseconds by Redis' clock.
type When struct {
	Agenda int64 // a check, a decision or a cleaning is due; 0: never
	Forget int64 // it is of no interest any more; 0: never
}

// When follows from the state.
func (t *Transaction) When() When {
	switch {
	case t.State == TxBegun:
		return When{Agenda: t.CreatedAt + BeginGrace.Milliseconds()}
	case t.State == TxOpen:
		return When{Agenda: t.NextCheck}
	case t.State == TxExpired && t.Logged:
		return When{Forget: t.DecidedAt + ExpiredKept.Milliseconds()}
	case t.Settled:
		return When{Forget: t.DecidedAt + TransactionKept.Milliseconds()}
	}
	return When{Agenda: t.DecidedAt + settleAfter.Milliseconds()}
}

func (w When) args() [2]string {
	out := [2]string{"-", "-"}
	for i, at := range [2]int64{w.Agenda, w.Forget} {
		if at > 0 {
			out[i] = strconv.FormatInt(at, 10)
		}
	}
	return out
}

func transactionKeys(k ProducerKey) []string {
	return []string{keyTransactions(k, "txs"), keyTransactions(k, "ids"), keyTransactions(k, "agenda"), keyTransactions(k, "kept")}
}

func keyTransactions(k ProducerKey, rest string) string {
	return "{x:" + hex.EncodeToString(k[:]) + "}:" + rest
}

func parseTransaction(text string) (Transaction, error) {
	t := Transaction{raw: text}
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return t, fmt.Errorf("%w: transaction: %w", ErrCorrupt, err)
	}
	return t, nil
}

// Transaction returns the state of a transaction of the producer group k.
// ErrTransactionNotFound, ErrRecovering.
func (db *DB) Transaction(ctx context.Context, k ProducerKey, id uuid.UUID) (Transaction, error) {
	values, err := db.reads.HMGet(ctx, transactionKeys(k)[0], "state", string(id[:])).Result()
	if err != nil {
		return Transaction{}, fmt.Errorf("transaction %s: %w", id, err)
	}
	r := reply(values)
	if r.text(0) == "restoring" {
		return Transaction{}, fmt.Errorf("transaction %s: %w", id, ErrRecovering)
	}
	if r.text(1) == "" {
		return Transaction{}, fmt.Errorf("transaction %s: %w", id, db.missingTransaction(ctx))
	}
	return parseTransaction(r.text(1))
}

// missingTransaction says what the absence of a transaction means.
func (db *DB) missingTransaction(ctx context.Context) error {
	phase, err := db.reads.HGet(ctx, keyState, "phase").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if phase != PhaseReady {
		return ErrRecovering
	}
	return ErrTransactionNotFound
}

// PutTransaction replaces old, as it was read (nil: there is none), by next and
// returns it, to be replaced in turn. most bounds how many the group may have on
// its agenda; 0 does not. *TransactionChangedError, ErrManyTransactions,
// ErrRecovering changed nothing; after any other error read it again.
func (db *DB) PutTransaction(ctx context.Context, old *Transaction, next Transaction, most int) (Transaction, error) {
	text, err := json.Marshal(&next)
	if err != nil {
		return Transaction{}, err
	}
	expected := ""
	if old != nil {
		expected = old.raw
	}
	next.raw = string(text)
	if err := db.putTransaction(ctx, &next, expected, next.raw, next.When(), most); err != nil {
		return Transaction{}, err
	}
	return next, nil
}

// ForgetTransaction removes a transaction, as it was read.
func (db *DB) ForgetTransaction(ctx context.Context, t Transaction) error {
	return db.putTransaction(ctx, &t, t.raw, "", When{}, 0)
}

func (db *DB) putTransaction(ctx context.Context, t *Transaction, expected, text string, when When, most int) error {
	at := when.args()
	r, err := db.change(ctx, scriptPutTransaction, transactionKeys(ProducerKeyOf(t.Group)),
		string(t.ID[:]), expected, text, at[0], at[1], most)
	if err != nil {
		return fmt.Errorf("put transaction %s: %w", t.ID, err)
	}
	switch r.status() {
	case "MANY":
		return fmt.Errorf("put transaction %s: %w", t.ID, ErrManyTransactions)
	case "LOST_RACE":
		changed := &TransactionChangedError{}
		if r.text(1) != "" {
			current, err := parseTransaction(r.text(1))
			if err != nil {
				return err
			}
			changed.Current = &current
		}
		return changed
	}
	return nil
}
