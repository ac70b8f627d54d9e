// Package meta decides what all processes agree on: topics, the index of every
// queue, leases and the registry of writers. It keeps them in Redis and changes
// them by scripts that check everything before they write anything.
package meta

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Modes of Options.
const (
	ModeStandalone = "standalone"
	ModeSentinel   = "sentinel"
	ModeCluster    = "cluster"
)

// Options say how to reach Redis. The zero value of a field is its default.
type Options struct {
	Mode             string   // standalone (default), sentinel or cluster
	Addrs            []string // host:port; standalone: one
	Username         string
	Password         string
	DB               int    // not in a cluster
	MasterName       string // sentinel only, as are the next two: they log in to the sentinels themselves
	SentinelUsername string
	SentinelPassword string
	TLS              *tls.Config
	Log              *slog.Logger // default slog.Default()
}

// DB is a connection to Redis. Its methods may be called concurrently.
type DB struct {
	reads   redis.UniversalClient // repeats a command after a fault of the connection
	commits redis.UniversalClient // never repeats
	log     *slog.Logger
	server  *embedded // nil when Redis is another process

	mu          sync.Mutex
	evictionAt  time.Time           // guarded by mu: when the policy was checked
	evictionErr error               // guarded by mu: what that check said
	memory      float64             // guarded by mu: MemoryRatio at that check
	beats       map[uuid.UUID]int64 // guarded by mu: count of each writer's last beat
}

// Open connects, refuses a Redis that may evict keys (ErrEviction), and loads
// the scripts.
func Open(ctx context.Context, o Options) (*DB, error) {
	db, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := db.Ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open redis: %w", err), db.Close())
	}
	return db, nil
}

func open(ctx context.Context, o Options) (*DB, error) {
	reads, err := o.client(0)
	if err != nil {
		return nil, err
	}
	commits, err := o.client(-1)
	if err != nil {
		return nil, err
	}
	db := &DB{reads: reads, commits: commits, log: o.Log, beats: map[uuid.UUID]int64{}}
	if db.log == nil {
		db.log = slog.Default()
	}
	for _, s := range hotScripts {
		if err := s.Load(ctx, db.reads).Err(); err != nil {
			return nil, errors.Join(fmt.Errorf("redis: load scripts: %w", err), db.Close())
		}
	}
	return db, nil
}

// client makes one of the two clients. The separate pool for pipelines is off:
// commits have a client of their own already, and connections stay countable.
func (o Options) client(retries int) (redis.UniversalClient, error) {
	u := &redis.UniversalOptions{
		Addrs:                    o.Addrs,
		Username:                 o.Username,
		Password:                 o.Password,
		DB:                       o.DB,
		TLSConfig:                o.TLS,
		MaxRetries:               retries,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		PipelinePoolSize:         -1,
		DialerRetries:            1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	switch o.Mode {
	case "", ModeStandalone:
		if len(o.Addrs) != 1 {
			return nil, fmt.Errorf("meta: a standalone redis has one address, not %d", len(o.Addrs))
		}
	case ModeSentinel:
		if o.MasterName == "" {
			return nil, errors.New("meta: sentinel needs the name of the master")
		}
		u.MasterName = o.MasterName
		u.SentinelUsername, u.SentinelPassword = o.SentinelUsername, o.SentinelPassword
	case ModeCluster:
		if o.DB != 0 {
			return nil, errors.New("meta: a redis cluster has no databases to choose from")
		}
		u.IsClusterMode = true
	default:
		return nil, fmt.Errorf("meta: unknown redis mode %q", o.Mode)
	}
	return redis.NewUniversalClient(u), nil
}

// Close ends all connections and an embedded server.
func (db *DB) Close() error {
	err := errors.Join(db.reads.Close(), db.commits.Close())
	if db.server != nil {
		db.server.close()
	}
	return err
}

// Ping says whether Redis answers.
func (db *DB) Ping(ctx context.Context) error { return db.reads.Ping(ctx).Err() }

func parseNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

func formatNumber[N int64 | uint64 | uint32 | int](n N) string {
	return strconv.FormatUint(uint64(n), 10)
}
