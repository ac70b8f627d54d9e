// Package filter decides which messages a reader wants: by tag, or by an SQL92
// condition over properties. It knows expressions and the fields of a message,
// nothing of topics, offsets or stored bytes.
package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketmq/bucketmq/segment"
)

// ErrSyntax says that an expression is not one of the filter language; the
// error that wraps it says where and why.
var ErrSyntax = errors.New("filter: syntax error")

// maxLinear is how many tags are compared one by one before a set is quicker.
const maxLinear = 8

// Filter is a compiled expression. The zero value wants every message. A Filter
// never changes and may be used concurrently.
type Filter struct {
	tags []string            // sorted, without repeats; empty: every message
	set  map[string]struct{} // the same, when there are more than maxLinear
	sql  node                // decides, where it is set; tags are then what it needs at least
}

// ParseTags compiles a TAG expression: the empty one and "*" want every message,
// anything else is a list of tags separated by "||" of which a message must have
// one, exactly. Blanks around a tag do not count and empty elements are dropped;
// an expression that has no tag left, or a tag that no message can have (with a
// blank, a single "|" or a control character inside), is ErrSyntax.
func ParseTags(expression string) (Filter, error) {
	trimmed := strings.TrimFunc(expression, isBlank)
	if trimmed == "" || trimmed == "*" {
		return Filter{}, nil
	}
	var tags []string
	for element := range strings.SplitSeq(trimmed, "||") {
		tag := strings.TrimFunc(element, isBlank)
		if tag == "" {
			continue
		}
		if at := strings.IndexFunc(tag, neverInTag); at >= 0 {
			return Filter{}, fmt.Errorf("%w: character %q in tag %q", ErrSyntax, tag[at], tag)
		}
		tags = append(tags, tag)
	}
	if len(tags) == 0 {
		return Filter{}, fmt.Errorf("%w: %q has no tag", ErrSyntax, expression)
	}
	return Filter{}.with(tags), nil
}

// with sets the tags of which a message must have one.
func (f Filter) with(tags []string) Filter {
	slices.Sort(tags)
	f.tags = slices.Compact(tags)
	if len(f.tags) > maxLinear {
		f.set = make(map[string]struct{}, len(f.tags))
		for _, tag := range f.tags {
			f.set[tag] = struct{}{}
		}
	}
	return f
}

// ParseSQL compiles an SQL92 condition over the properties of a message, the
// names TAGS and KEYS standing for its tag and its keys. What cannot be compiled
// is a *SyntaxError with the position, and an ErrSyntax. docs/filters.md has the
// language and where it differs from RocketMQ's.
func ParseSQL(expression string) (Filter, error) {
	root, err := parseSQL(expression)
	if err != nil {
		return Filter{}, err
	}
	f := Filter{sql: root}
	required, ok := requiredTags(root)
	if !ok {
		return f, nil
	}
	tags := make([]string, len(required))
	for i, tag := range required {
		tags[i] = string(tag)
	}
	return f.with(tags), nil
}

// isBlank is what may stand around a tag: space and every control character.
func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }

// neverInTag is what a message's tag is refused for when it is sent.
func neverInTag(r rune) bool { return r == '|' || isBlank(r) }

// All reports whether every message passes, so that none needs to be looked at.
func (f Filter) All() bool { return len(f.tags) == 0 && f.sql == nil }

// Tags returns the tags of which a message must have one to pass, sorted; none
// means that any tag may pass. The caller must not change the slice.
func (f Filter) Tags() []string { return f.tags }

// SQL reports whether the filter is an SQL92 condition.
func (f Filter) SQL() bool { return f.sql != nil }

// Match reports whether the message passes. It does not allocate.
func (f Filter) Match(m *segment.Record) bool {
	if f.sql != nil {
		return toTruth(f.sql.eval(m)) == yes
	}
	return f.matchTag(m.Tag)
}

func (f Filter) matchTag(tag []byte) bool {
	if len(f.tags) == 0 {
		return true
	}
	if f.set != nil {
		_, ok := f.set[string(tag)]
		return ok
	}
	for _, want := range f.tags {
		if string(tag) == want {
			return true
		}
	}
	return false
}

// String returns the expression in its normal form: two TAG filters that want
// the same messages have the same one, and so have two SQL92 conditions that
// differ in blanks, comments, case of keywords or needless parentheses only.
// ParseTags, or ParseSQL, accepts it.
func (f Filter) String() string {
	if f.sql != nil {
		return string(f.sql.print(nil))
	}
	if len(f.tags) == 0 {
		return "*"
	}
	return strings.Join(f.tags, "||")
}
