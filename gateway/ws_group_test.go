package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/meta"
)

// eater is a socket that consumes for a group.
type eater struct {
	*sock
	events []op  // what came besides messages
	early  []got // messages that came while something else was waited for
}

// got is a message with what names its delivery.
type got struct {
	queue, offset, attempt int64
	body, receipt          string
}

// consume subscribes for billing.
func (n *node) consume(protocol, mode, more string) (*eater, op) {
	n.t.Helper()
	e := &eater{sock: n.socket(protocol)}
	return e, e.call(fmt.Sprintf(`{"op":"subscribe","id":"s","sub":"g","mode":%q,"group":"billing","topics":[{"topic":"orders"}],"credit":{"messages":1000,"bytes":10000000}%s}`, mode, more), "subscribed")
}

// take reads on until count messages have come.
func (e *eater) take(count int) (all []got) {
	e.t.Helper()
	all, e.early = e.early, nil
	for len(all) < count {
		o := e.next()
		if o.Op != "messages" {
			e.events = append(e.events, o)
			continue
		}
		all = append(all, e.itemsOf(o)...)
	}
	return all
}

func (e *eater) itemsOf(o op) (all []got) {
	e.t.Helper()
	for _, m := range o.Items {
		all = append(all, got{m.Queue, m.Offset, m.Attempt, *m.Body, m.Receipt})
	}
	for _, r := range o.Runs {
		for i, m := range e.records(r.Queue, r.First, r.Count, &o.bodies) {
			all = append(all, got{r.Queue, m.Offset, r.Attempts[i], *m.Body, r.Receipts[i]})
		}
	}
	return all
}

// until reads on until an operation of a kind has come.
func (e *eater) until(kind string) op {
	e.t.Helper()
	for {
		o := e.next()
		if o.Op == kind {
			return o
		}
		if o.Op == "messages" {
			e.early = append(e.early, e.itemsOf(o)...)
			continue
		}
		e.events = append(e.events, o)
	}
}

func (e *eater) ack(all ...got) op {
	e.t.Helper()
	receipts := make([]string, len(all))
	for i, g := range all {
		receipts[i] = g.receipt
	}
	text, _ := json.Marshal(receipts)
	e.do(`{"op":"ack","id":"a","sub":"g","receipts":` + string(text) + `}`)
	return e.until("ok")
}

func bodiesOf(all []got) string {
	var list []string
	for _, g := range all {
		list = append(list, g.body)
	}
	return strings.Join(list, " ")
}

// send stores bodies in a queue of orders.
func (n *node) put(queue int, bodies ...string) {
	n.t.Helper()
	var list []string
	for _, b := range bodies {
		list = append(list, fmt.Sprintf(`{"body":%q,"queue":%d}`, b, queue))
	}
	n.call("POST", orders+"/messages", `{"messages":[`+strings.Join(list, ",")+`]}`).want(n.t, 200)
}

// give makes a member the next owner of queues of orders, as a coordinator would.
func (n *node) give(owners map[uint32]string) {
	n.t.Helper()
	ctx := n.t.Context()
	g, err := n.meta.Group(ctx, "billing")
	must(n.t, err)
	topic, err := n.meta.Topic(ctx, "orders")
	must(n.t, err)
	state, err := n.meta.GroupState(ctx, g.ID)
	must(n.t, err)
	var targets []meta.Target
	for queue, owner := range owners {
		targets = append(targets, meta.Target{Topic: topic.ID, Queue: queue, Owner: owner})
	}
	_, _, err = n.meta.Assign(ctx, g.ID, max(1, state.Term), state.Revision, "test", targets, nil)
	must(n.t, err)
}

// progress is the committed offset of a queue of orders, once it is this; what is
// merged is asked to be stored by commit.
func (n *node) progress(queue int) int64 {
	n.t.Helper()
	rows := decode[struct {
		Items []struct{ Queue, Offset int64 }
	}](n.t, n.call("GET", billing+"/offsets", "").want(n.t, 200)).Items
	for _, r := range rows {
		if r.Queue == int64(queue) {
			return r.Offset
		}
	}
	return -1
}

