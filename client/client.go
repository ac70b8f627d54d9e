// Package client speaks BucketMQ's public HTTP API: topics, produce, reads and
// consumer groups.
// The command line and the load generator are built on it; it knows nothing
// that openapi.yaml does not say.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Options say where the server is and how to reach it.
type Options struct {
	// URL is the server's base address, http://127.0.0.1:8080 when empty.
	URL string
	// Token is sent as a bearer token when it is not empty.
	Token string
	// UserAgent names the caller in the server's logs; "bucketmq" when empty.
	UserAgent string
	// HTTP sends the requests; a client of its own with keep-alive when nil.
	// It must not have a timeout below the longest long poll.
	HTTP *http.Client
}

// Client calls one BucketMQ server. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	agent string
	http  *http.Client
}

// ErrUnreachable says that no answer came from the server: a request that was
// sent may or may not have been carried out.
var ErrUnreachable = errors.New("no answer from the server")

// DefaultURL is where `bucketmq serve` listens unless told otherwise.
const DefaultURL = "http://127.0.0.1:8080"

// maxAnswerBytes bounds what one answer may make the client hold.
const maxAnswerBytes = 64 << 20

// New returns a client for the server in o; it opens no connection yet.
func New(o Options) (*Client, error) {
	if o.URL == "" {
		o.URL = DefaultURL
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("server address %q: want http://host:port", u.Redacted())
	}
	if o.HTTP == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 256
		o.HTTP = &http.Client{Transport: transport}
	}
	if o.UserAgent == "" {
		o.UserAgent = "bucketmq"
	}
	return &Client{
		base:  strings.TrimRight(u.String(), "/"),
		token: o.Token,
		agent: o.UserAgent,
		http:  o.HTTP,
	}, nil
}

// call is one request in the making.
type call struct {
	method  string
	path    []string // escaped one by one
	query   url.Values
	headers map[string]string
	body    []byte
	kind    string // media type of body
}

// do sends c and decodes a 2xx answer into out (nil: thrown away). Any other
// answer is returned as a *Problem.
func (cl *Client) do(ctx context.Context, c call, out any) (*http.Response, error) {
	resp, err := cl.send(ctx, c)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, cl.lost(ctx, c, err)
	}
	if len(data) > maxAnswerBytes {
		return nil, fmt.Errorf("%s %s: answer over %d bytes", c.method, strings.Join(c.path, "/"), maxAnswerBytes)
	}
	if resp.StatusCode >= 300 {
		return resp, problemFrom(resp, data)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			return nil, fmt.Errorf("answer of %s %s: %w", c.method, strings.Join(c.path, "/"), err)
		}
	}
	return resp, nil
}

func (cl *Client) send(ctx context.Context, c call) (*http.Response, error) {
	var b strings.Builder
	b.WriteString(cl.base)
	b.WriteString("/v1")
	for _, part := range c.path {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(part))
	}
	if len(c.query) > 0 {
		b.WriteByte('?')
		b.WriteString(c.query.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, c.method, b.String(), bytes.NewReader(c.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.method, strings.Join(c.path, "/"), err)
	}
	req.Header.Set("Accept", "application/json, application/problem+json")
	req.Header.Set("User-Agent", cl.agent)
	if cl.token != "" {
		req.Header.Set("Authorization", "Bearer "+cl.token)
	}
	if c.kind != "" {
		req.Header.Set("Content-Type", c.kind)
	}
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	resp, err := cl.http.Do(req)
	if err != nil {
		return nil, cl.lost(ctx, c, err)
	}
	return resp, nil
}

// lost turns a transport fault into ErrUnreachable, unless the caller gave up.
func (cl *Client) lost(ctx context.Context, c call, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the URL is told once, below
	}
	return fmt.Errorf("%s: %w: %w", cl.base, ErrUnreachable, err)
}
