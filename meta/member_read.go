package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Member returns a member as it joined. ErrMemberUnknown, ErrFencedMember.
func (db *DB) Member(ctx context.Context, group uuid.UUID, id string) (Member, error) {
	pipe := db.reads.Pipeline()
	text := pipe.HGet(ctx, keyMembers(group), id)
	fenced := pipe.HExists(ctx, keyFenced(group), id)
	_, _ = pipe.Exec(ctx) // every command carries its own error
	if errors.Is(text.Err(), redis.Nil) && fenced.Err() == nil {
		if fenced.Val() {
			return Member{}, fmt.Errorf("member %s: %w", id, ErrFencedMember)
		}
		return Member{}, fmt.Errorf("member %s: %w", id, ErrMemberUnknown)
	}
	if text.Err() != nil {
		return Member{}, fmt.Errorf("member %s: %w", id, text.Err())
	}
	var m Member
	if err := json.Unmarshal([]byte(text.Val()), &m); err != nil {
		return Member{}, fmt.Errorf("member %s: %w: %w", id, ErrCorrupt, err)
	}
	return m, nil
}
