package gateway_test

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

// What is sent after a subscription was answered is the group's, also before there
// is any credit.
func TestAGroupBeginsWithItsSubscription(t *testing.T) {
	for _, mode := range []string{"group", "shared", "broadcast"} {
		t.Run(mode, func(t *testing.T) {
			settings := `{"consume_from":"last"}`
			if mode == "broadcast" {
				settings = `{"consume_from":"last","mode":"broadcasting"}`
			}
			n := groupNode(t, 1, settings)
			n.put(0, "before")
			e := &eater{sock: n.socket("bmq.v1.json")}
			sub := e.call(fmt.Sprintf(`{"op":"subscribe","id":"s","sub":"g","mode":%q,"group":"billing","topics":[{"topic":"orders"}],"credit":{"messages":0,"bytes":0}}`, mode), "subscribed")
			n.put(0, "after")
			if mode == "group" {
				n.give(map[uint32]string{0: sub.MemberID})
			}
			e.do(`{"op":"credit","sub":"g","messages":10,"bytes":1000}`)
			if all := e.take(1); all[0].body != "after" {
				t.Errorf("got %+v", all)
			}
		})
	}
}

// Of live sockets with the same client id and session key, and of such
// subscriptions of one socket, the last one is the member.
func TestTheLastSocketOfASessionIsTheMember(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first","resume_window_ms":0}`)
	other := start(t, nodeOptions{beside: n})
	n.put(0, "a", "b")
	const key = `,"client_id":"one","session_key":"0123456789abcdef"`
	older, first := n.consume("bmq.v1.json", "group", key)
	n.give(map[uint32]string{0: first.MemberID})
	older.ack(older.take(2)[0])
	older.commit()
	newer, second := other.consume("bmq.v1.json", "group", key)
	if second.MemberID != first.MemberID || !second.Recovered {
		t.Errorf("the newer one is %+v, the older %+v", second, first)
	}
	if o := older.until("unsubscribed"); o.Problem.Code != "session_taken" || len(older.early) > 0 {
		t.Errorf("the older one is told %+v, after %+v", o.Problem, older.early)
	}
	newer.ack(newer.take(1)...)
	newer.do(`{"op":"subscribe","id":"s","sub":"h","mode":"group","group":"billing","topics":[{"topic":"orders"}],"credit":{"messages":10,"bytes":1000}` + key + `}`)
	if o := newer.until("unsubscribed"); o.Sub != "g" || o.Problem.Code != "session_taken" {
		t.Errorf("the subscription before is told %+v", o)
	}
	older.conn.Close()
	n.put(0, "c")
	if all := newer.take(1); all[0].body != "c" {
		t.Errorf("got %+v", all)
	}
	g, err := n.meta.Group(t.Context(), "billing")
	must(t, err)
	gone, err := n.meta.ExpireMembers(t.Context(), g.ID, 1)
	must(t, err)
	if got := members(n); len(got) != 1 || len(gone) > 0 {
		t.Errorf("members %v, expired %v", got, gone)
	}
}

// A client that does not finish what it has of a queue that it is to give back has
// it taken away at the deadline, and the next owner starts with that.
func TestAQueueIsTakenAwayAtItsDeadline(t *testing.T) {
	n := groupNode(t, 1, `{"consume_from":"first","revoke_timeout_ms":1000}`)
	n.put(0, "a", "b")
	one, first := n.consume("bmq.v1.json", "group", `,"client_id":"one"`)
	n.give(map[uint32]string{0: first.MemberID})
	all := one.take(2)
	one.ack(all[0])
	two, second := n.consume("bmq.v1.json", "group", `,"client_id":"two"`)
	n.give(map[uint32]string{0: second.MemberID})
	one.until("revoking")
	g, err := n.meta.Group(t.Context(), "billing")
	must(t, err)
	eventually(t, "the revocation ends", func() bool {
		_, err := n.meta.ExpireMembers(t.Context(), g.ID, 1) // the coordinator's
		must(t, err)
		state, err := n.meta.GroupState(t.Context(), g.ID)
		must(t, err)
		return state.Assignments[0].Owner == second.MemberID
	})
	one.until("revoked")
	one.do(`{"op":"ack","id":"late","sub":"g","receipts":["` + all[1].receipt + `"]}`)
	if p := one.until("error").Problem; p.Code != "receipt_superseded" {
		t.Errorf("an ack after the deadline: %+v", p)
	}
	if rest := two.take(1); bodiesOf(rest) != "b" {
		t.Errorf("the next owner got %+v: a was finished in time", rest)
	}
}

func TestADeletedGroupEndsItsSubscriptions(t *testing.T) {
	for _, mode := range []string{"group", "shared"} {
		t.Run(mode, func(t *testing.T) {
			n := groupNode(t, 1, `{}`)
			e, _ := n.consume("bmq.v1.json", mode, "")
			n.call("DELETE", billing+"?force=true", "").want(t, 204)
			n.put(0, "x") // wakes who has not heard of it
			if o := e.until("unsubscribed"); o.Problem.Code != "group_not_found" || len(e.early) > 0 {
				t.Errorf("told %+v, after %+v", o.Problem, e.early)
			}
			e.do(`{"op":"ack","id":"a","sub":"g","receipts":["x"]}`)
			if p := e.until("error").Problem; p.Code != "subscription_not_found" {
				t.Errorf("the subscription is still there: %+v", p)
			}
		})
	}
}

