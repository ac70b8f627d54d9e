package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bucketmq/bucketmq/meta"
)

// Sentinel is a private sentinel that watches a master.
type Sentinel struct {
	Master *Server
	watch  *Server
}

const masterName = "bucketmq"

// NewSentinel starts a master and one sentinel that watches it.
func NewSentinel(t testing.TB) *Sentinel {
	t.Helper()
	master := New(t)
	config := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 1\n", masterName, master.port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatalf("redistest: %v", err)
	}
	return &Sentinel{Master: master, watch: start(t, config, []string{"--sentinel"})}
}

// Options reach the master through the sentinel.
func (s *Sentinel) Options() meta.Options {
	return meta.Options{Mode: meta.ModeSentinel, Addrs: []string{s.watch.Addr()}, MasterName: masterName}
}
