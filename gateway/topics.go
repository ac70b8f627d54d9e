package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// maxRaces is how often a change without If-Match begins anew because another
// one came first.
const maxRaces = 8

// behindSystem sorts behind the names of system topics, and before all others.
const behindSystem = "&"

// listTopics answers a page of topics by name.
func (s *Server) listTopics(c echo.Context) error {
	p := paramsOf(c)
	prefix := p.text("prefix", journal.MaxTopicName)
	limit := int(p.integer("limit", 100, 1, maxPageItems))
	after := max(p.after(topicsList, listedTopic), behindSystem)
	if err := p.err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if err := s.indexReady(ctx); err != nil {
		return err
	}
	found, err := s.meta.Topics(ctx, prefix, after, limit+1)
	if err != nil {
		return viaRedis(fmt.Errorf("list topics: %w", err))
	}
	list := api.TopicList{Items: make([]api.Topic, 0, min(len(found), limit))}
	for _, t := range found[:min(len(found), limit)] {
		list.Items = append(list.Items, topicOf(t))
	}
	if len(found) > limit {
		token := pageToken(topicsList, found[limit-1].Name)
		list.NextPageToken = &token
	}
	return writeJSON(c, http.StatusOK, list)
}

// getTopic answers a topic, or 304 when the caller has it.
func (s *Server) getTopic(c echo.Context) error {
	t, err := s.freshTopic(c)
	if err != nil {
		return err
	}
	if same, err := notModified(c, topicETag(t)); same || err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, topicOf(t))
}

// topicChange reads what a request wants of a topic, and on which conditions.
func (s *Server) topicChange(c echo.Context) (name string, settings topicSettings, match, none condition, err error) {
	if name, err = topicName(c); err != nil {
		return
	}
	if match, none, err = conditionsOf(c); err != nil {
		return
	}
	if err = s.readJSON(c, &settings); err != nil {
		return
	}
	err = settings.check()
	return
}

