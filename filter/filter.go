// Package filter decides which messages a reader wants. It knows expressions
// and message fields, nothing of topics, offsets or stored bytes.
package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	slices.Sort(tags)
	f := Filter{tags: slices.Compact(tags)}
	if len(f.tags) > maxLinear {
		f.set = make(map[string]struct{}, len(f.tags))
		for _, tag := range f.tags {
			f.set[tag] = struct{}{}
		}
	}
	return f, nil
}

// isBlank is what may stand around a tag: space and every control character.
func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }

// neverInTag is what a message's tag is refused for when it is sent.
func neverInTag(r rune) bool { return r == '|' || isBlank(r) }

// All reports whether every message passes, so that none needs to be looked at.
func (f Filter) All() bool { return len(f.tags) == 0 }

// Tags returns the tags of which a message must have one, sorted; none means
// that tags do not decide. The caller must not change the slice.
func (f Filter) Tags() []string { return f.tags }

// Match reports whether a message with this tag (empty: none) passes.
func (f Filter) Match(tag []byte) bool {
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

// String returns the expression in its shortest form: two filters that want the
// same messages have the same one, and ParseTags accepts it.
func (f Filter) String() string {
	if len(f.tags) == 0 {
		return "*"
	}
	return strings.Join(f.tags, "||")
}
