package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

// failing is a server with a group of which a test fails messages.
type failing struct {
	t      *testing.T
	url    string
	cl     *client.Client
	client []string // environment of commands
}

func newFailing(t *testing.T, url string) *failing {
	cl, err := client.New(client.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return &failing{t: t, url: url, cl: cl, client: []string{"BUCKETMQ_URL=" + url}}
}

func (f *failing) ok(want string, args ...string) string {
	f.t.Helper()
	o := command(f.t, f.client, "", args...)
	if o.code != 0 || !strings.Contains(o.stdout, want) {
		f.t.Fatalf("bucketmq %s: exit code %d, want 0 and %q:\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
	}
	return o.stdout
}

// post calls the group and decodes the answer into out.
func (f *failing) post(path, body string, out any) {
	f.t.Helper()
	answer, err := http.Post(f.url+"/v1/groups/billing/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		f.t.Fatalf("%s: %d %s %v", path, answer.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		f.t.Fatal(err)
	}
}

// receive waits for messages.
func (f *failing) receive() []client.Stored {
	f.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		var got struct {
			Messages []client.Stored `json:"messages"`
		}
		f.post("receive", `{"topics":[{"topic":"orders"}],"wait_ms":2000}`, &got)
		if len(got.Messages) > 0 {
			return got.Messages
		}
	}
	f.t.Fatal("nothing came")
	return nil
}

func (f *failing) nack(receipt, more string) {
	f.t.Helper()
	var out map[string]any
	f.post("nack", fmt.Sprintf(`{"items":[{"receipt":%q%s}]}`, receipt, more), &out)
}

// Retries and dead letters are in the bucket: a server that was stopped, and whose
// memory is gone, has them again, also what was redriven and purged of them.
func TestFailuresOfAGroupSurviveTheServer(t *testing.T) {
	data, address := t.TempDir(), freeAddress(t)
	server := startFixed(t, data, address)
	f := newFailing(t, server.URL)
	f.ok("orders", "topic", "create", "orders", "--queues", "1")
	f.ok(`"max_attempts":3`, "group", "create", "billing", "--from", "first", "--backoff", "4s,1m,2", "--max-attempts", "3", "--json")
	f.ok("", "produce", "orders", "retried", "dead", "redriven", "purged")
	receipts := map[string]string{}
	for _, m := range f.receive() {
		receipts[*m.Body] = m.Receipt
	}
	f.nack(receipts["retried"], `,"reason":"no stock"`)
	for _, body := range []string{"dead", "redriven", "purged"} {
		f.nack(receipts[body], `,"dead_letter":true,"reason":"`+body+`"`)
	}
	f.ok("no stock", "group", "retries", "billing")
	f.ok("", "group", "retries", "billing", "--due")
	f.ok("1 would be redriven", "group", "redrive", "billing", "--reason", "redriven", "--dry-run")
	f.ok("1 redriven", "group", "redrive", "billing", "--reason", "redriven", "--rate", "10")
	f.ok("1 purged", "group", "purge", "billing", "--reason", "purged", "--from", "1h", "--topic", "orders")
	if err := server.Stop(); err != nil { // stores how far the group is; a kill would repeat the last seconds
		t.Fatal(err)
	}

	server = startFixed(t, data, address)
	if list := f.ok(`"reason":"dead"`, "group", "dead-letters", "billing", "--json"); strings.Count(list, "\n") != 1 {
		t.Errorf("dead letters after the restart:\n%s", list)
	}
	came := map[string]int64{}
	for len(came) < 2 {
		for _, m := range f.receive() {
			if _, twice := came[*m.Body]; twice {
				t.Errorf("%s came twice", *m.Body)
			}
			came[*m.Body] = m.Attempt
			f.post("ack", fmt.Sprintf(`{"receipts":[%q]}`, m.Receipt), &struct{}{})
		}
	}
	if came["retried"] != 2 || came["redriven"] != 1 {
		t.Errorf("after the restart came %v", came)
	}
	o := command(t, f.client, "", "group", "purge", "billing", "--from", "soon")
	if o.code == 0 || !bytes.Contains([]byte(o.stderr), []byte("want a time")) {
		t.Errorf("purge --from soon: %d %s", o.code, o.stderr)
	}
	f.ok("1 purged", "group", "purge", "billing")
	if list := f.ok("", "group", "dead-letters", "billing", "--json"); list != "" {
		t.Errorf("left: %s", list)
	}
	server.Kill()
}
