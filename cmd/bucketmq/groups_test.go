package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

// site is two gateways and a coordinator as processes, on a real Redis and a real
// S3 server.
type site struct {
	t           *testing.T
	redis       *redistest.Server
	env         []string
	one, two    *bench.Child
	coordinator *bench.Child
}

func newSite(t *testing.T) *site {
	t.Helper()
	s3 := s3test.New(t)
	s := &site{t: t, redis: redistest.New(t)}
	s.env = []string{
		"BUCKETMQ_REDIS=redis://" + s.redis.Addr(),
		"BUCKETMQ_S3_ENDPOINT=" + s3.Endpoint, "BUCKETMQ_S3_BUCKET=" + s3.Bucket, "BUCKETMQ_S3_PREFIX=groups/",
		"BUCKETMQ_S3_ACCESS_KEY=" + s3.AccessKey, "BUCKETMQ_S3_SECRET_KEY=" + s3.SecretKey, "BUCKETMQ_COMMIT_INTERVAL=200ms",
	}
	s.one, s.two = startServer(t, s.env, "gateway"), startServer(t, s.env, "gateway")
	coordinator, err := bench.Start(t.Context(), binary, s.env, "coordinator", "--management-listen", "127.0.0.1:0", "--leader-lease", "1s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(coordinator.Kill)
	s.coordinator = coordinator
	return s
}

// call sends JSON and decodes the answer of that status.
func (s *site) call(server *bench.Child, method, path, body string, status int) (v map[string]any) {
	s.t.Helper()
	code, text := s.try(server, method, path, body)
	if code != status {
		s.t.Fatalf("%s %s: %d %s, want %d", method, path, code, text, status)
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			s.t.Fatal(err)
		}
	}
	return v
}

func (s *site) try(server *bench.Child, method, path, body string) (int, string) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, server.URL+"/v1"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

func (s *site) send(server *bench.Child, from, to int) {
	s.t.Helper()
	for i := from; i < to; i++ {
		s.call(server, "POST", "/topics/orders/messages", fmt.Sprintf(`{"messages":[{"body":"%d","queue":%d}]}`, i, i%2), 200)
	}
}

func bodiesIn(v map[string]any) (list []string) {
	for _, m := range v["messages"].([]any) {
		list = append(list, m.(map[string]any)["body"].(string))
	}
	return list
}

// A gateway is killed between receive and ack: the ack counts through the other.
func TestAnAckCountsThoughTheGatewayOfItsReceiveWasKilled(t *testing.T) {
	s := newSite(t)
	s.call(s.one, "PUT", "/topics/orders", `{"queues":2}`, 201)
	s.call(s.one, "PUT", "/groups/shared", `{"consume_from":"first"}`, 201)
	s.send(s.two, 0, 6)
	got := s.call(s.one, "POST", "/groups/shared/receive", `{"topics":[{"topic":"orders"}],"wait_ms":5000}`, 200)
	if n := len(bodiesIn(got)); n != 6 {
		t.Fatalf("received %d messages, want 6", n)
	}
	s.one.Kill()
	var receipts []string
	for _, m := range got["messages"].([]any) {
		receipts = append(receipts, m.(map[string]any)["receipt"].(string))
	}
	text, _ := json.Marshal(receipts)
	if done := s.call(s.two, "POST", "/groups/shared/ack", `{"receipts":`+string(text)+`}`, 200); done["done"] != 6.0 {
		t.Errorf("acknowledged %v", done)
	}
	if list := s.call(s.two, "GET", "/groups/shared/offsets", "", 200); list["lag"] != 0.0 {
		t.Errorf("lag %v, want 0", list["lag"])
	}
}

// A member's gateway is killed, the coordinator is stopped for three leases and
// goes on, and Redis is emptied: a group goes on, and skips nothing that was not
// committed.
func TestAGroupGoesOnThroughEveryLoss(t *testing.T) {
	s := newSite(t)
	s.call(s.one, "PUT", "/topics/orders", `{"queues":2}`, 201)
	s.call(s.one, "PUT", "/groups/billing", `{"consume_from":"first"}`, 201)
	const join = `{"client_id":"c","session_key":"0123456789abcdef","subscriptions":[{"topic":"orders"}]}`
	member := s.call(s.one, "POST", "/groups/billing/members", join, 201)["member_id"].(string)
	s.send(s.one, 0, 10)
	seen := map[string]int{}
	cursor := ""
	poll := func(server *bench.Child) bool {
		t.Helper()
		code, text := s.try(server, "POST", "/groups/billing/members/"+member+"/poll", fmt.Sprintf(`{"cursor":%q,"max_messages":4,"wait_ms":500}`, cursor))
		if code != 200 {
			return false
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		for _, b := range bodiesIn(v) {
			seen[b]++
		}
		cursor = v["cursor"].(string)
		return true
	}
	waitFor(t, "half of the messages", func() bool { poll(s.one); return len(seen) >= 4 })
	s.one.Kill()
	waitFor(t, "all messages through the other gateway", func() bool { poll(s.two); return len(seen) == 10 })
	s.coordinator.Kill()
	s.send(s.two, 10, 20) // nobody decides, and the owner goes on
	waitFor(t, "messages without a coordinator", func() bool { poll(s.two); return len(seen) == 20 })
	poll(s.two) // commits the last
	waitFor(t, "the progress to be in the log", func() bool {
		list := s.call(s.two, "GET", "/groups/billing/offsets", "", 200)
		return list["lag"] == 0.0
	})
	time.Sleep(11 * time.Second) // progress is written to the log every 10 s
	s.send(s.two, 20, 24)
	s.redis.Flush()
	coordinator, err := bench.Start(t.Context(), binary, s.env, "coordinator", "--management-listen", "127.0.0.1:0", "--leader-lease", "1s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(coordinator.Kill)
	waitFor(t, "Redis to be rebuilt, and the group with it", func() bool {
		code, text := s.try(s.two, "POST", "/groups/billing/members", join)
		if code != 201 && code != 200 {
			return false
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		member, cursor = v["member_id"].(string), ""
		return true
	})
	before := len(seen)
	waitFor(t, "what was not committed", func() bool { poll(s.two); return len(seen) == 24 })
	again := 0
	for _, n := range seen {
		if n > 1 {
			again++
		}
	}
	t.Logf("%d of %d messages came again", again, before)
	if again > 12 {
		t.Errorf("%d messages came again: the progress was lost with Redis", again)
	}
}
