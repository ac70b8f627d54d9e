package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/gateway"
)

// serverFlags are the flags of every process that serves HTTP.
type serverFlags struct {
	Listen           string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve HTTP and WebSocket on. Port 0 takes a free one."`
	AllowedOrigin    []string      `placeholder:"ORIGIN" help:"A browser origin, such as https://app.example.com, that may call the API from another host. Repeatable. Same-origin pages always may."`
	Insecure         bool          `help:"Allow an address that others can reach although there is no authentication."`
	CommitInterval   time.Duration `default:"5s" placeholder:"DURATION" help:"How often progress that groups committed without asking for an answer is stored; the first time 10s after the start. At least 100ms."`
	ManagementListen string        `default:"127.0.0.1:9190" placeholder:"HOST:PORT" help:"Address of /healthz, /readyz, /metrics and /debug/pprof. Empty: none."`
}

// leastCommitInterval keeps Redis from being asked all the time.
const leastCommitInterval = 100 * time.Millisecond

func (f serverFlags) check() error {
	if f.CommitInterval < leastCommitInterval {
		return usageError(fmt.Sprintf("--commit-interval %s: want at least %s", f.CommitInterval, leastCommitInterval))
	}
	return nil
}

// processFlags are the flags of every long-running process.
type processFlags struct {
	ShutdownGrace time.Duration `default:"10s" placeholder:"DURATION" help:"How long a stop may take: open requests are answered, the last batch is stored."`
	OTLPEndpoint  string        `name:"otlp-endpoint" env:"BUCKETMQ_OTLP_ENDPOINT,OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"Send OpenTelemetry traces to this OTLP/HTTP endpoint. Empty: no tracing."`
	LogFormat     string        `default:"text" enum:"text,json" placeholder:"text|json" help:"Format of the log on standard error."`
	LogLevel      string        `default:"info" enum:"debug,info,warn,error" placeholder:"LEVEL" help:"Least level that is logged: debug, info, warn or error."`
}

// journalFlags shape how messages become segments. The linger differs by role.
type journalFlags struct {
	SegmentBytes byteSize `default:"8MiB" placeholder:"SIZE" help:"A segment that has grown to this size is stored at once."`
	BufferBytes  byteSize `default:"256MiB" placeholder:"SIZE" help:"Bytes of messages held until they are stored; above it produce is answered 503."`
	CacheBytes   byteSize `default:"128MiB" placeholder:"SIZE" help:"Bytes of segments kept in memory for readers."`
}

// coordinatorFlags shape the background work.
type coordinatorFlags struct {
	WriterTimeout time.Duration `default:"30s" placeholder:"DURATION" help:"How long a gateway may be silent until what it stored is put into the queues on its behalf. Gateways give a sign of life every 5s; at least 6s."`
	LeaderLease   time.Duration `default:"15s" placeholder:"DURATION" help:"How long the leader among the coordinators may be silent until another one takes over; at least 1s."`
}

// leastWriterTimeout is the shortest WriterTimeout that a living gateway meets,
// leastLeaderLease the shortest LeaderLease that a loaded machine renews in time.
const (
	leastWriterTimeout = 6 * time.Second
	leastLeaderLease   = time.Second
)

func (f coordinatorFlags) check() error {
	if f.WriterTimeout < leastWriterTimeout {
		return usageError(fmt.Sprintf("--writer-timeout %s: want at least %s: gateways give a sign of life every 5s", f.WriterTimeout, leastWriterTimeout))
	}
	if f.LeaderLease < leastLeaderLease {
		return usageError(fmt.Sprintf("--leader-lease %s: want at least %s", f.LeaderLease, leastLeaderLease))
	}
	return nil
}

// redisFlags name the Redis that all processes share.
type redisFlags struct {
	Redis []string `sep:"none" required:"" placeholder:"URL" help:"Where Redis is: redis://[user:password@]host:port[/db], rediss://…, sentinel://host:port,host:port/master or cluster://host:port,host:port. Repeatable for more addresses. It must run with maxmemory-policy noeviction."`
}

// s3Flags name the bucket that all processes share.
type s3Flags struct {
	S3Endpoint  string `name:"s3-endpoint" required:"" placeholder:"URL" help:"The object store, such as https://s3.eu-central-1.amazonaws.com or http://127.0.0.1:7070."`
	S3Bucket    string `name:"s3-bucket" required:"" placeholder:"NAME" help:"The bucket."`
	S3AccessKey string `name:"s3-access-key" placeholder:"KEY" help:"Access key id. Without one: the AWS variables, the AWS credentials file, or the machine's role."`
	S3SecretKey string `name:"s3-secret-key" placeholder:"SECRET" help:"Secret access key. Prefer the environment variable: arguments are visible to other users of the machine."`
	S3Region    string `name:"s3-region" default:"us-east-1" placeholder:"REGION" help:"Region to sign for."`
	S3Prefix    string `name:"s3-prefix" placeholder:"PREFIX" help:"Keep all objects below this prefix of the bucket, such as team-a/."`
	S3Create    bool   `name:"s3-create-bucket" help:"Make the bucket when it does not exist."`
}

// clientFlags say which server a command talks to.
type clientFlags struct {
	URL   string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server."`
	Token string `placeholder:"TOKEN" help:"Bearer token to send."`
}

func (f clientFlags) client() (*client.Client, error) {
	return client.New(client.Options{URL: f.URL, Token: f.Token, UserAgent: "bucketmq/" + version})
}

// byteSize is a number of bytes, written plainly or as 64KiB, 8MiB, 1GiB.
type byteSize int64

// UnmarshalText reads a size; kong calls it for flags and variables.
func (b *byteSize) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	shift := 0
	for unit, n := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			s, shift = strings.TrimSpace(rest), n
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<62)>>shift {
		return fmt.Errorf("size %q: want a number of bytes, or one with KiB, MiB or GiB", text)
	}
	*b = byteSize(n << shift)
	return nil
}

// checkExposure refuses an address that other machines can reach, because
// nothing asks callers who they are.
func checkExposure(flag, addr string, insecure bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError(fmt.Sprintf("--%s %s: want host:port", flag, addr))
	}
	if gateway.CheckListen(addr, insecure) == nil {
		return nil
	}
	if host == "" {
		host = "every address of this machine"
	}
	return usageError(fmt.Sprintf("--%s %s: others can reach %s and there is no authentication; "+
		"listen on 127.0.0.1, or pass --insecure if something in front checks the callers", flag, addr, host))
}
