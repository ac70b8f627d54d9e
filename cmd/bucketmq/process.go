package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// process is one long-running BucketMQ process in any mix of roles. It starts
// its parts bottom-up and stops them top-down.
type process struct {
	role        string
	env         *environment
	http        serverFlags
	flags       processFlags
	journal     journal.Options
	gateway     bool
	coordinator bool
	background  coordinatorFlags // with coordinator
	place       string           // where the data is, for the banner
	open        func(ctx context.Context, log *slog.Logger) (store, *meta.DB, error)

	log        *slog.Logger
	registry   *prometheus.Registry
	management *management
	public     net.Addr // where the gateway listens; nil without one
}

// run serves until the environment's context ends, or a part fails.
func (p *process) run() error {
	if err := p.check(); err != nil {
		return err
	}
	p.log = newLog(p.flags, p.env.stderr).With("role", p.role)
	p.registry = newRegistry()
	ctx := p.env.ctx

	if p.flags.OTLPEndpoint != "" {
		stop, err := startTracing(ctx, p.flags.OTLPEndpoint, p.role)
		if err != nil {
			return err
		}
		defer p.within("last traces", time.Second, stop)
	}
	var err error
	if p.management, err = startManagement(p.http.ManagementListen, p.registry, p.log); err != nil {
		return err
	}
	defer p.within("management listener", time.Second, p.management.stop)

	files, db, err := p.open(ctx, p.log)
	if err != nil {
		return err
	}
	defer p.within("object store", time.Second, func(context.Context) error { return files.Close() })
	defer p.within("metadata", time.Second, func(context.Context) error { return db.Close() })
	p.registry.MustRegister(storeCollector{files}, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "bucketmq", Name: "redis_memory_ratio",
		Help: "Used part of Redis' maxmemory as of the last readiness check, of the fullest node; 0 without maxmemory. Alarm at 0.75.",
	}, db.MemoryRatio))
	return p.serve(ctx, files, db)
}

// serve runs the journal and what stands on it.
func (p *process) serve(ctx context.Context, files store, db *meta.DB) error {
	options := p.journal
	options.Store, options.Meta, options.Log, options.Registry = files, db, p.log, p.registry
	j, err := journal.Open(ctx, options)
	if err != nil {
		return err
	}
	var parts parts
	parts.start("journal", func() error { return j.Run(context.WithoutCancel(ctx)) })
	stopCoordinator := func() {}
	if p.coordinator {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		done := parts.start("coordinator", func() error {
			return coordinator.Run(ctx, coordinator.Options{
				Journal: j, Meta: db, DeadAfter: p.background.WriterTimeout, Lease: p.background.LeaderLease,
				Log: p.log, Registry: p.registry,
			})
		})
		stopCoordinator = func() { cancel(); <-done }
	}
	stopGateway := func(context.Context) error { return nil }
	checks := []gateway.Check{{Name: "redis", Ask: db.Ready}}
	if p.gateway {
		g, err := p.startGateway(ctx, &parts, j, db, files)
		if err != nil {
			stopCoordinator()
			return errors.Join(err, j.Close(context.WithoutCancel(ctx)))
		}
		stopGateway, checks = g.Shutdown, g.Checks()
	}
	p.management.ready(checks...)
	p.announce()

	failure := parts.wait(ctx) // nil: told to stop
	if failure == nil {
		p.log.Info("stopping", "grace", p.flags.ShutdownGrace.String())
	}
	p.management.unready()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.flags.ShutdownGrace)
	defer cancel()
	failure = errors.Join(failure, stopGateway(grace))
	stopCoordinator()
	failure = errors.Join(failure, j.Close(grace))
	parts.await()
	if failure == nil {
		p.log.Info("stopped")
	}
	return failure
}

// startGateway serves HTTP on its listener; the returned function ends that: it
// answers what waits, says goodbye to sockets, then closes.
func (p *process) startGateway(ctx context.Context, parts *parts, j *journal.Journal, db *meta.DB, files store) (*gateway.Server, error) {
	g, err := gateway.New(gateway.Options{
		Journal: j, Meta: db, Listen: p.http.Listen, Insecure: p.http.Insecure,
		AllowedOrigins: p.http.AllowedOrigin, CommitInterval: p.http.CommitInterval, Probe: storeProbe(files), Tracing: p.flags.OTLPEndpoint != "",
		Log: p.log, Registry: p.registry, Version: version,
	})
	if err != nil {
		return nil, err
	}
	if p.public, err = g.Listen(ctx); err != nil {
		return nil, err
	}
	parts.start("gateway", func() error { return g.Run(context.WithoutCancel(ctx)) })
	return g, nil
}

func (p *process) check() error {
	if p.gateway {
		if err := checkExposure("listen", p.http.Listen, p.http.Insecure); err != nil {
			return err
		}
		if err := p.http.check(); err != nil {
			return err
		}
	}
	if p.coordinator {
		if err := p.background.check(); err != nil {
			return err
		}
	}
	if p.http.ManagementListen == "" {
		return nil
	}
	return checkExposure("management-listen", p.http.ManagementListen, p.http.Insecure)
}

// announce says where the process serves: as a log record, and to people who
// watch a terminal.
func (p *process) announce() {
	attrs := []any{"version", version}
	banner := "BucketMQ " + version + " " + p.role + " is ready"
	if p.public != nil {
		url := "http://" + p.public.String()
		attrs = append(attrs, "url", url)
		banner += " on " + url
	}
	if m := p.management.url(); m != "" {
		attrs = append(attrs, "management", m)
		banner += "; metrics on " + m + "/metrics"
	}
	p.log.Info("ready", attrs...)
	if p.flags.LogFormat == "text" {
		fmt.Fprintln(p.env.stdout, banner+"; "+p.place)
	}
}

// within runs the last step of a part, with a limit, and logs what goes wrong.
func (p *process) within(name string, limit time.Duration, step func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := step(ctx); err != nil {
		p.log.Warn("close "+name, "err", err)
	}
}
