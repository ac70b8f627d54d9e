package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// FailedMessage is a message whose delivery to a group failed.
type FailedMessage struct {
	State    string    `json:"state"` // waiting, due or dead
	At       time.Time `json:"at"`    // when it comes again, or became a dead letter
	Attempts int64     `json:"attempts"`
	Reason   string    `json:"reason"`
	Topic    string    `json:"topic"`
	Number   *int64    `json:"number,omitempty"`
	Message  Stored    `json:"message"`
}

// DeadLetters picks dead letters; the zero value all.
type DeadLetters struct {
	Topic     string     `json:"topic,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	MessageID string     `json:"message_id,omitempty"`
	From      *time.Time `json:"from,omitempty"`
	To        *time.Time `json:"to,omitempty"`
	Limit     int64      `json:"limit,omitempty"` // of one call; 0: the server's
	Rate      int64      `json:"rate,omitempty"`  // of a redrive: messages per second; 0: all at once
	DryRun    bool       `json:"dry_run,omitempty"`
	PageToken string     `json:"page_token,omitempty"` // Handled.Next of the call before
}

// Handled is what a call did with dead letters.
type Handled struct {
	Matched int64  `json:"matched"`
	Done    int64  `json:"done"`
	Next    string `json:"next_page_token"` // where the next call goes on; "": at the end
}

// Retries lists the messages that a group is to get again: those that wait, or
// those that are due and not finished.
func (cl *Client) Retries(ctx context.Context, group string, due bool) iter.Seq2[FailedMessage, error] {
	state := "waiting"
	if due {
		state = "due"
	}
	return cl.failures(ctx, groupPath(group, "retries"), url.Values{"state": {state}})
}

// DeadLetters lists the messages that a group gave up, oldest first.
func (cl *Client) DeadLetters(ctx context.Context, group string, pick DeadLetters) iter.Seq2[FailedMessage, error] {
	query := url.Values{}
	for name, value := range map[string]string{"topic": pick.Topic, "reason": pick.Reason, "message_id": pick.MessageID} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]*time.Time{"from": pick.From, "to": pick.To} {
		if at != nil {
			query.Set(name, at.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
	}
	return cl.failures(ctx, groupPath(group, "dead-letters"), query)
}

func (cl *Client) failures(ctx context.Context, path []string, query url.Values) iter.Seq2[FailedMessage, error] {
	return func(yield func(FailedMessage, error) bool) {
		query.Set("limit", strconv.Itoa(100))
		for {
			var page struct {
				Items         []FailedMessage `json:"items"`
				NextPageToken string          `json:"next_page_token"`
			}
			if _, err := cl.json(ctx, http.MethodGet, path, query, nil, nil, &page); err != nil {
				yield(FailedMessage{}, err)
				return
			}
			for _, m := range page.Items {
				if !yield(m, nil) {
					return
				}
			}
			if page.NextPageToken == "" {
				return
			}
			query.Set("page_token", page.NextPageToken)
		}
	}
}

// Redrive gives dead letters to the group once more.
func (cl *Client) Redrive(ctx context.Context, group string, pick DeadLetters) (h Handled, err error) {
	_, err = cl.json(ctx, http.MethodPost, groupPath(group, "dead-letters", "redrive"), nil, nil, pick, &h)
	return h, err
}

// Purge drops dead letters.
func (cl *Client) Purge(ctx context.Context, group string, pick DeadLetters) (h Handled, err error) {
	pick.Rate = 0
	_, err = cl.json(ctx, http.MethodPost, groupPath(group, "dead-letters", "purge"), nil, nil, pick, &h)
	return h, err
}
