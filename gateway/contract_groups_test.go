package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

const billing = "/v1/groups/billing"

// groupBodies are right bodies of the operations on groups.
var groupBodies = map[string]string{
	"putGroup":           `{}`,
	"updateGroup":        `{}`,
	"updateSubscription": `{}`,
	"joinGroup":          `{"subscriptions":[{"topic":"orders"}]}`,
	"heartbeatMember":    `{"generation":0}`,
	"pollMember":         `{}`,
	"seekMember":         `{"topic":"orders","queue":0,"to":"earliest"}`,
	"receiveMessages":    `{"topics":[{"topic":"orders"}]}`,
	"ackMessages":        `{"receipts":["x"]}`,
	"nackMessages":       `{"items":[{"receipt":"x"}]}`,
	"extendMessages":     `{"items":[{"receipt":"x"}]}`,
	"commitOffsets":      `{"offsets":[{"topic":"orders","queue":0,"offset":0,"version":1}]}`,
	"resetOffsets":       `{"topic":"orders","to":"earliest"}`,
	"updateGroupQueue":   `{"stopped":true}`,
	"redriveDeadLetters": `{"topic":"orders"}`,
	"purgeDeadLetters":   `{"topic":"orders"}`,
}

// duplicated is a body with a member twice.
func duplicated(operation, other string) string {
	body, ok := groupBodies[operation]
	if !ok {
		return other
	}
	if body == "{}" {
		field := map[string]string{"pollMember": "max_messages", "updateSubscription": "pull_batch"}[operation]
		if field == "" {
			field = "max_members"
		}
		return fmt.Sprintf(`{%q:1,%q:2}`, field, field)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		panic(err)
	}
	for name, value := range members {
		return fmt.Sprintf(`{%q:%s,%s`, name, value, body[1:])
	}
	return body
}

// mistyped is a body with a value out of range.
func mistyped(operation, other string) string {
	bodies := map[string]string{
		"putGroup": `{"max_members":-1}`, "updateGroup": `{"strategy":"none"}`, "updateSubscription": `{"pull_batch":1001}`,
		"joinGroup": `{"subscriptions":[]}`, "heartbeatMember": `{}`, "pollMember": `{"max_messages":0}`,
		"seekMember": `{"topic":"orders","queue":0,"to":"shift"}`, "receiveMessages": `{"topics":[{"topic":"orders","sql":"a >"}]}`,
		"ackMessages": `{"receipts":[]}`, "nackMessages": `{"items":[{}]}`, "extendMessages": `{"items":[{"receipt":"x","invisible_ms":1}]}`,
		"commitOffsets": `{"offsets":[{"topic":"orders","queue":0,"offset":-1,"version":1}]}`, "resetOffsets": `{"topic":"orders","to":"offset"}`,
		"updateGroupQueue": `{}`, "redriveDeadLetters": `{"rate":0}`, "purgeDeadLetters": `{"message_id":"none"}`,
	}
	if body, ok := bodies[operation]; ok {
		return body
	}
	return other
}

// do runs one good step of a group's operation.
func (k *contract) do(t testing.TB, n *node, operation, method, path, body string, status int, headers ...string) answer {
	t.Helper()
	return k.run(t, n, step{operation: operation, method: method, path: path, body: body, status: status, headers: headers})
}

// refused runs one step that gets a problem.
func (k *contract) refused(t testing.TB, n *node, operation, method, path, body string, status int, code string, headers ...string) problem {
	t.Helper()
	return k.run(t, n, step{operation: operation, method: method, path: path, body: body, status: status, code: code, headers: headers}).problem(t)
}

// decode reads an answer.
func decode[T any](t testing.TB, a answer) (v T) {
	t.Helper()
	must(t, json.Unmarshal(a.body, &v))
	return v
}