// putTopic creates a topic or replaces its settings.
func (s *Server) putTopic(c echo.Context) error {
	name, settings, match, none, err := s.topicChange(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	for race := 1; ; race++ {
		t, created, err := s.storeTopic(ctx, name, settings, match, none)
		if raced(err, match, none) && race < maxRaces {
			continue
		}
		if err != nil {
			return namedTopic(err, name)
		}
		c.Response().Header().Set("ETag", topicETag(t))
		if created {
			c.Response().Header().Set("Location", "/v1/topics/"+name)
			return writeJSON(c, http.StatusCreated, topicOf(t))
		}
		return writeJSON(c, http.StatusOK, topicOf(t))
	}
}

// storeTopic makes one attempt to create or replace a topic.
func (s *Server) storeTopic(ctx context.Context, name string, settings topicSettings, match, none condition) (t meta.Topic, created bool, err error) {
	current, err := s.meta.Topic(ctx, name)
	if errors.Is(err, meta.ErrTopicNotFound) {
		if match.given {
			return t, false, versionConflict("")
		}
		t, err = s.journal.PutTopic(ctx, settings.over(defaultTopic(name)))
		return t, true, unsettled(err)
	}
	if err != nil {
		return t, false, viaRedis(err)
	}
	if none.given && none.matches(topicETag(current)) {
		return t, false, &meta.ExistsError{Current: current}
	}
	replaced := defaultTopic(name)
	// What cannot be taken back stays unless it is asked for.
	replaced.ID, replaced.Type, replaced.Queues = current.ID, current.Type, current.Queues
	t, err = s.changeTopic(ctx, current, settings, settings.over(replaced), match)
	return t, false, err
}

// updateTopic changes the settings that are given.
func (s *Server) updateTopic(c echo.Context) error {
	name, settings, match, none, err := s.topicChange(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	for race := 1; ; race++ {
		t, err := s.meta.Topic(ctx, name)
		if err = viaRedis(err); err == nil {
			t, err = s.changeTopic(ctx, t, settings, settings.over(t), match)
		}
		if raced(err, match, none) && race < maxRaces {
			continue
		}
		if err != nil {
			return namedTopic(err, name)
		}
		c.Response().Header().Set("ETag", topicETag(t))
		return writeJSON(c, http.StatusOK, topicOf(t))
	}
}

// changeTopic replaces current by next if the rules and If-Match allow it.
func (s *Server) changeTopic(ctx context.Context, current meta.Topic, settings topicSettings, next meta.Topic, match condition) (meta.Topic, error) {
	etag := topicETag(current)
	switch {
	case match.given && !match.matches(etag):
		return meta.Topic{}, versionConflict(etag)
	case next.Type != current.Type:
		return meta.Topic{}, newProblem("topic_type_immutable", "the topic is of type "+string(current.Type),
			fault{Pointer: "/type", Code: "topic_type_immutable", Type: string(current.Type), ETag: etag})
	case next.Queues < current.Queues:
		return meta.Topic{}, newProblem("queue_shrink_refused", fmt.Sprintf("the topic has %d queues", current.Queues),
			fault{Pointer: "/queues", Code: "queue_shrink_refused", Queues: at(int64(current.Queues)), ETag: etag})
	}
	t, err := s.journal.UpdateTopic(ctx, next, current.Version)
	return t, unsettled(err)
}

// unsettled says what a failed change means. It is applied in Redis before it
// is made durable, so any fault but a refusal leaves the outcome open.
func unsettled(err error) error {
	for _, cause := range []error{journal.ErrUnavailable, journal.ErrBufferFull, journal.ErrDraining, journal.ErrRecovering} {
		if errors.Is(err, cause) {
			return fmt.Errorf("%w: %w", journal.ErrOutcomeUnknown, err)
		}
	}
	return err
}

// deleteTopic ends a topic.
func (s *Server) deleteTopic(c echo.Context) error {
	name, err := topicName(c)
	if err != nil {
		return err
	}
	match, none, err := conditionsOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	for race := 1; ; race++ {
		t, err := s.meta.Topic(ctx, name)
		if err = viaRedis(err); err == nil && match.given && !match.matches(topicETag(t)) {
			err = versionConflict(topicETag(t))
		}
		if err == nil {
			_, err = s.journal.DeleteTopic(ctx, name, t.Version)
			err = unsettled(err)
		}
		if raced(err, match, none) && race < maxRaces {
			continue
		}
		if err != nil {
			return namedTopic(err, name)
		}
		return c.NoContent(http.StatusNoContent)
	}
}

// raced reports whether a change failed only because another one came between
// reading and writing, and the caller did not ask for a certain version.
func raced(err error, match, none condition) bool {
	if _, ok := errors.AsType[*meta.ConflictError](err); ok {
		return !match.given || match.any
	}
	_, ok := errors.AsType[*meta.ExistsError](err)
	return ok && !none.given
}

// freshTopic returns the topic that the path names as Redis has it now.
func (s *Server) freshTopic(c echo.Context) (meta.Topic, error) {
	name, err := topicName(c)
	if err != nil {
		return meta.Topic{}, err
	}
	t, err := s.meta.Topic(c.Request().Context(), name)
	return t, namedTopic(viaRedis(err), name)
}

// namedTopic adds the name to the answer when there is no such topic.
func namedTopic(err error, name string) error {
	if errors.Is(err, meta.ErrTopicNotFound) {
		return newProblem("topic_not_found", "there is no topic "+name)
	}
	return err
}

// conditionsOf reads If-Match and If-None-Match.
func conditionsOf(c echo.Context) (match, none condition, err error) {
	if match, err = conditionOf(c, "If-Match"); err != nil {
		return match, none, err
	}
	none, err = conditionOf(c, "If-None-Match")
	return match, none, err
}

// topicOf is a topic as the contract shows it.
func topicOf(t meta.Topic) api.Topic {
	attributes := map[string]string{}
	maps.Copy(attributes, t.Attributes)
	return api.Topic{
		Topic:           t.Name,
		Type:            api.TopicType(t.Type),
		Queues:          int64(t.Queues),
		Epoch:           t.Epoch,
		RetentionMs:     t.RetentionMS,
		RetentionBytes:  t.RetentionBytes,
		MaxMessageBytes: t.MaxMessageBytes,
		Attributes:      attributes,
		CreatedAt:       api.Time(t.CreatedAt),
		UpdatedAt:       api.Time(t.UpdatedAt),
		Etag:            topicETag(t),
	}
}
