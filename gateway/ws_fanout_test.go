package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	fanOutSockets = 1000
	// fanOutMark is in the body of every message once and nowhere else in a
	// frame's payload, so that a client counts messages without reading JSON.
	fanOutMark = '~'
	// fanOutServer names, in the environment of a client, its server.
	fanOutServer = "BUCKETMQ_TEST_FAN_OUT_SERVER"
)

// fanOutClient is a process of its own, so that what it costs is not counted as
// the server's. It subscribes with many sockets, says so, and then answers each
// line, a number of messages, when as many more have come.
func fanOutClient(url string) {
	n := &node{t: &testing.B{}, url: url}
	var got, want atomic.Int64
	arrived := make(chan struct{}, 1)
	conns := make([]net.Conn, fanOutSockets)
	for i := range conns {
		conn := n.light(`{"op":"subscribe","sub":"s1","mode":"tail","topics":[{"topic":"orders"}],"credit":{"messages":1000000,"bytes":1073741824}}`)
		conns[i] = conn
		go func() {
			in := bufio.NewReaderSize(conn, 16<<10)
			for left := 0; ; {
				for left == 0 {
					size, err := frameSize(in)
					if err != nil {
						return
					}
					left = size
				}
				some, err := in.Peek(min(left, max(1, in.Buffered())))
				if err != nil {
					return
				}
				marks := int64(bytes.Count(some, []byte{fanOutMark}))
				left -= len(some)
				_, _ = in.Discard(len(some))
				if sum := got.Add(marks); sum >= want.Load() && sum-marks < want.Load() {
					arrived <- struct{}{}
				}
			}
		}()
	}
	go func() {
		for range time.Tick(5 * time.Second) {
			for _, conn := range conns {
				_, _ = conn.Write(masked(0x81, `{"op":"pong","n":1}`)) // or the server ends it
			}
		}
	}()
	fmt.Println("ready")
	var more int64
	for in := bufio.NewReader(os.Stdin); ; {
		if _, err := fmt.Fscanln(in, &more); err != nil {
			return
		}
		want.Add(more)
		fmt.Println("expecting")
		select {
		case <-arrived:
		case <-time.After(20 * time.Second):
			fmt.Fprintln(os.Stderr, "came:", got.Load(), "want:", want.Load())
			return
		}
		fmt.Println("arrived")
	}
}

// BenchmarkFanOut delivers messages of 256 B to 1,000 sockets: one frame a
// message, and what has gathered together. The clients are another process.
func BenchmarkFanOut(b *testing.B) {
	n := benchNode(b)
	self, err := os.Executable()
	must(b, err)
	client := exec.Command(self)
	client.Env = append(os.Environ(), fanOutServer+"="+n.url)
	client.Stderr = os.Stderr
	ask, err := client.StdinPipe()
	must(b, err)
	answers, err := client.StdoutPipe()
	must(b, err)
	must(b, client.Start())
	b.Cleanup(func() {
		_ = ask.Close()
		_ = client.Wait()
	})
	lines := bufio.NewScanner(answers)
	answer := func() string {
		if !lines.Scan() {
			b.Fatal("the client ended")
		}
		return lines.Text()
	}
	answer()
	one := `{"body":"` + string(fanOutMark) + strings.Repeat("x", 255) + `","queue":0}`
	for _, c := range []struct {
		name  string
		batch int
	}{{"one message a frame", 1}, {"100 messages a frame", 100}} {
		messages := "[" + strings.Repeat(one+",", c.batch-1) + one + "]"
		b.Run(c.name, func(b *testing.B) {
			var server time.Duration
			for b.Loop() {
				fmt.Fprintln(ask, fanOutSockets*c.batch)
				answer()
				before := cpu()
				n.send("orders", messages)
				answer()
				server += cpu() - before
			}
			deliveries := float64(b.N * fanOutSockets * c.batch)
			b.ReportMetric(deliveries/b.Elapsed().Seconds(), "deliveries/s")
			b.ReportMetric(float64(server)/deliveries, "cpu-ns/delivery")
		})
	}
}