func (k *contract) groupAnswers(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":2}`).want(t, 201)
	k.refused(t, n, "getGroup", "GET", billing, "", 404, "group_not_found")
	k.refused(t, n, "updateGroup", "PATCH", billing, `{}`, 404, "group_not_found")
	k.refused(t, n, "deleteGroup", "DELETE", billing, "", 404, "group_not_found")
	for operation := range groupBodies {
		if operation == "putGroup" || operation == "updateGroup" {
			continue
		}
		k.everyPromise(t, n, 404, "group_not_found", "orders", operation)
	}
	k.everyPromise(t, n, 404, "group_not_found", "orders", "listSubscriptions", "getSubscription", "listMembers", "leaveGroup", "listAssignments", "listOffsets", "exportOffsets", "listRetries", "listDeadLetters")

	made := k.do(t, n, "putGroup", "PUT", billing, `{"consume_from":"timestamp","consume_timestamp":"2026-01-01T00:00:00.000Z","attributes":{"owner":"a"}}`, 201)
	if made.header.Get("Location") != billing {
		t.Errorf("Location %q", made.header.Get("Location"))
	}
	etag := made.header.Get("ETag")
	k.do(t, n, "getGroup", "GET", billing, "", 304, "If-None-Match", etag)
	k.do(t, n, "getGroup", "GET", billing, "", 200)
	k.refused(t, n, "putGroup", "PUT", billing, `{}`, 412, "group_exists", "If-None-Match", "*")
	put := k.do(t, n, "putGroup", "PUT", billing, `{"strategy":"by_config","strategy_config":{"queues":{"c1":[{"topic":"orders","queue":0}]}},"retry":{"delays_ms":[1000]},"allow_ips":["127.0.0.0/8"]}`, 200, "If-Match", etag)
	k.refused(t, n, "putGroup", "PUT", billing, `{}`, 412, "version_conflict", "If-Match", etag)
	k.refused(t, n, "updateGroup", "PATCH", billing, `{}`, 412, "version_conflict", "If-Match", etag)
	k.refused(t, n, "deleteGroup", "DELETE", billing, "", 412, "version_conflict", "If-Match", etag)
	patched := decode[map[string]any](t, k.do(t, n, "updateGroup", "PATCH", billing, `{"ordered":true,"strategy":"averagely"}`, 200, "If-Match", put.header.Get("ETag")))
	if patched["ordered"] != true || fmt.Sprint(patched["retry"]) != "map[delays_ms:[1000] max_attempts:16]" || fmt.Sprint(patched["allow_ips"]) != "[127.0.0.0/8]" {
		t.Errorf("a change of some settings left %v", patched)
	}
	n.call("PUT", "/v1/groups/audit", `{}`).want(t, 201)
	type page struct {
		Items []struct{ Group string }
		Token string `json:"next_page_token"`
	}
	first := decode[page](t, k.do(t, n, "listGroups", "GET", "/v1/groups?limit=1", "", 200))
	second := decode[page](t, k.do(t, n, "listGroups", "GET", "/v1/groups?limit=1&page_token="+first.Token, "", 200))
	if len(first.Items) != 1 || len(second.Items) != 1 || first.Items[0].Group != "audit" || second.Items[0].Group != "billing" || second.Token != "" {
		t.Errorf("pages %+v and %+v", first, second)
	}
	for _, wrong := range []string{`{"mode":"x"}`, `{"consume_timestamp":"today"}`, `{"retry":{"delays_ms":[]}}`, `{"deny_ips":["x"]}`, `{"session_timeout_ms":1}`, `{"strategy_config":{"inner":"x"}}`} {
		p := k.run(t, n, step{operation: "updateGroup", method: "PATCH", path: billing, body: wrong, status: 400, code: "invalid_field", breaks: true}).problem(t)
		if len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0]["pointer"].(string), "/") {
			t.Errorf("%s: errors %v", wrong, p.Errors)
		}
	}
	n.call("POST", billing+"/members", groupBodies["joinGroup"]).want(t, 201)
	k.refused(t, n, "deleteGroup", "DELETE", billing, "", 409, "group_active")
	k.do(t, n, "deleteGroup", "DELETE", billing+"?force=true", "", 204)
}

// owned gives every queue of a group to a member, as the coordinator would.
func (n *node) owned(t testing.TB, group, topic, member string) {
	t.Helper()
	ctx := t.Context()
	g, err := n.meta.Group(ctx, group)
	must(t, err)
	tp, err := n.meta.Topic(ctx, topic)
	must(t, err)
	state, err := n.meta.GroupState(ctx, g.ID)
	must(t, err)
	var targets []meta.Target
	for q := range tp.Queues {
		targets = append(targets, meta.Target{Topic: tp.ID, Queue: q, Owner: member})
	}
	_, _, err = n.meta.Assign(ctx, g.ID, max(1, state.Term), state.Revision, "member joined", targets, nil)
	must(t, err)
}

