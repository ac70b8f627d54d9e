package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketmq/bucketmq/objstore"
)

// GoalsOptions say how Goals runs.
type GoalsOptions struct {
	Binary string        // the bucketmq binary to measure
	Rounds int           // interleaved rounds; 3 when zero
	Step   time.Duration // length of each measurement; 2 s when zero
	Log    io.Writer     // what is being done; nil: silent
}

// suite is everything that runs while the goals are measured: raw stores, an
// embedded server, and two gateways on one Redis and one bucket.
type suite struct {
	GoalsOptions
	dir      string
	out      *outside
	files    *objstore.Filesystem
	bucket   *objstore.S3
	embedded *Child
	first    *Child // gateway that producers use
	second   *Child // gateway that only reads
	null     *Child
	db       *redis.Client
	lazy     *jetStream // nil where it is not installed
	synced   *jetStream

	samples map[string][]float64
	skipped map[string]string // why a figure is not measured
	order   []string
}

// Goals takes the raw limits of this machine and, in the same interleaved
// rounds, what the server makes of them, and compares the two with the goals.
func Goals(ctx context.Context, o GoalsOptions) ([]Goal, error) {
	if o.Rounds == 0 {
		o.Rounds = 3
	}
	if o.Step == 0 {
		o.Step = 2 * time.Second
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &suite{GoalsOptions: o, samples: map[string][]float64{}, skipped: map[string]string{}}
	defer s.stop()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"cold start", s.coldStart},
		{"requests while idle", s.idle},
		{"redis memory", s.redisMemory},
		{"idle connections", s.idleConnections},
	} {
		fmt.Fprintln(s.Log, "measuring", step.name)
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	for round := range o.Rounds {
		fmt.Fprintf(s.Log, "round %d of %d\n", round+1, o.Rounds)
		for _, step := range []struct {
			name string
			run  func(context.Context) error
		}{
			{"files", s.roundFiles}, {"requests", s.roundRequests},
			{"bucket", s.roundBucket}, {"latency", s.roundLatency},
			{"jetstream", s.roundJetStream}, {"tail", s.roundTail},
			{"fan-out", s.roundFanOut}, {"groups", s.roundGroups}, {"group push", s.push}, {"timers", s.roundTimers},
			{"retries", s.roundRetries}, {"filters", s.roundFilters},
			{"search", s.roundSearch},
		} {
			if err := step.run(ctx); err != nil {
				return nil, fmt.Errorf("round %d, %s: %w", round+1, step.name, err)
			}
		}
	}
	for name := range limits {
		if _, ok := s.samples[name]; !ok && s.skipped[name] == "" {
			return nil, fmt.Errorf("the goal %q was not measured", name)
		}
	}
	return s.goals(), nil
}

func (s *suite) start(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "bucketmq-bench-"); err != nil {
		return err
	}
	fmt.Fprintln(s.Log, "starting redis-server, versitygw, an embedded server and two gateways")
	if s.out, err = startOutside(ctx, s.dir); err != nil {
		return err
	}
	options, err := redis.ParseURL(s.out.redis)
	if err != nil {
		return err
	}
	s.db = redis.NewClient(options)
	if s.files, err = objstore.OpenFilesystem(filepath.Join(s.dir, "raw")); err != nil {
		return err
	}
	s.bucket, err = objstore.OpenS3(ctx, objstore.S3Options{
		Endpoint: s.out.s3, Bucket: benchBucket, Prefix: "raw/", CreateBucket: true,
		AccessKey: benchAccessKey, SecretKey: benchSecretKey,
	})
	if err != nil {
		return err
	}
	if err := s.bucket.Probe(ctx); err != nil {
		return err
	}
	if s.embedded, err = StartServer(ctx, s.Binary, nil, "serve", "--data", filepath.Join(s.dir, "embedded")); err != nil {
		return err
	}
	if s.first, err = s.startGateway(ctx); err != nil {
		return err
	}
	if s.second, err = s.startGateway(ctx); err != nil {
		return err
	}
	if s.null, err = StartServer(ctx, s.Binary, nil, "bench", "null-server"); err != nil {
		return err
	}
	return s.startPeers(ctx)
}

func (s *suite) startGateway(ctx context.Context, more ...string) (*Child, error) {
	env := []string{"BUCKETMQ_S3_ACCESS_KEY=" + benchAccessKey, "BUCKETMQ_S3_SECRET_KEY=" + benchSecretKey}
	args := append([]string{"gateway", "--redis", s.out.redis, "--s3-endpoint", s.out.s3,
		"--s3-bucket", benchBucket, "--s3-prefix", "mq/", "--s3-create-bucket"}, more...)
	c, err := StartServer(ctx, s.Binary, env, args...)
	if err == nil {
		c.Redis = s.out.redis
	}
	return c, err
}

func (s *suite) stop() {
	for _, c := range []*Child{s.null, s.embedded, s.first, s.second} {
		if c != nil {
			c.Kill()
		}
	}
	if s.db != nil {
		_ = s.db.Close()
	}
	if s.files != nil {
		_ = s.files.Close()
	}
	if s.bucket != nil {
		_ = s.bucket.Close()
	}
	if s.out != nil {
		s.out.stop()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// note keeps one sample of a figure.
func (s *suite) note(name string, value float64) {
	if _, ok := s.samples[name]; !ok {
		s.order = append(s.order, name)
	}
	s.samples[name] = append(s.samples[name], value)
}

// skip says why a figure is not measured.
func (s *suite) skip(name string, why error) { s.skipped[name] = why.Error() }

// latest is the last sample of a figure that was noted in this round.
func (s *suite) latest(name string) float64 {
	samples := s.samples[name]
	if len(samples) == 0 {
		panic("bench: not measured yet: " + name)
	}
	return samples[len(samples)-1]
}

// options are those of a load on a server of the suite.
func (s *suite) options(server Server, mode string, workers int) Options {
	o, err := Options{Server: server, Mode: mode, Workers: workers, Length: s.Step}.withDefaults()
	if err != nil {
		panic(fmt.Sprintf("bench: the suite's own options: %v", err))
	}
	return o
}
