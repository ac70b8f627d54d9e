package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"github.com/redis/go-redis/v9"

	"github.com/bucketmq/bucketmq/objstore"
)

// Raw is a limit of the machine, taken without any of our server.
type Raw struct {
	PerSecond    float64 // operations
	MiBPerSecond float64
	Latency      *Quantiles
}

// rawPut stores objects of one size, so many at a time.
func rawPut(ctx context.Context, s objstore.Store, size, inFlight int, length time.Duration) (Raw, []string, error) {
	body := make([]byte, size)
	if _, err := rand.Read(body); err != nil {
		return Raw{}, nil, err
	}
	keys := make([][]string, inFlight)
	sum, err := load{workers: inFlight, length: length}.run(ctx,
		func(ctx context.Context, n int) (func() error, func(), error) {
			return func() error {
				key := "raw/" + uuid.NewString()
				keys[n] = append(keys[n], key)
				return s.Put(ctx, key, body)
			}, func() {}, nil
		})
	if err != nil {
		return Raw{}, nil, fmt.Errorf("raw put: %w", err)
	}
	var all []string
	for _, k := range keys {
		all = append(all, k...)
	}
	return sum.raw(size), all, nil
}

// rawGet reads ranges of one size from objects that are there.
func rawGet(ctx context.Context, s objstore.Store, keys []string, objectSize, size, inFlight int, length time.Duration) (Raw, error) {
	ranges := max(objectSize/size, 1)
	sum, err := load{workers: inFlight, length: length}.run(ctx,
		func(ctx context.Context, n int) (func() error, func(), error) {
			at := n * ranges
			return func() error {
				key := keys[at/ranges%len(keys)]
				off := int64(at % ranges * size)
				at++
				_, err := s.Get(ctx, key, off, int64(min(size, objectSize)))
				return err
			}, func() {}, nil
		})
	if err != nil {
		return Raw{}, fmt.Errorf("raw get: %w", err)
	}
	return sum.raw(size), nil
}

// rawScript is about what a commit of one entry costs Redis at least.
var rawScript = redis.NewScript(`
local next = redis.call("HINCRBY", KEYS[1], "n", 100)
redis.call("RPUSH", KEYS[2], ARGV[1])
redis.call("HSET", KEYS[1], "last", ARGV[2])
redis.call("PUBLISH", KEYS[3], ARGV[1])
return next`)

// rawRedis runs that script on several connections.
func rawRedis(ctx context.Context, address string, connections int, length time.Duration) (Raw, error) {
	o, err := redis.ParseURL(address)
	if err != nil {
		return Raw{}, fmt.Errorf("raw redis: %w", err)
	}
	db := redis.NewClient(o)
	defer db.Close()
	entry := string(filler(60))
	keys := []string{"{raw}head", "{raw}hot", "{raw}feed"}
	defer db.Del(context.WithoutCancel(ctx), keys...)
	sum, err := load{workers: connections, length: length}.run(ctx,
		func(ctx context.Context, n int) (func() error, func(), error) {
			return func() error { return rawScript.Run(ctx, db, keys, entry, n).Err() }, func() {}, nil
		})
	if err != nil {
		return Raw{}, fmt.Errorf("raw redis: %w", err)
	}
	return sum.raw(0), nil
}

// rawPost posts a body to the null server.
func rawPost(ctx context.Context, url string, size, connections int, length time.Duration) (Raw, error) {
	host, err := hostOf(url)
	if err != nil {
		return Raw{}, err
	}
	request := rawRequest("POST", host, "/v1/topics/null/messages/raw", "application/octet-stream", filler(size))
	sum, err := load{workers: connections, length: length}.run(ctx,
		func(ctx context.Context, _ int) (func() error, func(), error) {
			w, err := dialWire(ctx, host)
			if err != nil {
				return nil, nil, err
			}
			return func() error {
				status, err := w.do(request)
				if err == nil && status != http.StatusOK {
					err = &errStatus{status, string(w.body)}
				}
				return err
			}, w.close, nil
		})
	if err != nil {
		return Raw{}, fmt.Errorf("raw post: %w", err)
	}
	return sum.raw(size), nil
}

func (t *tally) raw(size int) Raw {
	seconds := time.Since(t.began).Seconds()
	r := Raw{PerSecond: float64(t.requests) / seconds, Latency: t.latencies.quantiles()}
	r.MiBPerSecond = r.PerSecond * float64(size) / (1 << 20)
	return r
}

// Null is the empty handler that produce is compared with: the same router, the
// body read, an answer of the same length as a real one, nothing stored.
func Null() http.Handler {
	e := echo.New()
	answer := []byte(`{"stored":1,"failed":0,"results":[{"index":0,"status":"stored",` +
		`"message_id":"019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00","queue":0,"offset":1234567,"duplicate":false}]}`)
	e.POST("/v1/topics/:topic/messages/raw", func(c echo.Context) error {
		if _, err := io.Copy(io.Discard, c.Request().Body); err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "application/json", answer)
	})
	return e
}