// join makes a member that owns all of orders.
func (n *node) join(t testing.TB, client string) string {
	t.Helper()
	a := n.call("POST", billing+"/members", `{"client_id":"`+client+`","subscriptions":[{"topic":"orders"}]}`).want(t, 201)
	id := decode[struct {
		ID string `json:"member_id"`
	}](t, a).ID
	n.owned(t, "billing", "orders", id)
	return id
}

func (k *contract) memberAnswers(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":2}`).want(t, 201)
	n.call("PUT", billing, `{"consume_from":"first"}`).want(t, 201)
	join := `{"client_id":"c1","session_key":"0123456789abcdef","subscriptions":[{"topic":"orders","tags":"paid || refunded"}]}`
	type membership struct {
		ID         string `json:"member_id"`
		Generation int64
		Reattached bool
		Fenced     string `json:"fenced_member_id"`
	}
	first := decode[membership](t, k.do(t, n, "joinGroup", "POST", billing+"/members", join, 201))
	again := decode[membership](t, k.do(t, n, "joinGroup", "POST", billing+"/members", join, 200))
	if again.ID != first.ID || !again.Reattached {
		t.Errorf("with the same key: %+v after %+v", again, first)
	}
	p := k.refused(t, n, "joinGroup", "POST", billing+"/members", `{"client_id":"c2","subscriptions":[{"topic":"orders"}]}`, 409, "subscription_mismatch")
	if fmt.Sprint(p.Errors[0]["subscriptions"]) == "" {
		t.Errorf("a mismatch shows %v", p.Errors)
	}
	list := decode[map[string]any](t, k.do(t, n, "listMembers", "GET", billing+"/members", "", 200))
	if len(list["items"].([]any)) != 1 || len(list["refused"].([]any)) != 1 {
		t.Errorf("members %v", list)
	}
	member := billing + "/members/" + first.ID
	n.owned(t, "billing", "orders", first.ID)
	beat := decode[map[string]any](t, k.do(t, n, "heartbeatMember", "POST", member+"/heartbeat", `{"generation":0,"wait_ms":1000}`, 200))
	if len(beat["assignments"].([]any)) != 2 {
		t.Errorf("heartbeat %v", beat)
	}
	k.refused(t, n, "heartbeatMember", "POST", member+"/heartbeat", `{"generation":99}`, 409, "generation_stale")

	n.call("POST", orders+"/messages", `{"messages":[{"body":"a","queue":0,"tag":"paid"},{"body":"b","queue":0,"tag":"new"},{"body":"c","queue":1,"tag":"refunded"}]}`).want(t, 200)
	polled := decode[struct {
		Messages []struct{ Topic, Body string }
		Cursor   string
	}](t, k.do(t, n, "pollMember", "POST", member+"/poll", `{"wait_ms":5000}`, 200))
	if len(polled.Messages) == 0 || polled.Messages[0].Topic != "orders" {
		t.Errorf("polled %+v", polled)
	}
	k.do(t, n, "pollMember", "POST", member+"/poll?encoding=base64", `{"cursor":"`+polled.Cursor+`","max_messages":10,"max_bytes":100}`, 200)
	k.refused(t, n, "pollMember", "POST", member+"/poll", `{"cursor":"bm9uZQ"}`, 400, "cursor_invalid")
	seek := decode[map[string]any](t, k.do(t, n, "seekMember", "POST", member+"/seek", `{"topic":"orders","queue":0,"to":"offset","offset":1}`, 200))
	if seek["new_offset"] != 1.0 || seek["new_version"] != 2.0 {
		t.Errorf("seek %v", seek)
	}
	k.refused(t, n, "seekMember", "POST", member+"/seek", `{"topic":"orders","queue":0,"to":"offset","offset":99}`, 422, "offset_beyond_end")
	n.trim(t, 1, func() {
		k.refused(t, n, "seekMember", "POST", member+"/seek", `{"topic":"orders","queue":1,"to":"offset","offset":0}`, 422, "offset_trimmed")
	})
	assigned := decode[map[string]any](t, k.do(t, n, "listAssignments", "GET", billing+"/assignments", "", 200))
	if item := assigned["items"].([]any)[0].(map[string]any); item["client_id"] != "c1" || item["state"] != "owned" || assigned["reason"] != "member joined" {
		t.Errorf("assignments %v", assigned)
	}

	other := decode[membership](t, k.do(t, n, "joinGroup", "POST", billing+"/members", strings.Replace(join, "abcdef", "fedcba", 1), 201))
	if other.Fenced != first.ID {
		t.Errorf("another session of the client fences %q, want %q", other.Fenced, first.ID)
	}
	for operation, call := range map[string]string{"heartbeatMember": "heartbeat", "pollMember": "poll", "seekMember": "seek"} {
		k.refused(t, n, operation, "POST", member+"/"+call, groupBodies[operation], 409, "session_taken")
	}
	k.refused(t, n, "commitOffsets", "PUT", billing+"/offsets", `{"member_id":"`+first.ID+`","offsets":[{"topic":"orders","queue":0,"offset":1,"version":2}]}`, 409, "session_taken")
	k.refused(t, n, "seekMember", "POST", billing+"/members/"+other.ID+"/seek", groupBodies["seekMember"], 409, "not_owner")
	for operation, call := range map[string]string{"heartbeatMember": "heartbeat", "pollMember": "poll", "seekMember": "seek"} {
		k.refused(t, n, operation, "POST", billing+"/members/nobody/"+call, groupBodies[operation], 404, "member_unknown")
	}
	k.refused(t, n, "commitOffsets", "PUT", billing+"/offsets", `{"member_id":"nobody","offsets":[{"topic":"orders","queue":0,"offset":1,"version":2}]}`, 404, "member_unknown")
	k.do(t, n, "leaveGroup", "DELETE", billing+"/members/"+other.ID, "", 204)
	k.do(t, n, "leaveGroup", "DELETE", billing+"/members/"+other.ID, "", 204)
	n.call("PATCH", billing, `{"deny_ips":["127.0.0.1"]}`).want(t, 200)
	k.refused(t, n, "joinGroup", "POST", billing+"/members", join, 403, "address_denied")
}

