package gateway

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

// subscriptionSettings is the body of updateSubscription: PMQ's settings of a
// consumer group in a topic. A nil field is one that was left out.
type subscriptionSettings struct {
	Concurrency       *int    `json:"concurrency"`
	PullBatch         *int    `json:"pull_batch"`
	ConsumeBatch      *int    `json:"consume_batch"`
	DelayMS           *int64  `json:"delay_ms"`
	RetryCount        *int    `json:"retry_count"`
	Tags              *string `json:"tags"`
	TimeoutMS         *int64  `json:"timeout_ms"`
	MaxLag            *int64  `json:"max_lag"`
	ThresholdMessages *int    `json:"pull_threshold_for_queue"`
	ThresholdBytes    *int64  `json:"pull_threshold_size_for_queue"`
	MaxSpan           *int64  `json:"consume_max_span"`
}

func (b *subscriptionSettings) over(s *meta.Settings) {
	set(&s.Concurrency, b.Concurrency)
	set(&s.PullBatch, b.PullBatch)
	set(&s.ConsumeBatch, b.ConsumeBatch)
	set(&s.DelayMS, b.DelayMS)
	set(&s.RetryCount, b.RetryCount)
	set(&s.Tags, b.Tags)
	set(&s.TimeoutMS, b.TimeoutMS)
	set(&s.MaxLag, b.MaxLag)
	set(&s.ThresholdMessages, b.ThresholdMessages)
	set(&s.ThresholdBytes, b.ThresholdBytes)
	set(&s.MaxSpan, b.MaxSpan)
}

// listSubscriptions answers what a group consumes, and the settings of each topic.
func (s *Server) listSubscriptions(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	state, settings, err := s.subscribed(c, name)
	if err != nil {
		return err
	}
	topics := map[string]struct{}{}
	for topic := range settings {
		topics[topic] = struct{}{}
	}
	for _, sub := range state.Subscriptions {
		topics[sub.Topic] = struct{}{}
	}
	list := api.GroupSubscriptionList{Items: []api.GroupSubscription{}}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		list.Items = append(list.Items, subscriptionOf(state, topic, settings[topic]))
	}
	return writeJSON(c, http.StatusOK, list)
}

func (s *Server) subscribed(c echo.Context, name string) (meta.GroupState, map[string]meta.Settings, error) {
	state, err := s.groups.Members(c.Request().Context(), name)
	if err != nil {
		return state, nil, namedGroup(err, name)
	}
	settings, err := s.groups.Settings(c.Request().Context(), name)
	return state, settings, namedGroup(err, name)
}

// getSubscription answers the settings of a group in one topic.
func (s *Server) getSubscription(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	state, settings, err := s.subscribed(c, name)
	if err != nil {
		return err
	}
	current := settings[topic.Name]
	if same, err := notModified(c, settingsETag(state.Group.ID, current)); same || err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, subscriptionOf(state, topic.Name, current))
}

// updateSubscription changes the settings that are given.
func (s *Server) updateSubscription(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	topic, err := s.topic(c)
	if err != nil {
		return err
	}
	match, err := conditionOf(c, "If-Match")
	if err != nil {
		return err
	}
	var body subscriptionSettings
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	state, settings, err := s.subscribed(c, name)
	if err != nil {
		return err
	}
	version := int64(group.AnyVersion)
	if match.given && !match.any {
		current := settings[topic.Name]
		if etag := settingsETag(state.Group.ID, current); !match.matches(etag) {
			return versionConflict(etag)
		}
		version = current.Version
	}
	stored, err := s.groups.UpdateSettings(c.Request().Context(), name, topic.Name, body.over, version)
	if e, ok := errors.AsType[*meta.SettingsConflictError](err); ok {
		return versionConflict(settingsETag(state.Group.ID, e.Current))
	}
	if err != nil {
		return namedGroup(namedTopic(unsettled(err), topic.Name), name)
	}
	c.Response().Header().Set("ETag", settingsETag(state.Group.ID, stored))
	return writeJSON(c, http.StatusOK, subscriptionOf(state, topic.Name, stored))
}

// subscriptionOf is a topic of a group as the contract shows it.
func subscriptionOf(state meta.GroupState, topic string, s meta.Settings) api.GroupSubscription {
	out := settingsOf(state.Group, topic, s)
	for i := range state.Subscriptions {
		if state.Subscriptions[i].Topic == topic {
			out.Subscribed = true
			out.Subscription = &subscriptionsOf(state.Subscriptions[i : i+1])[0]
		}
	}
	return out
}

func settingsOf(g meta.Group, topic string, s meta.Settings) api.GroupSubscription {
	out := api.GroupSubscription{
		Topic: topic, Concurrency: int64(s.Concurrency), PullBatch: int64(s.PullBatch), ConsumeBatch: int64(s.ConsumeBatch),
		DelayMs: s.DelayMS, RetryCount: int64(s.RetryCount), Tags: s.Tags, TimeoutMs: s.TimeoutMS, MaxLag: s.MaxLag,
		PullThresholdForQueue: int64(s.ThresholdMessages), PullThresholdSizeForQueue: s.ThresholdBytes, ConsumeMaxSpan: s.MaxSpan,
		Etag: settingsETag(g.ID, s),
	}
	if s.Version > 0 {
		at := api.Time(s.UpdatedAt)
		out.UpdatedAt = &at
	}
	return out
}

// liveSettings lists what a member is told of the settings of its topics.
func liveSettings(g meta.Group, subscriptions []meta.Subscription, settings map[string]meta.Settings) []api.GroupSubscription {
	list := []api.GroupSubscription{}
	for _, topic := range slices.Sorted(maps.Keys(settings)) {
		item := settingsOf(g, topic, settings[topic])
		item.Subscribed = true
		for i := range subscriptions {
			if subscriptions[i].Topic == topic {
				item.Subscription = &subscriptionsOf(subscriptions[i : i+1])[0]
			}
		}
		list = append(list, item)
	}
	return list
}
