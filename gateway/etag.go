package gateway

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/meta"
)

// topicETag names a version of a topic. A topic that was deleted and made
// again counts anew, so the id is part of it.
func topicETag(t meta.Topic) string { return versionETag(t.ID, "", t.Version) }

// groupETag names a version of a group, in the same way.
func groupETag(g meta.Group) string { return versionETag(g.ID, "", g.Version) }

// settingsETag names a version of a group's settings for a topic.
func settingsETag(group uuid.UUID, s meta.Settings) string { return versionETag(group, "s", s.Version) }

func versionETag(id uuid.UUID, kind string, version int64) string {
	return `"` + hex.EncodeToString(id[12:]) + "-" + kind + strconv.FormatInt(version, 10) + `"`
}

// condition is an If-Match or If-None-Match header.
type condition struct {
	given bool
	any   bool     // *
	tags  []string // quoted, W/ included
}

// conditionOf reads a conditional header.
func conditionOf(c echo.Context, name string) (condition, error) {
	lines := c.Request().Header.Values(name)
	if len(lines) == 0 {
		return condition{}, nil
	}
	text := strings.TrimSpace(strings.Join(lines, ","))
	if text == "*" {
		return condition{given: true, any: true}, nil
	}
	cond := condition{given: true}
	for text != "" {
		tag, rest, ok := cutETag(text)
		if !ok || len(cond.tags) == 64 {
			return condition{}, headerFault(name, `* or up to 64 ETags such as "9e00-3"`)
		}
		cond.tags = append(cond.tags, tag)
		text = rest
	}
	if len(cond.tags) == 0 {
		return condition{}, headerFault(name, `* or up to 64 ETags such as "9e00-3"`)
	}
	return cond, nil
}

// cutETag takes the first entity tag off a list.
func cutETag(text string) (tag, rest string, ok bool) {
	start := 0
	if strings.HasPrefix(text, "W/") {
		start = 2
	}
	if len(text) <= start || text[start] != '"' {
		return "", "", false
	}
	end := strings.IndexByte(text[start+1:], '"')
	if end < 0 {
		return "", "", false
	}
	tag, rest = text[:start+end+2], strings.TrimLeft(text[start+end+2:], " \t")
	if rest == "" {
		return tag, "", true
	}
	if rest[0] != ',' {
		return "", "", false
	}
	return tag, strings.TrimLeft(rest, ", \t"), true
}

// matches compares strongly: a weak tag matches nothing.
func (c condition) matches(etag string) bool {
	return c.any || slices.Contains(c.tags, etag)
}

// notModified reports whether If-None-Match says that the client has this
// version, and then answers 304. It sets the ETag header in any case.
func notModified(c echo.Context, etag string) (bool, error) {
	cond, err := conditionOf(c, "If-None-Match")
	if err != nil {
		return false, err
	}
	c.Response().Header().Set("ETag", etag)
	weak := slices.ContainsFunc(cond.tags, func(tag string) bool { return strings.TrimPrefix(tag, "W/") == etag })
	if !cond.any && !weak {
		return false, nil
	}
	return true, c.NoContent(http.StatusNotModified)
}
