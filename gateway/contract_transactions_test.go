package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketmq/bucketmq/gateway"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

const (
	transactions = "/v1/transactions"
	// noTransaction is the id of a transaction that there is not.
	noTransaction = "AQECAwQFBgcIAZjIFTgAcACAAAAAAAAAAQ"
)

// deal is what the tests read of a transaction.
type deal struct {
	TransactionID string `json:"transaction_id"`
	ProducerGroup string `json:"producer_group"`
	State, Reason string
	Reference     string
	Checks        int
	Readable      bool
	CreatedAt     string `json:"created_at"`
	Deadline      string
	Topics        []struct {
		Topic      string
		Messages   int
		MessageIDs []string `json:"message_ids"`
		Places     []struct{ Queue, Offset, Messages int64 }
	}
}

// two is a body that begins a transaction of two topics.
func two(group string, more string) string {
	return fmt.Sprintf(`{"producer_group":%q,"topics":[{"topic":"deals","messages":[{"body":"d1","tag":"paid","keys":["k"]},{"body":"d2"}]},{"topic":"mixed","messages":[{"body":"m"}]}]%s}`, group, more)
}

// deals starts a node with topics that take transactions.
func deals(t *testing.T, o nodeOptions) *node {
	t.Helper()
	n := start(t, o)
	n.call("PUT", "/v1/topics/deals", `{"queues":1,"type":"transaction"}`).want(t, 201)
	n.call("PUT", "/v1/topics/mixed", `{"queues":1,"type":"mixed"}`).want(t, 201)
	return n
}

func (k *contract) transactions(t *testing.T) {
	n := deals(t, nodeOptions{})
	begin := func(more string, headers ...string) (deal, answer) {
		a := k.run(t, n, step{operation: "beginTransaction", method: "POST", path: transactions, body: two("sellers", more), headers: headers, status: 201})
		return as[deal](t, a, 201), a
	}
	first, a := begin(`,"check_after_ms":60000,"reference":"order 1"`)
	if first.State != "open" || first.Reference != "order 1" || first.Readable || len(first.Topics) != 2 || len(first.Topics[0].MessageIDs) != 2 ||
		a.header.Get("Location") != transactions+"/"+first.TransactionID {
		t.Errorf("begun: %s", a.body)
	}
	if at, err := time.Parse(time.RFC3339, first.CreatedAt); err != nil || at.Add(time.Minute).UTC().Format("2006-01-02T15:04:05.000Z") != first.Deadline {
		t.Errorf("created %s, deadline %s", first.CreatedAt, first.Deadline)
	}
	path := transactions + "/" + first.TransactionID
	k.run(t, n, step{operation: "getTransaction", method: "GET", path: path, status: 200})
	half := k.run(t, n, step{operation: "listTransactionMessages", method: "GET", path: path + "/messages?encoding=base64", status: 200})
	list0 := as[struct {
		Items []struct{ Topic, Tag, Body string }
	}](t, half, 200).Items
	if fmt.Sprint(list0) != "[{deals paid ZDE=} {deals  ZDI=} {mixed  bQ==}]" {
		t.Errorf("half messages: %s", half.body)
	}
	if page := n.read("deals", 0, ""); len(page.Messages) != 0 {
		t.Errorf("half messages are readable: %+v", page)
	}
	for range 2 {
		got := as[deal](t, k.run(t, n, step{operation: "commitTransaction", method: "POST", path: path + "/commit", status: 200}), 200)
		if got.State != "committed" || !got.Readable || len(got.Topics[0].Places) != 1 || got.Topics[0].Places[0].Messages != 2 {
			t.Errorf("committed: %+v", got)
		}
	}
	p := k.run(t, n, step{operation: "rollbackTransaction", method: "POST", path: path + "/rollback", status: 409, code: "transaction_decided"}).problem(t)
	if p.Errors[0]["outcome"] != "committed" {
		t.Errorf("the opposite is told %v", p.Errors)
	}
	if page := n.read("deals", 0, ""); len(page.Messages) != 2 {
		t.Errorf("committed messages: %+v", page)
	}

	k.run(t, n, step{operation: "listTransactionMessages", method: "GET", path: path + "/messages", status: 409, code: "transaction_decided"})

	second, _ := begin(`,"check_after_ms":1`)
	checks := k.run(t, n, step{operation: "pollChecks", method: "POST", path: "/v1/producer-groups/sellers/checks", body: `{"wait_ms":10000,"max_checks":2}`, status: 200})
	list := as[struct{ Transactions []deal }](t, checks, 200).Transactions
	if len(list) != 1 || list[0].TransactionID != second.TransactionID || list[0].Checks != 1 {
		t.Errorf("checks: %s", checks.body)
	}
	k.run(t, n, step{operation: "rollbackTransaction", method: "POST", path: transactions + "/" + second.TransactionID + "/rollback", status: 200})
	p = k.run(t, n, step{operation: "commitTransaction", method: "POST", path: transactions + "/" + second.TransactionID + "/commit?force=true", status: 409, code: "transaction_decided"}).problem(t)
	if p.Errors[0]["outcome"] != "rolled_back" {
		t.Errorf("the opposite is told %v", p.Errors)
	}
	k.listed(t, n, first.TransactionID, second.TransactionID)

	keyed, _ := begin(`,"reference":"once"`, "Idempotency-Key", "k")
	again, a := begin(`,"reference":"once"`, "Idempotency-Key", "k")
	if keyed.TransactionID != again.TransactionID || a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("with a key: %s, then %s", keyed.TransactionID, again.TransactionID)
	}
}

