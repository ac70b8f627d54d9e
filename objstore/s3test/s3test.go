// Package s3test starts a private, real S3 server for a test, and a proxy that
// spoils the traffic to one. It is for tests only.
package s3test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/objstore"
)

const (
	accessKey = "bucketmq-test"
	bucket    = "bucketmq"
	region    = "us-east-1"
	startup   = 20 * time.Second
)

// New starts a server that lives as long as the test and returns the options of
// a bucket that exists and is empty.
func New(t testing.TB) objstore.S3Options {
	t.Helper()
	return Start(t).Options()
}

// Server is one versitygw process over a directory of its own.
type Server struct {
	t         testing.TB
	binary    string
	dir       string
	address   string
	secretKey string
	process   *process // nil while stopped
}

// Start starts a server that lives as long as the test, at most.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, binary: findBinary(t), dir: t.TempDir(), secretKey: rand.Text()}
	if err := os.MkdirAll(filepath.Join(s.dir, "data", bucket), 0o700); err != nil {
		t.Fatalf("s3test: %v", err)
	}
	t.Cleanup(s.Stop)
	// The free port found may be taken before the server binds it.
	for attempt := 1; ; attempt++ {
		s.address = freeAddress(t)
		err := s.start()
		if err == nil {
			return s
		}
		if attempt == 3 {
			t.Fatalf("s3test: %v", err)
		}
	}
}

// Options returns what opens the server's bucket.
func (s *Server) Options() objstore.S3Options {
	return objstore.S3Options{
		Endpoint:  "http://" + s.address,
		Bucket:    bucket,
		Region:    region,
		AccessKey: accessKey,
		SecretKey: s.secretKey,
	}
}

// Dir returns the directory that holds the bucket's objects as files.
func (s *Server) Dir() string { return filepath.Join(s.dir, "data", bucket) }

// Stop kills the server. Its objects stay.
func (s *Server) Stop() {
	if s.process == nil {
		return
	}
	s.process.kill()
	s.process = nil
}

// Restart starts a stopped server again at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	if s.process != nil {
		s.t.Fatal("s3test: the server is not stopped")
	}
	if err := s.start(); err != nil {
		s.t.Fatalf("s3test: %v", err)
	}
}

func (s *Server) start() error {
	args := []string{"--port", s.address, "--keep-alive", "--quiet", "--region", region, "--health", "/health", "posix"}
	if !supportsXattr(s.dir) {
		sidecar := filepath.Join(s.dir, "sidecar")
		if err := os.MkdirAll(sidecar, 0o700); err != nil {
			return err
		}
		args = append(args, "--sidecar", sidecar)
	}
	cmd := exec.Command(s.binary, append(args, filepath.Join(s.dir, "data"))...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+s.secretKey)
	process, err := spawn(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.binary, err)
	}
	if err := waitReady(process, "http://"+s.address+"/health"); err != nil {
		process.kill()
		return err
	}
	s.process = process
	return nil
}

// process is a child whose end is seen.
type process struct {
	cmd    *exec.Cmd
	output *lockedBuffer
	ended  chan struct{}
}

func spawn(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, output: &lockedBuffer{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.SysProcAttr = endWithParent()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // the end is what matters, killed or not
		close(p.ended)
	}()
	return p, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // fails only when it has ended already
	<-p.ended
}

func waitReady(p *process, url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startup)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if res, err := client.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.ended:
			return fmt.Errorf("the S3 server ended at once: %s", p.output)
		case <-ctx.Done():
			return fmt.Errorf("the S3 server was not ready within %s: %s", startup, p.output)
		case <-tick.C:
		}
	}
}

// findBinary looks where a person or the Makefile may have put versitygw.
func findBinary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("BUCKETMQ_VERSITYGW"); path != "" {
		return path
	}
	if root, err := moduleRoot(); err == nil {
		path := filepath.Join(root, ".bin", "versitygw")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("versitygw")
	if err != nil {
		t.Fatal("s3test: no versitygw, the S3 server that tests run against: " +
			"run `make tools`, put it on PATH, or name it in BUCKETMQ_VERSITYGW")
	}
	return path
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("s3test: %v", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// lockedBuffer keeps a child's output; it is read while the child may write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Bucket creates another bucket on the server that the options name and returns
// the options with it, so that tests can share a server but no object.
func Bucket(t testing.TB, server objstore.S3Options) objstore.S3Options {
	t.Helper()
	server.Bucket = "test-" + strings.ToLower(rand.Text())
	server.CreateBucket = true
	s, err := objstore.OpenS3(t.Context(), server)
	if err != nil {
		t.Fatalf("s3test: %v", err)
	}
	_ = s.Close() // drops idle connections
	server.CreateBucket = false
	return server
}
