package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"
)

// Message is one message to send. Body is nil for a tombstone.
type Message struct {
	Queue       *int64            `json:"queue,omitempty"`
	Tag         string            `json:"tag,omitempty"`
	Keys        []string          `json:"keys,omitempty"`
	OrderingKey string            `json:"ordering_key,omitempty"`
	ContentType string            `json:"content_type,omitempty"`
	Properties  map[string]string `json:"properties,omitempty"`
	Body        *string           `json:"body"`
	Encoding    string            `json:"encoding,omitempty"`

	// At most one of these makes a delayed message; see openapi.yaml.
	DelayMS    int64      `json:"delay_ms,omitempty"`
	DeliverAt  *time.Time `json:"deliver_at,omitempty"`
	DelayLevel int64      `json:"delay_level,omitempty"`
}

// SetBody makes body the message's: as text when it is valid UTF-8, else as
// base64.
func (m *Message) SetBody(body []byte) {
	if utf8.Valid(body) {
		s := string(body)
		m.Body, m.Encoding = &s, ""
		return
	}
	s := base64.StdEncoding.EncodeToString(body)
	m.Body, m.Encoding = &s, "base64"
}

// SendResult says what became of each message of a request.
type SendResult struct {
	Stored  int      `json:"stored"`
	Failed  int      `json:"failed"`
	Results []Result `json:"results"`
}

// Result is the fate of one message.
type Result struct {
	Index     int    `json:"index"`
	Status    string `json:"status"`
	MessageID string `json:"message_id"`
	Queue     int64  `json:"queue"`
	Offset    int64  `json:"offset"` // −1: delayed, it has none yet
	Duplicate bool   `json:"duplicate"`
	Error     *Fault `json:"error,omitempty"`

	RecallHandle string `json:"recall_handle,omitempty"` // of a delayed message
}

// Send stores messages in a topic and returns once they are durable. With an
// idempotency key it may be repeated safely after an error.
func (cl *Client) Send(ctx context.Context, topic string, messages []Message, idempotencyKey string) (SendResult, error) {
	return cl.sendMessages(ctx, topic, map[string]any{"messages": messages}, idempotencyKey)
}

// SendIf is Send of messages that all name the same queue, if that queue's next
// offset is next; else a *Problem next_offset_conflict tells the current one, and
// nothing is stored.
func (cl *Client) SendIf(ctx context.Context, topic string, messages []Message, idempotencyKey string, next int64) (SendResult, error) {
	return cl.sendMessages(ctx, topic, map[string]any{"messages": messages, "if_next_offset": next}, idempotencyKey)
}

func (cl *Client) sendMessages(ctx context.Context, topic string, request map[string]any, idempotencyKey string) (SendResult, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return SendResult{}, fmt.Errorf("messages: %w", err)
	}
	c := call{method: http.MethodPost, path: []string{"topics", topic, "messages"}, body: body, kind: "application/json"}
	if idempotencyKey != "" {
		c.headers = map[string]string{"Idempotency-Key": idempotencyKey}
	}
	var r SendResult
	_, err = cl.do(ctx, c, &r)
	for i := range r.Results {
		if r.Results[i].RecallHandle != "" {
			r.Results[i].Offset = -1
		}
	}
	return r, err
}

// Recall takes a delayed message away before it is due. It may be repeated
// safely after an error.
func (cl *Client) Recall(ctx context.Context, topic, handle string) error {
	_, err := cl.do(ctx, call{method: http.MethodDelete, path: []string{"topics", topic, "scheduled", handle}}, nil)
	return err
}

