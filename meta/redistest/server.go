// Package redistest starts private Redis servers for tests: real ones, one or
// more per test, that end with it.
package redistest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/bucketmq/bucketmq/meta"
)

// startWithin is how long a server may take to answer, stopWithin to end.
const (
	startWithin = 20 * time.Second
	stopWithin  = 10 * time.Second
)

// Server is a private redis-server of one test. It saves nothing. Its methods
// fail the test themselves and belong to the test's goroutine.
type Server struct {
	t      testing.TB
	binary string
	dir    string
	port   int
	config string // path of a configuration file, of a sentinel
	args   []string
	cmd    *exec.Cmd     // nil while stopped
	ended  chan struct{} // closed when cmd has ended
}

// New starts a server on a loopback port; it ends with the test. The test
// fails when there is no redis-server. args are added to its command line.
func New(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "", args)
}

func start(t testing.TB, config string, args []string) *Server {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("redistest: a real redis-server is needed: %v", err)
	}
	s := &Server{t: t, binary: binary, dir: t.TempDir(), config: config, args: args}
	t.Cleanup(s.Kill)
	const tries = 5 // a free port may be taken before the server has it
	for range tries {
		s.port = freePort(t)
		if s.launch() {
			return s
		}
	}
	t.Fatalf("redistest: redis-server does not start:\n%s", s.logged())
	return nil
}

// Addr is the server's host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Options reach the server.
func (s *Server) Options() meta.Options { return meta.Options{Addrs: []string{s.Addr()}} }

// Client is a plain client of the server; it is closed with the test.
func (s *Server) Client() *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Start starts a stopped or killed server again on the same port, empty.
func (s *Server) Start() {
	s.t.Helper()
	if !s.launch() {
		s.t.Fatalf("redistest: redis-server does not start again:\n%s", s.logged())
	}
}

// Stop ends the server in order, without saving.
func (s *Server) Stop() {
	s.t.Helper()
	s.end(syscall.SIGTERM)
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Flush removes everything, scripts included, as a restart without data would.
func (s *Server) Flush() {
	s.t.Helper()
	c := s.Client()
	for _, command := range [][]any{{"FLUSHALL"}, {"SCRIPT", "FLUSH"}} {
		if err := c.Do(context.Background(), command...).Err(); err != nil {
			s.t.Fatalf("redistest: %v: %v", command, err)
		}
	}
}

// Pause stops the process until the returned function is called: connections
// stay open and nothing answers.
func (s *Server) Pause() (resume func()) {
	s.t.Helper()
	s.signal(syscall.SIGSTOP)
	return func() { s.signal(syscall.SIGCONT) }
}

func (s *Server) signal(sig syscall.Signal) {
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Errorf("redistest: %v: %v", sig, err)
	}
}

func (s *Server) launch() bool {
	out, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	defer out.Close()
	args := []string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.dir}
	if s.config != "" {
		args = append([]string{s.config}, args...)
	} else {
		args = append(args, "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
	}
	s.cmd = exec.Command(s.binary, append(args, s.args...)...)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	dieWithParent(s.cmd)
	started := make(chan error)
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		// The kernel ends the server with the thread that started it, which
		// therefore does nothing else.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
		close(ended)
	}(s.cmd, s.ended)
	if err := <-started; err != nil {
		s.cmd = nil
		s.t.Fatalf("redistest: %v", err)
	}
	return s.waitUntilUp()
}

func (s *Server) waitUntilUp() bool {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), DialerRetries: 1, MaxRetries: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	defer c.Close()
	for {
		// The pid tells this server from another that has taken the port.
		info, err := c.Info(ctx, "server").Result()
		if err == nil && strings.Contains(info, "process_id:"+strconv.Itoa(s.cmd.Process.Pid)+"\r") {
			return true
		}
		select {
		case <-s.ended:
			s.cmd = nil
			return false
		case <-ctx.Done():
			s.Kill()
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *Server) end(sig syscall.Signal) {
	if s.cmd == nil {
		return
	}
	s.signal(syscall.SIGCONT)
	s.signal(sig)
	select {
	case <-s.ended:
	case <-time.After(stopWithin):
		s.t.Errorf("redistest: redis-server did not end after %v", sig)
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	s.cmd = nil
}

func (s *Server) logged() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b)
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
