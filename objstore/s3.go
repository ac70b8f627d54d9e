package objstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// S3Options says which bucket a store uses and how.
type S3Options struct {
	// Endpoint is a URL: https://s3.example.com, http://127.0.0.1:7070. Without
	// a scheme it is https. Over http to any other machine than this one every
	// body is hashed and signed, which costs about three times the CPU.
	Endpoint string
	// Bucket must exist, unless CreateBucket is set.
	Bucket string
	// AccessKey and SecretKey sign the requests. Both empty: the AWS environment
	// variables, then the AWS credentials file, then the machine's role.
	AccessKey, SecretKey string
	// Region of the bucket; default us-east-1.
	Region string
	// Prefix is put in front of every key, for instance "team-a/". Default none.
	Prefix string
	// Connections bounds the open connections; default 64.
	Connections int
	// AttemptTimeout bounds one request, plus a second per 4 MiB; default 10 s.
	// A request is repeated until the caller's context ends.
	AttemptTimeout time.Duration
	// CreateBucket makes the bucket when it is absent.
	CreateBucket bool
	// Log gets warnings of the start: what it waits for, what the probe could not
	// see; default none.
	Log *slog.Logger
}

// String names the bucket and no secret.
func (o S3Options) String() string {
	return fmt.Sprintf("bucket %q with prefix %q at %s", o.Bucket, o.Prefix, o.Endpoint)
}

// GoString keeps secrets out of %#v.
func (o S3Options) GoString() string { return o.String() }

// S3 is a Store in one bucket of an S3-compatible service that honours
// If-None-Match on PUT; Probe tells whether it does.
type S3 struct {
	counters

	options   S3Options
	core      minio.Core
	transport *http.Transport
	pace      *pace
	redact    *strings.Replacer

	patience time.Duration // of a start, before it says what it waits for

	// signed: bodies travel over a network that may change them unseen, so their
	// hash is part of the signature.
	signed bool
	// plain is set once the service has refused the checksum header.
	plain atomic.Bool
}

var (
	_ Store   = (*S3)(nil)
	_ Metered = (*S3)(nil)
)

// OpenS3 returns a store for the bucket. It sends nothing, unless CreateBucket
// is set; Probe tells whether the bucket can be relied on.
func OpenS3(ctx context.Context, o S3Options) (*S3, error) {
	endpoint, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("open S3 store: %w", err)
	}
	s := &S3{
		options:   o,
		transport: newTransport(o.Connections),
		signed:    endpoint.Scheme == "http" && !isLoopback(endpoint.Hostname()),
		pace:      newPace(),
		patience:  5 * time.Second,
	}
	var pairs []string
	for _, secret := range []string{o.SecretKey, o.AccessKey} {
		if secret != "" {
			pairs = append(pairs, secret, "[redacted]")
		}
	}
	s.redact = strings.NewReplacer(pairs...)
	core, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds:      o.credentials(),
		Secure:     endpoint.Scheme == "https",
		Region:     o.Region,
		Transport:  &meter{next: s.transport, counters: &s.counters, bucket: o.Bucket},
		MaxRetries: 1, // retries are ours: they know what an attempt left unknown
	})
	if err != nil {
		return nil, fmt.Errorf("open S3 store: %w", err)
	}
	s.core = *core
	if o.CreateBucket {
		if err := s.createBucket(ctx); err != nil {
			s.transport.CloseIdleConnections()
			return nil, err
		}
	}
	return s, nil
}

// complete fills in the defaults and checks the rest.
func (o *S3Options) complete() (*url.URL, error) {
	if !strings.Contains(o.Endpoint, "://") {
		o.Endpoint = "https://" + o.Endpoint
	}
	endpoint, err := url.Parse(o.Endpoint)
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		return nil, errors.New("the endpoint is not a URL like https://s3.example.com") // may hold a password: not quoted
	}
	if endpoint.User != nil {
		return nil, errors.New("the endpoint's URL holds credentials: use the access and secret key")
	}
	if strings.Trim(endpoint.Path, "/") != "" || endpoint.RawQuery != "" {
		return nil, errors.New("the endpoint's URL has a path: name the bucket and the prefix apart from it")
	}
	if o.Bucket == "" {
		return nil, errors.New("no bucket is named")
	}
	// The client refuses such a name in each request, and that looks like a fault
	// that may pass.
	if err := s3utils.CheckValidBucketName(o.Bucket); err != nil {
		return nil, fmt.Errorf("bucket %q: %w", o.Bucket, err)
	}
	if (o.AccessKey == "") != (o.SecretKey == "") {
		return nil, errors.New("access key and secret key are only useful together")
	}
	if o.Prefix = strings.Trim(o.Prefix, "/"); o.Prefix != "" {
		if err := checkKey(o.Prefix); err != nil || len(o.Prefix) > 100 {
			return nil, fmt.Errorf("prefix %q is not a plain path of at most 100 characters", o.Prefix)
		}
		o.Prefix += "/"
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Connections <= 0 {
		o.Connections = 64
	}
	if o.AttemptTimeout <= 0 {
		o.AttemptTimeout = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return endpoint, nil
}

func (o *S3Options) credentials() *credentials.Credentials {
	if o.AccessKey != "" {
		return credentials.NewStaticV4(o.AccessKey, o.SecretKey, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}},
	})
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Close drops idle connections.
func (s *S3) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

func (s *S3) createBucket(ctx context.Context) error {
	err := s.await(ctx, s.makeBucket)
	if err != nil {
		return s.wrap("create bucket", s.options.Bucket, err)
	}
	return nil
}

func (s *S3) makeBucket(ctx context.Context) error {
	return s.retry(ctx, 0, func(ctx context.Context) error {
		err := s.call(ctx, func(ctx context.Context) error {
			return s.core.MakeBucket(ctx, s.options.Bucket, minio.MakeBucketOptions{Region: s.options.Region})
		})
		switch answerOf(err).code {
		case "BucketAlreadyOwnedByYou", "BucketAlreadyExists":
			return nil
		}
		return err
	})
}

// await does what a start waits for, and says so when the service is not there.
func (s *S3) await(ctx context.Context, do func(ctx context.Context) error) error {
	soon, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err := do(soon)
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return err
	}
	s.options.Log.Warn("still waiting for the object store", "error", s.redact.Replace(err.Error()))
	return do(ctx)
}

// Delete removes the object. See Store.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	err := s.retry(ctx, 0, func(ctx context.Context) error {
		err := s.call(ctx, func(ctx context.Context) error {
			return s.core.RemoveObject(ctx, s.options.Bucket, s.options.Prefix+key, minio.RemoveObjectOptions{})
		})
		if answerOf(err).code == "NoSuchKey" {
			return nil
		}
		return err
	})
	if err != nil {
		return s.wrap("delete", key, err)
	}
	return nil
}

// wrap names the operation and keeps credentials out of the text, for instance
// when a service quotes them back.
func (s *S3) wrap(operation, subject string, err error) error {
	text := fmt.Sprintf("%s %s: %v", operation, subject, err)
	return &redacted{text: s.redact.Replace(text), err: err}
}

// redacted shows a text of its own and unwraps to the true causes.
type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string { return r.text }
func (r *redacted) Unwrap() error { return r.err }
