package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

type failureList struct {
	Items []struct {
		State, At, Reason, Topic string
		Attempts                 int64
		Number                   *int64
		Message                  struct {
			MessageID string `json:"message_id"`
			Topic     string
			Queue     int64
			Offset    int64
			Body      string
		}
	}
	NextPageToken string `json:"next_page_token"`
}

func (l failureList) bodies() string {
	var all []string
	for _, x := range l.Items {
		all = append(all, x.Message.Body)
	}
	return strings.Join(all, " ")
}

// failureAnswers goes through retries and dead letters of a group.
func (k *contract) failureAnswers(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	made := k.do(t, n, "putGroup", "PUT", billing, `{"consume_from":"first","retry":{"exponential":{"initial_ms":1000,"max_ms":60000,"multiplier":2},"max_attempts":2}}`, 201)
	if retry := fmt.Sprint(decode[map[string]any](t, made)["retry"]); retry != "map[exponential:map[initial_ms:1000 max_ms:60000 multiplier:2] max_attempts:2]" {
		t.Errorf("retry is %s", retry)
	}
	k.refused(t, n, "updateGroup", "PATCH", billing, `{"retry":{"exponential":{"initial_ms":2,"max_ms":1,"multiplier":2}}}`, 400, "invalid_field")
	k.refused(t, n, "updateGroup", "PATCH", billing, `{"retry":{"delays_ms":[1],"exponential":{"initial_ms":1,"max_ms":1,"multiplier":1}}}`, 400, "invalid_field")
	for _, path := range []string{"/retries", "/retries?state=due", "/dead-letters"} {
		operation := map[bool]string{true: "listDeadLetters", false: "listRetries"}[path == "/dead-letters"]
		if list := decode[failureList](t, k.do(t, n, operation, "GET", billing+path, "", 200)); len(list.Items) != 0 || list.NextPageToken != "" {
			t.Errorf("%s of a group without failures: %+v", path, list)
		}
	}
	n.call("POST", orders+"/messages", `{"messages":[{"body":"a"},{"body":"b"},{"body":"c"},{"body":"d"}]}`).want(t, 200)
	got := decode[received](t, n.call("POST", billing+"/receive", `{"topics":[{"topic":"orders"}],"wait_ms":2000}`).want(t, 200))
	item := func(i int, more string) string { return `{"receipt":"` + got.Messages[i].Receipt + `"` + more + `}` }
	k.refused(t, n, "nackMessages", "POST", billing+"/nack", `{"items":[`+item(0, `,"dead_letter":true,"delay_ms":1`)+`]}`, 400, "invalid_field")
	results := decode[struct{ Results []map[string]any }](t, k.do(t, n, "nackMessages", "POST", billing+"/nack", `{"items":[`+
		item(0, `,"reason":"no stock"`)+`,`+item(1, `,"delay_ms":3600000`)+`,`+item(2, `,"dead_letter":true,"reason":"bad"`)+`,`+item(3, `,"dead_letter":true`)+`]}`, 200)).Results
	if results[0]["deadline"] == nil || results[0]["dead_letter"] != nil || results[2]["dead_letter"] != true || results[2]["deadline"] != nil {
		t.Errorf("nack: %v", results)
	}
	k.refused(t, n, "nackMessages", "POST", billing+"/nack", `{"items":[`+item(1, "")+`]}`, 409, "receipt_superseded")

	first := decode[failureList](t, k.do(t, n, "listRetries", "GET", billing+"/retries?limit=1", "", 200))
	if x := first.Items; len(x) != 1 || x[0].State != "waiting" || x[0].Attempts != 1 || x[0].Reason != "no stock" || x[0].Topic != "orders" || x[0].Number != nil ||
		x[0].Message.Topic != "orders" || x[0].Message.Offset != 0 || x[0].Message.Body != "a" || x[0].Message.MessageID == "" {
		t.Fatalf("retries: %+v", first)
	}
	rest := decode[failureList](t, k.do(t, n, "listRetries", "GET", billing+"/retries?page_token="+first.NextPageToken, "", 200))
	if rest.bodies() != "b" || rest.NextPageToken != "" {
		t.Errorf("the next page: %+v", rest)
	}
	k.refused(t, n, "listRetries", "GET", billing+"/retries?state=due&page_token="+first.NextPageToken, "", 400, "invalid_parameter")
	if list := decode[struct{ Items []map[string]any }](t, n.call("GET", "/v1/topics", "").want(t, 200)); len(list.Items) != 1 {
		t.Errorf("topics: %v", list)
	}

	dead := func(query string) failureList {
		t.Helper()
		return decode[failureList](t, k.do(t, n, "listDeadLetters", "GET", billing+"/dead-letters"+query, "", 200))
	}
	all := dead("")
	if all.bodies() != "c d" || all.Items[0].State != "dead" || all.Items[0].Reason != "bad" || all.Items[1].Reason != "nacked" || all.Items[0].Number == nil {
		t.Fatalf("dead letters: %+v", all)
	}
	for query, want := range map[string]string{
		"?reason=bad": "c", "?topic=orders": "c d", "?topic=other": "", "?message_id=" + all.Items[1].Message.MessageID: "d",
		"?from=" + all.Items[0].At: "c d", "?to=2026-01-01T00:00:00.000Z": "",
	} {
		if got := dead(query).bodies(); got != want {
			t.Errorf("dead letters %s: %q, want %q", query, got, want)
		}
	}
	page := dead("?limit=1")
	if page.bodies() != "c" || dead("?limit=1&page_token="+page.NextPageToken).bodies() != "d" {
		t.Errorf("pages of dead letters: %+v", page)
	}
	handled := func(operation, path, body, want string) {
		t.Helper()
		if got := fmt.Sprint(decode[map[string]any](t, k.do(t, n, operation, "POST", billing+"/dead-letters/"+path, body, 200))); got != want {
			t.Errorf("%s %s: %s, want %s", operation, body, got, want)
		}
	}
	k.refused(t, n, "purgeDeadLetters", "POST", billing+"/dead-letters/purge", `{"page_token":"bad"}`, 400, "invalid_field")
	part := decode[map[string]any](t, k.do(t, n, "redriveDeadLetters", "POST", billing+"/dead-letters/redrive", `{"limit":1,"dry_run":true}`, 200))
	token, _ := part["next_page_token"].(string)
	handled("redriveDeadLetters", "redrive", `{"dry_run":true,"page_token":"`+token+`"}`, "map[done:0 dry_run:true matched:1]")
	handled("redriveDeadLetters", "redrive", `{"reason":"bad","dry_run":true}`, "map[done:0 dry_run:true matched:1]")
	handled("redriveDeadLetters", "redrive", `{"reason":"bad","rate":100}`, "map[done:1 dry_run:false matched:1]")
	handled("redriveDeadLetters", "redrive", `{"reason":"bad"}`, "map[done:0 dry_run:false matched:0]")
	handled("purgeDeadLetters", "purge", `{"to":"2026-01-01T00:00:00.000Z"}`, "map[done:0 dry_run:false matched:0]")
	handled("purgeDeadLetters", "purge", `{}`, "map[done:1 dry_run:false matched:1]")
	if got := dead("").bodies(); got != "" {
		t.Errorf("left: %q", got)
	}
	k.polledRetry(t, n)
}

