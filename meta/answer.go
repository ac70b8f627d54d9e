package meta

import (
	"context"
	"time"
)

// AnswerKey names one idempotent request.
type AnswerKey struct {
	Scope string   // principal and operation
	Key   [16]byte // first half of SHA-256 of the Idempotency-Key
	Body  [16]byte // first half of SHA-256 of the request's body
}

// ClaimAnswer returns the stored answer of an earlier request with this key,
// or nil when the caller is the first and must call StoreAnswer or DropAnswer
// within ttl. ErrAnswerPending, ErrKeyReused.
func (db *DB) ClaimAnswer(ctx context.Context, k AnswerKey, ttl time.Duration) ([]byte, error) {
	panic("unwritten")
}

// StoreAnswer keeps the answer for ttl. The answer must not be empty.
func (db *DB) StoreAnswer(ctx context.Context, k AnswerKey, answer []byte, ttl time.Duration) error {
	panic("unwritten")
}

// DropAnswer gives a claim back, so that the request may be tried again.
func (db *DB) DropAnswer(ctx context.Context, k AnswerKey) error { panic("unwritten") }
