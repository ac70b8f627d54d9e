package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

func TestDelayedMessagesOutliveAKilledServer(t *testing.T) {
	data, address := t.TempDir(), freeAddress(t)
	server := startFixed(t, data, address)
	succeed(t, server.URL, "", "topic", "create", "later", "--queues", "1", "--type", "delay")
	began := time.Now()
	for _, how := range [][]string{{"--delay", "2s"}, {"--deliver-at", began.Add(1500 * time.Millisecond).Format(time.RFC3339Nano)}, {"--delay-level", "1"}} {
		line := succeed(t, server.URL, "", append([]string{"produce", "later", "--json", how[1]}, how...)...)
		r := decode[client.Result](t, line)
		if r.RecallHandle == "" || r.Offset != -1 {
			t.Errorf("produce %v: %s", how, line)
		}
	}
	line := succeed(t, server.URL, "", "produce", "later", "recalled", "--json", "--delay", "2s")
	handle := decode[client.Result](t, line).RecallHandle
	succeed(t, server.URL, "", "recall", "later", handle)
	succeed(t, server.URL, "", "recall", "later", handle) // the same answer
	if o := command(t, []string{"BUCKETMQ_URL=" + server.URL}, "", "recall", "later", "nothing"); o.code != 1 || !strings.Contains(o.stderr, "handle_not_found") {
		t.Errorf("a handle that is none: %d %s", o.code, o.stderr)
	}
	if got := succeed(t, server.URL, "", "consume", "later"); got != "" && time.Since(began) < time.Second {
		t.Errorf("at once: %q", got)
	}
	server.Kill()
	server = startFixed(t, data, address)
	waitFor(t, "the delayed messages come", func() bool {
		return strings.Count(succeed(t, server.URL, "", "consume", "later"), "\n") >= 3
	})
	if time.Since(began) < 2*time.Second {
		t.Error("the last one is early")
	}
	server.Kill()
	server = startFixed(t, data, address)
	if got := succeed(t, server.URL, "", "consume", "later"); strings.Count(got, "\n") != 3 || strings.Contains(got, "recalled") {
		t.Errorf("after another start: %q", got)
	}
}

func TestWrongDelaysAreWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--delay", "1s", "--delay-level", "2"}, {"--delay=-1s"}, {"--delay", "5us"}, {"--deliver-at", "soon"}} {
		if o := command(t, nil, "", append([]string{"produce", "later", "x"}, args...)...); o.code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, o.code, o.stderr)
		}
	}
}
