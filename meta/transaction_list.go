package meta

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Agenda is what is to be done about the transactions of a producer group.
type Agenda struct {
	Due  []Transaction // first what has waited longest
	Next int64         // when the first one after those listed is due; 0: none
}

// DueTransactions lists up to most transactions of a group about which something
// is to be done at a time. ErrRecovering.
func (db *DB) DueTransactions(ctx context.Context, k ProducerKey, now int64, most int) (Agenda, error) {
	keys := transactionKeys(k)
	first, err := db.reads.ZRangeWithScores(ctx, keys[2], 0, int64(most)).Result()
	if err != nil {
		return Agenda{}, fmt.Errorf("due transactions: %w", err)
	}
	var a Agenda
	var ids []string
	for _, z := range first {
		if int64(z.Score) > now || len(ids) == most {
			a.Next = int64(z.Score)
			break
		}
		id, _ := z.Member.(string)
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return a, db.settledTransactions(ctx, keys[0])
	}
	a.Due, err = db.transactionsByID(ctx, keys[0], ids)
	return a, err
}

// ForgottenTransactions lists up to most transactions of a group that are of no
// interest any more, or beyond the keep that are kept, first the oldest.
func (db *DB) ForgottenTransactions(ctx context.Context, k ProducerKey, now, keep int64, most int) ([]Transaction, error) {
	keys := transactionKeys(k)
	pipe := db.reads.Pipeline()
	all := pipe.ZCard(ctx, keys[3])
	old := pipe.ZRangeWithScores(ctx, keys[3], 0, int64(most)-1)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("forgotten transactions: %w", err)
	}
	var ids []string
	for i, z := range old.Val() {
		if int64(z.Score) > now && int64(i) >= all.Val()-keep {
			break
		}
		id, _ := z.Member.(string)
		ids = append(ids, id)
	}
	return db.transactionsByID(ctx, keys[0], ids)
}

// transactionsByID reads transactions; those that have just gone are left out.
func (db *DB) transactionsByID(ctx context.Context, key string, ids []string) ([]Transaction, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	values, err := db.reads.HMGet(ctx, key, append([]string{"state"}, ids...)...).Result()
	if err != nil {
		return nil, fmt.Errorf("read transactions: %w", err)
	}
	if state, _ := values[0].(string); state == "restoring" {
		return nil, fmt.Errorf("read transactions: %w", ErrRecovering)
	}
	all := make([]Transaction, 0, len(ids))
	for _, value := range values[1:] {
		text, _ := value.(string)
		if text == "" {
			continue
		}
		t, err := parseTransaction(text)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Transactions lists up to limit transactions of a group, the oldest first, whose
// ids sort after one. ErrRecovering.
func (db *DB) Transactions(ctx context.Context, k ProducerKey, after uuid.UUID, limit int) ([]Transaction, error) {
	keys := transactionKeys(k)
	by := &redis.ZRangeBy{Min: "-", Max: "+", Count: int64(limit)}
	if after != uuid.Nil {
		by.Min = "(" + string(after[:])
	}
	ids, err := db.reads.ZRangeByLex(ctx, keys[1], by).Result()
	if err != nil {
		return nil, fmt.Errorf("list transactions: %w", err)
	}
	if len(ids) == 0 {
		return nil, db.settledTransactions(ctx, keys[0])
	}
	return db.transactionsByID(ctx, keys[0], ids)
}

// settledTransactions says whether it means something that a group has none:
// ErrRecovering, or nil.
func (db *DB) settledTransactions(ctx context.Context, key string) error {
	if err := db.missingTransaction(ctx); !errors.Is(err, ErrTransactionNotFound) {
		return err
	}
	state, err := db.reads.HGet(ctx, key, "state").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("transactions: %w", err)
	}
	if state == "restoring" {
		return fmt.Errorf("transactions: %w", ErrRecovering)
	}
	return nil
}

// RegisterProducers notes that a producer group has transactions. It comes before
// the first of them. ErrRecovering.
func (db *DB) RegisterProducers(ctx context.Context, group string, now int64) error {
	if _, err := db.change(ctx, scriptRegisterProducers, []string{keyState, keyProducers}, group, strconv.FormatInt(now, 10)); err != nil {
		return fmt.Errorf("register producer group %s: %w", group, err)
	}
	return nil
}

// ForgetProducers takes a producer group off the list, unless it has begun
// something since a time.
func (db *DB) ForgetProducers(ctx context.Context, group string, since int64) error {
	if _, err := db.change(ctx, scriptForgetProducers, []string{keyProducers}, group, strconv.FormatInt(since, 10)); err != nil {
		return fmt.Errorf("forget producer group %s: %w", group, err)
	}
	return nil
}

// ProducerGroup is how many transactions a producer group has.
type ProducerGroup struct {
	Name           string
	LastBegun      int64
	Undecided      int64 // or decided and not settled
	Kept           int64 // decided ones that are remembered
	NextOnAgenda   int64 // when something is to be done; 0: nothing
	NextForgetting int64
}

// ProducerGroups returns up to most producer groups that have, or lately had,
// transactions, those that began something longest ago first, without the first
// skip of them; and how many there are.
func (db *DB) ProducerGroups(ctx context.Context, skip, most int) (groups []ProducerGroup, total int, err error) {
	pipe := db.reads.Pipeline()
	names := pipe.ZRangeWithScores(ctx, keyProducers, int64(skip), int64(skip+most)-1)
	count := pipe.ZCard(ctx, keyProducers)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, 0, fmt.Errorf("list producer groups: %w", err)
	}
	pipe = db.reads.Pipeline()
	var cards []*redis.IntCmd
	var firsts []*redis.ZSliceCmd
	for _, z := range names.Val() {
		name, _ := z.Member.(string)
		groups = append(groups, ProducerGroup{Name: name, LastBegun: int64(z.Score)})
		for _, key := range transactionKeys(ProducerKeyOf(name))[2:] {
			cards = append(cards, pipe.ZCard(ctx, key))
			firsts = append(firsts, pipe.ZRangeWithScores(ctx, key, 0, 0))
		}
	}
	if len(groups) == 0 {
		return nil, int(count.Val()), nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, 0, fmt.Errorf("look at producer groups: %w", err)
	}
	for i := range groups {
		g := &groups[i]
		g.Undecided, g.Kept = cards[2*i].Val(), cards[2*i+1].Val()
		g.NextOnAgenda, g.NextForgetting = firstScore(firsts[2*i]), firstScore(firsts[2*i+1])
	}
	return groups, int(count.Val()), nil
}

func firstScore(cmd *redis.ZSliceCmd) int64 {
	if first := cmd.Val(); len(first) > 0 {
		return int64(first[0].Score)
	}
	return 0
}
