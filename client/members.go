package client

import (
	"context"
	"net/http"
)

// Join asks to become a member of a group.
type Join struct {
	ClientID      string      `json:"client_id,omitempty"`
	SessionKey    string      `json:"session_key,omitempty"`
	Subscriptions []Selection `json:"subscriptions"`
}

// Membership is what a member has.
type Membership struct {
	ID          string `json:"member_id"`
	ClientID    string `json:"client_id"`
	HeartbeatMS int64  `json:"heartbeat_ms"`
}

// Poll asks for messages of a member's queues. The cursor of the poll before
// commits what that one delivered.
type Poll struct {
	Cursor      string `json:"cursor,omitempty"`
	AutoCommit  bool   `json:"auto_commit"`
	MaxMessages int    `json:"max_messages,omitempty"`
	WaitMS      int64  `json:"wait_ms"`
}

// Polled is what a poll brought.
type Polled struct {
	Messages    []Stored `json:"messages"`
	Cursor      string   `json:"cursor"`
	Rebalancing bool     `json:"rebalancing"`
	Gaps        []Lost   `json:"gaps"`
}

// Lost are messages that cannot be had any more.
type Lost struct {
	Topic  string `json:"topic"`
	Queue  int64  `json:"queue"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Reason string `json:"reason"`
}

// Receive asks for messages of any queue of a group, hidden from others for a time.
type Receive struct {
	Topics      []Selection `json:"topics"`
	MaxMessages int         `json:"max_messages,omitempty"`
	WaitMS      int64       `json:"wait_ms"`
}

// Received is what a receive brought; each message has a Receipt.
type Received struct {
	Messages []Stored `json:"messages"`
	Gaps     []Lost   `json:"gaps"`
}

// JoinGroup makes the caller a member of a group.
func (cl *Client) JoinGroup(ctx context.Context, group string, j Join) (m Membership, err error) {
	_, err = cl.json(ctx, http.MethodPost, groupPath(group, "members"), nil, nil, j, &m)
	return m, err
}

// LeaveGroup ends a membership; ending it twice is fine.
func (cl *Client) LeaveGroup(ctx context.Context, group, member string) error {
	_, err := cl.json(ctx, http.MethodDelete, groupPath(group, "members", member), nil, nil, nil, nil)
	return err
}

// PollMember returns messages of a member's queues; it is a heartbeat, too.
func (cl *Client) PollMember(ctx context.Context, group, member string, p Poll) (got Polled, err error) {
	_, err = cl.json(ctx, http.MethodPost, groupPath(group, "members", member, "poll"), nil, nil, p, &got)
	return got, err
}

// ReceiveMessages returns messages with receipts.
func (cl *Client) ReceiveMessages(ctx context.Context, group string, r Receive) (got Received, err error) {
	_, err = cl.json(ctx, http.MethodPost, groupPath(group, "receive"), nil, nil, r, &got)
	return got, err
}

// Nack is one message to be given back.
type Nack struct {
	Receipt    string `json:"receipt"`
	DelayMS    *int64 `json:"delay_ms,omitempty"` // nil: what the group says for the attempt
	Reason     string `json:"reason,omitempty"`
	DeadLetter bool   `json:"dead_letter,omitempty"`
	Unhandled  bool   `json:"unhandled,omitempty"`
}

// NackMessages gives messages back that were received.
func (cl *Client) NackMessages(ctx context.Context, group string, items []Nack) error {
	_, err := cl.json(ctx, http.MethodPost, groupPath(group, "nack"), nil, nil, map[string][]Nack{"items": items}, nil)
	return err
}

// AckMessages finishes messages that were received.
func (cl *Client) AckMessages(ctx context.Context, group string, receipts []string) error {
	_, err := cl.json(ctx, http.MethodPost, groupPath(group, "ack"), nil, nil, map[string][]string{"receipts": receipts}, nil)
	return err
}
