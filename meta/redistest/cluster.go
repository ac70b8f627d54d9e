package redistest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// Cluster is a private cluster of three masters.
type Cluster struct{ Nodes []*Server }

// NewCluster starts a cluster and waits until every node serves all slots.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	const nodes, slots = 3, 16384
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	c := &Cluster{}
	for i := range nodes {
		busPort := freePort(t)
		s := New(t, "--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(busPort), "--cluster-node-timeout", "5000")
		c.Nodes = append(c.Nodes, s)
		run := func(args ...any) {
			if err := s.Client().Do(ctx, args...).Err(); err != nil {
				t.Fatalf("redistest: %v: %v", args, err)
			}
		}
		run("CLUSTER", "ADDSLOTSRANGE", i*slots/nodes, (i+1)*slots/nodes-1)
		run("CLUSTER", "SET-CONFIG-EPOCH", i+1)
		if i > 0 {
			first := c.Nodes[0]
			run("CLUSTER", "MEET", "127.0.0.1", first.port, first.busPort())
		}
	}
	for _, s := range c.Nodes {
		c.wait(ctx, s, nodes)
	}
	return c
}

// Options reach the cluster.
func (c *Cluster) Options() meta.Options {
	o := meta.Options{Mode: meta.ModeCluster}
	for _, s := range c.Nodes {
		o.Addrs = append(o.Addrs, s.Addr())
	}
	return o
}

func (s *Server) busPort() string {
	for i, arg := range s.args {
		if arg == "--cluster-port" {
			return s.args[i+1]
		}
	}
	return ""
}

func (c *Cluster) wait(ctx context.Context, s *Server, nodes int) {
	s.t.Helper()
	client := s.Client()
	for {
		info, err := client.ClusterInfo(ctx).Result()
		if err == nil && strings.Contains(info, "cluster_state:ok") &&
			strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", nodes)) {
			return
		}
		select {
		case <-ctx.Done():
			s.t.Fatalf("redistest: the cluster is not ready: %v\n%s", err, info)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
