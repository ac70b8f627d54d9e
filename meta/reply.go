package meta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// replyKept is how long after its request is over a reply is kept.
const replyKept = 30 * time.Second

var (
	// ErrReplied says that somebody has replied to the request before.
	ErrReplied = errors.New("meta: replied before")
	// ErrRequestOver says that nobody waits for a reply any more.
	ErrRequestOver = errors.New("meta: the request is over")
)

// PutReply keeps the first reply to a request that waits until over (Unix
// milliseconds by the clock of Redis), and tells the feeds. ErrReplied,
// ErrRequestOver.
func (db *DB) PutReply(ctx context.Context, request uuid.UUID, over int64, reply []byte) error {
	r, err := db.change(ctx, scriptPutReply, []string{keyReply(request)}, reply, formatNumber(over), replyKept.Milliseconds(), channelReplies, request.String())
	if err != nil {
		return fmt.Errorf("reply to %s: %w", request, err)
	}
	switch r.status() {
	case "ANSWERED":
		return ErrReplied
	case "OVER":
		return ErrRequestOver
	}
	return nil
}

// EndRequest says that nobody waits for a reply any more: those that come from now on
// are refused. One that came before is returned.
func (db *DB) EndRequest(ctx context.Context, request uuid.UUID, over int64) ([]byte, error) {
	err := db.PutReply(ctx, request, over, nil)
	if !errors.Is(err, ErrReplied) {
		if errors.Is(err, ErrRequestOver) {
			err = nil
		}
		return nil, err
	}
	return db.Reply(ctx, request)
}

// Reply returns the reply to a request; nil: there is none.
func (db *DB) Reply(ctx context.Context, request uuid.UUID) ([]byte, error) {
	reply, err := db.reads.Get(ctx, keyReply(request)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reply to %s: %w", request, err)
	}
	if len(reply) == 0 {
		return nil, nil // it was ended
	}
	return reply, nil
}
