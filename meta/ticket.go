package meta

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// PutTicket keeps payload under an unguessable token for ttl. Redis never sees
// the token itself.
func (db *DB) PutTicket(ctx context.Context, token string, payload []byte, ttl time.Duration) error {
	if err := db.reads.Set(ctx, keyTicket(digest(token)), payload, ttl).Err(); err != nil {
		return fmt.Errorf("put ticket: %w", err)
	}
	return nil
}

// TakeTicket returns the payload once; afterwards ErrTicketNotFound. After any
// other error the ticket may be spent.
func (db *DB) TakeTicket(ctx context.Context, token string) ([]byte, error) {
	payload, err := db.commits.GetDel(ctx, keyTicket(digest(token))).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrTicketNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("take ticket: %w", err)
	}
	return payload, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
