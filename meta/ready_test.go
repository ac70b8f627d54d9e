package meta_test

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
)

func TestMemoryRatioIsThatOfTheFullestNode(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	if got := open(t, server.Options()).MemoryRatio(); got != 0 {
		t.Errorf("without maxmemory the ratio is %v, want 0", got)
	}
	cluster := redistest.NewCluster(t)
	for name, at := range map[string]struct {
		node    *redistest.Server
		options meta.Options
	}{"standalone": {server, server.Options()}, "cluster": {cluster.Nodes[1], cluster.Options()}} {
		client := at.node.Client()
		info, err := client.Info(t.Context(), "memory").Result()
		check(t, err)
		_, rest, _ := strings.Cut(info, "used_memory:")
		text, _, _ := strings.Cut(rest, "\r")
		used, err := strconv.Atoi(text)
		check(t, err)
		check(t, client.ConfigSet(t.Context(), "maxmemory", strconv.Itoa(used*5/4)).Err())
		var log bytes.Buffer
		at.options.Log = slog.New(slog.NewTextHandler(&log, nil))
		if got := open(t, at.options).MemoryRatio(); got < 0.75 || got > 1.1 {
			t.Errorf("%s: ratio %v, want about 0.8", name, got)
		}
		if !strings.Contains(log.String(), "redis is nearly full") {
			t.Errorf("%s: no warning in %q", name, log.String())
		}
		check(t, client.ConfigSet(t.Context(), "maxmemory", strconv.Itoa(used*100)).Err())
		log.Reset()
		if got := open(t, at.options).MemoryRatio(); got <= 0 || got > 0.1 || log.Len() > 0 {
			t.Errorf("%s: ratio %v and log %q, want about 0.01 and no warning", name, got, log.String())
		}
	}
}
