package gateway

import (
	"encoding/base64"
	"strings"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
)

// A page token is the place where a list goes on, after a letter that says of
// which list, so that a token of another one is refused.

// pageToken makes the token of a list.
func pageToken(list byte, place string) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{list}, place...))
}

// topicsList is the letter of listTopics.
const topicsList = 't'

// groupsList is the letter of listGroups.
const groupsList = 'g'

// after returns the name that a page of a list begins after; "" = the start. A
// name that the list cannot have is refused.
func (p *params) after(list byte, listed func(string) bool) string {
	if !p.has("page_token") {
		return ""
	}
	place, err := base64.RawURLEncoding.Strict().DecodeString(p.values.Get("page_token"))
	if err != nil || len(place) < 2 || place[0] != list || !listed(string(place[1:])) {
		p.fail("page_token", "not a token of this list")
		return ""
	}
	return string(place[1:])
}

// listedGroup reports whether a list of groups may have this name.
func listedGroup(name string) bool { return group.ValidateName(name) == nil }

// listedTopic reports whether a list of topics may have this name.
func listedTopic(name string) bool {
	return journal.ValidateTopicName(strings.TrimPrefix(name, "%")) == nil
}
