package objstore

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
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

// call is one use of the client. Its meter notes here why the request failed,
// since the client replaces that by the end of the context when both come
// together, and the reason decides whether a Put may have stored something.
type call struct {
	cancel context.CancelFunc
	err    error // owned by the goroutine that makes the request
}

type callKey struct{}

// call runs one use of the client and returns the true reason of its failure.
func (s *S3) call(ctx context.Context, use func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &call{cancel: cancel}
	err := use(context.WithValue(ctx, callKey{}, c))
	if err != nil && c.err != nil {
		return c.err
	}
	return err
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
	// The transport repeats a request by itself when a kept connection turns out
	// to be closed, so what counts is each connection that it is written to.
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		m.counters.count(verb)
		if verb == verbPut {
			m.counters.moved(int(max(req.ContentLength, 0)), 0)
		}
	}}
	res, err := m.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err == nil && verb == verbGet {
		res.Body = &meteredBody{res.Body, m.counters}
	}
	if c, ok := req.Context().Value(callKey{}).(*call); ok {
		c.note(res, err)
	}
	return res, err
}

// note keeps the reason of a failure, and ends the call's context so that the
// client returns at once in place of pausing as if it were to retry.
func (c *call) note(res *http.Response, err error) {
	switch {
	case err != nil:
		c.err = err
	case res.StatusCode/100 != 2:
		c.err = readAnswer(res)
	default:
		return
	}
	c.cancel()
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

// answerError is a service's answer that is no success.
type answerError struct {
	status        int
	code, message string // empty when something else than S3 answered
}

func (a *answerError) Error() string {
	return strings.TrimRight(fmt.Sprintf("%d %s: %s", a.status, a.code, a.message), ": ")
}

// maxAnswerBytes bounds what is read of an error's body.
const maxAnswerBytes = 64 << 10

// readAnswer takes the body out of the response and leaves a copy there.
func readAnswer(res *http.Response) *answerError {
	answer := &answerError{status: res.StatusCode}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	_ = res.Body.Close() // what was read is all that is used
	res.Body = io.NopCloser(bytes.NewReader(body))
	var parsed struct {
		Code    string `xml:"Code"`
		Message string `xml:"Message"`
	}
	if err == nil && xml.Unmarshal(body, &parsed) == nil {
		answer.code, answer.message = parsed.Code, parsed.Message
	}
	return answer
}
