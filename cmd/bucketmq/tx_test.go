package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

// TestTransactionCommandsOfTheCommandLine runs every command on transactions
// against a server that is killed and started again in between.
func TestTransactionCommandsOfTheCommandLine(t *testing.T) {
	data := t.TempDir()
	server := startServer(t, nil, "serve", "--data", data)
	env := []string{"BUCKETMQ_URL=" + server.URL}
	ok := func(want string, args ...string) string {
		t.Helper()
		o := command(t, env, "", args...)
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Fatalf("bucketmq %s: exit code %d, want 0 and %q:\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
		}
		return strings.TrimSpace(o.stdout)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if o := command(t, env, "", args...); o.code == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("bucketmq %s: exit code %d, want a failure and %q:\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
		}
	}
	ok("deals", "topic", "create", "deals", "--queues", "1", "--type", "transaction")
	ok("stock", "topic", "create", "stock", "--queues", "1", "--type", "mixed")
	ok("plain", "topic", "create", "plain")
	refused("TOPIC=MESSAGE", "tx", "begin", "sellers", "deals")
	refused("type transaction or mixed", "tx", "begin", "sellers", "plain=x")
	refused("transaction_not_found", "tx", "show", "nothing")

	committed := ok("", "tx", "begin", "sellers", "deals=one", "stock=two=2", "deals=three", "--reference", "order-1")
	rolled := ok("", "tx", "begin", "sellers", "deals=never", "--check-after", "10m")
	forgotten := ok("", "tx", "begin", "sellers", "deals=forgotten", "--check-after", "1ms")
	ok("open, of sellers", "tx", "show", committed)
	ok("reference order-1", "tx", "show", committed)
	if got := ok("", "consume", "deals", "--from", "earliest"); got != "" {
		t.Errorf("half messages are readable: %q", got)
	}
	ok(`"body":"three"`, "tx", "show", committed, "--messages")
	ok("deals: 2 messages; queue 0 from offset 0", "tx", "commit", committed)
	ok("rolled_back", "tx", "rollback", rolled)
	refused("transaction_decided", "tx", "commit", rolled)
	ok(rolled, "tx", "list", "sellers", "--state", "rolled_back")

	server.Kill()
	server = startServer(t, nil, "serve", "--data", data)
	env = []string{"BUCKETMQ_URL=" + server.URL}
	refused("transaction_decided", "tx", "commit", rolled)
	refused("transaction_decided", "tx", "rollback", committed)
	check := ok(forgotten, "tx", "checks", "sellers", "--wait", "10s", "--json")
	var asked client.Transaction
	if err := json.Unmarshal([]byte(check), &asked); err != nil || asked.Checks != 1 || asked.State != "open" {
		t.Errorf("check %s: %v", check, err)
	}
	ok("committed", "tx", "commit", forgotten)
	want := "one\nthree\nforgotten"
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		got := ok("", "consume", "deals", "--from", "earliest")
		if got == want {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("readable after a crash: %q, want %q", got, want)
		}
	}
	if got := ok("", "consume", "stock", "--from", "earliest"); got != "two=2" {
		t.Errorf("stock: %q", got)
	}
	if lines := strings.Split(ok("", "tx", "list", "sellers"), "\n"); len(lines) != 4 {
		t.Errorf("list:\n%s", strings.Join(lines, "\n"))
	}
}