func (e *eater) commit() {
	e.t.Helper()
	e.do(`{"op":"commit","id":"c","sub":"g"}`)
	e.until("ok")
}

func groupNode(t *testing.T, queues int, settings string) *node {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, fmt.Sprintf(`{"queues":%d}`, queues)).want(t, 201)
	n.call("PUT", billing, settings).want(t, 201)
	return n
}

func TestSocketConsumesForAGroup(t *testing.T) {
	for _, protocol := range []string{"bmq.v1.json", "bmq.v1.bin"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			n := groupNode(t, 1, `{"consume_from":"first"}`)
			n.put(0, "a", "b", "c", "d")
			e, sub := n.consume(protocol, "group", `,"client_id":"c1"`)
			if sub.MemberID == "" || sub.ClientID != "c1" || sub.SessionKey == "" || sub.Recovered {
				t.Errorf("subscribed %+v", sub)
			}
			n.give(map[uint32]string{0: sub.MemberID})
			all := e.take(4)
			if bodiesOf(all) != "a b c d" || all[0].attempt != 1 {
				t.Fatalf("got %+v", all)
			}
			e.ack(all[1], all[2])
			e.commit()
			if p := n.progress(0); p != 0 {
				t.Errorf("progress %d while the first message is not finished, want 0", p)
			}
			if a := e.ack(all[0], all[0]); a.Settled.Done != 2 {
				t.Errorf("acknowledged twice: %+v", a.Settled)
			}
			e.commit()
			if p := n.progress(0); p != 3 {
				t.Errorf("progress %d, want 3", p)
			}
			e.do(`{"op":"nack","id":"n","sub":"g","items":[{"receipt":"` + all[3].receipt + `","delay_ms":20}]}`)
			again := e.take(1)
			if again[0].body != "d" || again[0].attempt != 2 {
				t.Errorf("given back, it came as %+v", again)
			}
			e.do(`{"op":"ack","id":"late","sub":"g","receipts":["` + all[3].receipt + `"]}`)
			p := e.until("error").Problem
			if p.Code != "receipt_superseded" || p.Errors[0]["current_attempt"] != 2.0 {
				t.Errorf("the first receipt of a message that came again: %+v", p)
			}
			if now, told := p.Errors[0]["now"]; told {
				t.Errorf("a receipt without a deadline was judged at %v", now)
			}
			e.do(`{"op":"ack","id":"u","sub":"g","up_to":{"topic":"orders","queue":0,"offset":3}}`)
			e.until("ok")
			n.put(0, "e")
			last := e.take(1)
			e.ack(last...)
			e.do(`{"op":"unsubscribe","id":"x","sub":"g"}`)
			e.until("ok")
			eventually(t, "the member has left and its progress is stored", func() bool {
				return len(members(n)) == 0 && n.progress(0) == 5
			})
		})
	}
}

// members lists the client ids of billing.
func members(n *node) (clients []string) {
	n.t.Helper()
	for _, m := range decode[struct {
		Items []struct {
			Client string `json:"client_id"`
		}
	}](n.t, n.call("GET", billing+"/members", "").want(n.t, 200)).Items {
		clients = append(clients, m.Client)
	}
	return clients
}

