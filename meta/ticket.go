package meta

import (
	"context"
	"time"
)

// PutTicket keeps payload under an unguessable token for ttl.
func (db *DB) PutTicket(ctx context.Context, token string, payload []byte, ttl time.Duration) error {
	panic("unwritten")
}

// TakeTicket returns the payload once; afterwards ErrTicketNotFound.
func (db *DB) TakeTicket(ctx context.Context, token string) ([]byte, error) { panic("unwritten") }
