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
