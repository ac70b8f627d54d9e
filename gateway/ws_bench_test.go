package gateway_test

import (
	"bufio"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cpu is how much processor time this process has used.
func cpu() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// frameSize reads the header of a server's frame.
func frameSize(in *bufio.Reader) (int, error) {
	head, err := in.Peek(2)
	if err != nil {
		return 0, err
	}
	size, skip := int(head[1]), 2
	if size == 126 || size == 127 {
		skip = map[int]int{126: 4, 127: 10}[size]
		if head, err = in.Peek(skip); err != nil {
			return 0, err
		}
		size = 0
		for _, b := range head[2:] {
			size = size<<8 | int(b)
		}
	}
	_, err = in.Discard(skip)
	return size, err
}

// pipelined sends b.N messages over one socket with up to 256 in flight, and
// reads the answers without looking at them.
func pipelined(b *testing.B, n *node) {
	conn := n.rawSocket()
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	send := masked(0x81, `{"op":"send","id":"1234","topic":"orders","messages":[{"body":"`+strings.Repeat("x", 1024)+`"}]}`)
	_, err := conn.Write(masked(0x81, `{"op":"hello"}`))
	must(b, err)
	skip := func() error {
		size, err := frameSize(in)
		if err == nil {
			_, err = in.Discard(size)
		}
		return err
	}
	must(b, skip())
	credit := make(chan struct{}, 256)
	var done sync.WaitGroup
	done.Go(func() {
		for range b.N {
			if err := skip(); err != nil {
				b.Error(err)
			}
			<-credit
		}
	})
	out := bufio.NewWriterSize(conn, 64<<10)
	for range b.N {
		select {
		case credit <- struct{}{}:
		default:
			must(b, out.Flush())
			credit <- struct{}{}
		}
		_, err := out.Write(send)
		must(b, err)
	}
	must(b, out.Flush())
	done.Wait()
}

// BenchmarkProducePipelined compares, in one run, the processor time of a
// message of 1 KiB on a pipelined socket and as a single POST, client included.
func BenchmarkProducePipelined(b *testing.B) {
	n := benchNode(b)
	single := []byte(`{"messages":[{"body":"` + strings.Repeat("x", 1024) + `"}]}`)
	for round := range 3 {
		b.Run(fmt.Sprintf("socket/%d", round), func(b *testing.B) {
			before := cpu()
			pipelined(b, n)
			b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/message")
		})
		b.Run(fmt.Sprintf("post/%d", round), func(b *testing.B) {
			before := cpu()
			blast(b, n.url, "/v1/topics/orders/messages", "application/json", single, 1)
			b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/message")
		})
	}
}