func TestOrderedConsumptionHasOneBatchOfAQueueInFlight(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first","ordered":true}`)
	n.call("PATCH", billing+"/subscriptions/orders", `{"pull_batch":3}`).want(t, 200)
	n.put(0, "a", "b", "c", "d", "e")
	e, sub := n.consume("bmq.v1.json", "group", "")
	n.give(map[uint32]string{0: sub.MemberID})
	first := e.take(3)
	e.ack(first[0])
	// b fails: b and what is behind it in the batch wait, and come again in order.
	e.do(`{"op":"nack","id":"n","sub":"g","items":[{"receipt":"` + first[1].receipt + `","delay_ms":50}]}`)
	e.until("ok")
	e.do(`{"op":"ack","id":"late","sub":"g","receipts":["` + first[2].receipt + `"]}`)
	if p := e.until("error").Problem; p.Code != "receipt_superseded" {
		t.Errorf("c was acknowledged though b before it failed: %+v", p)
	}
	again := e.take(2)
	if bodiesOf(again) != "b c" || again[0].attempt != 2 || again[1].attempt != 2 {
		t.Fatalf("after b failed came %+v", again)
	}
	e.ack(again...)
	rest := e.take(2)
	if bodiesOf(rest) != "d e" {
		t.Errorf("then came %+v", rest)
	}
}

func TestCreditOfAGroupComesBackByCreditOnly(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	n.put(0, "a", "b", "c", "d")
	e := &eater{sock: n.socket("bmq.v1.json")}
	sub := e.call(`{"op":"subscribe","id":"s","sub":"g","mode":"group","group":"billing","topics":[{"topic":"orders"}],"credit":{"messages":2,"bytes":1000}}`, "subscribed")
	n.give(map[uint32]string{0: sub.MemberID})
	all := e.take(2)
	e.ack(all...)
	if !slices.ContainsFunc(e.events, func(o op) bool { return o.Op == "stalled" && o.Reason == "credit" }) {
		if o := e.until("stalled"); o.Reason != "credit" {
			t.Errorf("stalled %+v", o)
		}
	}
	e.do(`{"op":"pause","id":"p","sub":"g"}`)
	e.until("ok")
	e.do(`{"op":"credit","id":"c","sub":"g","messages":5,"bytes":1000}`)
	e.until("ok")
	if len(e.early) > 0 {
		t.Errorf("while it was paused came %+v", e.early)
	}
	e.do(`{"op":"resume","id":"r","sub":"g"}`)
	if rest := e.take(2); bodiesOf(rest) != "c d" {
		t.Errorf("after credit came %+v", rest)
	}
}

func TestAQueueWithTooMuchInFlightRests(t *testing.T) {
	n := groupNode(t, 2, `{"consume_from":"first"}`)
	n.call("PATCH", billing+"/subscriptions/orders", `{"pull_threshold_for_queue":2}`).want(t, 200)
	n.put(0, "a", "b", "c")
	e, sub := n.consume("bmq.v1.json", "group", "")
	n.give(map[uint32]string{0: sub.MemberID, 1: sub.MemberID})
	all := e.take(2)
	if !slices.ContainsFunc(e.events, func(o op) bool { return o.Op == "stalled" }) {
		if o := e.until("stalled"); o.Reason != "in_flight" || o.Queue != 0 {
			t.Errorf("stalled %+v", o)
		}
	}
	n.put(1, "x") // another queue goes on
	if other := e.take(1); other[0].body != "x" {
		t.Errorf("got %+v", other)
	}
	e.do(`{"op":"ack","sub":"g","receipts":["` + all[1].receipt + `"]}`)
	if rest := e.take(1); rest[0].body != "c" {
		t.Errorf("got %+v", rest)
	}
}

// In order a batch is as large as pull_batch, 32 when it is not set; a queue rests
// also above its bytes and above its span of offsets, first unfinished to newest.
func TestWhatAQueueHasInFlightByDefaultByBytesAndBySpan(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("%03d", i)
	}
	for _, c := range []struct {
		name, group, settings string
		first                 int
		finish, then          int // which is finished, and how many come then
	}{
		{"default batch in order", `{"consume_from":"first","ordered":true}`, `{}`, 32, -1, 0},
		{"bytes", `{"consume_from":"first"}`, `{"pull_threshold_size_for_queue":9,"pull_batch":1}`, 4, 2, 1},
		{"span", `{"consume_from":"first"}`, `{"consume_max_span":5,"pull_batch":1}`, 6, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := groupNode(t, 1, c.group)
			n.call("PATCH", billing+"/subscriptions/orders", c.settings).want(t, 200)
			n.put(0, many...)
			e, sub := n.consume("bmq.v1.json", "group", "")
			n.give(map[uint32]string{0: sub.MemberID})
			all := e.take(c.first)
			e.do(`{"op":"commit","id":"c","sub":"g"}`)
			if e.until("ok"); len(all) != c.first || len(e.early) > 0 {
				t.Fatalf("%d and %d more came, want %d", len(all), len(e.early), c.first)
			}
			if c.finish >= 0 {
				e.ack(all[c.finish])
				if rest := e.take(c.then); len(rest) != c.then {
					t.Errorf("then came %+v", rest)
				}
			}
		})
	}
}

