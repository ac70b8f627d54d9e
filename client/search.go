package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Search says what to look for in a topic: MessageID, or Key and what bounds it.
type Search struct {
	Topic     string
	MessageID string
	Key       string    // one of the message's keys
	From, To  time.Time // when it was stored: From included, To not; zero is no bound
	Tag       string
	Limit     int    // messages of a page; 0 leaves it to the server
	Token     string // NextToken of the page before
}

// Found is an answer to Search.
type Found struct {
	Messages     []Stored  `json:"items"`
	ScannedUntil time.Time `json:"scanned_until"`
	NextToken    string    `json:"next_page_token"` // empty: the search is complete
	Gaps         []struct {
		Queue  int64  `json:"queue"`
		From   int64  `json:"from"`
		To     int64  `json:"to"`
		Reason string `json:"reason"`
	} `json:"gaps"` // what could not be looked through
}

// Search returns messages of a part of a topic. A page may be empty and still have
// a token to go on with.
func (cl *Client) Search(ctx context.Context, s Search) (Found, error) {
	query := url.Values{}
	for name, value := range map[string]string{"message_id": s.MessageID, "key": s.Key, "tag": s.Tag, "page_token": s.Token} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"from": s.From, "to": s.To} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
		}
	}
	if s.Limit > 0 {
		query.Set("limit", strconv.Itoa(s.Limit))
	}
	var found Found
	_, err := cl.do(ctx, call{method: http.MethodGet, path: []string{"topics", s.Topic, "search"}, query: query}, &found)
	return found, err
}
