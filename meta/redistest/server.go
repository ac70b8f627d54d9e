// Package redistest starts private Redis servers for tests.
package redistest

import (
	"testing"

	"github.com/bucketmq/bucketmq/meta"
)

// Server is a private redis-server of one test.
type Server struct{}

// New starts a server; it ends with the test. The test fails when there is no redis-server.
func New(t testing.TB) *Server { panic("unwritten") }

// Options reach the server.
func (s *Server) Options() meta.Options { panic("unwritten") }

// Cluster is a private cluster of three nodes.
type Cluster struct{ Nodes []*Server }

// NewCluster starts a cluster and waits until it serves all slots.
func NewCluster(t testing.TB) *Cluster { panic("unwritten") }

// Options reach the cluster.
func (c *Cluster) Options() meta.Options { panic("unwritten") }

// Stop ends the server in order, without saving.
func (s *Server) Stop() { panic("unwritten") }

// Start starts a stopped or killed server again on the same address, empty.
func (s *Server) Start() { panic("unwritten") }

// Kill ends the server with SIGKILL.
func (s *Server) Kill() { panic("unwritten") }

// Flush removes everything, scripts included.
func (s *Server) Flush() { panic("unwritten") }

// Pause stops the process until the returned function is called.
func (s *Server) Pause() (resume func()) { panic("unwritten") }
