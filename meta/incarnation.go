package meta

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// incarnation names the server processes that hold the state: it changes when
// one of them restarts or is replaced. Empty: embedded, or a service that does
// not tell.
func (db *DB) incarnation(ctx context.Context) (string, error) {
	if db.server != nil {
		return "", nil // it ends with this process
	}
	cluster, ok := db.reads.(*redis.ClusterClient)
	if !ok {
		return runID(ctx, db.reads)
	}
	var mu sync.Mutex
	var ids []string // guarded by mu
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		id, err := runID(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, id)
		return err
	})
	slices.Sort(ids)
	return strings.Join(ids, " "), err
}

func runID(ctx context.Context, node redis.Cmdable) (string, error) {
	info, err := node.Info(ctx, "server").Result()
	if err != nil {
		return "", fmt.Errorf("info server: %w", err)
	}
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "run_id:"); ok {
			return id, nil
		}
	}
	return "", nil
}
