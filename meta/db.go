// Package meta decides what all processes agree on: topics, the index of every
// queue, leases and the registry of writers. It keeps them in Redis and changes
// them by scripts that check everything before they write anything.
package meta

import (
	"context"
	"crypto/tls"
	"log/slog"
)

// Options say how to reach Redis. The zero value of a field is its default.
type Options struct {
	Mode       string   // standalone (default), sentinel or cluster
	Addrs      []string // host:port; standalone: one, or a unix socket path
	Username   string
	Password   string
	DB         int
	MasterName string // sentinel only
	TLS        *tls.Config
	Log        *slog.Logger // default slog.Default()
}

// DB is a connection to Redis. Its methods may be called concurrently.
type DB struct{}

// ParseURL reads redis://, rediss:// (one), sentinel://host,host/master and cluster://host,host.
func ParseURL(urls []string) (Options, error) { panic("unwritten") }

// Open connects, refuses a Redis that may evict keys, and loads the scripts.
func Open(ctx context.Context, o Options) (*DB, error) { panic("unwritten") }

// OpenEmbedded starts a Redis-compatible server inside this process, reachable
// on loopback with a random password only, and connects to it.
func OpenEmbedded(ctx context.Context) (*DB, error) { panic("unwritten") }

// Close ends all connections and an embedded server.
func (db *DB) Close() error { panic("unwritten") }

// Ping says whether Redis answers.
func (db *DB) Ping(ctx context.Context) error { panic("unwritten") }

// Ready is Ping and, every few seconds, a new check of the eviction policy.
func (db *DB) Ready(ctx context.Context) error { panic("unwritten") }