// trim moves the start of a queue of orders to 1 while f runs: nothing trims yet.
func (n *node) trim(t testing.TB, queue int, f func()) {
	t.Helper()
	topic, err := n.meta.Topic(t.Context(), "orders")
	must(t, err)
	redis, head, field := n.redis.Client(), "{t:"+topic.ID.String()+"}:head", strconv.Itoa(queue)
	fields := strings.Fields(redis.HGet(t.Context(), head, field).Val())
	before := strings.Join(fields, " ")
	fields[1] = "1"
	must(t, redis.HSet(t.Context(), head, field, strings.Join(fields, " ")).Err())
	f()
	must(t, redis.HSet(t.Context(), head, field, before).Err())
}

// received is the answer of receiveMessages.
type received struct {
	Messages []struct {
		Topic, Body, Receipt, Deadline string
		Attempt, Offset                int64
	}
}

func (k *contract) receiptAnswers(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("PUT", billing, `{"consume_from":"first"}`).want(t, 201)
	n.call("POST", orders+"/messages", `{"messages":[{"body":"a"},{"body":"b"},{"body":"c"},{"body":"d"}]}`).want(t, 200)
	got := decode[received](t, k.do(t, n, "receiveMessages", "POST", billing+"/receive", `{"topics":[{"topic":"orders"}],"max_messages":4,"wait_ms":2000,"invisible_ms":20000}`, 200))
	if len(got.Messages) != 4 || got.Messages[0].Attempt != 1 || got.Messages[0].Topic != "orders" || got.Messages[0].Deadline == "" {
		t.Fatalf("received %+v", got)
	}
	receipt := func(i int) string { return got.Messages[i].Receipt }
	k.do(t, n, "ackMessages", "POST", billing+"/ack", `{"receipts":["`+receipt(0)+`"]}`, 200)
	mixed := decode[map[string]any](t, k.do(t, n, "ackMessages", "POST", billing+"/ack", `{"receipts":["`+receipt(0)+`","forged"]}`, 207))
	if mixed["done"] != 1.0 || mixed["failed"] != 1.0 {
		t.Errorf("one of two: %v", mixed)
	}
	k.do(t, n, "nackMessages", "POST", billing+"/nack", `{"items":[{"receipt":"`+receipt(1)+`","delay_ms":0}]}`, 200)
	k.do(t, n, "nackMessages", "POST", billing+"/nack", `{"items":[{"receipt":"`+receipt(2)+`"},{"receipt":"forged"}]}`, 207)
	extended := decode[struct {
		Results []struct{ Receipt, Deadline string }
	}](t, k.do(t, n, "extendMessages", "POST", billing+"/extend", `{"items":[{"receipt":"`+receipt(3)+`","invisible_ms":60000}]}`, 200))
	if extended.Results[0].Receipt == "" || extended.Results[0].Deadline <= got.Messages[3].Deadline {
		t.Errorf("extended %+v", extended)
	}
	k.do(t, n, "extendMessages", "POST", billing+"/extend", `{"items":[{"receipt":"`+receipt(3)+`"},{"receipt":"forged"}]}`, 207)
	calls := map[string]func(string) string{
		"ack": func(r string) string { return `{"receipts":["` + r + `"]}` }, "nack": func(r string) string { return `{"items":[{"receipt":"` + r + `"}]}` },
		"extend": func(r string) string { return `{"items":[{"receipt":"` + r + `"}]}` },
	}
	again := decode[received](t, n.call("POST", billing+"/receive", `{"topics":[{"topic":"orders"}],"wait_ms":2000}`).want(t, 200))
	if len(again.Messages) != 1 || again.Messages[0].Attempt != 2 {
		t.Fatalf("given back and received again: %+v", again)
	}
	for call, body := range calls {
		k.refused(t, n, call+"Messages", "POST", billing+"/"+call, body("forged"), 400, "receipt_invalid")
		p := k.refused(t, n, call+"Messages", "POST", billing+"/"+call, body(receipt(1)), 409, "receipt_superseded")
		if p.Errors[0]["attempt"] != 1.0 || p.Errors[0]["current_attempt"] != 2.0 {
			t.Errorf("%s: a superseded receipt is told %v", call, p.Errors)
		}
	}
	n.expire(t, "billing")
	for call, body := range calls {
		p := k.refused(t, n, call+"Messages", "POST", billing+"/"+call, body(again.Messages[0].Receipt), 409, "receipt_expired")
		if p.Errors[0]["deadline"] == nil || p.Errors[0]["now"] == nil {
			t.Errorf("%s: an expired receipt is told %v", call, p.Errors)
		}
	}
}

