package meta

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// SecretBytes is the length of the installation's secret.
const SecretBytes = 32

// Secret returns the secret that all processes of the installation share: what
// one of them signs, every one can check. The first to ask makes it. Redis keeps
// it as long as it keeps anything; a process that knows it (known, else nil)
// gives it back to a Redis that lost it, if no other was made meanwhile.
func (db *DB) Secret(ctx context.Context, known []byte) ([]byte, error) {
	if len(known) != SecretBytes {
		known = make([]byte, SecretBytes)
		rand.Read(known)
	}
	pipe := db.reads.Pipeline()
	pipe.SetNX(ctx, keySecret, hex.EncodeToString(known), 0)
	get := pipe.Get(ctx, keySecret)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	secret, err := hex.DecodeString(get.Val())
	if err != nil || len(secret) != SecretBytes {
		return nil, fmt.Errorf("secret: %w", ErrCorrupt)
	}
	return secret, nil
}
