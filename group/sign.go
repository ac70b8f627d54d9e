package group

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// Purpose says what a signed text is: one is never good for the other.
type Purpose byte

// The purposes.
const (
	PurposeReceipt Purpose = 'R' // names one delivery
	PurposeCursor  Purpose = 'C' // names what a poll delivered
	PurposeReply   Purpose = 'A' // is the address of a request that waits for a reply
)

// ErrSignature says that a text was not made by Seal for this purpose with the
// secret of this installation.
var ErrSignature = errors.New("group: not signed by this installation")

const (
	// signatureBytes is how much of the HMAC is kept.
	signatureBytes = 16
	// maxSealed bounds the text that Open decodes.
	maxSealed = 256 << 10
	// secretFresh is how long the secret is believed without asking Redis: one
	// that lost it may have been given another by another process.
	secretFresh = 10 * time.Second
	// secretAgain is how soon a bad signature makes Open ask Redis again.
	secretAgain = time.Second
)

// Signer makes texts that clients carry and nobody else can make. They hold all
// that is needed to understand them, so any gateway of the installation does.
// Its methods may be called concurrently.
type Signer struct {
	meta *meta.DB

	mu     sync.Mutex
	secret []byte    // guarded by mu; nil: not known yet
	asked  time.Time // guarded by mu: when Redis last told it
}

// NewSigner returns a Signer with the secret that the installation keeps in db.
func NewSigner(db *meta.DB) *Signer { return &Signer{meta: db} }

// Seal returns payload and a signature as base64url:
//
//	payload | first 16 bytes of HMAC-SHA256(secret, purpose | payload)
//
// It fails only when the secret is not known and Redis does not tell it.
func (s *Signer) Seal(ctx context.Context, purpose Purpose, payload []byte) (string, error) {
	secret, err := s.key(ctx, secretFresh)
	if err != nil {
		return "", err
	}
	sealed := make([]byte, 0, len(payload)+signatureBytes)
	sealed = append(sealed, payload...)
	sealed = append(sealed, sign(secret, purpose, payload)...)
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open returns the payload of what Seal made for the same purpose. Anything else
// is ErrSignature; other errors say that the secret could not be asked for.
func (s *Signer) Open(ctx context.Context, purpose Purpose, text string) ([]byte, error) {
	if len(text) > maxSealed {
		return nil, fmt.Errorf("%w: too long", ErrSignature)
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < signatureBytes {
		return nil, fmt.Errorf("%w: malformed", ErrSignature)
	}
	payload, signature := sealed[:len(sealed)-signatureBytes], sealed[len(sealed)-signatureBytes:]
	for _, fresh := range []time.Duration{secretFresh, secretAgain} {
		secret, err := s.key(ctx, fresh)
		if err != nil {
			return nil, err
		}
		if hmac.Equal(signature, sign(secret, purpose, payload)) {
			return payload, nil
		}
	}
	return nil, ErrSignature
}

func sign(secret []byte, purpose Purpose, payload []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte{byte(purpose)})
	mac.Write(payload)
	return mac.Sum(nil)[:signatureBytes]
}

// key returns the secret, as Redis told it at most fresh ago; while Redis does
// not answer, the one known is good enough. One that Redis lost is given back to
// it, so that what was signed before stays good.
func (s *Signer) key(ctx context.Context, fresh time.Duration) ([]byte, error) {
	s.mu.Lock()
	known, age := s.secret, time.Since(s.asked)
	s.mu.Unlock()
	if known != nil && age < fresh {
		return known, nil
	}
	secret, err := s.meta.Secret(ctx, known)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.secret, s.asked = secret, time.Now()
	case s.secret == nil:
		return nil, fmt.Errorf("secret of the installation: %w", unavailable(err))
	}
	return s.secret, nil
}
