// Command bucketmq is BucketMQ's one binary: the servers (serve, gateway,
// coordinator), a command line for topics and messages, and its tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/objstore"
)

// Exit codes, told by `bucketmq help`.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitInterrupted = 130
)

const description = `A message queue over HTTP, on an object store and Redis.

Run "bucketmq serve" and send messages to http://127.0.0.1:8080.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no answer from the server, 130 interrupted.`

// commands is the command line. Every flag of a server is also an environment
// variable, BUCKETMQ_ and its name in capitals; help shows it.
type commands struct {
	Serve       serveCmd       `cmd:"" help:"Run everything in one process, with files in one directory and no other service."`
	Gateway     gatewayCmd     `cmd:"" help:"Run a gateway (HTTP and WebSocket) against Redis and an S3-compatible store."`
	Coordinator coordinatorCmd `cmd:"" help:"Run the background work against Redis and an S3-compatible store."`
	Produce     produceCmd     `cmd:"" help:"Send messages: the arguments, or standard input line by line."`
	Recall      recallCmd      `cmd:"" help:"Take a delayed message away before it is due."`
	Request     requestCmd     `cmd:"" help:"Send a message and wait for the reply to it."`
	Reply       replyCmd       `cmd:"" help:"Reply to a request."`
	Consume     consumeCmd     `cmd:"" help:"Print a topic's messages, and with --follow keep printing new ones."`
	Topic       topicCmd       `cmd:"" help:"Create, list, describe, update and delete topics."`
	Group       groupCmd       `cmd:"" help:"Look after consumer groups: definitions, members, progress, settings."`
	Tx          txCmd          `cmd:"" help:"Transactions: messages of several topics that become readable together, or never."`
	Bench       benchCmd       `cmd:"" help:"Measure a server, or one started for the purpose."`
	Fsck        fsckCmd        `cmd:"" help:"Read a bucket or a data directory and report every block and every fault. Changes nothing."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
	Help        helpCmd        `cmd:"" help:"Explain a command and each of its flags."`
}

// environment is what a command may touch besides its own flags.
type environment struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

func main() {
	ctx, stop := interruptible(context.Background())
	defer stop()
	os.Exit(run(&environment{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}, os.Args[1:]))
}

// run executes one command line and returns its exit code.
func run(env *environment, args []string) int {
	parser, err := newParser(env)
	if err != nil {
		fmt.Fprintln(env.stderr, "bucketmq:", err)
		return exitFailure
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	line, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(env.stderr, "bucketmq: %v\n", err)
		fmt.Fprintf(env.stderr, "Run %q for the flags.\n", strings.TrimSpace("bucketmq help "+commandOf(args)))
		return exitUsage
	}
	return exitCode(env, line.Run(env, parser))
}

func newParser(env *environment) (*kong.Kong, error) {
	return kong.New(&commands{},
		kong.Name("bucketmq"),
		kong.Description(description),
		kong.Writers(env.stdout, env.stderr),
		kong.ConfigureHelp(kong.HelpOptions{NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ValueFormatter(helpWithDefault),
		kong.PostBuild(nameEnvironment),
	)
}

// nameEnvironment gives every flag of the servers, and the address flags of
// the clients, its BUCKETMQ_ variable. A load is never sent somewhere because
// of a variable.
func nameEnvironment(k *kong.Kong) error {
	servers := []string{"serve", "gateway", "coordinator", "fsck"}
	clients := []string{"url", "token"}
	var visit func(node *kong.Node)
	visit = func(node *kong.Node) {
		if node.Name == "bench" {
			return
		}
		for _, flag := range node.Flags {
			if flag.Name == "help" || len(flag.Envs) > 0 {
				continue
			}
			if slices.Contains(servers, node.Name) || slices.Contains(clients, flag.Name) {
				name := "BUCKETMQ_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
				flag.Envs = []string{name}
				flag.Value.Tag.Envs = flag.Envs
			}
		}
		for _, child := range node.Children {
			visit(child)
		}
	}
	visit(k.Model.Node)
	return nil
}

// helpWithDefault shows what a flag is when nobody sets it.
func helpWithDefault(value *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(value)
	if value.Default == "" || value.Default == "false" {
		return text
	}
	return strings.TrimSuffix(text, ".") + ". Default " + value.Default + "."
}

// exitCode tells err, once and for people, and turns it into an exit code.
func exitCode(env *environment, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled) && env.ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, errSilent):
		return exitFailure
	}
	fmt.Fprintln(env.stderr, "bucketmq:", err)
	if hint := hintFor(err); hint != "" {
		fmt.Fprintln(env.stderr, hint)
	}
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, client.ErrUnreachable):
		return exitUnreachable
	}
	return exitFailure
}

// errSilent is a failure that was already told.
var errSilent = errors.New("failed")

// usageError is a mistake in the command line that only the command can see.
type usageError string

func (e usageError) Error() string { return string(e) }

func hintFor(err error) string {
	var problem *client.Problem
	switch {
	case errors.As(err, &problem) && problem.Code == "topic_not_found":
		return "Create it with: bucketmq topic create NAME"
	case errors.As(err, &problem) && problem.Code == "group_not_found":
		return "Create it with: bucketmq group create NAME"
	case errors.As(err, &problem) && problem.Code == "group_exists":
		return "Change it with: bucketmq group update NAME; or pass --if-not-exists."
	case errors.As(err, &problem) && problem.Code == "topic_exists":
		return "Change it with: bucketmq topic update NAME; or pass --if-not-exists."
	case errors.Is(err, objstore.ErrNoBucket):
		return "Create it first, or pass --s3-create-bucket."
	case errors.Is(err, syscall.EADDRINUSE):
		return "Choose other addresses with --listen and --management-listen."
	case errors.Is(err, client.ErrUnreachable):
		return "Is a server running? Start one with: bucketmq serve; or name it with --url or BUCKETMQ_URL."
	}
	return ""
}

// commandOf is the leading words of args, for pointing at a command's help.
func commandOf(args []string) string {
	n := 0
	for n < len(args) && n < 2 && args[n] != "" && args[n][0] != '-' {
		n++
	}
	if n == 2 && args[0] != "topic" && args[0] != "group" && args[0] != "bench" {
		n = 1
	}
	return strings.Join(args[:n], " ")
}

// sameSignal is how long after a signal another one is taken for the same:
// timeout(1) sends each to the process and to its group.
const sameSignal = 200 * time.Millisecond

// interruptible returns a context that ends with the first SIGINT or SIGTERM.
// A second one ends the process at once.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var stopped atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		var first time.Time
		for range signals {
			switch {
			case stopped.Load():
				return
			case first.IsZero():
				first = time.Now()
				cancel()
			case time.Since(first) > sameSignal:
				os.Exit(exitInterrupted)
			}
		}
	}()
	return ctx, func() {
		stopped.Store(true)
		signal.Stop(signals)
		close(signals)
		<-done
		cancel()
	}
}
