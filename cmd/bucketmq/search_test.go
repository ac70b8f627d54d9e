package main

import (
	"strings"
	"testing"
)

// What a condition decided, and what has which key, outlive a server that is killed.
func TestConditionsAndKeysOutliveAKilledServer(t *testing.T) {
	data := t.TempDir()
	server := startServer(t, nil, "serve", "--data", data)
	succeed(t, server.URL, "", "topic", "create", "t", "--queues", "2")
	refused := func() {
		t.Helper()
		o := command(t, []string{"BUCKETMQ_URL=" + server.URL}, "", "produce", "t", "lost", "--queue", "1", "--if-next-offset", "1", "--key", "order-1")
		if o.code != exitFailure || !strings.Contains(o.stderr, "queue 1 goes on at 3") {
			t.Errorf("exit code %d: %s", o.code, o.stderr)
		}
	}
	succeed(t, server.URL, "one\ntwo\nthree\n", "produce", "t", "--queue", "1", "--if-next-offset", "0", "--batch", "1", "--key", "order-1", "--key", "all")
	refused()
	server.Kill()
	server = startServer(t, nil, "serve", "--data", data)
	refused()
	succeed(t, server.URL, "four\n", "produce", "t", "--queue", "1", "--if-next-offset", "3", "--key", "order-2", "--key", "all")
	for args, want := range map[string]string{
		"--key order-1": "one\ntwo\nthree\n", "--key all": "one\ntwo\nthree\nfour\n", "--key all --limit 2": "one\ntwo\n",
		"--key order": "", "--key all --to 1h": "", "--key order-2 --from 1h": "four\n",
	} {
		if got := succeed(t, server.URL, "", append([]string{"topic", "search", "t"}, strings.Fields(args)...)...); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}
