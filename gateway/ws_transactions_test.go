package gateway_test

import (
	"fmt"
	"testing"
	"time"
)

// begun begins a transaction whose first check is due at once.
func (n *node) begun(group string, after int) deal {
	n.t.Helper()
	return as[deal](n.t, n.call("POST", transactions, two(group, fmt.Sprintf(`,"check_after_ms":%d,"reference":"ref"`, after))).want(n.t, 201), 201)
}

func (n *node) deal(id string) deal {
	n.t.Helper()
	return as[deal](n.t, n.call("GET", transactions+"/"+id, "").want(n.t, 200), 200)
}

func TestAProducerOnASocketIsAskedAndAnswers(t *testing.T) {
	for _, protocol := range []string{"bmq.v1.json", "bmq.v1.bin"} {
		t.Run(protocol, func(t *testing.T) {
			n := deals(t, nodeOptions{})
			s := n.socket(protocol)
			s.call(`{"op":"producer","id":"1","group":"sellers"}`, "ok")
			s.call(`{"op":"producer","id":"2","group":"sellers"}`, "ok") // again is fine
			tx := n.begun("sellers", 1)
			check := s.want("tx_check").Transaction
			if check.TransactionID != tx.TransactionID || check.Checks != 1 || check.Reference != "ref" || check.State != "open" || len(check.Topics) != 2 {
				t.Fatalf("asked %+v", check)
			}
			unknown := s.call(`{"op":"tx_result","id":"3","transaction_id":"`+tx.TransactionID+`","outcome":"unknown"}`, "ok")
			if unknown.ID != "3" || unknown.Transaction.State != "open" {
				t.Errorf("unknown: %+v", unknown)
			}
			done := s.call(`{"op":"tx_result","id":"4","transaction_id":"`+tx.TransactionID+`","outcome":"commit"}`, "ok")
			if done.Transaction.State != "committed" || !done.Transaction.Readable {
				t.Errorf("commit: %+v", done.Transaction)
			}
			if page := n.read("deals", 0, ""); len(page.Messages) != 2 {
				t.Errorf("readable: %+v", page)
			}
			s.refused(`{"op":"tx_result","id":"5","transaction_id":"`+tx.TransactionID+`","outcome":"rollback"}`, "transaction_decided", "path:transaction")
			second := n.begun("sellers", 60_000) // also one that was not asked about
			if done := s.call(`{"op":"tx_result","id":"6","transaction_id":"`+second.TransactionID+`","outcome":"rollback"}`, "ok"); done.Transaction.State != "rolled_back" {
				t.Errorf("rollback: %+v", done.Transaction)
			}
		})
	}
}

func TestOperationsOfProducersAreChecked(t *testing.T) {
	n := deals(t, nodeOptions{})
	s := n.socket("bmq.v1.json")
	s.refused(`{"op":"producer","id":"1"}`, "invalid_field", "/group")
	s.refused(`{"op":"producer","id":"1","group":"a b"}`, "invalid_field", "/group")
	s.refused(`{"op":"producer","id":"1","group":"a","more":1}`, "unknown_field", "/more")
	s.refused(`{"op":"tx_result","id":"1","outcome":"commit"}`, "invalid_field", "/transaction_id")
	s.refused(`{"op":"tx_result","id":"1","transaction_id":"x"}`, "invalid_field", "/outcome")
	s.refused(`{"op":"tx_result","id":"1","transaction_id":"x","outcome":"maybe"}`, "invalid_field", "/outcome")
	s.refused(`{"op":"tx_result","id":"1","transaction_id":"`+noTransaction+`","outcome":"commit"}`, "transaction_not_found", "")
	s.refused(`{"op":"tx_result","transaction_id":"`+noTransaction+`","outcome":"commit"}`, "transaction_not_found", "") // told without an id too
	for i := range 16 {
		s.call(fmt.Sprintf(`{"op":"producer","id":"p","group":"g%d"}`, i), "ok")
	}
	s.refused(`{"op":"producer","id":"1","group":"g16"}`, "too_many_producer_groups", "")
	s.call(`{"op":"producer","id":"2","group":"g3","stop":true}`, "ok")
	s.call(`{"op":"producer","id":"3","group":"g16"}`, "ok")
}

// A check goes to one of the live producers; one that left gets none, and one
// that comes gets what the others were not asked.
func TestChecksGoToProducersThatLive(t *testing.T) {
	n := deals(t, nodeOptions{})
	left, stopped, other := n.socket("bmq.v1.json"), n.socket("bmq.v1.json"), n.socket("bmq.v1.json")
	left.call(`{"op":"producer","id":"1","group":"sellers"}`, "ok")
	stopped.call(`{"op":"producer","id":"1","group":"sellers"}`, "ok")
	other.call(`{"op":"producer","id":"1","group":"others"}`, "ok")
	left.do(`{"op":"bye"}`)
	left.closedWith(1000)
	stopped.call(`{"op":"producer","id":"2","group":"sellers","stop":true}`, "ok")
	tx := n.begun("sellers", 1)
	time.Sleep(1500 * time.Millisecond) // somebody who should not be would have been asked
	if got := n.deal(tx.TransactionID); got.Checks != 0 {
		t.Fatalf("asked %d times though nobody lives", got.Checks)
	}
	late := n.socket("bmq.v1.json")
	late.call(`{"op":"producer","id":"1","group":"sellers"}`, "ok")
	if check := late.want("tx_check").Transaction; check.TransactionID != tx.TransactionID || check.Checks != 1 {
		t.Errorf("asked %+v", check)
	}
}