// Stored is a message as it was read.
type Stored struct {
	Queue       int64             `json:"queue"`
	Offset      int64             `json:"offset"`
	MessageID   string            `json:"message_id"`
	StoredAt    time.Time         `json:"stored_at"`
	BornAt      time.Time         `json:"born_at"`
	Tag         string            `json:"tag,omitempty"`
	Keys        []string          `json:"keys,omitempty"`
	OrderingKey string            `json:"ordering_key,omitempty"`
	ContentType string            `json:"content_type,omitempty"`
	Properties  map[string]string `json:"properties,omitempty"`
	Body        *string           `json:"body"`
	Encoding    string            `json:"encoding,omitempty"`

	// The rest is of messages of a group.
	Topic   string `json:"topic,omitempty"`
	Receipt string `json:"receipt,omitempty"`
	Attempt int64  `json:"attempt,omitempty"`
}

// Bytes is the message's body, nil for a tombstone.
func (s *Stored) Bytes() ([]byte, error) {
	switch {
	case s.Body == nil:
		return nil, nil
	case s.Encoding == "base64":
		return base64.StdEncoding.DecodeString(*s.Body)
	default:
		return []byte(*s.Body), nil
	}
}

// Read says what to read from one queue.
type Read struct {
	Topic string
	Queue int64
	// Offset is where to start.
	Offset int64
	// Limit and MaxBytes bound the page; zero leaves them to the server.
	Limit    int
	MaxBytes int64
	// Wait is how long the server may hold the request for a first message.
	Wait time.Duration
	// Tags is a filter such as "paid || refunded".
	Tags string
	// SQL is a condition such as "region = 'eu'"; not together with Tags.
	SQL string
	// Clamp moves an offset outside the queue to its nearest end, instead of
	// an error.
	Clamp bool
}

// Page is an answer to Read.
type Page struct {
	Status     string   `json:"status"`
	Messages   []Stored `json:"messages"`
	NextOffset int64    `json:"next_offset"`
	MinOffset  int64    `json:"min_offset"`
	MaxOffset  int64    `json:"max_offset"`
	Epoch      int64    `json:"epoch"`
}

// Read returns messages of one queue from an offset on.
func (cl *Client) Read(ctx context.Context, r Read) (Page, error) {
	query := url.Values{"offset": {strconv.FormatInt(r.Offset, 10)}}
	if r.Limit > 0 {
		query.Set("limit", strconv.Itoa(r.Limit))
	}
	if r.MaxBytes > 0 {
		query.Set("max_bytes", strconv.FormatInt(r.MaxBytes, 10))
	}
	if r.Wait > 0 {
		query.Set("wait_ms", strconv.FormatInt(r.Wait.Milliseconds(), 10))
	}
	if r.Tags != "" {
		query.Set("tags", r.Tags)
	}
	if r.SQL != "" {
		query.Set("sql", r.SQL)
	}
	if r.Clamp {
		query.Set("clamp", "true")
	}
	path := []string{"topics", r.Topic, "queues", strconv.FormatInt(r.Queue, 10), "messages"}
	var page Page
	_, err := cl.do(ctx, call{method: http.MethodGet, path: path, query: query}, &page)
	for i := range page.Messages {
		page.Messages[i].Queue = r.Queue
	}
	return page, err
}

// QueueOffset is an offset of one queue.
type QueueOffset struct {
	Queue  int64 `json:"queue"`
	Offset int64 `json:"offset"`
}

// OffsetsAt returns, per queue, the first offset stored at or after a time.
func (cl *Client) OffsetsAt(ctx context.Context, topic string, at time.Time) ([]QueueOffset, error) {
	return cl.offsets(ctx, topic, url.Values{"timestamp": {at.UTC().Format("2006-01-02T15:04:05.000Z07:00")}})
}

// OffsetsOf returns, per queue, the offset of "earliest" or "latest".
func (cl *Client) OffsetsOf(ctx context.Context, topic, position string) ([]QueueOffset, error) {
	return cl.offsets(ctx, topic, url.Values{"position": {position}})
}

func (cl *Client) offsets(ctx context.Context, topic string, query url.Values) ([]QueueOffset, error) {
	var page struct {
		Items []QueueOffset `json:"items"`
	}
	_, err := cl.do(ctx, call{method: http.MethodGet, path: []string{"topics", topic, "offsets"}, query: query}, &page)
	return page.Items, err
}
