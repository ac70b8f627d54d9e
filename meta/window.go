package meta

import "time"

// How long a produce request is recognised when it is sent again.
const (
	// IdempotencyWindow is how long an idempotency key is remembered.
	IdempotencyWindow = 10 * time.Minute
	// ProducerWindow is how long a producer's epoch and sequence are remembered
	// after its last request.
	ProducerWindow = 24 * time.Hour
)

// How long transactions are known.
const (
	// TransactionKept is how long a decision is remembered: a repetition is answered
	// by it, and the opposite one refused. After that there is no such transaction.
	TransactionKept = 24 * time.Hour
	// ExpiredKept is how long the messages of a transaction are kept that nobody
	// decided, from when it expired on.
	ExpiredKept = 72 * time.Hour
	// BeginGrace is how long the beginning of a transaction may take; it is rolled
	// back then.
	BeginGrace = 60 * time.Second
	// settleAfter is when the leader finishes what a decision has to do and whoever
	// took it has not done.
	settleAfter = 2 * time.Second
)
