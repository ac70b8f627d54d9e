package gateway

import (
	"errors"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// groupSettings is the body of putGroup and updateGroup. A nil field is one that
// was left out; null is not a value of any. Their limits are package group's.
type groupSettings struct {
	Mode             *string              `json:"mode"`
	Strategy         *string              `json:"strategy"`
	StrategyConfig   *meta.StrategyConfig `json:"strategy_config"`
	ConsumeFrom      *string              `json:"consume_from"`
	ConsumeTimestamp *string              `json:"consume_timestamp"`
	Ordered          *bool                `json:"ordered"`
	InvisibleMS      *int64               `json:"invisible_ms"`
	SessionTimeoutMS *int64               `json:"session_timeout_ms"`
	ResumeWindowMS   *int64               `json:"resume_window_ms"`
	RevokeTimeoutMS  *int64               `json:"revoke_timeout_ms"`
	CommitPolicy     *string              `json:"commit_policy"`
	MaxMembers       *int                 `json:"max_members"`
	AllowIPs         *[]string            `json:"allow_ips"`
	DenyIPs          *[]string            `json:"deny_ips"`
	Retry            *retryPolicy         `json:"retry"`
	Attributes       map[string]string    `json:"attributes"`

	timestamp int64 // of ConsumeTimestamp; set by check
}

type retryPolicy struct {
	DelaysMS    *[]int64      `json:"delays_ms"`
	Exponential *meta.Backoff `json:"exponential"`
	MaxAttempts *int64        `json:"max_attempts"`
}

// check reads what is more than a number or a word.
func (g *groupSettings) check() error {
	if g.Retry != nil && g.Retry.DelaysMS != nil && g.Retry.Exponential != nil {
		return fieldFault("retry/exponential", "give delays_ms or exponential")
	}
	if g.ConsumeTimestamp == nil {
		return nil
	}
	at, err := api.ParseTime(*g.ConsumeTimestamp)
	if err != nil {
		return fieldFault("consume_timestamp", wantTime)
	}
	g.timestamp = int64(at)
	return nil
}

// over returns base with the settings that are given.
func (g *groupSettings) over(base meta.Group) meta.Group {
	if g.Mode != nil {
		base.Mode = meta.GroupMode(*g.Mode)
	}
	if g.ConsumeFrom != nil {
		base.ConsumeFrom = *g.ConsumeFrom
		if base.ConsumeFrom != meta.ConsumeFromTimestamp {
			base.ConsumeTimestamp = 0
		}
	}
	if g.ConsumeTimestamp != nil {
		base.ConsumeTimestamp = g.timestamp
	}
	set(&base.Strategy, g.Strategy)
	set(&base.Strategies, g.StrategyConfig)
	set(&base.Ordered, g.Ordered)
	set(&base.InvisibleMS, g.InvisibleMS)
	set(&base.SessionTimeoutMS, g.SessionTimeoutMS)
	set(&base.ResumeWindowMS, g.ResumeWindowMS)
	set(&base.RevokeTimeoutMS, g.RevokeTimeoutMS)
	set(&base.CommitPolicy, g.CommitPolicy)
	set(&base.MaxMembers, g.MaxMembers)
	set(&base.AllowIPs, g.AllowIPs)
	set(&base.DenyIPs, g.DenyIPs)
	if g.Retry != nil {
		if g.Retry.DelaysMS != nil {
			base.NackDelaysMS, base.Backoff = *g.Retry.DelaysMS, nil
		}
		if g.Retry.Exponential != nil {
			base.Backoff = g.Retry.Exponential
		}
		set(&base.MaxAttempts, g.Retry.MaxAttempts)
	}
	if g.Attributes != nil {
		base.Attributes = g.Attributes
	}
	return base
}

// set puts a value that is given.
func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// definitionFault points at the field of a definition that was refused.
func definitionFault(err error) error {
	if e, ok := errors.AsType[*journal.InvalidError](err); ok {
		switch e.Field {
		case "nack_delays_ms":
			return fieldFault("retry/delays_ms", e.Detail)
		case "exponential", "max_attempts":
			return fieldFault("retry/"+e.Field, e.Detail)
		}
	}
	return err
}