// A client that reads nothing for a while has little in memory, is not closed, and
// misses nothing.
func TestASlowReaderOfAGroupIsHeldBack(t *testing.T) {
	const count, size = 300, 64 << 10
	for _, mode := range []string{"group", "shared"} {
		t.Run(mode, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.Registry = registry }})
			n.call("PUT", orders, `{"queues":1}`).want(t, 201)
			n.call("PUT", billing, `{"consume_from":"first"}`).want(t, 201)
			body := strings.Repeat("x", size)
			for range count / 20 {
				n.put(0, slices.Repeat([]string{body}, 20)...)
			}
			e, sub := n.consume("bmq.v1.bin", mode, "")
			e.do(`{"op":"credit","sub":"g","messages":100000,"bytes":1000000000}`)
			if mode == "group" {
				n.give(map[uint32]string{0: sub.MemberID})
			}
			rested, last := 0, 0
			eventually(t, "no more is sent", func() bool {
				now := gauge(t, registry, "bucketmq_ws_messages_sent_total")
				if rested++; now == 0 || now != last {
					rested = 0
				}
				last = now
				return rested > 50
			})
			if last >= count {
				t.Skip("the connection took everything") // its buffers are the system's
			}
			all := e.take(count)
			for i, g := range all {
				if g.offset != int64(i) || g.attempt != 1 {
					t.Fatalf("message %d is offset %d, attempt %d", i, g.offset, g.attempt)
				}
			}
			t.Logf("%d of %d were sent to a client that read nothing", last, count)
		})
	}
}

// Sockets that close, cleanly or not, leave no members and no goroutines.
func TestSocketsOfGroupsLeaveNothing(t *testing.T) {
	registry := prometheus.NewRegistry()
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.Registry = registry }})
	n.call("PUT", orders, `{"queues":4}`).want(t, 201)
	groups := map[string]string{"group": "queued", "broadcast": "all", "shared": "shared"}
	for mode, name := range groups {
		settings := `{"resume_window_ms":0}`
		if mode == "broadcast" {
			settings = `{"resume_window_ms":0,"mode":"broadcasting"}`
		}
		n.call("PUT", "/v1/groups/"+name, settings).want(t, 201)
	}
	open := func(each int) (conns []net.Conn) {
		for mode, name := range groups {
			for range each {
				conns = append(conns, n.light(fmt.Sprintf(`{"op":"subscribe","sub":"s","mode":%q,"group":%q,"topics":[{"topic":"orders"}],"credit":{"messages":100,"bytes":10000}}`, mode, name)))
			}
		}
		return conns
	}
	shut := func(conns []net.Conn) {
		for i, conn := range conns {
			if i%2 == 0 {
				must(t, conn.(*net.TCPConn).SetLinger(0)) // a reset
			}
			conn.Close()
		}
		eventually(t, "all sockets have gone", func() bool { return socketsOpen(t, registry) == 0 })
	}
	shut(open(1))
	n.client.CloseIdleConnections()
	goroutines := runtime.NumGoroutine()
	const each = 60
	shut(open(each))
	for _, name := range groups {
		g, err := n.meta.Group(t.Context(), name)
		must(t, err)
		eventually(t, "the members of "+name+" have gone", func() bool {
			_, err := n.meta.ExpireMembers(t.Context(), g.ID, 1)
			must(t, err)
			state, err := n.meta.GroupState(t.Context(), g.ID)
			must(t, err)
			return len(state.Members) == 0
		})
	}
	n.client.CloseIdleConnections()
	eventually(t, "their goroutines have gone", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
}

// Credit comes back by credit alone: not when what a client never finished is due
// again.
func TestSharedMessagesThatAreDueAgainTakeCreditAnew(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":1}`).want(t, 201)
	definition := group.Default("billing")
	definition.ConsumeFrom, definition.InvisibleMS, definition.NackDelaysMS = meta.ConsumeFromFirst, 300, []int64{0} // shorter than the contract allows
	g, err := n.meta.CreateGroup(t.Context(), definition)
	must(t, err)
	must(t, n.journal.RecordGroup(t.Context(), g))
	n.put(0, "a", "b")
	e := &eater{sock: n.socket("bmq.v1.json")}
	e.call(`{"op":"subscribe","id":"s","sub":"g","mode":"shared","group":"billing","topics":[{"topic":"orders"}],"credit":{"messages":2,"bytes":1000}}`, "subscribed")
	if all := e.take(2); bodiesOf(all) != "a b" {
		t.Fatalf("got %+v", all)
	}
	time.Sleep(500 * time.Millisecond) // both are due again
	e.do(`{"op":"commit","id":"c","sub":"g"}`)
	if e.until("ok"); len(e.early) > 0 {
		t.Fatalf("without credit came %+v", e.early)
	}
	e.do(`{"op":"credit","sub":"g","messages":2,"bytes":1000}`)
	again := e.take(2)
	if bodiesOf(again) != "a b" || again[0].attempt != 2 || again[1].attempt != 2 {
		t.Errorf("with credit came %+v", again)
	}
	e.ack(again...)
}