func TestTwoGroupsShareASocketAndNothingElse(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	n.call("PUT", "/v1/groups/audit", `{"consume_from":"first"}`).want(t, 201)
	n.put(0, "a", "b", "c")
	s := n.socket("bmq.v1.json")
	subscribe := `{"op":"subscribe","id":"%s","sub":"%[1]s","mode":"shared","group":"%[1]s","topics":[{"topic":"orders"}],"credit":{"messages":%d,"bytes":100000}}`
	s.do(fmt.Sprintf(subscribe, "billing", 1))
	s.do(fmt.Sprintf(subscribe, "audit", 100))
	got := map[string]string{}
	for len(got["audit"]) < 3 || len(got["billing"]) < 1 {
		if o := s.next(); o.Op == "messages" {
			for _, m := range o.Items {
				got[o.Sub] += *m.Body
			}
		}
	}
	if got["audit"] != "abc" || got["billing"] != "a" {
		t.Errorf("got %v: each group has all messages, within its own credit", got)
	}
}

func TestQueuesChangeHandsBetweenSocketsOfTwoGateways(t *testing.T) {
	n := groupNode(t, 2, `{"consume_from":"first"}`)
	other := start(t, nodeOptions{beside: n})
	n.put(0, "a0")
	n.put(1, "a1", "b1")
	one, first := n.consume("bmq.v1.json", "group", `,"client_id":"one"`)
	n.give(map[uint32]string{0: first.MemberID, 1: first.MemberID})
	all := one.take(3)
	two, second := other.consume("bmq.v1.json", "group", `,"client_id":"two"`)
	n.give(map[uint32]string{0: first.MemberID, 1: second.MemberID})
	if o := one.until("revoking"); len(o.Queues) != 1 || o.Queues[0].Queue != 1 {
		t.Fatalf("revoking %+v", o)
	}
	n.put(1, "c1") // for the next owner
	for _, g := range all {
		if g.queue == 1 {
			one.do(`{"op":"ack","sub":"g","receipts":["` + g.receipt + `"]}`)
		}
	}
	if o := one.until("revoked"); len(o.Queues) != 1 || o.Queues[0].Queue != 1 || len(one.early) > 0 {
		t.Fatalf("revoked %+v", o)
	}
	if o := two.until("assigned"); len(o.Queues) != 1 || o.Queues[0].Queue != 1 || o.Queues[0].Offset != 2 {
		t.Fatalf("assigned %+v, want queue 1 at 2", o)
	}
	if rest := two.take(1); rest[0].body != "c1" {
		t.Errorf("the next owner got %+v", rest)
	}
	i := slices.IndexFunc(all, func(g got) bool { return g.queue == 1 })
	one.do(`{"op":"ack","id":"late","sub":"g","receipts":["` + all[i].receipt + `"]}`)
	if p := one.until("error").Problem; p.Code != "receipt_superseded" {
		t.Errorf("an ack of the owner before: %+v", p)
	}
	n.put(0, "b0") // the queue that stayed goes on undisturbed
	if stay := one.take(1); stay[0].body != "b0" || stay[0].attempt != 1 {
		t.Errorf("the queue that stayed brought %+v", stay)
	}
}

