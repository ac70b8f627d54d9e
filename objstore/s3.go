package objstore

import (
	"context"
	"iter"
	"log/slog"
)

// S3Options says which bucket a store uses and how.
type S3Options struct {
	// Endpoint is a URL: https://s3.example.com, http://127.0.0.1:7070. Without
	// a scheme it is https.
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
	// CreateBucket makes the bucket when it is absent.
	CreateBucket bool
	// Log gets warnings of the probe; default none.
	Log *slog.Logger
}

// S3 is a Store in one bucket of an S3-compatible service.
type S3 struct{ counters }

// OpenS3 returns a store for the bucket.
func OpenS3(ctx context.Context, o S3Options) (*S3, error) { panic("being written") }

// Probe checks that the bucket can be relied on.
func (s *S3) Probe(ctx context.Context) error { panic("being written") }

// Close drops idle connections.
func (s *S3) Close() error { panic("being written") }

func (s *S3) Put(ctx context.Context, key string, body []byte) error { panic("being written") }
func (s *S3) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	panic("being written")
}
func (s *S3) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error] {
	panic("being written")
}
func (s *S3) Delete(ctx context.Context, key string) error { panic("being written") }
