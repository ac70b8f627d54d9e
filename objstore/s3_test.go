package objstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// attemptTimeout lets a test of a hanging service end soon.
const attemptTimeout = 500 * time.Millisecond

// spoilt returns a store behind a proxy in front of a real server.
func spoilt(t *testing.T, server objstore.S3Options) (*objstore.S3, *s3test.Proxy) {
	t.Helper()
	proxy := s3test.NewProxy(t, s3test.Bucket(t, server))
	o := proxy.Options()
	o.AttemptTimeout = attemptTimeout
	return openS3(t, o), proxy
}

func object(n int) []byte { return bytes.Repeat([]byte("0123456789"), n/10) }

// TestS3PutSurvivesFaults: whatever happens to the first requests, Put stores
// the object once and says so.
func TestS3PutSurvivesFaults(t *testing.T) {
	server := s3test.New(t)
	for _, test := range []struct {
		name  string
		fault s3test.Fault
		times int
	}{
		{"internal error", s3test.Status(500, "InternalError"), 2},
		{"internal error after success", s3test.StatusAfter(500, "InternalError"), 1},
		{"slow down", s3test.Status(503, "SlowDown"), 3},
		{"bad gateway without a body", s3test.Status(502, ""), 2},
		{"too many requests", s3test.Status(429, "TooManyRequests"), 2},
		{"conflict", s3test.Status(409, "ConditionalRequestConflict"), 2},
		{"request timeout", s3test.Status(400, "RequestTimeout"), 2},
		{"hang before", s3test.HangBefore(), 1},
		{"hang after success", s3test.HangAfter(), 1},
		{"drop before", s3test.DropBefore(), 2},
		{"drop after success", s3test.DropAfter(), 2},
		{"bit flip on the way", s3test.FlipRequest(777), 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, proxy := spoilt(t, server)
			rule := proxy.Add(&s3test.Rule{Method: http.MethodPut, Times: test.times, Fault: test.fault})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			body := object(50_000)
			if err := s.Put(ctx, "log/a/1", body); err != nil {
				t.Fatalf("put: %v", err)
			}
			if got, err := s.Get(ctx, "log/a/1", 0, -1); err != nil || !bytes.Equal(got, body) {
				t.Errorf("get: %d bytes, error %v", len(got), err)
			}
			if rule.Hits() != test.times {
				t.Errorf("the fault fired %d times, want %d", rule.Hits(), test.times)
			}
			if got, want := s.Requests()["put"], uint64(proxy.Calls()[http.MethodPut]); got != want {
				t.Errorf("%d PUTs are counted, and %d were sent", got, want)
			}
		})
	}
}

// TestS3PutTellsUnknownFromNotStored when it has to give up.
func TestS3PutTellsUnknownFromNotStored(t *testing.T) {
	server := s3test.New(t)
	for _, test := range []struct {
		name      string
		fault     s3test.Fault
		notStored bool
		stored    bool
	}{
		{"slow down", s3test.Status(503, "SlowDown"), true, false},
		{"access denied", s3test.Status(403, "AccessDenied"), true, false},
		{"no bucket", s3test.Status(404, "NoSuchBucket"), true, false},
		{"internal error", s3test.Status(500, "InternalError"), false, false},
		{"hang before", s3test.HangBefore(), false, false},
		{"hang after success", s3test.HangAfter(), false, true},
		{"drop after success", s3test.DropAfter(), false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, proxy := spoilt(t, server)
			proxy.Add(&s3test.Rule{Method: http.MethodPut, Fault: test.fault})
			proxy.Add(&s3test.Rule{Method: http.MethodGet, Path: "/log/", Fault: s3test.DropBefore()}) // no comparison
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			body := object(1000)
			err := s.Put(ctx, "log/a/1", body)
			if err == nil || errors.Is(err, objstore.ErrNotStored) != test.notStored {
				t.Errorf("put: got error %v, want ErrNotStored: %t", err, test.notStored)
			}
			proxy.Clear()
			_, err = s.Get(t.Context(), "log/a/1", 0, -1)
			if stored := err == nil; stored != test.stored {
				t.Errorf("stored: got %t (%v), want %t", stored, err, test.stored)
			}
			if err := s.Put(t.Context(), "log/a/1", body); err != nil {
				t.Errorf("the same put once the service is well: %v", err)
			}
		})
	}
}

