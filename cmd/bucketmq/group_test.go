package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

// TestGroupCommandsLookAfterAGroup runs every command on groups against a server.
func TestGroupCommandsLookAfterAGroup(t *testing.T) {
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	env := []string{"BUCKETMQ_URL=" + server.URL}
	ok := func(want string, args ...string) string {
		t.Helper()
		o := command(t, env, "", args...)
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Fatalf("bucketmq %s: exit code %d, want 0 and %q:\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
		}
		return o.stdout
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if o := command(t, env, "", args...); o.code == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("bucketmq %s: exit code %d, want a failure and %q:\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
		}
	}
	ok("orders", "topic", "create", "orders", "--queues", "2")
	refused("bucketmq group create", "group", "describe", "billing")
	ok("billing: clustering", "group", "create", "billing", "--from", "first", "--attribute", "owner=me")
	ok("billing: clustering", "group", "create", "billing", "--if-not-exists")
	refused("--if-not-exists", "group", "create", "billing")
	ok("ordered", "group", "update", "billing", "--ordered")
	ok(`"ordered":false`, "group", "update", "billing", "--no-ordered", "--json")
	ok(`"delays_ms":[1000,60000]`, "group", "update", "billing", "--retry-delay", "1s", "--retry-delay", "1m", "--json")
	ok(`"resume_window_ms":5000`, "group", "update", "billing", "--resume-window", "5s", "--revoke-timeout", "20s", "--json")
	ok(`"deny_ips":["10.0.0.0/8"]`, "group", "update", "billing", "--deny-ip", "10.0.0.0/8", "--json")
	ok(`"deny_ips":[]`, "group", "update", "billing", "--deny-ip", "none", "--json")
	ok("billing", "group", "list")
	ok("all: broadcasting", "group", "create", "all", "--broadcast")
	refused("want first, last", "group", "create", "x", "--from", "soon")

	ok("", "produce", "orders", "a", "b", "c")
	printed := ok("", "consume", "orders", "--group", "billing")
	if got := strings.Fields(printed); len(got) != 3 {
		t.Errorf("consume --group printed %q, want three messages", printed)
	}
	if again := ok("", "consume", "orders", "--group", "billing"); again != "" {
		t.Errorf("what was printed and committed came again: %q", again)
	}
	lines := ok("orders", "group", "offsets", "billing", "--json")
	if strings.Count(lines, `"lag":0`) != 2 {
		t.Errorf("offsets %s, want no lag in two queues", lines)
	}
	ok("running", "group", "offsets", "billing", "--topic", "orders")
	ok("attribute owner", "group", "describe", "billing")
	ok("generation", "group", "describe", "billing")
	ok("generation", "group", "assignments", "billing")
	ok("CLIENT", "group", "members", "billing")
	ok(`"orders@billing"`, "group", "export", "billing")
	ok("VERSION", "group", "reset", "billing", "orders", "--to=-1", "--dry-run")
	ok(`"new_version":2`, "group", "reset", "billing", "orders", "--to", "earliest", "--json")
	if got := strings.Fields(ok("", "consume", "orders", "--group", "billing", "--limit", "2")); len(got) != 2 {
		t.Errorf("with a limit of 2 came %q", got)
	}
	if got := strings.Fields(ok("", "consume", "orders", "--group", "billing")); len(got) != 1 {
		t.Errorf("after two of three came %q, want the last one", got)
	}
	refused("want earliest", "group", "reset", "billing", "orders", "--to", "then")
	ok("", "group", "stop", "billing", "orders", "0")
	ok("stopped", "group", "offsets", "billing")
	ok("", "group", "start", "billing", "orders", "0")
	ok("concurrency", "group", "settings", "billing", "orders", "--set", "concurrency=4", "--set", "tags=paid")
	ok(`"concurrency":4`, "group", "settings", "billing", "--json")
	refused("name it", "group", "settings", "billing", "--set", "concurrency=4")
	refused("--yes", "group", "delete", "billing")
	refused("bucketmq group reset", "consume", "orders", "--group", "billing", "--from", "latest")
	refused("--group", "consume", "orders", "--shared")

	ok("shared", "group", "create", "shared", "--from", "first")
	if got := strings.Fields(ok("", "consume", "orders", "--group", "shared", "--shared")); len(got) != 3 {
		t.Errorf("consume --shared printed %q", got)
	}
	if again := ok("", "consume", "orders", "--group", "shared", "--shared"); again != "" {
		t.Errorf("what was acknowledged came again: %q", again)
	}
	ok("", "group", "delete", "billing", "--yes", "--force")
}

// TestConsumeForAGroupFollows keeps a member running over a restart of the server.
func TestConsumeForAGroupFollows(t *testing.T) {
	data, address := t.TempDir(), freeAddress(t)
	server := startFixed(t, data, address)
	cl, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	first := "first"
	queues := int64(1)
	if _, err := cl.CreateTopic(t.Context(), "orders", client.TopicSettings{Queues: &queues}); err != nil {
		t.Fatal(err)
	}
	if _, err := cl.CreateGroup(t.Context(), "billing", client.GroupSettings{ConsumeFrom: &first}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "consume", "orders", "--group", "billing", "--follow", "--url", server.URL)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	seen := newLines(out)
	say := func(text string) {
		t.Helper()
		var m client.Message
		m.SetBody([]byte(text))
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if _, err = cl.Send(t.Context(), "orders", []client.Message{m}, text); err == nil || time.Now().After(deadline) {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	say("one")
	seen.expect(t, "one")
	server.Kill()
	startFixed(t, data, address)
	say("two")
	for { // what was printed and not committed may come again
		line := <-seen.c
		if line == "two" {
			return
		}
		if line != "one" {
			t.Fatalf("got %q", line)
		}
	}
}
