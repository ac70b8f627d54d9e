package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/bucketmq/bucketmq/bench"
)

type benchCmd struct {
	Produce    benchProduceCmd `cmd:"" help:"Durable sends per second, their latency and what they cost."`
	Read       benchReadCmd    `cmd:"" help:"Reading back what is stored, from the beginning."`
	Tail       benchTailCmd    `cmd:"" help:"Fan-out: one producer, many subscribers that wait."`
	E2E        benchE2ECmd     `cmd:"" name:"e2e" help:"From a producer to a subscriber, message by message."`
	Goals      benchGoalsCmd   `cmd:"" help:"Raw limits of this machine, what the server makes of them, and the goals; needs redis-server and versitygw."`
	NullServer nullServerCmd   `cmd:"" hidden:"" help:"Serve an empty handler, for comparison."`
}

// benchFlags are shared by the four workloads.
type benchFlags struct {
	URL           string        `placeholder:"URL" help:"The server to measure. Without it one is started in a temporary directory, or as a gateway when --redis and --s3-endpoint are given."`
	ManagementURL string        `placeholder:"URL" help:"The server's management listener, to read its CPU, allocations and store requests."`
	Token         string        `placeholder:"TOKEN" help:"Bearer token to send."`
	Redis         string        `placeholder:"URL" help:"The server's Redis, to measure its memory; redis:// form."`
	S3Endpoint    string        `name:"s3-endpoint" placeholder:"URL" help:"Object store of the gateway to start."`
	S3Bucket      string        `name:"s3-bucket" placeholder:"NAME" help:"Bucket of the gateway to start."`
	S3AccessKey   string        `name:"s3-access-key" env:"BUCKETMQ_S3_ACCESS_KEY" placeholder:"KEY" help:"Access key id of the gateway to start."`
	S3SecretKey   string        `name:"s3-secret-key" env:"BUCKETMQ_S3_SECRET_KEY" placeholder:"SECRET" help:"Secret access key of the gateway to start."`
	Size          int           `default:"1024" placeholder:"BYTES" help:"Bytes in a message."`
	Batch         int           `default:"100" placeholder:"N" help:"Messages in a request."`
	Connections   int           `default:"64" placeholder:"N" help:"Connections: producers, readers or subscribers."`
	Rate          float64       `placeholder:"N" help:"Messages per second. 0: as many as go (tail 1000, e2e 100)."`
	Duration      time.Duration `default:"5s" placeholder:"DURATION" help:"How long to measure."`
	Queues        int           `default:"8" placeholder:"N" help:"Queues of the topic that is made for it."`
}

type benchProduceCmd struct {
	benchFlags
	Mode string `default:"framed" enum:"json,framed,single" placeholder:"json|framed|single" help:"How messages are sent: JSON batches, framed batches, or one raw message per request."`
}

// Run measures and prints one line of JSON.
func (c *benchProduceCmd) Run(env *environment) error {
	return c.measure(env, c.Mode, "", bench.Produce)
}

type benchReadCmd struct {
	benchFlags
	Mode string `default:"framed" enum:"json,framed,single" placeholder:"json|framed|single" help:"How messages are read: JSON pages, framed pages, or one message per request."`
}

// Run measures and prints one line of JSON.
func (c *benchReadCmd) Run(env *environment) error {
	return c.measure(env, c.Mode, "", bench.Read)
}

type benchTailCmd struct {
	benchFlags
	Via string `default:"ws" enum:"ws,sse,poll" placeholder:"ws|sse|poll" help:"How subscribers wait: WebSocket, server-sent events or long poll."`
}

// Run measures and prints one line of JSON.
func (c *benchTailCmd) Run(env *environment) error {
	return c.measure(env, bench.ModeJSON, c.Via, bench.Tail)
}

type benchE2ECmd struct {
	benchFlags
	Via string `default:"ws" enum:"ws,sse,poll" placeholder:"ws|sse|poll" help:"How the subscriber waits: WebSocket, server-sent events or long poll."`
}

// Run measures and prints one line of JSON.
func (c *benchE2ECmd) Run(env *environment) error {
	return c.measure(env, bench.ModeJSON, c.Via, bench.EndToEnd)
}

func (f benchFlags) measure(env *environment, mode, via string, workload func(context.Context, bench.Options) (*bench.Result, error)) error {
	server := bench.Server{URL: f.URL, Management: f.ManagementURL, Redis: f.Redis, Token: f.Token}
	if f.URL == "" {
		child, stop, err := f.start(env.ctx)
		if err != nil {
			return err
		}
		defer stop()
		server.URL, server.Management = child.URL, child.Management
	}
	r, err := workload(env.ctx, bench.Options{
		Server: server, Mode: mode, Via: via, Message: f.Size, Batch: f.Batch,
		Workers: f.Connections, Rate: f.Rate, Length: f.Duration, Queues: f.Queues,
	})
	if err != nil {
		return err
	}
	return printJSON(env.stdout, r)
}

// start runs a server of its own for the measurement.
func (f benchFlags) start(ctx context.Context) (*bench.Child, func(), error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	if f.S3Endpoint != "" {
		if f.Redis == "" || f.S3Bucket == "" {
			return nil, nil, usageError("--s3-endpoint needs --s3-bucket and --redis")
		}
		env := []string{"BUCKETMQ_S3_ACCESS_KEY=" + f.S3AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + f.S3SecretKey}
		child, err := bench.StartServer(ctx, binary, env, "gateway",
			"--redis", f.Redis, "--s3-endpoint", f.S3Endpoint, "--s3-bucket", f.S3Bucket)
		if err != nil {
			return nil, nil, err
		}
		return child, func() { _ = child.Stop() }, nil
	}
	dir, err := os.MkdirTemp("", "bucketmq-bench-")
	if err != nil {
		return nil, nil, err
	}
	child, err := bench.StartServer(ctx, binary, nil, "serve", "--data", dir)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return child, func() { child.Kill(); _ = os.RemoveAll(dir) }, nil
}

type benchGoalsCmd struct {
	Rounds int           `default:"3" placeholder:"N" help:"Interleaved rounds; the median counts."`
	Step   time.Duration `default:"2s" placeholder:"DURATION" help:"Length of each measurement."`
	JSON   bool          `name:"json" help:"Print one JSON object per figure."`
	Strict bool          `help:"Fail when a goal is missed."`
}

// Run measures everything and prints a table.
func (c *benchGoalsCmd) Run(env *environment) error {
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	goals, err := bench.Goals(env.ctx, bench.GoalsOptions{Binary: binary, Rounds: c.Rounds, Step: c.Step, Log: env.stderr})
	if err != nil {
		return err
	}
	missed := false
	for _, g := range goals {
		missed = missed || g.Met != nil && !*g.Met
		if c.JSON {
			if err := printJSON(env.stdout, g); err != nil {
				return err
			}
		}
	}
	if !c.JSON {
		if err := bench.PrintGoals(env.stdout, goals); err != nil {
			return err
		}
	}
	if c.Strict && missed {
		return errSilent
	}
	return nil
}

type nullServerCmd struct {
	Listen           string `default:"127.0.0.1:0" help:"Address."`
	ManagementListen string `help:"Ignored; every server takes it."`
	LogFormat        string `default:"json" enum:"json,text" help:"Ignored; every server takes it."`
}

// Run serves the empty handler until it is told to stop.
func (c *nullServerCmd) Run(env *environment) error {
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: bench.Null(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	newLog(processFlags{LogFormat: "json"}, env.stderr).Info("ready", "url", "http://"+l.Addr().String())
	<-env.ctx.Done()
	err = server.Close()
	<-served
	return err
}