// expire ends the time of every delivery of a group.
func (n *node) expire(t testing.TB, group string) {
	t.Helper()
	g, err := n.meta.Group(t.Context(), group)
	must(t, err)
	redis := n.redis.Client()
	keys, err := redis.Keys(t.Context(), "{g:"+g.ID.String()+"}:*").Result()
	must(t, err)
	moved := 0
	for _, key := range keys {
		if redis.Type(t.Context(), key).Val() != "hash" {
			continue
		}
		for field, value := range redis.HGetAll(t.Context(), key).Val() {
			var attempts, deadline, nacked int64
			if _, err := strconv.Atoi(field); err != nil {
				continue
			}
			if n, _ := fmt.Sscanf(value, "%d %d %d", &attempts, &deadline, &nacked); n == 3 && len(strings.Fields(value)) == 3 {
				must(t, redis.HSet(t.Context(), key, field, fmt.Sprintf("%d 1 0", attempts)).Err())
				moved++
			}
		}
	}
	if moved == 0 {
		t.Fatalf("nothing of group %s is in flight in %v", group, keys)
	}
}

func (k *contract) offsetAnswers(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":2}`).want(t, 201)
	n.call("PUT", billing, `{"consume_from":"first"}`).want(t, 201)
	k.refused(t, n, "updateGroupQueue", "PATCH", billing+"/queues/orders/0", `{"stopped":true}`, 404, "offset_not_found")
	k.refused(t, n, "commitOffsets", "PUT", billing+"/offsets", `{"sync":true,"offsets":[{"topic":"orders","queue":0,"offset":0,"version":1}]}`, 404, "offset_not_found")
	id := n.join(t, "c1")
	n.call("POST", orders+"/messages", `{"messages":[{"body":"a","queue":0},{"body":"b","queue":0},{"body":"c","queue":0}]}`).want(t, 200)
	type row struct {
		Queue, Version, Lag int64
		Offset              *int64
		Client              string `json:"client_id"`
		Stopped             bool
		LagKnown            bool `json:"lag_known"`
		Exceeded            bool `json:"lag_exceeded"`
	}
	list := func(query string) []row {
		return decode[struct{ Items []row }](t, k.do(t, n, "listOffsets", "GET", billing+"/offsets"+query, "", 200)).Items
	}
	rows := list("")
	if len(rows) != 2 || rows[0].Lag != 3 || !rows[0].LagKnown || rows[0].Client != "c1" || *rows[0].Offset != 0 || len(list("?client_id=nobody")) != 0 || len(list("?topic=orders")) != 2 {
		t.Errorf("offsets %+v", rows)
	}
	n.call("PATCH", billing+"/subscriptions/orders", `{"max_lag":2}`).want(t, 200)
	if rows := list(""); !rows[0].Exceeded || rows[1].Exceeded {
		t.Errorf("with a max_lag of 2: %+v", rows)
	}
	epoch := decode[struct {
		Items []struct {
			Epoch int64 `json:"assignment_epoch"`
		}
	}](t, n.call("GET", billing+"/assignments", "").want(t, 200)).Items[0].Epoch
	commit := func(queue, offset, version, epoch int64) string {
		return fmt.Sprintf(`{"topic":"orders","queue":%d,"offset":%d,"version":%d,"assignment_epoch":%d}`, queue, offset, version, epoch)
	}
	body := func(sync bool, member string, items ...string) string {
		return fmt.Sprintf(`{"sync":%v,"member_id":%q,"offsets":[%s]}`, sync, member, strings.Join(items, ","))
	}
	put := func(status int, text string) answer {
		return k.do(t, n, "commitOffsets", "PUT", billing+"/offsets", text, status)
	}
	stored := decode[map[string]any](t, put(200, body(true, id, commit(0, 1, 1, epoch))))
	if fmt.Sprint(stored["results"]) != "[map[index:0 offset:1 status:stored version:1]]" {
		t.Errorf("committed %v", stored)
	}
	if pending := put(200, body(false, id, commit(0, 2, 1, epoch))); !strings.Contains(string(pending.body), `"pending"`) {
		t.Errorf("merged: %s", pending.body)
	}
	put(207, body(true, id, commit(0, 2, 1, epoch), commit(1, 9, 1, epoch)))
	k.refused(t, n, "commitOffsets", "PUT", billing+"/offsets", body(true, id, commit(1, 9, 1, epoch)), 422, "offset_beyond_end")
	k.refused(t, n, "commitOffsets", "PUT", billing+"/offsets", body(true, id, commit(0, 3, 1, epoch+1)), 409, "not_owner")
	p := k.refused(t, n, "commitOffsets", "PUT", billing+"/offsets", body(true, id, commit(0, 3, 7, epoch)), 412, "version_conflict")
	if p.Errors[0]["offset"] != 2.0 || p.Errors[0]["version"] != 1.0 {
		t.Errorf("a conflict is told %v, want offset 2 and version 1", p.Errors)
	}
	dry := decode[map[string]any](t, k.do(t, n, "resetOffsets", "POST", billing+"/offsets/reset", `{"topic":"orders","to":"shift","shift":-1,"dry_run":true}`, 200))
	if fmt.Sprint(dry["items"].([]any)[0]) != "map[new_offset:1 new_version:2 old_offset:2 old_version:1 queue:0 topic:orders]" || *list("")[0].Offset != 2 {
		t.Errorf("dry run %v", dry)
	}
	for _, to := range []string{`"to":"earliest"`, `"to":"latest"`, `"to":"timestamp","timestamp":"2026-01-01T00:00:00.000Z"`, `"to":"offset","offset":1,"queues":[0]`} {
		k.do(t, n, "resetOffsets", "POST", billing+"/offsets/reset", `{"topic":"orders",`+to+`}`, 200)
	}
	k.refused(t, n, "resetOffsets", "POST", billing+"/offsets/reset", `{"topic":"orders","to":"offset","offset":99,"queues":[0]}`, 422, "offset_beyond_end")
	n.trim(t, 0, func() {
		k.refused(t, n, "resetOffsets", "POST", billing+"/offsets/reset", `{"topic":"orders","to":"offset","offset":0,"queues":[0]}`, 422, "offset_trimmed")
	})
	for _, by := range []string{"stop", "start", "stop"} {
		record := k.do(t, n, "updateGroupQueue", "PATCH", billing+"/queues/orders/0", fmt.Sprintf(`{"stopped":%v}`, by == "stop"), 200)
		if !strings.Contains(string(record.body), `"updated_by":"`+by+`"`) {
			t.Errorf("%s: %s", by, record.body)
		}
	}
	if rows := list(""); !rows[0].Stopped || rows[1].Stopped || *rows[0].Offset != 1 || rows[0].Version != 5 {
		t.Errorf("stopped and reset: %+v", rows)
	}
	exported := k.do(t, n, "exportOffsets", "GET", billing+"/offsets/export", "", 200)
	if string(exported.body) != `{"offsetTable":{"orders@billing":{"0":1,"1":0}}}` {
		t.Errorf("exported %s", exported.body)
	}
	k.broadcastOffsets(t, n)
}

