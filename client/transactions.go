package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Transaction is a transaction as the server describes it.
type Transaction struct {
	ID            string             `json:"transaction_id"`
	ProducerGroup string             `json:"producer_group"`
	State         string             `json:"state"` // begun, open, committed, rolled_back or expired
	Reason        string             `json:"reason,omitempty"`
	Reference     string             `json:"reference,omitempty"`
	CreatedAt     time.Time          `json:"created_at"`
	Deadline      time.Time          `json:"deadline"` // when producers are first asked
	Checks        int                `json:"checks"`
	MaxChecks     int                `json:"max_checks"`
	NextCheckAt   *time.Time         `json:"next_check_at,omitempty"`
	DecidedAt     *time.Time         `json:"decided_at,omitempty"`
	Readable      bool               `json:"readable"`
	Topics        []TransactionTopic `json:"topics"`
}

// TransactionTopic is what a transaction sends to one topic.
type TransactionTopic struct {
	Topic      string             `json:"topic"`
	Messages   int                `json:"messages"`
	MessageIDs []string           `json:"message_ids,omitempty"` // not in a list
	Places     []TransactionPlace `json:"places"`                // once they are readable
	Gone       bool               `json:"gone,omitempty"`        // the topic was deleted before
}

// TransactionPlace is a run of messages of one queue.
type TransactionPlace struct {
	Queue    int64 `json:"queue"`
	Offset   int64 `json:"offset"` // of the first of them
	Messages int64 `json:"messages"`
}

// NewTransaction is a transaction to begin.
type NewTransaction struct {
	ProducerGroup string          `json:"producer_group"`
	Topics        []TopicMessages `json:"topics"`
	CheckAfterMS  int64           `json:"check_after_ms,omitempty"` // 0: the server's default, 6 s
	Reference     string          `json:"reference,omitempty"`
}

// TopicMessages are messages for one topic, of type transaction or mixed.
type TopicMessages struct {
	Topic    string    `json:"topic"`
	Messages []Message `json:"messages"`
}

// Begin stores the messages of a transaction: they become readable together once
// it is committed, or never. A request sent again with the same key, which may be
// empty, begins nothing new.
func (cl *Client) Begin(ctx context.Context, t NewTransaction, key string) (Transaction, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return Transaction{}, fmt.Errorf("transaction of %s: %w", t.ProducerGroup, err)
	}
	c := call{method: http.MethodPost, path: []string{"transactions"}, body: body, kind: "application/json"}
	if key != "" {
		c.headers = map[string]string{"Idempotency-Key": key}
	}
	return cl.transaction(ctx, c)
}

// Transaction returns one transaction.
func (cl *Client) Transaction(ctx context.Context, id string) (Transaction, error) {
	return cl.transaction(ctx, call{method: http.MethodGet, path: []string{"transactions", id}})
}

// TransactionMessage is a message of a transaction that is not decided.
type TransactionMessage struct {
	Topic     string `json:"topic"`
	MessageID string `json:"message_id"`
	Message          // Queue is where it goes
}

// TransactionMessages returns the messages of a transaction that is open or has
// expired.
func (cl *Client) TransactionMessages(ctx context.Context, id string) ([]TransactionMessage, error) {
	var list struct {
		Items []TransactionMessage `json:"items"`
	}
	_, err := cl.do(ctx, call{method: http.MethodGet, path: []string{"transactions", id, "messages"}}, &list)
	return list.Items, err
}

// Commit makes the messages of a transaction readable, with force also those of
// one that has expired. It may be repeated.
func (cl *Client) Commit(ctx context.Context, id string, force bool) (Transaction, error) {
	c := call{method: http.MethodPost, path: []string{"transactions", id, "commit"}}
	if force {
		c.query = url.Values{"force": {"true"}}
	}
	return cl.transaction(ctx, c)
}

// Rollback sees to it that nobody reads the messages of a transaction. It may be
// repeated.
func (cl *Client) Rollback(ctx context.Context, id string) (Transaction, error) {
	return cl.transaction(ctx, call{method: http.MethodPost, path: []string{"transactions", id, "rollback"}})
}

func (cl *Client) transaction(ctx context.Context, c call) (Transaction, error) {
	var t Transaction
	_, err := cl.do(ctx, c, &t)
	return t, err
}

// Transactions yields the transactions of a producer group that are undecided or
// still remembered, the oldest first; state "" means all.
func (cl *Client) Transactions(ctx context.Context, group, state string) iter.Seq2[Transaction, error] {
	return func(yield func(Transaction, error) bool) {
		for token := ""; ; {
			query := url.Values{"limit": {"1000"}}
			if state != "" {
				query.Set("state", state)
			}
			if token != "" {
				query.Set("page_token", token)
			}
			var page struct {
				Items         []Transaction `json:"items"`
				NextPageToken string        `json:"next_page_token"`
			}
			c := call{method: http.MethodGet, path: []string{"producer-groups", group, "transactions"}, query: query}
			if _, err := cl.do(ctx, c, &page); err != nil {
				yield(Transaction{}, err)
				return
			}
			for _, t := range page.Items {
				if !yield(t, nil) {
					return
				}
			}
			if token = page.NextPageToken; token == "" {
				return
			}
		}
	}
}

// Checks waits for transactions of a producer group that have to be decided. Each
// counts as asked, so whoever takes them decides them.
func (cl *Client) Checks(ctx context.Context, group string, most int, wait time.Duration) ([]Transaction, error) {
	body, err := json.Marshal(map[string]int64{"max_checks": int64(most), "wait_ms": wait.Milliseconds()})
	if err != nil {
		return nil, err
	}
	var list struct {
		Transactions []Transaction `json:"transactions"`
	}
	c := call{method: http.MethodPost, path: []string{"producer-groups", group, "checks"}, body: body, kind: "application/json"}
	_, err = cl.do(ctx, c, &list)
	return list.Transactions, err
}