func TestAMemberWhoseSocketBrokeComesBackThroughAnotherGateway(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first","resume_window_ms":60000}`)
	other := start(t, nodeOptions{beside: n})
	n.put(0, "a", "b")
	const key = `,"client_id":"one","session_key":"0123456789abcdef"`
	e, first := n.consume("bmq.v1.json", "group", key)
	n.give(map[uint32]string{0: first.MemberID})
	all := e.take(2)
	e.ack(all[0])
	generation := e.events[0].Generation
	e.conn.Close()
	eventually(t, "what was finished is stored", func() bool { return n.progress(0) == 1 })
	again, second := other.consume("bmq.v1.json", "group", key)
	if second.MemberID != first.MemberID || !second.Recovered || second.Generation != generation {
		t.Errorf("came back as %+v, was %+v in generation %d", second, first, generation)
	}
	if rest := again.take(1); rest[0].body != "b" {
		t.Errorf("what was not finished came as %+v", rest)
	}
}

func TestAMemberThatDoesNotComeBackIsGoneAfterTheWindow(t *testing.T) {
	n := groupNode(t, 1, `{"resume_window_ms":200}`)
	e, _ := n.consume("bmq.v1.json", "group", `,"client_id":"one"`)
	e.conn.Close()
	g, err := n.meta.Group(t.Context(), "billing")
	must(t, err)
	eventually(t, "the member expires", func() bool {
		_, err := n.meta.ExpireMembers(t.Context(), g.ID, 1) // the coordinator's
		must(t, err)
		return len(members(n)) == 0
	})
}

func TestByeLeavesTheGroupAtOnce(t *testing.T) {
	n := groupNode(t, 1, `{}`)
	e, _ := n.consume("bmq.v1.json", "group", `,"client_id":"one"`)
	e.do(`{"op":"bye"}`)
	eventually(t, "the member has left", func() bool { return len(members(n)) == 0 })
}

func TestANewerSessionReplacesASocket(t *testing.T) {
	n := groupNode(t, 1, `{}`)
	older, _ := n.consume("bmq.v1.json", "group", `,"client_id":"one"`)
	_, second := n.consume("bmq.v1.json", "group", `,"client_id":"one"`)
	if o := older.until("unsubscribed"); o.Problem.Code != "session_taken" {
		t.Errorf("the older one is told %+v", o.Problem)
	}
	if got := members(n); len(got) != 1 || second.Recovered {
		t.Errorf("members %v, recovered %v", got, second.Recovered)
	}
}

func TestEveryBroadcastSocketGetsEveryMessage(t *testing.T) {
	n := groupNode(t, 2, `{"mode":"broadcasting","consume_from":"first","resume_window_ms":60000}`)
	n.put(0, "a")
	n.put(1, "b")
	one, _ := n.consume("bmq.v1.json", "broadcast", `,"client_id":"one"`)
	two, _ := n.consume("bmq.v1.bin", "broadcast", `,"client_id":"two"`)
	all := one.take(2)
	one.ack(all...)
	others := two.take(2)
	two.do(`{"op":"nack","sub":"g","items":[{"receipt":"` + others[0].receipt + `"}]}`) // is only counted
	two.ack(others[1])
	one.commit()
	two.commit()
	rows := decode[struct {
		Items []struct {
			Client string `json:"client_id"`
			Offset int64
		}
	}](t, n.call("GET", billing+"/offsets", "").want(t, 200)).Items
	done := map[string]int64{}
	for _, r := range rows {
		done[r.Client] += r.Offset
	}
	if done["one"] != 2 || done["two"] != 2 {
		t.Errorf("progress by client %v", done)
	}
	one.conn.Close()
	n.put(0, "c")
	back, _ := n.consume("bmq.v1.json", "broadcast", `,"client_id":"one"`)
	if rest := back.take(1); rest[0].body != "c" {
		t.Errorf("the client that came back got %+v", rest)
	}
}