func TestS3PutWithoutAServer(t *testing.T) {
	server := s3test.Start(t)
	s := openS3(t, server.Options())
	if err := s.Put(t.Context(), "log/a/1", object(100)); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	_ = s.Close() // the connection that was open may have carried a request
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := s.Put(ctx, "log/a/2", object(100)); !errors.Is(err, objstore.ErrNotStored) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put: got error %v, want ErrNotStored and DeadlineExceeded", err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Put(t.Context(), "log/a/3", object(100)) }()
	server.Restart()
	if err := <-done; err != nil {
		t.Errorf("put while the server came back: %v", err)
	}
	if got, err := s.Get(t.Context(), "log/a/1", 0, -1); err != nil || len(got) != 100 {
		t.Errorf("get after the restart: %d bytes, error %v", len(got), err)
	}
}

// TestS3LateDuplicateChangesNothing: a PUT that was on its way for long arrives
// after its object was stored.
func TestS3LateDuplicateChangesNothing(t *testing.T) {
	s, proxy := spoilt(t, s3test.New(t))
	done := make(chan int, 1)
	proxy.Add(&s3test.Rule{Method: http.MethodPut, Times: 1, Fault: s3test.Again(50*time.Millisecond, done)})
	body := object(2000)
	if err := s.Put(t.Context(), "log/a/1", body); err != nil {
		t.Fatal(err)
	}
	if status := <-done; status != http.StatusPreconditionFailed {
		t.Errorf("the late duplicate was answered %d, want 412", status)
	}
	if got, err := s.Get(t.Context(), "log/a/1", 0, -1); err != nil || !bytes.Equal(got, body) {
		t.Errorf("get: %d bytes, error %v", len(got), err)
	}
}

// TestS3GetSurvivesFaults: a spoilt answer is asked for again, never believed.
func TestS3GetSurvivesFaults(t *testing.T) {
	server := s3test.New(t)
	for _, test := range []struct {
		name  string
		fault s3test.Fault
	}{
		{"internal error", s3test.Status(500, "InternalError")},
		{"slow down", s3test.Status(503, "SlowDown")},
		{"hang", s3test.HangBefore()},
		{"drop", s3test.DropAfter()},
		{"truncated", s3test.Truncate(300)},
		{"nothing but a header", s3test.Truncate(0)},
		{"shorter than its range", s3test.Shorten(300)},
		{"slow drip", s3test.Slow(20 * time.Millisecond)},
		{"whole object for a range", s3test.WholeForRange()},
		{"another range", s3test.OtherRange(2000, 2999)},
		{"a longer range", s3test.OtherRange(1000, 2999)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, proxy := spoilt(t, server)
			body := object(10_000)
			if err := s.Put(t.Context(), "log/a/1", body); err != nil {
				t.Fatal(err)
			}
			rule := proxy.Add(&s3test.Rule{Method: http.MethodGet, Times: 2, Fault: test.fault})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if got, err := s.Get(ctx, "log/a/1", 1000, 1000); err != nil || !bytes.Equal(got, body[1000:2000]) {
				t.Errorf("get: %d bytes, error %v", len(got), err)
			}
			if rule.Hits() != 2 || s.Requests()["get"] != 3 {
				t.Errorf("the fault fired %d times and %d GETs are counted, want 2 and 3", rule.Hits(), s.Requests()["get"])
			}
		})
	}
}

func TestS3ListSurvivesFaults(t *testing.T) {
	s, proxy := spoilt(t, s3test.New(t))
	for i := range 5 {
		if err := s.Put(t.Context(), fmt.Sprintf("log/a/%d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, fault := range []s3test.Fault{
		s3test.Status(500, "InternalError"), s3test.Status(503, "SlowDown"), s3test.HangBefore(), s3test.DropAfter(), s3test.Truncate(200),
	} {
		proxy.Clear()
		rule := proxy.Add(&s3test.Rule{Method: http.MethodGet, Path: "list-type", Times: 1, Fault: fault})
		count := 0
		for _, err := range s.List(t.Context(), "log/", "") {
			if err != nil {
				t.Fatalf("list: %v", err)
			}
			count++
		}
		if count != 5 || rule.Hits() != 1 {
			t.Errorf("got %d objects after %d faults, want 5 after 1", count, rule.Hits())
		}
	}
}

// TestS3SlowDownLowersTheRate: many callers together must not hammer a service
// that asks for fewer requests.
func TestS3SlowDownLowersTheRate(t *testing.T) {
	s, proxy := spoilt(t, s3test.New(t))
	rule := proxy.Add(&s3test.Rule{Method: http.MethodGet, Fault: s3test.Status(503, "SlowDown")})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := s.Get(ctx, "log/a/1", 0, -1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("get: got error %v, want DeadlineExceeded", err)
			}
		})
	}
	wg.Wait()
	// The pauses of 100 callers alone would let about 600 through.
	if hits := rule.Hits(); hits < 10 || hits > 250 {
		t.Errorf("%d requests in 2 s, want the rate to be lowered", hits)
	}
	proxy.Clear()
	if _, err := s.Get(t.Context(), "log/a/1", 0, -1); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("get once the service is well: %v", err)
	}
}

