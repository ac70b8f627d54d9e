package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
)

type serveCmd struct {
	serverFlags
	Data   string        `default:"./bucketmq-data" placeholder:"DIR" help:"Directory that holds everything. Made when it does not exist; one process at a time."`
	Linger time.Duration `default:"10ms" placeholder:"DURATION" help:"How long a message may wait for others to share its segment, at most. 0: not at all."`
	journalFlags
	coordinatorFlags
	processFlags
}

// Run serves until the process is told to stop.
func (c *serveCmd) Run(env *environment) error {
	p := &process{
		role: "serve", env: env, http: c.serverFlags, flags: c.processFlags,
		gateway: true, coordinator: true, background: c.coordinatorFlags,
		journal: c.journalFlags.options(c.Linger),
		place:   "data in " + c.Data,
	}
	p.journal.Exclusive = true // the store's lock keeps every other process out
	p.open = func(ctx context.Context, _ *slog.Logger) (store, *meta.DB, error) {
		files, err := objstore.OpenFilesystem(filepath.Clean(c.Data))
		if err != nil {
			return nil, nil, err
		}
		db, err := meta.OpenEmbedded(ctx)
		if err != nil {
			return nil, nil, closing(files, err)
		}
		return files, db, nil
	}
	return p.run()
}

type gatewayCmd struct {
	serverFlags
	sharedFlags
}

// Run serves until the process is told to stop.
func (c *gatewayCmd) Run(env *environment) error {
	p := c.sharedFlags.process("gateway", env)
	p.http, p.gateway = c.serverFlags, true
	return p.run()
}

type coordinatorCmd struct {
	ManagementListen string `default:"127.0.0.1:9191" placeholder:"HOST:PORT" help:"Address of /healthz, /readyz, /metrics and /debug/pprof. Empty: none."`
	Insecure         bool   `help:"Allow an address that others can reach although there is no authentication."`
	coordinatorFlags
	sharedFlags
}

// Run does background work until the process is told to stop.
func (c *coordinatorCmd) Run(env *environment) error {
	p := c.sharedFlags.process("coordinator", env)
	p.http = serverFlags{ManagementListen: c.ManagementListen, Insecure: c.Insecure}
	p.coordinator, p.background = true, c.coordinatorFlags
	return p.run()
}

// sharedFlags are the flags of a process that works on a shared Redis and
// bucket.
type sharedFlags struct {
	redisFlags
	s3Flags
	Linger time.Duration `default:"100ms" placeholder:"DURATION" help:"How long a message may wait for others to share its segment, at most. 0: not at all."`
	journalFlags
	processFlags
}

func (f sharedFlags) process(role string, env *environment) *process {
	return &process{
		role: role, env: env, flags: f.processFlags,
		journal: f.journalFlags.options(f.Linger),
		place:   "bucket " + f.S3Bucket + " at " + f.S3Endpoint,
		open:    f.open,
	}
}

func (f sharedFlags) open(ctx context.Context, log *slog.Logger) (store, *meta.DB, error) {
	bucket, err := f.s3Flags.open(ctx, log)
	if err != nil {
		return nil, nil, err
	}
	if err := bucket.Probe(ctx); err != nil {
		return nil, nil, closing(bucket, err)
	}
	options, err := meta.ParseURL(f.Redis)
	if err != nil {
		return nil, nil, closing(bucket, usageError(err.Error()))
	}
	options.Log = log
	db, err := meta.Open(ctx, options)
	if err != nil {
		return nil, nil, closing(bucket, err)
	}
	return bucket, db, nil
}

func (f s3Flags) open(ctx context.Context, log *slog.Logger) (*objstore.S3, error) {
	return objstore.OpenS3(ctx, objstore.S3Options{
		Endpoint: f.S3Endpoint, Bucket: f.S3Bucket, Region: f.S3Region, Prefix: f.S3Prefix,
		AccessKey: f.S3AccessKey, SecretKey: f.S3SecretKey, CreateBucket: f.S3Create, Log: log,
	})
}

func (f journalFlags) options(linger time.Duration) journal.Options {
	if linger == 0 {
		linger = -1 // the journal's word for none
	}
	return journal.Options{
		Linger:       linger,
		SegmentBytes: int64(f.SegmentBytes),
		BufferBytes:  int64(f.BufferBytes),
		CacheBytes:   int64(f.CacheBytes),
	}
}

// store is an object store that a process owns.
type store interface {
	objstore.Store
	objstore.Metered
	Close() error
}

// closing closes s because of err.
func closing(s store, err error) error {
	if closed := s.Close(); closed != nil {
		return fmt.Errorf("%w (and close: %w)", err, closed)
	}
	return err
}