func TestSharedSocketsAcknowledgeThroughAnyGateway(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	other := start(t, nodeOptions{beside: n})
	n.put(0, "a", "b", "c")
	e, sub := n.consume("bmq.v1.json", "shared", `,"invisible_ms":60000`)
	if sub.MemberID != "" {
		t.Errorf("subscribed %+v", sub)
	}
	all := e.take(3)
	e.do(`{"op":"extend","id":"x","sub":"g","items":[{"receipt":"` + all[0].receipt + `"}]}`)
	e.until("ok")
	e.do(`{"op":"nack","id":"n","sub":"g","items":[{"receipt":"` + all[1].receipt + `","delay_ms":0}]}`)
	again := e.take(1)
	if again[0].body != "b" || again[0].attempt != 2 {
		t.Errorf("given back, it came as %+v", again)
	}
	e.ack(again[0])
	other.call("POST", billing+"/ack", `{"receipts":["`+all[0].receipt+`","`+all[2].receipt+`"]}`).want(t, 200)
	eventually(t, "all is finished", func() bool { return n.progress(0) == 3 })
}

func TestAResetDropsWhatASocketHasInFlight(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	n.put(0, "a", "b", "c")
	e, sub := n.consume("bmq.v1.json", "group", "")
	n.give(map[uint32]string{0: sub.MemberID})
	all := e.take(3)
	n.call("POST", billing+"/offsets/reset", `{"topic":"orders","to":"offset","offset":1}`).want(t, 200)
	if o := e.until("assigned"); o.Queues[0].Offset != 1 || o.Queues[0].Version != 2 {
		t.Errorf("after the reset: %+v", o)
	}
	again := e.take(2)
	if bodiesOf(again) != "b c" {
		t.Errorf("after the reset came %+v", again)
	}
	e.do(`{"op":"ack","id":"late","sub":"g","receipts":["` + all[2].receipt + `"]}`)
	if p := e.until("error").Problem; p.Code != "receipt_superseded" {
		t.Errorf("an ack from before the reset: %+v", p)
	}
	e.do(`{"op":"seek","id":"k","sub":"g","topic":"orders","queue":0,"to":{"position":"earliest"}}`)
	if back := e.take(3); bodiesOf(back) != "a b c" {
		t.Errorf("after the seek came %+v", back)
	}
}

func TestAStoppedQueueBringsNothingUntilItIsStarted(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	n.put(0, "a")
	e, sub := n.consume("bmq.v1.json", "group", "")
	n.give(map[uint32]string{0: sub.MemberID})
	e.ack(e.take(1)...)
	n.call("PATCH", billing+"/queues/orders/0", `{"stopped":true}`).want(t, 200)
	eventually(t, "what was finished is stored", func() bool { return n.progress(0) == 1 })
	n.put(0, "b")
	if o := e.until("stalled"); o.Reason != "stopped" || len(e.early) > 0 {
		t.Errorf("stalled %+v; messages %+v", o, e.early)
	}
	n.call("PATCH", billing+"/queues/orders/0", `{"stopped":false}`).want(t, 200)
	if rest := e.take(1); rest[0].body != "b" {
		t.Errorf("once started came %+v", rest)
	}
}

func TestLiveSettingsReachASocket(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	e, sub := n.consume("bmq.v1.json", "group", "")
	n.give(map[uint32]string{0: sub.MemberID})
	e.until("assigned")
	n.call("PATCH", billing+"/subscriptions/orders", `{"concurrency":7,"tags":"paid"}`).want(t, 200)
	if o := e.until("settings"); len(o.Settings) != 1 || o.Settings[0].Concurrency != 7 {
		t.Errorf("settings %+v", o)
	}
	n.call("POST", orders+"/messages", `{"messages":[{"body":"x","queue":0,"tag":"new"},{"body":"y","queue":0,"tag":"paid"}]}`).want(t, 200)
	if rest := e.take(1); rest[0].body != "y" {
		t.Errorf("with the tag of the settings came %+v", rest)
	}
	n.call("PATCH", billing+"/subscriptions/orders", `{"tags":"","delay_ms":700}`).want(t, 200)
	e.until("settings")
	began := time.Now()
	n.put(0, "z")
	if rest := e.take(1); rest[0].body != "z" || time.Since(began) < 600*time.Millisecond {
		t.Errorf("with a delay of 700 ms %+v came after %v", rest, time.Since(began))
	}
}

