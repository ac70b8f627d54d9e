package meta

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// evictionEvery is how long Ready believes the last check of the eviction policy.
	evictionEvery = 15 * time.Second
	// memoryWarning is the MemoryRatio from which on Redis is called nearly full.
	memoryWarning = 0.75
)

// Ready is Ping and, every few seconds, a new check of the eviction policy and
// of Redis' memory.
func (db *DB) Ready(ctx context.Context) error {
	if err := db.Ping(ctx); err != nil || db.server != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if time.Since(db.evictionAt) >= evictionEvery {
		memory, err := db.inspect(ctx)
		if err != nil && !errors.Is(err, ErrEviction) {
			return err
		}
		if memory >= memoryWarning && db.memory < memoryWarning {
			db.log.Warn("redis is nearly full; when it is full nothing can be sent", "used_of_maxmemory", memory)
		}
		db.evictionErr, db.evictionAt, db.memory = err, time.Now(), memory
	}
	return db.evictionErr
}

// MemoryRatio is the used part of maxmemory when Ready last looked, of the
// fullest node; 0 where Redis has no maxmemory or is embedded.
func (db *DB) MemoryRatio() float64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.memory
}

// inspect asks every node. INFO, because CONFIG is often forbidden.
func (db *DB) inspect(ctx context.Context) (memory float64, err error) {
	cluster, ok := db.reads.(*redis.ClusterClient)
	if !ok {
		return inspectNode(ctx, db.reads)
	}
	var mu sync.Mutex
	err = cluster.ForEachShard(ctx, func(ctx context.Context, node *redis.Client) error {
		ratio, err := inspectNode(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		memory = max(memory, ratio)
		return err
	})
	mu.Lock()
	defer mu.Unlock()
	return memory, err
}

func inspectNode(ctx context.Context, node redis.Cmdable) (memory float64, err error) {
	info, err := node.Info(ctx, "memory").Result()
	if err != nil {
		return 0, fmt.Errorf("info memory: %w", err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	used, _ := parseNumber(fields["used_memory"])
	if limit, _ := parseNumber(fields["maxmemory"]); limit > 0 {
		memory = float64(used) / float64(limit)
	}
	switch policy := fields["maxmemory_policy"]; policy {
	case "noeviction":
		return memory, nil
	case "":
		return memory, fmt.Errorf("%w: redis does not tell its policy", ErrEviction)
	default:
		return memory, fmt.Errorf("%w, not %s", ErrEviction, policy)
	}
}
