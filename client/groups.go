package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Group is a consumer group as the server describes it. ETag is its version.
type Group struct {
	Name             string            `json:"group"`
	ID               string            `json:"group_id"`
	Mode             string            `json:"mode"`
	Strategy         string            `json:"strategy"`
	ConsumeFrom      string            `json:"consume_from"`
	ConsumeTimestamp *time.Time        `json:"consume_timestamp,omitempty"`
	Ordered          bool              `json:"ordered"`
	InvisibleMS      int64             `json:"invisible_ms"`
	SessionTimeoutMS int64             `json:"session_timeout_ms"`
	ResumeWindowMS   int64             `json:"resume_window_ms"`
	RevokeTimeoutMS  int64             `json:"revoke_timeout_ms"`
	CommitPolicy     string            `json:"commit_policy"`
	MaxMembers       int64             `json:"max_members"`
	AllowIPs         []string          `json:"allow_ips"`
	DenyIPs          []string          `json:"deny_ips"`
	Retry            Retry             `json:"retry"`
	Attributes       map[string]string `json:"attributes"`
	CreatedAt        time.Time         `json:"created_at"`
	UpdatedAt        time.Time         `json:"updated_at"`
	ETag             string            `json:"etag"`
}

// GroupSettings is what a caller may choose about a group; nil fields are left to
// the server's defaults, or as they are in an update.
type GroupSettings struct {
	Mode             *string           `json:"mode,omitempty"`
	Strategy         *string           `json:"strategy,omitempty"`
	ConsumeFrom      *string           `json:"consume_from,omitempty"`
	ConsumeTimestamp *time.Time        `json:"consume_timestamp,omitempty"`
	Ordered          *bool             `json:"ordered,omitempty"`
	InvisibleMS      *int64            `json:"invisible_ms,omitempty"`
	SessionTimeoutMS *int64            `json:"session_timeout_ms,omitempty"`
	CommitPolicy     *string           `json:"commit_policy,omitempty"`
	MaxMembers       *int64            `json:"max_members,omitempty"`
	ResumeWindowMS   *int64            `json:"resume_window_ms,omitempty"`
	RevokeTimeoutMS  *int64            `json:"revoke_timeout_ms,omitempty"`
	AllowIPs         *[]string         `json:"allow_ips,omitempty"` // empty: everybody
	DenyIPs          *[]string         `json:"deny_ips,omitempty"`  // empty: nobody
	Retry            *Retry            `json:"retry,omitempty"`
	Attributes       map[string]string `json:"attributes,omitempty"`
}

// Retry says how messages come again that failed.
type Retry struct {
	DelaysMS    []int64  `json:"delays_ms,omitempty"`
	Exponential *Backoff `json:"exponential,omitempty"` // in place of DelaysMS
	MaxAttempts *int64   `json:"max_attempts,omitempty"`
}

// Backoff is waits that grow, in milliseconds.
type Backoff struct {
	InitialMS  int64   `json:"initial_ms"`
	MaxMS      int64   `json:"max_ms"`
	Multiplier float64 `json:"multiplier"`
}

// Selection is a topic, and which of its messages; all without a filter.
type Selection struct {
	Topic string `json:"topic"`
	Tags  string `json:"tags,omitempty"`
	SQL   string `json:"sql,omitempty"`
}

// Member is one client that consumes for a group.
type Member struct {
	ID            string      `json:"member_id"`
	ClientID      string      `json:"client_id"`
	Kind          string      `json:"kind"`
	Transport     string      `json:"transport"`
	Address       string      `json:"address"`
	Subscriptions []Selection `json:"subscriptions"`
	Standby       bool        `json:"standby"`
	JoinedAt      time.Time   `json:"joined_at"`
	LastHeartbeat time.Time   `json:"last_heartbeat_at"`
	ExpiresAt     time.Time   `json:"expires_at"`
}

