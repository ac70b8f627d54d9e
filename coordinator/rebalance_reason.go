package coordinator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxNamed is how many names of one kind a reason lists.
const maxNamed = 5

// reason tells people why a group's assignment was made as it is.
func (p *plan) reason(causes []string) string {
	if len(causes) == 0 {
		causes = []string{"check"}
	}
	parts := []string{strings.Join(causes, ", ") + ": " + plural(p.active, "member")}
	if n := len(p.standby); n > 0 {
		parts = append(parts, fmt.Sprintf("%d on stand-by above max_members", n))
	}
	if len(p.denied) > 0 {
		parts = append(parts, "address denied: "+named(p.denied))
	}
	return strings.Join(append(parts, p.complaint()...), "; ")
}

// complaint tells what is wrong with the group's topics.
func (p *plan) complaint() (parts []string) {
	if len(p.missing) > 0 {
		parts = append(parts, "no such topic: "+named(p.missing))
	}
	if len(p.failed) > 0 {
		topics := slices.Sorted(maps.Keys(p.failed))
		parts = append(parts, fmt.Sprintf("left as it was: %s (%v)", named(topics), p.failed[topics[0]]))
	}
	return parts
}

func named(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
