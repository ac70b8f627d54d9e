package gateway

import (
	"crypto/sha256"

	"github.com/bucketmq/bucketmq/meta"
)

// TicketClaim is how createTicket claims an Idempotency-Key.
func TicketClaim(key, body string) meta.AnswerKey { return AnswerClaim("createTicket", key, body) }

// AnswerClaim is how an operation claims an Idempotency-Key.
func AnswerClaim(operation, key, body string) meta.AnswerKey {
	return meta.AnswerKey{Scope: anonymous + ":" + operation, Key: half(sha256.Sum256([]byte(key))), Body: half(sha256.Sum256([]byte(body)))}
}

// Reading is how many bytes of the body budget are taken.
func (s *Server) Reading() int64 {
	s.bodies.mu.Lock()
	defer s.bodies.mu.Unlock()
	return s.options.BodyBytes - s.bodies.free
}