// QueueOwner says whose a queue of a group is.
type QueueOwner struct {
	Topic    string     `json:"topic"`
	Queue    int64      `json:"queue"`
	State    string     `json:"state"`
	MemberID string     `json:"member_id,omitempty"`
	ClientID string     `json:"client_id,omitempty"`
	Epoch    int64      `json:"assignment_epoch,omitempty"`
	Next     string     `json:"next_member_id,omitempty"`
	Since    *time.Time `json:"assigned_at,omitempty"`
}

// Assignments is the last decision about a group's queues.
type Assignments struct {
	Generation int64        `json:"generation"`
	Reason     string       `json:"reason"`
	Items      []QueueOwner `json:"items"`
}

// GroupOffset is a group's progress in one queue. Offset is nil while there is
// none, and Lag while it is not known.
type GroupOffset struct {
	Topic     string     `json:"topic"`
	Queue     int64      `json:"queue"`
	ClientID  string     `json:"client_id,omitempty"`
	Offset    *int64     `json:"offset"`
	Version   int64      `json:"version"`
	Stopped   bool       `json:"stopped"`
	MinOffset int64      `json:"min_offset"`
	Next      int64      `json:"next_offset"`
	Lag       *int64     `json:"lag"`
	LagMS     *int64     `json:"lag_ms"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
	UpdatedBy string     `json:"updated_by,omitempty"`
}

// Reset says where a group's progress in a topic is to go. To is earliest, latest,
// timestamp, offset or shift.
type Reset struct {
	Topic     string     `json:"topic"`
	Queues    []int64    `json:"queues,omitempty"`
	To        string     `json:"to"`
	Timestamp *time.Time `json:"timestamp,omitempty"`
	Offset    *int64     `json:"offset,omitempty"`
	Shift     *int64     `json:"shift,omitempty"`
	DryRun    bool       `json:"dry_run,omitempty"`
}

// OffsetChange is what a reset does to one queue.
type OffsetChange struct {
	Topic      string `json:"topic"`
	Queue      int64  `json:"queue"`
	OldOffset  *int64 `json:"old_offset"`
	NewOffset  int64  `json:"new_offset"`
	NewVersion int64  `json:"new_version"`
}

// LiveSettings are a group's settings for one topic, by name as the server has
// them.
type LiveSettings map[string]any

// json sends a request with a JSON body (nil: none) and reads the answer.
func (cl *Client) json(ctx context.Context, method string, path []string, query url.Values, headers map[string]string, in, out any) (*http.Response, error) {
	c := call{method: method, path: path, query: query, headers: headers}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", path, err)
		}
		c.body, c.kind = body, "application/json"
	}
	return cl.do(ctx, c, out)
}

func groupPath(name string, more ...string) []string {
	return append([]string{"groups", name}, more...)
}

// CreateGroup makes a group; one of that name that exists already is an error.
func (cl *Client) CreateGroup(ctx context.Context, name string, s GroupSettings) (g Group, err error) {
	_, err = cl.json(ctx, http.MethodPut, groupPath(name), nil, map[string]string{"If-None-Match": "*"}, s, &g)
	return g, err
}

// UpdateGroup changes the given settings. An etag that is not empty must still be
// the group's.
func (cl *Client) UpdateGroup(ctx context.Context, name string, s GroupSettings, etag string) (g Group, err error) {
	headers := map[string]string{}
	if etag != "" {
		headers["If-Match"] = etag
	}
	_, err = cl.json(ctx, http.MethodPatch, groupPath(name), nil, headers, s, &g)
	return g, err
}

// Group returns one group.
func (cl *Client) Group(ctx context.Context, name string) (g Group, err error) {
	_, err = cl.json(ctx, http.MethodGet, groupPath(name), nil, nil, nil, &g)
	return g, err
}

// DeleteGroup deletes a group and its offsets; one with members only by force.
func (cl *Client) DeleteGroup(ctx context.Context, name string, force bool) error {
	_, err := cl.json(ctx, http.MethodDelete, groupPath(name), url.Values{"force": {strconv.FormatBool(force)}}, nil, nil, nil)
	return err
}

// Groups yields every group whose name starts with prefix, page by page.
func (cl *Client) Groups(ctx context.Context, prefix string) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		for token := ""; ; {
			query := url.Values{"limit": {"1000"}, "prefix": {prefix}}
			if token != "" {
				query.Set("page_token", token)
			}
			var page struct {
				Items         []Group `json:"items"`
				NextPageToken string  `json:"next_page_token"`
			}
			if _, err := cl.json(ctx, http.MethodGet, []string{"groups"}, query, nil, nil, &page); err != nil {
				yield(Group{}, err)
				return
			}
			for _, g := range page.Items {
				if !yield(g, nil) {
					return
				}
			}
			if token = page.NextPageToken; token == "" {
				return
			}
		}
	}
}

// Members returns the members of a group.
func (cl *Client) Members(ctx context.Context, group string) ([]Member, error) {
	var page struct {
		Items []Member `json:"items"`
	}
	_, err := cl.json(ctx, http.MethodGet, groupPath(group, "members"), nil, nil, nil, &page)
	return page.Items, err
}

// Assignments returns whose the queues of a group are.
func (cl *Client) Assignments(ctx context.Context, group string) (a Assignments, err error) {
	_, err = cl.json(ctx, http.MethodGet, groupPath(group, "assignments"), nil, nil, nil, &a)
	return a, err
}

// GroupOffsets returns how far a group is in every queue, of one topic if it is
// not empty.
func (cl *Client) GroupOffsets(ctx context.Context, group, topic string) ([]GroupOffset, error) {
	query := url.Values{}
	if topic != "" {
		query.Set("topic", topic)
	}
	var page struct {
		Items []GroupOffset `json:"items"`
	}
	_, err := cl.json(ctx, http.MethodGet, groupPath(group, "offsets"), query, nil, nil, &page)
	return page.Items, err
}

// ExportOffsets returns the offsets of a group as RocketMQ's consumerOffset.json
// has them.
func (cl *Client) ExportOffsets(ctx context.Context, group string) (raw json.RawMessage, err error) {
	_, err = cl.json(ctx, http.MethodGet, groupPath(group, "offsets", "export"), nil, nil, nil, &raw)
	return raw, err
}

// ResetOffsets moves a group's progress in a topic.
func (cl *Client) ResetOffsets(ctx context.Context, group string, r Reset) ([]OffsetChange, error) {
	var done struct {
		Items []OffsetChange `json:"items"`
	}
	_, err := cl.json(ctx, http.MethodPost, groupPath(group, "offsets", "reset"), nil, nil, r, &done)
	return done.Items, err
}

// StopQueue stops the consumption of a queue by a group, or starts it again.
func (cl *Client) StopQueue(ctx context.Context, group, topic string, queue int64, stopped bool) error {
	_, err := cl.json(ctx, http.MethodPatch, groupPath(group, "queues", topic, strconv.FormatInt(queue, 10)), nil, nil, map[string]bool{"stopped": stopped}, nil)
	return err
}

// LiveSettings returns the settings of a group for each of its topics.
func (cl *Client) LiveSettings(ctx context.Context, group string) ([]LiveSettings, error) {
	var page struct {
		Items []LiveSettings `json:"items"`
	}
	_, err := cl.json(ctx, http.MethodGet, groupPath(group, "subscriptions"), nil, nil, nil, &page)
	return page.Items, err
}

// SetLiveSettings changes the given settings of a group for a topic; members go by
// them at once.
func (cl *Client) SetLiveSettings(ctx context.Context, group, topic string, s LiveSettings) (now LiveSettings, err error) {
	_, err = cl.json(ctx, http.MethodPatch, groupPath(group, "subscriptions", topic), nil, nil, s, &now)
	return now, err
}
