package meta_test

import (
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/meta"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		urls []string
		want meta.Options
		tls  bool
	}{
		{urls: []string{"redis://localhost"}, want: meta.Options{Mode: "standalone", Addrs: []string{"localhost:6379"}}},
		{urls: []string{"rediss://u:p%40ss@h:1/3"}, tls: true,
			want: meta.Options{Mode: "standalone", Addrs: []string{"h:1"}, Username: "u", Password: "p@ss", DB: 3}},
		{urls: []string{"sentinel://:secret@a:1,b/main?sentinel_password=other"},
			want: meta.Options{Mode: "sentinel", Addrs: []string{"a:1", "b:26379"}, Password: "secret", SentinelPassword: "other", MasterName: "main"}},
		{urls: []string{"cluster://a:1,b:2?tls=true"}, tls: true, want: meta.Options{Mode: "cluster", Addrs: []string{"a:1", "b:2"}}},
		{urls: []string{"redis://[::1]"}, want: meta.Options{Mode: "standalone", Addrs: []string{"[::1]:6379"}}},
		{urls: []string{"cluster://a:1", "cluster://b:2"}, want: meta.Options{Mode: "cluster", Addrs: []string{"a:1", "b:2"}}},
	} {
		got, err := meta.ParseURL(c.urls)
		if err != nil {
			t.Errorf("%v: %v", c.urls, err)
			continue
		}
		if (got.TLS != nil) != c.tls {
			t.Errorf("%v: TLS is %v", c.urls, got.TLS)
		}
		got.TLS = nil
		equal(t, c.urls[0], got, c.want)
	}
}

func TestParseURLErrorsKeepThePassword(t *testing.T) {
	t.Parallel()
	for _, urls := range [][]string{
		nil, {""}, {"http://:canary@h"}, {"redis://:canary@"}, {"redis://:canary@a,b"}, {"redis://:canary@h/x"}, {"redis://:canary@h:x:y"},
		{"sentinel://:canary@h"}, {"cluster://:canary@h/1"}, {"redis://:canary@h", "redis://g"}, {"cluster://:canary@a", "sentinel://b/m"},
		{"redis://:canary@h:port\x7f"},
	} {
		got, err := meta.ParseURL(urls)
		if err == nil {
			t.Errorf("%v: accepted as %+v", urls, got)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func TestOpenRefusesUnfitOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]meta.Options{
		"no address":           {},
		"two addresses":        {Addrs: []string{"a:1", "b:1"}},
		"sentinel, no master":  {Mode: meta.ModeSentinel, Addrs: []string{"a:1"}},
		"cluster and database": {Mode: meta.ModeCluster, Addrs: []string{"a:1"}, DB: 1},
		"unknown mode":         {Mode: "ring", Addrs: []string{"a:1"}},
	} {
		if _, err := meta.Open(t.Context(), o); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}