// listed pages through the transactions of a group.
func (k *contract) listed(t *testing.T, n *node, want ...string) {
	t.Helper()
	var got []string
	token := ""
	for range 10 {
		a := k.run(t, n, step{operation: "listTransactions", method: "GET", path: "/v1/producer-groups/sellers/transactions?limit=1" + token, status: 200})
		page := as[struct {
			Items         []deal
			NextPageToken string `json:"next_page_token"`
		}](t, a, 200)
		for _, item := range page.Items {
			got = append(got, item.TransactionID)
		}
		if page.NextPageToken == "" {
			break
		}
		token = "&page_token=" + page.NextPageToken
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	a := n.call("GET", "/v1/producer-groups/sellers/transactions?state=rolled_back", "").want(t, 200)
	if items := as[struct{ Items []deal }](t, a, 200).Items; len(items) != 1 || items[0].TransactionID != want[1] {
		t.Errorf("rolled back: %s", a.body)
	}
	if a = n.call("GET", "/v1/producer-groups/others/transactions", "").want(t, 200); !bytes.Contains(a.body, []byte(`"items":[]`)) {
		t.Errorf("of another group: %s", a.body)
	}
}

func (k *contract) refusedTransactions(t *testing.T) {
	n := deals(t, nodeOptions{})
	n.call("PUT", orders, `{}`).want(t, 201)
	for operation, path := range map[string]string{"getTransaction": "", "commitTransaction": "/commit", "rollbackTransaction": "/rollback", "listTransactionMessages": "/messages"} {
		method := map[bool]string{true: "GET", false: "POST"}[path == "" || path == "/messages"]
		for _, id := range []string{noTransaction, "nothing"} {
			k.run(t, n, step{operation: operation, method: method, path: transactions + "/" + id + path, status: 404, code: "transaction_not_found"})
		}
	}
	begin := func(topics string, status int, code, pointer string, headers ...string) {
		t.Helper()
		a := k.run(t, n, step{operation: "beginTransaction", method: "POST", path: transactions, body: `{"producer_group":"sellers","topics":` + topics + `}`, headers: headers, status: status, code: code, breaks: true})
		if pointer != "" && a.status == status {
			if p := a.problem(t); len(p.Errors) == 0 || p.Errors[0]["pointer"] != pointer {
				t.Errorf("%s: errors %v, want one at %s", topics, p.Errors, pointer)
			}
		}
	}
	of := func(topic, messages string) string {
		return `[{"topic":"` + topic + `","messages":[` + messages + `]}]`
	}
	begin(of("orders", `{"body":"x"}`), 422, "invalid_message", "/topics/0/topic")
	begin(of("deals", `{"body":"x","delay_ms":5}`), 422, "invalid_message", "/topics/0/messages/0/delay_ms")
	begin(of("deals", `{"body":"x"},{"body":"x","properties":{"__x":"1"}}`), 400, "reserved_property", "/topics/0/messages/1/properties")
	begin(of("deals", `{"body":"`+strings.Repeat("x", 4<<20+1)+`"}`), 413, "message_too_large", "/topics/0/messages/0/body")
	begin(`[]`, 422, "invalid_message", "/topics")
	begin(of("deals", ""), 422, "invalid_message", "/topics/0/messages")
	begin(`[{"topic":"deals","messages":[{"body":"x"}]},{"topic":"deals","messages":[{"body":"x"}]}]`, 422, "invalid_message", "/topics/1/topic")
	for _, wrong := range []string{`{"topics":[]}`, `{"producer_group":"a","check_after_ms":0,"topics":[]}`, `{"producer_group":"a","reference":"` + strings.Repeat("r", 1025) + `","topics":[]}`} {
		k.run(t, n, step{operation: "beginTransaction", method: "POST", path: transactions, body: wrong, status: 400, code: "invalid_field", breaks: true})
	}
	key := []string{"Idempotency-Key", "k"}
	begin(of("deals", `{"body":"x"}`), 201, "", "", key...)
	begin(of("deals", `{"body":"y"}`), 422, "idempotency_key_reused", "", key...)
	body := `{"producer_group":"sellers","topics":` + of("deals", `{"body":"x"}`) + `}`
	_, err := n.meta.ClaimAnswer(t.Context(), gateway.AnswerClaim("beginTransaction", "running", body), time.Minute)
	must(t, err)
	begin(of("deals", `{"body":"x"}`), 409, "idempotency_in_flight", "", "Idempotency-Key", "running")
	n.call("POST", "/v1/topics/deals/messages", `{"messages":[{"body":"plain"}]}`).want(t, 422)
	n.call("POST", "/v1/topics/deals/messages/framed", frames("plain"), octets...).want(t, 422)

	k.damagedTransaction(t, n)

	// As many as a group may have are undecided.
	agendas, err := n.redis.Client().Keys(t.Context(), "{x:*}:agenda").Result()
	must(t, err)
	many := make([]redis.Z, 10_000)
	for i := range many {
		many[i] = redis.Z{Score: 1e15, Member: fmt.Sprint(i)}
	}
	must(t, n.redis.Client().ZAdd(t.Context(), agendas[0], many...).Err())
	begin(of("deals", `{"body":"x"}`), 429, "too_many_transactions", "")
}

// damagedTransaction looks at half messages whose bytes are damaged.
func (k *contract) damagedTransaction(t *testing.T, n *node) {
	id := as[deal](t, n.call("POST", transactions, two("sellers", "")).want(t, 201), 201).TransactionID
	n.store.Add(&faulty.Rule{Op: faulty.Get, Prefix: "log/", Fault: faulty.Flip(70)})
	defer n.store.Clear()
	k.run(t, n, step{operation: "listTransactionMessages", method: "GET", path: transactions + "/" + id + "/messages", status: 410, code: "data_corrupt"})
}

// unknownTransactions decides while no object's fate is told.
func (k *contract) unknownTransactions(t *testing.T) {
	n := deals(t, nodeOptions{journal: func(o *journal.Options) { o.AppendTimeout = 300 * time.Millisecond }})
	var open []string
	for range 2 {
		open = append(open, as[deal](t, n.call("POST", transactions, two("sellers", "")).want(t, 201), 201).TransactionID)
	}
	n.store.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Fault: func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		if _, err := next(); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	unknown := func(operation, path, body string) {
		k.run(t, n, step{operation: operation, method: "POST", path: transactions + path, body: body, status: 504, code: "outcome_unknown"})
	}
	unknown("beginTransaction", "", two("sellers", ""))
	unknown("commitTransaction", "/"+open[0]+"/commit", "")
	unknown("rollbackTransaction", "/"+open[1]+"/rollback", "")
	n.store.Clear()
	for i, path := range []string{"/commit", "/rollback"} { // to ask again tells
		eventually(t, "the decision is told", func() bool { return n.call("POST", transactions+"/"+open[i]+path, "").status == 200 })
	}
	if page := n.read("deals", 0, ""); len(page.Messages) != 2 {
		t.Errorf("readable: %+v", page)
	}
}
