package meta

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// KnownProducers returns the names of all producer groups that Redis knows, also
// while it is not ready.
func (db *DB) KnownProducers(ctx context.Context) ([]string, error) {
	names, err := db.reads.ZRange(ctx, keyProducers, 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("list producer groups: %w", err)
	}
	return names, nil
}

// HoldTransactions makes the transactions of a producer group answer
// ErrRecovering until RestoreTransactions. ErrFenced.
func (db *DB) HoldTransactions(ctx context.Context, group string, term int64) error {
	if _, err := db.change(ctx, scriptHoldTransactions, transactionKeys(ProducerKeyOf(group))[:1], formatNumber(term)); err != nil {
		return fmt.Errorf("hold transactions of %s: %w", group, err)
	}
	return nil
}

// RestoreTransactions replaces the transactions of a producer group; until it
// returns nil they answer ErrRecovering. It may be repeated after any error.
// ErrFenced: a newer recovery took over.
func (db *DB) RestoreTransactions(ctx context.Context, group string, term int64, all []Transaction) error {
	if err := db.HoldTransactions(ctx, group, term); err != nil {
		return err
	}
	keys := transactionKeys(ProducerKeyOf(group))
	step := func(args ...any) error {
		if _, err := db.change(ctx, scriptRestoreTransactions, keys, append([]any{formatNumber(term)}, args...)...); err != nil {
			return fmt.Errorf("restore transactions of %s: %w", group, err)
		}
		return nil
	}
	if err := step("clear"); err != nil {
		return err
	}
	for part := range slices.Chunk(all, 100) {
		args := []any{"add"}
		for i := range part {
			t := &part[i]
			text, err := json.Marshal(t)
			if err != nil {
				return err
			}
			at := t.When().args()
			args = append(args, string(t.ID[:]), text, at[0], at[1])
		}
		if err := step(args...); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		last := all[len(all)-1].CreatedAt
		if err := db.commits.ZAdd(ctx, keyProducers, redis.Z{Score: float64(last), Member: group}).Err(); err != nil {
			return fmt.Errorf("register producer group %s: %w", group, err)
		}
	}
	return step("open")
}
