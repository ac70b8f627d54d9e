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

// Topic is a topic as the server describes it. ETag is its version.
type Topic struct {
	Name            string            `json:"topic"`
	ID              string            `json:"id,omitempty"`
	Type            string            `json:"type"`
	Queues          int64             `json:"queues"`
	Epoch           int64             `json:"epoch"`
	RetentionMS     int64             `json:"retention_ms"`
	RetentionBytes  int64             `json:"retention_bytes"`
	MaxMessageBytes int64             `json:"max_message_bytes"`
	Attributes      map[string]string `json:"attributes,omitempty"`
	CreatedAt       time.Time         `json:"created_at"`
	UpdatedAt       time.Time         `json:"updated_at"`
	ETag            string            `json:"etag,omitempty"`
}

// TopicSettings is what a caller may choose about a topic; nil fields are left
// to the server's defaults, or as they are in an update.
type TopicSettings struct {
	Type            *string           `json:"type,omitempty"`
	Queues          *int64            `json:"queues,omitempty"`
	RetentionMS     *int64            `json:"retention_ms,omitempty"`
	RetentionBytes  *int64            `json:"retention_bytes,omitempty"`
	MaxMessageBytes *int64            `json:"max_message_bytes,omitempty"`
	Attributes      map[string]string `json:"attributes,omitempty"`
}

// Queue is the state of one queue of a topic.
type Queue struct {
	Queue        int64      `json:"queue"`
	Epoch        int64      `json:"epoch"`
	MinOffset    int64      `json:"min_offset"`
	NextOffset   int64      `json:"next_offset"`
	Bytes        int64      `json:"bytes"`
	LastStoredAt *time.Time `json:"last_stored_at,omitempty"`
	Writable     bool       `json:"writable"`
}

// CreateTopic makes a topic; one of that name that exists already is an error.
func (cl *Client) CreateTopic(ctx context.Context, name string, s TopicSettings) (Topic, error) {
	return cl.topicCall(ctx, http.MethodPut, name, s, map[string]string{"If-None-Match": "*"})
}

// UpdateTopic changes the given settings. An etag that is not empty must still
// be the topic's.
func (cl *Client) UpdateTopic(ctx context.Context, name string, s TopicSettings, etag string) (Topic, error) {
	headers := map[string]string{}
	if etag != "" {
		headers["If-Match"] = etag
	}
	return cl.topicCall(ctx, http.MethodPatch, name, s, headers)
}

// Topic returns one topic.
func (cl *Client) Topic(ctx context.Context, name string) (Topic, error) {
	return cl.topicCall(ctx, http.MethodGet, name, nil, nil)
}

func (cl *Client) topicCall(ctx context.Context, method, name string, in any, headers map[string]string) (Topic, error) {
	c := call{method: method, path: []string{"topics", name}, headers: headers}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return Topic{}, fmt.Errorf("topic %s: %w", name, err)
		}
		c.body, c.kind = body, "application/json"
	}
	var t Topic
	resp, err := cl.do(ctx, c, &t)
	if err != nil {
		return Topic{}, err
	}
	if tag := resp.Header.Get("ETag"); tag != "" {
		t.ETag = tag
	}
	return t, nil
}

// DeleteTopic deletes a topic and, in time, its messages.
func (cl *Client) DeleteTopic(ctx context.Context, name string) error {
	_, err := cl.do(ctx, call{method: http.MethodDelete, path: []string{"topics", name}}, nil)
	return err
}

// Topics yields every topic whose name starts with prefix, page by page.
func (cl *Client) Topics(ctx context.Context, prefix string) iter.Seq2[Topic, error] {
	return func(yield func(Topic, error) bool) {
		for token := ""; ; {
			query := url.Values{"limit": {"1000"}}
			if prefix != "" {
				query.Set("prefix", prefix)
			}
			if token != "" {
				query.Set("page_token", token)
			}
			var page struct {
				Items         []Topic `json:"items"`
				NextPageToken string  `json:"next_page_token"`
			}
			if _, err := cl.do(ctx, call{method: http.MethodGet, path: []string{"topics"}, query: query}, &page); err != nil {
				yield(Topic{}, err)
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

// Queues returns the state of every queue of a topic.
func (cl *Client) Queues(ctx context.Context, topic string) ([]Queue, error) {
	var page struct {
		Items []Queue `json:"items"`
	}
	_, err := cl.do(ctx, call{method: http.MethodGet, path: []string{"topics", topic, "queues"}}, &page)
	return page.Items, err
}

// Info is what a server says about itself; Limits stay as the server names them.
type Info struct {
	Version string         `json:"version"`
	Limits  map[string]any `json:"limits"`
}

// Info asks the server for its version and limits.
func (cl *Client) Info(ctx context.Context) (Info, error) {
	var info Info
	_, err := cl.do(ctx, call{method: http.MethodGet, path: []string{"info"}}, &info)
	return info, err
}
