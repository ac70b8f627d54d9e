package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// outside are the services that the servers under test need: one Redis and one
// S3-compatible server, started for the purpose and private to it.
type outside struct {
	redis string // redis:// URL
	s3    string // http:// URL
	stops []func()
}

// The S3 server's credentials; it listens on loopback and lives for a minute.
const (
	benchAccessKey = "bench"
	benchSecretKey = "bench-secret"
	benchBucket    = "bench"
)

func startOutside(ctx context.Context, dir string) (*outside, error) {
	o := &outside{}
	if err := o.startRedis(ctx, dir); err != nil {
		o.stop()
		return nil, err
	}
	if err := o.startS3(ctx, dir); err != nil {
		o.stop()
		return nil, err
	}
	return o, nil
}

func (o *outside) stop() {
	for _, stop := range o.stops {
		stop()
	}
}

func (o *outside) startRedis(ctx context.Context, dir string) error {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return errors.New("redis-server is not installed: run make tools")
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	o.redis = "redis://" + addr
	return o.start(ctx, addr, nil, binary, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir)
}

func (o *outside) startS3(ctx context.Context, dir string) error {
	binary, err := findS3Server()
	if err != nil {
		return err
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "s3")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return err
	}
	o.s3 = "http://" + addr
	env := []string{"ROOT_ACCESS_KEY=" + benchAccessKey, "ROOT_SECRET_KEY=" + benchSecretKey}
	return o.start(ctx, addr, env, binary, "--port", addr, "--keep-alive", "--quiet", "posix", data)
}

// start runs a server until stop, and returns when it accepts connections.
func (o *outside) start(ctx context.Context, addr string, env []string, binary string, args ...string) error {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", binary, err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	o.stops = append(o.stops, func() { _ = cmd.Process.Kill(); <-ended })
	for {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			return fmt.Errorf("%s ended at once", binary)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// findS3Server looks where `make tools` puts versitygw, then in PATH.
func findS3Server() (string, error) {
	for _, path := range []string{os.Getenv("BUCKETMQ_VERSITYGW"), ".bin/versitygw"} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return filepath.Abs(path)
		}
	}
	path, err := exec.LookPath("versitygw")
	if err != nil {
		return "", errors.New("versitygw is not installed: run make tools")
	}
	return path, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// collectGarbage makes a server collect, so that its memory is what it needs.
func collectGarbage(ctx context.Context, s Server) error {
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Management+"/debug/pprof/heap?gc=1", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return fmt.Errorf("collect garbage: %w", err)
		}
		resp.Body.Close()
	}
	return nil
}
