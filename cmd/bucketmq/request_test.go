package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/client"
)

// TestARequestIsRepliedTo has one command ask and another one reply.
func TestARequestIsRepliedTo(t *testing.T) {
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	env := []string{"BUCKETMQ_URL=" + server.URL}
	if o := command(t, env, "", "topic", "create", "quotes", "--queues", "1"); o.code != 0 {
		t.Fatal(o.stderr)
	}
	ask := exec.Command(binary, "request", "quotes", "42?", "--timeout", "20s", "--url", server.URL)
	var asked strings.Builder
	ask.Stdout = &asked
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	follow := command(t, env, "", "consume", "quotes", "--follow", "--limit", "1", "--json")
	var m client.Stored
	if err := json.Unmarshal([]byte(follow.stdout), &m); err != nil || *m.Body != "42?" {
		t.Fatalf("the request is %q: %v", follow.stdout, err)
	}
	if o := command(t, env, "", "reply", m.Properties["__reply_to"], "7"); o.code != 0 {
		t.Fatal(o.stderr)
	}
	if err := ask.Wait(); err != nil || asked.String() != "7\n" {
		t.Errorf("the reply is %q: %v", asked.String(), err)
	}
	if o := command(t, env, "", "reply", m.Properties["__reply_to"], "8"); o.code == 0 || !strings.Contains(o.stderr, "reply") {
		t.Errorf("a second reply: %d %s", o.code, o.stderr)
	}
	if o := command(t, env, "", "request", "quotes", "nobody?", "--timeout", "50ms"); o.code == 0 || !strings.Contains(o.stderr, "no reply came") {
		t.Errorf("without a reply: %d %s", o.code, o.stderr)
	}
}