func TestWrongOperationsOnGroupsAreRefusedAndTheSocketGoesOn(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	n.call("PUT", "/v1/groups/all", `{"mode":"broadcasting"}`).want(t, 201)
	n.put(0, "a")
	s := n.socket("bmq.v1.json")
	subscribe := func(more string) string {
		return `{"op":"subscribe","id":"s","sub":"x","topics":[{"topic":"orders"}],"credit":{"messages":1,"bytes":1}` + more + `}`
	}
	for _, row := range []struct{ text, code, pointer string }{
		{subscribe(`,"mode":"group"`), "invalid_field", "/group"},
		{subscribe(`,"mode":"group","group":"-"`), "invalid_field", "/group"},
		{subscribe(`,"mode":"group","group":"none"`), "group_not_found", ""},
		{subscribe(`,"mode":"group","group":"all"`), "invalid_field", "/mode"},
		{subscribe(`,"mode":"broadcast","group":"billing"`), "invalid_field", "/mode"},
		{subscribe(`,"mode":"shared","group":"all"`), "group_broadcasting", ""},
		{subscribe(`,"mode":"shared","group":"billing","client_id":"c"`), "invalid_field", "/mode"},
		{subscribe(`,"mode":"shared","group":"billing","invisible_ms":1`), "invalid_field", "/invisible_ms"},
		{subscribe(`,"mode":"group","group":"billing","session_key":"short"`), "invalid_field", "/session_key"},
		{subscribe(`,"mode":"group","group":"billing","from":{"position":"earliest"}`), "invalid_field", "/from"},
		{subscribe(`,"mode":"tail","group":"billing"`), "invalid_field", "/group"},
		{strings.Replace(subscribe(`,"mode":"group","group":"billing"`), `"orders"`, `"none"`, 1), "topic_not_found", ""},
		{strings.Replace(subscribe(`,"mode":"group","group":"billing"`), `"orders"`, `"orders","sql":"a >"`, 1), "invalid_field", "/topics/0/sql"},
		{`{"op":"ack","id":"a","sub":"none","receipts":["x"]}`, "subscription_not_found", "/sub"},
	} {
		s.refused(row.text, row.code, row.pointer)
	}
	s.tail("t", "orders", `{"position":"latest"}`, 1, 1)
	s.refused(`{"op":"ack","id":"a","sub":"t","receipts":["x"]}`, "invalid_field", "/sub")
	e, sub := n.consume("bmq.v1.json", "group", "")
	n.give(map[uint32]string{0: sub.MemberID})
	e.take(1)
	for _, row := range []struct{ text, code string }{
		{`{"op":"ack","id":"a","sub":"g"}`, "invalid_field"},
		{`{"op":"ack","id":"a","sub":"g","receipts":["x"]}`, "receipt_invalid"},
		{`{"op":"ack","id":"a","sub":"g","up_to":{"topic":"orders","queue":7,"offset":0}}`, "not_owner"},
		{`{"op":"ack","id":"a","sub":"g","up_to":{"topic":"orders","queue":0,"offset":0},"receipts":[]}`, "invalid_field"},
		{`{"op":"nack","id":"a","sub":"g","items":[{"receipt":"x","delay_ms":-1}]}`, "invalid_field"},
		{`{"op":"extend","id":"a","sub":"g","items":[{"receipt":"x"}]}`, "invalid_field"},
		{`{"op":"seek","id":"a","sub":"g","topic":"orders","to":{"position":"latest"}}`, "invalid_field"},
		{`{"op":"seek","id":"a","sub":"g","topic":"orders","queue":0,"to":{"offset":99}}`, "offset_beyond_end"},
		{`{"op":"commit","id":"a","sub":"g","more":1}`, "unknown_field"},
	} {
		e.do(row.text)
		if p := e.until("error").Problem; p.Code != row.code {
			t.Errorf("%s: %+v, want %s", row.text, p, row.code)
		}
	}
	e.commit()
}

