package objstore_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

func TestProbeAcceptsARealServerAndLeavesNothing(t *testing.T) {
	server := s3test.New(t)
	for _, prefix := range []string{"", "team/a"} {
		o := s3test.Bucket(t, server)
		o.Prefix = prefix
		if err := openS3(t, o).Probe(t.Context()); err != nil {
			t.Fatalf("prefix %q: %v", prefix, err)
		}
		o.Prefix = ""
		for info, err := range openS3(t, o).List(t.Context(), "", "") {
			t.Errorf("the probe left %q, error %v", info.Key, err)
		}
	}
}

// lifecycleRule answers the read of the lifecycle rules with one rule.
func lifecycleRule(rule string) *s3test.Rule {
	return &s3test.Rule{Method: http.MethodGet, Path: "lifecycle", Fault: s3test.Body(http.StatusOK,
		`<LifecycleConfiguration><Rule><ID>tidy</ID>`+rule+`</Rule></LifecycleConfiguration>`)}
}

func TestProbeLifecycleRules(t *testing.T) {
	server := s3test.New(t)
	const expires = `<Expiration><Days>7</Days></Expiration>`
	for _, test := range []struct {
		name, prefix string
		rule         *s3test.Rule
		refused      bool
	}{
		{"whole bucket", "", lifecycleRule(`<Status>Enabled</Status><Filter></Filter>` + expires), true},
		{"whole bucket, old form", "mq", lifecycleRule(`<Status>Enabled</Status><Prefix></Prefix>` + expires), true},
		{"above our prefix", "mq/prod", lifecycleRule(`<Status>Enabled</Status><Filter><Prefix>mq/</Prefix></Filter>` + expires), true},
		{"inside our prefix", "mq", lifecycleRule(`<Status>Enabled</Status><Filter><Prefix>mq/log/</Prefix></Filter>` + expires), true},
		{"on a date", "", lifecycleRule(`<Status>Enabled</Status><Filter></Filter><Expiration><Date>2030-01-01T00:00:00Z</Date></Expiration>`), true},
		{"archives", "", lifecycleRule(`<Status>Enabled</Status><Filter></Filter><Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>`), true},
		{"another prefix", "mq", lifecycleRule(`<Status>Enabled</Status><Filter><Prefix>backup/</Prefix></Filter>` + expires), false},
		{"disabled", "", lifecycleRule(`<Status>Disabled</Status><Filter></Filter>` + expires), false},
		{"only tagged objects", "", lifecycleRule(`<Status>Enabled</Status><Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>` + expires), false},
		{"only uploads", "", lifecycleRule(`<Status>Enabled</Status><Filter></Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>`), false},
		{"no rules", "", &s3test.Rule{Path: "lifecycle", Fault: s3test.Status(404, "NoSuchLifecycleConfiguration")}, false},
		{"no such feature", "", &s3test.Rule{Path: "lifecycle", Fault: s3test.Status(501, "NotImplemented")}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			proxy := s3test.NewProxy(t, s3test.Bucket(t, server))
			proxy.Add(test.rule)
			o := proxy.Options()
			o.Prefix = test.prefix
			err := openS3(t, o).Probe(t.Context())
			if refused := err != nil; refused != test.refused {
				t.Errorf("got error %v, want a refusal: %t", err, test.refused)
			}
			if test.refused && !strings.Contains(err.Error(), `lifecycle rule "tidy"`) {
				t.Errorf("the error does not name the rule: %v", err)
			}
		})
	}
}

func TestProbeWarnsWhenRulesAreHidden(t *testing.T) {
	proxy := s3test.NewProxy(t, s3test.New(t))
	proxy.Add(&s3test.Rule{Path: "lifecycle", Fault: s3test.Status(403, "AccessDenied")})
	var logged strings.Builder
	o := proxy.Options()
	o.Log = slog.New(slog.NewTextHandler(&logged, nil))
	if err := openS3(t, o).Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(logged.String(), "lifecycle") {
		t.Errorf("got log %q, want a warning", logged.String())
	}
}