func TestS3ErrorsKeepSecrets(t *testing.T) {
	o := s3test.New(t)
	secret := o.SecretKey
	for _, text := range []string{fmt.Sprint(o), fmt.Sprintf("%+v", o), fmt.Sprintf("%#v", o)} {
		if strings.Contains(text, secret) {
			t.Errorf("the options print the secret key: %s", text)
		}
	}
	proxy := s3test.NewProxy(t, o)
	proxy.Add(&s3test.Rule{Fault: s3test.Status(403, "Bad"+secret)})
	s := openS3(t, proxy.Options())
	errs := []error{s.Put(t.Context(), "a", nil), s.Delete(t.Context(), "a"), s.Probe(t.Context())}
	_, err := s.Get(t.Context(), "a", 0, -1)
	for _, err := range append(errs, err) {
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "[redacted]") {
			t.Errorf("got error %v, want it with the secret redacted", err)
		}
	}
	o.Endpoint = "http://user:" + secret + "@127.0.0.1:1"
	if _, err := objstore.OpenS3(t.Context(), o); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("open: got error %v, want a refusal that does not quote the URL", err)
	}
}

func TestS3RefusesOptionsThatCannotWork(t *testing.T) {
	good := objstore.S3Options{Endpoint: "http://127.0.0.1:1", Bucket: "queue", AccessKey: "access", SecretKey: "secret"}
	for name, change := range map[string]func(o *objstore.S3Options){
		"no bucket":               func(o *objstore.S3Options) { o.Bucket = "" },
		"a bucket name too short": func(o *objstore.S3Options) { o.Bucket = "q" },
		"a bucket with a slash":   func(o *objstore.S3Options) { o.Bucket = "queue/logs" },
		"half a pair of keys":     func(o *objstore.S3Options) { o.SecretKey = "" },
		"an endpoint with a path": func(o *objstore.S3Options) { o.Endpoint += "/queue" },
		"an endpoint of no kind":  func(o *objstore.S3Options) { o.Endpoint = "ftp://127.0.0.1" },
		"a prefix that climbs":    func(o *objstore.S3Options) { o.Prefix = "../other" },
	} {
		o := good
		change(&o)
		if s, err := objstore.OpenS3(t.Context(), o); err == nil {
			t.Errorf("%s is taken", name)
			_ = s.Close()
		}
	}
	s, err := objstore.OpenS3(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

// TestS3SignedBodies: over a network that is not trusted the signature covers
// the body, and a changed body is refused and sent again.
func TestS3SignedBodies(t *testing.T) {
	s, proxy := spoilt(t, s3test.New(t))
	s.SignBodies()
	rule := proxy.Add(&s3test.Rule{Method: http.MethodPut, Times: 1, Fault: s3test.FlipRequest(5)})
	for _, body := range [][]byte{object(1000), nil} {
		key := fmt.Sprintf("signed/%d", len(body))
		if err := s.Put(t.Context(), key, body); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), key, 0, -1); err != nil || !bytes.Equal(got, body) {
			t.Errorf("get: %d bytes, error %v", len(got), err)
		}
	}
	if rule.Hits() != 1 || proxy.Calls()[http.MethodPut] != 3 {
		t.Errorf("%d faults and %d PUTs, want 1 and 3", rule.Hits(), proxy.Calls()[http.MethodPut])
	}
}

// TestS3IdleSendsNothing: an open store costs no request.
func TestS3IdleSendsNothing(t *testing.T) {
	s, proxy := spoilt(t, s3test.New(t))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if calls := proxy.Calls(); len(calls) != 0 {
		t.Errorf("open and close sent %v", calls)
	}
}
