package meta

import (
	"context"
	"fmt"
	"time"
)

// AnswerKey names one idempotent request.
type AnswerKey struct {
	Scope string   // principal and operation
	Key   [16]byte // first half of SHA-256 of the Idempotency-Key
	Body  [16]byte // first half of SHA-256 of the request's body
}

func (k AnswerKey) redisKey() string { return keyAnswer(digest(string(k.Key[:]) + k.Scope)) }

// ClaimAnswer returns the stored answer of an earlier request with this key,
// or nil when the caller is the first: it must call StoreAnswer or DropAnswer
// within ttl, after which others may claim. ErrAnswerPending, ErrKeyReused.
func (db *DB) ClaimAnswer(ctx context.Context, k AnswerKey, ttl time.Duration) ([]byte, error) {
	r, err := db.change(ctx, scriptClaimAnswer, []string{k.redisKey()}, string(k.Body[:]), ttl.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("claim answer: %w", err)
	}
	if r.status() == "CLAIMED" {
		return nil, nil
	}
	return []byte(r.text(1)), nil
}

// StoreAnswer keeps the answer for ttl. The first answer stored stays.
func (db *DB) StoreAnswer(ctx context.Context, k AnswerKey, answer []byte, ttl time.Duration) error {
	return db.endClaim(ctx, k, "D", answer, ttl)
}

// DropAnswer gives a claim back, so that the request may be tried again.
func (db *DB) DropAnswer(ctx context.Context, k AnswerKey) error {
	return db.endClaim(ctx, k, "", nil, 0)
}

func (db *DB) endClaim(ctx context.Context, k AnswerKey, verdict string, answer []byte, ttl time.Duration) error {
	_, err := db.change(ctx, scriptStoreAnswer, []string{k.redisKey()},
		string(k.Body[:]), verdict, string(answer), ttl.Milliseconds())
	if err != nil {
		return fmt.Errorf("store answer: %w", err)
	}
	return nil
}
