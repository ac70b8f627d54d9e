package gateway_test

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/gateway"
)

// light is a client socket without buffers of its own.
func (n *node) light(subscribe string) net.Conn {
	conn := n.rawSocket()
	_, err := conn.Write(append(masked(0x81, `{"op":"hello"}`), masked(0x81, subscribe)...))
	must(n.t, err)
	got := ""
	for one := make([]byte, 512); !strings.Contains(got, `"subscribed"`); {
		k, err := conn.Read(one)
		must(n.t, err)
		got += string(one[:k])
	}
	return conn
}

// inUse is the memory of heap and stacks after a collection, and the number of
// goroutines.
func inUse() (bytes uint64, goroutines int) {
	var m runtime.MemStats
	for range 3 { // stacks shrink by half each time
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse, runtime.NumGoroutine()
}

// The client's side of each socket is in the figure too.
func TestIdleSocketsAreSmallAndLeaveNothing(t *testing.T) {
	registry := prometheus.NewRegistry()
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.Registry = registry }})
	n.topic("orders", `{"queues":8}`)
	const count = 2000
	subscribe := `{"op":"subscribe","sub":"s1","mode":"tail","topics":[{"topic":"orders"}],"credit":{"messages":100,"bytes":10000}}`
	n.light(subscribe).Close()
	eventually(t, "the first one has gone", func() bool { return socketsOpen(t, registry) == 0 })
	n.client.CloseIdleConnections()
	before, goroutines := inUse()
	conns := make([]net.Conn, count)
	for i := range conns {
		conns[i] = n.light(subscribe)
	}
	bytes, running := inUse()
	kib := float64(bytes-before) / 1024 / count
	t.Logf("%d idle subscribed sockets: %.1f KiB and %.2f goroutines each", count, kib, float64(running-goroutines)/count)
	if kib > 24 {
		t.Errorf("an idle subscribed socket takes %.1f KiB", kib)
	}
	if running-goroutines > count+50 {
		t.Errorf("%d goroutines for %d sockets", running-goroutines, count)
	}
	for i, conn := range conns {
		if i%2 == 0 {
			must(t, conn.(*net.TCPConn).SetLinger(0)) // a reset
		}
		conn.Close()
	}
	eventually(t, "all sockets have gone", func() bool { return socketsOpen(t, registry) == 0 })
	eventually(t, "their goroutines have gone", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
}

func socketsOpen(t *testing.T, registry *prometheus.Registry) int {
	families, err := registry.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == "bucketmq_ws_sockets" {
			return int(f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	return -1
}

// All goroutines of many sockets write, deliver and close at once.
func TestManySocketsAtOnce(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":2}`)
	socks := make([]*sock, 50)
	for i := range socks {
		socks[i] = n.socket([]string{"bmq.v1.json", "bmq.v1.bin"}[i%2])
		socks[i].tail("s1", "orders", `{"position":"latest"}`, 100_000, 1<<28)
	}
	const rounds = 40
	for round := range rounds {
		n.send("orders", fmt.Sprintf(`[{"body":"%d","queue":0},{"body":"%d","queue":1}]`, round, round))
		if round == rounds/2 {
			for _, s := range socks[40:] {
				s.conn.NetConn().Close()
			}
		}
	}
	for _, s := range socks[:40] {
		last := map[int64]int64{0: -1, 1: -1}
		for _, m := range s.collect(2 * rounds) {
			if m.Offset != last[m.Queue]+1 {
				t.Fatalf("queue %d went from %d to %d", m.Queue, last[m.Queue], m.Offset)
			}
			last[m.Queue] = m.Offset
		}
	}
}
