package meta

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// SharedEnter registers a receiver's subscriptions, in their normal form, with a
// group in shared consumption, and that it will wait. As long as somebody
// receives, all say the same: *SubscriptionMismatchError. ErrGroupQueued: members
// own the queues.
func (db *DB) SharedEnter(ctx context.Context, group uuid.UUID, subscriptions []Subscription, wait time.Duration) error {
	subs, err := subscriptionsText(subscriptions)
	if err != nil {
		return err
	}
	r, err := parseShared(scriptSharedEnter.Run(ctx, db.commits, []string{keyGroupMeta(group)},
		subs, wait.Milliseconds(), sharedIdle.Milliseconds()))
	if err != nil {
		return fmt.Errorf("enter group %s: %w", group, err)
	}
	if r.status() == "UNLIKE" {
		mismatch := &SubscriptionMismatchError{}
		if err := json.Unmarshal([]byte(r.text(1)), &mismatch.Current); err != nil {
			return fmt.Errorf("enter group %s: %w: %w", group, ErrCorrupt, err)
		}
		return mismatch
	}
	return nil
}