// Many producers, many transactions: each is asked of one producer once, over
// sockets of either protocol and over HTTP.
func TestEveryTransactionIsAskedOfOneProducer(t *testing.T) {
	n := deals(t, nodeOptions{})
	var socks []*sock
	for i := range 4 {
		s := n.socket([]string{"bmq.v1.json", "bmq.v1.bin"}[i%2])
		s.call(`{"op":"producer","id":"1","group":"sellers"}`, "ok")
		socks = append(socks, s)
	}
	const count = 40
	asked := make(chan string, 10*count)
	for _, s := range socks {
		go func() {
			for {
				o, err := s.read()
				if err != nil {
					return
				}
				asked <- o.Transaction.TransactionID
			}
		}()
	}
	want := map[string]int{}
	for range count {
		want[n.begun("sellers", 1).TransactionID] = 0
	}
	deadline := time.After(20 * time.Second)
	for left := count; left > 0; {
		select {
		case id := <-asked:
			if want[id]++; want[id] == 1 {
				left--
			}
		case <-deadline:
			t.Fatalf("%d were not asked about", left)
		}
	}
	for id, times := range want {
		if times != 1 {
			t.Errorf("%s was asked about %d times", id, times)
		}
	}
}

// What a client asked for before it said bye is done and answered.
func TestADecisionIsAnsweredBeforeBye(t *testing.T) {
	n := deals(t, nodeOptions{})
	s := n.socket("bmq.v1.json")
	var ids []string
	for range 20 {
		ids = append(ids, n.begun("sellers", 60_000).TransactionID)
	}
	for i, id := range ids {
		s.do(fmt.Sprintf(`{"op":"tx_result","id":"%d","transaction_id":%q,"outcome":"commit"}`, i, id))
	}
	s.do(`{"op":"bye"}`)
	answered := map[string]bool{}
	for range ids {
		o := s.want("ok")
		answered[o.ID] = o.Transaction.State == "committed"
	}
	s.closedWith(1000)
	if len(answered) != len(ids) {
		t.Errorf("%d of %d decisions were answered", len(answered), len(ids))
	}
	if page := n.read("deals", 0, ""); len(page.Messages) != 2*len(ids) {
		t.Errorf("%d messages are readable, want %d", len(page.Messages), 2*len(ids))
	}
}

// A server that stops leaves its producers' checks to others, and none is lost.
func TestAStoppingServerKeepsNoChecks(t *testing.T) {
	n := deals(t, nodeOptions{})
	beside := start(t, nodeOptions{beside: n})
	s := n.socket("bmq.v1.json")
	s.call(`{"op":"producer","id":"1","group":"sellers"}`, "ok")
	must(t, n.server.Shutdown(t.Context()))
	tx := beside.begun("sellers", 1)
	a := beside.call("POST", "/v1/producer-groups/sellers/checks", `{"wait_ms":10000}`).want(t, 200)
	list := as[struct{ Transactions []deal }](t, a, 200).Transactions
	if len(list) != 1 || list[0].TransactionID != tx.TransactionID || list[0].Checks != 1 {
		t.Errorf("checks: %s", a.body)
	}
	s.want("goaway")
	s.closedWith(4000)
}

// Half messages are seen by no reader, search or count before the commit, and by
// all of them after it.
func TestHalfMessagesAreSeenByNobodyBeforeTheCommit(t *testing.T) {
	n := deals(t, nodeOptions{})
	s := n.socket("bmq.v1.json")
	s.tail("t", "deals", `{"position":"earliest"}`, 100, 1<<20)
	n.call("PUT", "/v1/groups/g", `{"consume_from":"first"}`).want(t, 201)
	n.call("POST", "/v1/groups/g/receive", `{"topics":[{"topic":"deals"}]}`).want(t, 200)
	tx := n.begun("sellers", 60_000)
	looks := func(count int) {
		t.Helper()
		if page := n.read("deals", 0, "wait_ms=100"); len(page.Messages) != count {
			t.Errorf("a read finds %d messages, want %d", len(page.Messages), count)
		}
		for _, query := range []string{"message_id=" + tx.Topics[0].MessageIDs[0] + "&limit=1000", "from=2026-01-01T00:00:00Z", "key=k"} {
			a := n.call("GET", "/v1/topics/deals/search?"+query, "").want(t, 200)
			found := as[struct {
				Items    []message `json:"items"`
				Messages []message `json:"messages"`
			}](t, a, 200)
			if got := len(found.Items) + len(found.Messages); (got > 0) != (count > 0) {
				t.Errorf("search?%s finds %s, want some: %v", query, a.body, count > 0)
			}
		}
		a := n.call("GET", "/v1/topics/deals/queues", "").want(t, 200)
		queues := as[struct {
			Items []struct {
				NextOffset int `json:"next_offset"`
				Bytes      int `json:"bytes"`
			}
		}](t, a, 200).Items
		if len(queues) != 1 || queues[0].NextOffset != count || (queues[0].Bytes > 0) != (count > 0) {
			t.Errorf("queues %s, want %d messages", a.body, count)
		}
		a = n.call("GET", "/v1/groups/g/offsets?topic=deals", "").want(t, 200)
		lag := as[struct{ Items []struct{ Lag *int } }](t, a, 200).Items
		if len(lag) != 1 || lag[0].Lag == nil || *lag[0].Lag != count {
			t.Errorf("lag of the group: %s, want %d", a.body, count)
		}
	}
	looks(0)
	n.call("POST", transactions+"/"+tx.TransactionID+"/commit", "").want(t, 200)
	looks(2)
	for _, m := range s.collect(2) { // the tail has them too, and nothing before
		if m.MessageID != tx.Topics[0].MessageIDs[0] && m.MessageID != tx.Topics[0].MessageIDs[1] {
			t.Errorf("the tail brings %+v", m)
		}
	}
}
