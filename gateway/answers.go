package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	maxKeyBytes = 255
	// claimTTL is how long a request may run before its key is free again.
	claimTTL = 60 * time.Second
)

// idempotencyKey returns the key of a request, "" when it has none.
func idempotencyKey(c echo.Context) (string, error) {
	values := c.Request().Header.Values(keyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	valid := len(values) == 1 && len(key) >= 1 && len(key) <= maxKeyBytes
	for i := range len(key) {
		valid = valid && key[i] > ' ' && key[i] < 0x7f
	}
	if !valid {
		return "", headerFault(keyHeader, "1 to 255 visible ASCII characters")
	}
	return key, nil
}

// answerOnce runs a request that creates something. With an Idempotency-Key
// its good answer is kept, and the same request gets it again; an error is
// final for this attempt only, because nothing was created.
func (s *Server) answerOnce(c echo.Context, operation string, limit int64, create func(ctx context.Context, body []byte) (int, any, error)) error {
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	body, release, err := s.readBody(c, limit)
	if err != nil {
		return err
	}
	defer release()
	ctx := c.Request().Context()
	if key == "" {
		status, answer, err := create(ctx, body)
		if err != nil {
			return err
		}
		return writeJSON(c, status, answer)
	}
	claim := meta.AnswerKey{Scope: anonymous + ":" + operation, Key: half(sha256.Sum256([]byte(key))), Body: half(sha256.Sum256(body))}
	stored, err := s.meta.ClaimAnswer(ctx, claim, claimTTL)
	if err != nil {
		return viaRedis(fmt.Errorf("claim an idempotency key: %w", err))
	}
	if stored != nil {
		return replay(c, stored)
	}
	return s.firstAnswer(c, claim, body, create)
}

// firstAnswer runs a request whose key is claimed, and keeps its answer.
func (s *Server) firstAnswer(c echo.Context, claim meta.AnswerKey, body []byte, create func(ctx context.Context, body []byte) (int, any, error)) error {
	// The claim is settled also when the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), claimTTL/2)
	defer cancel()
	status, answer, err := create(ctx, body)
	if err != nil {
		if drop := s.meta.DropAnswer(ctx, claim); drop != nil {
			s.log.WarnContext(ctx, "idempotency key stays claimed", "err", drop, "request_id", requestID(c))
		}
		return err
	}
	text, err := json.Marshal(answer, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if err := s.meta.StoreAnswer(ctx, claim, append(binary.BigEndian.AppendUint16(nil, uint16(status)), text...), keyWindow); err != nil {
		return viaRedis(fmt.Errorf("keep an answer: %w", err))
	}
	return c.Blob(status, jsonType, text)
}

func replay(c echo.Context, stored []byte) error {
	if len(stored) < 2 {
		return fmt.Errorf("stored answer of %d bytes: %w", len(stored), meta.ErrCorrupt)
	}
	status := int(binary.BigEndian.Uint16(stored))
	if http.StatusText(status) == "" {
		return fmt.Errorf("stored answer with status %d: %w", status, meta.ErrCorrupt)
	}
	c.Response().Header().Set("Idempotent-Replayed", "true")
	return c.Blob(status, jsonType, stored[2:])
}
