package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
)

// batches are the same 100 messages of 1 KiB as JSON and as records.
func batches() (text, framed []byte) {
	body := strings.Repeat("abcdefgh", 128)
	var out bytes.Buffer
	out.WriteString(`{"messages":[`)
	for i := range 100 {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `{"tag":"paid","keys":["order-%d"],"body":"%s"}`, i, body)
		framed = segment.AppendRecord(framed, &segment.Record{
			Attributes: segment.AttrText, Tag: []byte("paid"), Keys: fmt.Appendf(nil, "order-%d", i), Body: []byte(body),
		})
	}
	out.WriteString(`]}`)
	return out.Bytes(), framed
}

// blast posts a body again and again over many connections.
func blast(b *testing.B, url, path, contentType string, body []byte, perRequest int) {
	request := postRequest(url, path, contentType, body)
	b.SetParallelism(256) // enough that a request's wait for its segment costs no throughput
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c, err := newRawClient(url, request)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.conn.Close()
		for pb.Next() {
			if err := c.post(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N*perRequest)/b.Elapsed().Seconds(), "messages/s")
}

// skipAnswer reads one answer with a known length.
func skipAnswer(in *bufio.Reader) error {
	length := 0
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return fmt.Errorf("answer %s", line)
		}
		if digits, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			for _, c := range bytes.TrimSpace(digits) {
				length = length*10 + int(c-'0')
			}
		}
		if len(line) == 2 {
			_, err := in.Discard(length)
			return err
		}
	}
}

// BenchmarkProduce shows, in one run, what a message costs as JSON, framed and
// alone, and what a server costs that only reads and answers.
func BenchmarkProduce(b *testing.B) {
	text, framed := batches()
	n := benchNode(b)
	single := []byte(`{"messages":[{"body":"` + strings.Repeat("x", 1024) + `"}]}`)
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "{}")
	}))
	defer empty.Close()
	const path = "/v1/topics/orders/messages"
	for round := range 3 {
		name := func(of string) string { return fmt.Sprintf("%s/%d", of, round) }
		b.Run(name("json100"), func(b *testing.B) { blast(b, n.url, path, "application/json", text, 100) })
		b.Run(name("framed100"), func(b *testing.B) { blast(b, n.url, path+"/framed", "application/octet-stream", framed, 100) })
		b.Run(name("single"), func(b *testing.B) { blast(b, n.url, path, "application/json", single, 1) })
		b.Run(name("empty"), func(b *testing.B) { blast(b, empty.URL, "/", "application/json", single, 1) })
	}
}