// broadcastOffsets: each client has its own progress.
func (k *contract) broadcastOffsets(t *testing.T, n *node) {
	t.Helper()
	const news = "/v1/groups/news"
	n.call("PUT", news, `{"mode":"broadcasting","consume_from":"first"}`).want(t, 201)
	for _, client := range []string{"a", "b"} {
		member := decode[struct {
			ID string `json:"member_id"`
		}](t, n.call("POST", news+"/members", `{"client_id":"`+client+`","subscriptions":[{"topic":"orders"}]}`).want(t, 201)).ID
		poll := decode[struct{ Cursor string }](t, n.call("POST", news+"/members/"+member+"/poll", `{}`).want(t, 200))
		if client == "a" {
			n.call("POST", news+"/members/"+member+"/poll", `{"cursor":"`+poll.Cursor+`"}`).want(t, 200)
		}
	}
	if rows := string(n.get(news + "/offsets").body); !strings.Contains(rows, `"lag":0`) || !strings.Contains(rows, `"offset":0`) {
		t.Fatalf("one has finished a queue and the other has not begun: %s", rows)
	}
	exported := k.do(t, n, "exportOffsets", "GET", news+"/offsets/export", "", 200)
	if string(exported.body) != `{"offsetTable":{"orders@news":{"0":0,"1":0}}}` {
		t.Errorf("exported %s, want what the slowest client has", exported.body)
	}
	k.refused(t, n, "resetOffsets", "POST", news+"/offsets/reset", `{"topic":"orders","to":"latest"}`, 400, "invalid_field")
	k.refused(t, n, "updateGroupQueue", "PATCH", news+"/queues/orders/0", `{"stopped":true}`, 400, "invalid_field")
}

