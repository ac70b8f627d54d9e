package gateway

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

// listGroups answers a page of groups by name.
func (s *Server) listGroups(c echo.Context) error {
	p := paramsOf(c)
	prefix := p.text("prefix", group.MaxName)
	limit := int(p.integer("limit", 100, 1, maxPageItems))
	after := p.after(groupsList, listedGroup)
	if err := p.err(); err != nil {
		return err
	}
	found, err := s.groups.List(c.Request().Context(), prefix, after, limit+1)
	if err != nil {
		return err
	}
	list := api.GroupList{Items: make([]api.Group, 0, min(len(found), limit))}
	for _, g := range found[:min(len(found), limit)] {
		list.Items = append(list.Items, groupOf(g))
	}
	if len(found) > limit {
		token := pageToken(groupsList, found[limit-1].Name)
		list.NextPageToken = &token
	}
	return writeJSON(c, http.StatusOK, list)
}

// getGroup answers a group, or 304 when the caller has it.
func (s *Server) getGroup(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	g, err := s.groups.Get(c.Request().Context(), name)
	if err != nil {
		return namedGroup(err, name)
	}
	if same, err := notModified(c, groupETag(g)); same || err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, groupOf(g))
}

// groupChange reads what a request wants of a group, and on which conditions.
func (s *Server) groupChange(c echo.Context) (name string, settings groupSettings, match, none condition, err error) {
	if name, err = groupName(c); err != nil {
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

// putGroup creates a group or replaces its settings.
func (s *Server) putGroup(c echo.Context) error {
	name, settings, match, none, err := s.groupChange(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	for race := 1; ; race++ {
		g, created, err := s.storeGroup(ctx, name, settings, match, none)
		if racedGroup(err, match, none) && race < maxRaces {
			continue
		}
		if err != nil {
			return namedGroup(err, name)
		}
		c.Response().Header().Set("ETag", groupETag(g))
		if created {
			c.Response().Header().Set("Location", "/v1/groups/"+name)
			return writeJSON(c, http.StatusCreated, groupOf(g))
		}
		return writeJSON(c, http.StatusOK, groupOf(g))
	}
}

// storeGroup makes one attempt to create or replace a group.
func (s *Server) storeGroup(ctx context.Context, name string, settings groupSettings, match, none condition) (g meta.Group, created bool, err error) {
	current, err := s.groups.Get(ctx, name)
	if errors.Is(err, meta.ErrGroupNotFound) {
		if match.given {
			return g, false, versionConflict("")
		}
		g, err = s.groups.Create(ctx, settings.over(group.Default(name)))
		return g, true, definitionFault(unsettled(err))
	}
	if err != nil {
		return g, false, err
	}
	if none.given && none.matches(groupETag(current)) {
		return g, false, &meta.GroupExistsError{Current: current}
	}
	replaced := group.Default(name)
	replaced.ID = current.ID
	g, err = s.changeGroup(ctx, current, settings.over(replaced), match)
	return g, false, err
}

// updateGroup changes the settings that are given.
func (s *Server) updateGroup(c echo.Context) error {
	name, settings, match, none, err := s.groupChange(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	for race := 1; ; race++ {
		g, err := s.groups.Get(ctx, name)
		if err == nil {
			g, err = s.changeGroup(ctx, g, settings.over(g), match)
		}
		if racedGroup(err, match, none) && race < maxRaces {
			continue
		}
		if err != nil {
			return namedGroup(err, name)
		}
		c.Response().Header().Set("ETag", groupETag(g))
		return writeJSON(c, http.StatusOK, groupOf(g))
	}
}

// changeGroup replaces current by next if If-Match allows it.
func (s *Server) changeGroup(ctx context.Context, current, next meta.Group, match condition) (meta.Group, error) {
	if etag := groupETag(current); match.given && !match.matches(etag) {
		return meta.Group{}, versionConflict(etag)
	}
	g, err := s.groups.Update(ctx, next, current.Version)
	return g, definitionFault(unsettled(err))
}

// deleteGroup ends a group.
func (s *Server) deleteGroup(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	match, none, err := conditionsOf(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	force := p.boolean("force")
	if err := p.err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	for race := 1; ; race++ {
		g, err := s.groups.Get(ctx, name)
		if err == nil && match.given && !match.matches(groupETag(g)) {
			err = versionConflict(groupETag(g))
		}
		if err == nil {
			err = unsettled(s.groups.Delete(ctx, name, g.Version, force))
		}
		if racedGroup(err, match, none) && race < maxRaces {
			continue
		}
		if err != nil {
			return namedGroup(err, name)
		}
		return c.NoContent(http.StatusNoContent)
	}
}

// racedGroup is raced for a group.
func racedGroup(err error, match, none condition) bool {
	if _, ok := errors.AsType[*meta.GroupConflictError](err); ok {
		return !match.given || match.any
	}
	_, ok := errors.AsType[*meta.GroupExistsError](err)
	return ok && !none.given
}

// groupOf is a group as the contract shows it.
func groupOf(g meta.Group) api.Group {
	attributes := map[string]string{}
	maps.Copy(attributes, g.Attributes)
	delays, most := g.NackDelaysMS, g.MaxAttempts
	out := api.Group{
		Group:            g.Name,
		GroupId:          g.ID.String(),
		Mode:             api.GroupMode(g.Mode),
		Strategy:         g.Strategy,
		StrategyConfig:   strategyOf(&g.Strategies),
		ConsumeFrom:      api.ConsumeFrom(g.ConsumeFrom),
		Ordered:          g.Ordered,
		InvisibleMs:      g.InvisibleMS,
		SessionTimeoutMs: g.SessionTimeoutMS,
		ResumeWindowMs:   g.ResumeWindowMS,
		RevokeTimeoutMs:  g.RevokeTimeoutMS,
		CommitPolicy:     api.CommitPolicy(g.CommitPolicy),
		MaxMembers:       int64(g.MaxMembers),
		AllowIps:         append([]string{}, g.AllowIPs...),
		DenyIps:          append([]string{}, g.DenyIPs...),
		Retry:            api.RetryPolicy{DelaysMs: &delays, MaxAttempts: &most},
		Attributes:       attributes,
		CreatedAt:        api.Time(g.CreatedAt),
		UpdatedAt:        api.Time(g.UpdatedAt),
		Etag:             groupETag(g),
	}
	if b := g.Backoff; b != nil {
		out.Retry.DelaysMs = nil
		out.Retry.Exponential = &api.ExponentialDelays{InitialMs: b.InitialMS, MaxMs: b.MaxMS, Multiplier: b.Multiplier}
	}
	if g.ConsumeFrom == meta.ConsumeFromTimestamp {
		at := api.Time(g.ConsumeTimestamp)
		out.ConsumeTimestamp = &at
	}
	return out
}

// strategyOf shows what is configured; the rest is left out.
func strategyOf(c *meta.StrategyConfig) api.StrategyConfig {
	var out api.StrategyConfig
	if c.VirtualNodes != 0 {
		n := int64(c.VirtualNodes)
		out.VirtualNodes = &n
	}
	if len(c.Rooms) > 0 {
		out.Rooms = &c.Rooms
	}
	if c.Inner != "" {
		out.Inner = &c.Inner
	}
	if len(c.TopicRooms) > 0 {
		out.TopicRooms = &c.TopicRooms
	}
	if len(c.Queues) > 0 {
		queues := make(map[string][]api.QueueRef, len(c.Queues))
		for client, refs := range c.Queues {
			queues[client] = make([]api.QueueRef, len(refs))
			for i, r := range refs {
				queues[client][i] = api.QueueRef{Topic: r.Topic, Queue: int64(r.Queue)}
			}
		}
		out.Queues = &queues
	}
	return out
}