func TestShutdownKeepsMembershipsForTheResumeWindow(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first","resume_window_ms":60000}`)
	other := start(t, nodeOptions{beside: n})
	n.put(0, "a", "b")
	const key = `,"client_id":"one","session_key":"0123456789abcdef"`
	e, first := n.consume("bmq.v1.json", "group", key)
	n.give(map[uint32]string{0: first.MemberID})
	e.ack(e.take(2)[0])
	must(t, n.server.Shutdown(t.Context()))
	if p := other.progress(0); p != 1 {
		t.Errorf("progress %d after the shutdown, want 1", p)
	}
	back, second := other.consume("bmq.v1.json", "group", key)
	if second.MemberID != first.MemberID || !second.Recovered {
		t.Errorf("came back as %+v", second)
	}
	if rest := back.take(1); rest[0].body != "b" {
		t.Errorf("what was not finished came as %+v", rest)
	}
}

func TestAMemberGoesOnAfterRedisWasAway(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	n.put(0, "a")
	e, sub := n.consume("bmq.v1.json", "group", "")
	n.give(map[uint32]string{0: sub.MemberID})
	first := e.take(1)
	resume := n.redis.Pause()
	e.do(`{"op":"commit","id":"c","sub":"g"}`) // may be answered by either
	e.do(`{"op":"ack","sub":"g","receipts":["` + first[0].receipt + `"]}`)
	time.Sleep(1500 * time.Millisecond) // its sign of life fails
	resume()
	eventually(t, "messages are stored again", func() bool {
		return n.call("POST", orders+"/messages", `{"messages":[{"body":"b","queue":0}]}`).status == 200
	})
	if rest := e.take(1); rest[0].body != "b" || rest[0].attempt != 1 {
		t.Errorf("after Redis was away came %+v", rest)
	}
	eventually(t, "what was finished is stored", func() bool { e.commit(); return n.progress(0) == 1 })
}

// A receiver that never reads: what its connection did not take is others' at
// once when it ends, and counts as no attempt.
func TestSharedMessagesThatWereNotWrittenGoBackAtOnce(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first"}`)
	const count, size = 400, 64 << 10
	body := strings.Repeat("x", size)
	for range count / 20 {
		n.put(0, slices.Repeat([]string{body}, 20)...)
	}
	e, _ := n.consume("bmq.v1.json", "shared", `,"invisible_ms":600000`)
	e.do(`{"op":"credit","sub":"g","messages":100000,"bytes":1000000000}`)
	peek := func() meta.SharedView {
		g, err := n.meta.Group(t.Context(), "billing")
		must(t, err)
		topic, err := n.meta.Topic(t.Context(), "orders")
		must(t, err)
		views, errs := n.meta.SharedPeek(t.Context(), []meta.SharedQueue{{Group: g.ID, Topic: topic.ID}}, 1000, "")
		if !errors.Is(errs[0], meta.ErrNoOffset) { // it has not begun
			must(t, errs[0])
		}
		return views[0]
	}
	rested, last := 0, int64(-1)
	eventually(t, "it is sent no more", func() bool {
		now := peek().Position
		if rested++; now == 0 || now != last {
			rested = 0
		}
		last = now
		return rested > 150
	})
	if last >= count {
		t.Skip("the connection took everything") // its buffers are the system's
	}
	e.conn.Close()
	eventually(t, "what was not written is free at once", func() bool { return len(peek().Due) > 0 })
	got := decode[received](t, n.call("POST", billing+"/receive", `{"topics":[{"topic":"orders"}],"max_messages":1}`).want(t, 200))
	if len(got.Messages) != 1 || got.Messages[0].Attempt != 1 || got.Messages[0].Offset >= last {
		t.Errorf("received %+v below offset %d, want one that counts as never delivered", got.Messages, last)
	}
}