func (k *contract) groupSettings(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("PUT", billing, `{}`).want(t, 201)
	path := billing + "/subscriptions/orders"
	none := k.do(t, n, "getSubscription", "GET", path, "", 200)
	k.do(t, n, "getSubscription", "GET", path, "", 304, "If-None-Match", none.header.Get("ETag"))
	first := k.do(t, n, "updateSubscription", "PATCH", path, `{"concurrency":8,"tags":"paid"}`, 200, "If-Match", none.header.Get("ETag"))
	k.refused(t, n, "updateSubscription", "PATCH", path, `{"concurrency":9}`, 412, "version_conflict", "If-Match", none.header.Get("ETag"))
	second := decode[map[string]any](t, k.do(t, n, "updateSubscription", "PATCH", path, `{"pull_batch":16}`, 200))
	if second["concurrency"] != 8.0 || second["pull_batch"] != 16.0 || second["etag"] == first.header.Get("ETag") {
		t.Errorf("settings %v", second)
	}
	n.join(t, "c1")
	list := decode[struct {
		Items []struct {
			Topic      string
			Subscribed bool
		}
	}](t, k.do(t, n, "listSubscriptions", "GET", billing+"/subscriptions", "", 200)).Items
	if len(list) != 1 || !list[0].Subscribed || list[0].Topic != "orders" {
		t.Errorf("subscriptions %+v", list)
	}
}