// polledRetry has a member that owns the retry topic poll from it.
func (k *contract) polledRetry(t *testing.T, n *node) {
	t.Helper()
	g, err := n.meta.Group(t.Context(), "billing")
	must(t, err)
	retry, err := n.meta.Topic(t.Context(), journal.RetryTopic("billing"))
	must(t, err)
	n.endShared(t, "billing")
	joined := decode[map[string]any](t, n.call("POST", billing+"/members", `{"subscriptions":[{"topic":"orders"}]}`).want(t, 201))
	member := joined["member_id"].(string)
	n.assign(t, g.ID, retry, member)
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, err := n.journal.Fire(t.Context(), retry.ID)
		must(t, err)
		polled := decode[struct {
			Messages []struct {
				Topic, Body string
				Origin      map[string]any
			}
		}](t, k.do(t, n, "pollMember", "POST", billing+"/members/"+member+"/poll", `{"wait_ms":200}`, 200))
		for _, m := range polled.Messages {
			if m.Topic == retry.Name && m.Body == "a" && fmt.Sprint(m.Origin) == "map[attempts:1 offset:0 queue:0 reason:no stock topic:orders]" {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the retry is not polled: %+v", polled)
		}
	}
}

// endShared ends the time in which members cannot join a group after a receive.
func (n *node) endShared(t testing.TB, group string) {
	t.Helper()
	g, err := n.meta.Group(t.Context(), group)
	must(t, err)
	must(t, n.redis.Client().HSet(t.Context(), "{g:"+g.ID.String()+"}:meta", "shared_until", 0, "shared_wait", 0).Err())
}

// assign makes a member the owner of the only queue of a retry topic, and of it alone.
func (n *node) assign(t testing.TB, group uuid.UUID, retry meta.Topic, member string) {
	t.Helper()
	state, err := n.meta.GroupState(t.Context(), group)
	must(t, err)
	must(t, n.meta.InitOffsets(t.Context(), group, state.Term, []meta.OffsetStart{{Topic: retry.ID}}))
	_, _, err = n.meta.Assign(t.Context(), group, max(1, state.Term), state.Revision, "test", []meta.Target{{Topic: retry.ID, Owner: member}}, nil)
	must(t, err)
}
