package objstore

import (
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// newTransport keeps as many idle connections as may be open, so that a burst of
// PUTs does not begin with handshakes each time. It never asks for compression:
// a length that the service states must be the object's.
func newTransport(connections int) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConns:        connections,
		MaxIdleConnsPerHost: connections,
		MaxConnsPerHost:     connections,
		IdleConnTimeout:     60 * time.Second,
		DisableCompression:  true,
		ReadBufferSize:      64 << 10,
		WriteBufferSize:     64 << 10,
	}
}

// meter counts requests where they leave, so that the numbers are the service's
// bill: retries and comparisons included.
type meter struct {
	next     http.RoundTripper
	counters *counters
	bucket   string
}

func (m *meter) RoundTrip(req *http.Request) (*http.Response, error) {
	verb := m.verb(req)
	m.counters.count(verb)
	if verb == verbPut {
		m.counters.moved(int(max(req.ContentLength, 0)), 0)
	}
	res, err := m.next.RoundTrip(req)
	if err == nil && verb == verbGet {
		res.Body = &meteredBody{res.Body, m.counters}
	}
	return res, err
}

func (m *meter) verb(req *http.Request) string {
	// With the bucket in the host name or in the path, an object is what remains.
	object := strings.Trim(req.URL.Path, "/")
	if object == m.bucket {
		object = ""
	}
	switch {
	case req.Method == http.MethodPut && object != "":
		return verbPut
	case req.Method == http.MethodGet && object != "":
		return verbGet
	case req.Method == http.MethodGet && req.URL.Query().Has("list-type"):
		return verbList
	case req.Method == http.MethodDelete:
		return verbDelete
	case req.Method == http.MethodHead:
		return verbHead
	}
	return verbOther
}

type meteredBody struct {
	io.ReadCloser
	counters *counters
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.counters.moved(0, n)
	return n, err
}