func (k *contract) groupConflicts(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("PUT", billing, `{"consume_from":"first"}`).want(t, 201)
	n.call("POST", orders+"/messages", `{"messages":[{"body":"a"}]}`).want(t, 200)
	n.call("POST", billing+"/receive", `{"topics":[{"topic":"orders"}],"wait_ms":2000}`).want(t, 200)
	k.refused(t, n, "receiveMessages", "POST", billing+"/receive", `{"topics":[{"topic":"orders","tags":"other"}]}`, 409, "subscription_mismatch")
	p := k.refused(t, n, "joinGroup", "POST", billing+"/members", groupBodies["joinGroup"], 409, "group_in_shared_mode")
	if p.RetryAfterMS <= 0 {
		t.Errorf("no time to try again: %+v", p)
	}
	n.call("PUT", "/v1/groups/queued", `{}`).want(t, 201)
	n.call("POST", "/v1/groups/queued/members", groupBodies["joinGroup"]).want(t, 201)
	k.refused(t, n, "receiveMessages", "POST", "/v1/groups/queued/receive", groupBodies["receiveMessages"], 409, "group_in_queue_mode")
	n.call("PUT", "/v1/groups/all", `{"mode":"broadcasting","consume_from":"first"}`).want(t, 201)
	k.refused(t, n, "receiveMessages", "POST", "/v1/groups/all/receive", groupBodies["receiveMessages"], 409, "group_broadcasting")
	id := decode[struct {
		ID string `json:"member_id"`
	}](t, n.call("POST", "/v1/groups/all/members", `{"client_id":"b1","subscriptions":[{"topic":"orders"}]}`).want(t, 201)).ID
	n.call("POST", "/v1/groups/all/members/"+id+"/poll", `{"wait_ms":2000}`).want(t, 200)
	rows := decode[struct{ Items []map[string]any }](t, k.do(t, n, "listOffsets", "GET", "/v1/groups/all/offsets?client_id=b1", "", 200)).Items
	if len(rows) != 1 || rows[0]["client_id"] != "b1" || rows[0]["mode"] != "broadcasting" {
		t.Errorf("progress of a broadcasting client %v", rows)
	}
}

func (k *contract) groupKeys(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("PUT", billing, `{}`).want(t, 201)
	for _, row := range []struct {
		operation, path, body, other string
		status                       int
	}{
		{"joinGroup", "/members", groupBodies["joinGroup"], `{"client_id":"x","subscriptions":[{"topic":"orders"}]}`, 201},
		{"resetOffsets", "/offsets/reset", groupBodies["resetOffsets"], `{"topic":"orders","to":"latest"}`, 200},
	} {
		key := []string{"Idempotency-Key", "one"}
		first := k.do(t, n, row.operation, "POST", billing+row.path, row.body, row.status, key...)
		again := k.do(t, n, row.operation, "POST", billing+row.path, row.body, row.status, key...)
		if string(first.body) != string(again.body) || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s twice: %s, then %s", row.operation, first.body, again.body)
		}
		k.refused(t, n, row.operation, "POST", billing+row.path, row.other, 422, "idempotency_key_reused", key...)
		_, err := n.meta.ClaimAnswer(t.Context(), gateway.AnswerClaim(row.operation+" billing", "two", row.body), time.Minute)
		must(t, err)
		k.refused(t, n, row.operation, "POST", billing+row.path, row.body, 409, "idempotency_in_flight", "Idempotency-Key", "two")
	}
}

// unknownGroups changes groups while nobody hears what became of segments.
func (k *contract) unknownGroups(t *testing.T) {
	n := start(t, nodeOptions{journal: func(o *journal.Options) { o.AppendTimeout = 200 * time.Millisecond }})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	n.call("PUT", billing, `{}`).want(t, 201)
	id := n.join(t, "c1")
	n.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Fault: func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		if _, err := next(); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	defer n.store.Clear()
	unknown := func(operation, method, path, body string) {
		t.Helper()
		k.refused(t, n, operation, method, path, body, http.StatusGatewayTimeout, "outcome_unknown")
	}
	unknown("putGroup", "PUT", "/v1/groups/new", `{}`)
	unknown("updateGroup", "PATCH", billing, `{"ordered":true}`)
	unknown("updateSubscription", "PATCH", billing+"/subscriptions/orders", `{"concurrency":2}`)
	unknown("seekMember", "POST", billing+"/members/"+id+"/seek", groupBodies["seekMember"])
	unknown("resetOffsets", "POST", billing+"/offsets/reset", groupBodies["resetOffsets"])
	unknown("updateGroupQueue", "PATCH", billing+"/queues/orders/0", groupBodies["updateGroupQueue"])
	unknown("joinGroup", "POST", "/v1/groups/new/members", groupBodies["joinGroup"])
	unknown("deleteGroup", "DELETE", billing+"?force=true", "")
}
