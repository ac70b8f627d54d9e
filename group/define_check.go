package group

import (
	"fmt"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Limits of a definition.
const (
	MaxName            = 120
	MaxNackDelays      = 32
	MaxAttempts        = 1000
	MaxAddresses       = 100
	MaxAttributes      = 64
	MaxAttributeBytes  = 4096
	MaxVirtualNodes    = 1000
	MaxResumeWindow    = 10 * time.Minute
	MinRevokeTimeout   = time.Second
	MaxRevokeTimeout   = 10 * time.Minute
	MaxGroupMembers    = 10_000
	maxStrategyEntries = 10_000
)

// Strategies are the names of the ways to deal out queues.
var Strategies = []string{
	"averagely", "averagely_by_circle", "consistent_hash", "by_config", "by_machine_room", "machine_room_nearby", "circle_all_topics",
}

// strategyNearby is the one that needs the room of every member.
const strategyNearby = "machine_room_nearby"

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ValidateName tests the name of a group.
func ValidateName(name string) error {
	if len(name) > MaxName || !validName.MatchString(name) {
		return invalid("group", journal.CodeInvalid, fmt.Sprintf("1 to %d of A-Z a-z 0-9 . _ -, beginning with a letter or digit", MaxName))
	}
	return nil
}

// check tests the limits of a definition.
func check(g *meta.Group) error {
	if err := ValidateName(g.Name); err != nil {
		return err
	}
	for _, test := range []func(*meta.Group) error{checkModes, checkTimes, checkStrategy, checkAddresses, checkAttributes} {
		if err := test(g); err != nil {
			return err
		}
	}
	return nil
}

func checkModes(g *meta.Group) error {
	if g.Mode != meta.ModeClustering && g.Mode != meta.ModeBroadcasting {
		return invalid("mode", journal.CodeInvalid, "clustering or broadcasting")
	}
	if g.CommitPolicy != meta.CommitMonotonic && g.CommitPolicy != meta.CommitOverwrite {
		return invalid("commit_policy", journal.CodeInvalid, "monotonic or overwrite")
	}
	if g.MaxMembers < 0 || g.MaxMembers > MaxGroupMembers {
		return invalid("max_members", journal.CodeOutOfRange, fmt.Sprintf("0 to %d", MaxGroupMembers))
	}
	switch g.ConsumeFrom {
	case meta.ConsumeFromFirst, meta.ConsumeFromLast:
		if g.ConsumeTimestamp != 0 {
			return invalid("consume_timestamp", journal.CodeConflict, "a time is given with consume_from timestamp")
		}
	case meta.ConsumeFromTimestamp:
		if g.ConsumeTimestamp <= 0 {
			return invalid("consume_timestamp", journal.CodeRequired, "consume_from timestamp needs a time")
		}
	default:
		return invalid("consume_from", journal.CodeInvalid, "first, last or timestamp")
	}
	return nil
}

func checkTimes(g *meta.Group) error {
	if err := checkInvisible(-1, time.Duration(g.InvisibleMS)*time.Millisecond); err != nil {
		return err
	}
	for _, d := range []struct {
		field     string
		ms        int64
		low, high time.Duration
	}{
		{"session_timeout_ms", g.SessionTimeoutMS, MinSessionTimeout, MaxSessionTimeout},
		{"resume_window_ms", g.ResumeWindowMS, 0, MaxResumeWindow},
		{"revoke_timeout_ms", g.RevokeTimeoutMS, MinRevokeTimeout, MaxRevokeTimeout},
	} {
		if d.ms < d.low.Milliseconds() || d.ms > d.high.Milliseconds() {
			return invalid(d.field, journal.CodeOutOfRange, fmt.Sprintf("%d to %d", d.low.Milliseconds(), d.high.Milliseconds()))
		}
	}
	if n := len(g.NackDelaysMS); n == 0 || n > MaxNackDelays {
		return invalid("nack_delays_ms", journal.CodeOutOfRange, fmt.Sprintf("1 to %d delays", MaxNackDelays))
	}
	if g.MaxAttempts < 0 || g.MaxAttempts > MaxAttempts {
		return invalid("max_attempts", journal.CodeOutOfRange, fmt.Sprintf("1 to %d; 0: any number", MaxAttempts))
	}
	if b := g.Backoff; b != nil {
		most := MaxInvisible.Milliseconds()
		if b.InitialMS < 0 || b.InitialMS > most || b.MaxMS < b.InitialMS || b.MaxMS > most || !(b.Multiplier >= 1 && b.Multiplier <= 100) {
			return invalid("exponential", journal.CodeOutOfRange,
				fmt.Sprintf("0 <= initial_ms <= max_ms <= %d, and a multiplier of 1 to 100", most))
		}
	}
	for _, delay := range g.NackDelaysMS {
		if delay < 0 || delay > MaxInvisible.Milliseconds() {
			return invalid("nack_delays_ms", journal.CodeOutOfRange, fmt.Sprintf("a delay is 0 to %d ms", MaxInvisible.Milliseconds()))
		}
	}
	return nil
}

func checkStrategy(g *meta.Group) error {
	if !slices.Contains(Strategies, g.Strategy) {
		return invalid("strategy", journal.CodeInvalid, fmt.Sprintf("one of %q", Strategies))
	}
	c := &g.Strategies
	if c.Inner != "" && (c.Inner == strategyNearby || !slices.Contains(Strategies, c.Inner)) {
		return invalid("strategy_config", journal.CodeInvalid, "inner is another strategy than "+strategyNearby)
	}
	if c.VirtualNodes < 0 || c.VirtualNodes > MaxVirtualNodes {
		return invalid("strategy_config", journal.CodeOutOfRange, fmt.Sprintf("virtual_nodes is 0 to %d", MaxVirtualNodes))
	}
	entries := len(c.Rooms)
	for _, queues := range c.Queues {
		entries += 1 + len(queues)
	}
	for _, rooms := range c.TopicRooms {
		entries += 1 + len(rooms)
	}
	if entries > maxStrategyEntries {
		return invalid("strategy_config", journal.CodeTooMany, fmt.Sprintf("at most %d clients, queues and rooms", maxStrategyEntries))
	}
	return nil
}

func checkAddresses(g *meta.Group) error {
	for _, list := range []struct {
		field  string
		blocks []string
	}{{"allow_ips", g.AllowIPs}, {"deny_ips", g.DenyIPs}} {
		if len(list.blocks) > MaxAddresses {
			return invalid(list.field, journal.CodeTooMany, fmt.Sprintf("at most %d addresses", MaxAddresses))
		}
		for _, text := range list.blocks {
			if _, ok := blockOf(text); !ok {
				return invalid(list.field, journal.CodeInvalid, fmt.Sprintf("%q is no IP address and no CIDR block", text))
			}
		}
	}
	return nil
}

func checkAttributes(g *meta.Group) error {
	size := 0
	for name, value := range g.Attributes {
		if name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
			return invalid("attributes", journal.CodeInvalid, "names and values are text, and a name is not empty")
		}
		size += len(name) + len(value)
	}
	if len(g.Attributes) > MaxAttributes || size > MaxAttributeBytes {
		return invalid("attributes", journal.CodeTooMany, fmt.Sprintf("at most %d attributes of together %d bytes", MaxAttributes, MaxAttributeBytes))
	}
	return nil
}