func TestProbeRefuses(t *testing.T) {
	server := s3test.New(t)
	for _, test := range []struct {
		name    string
		rule    *s3test.Rule
		options func(o *objstore.S3Options)
		want    string
	}{
		{name: "conditions that are ignored", want: "If-None-Match",
			rule: &s3test.Rule{Method: http.MethodPut, Fault: s3test.Unconditional()}},
		{name: "an absent bucket", want: "does not exist",
			options: func(o *objstore.S3Options) { o.Bucket = "nobody-made-this" }},
		{name: "a wrong secret key", want: "secret key is wrong",
			options: func(o *objstore.S3Options) { o.SecretKey = "wrong-secret" }},
		{name: "a wrong access key", want: "access key or the secret key is wrong",
			options: func(o *objstore.S3Options) { o.AccessKey = "nobody" }},
		{name: "a read-only key", want: "put a probe object",
			rule: &s3test.Rule{Method: http.MethodPut, Fault: s3test.Status(403, "AccessDenied")}},
		{name: "a key that may not list", want: "may not list",
			rule: &s3test.Rule{Path: "list-type", Fault: s3test.Status(403, "AccessDenied")}},
		{name: "a stale list", want: "does not list an object right after",
			rule: &s3test.Rule{Path: "list-type", Skip: 1, Fault: s3test.Body(200, `<ListBucketResult></ListBucketResult>`)}},
		{name: "an object that is not there yet", want: "right after it was put",
			rule: &s3test.Rule{Method: http.MethodGet, Path: "/probe/", Fault: s3test.NotYet()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			proxy := s3test.NewProxy(t, s3test.Bucket(t, server))
			if test.rule != nil {
				proxy.Add(test.rule)
			}
			o := proxy.Options()
			if test.options != nil {
				test.options(&o)
			}
			err := openS3(t, o).Probe(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
			}
			if absent := test.name == "an absent bucket"; errors.Is(err, objstore.ErrNoBucket) != absent {
				t.Errorf("got error %v, want ErrNoBucket: %t", err, absent)
			}
		})
	}
}

// TestProbeWaitsForAServerThatComesUp, as services start together.
func TestProbeWaitsForAServerThatComesUp(t *testing.T) {
	server := s3test.Start(t)
	logged := make(chan string, 1)
	o := server.Options()
	o.Log = slog.New(slog.NewTextHandler(lines(logged), nil))
	s := openS3(t, o)
	s.SetPatience(500 * time.Millisecond)
	server.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := s.Probe(ctx); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got error %v, want it to say that the connection was refused", err)
	}
	if line := <-logged; !strings.Contains(line, "still waiting for the object store") || !strings.Contains(line, "refused") {
		t.Errorf("got log %q, want it to say what the start waits for", line)
	}
	done := make(chan error, 1)
	go func() { done <- s.Probe(t.Context()) }()
	<-logged
	server.Restart()
	if err := <-done; err != nil {
		t.Errorf("got error %v once the server is there", err)
	}
}

// lines is a writer that hands each written line over.
type lines chan<- string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestProbeSurvivesFaults(t *testing.T) {
	server := s3test.New(t)
	for name, fault := range map[string]s3test.Fault{
		"slow down":          s3test.Status(503, "SlowDown"),
		"internal error":     s3test.Status(500, "InternalError"),
		"drop after success": s3test.DropAfter(),
	} {
		t.Run(name, func(t *testing.T) {
			s, proxy := spoilt(t, server)
			proxy.Add(&s3test.Rule{Method: http.MethodPut, Skip: 3, Times: 3, Fault: fault})
			if err := s.Probe(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPutWithoutTheChecksumHeader: services that refuse it still work.
func TestPutWithoutTheChecksumHeader(t *testing.T) {
	proxy := s3test.NewProxy(t, s3test.New(t))
	proxy.Add(&s3test.Rule{Method: http.MethodPut, Header: "X-Amz-Checksum-Crc32c", Fault: s3test.Status(501, "NotImplemented")})
	s := openS3(t, proxy.Options())
	for _, key := range []string{"a", "b", "c"} {
		if err := s.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	if got := proxy.Calls()[http.MethodPut]; got != 4 {
		t.Errorf("3 objects took %d PUTs, want 4: the refusal is met once", got)
	}
}
