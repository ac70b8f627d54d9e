package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Child is a server process started for a measurement.
type Child struct {
	Server
	// Ready is how long it took from the start of the process until it said
	// that it serves.
	Ready time.Duration
	Began time.Time

	cmd   *exec.Cmd
	mu    sync.Mutex
	last  []string // its last log lines; guarded by mu
	ended chan struct{}
}

// StartServer runs the bucketmq binary with args (a role and its flags) on free
// loopback ports and returns when it serves. Secrets go into env, never into
// args.
func StartServer(ctx context.Context, binary string, env []string, args ...string) (*Child, error) {
	return Start(ctx, binary, env, append(args, "--listen", "127.0.0.1:0", "--management-listen", "127.0.0.1:0")...)
}

// Start runs the bucketmq binary with args and returns when it is ready.
func Start(ctx context.Context, binary string, env []string, args ...string) (*Child, error) {
	c := &Child{cmd: exec.Command(binary, append(args, "--log-format", "json")...), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), env...)
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	c.Began = time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	ready := make(chan readyLine, 1)
	go c.follow(stderr, ready)
	select {
	case line := <-ready:
		c.Ready = time.Since(c.Began)
		c.URL, c.Management = line.URL, line.Management
		return c, nil
	case <-c.ended:
		return nil, fmt.Errorf("start %s: it ended at once: %s", args[0], c.tail())
	case <-time.After(60 * time.Second):
		c.Kill()
		return nil, fmt.Errorf("start %s: not ready after a minute: %s", args[0], c.tail())
	case <-ctx.Done():
		c.Kill()
		return nil, ctx.Err()
	}
}

// readyLine is the log record with which a server says that it serves.
type readyLine struct {
	Msg        string `json:"msg"`
	URL        string `json:"url"`
	Management string `json:"management"`
}

// follow reads the server's log until its end, so that it never blocks.
func (c *Child) follow(log io.Reader, ready chan<- readyLine) {
	defer close(c.ended)
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c.mu.Lock()
		if c.last = append(c.last, lines.Text()); len(c.last) > 20 {
			c.last = c.last[1:]
		}
		c.mu.Unlock()
		var line readyLine
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
			select {
			case ready <- line:
			default:
			}
		}
	}
	_ = c.cmd.Wait()
}

func (c *Child) tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.last, "\n")
}

// Signal sends the server a signal.
func (c *Child) Signal(signal os.Signal) error { return c.cmd.Process.Signal(signal) }

// Stop asks the server to stop and waits until it has.
func (c *Child) Stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop server: %w", err)
	}
	select {
	case <-c.ended:
		return nil
	case <-time.After(20 * time.Second):
		c.Kill()
		return fmt.Errorf("server did not stop: %s", c.tail())
	}
}

// Kill ends the server at once, as a crash would.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}
