package group_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// wantInvalid fails unless an error points at a field.
func wantInvalid(t testing.TB, err error, field string) {
	t.Helper()
	invalid, ok := errors.AsType[*journal.InvalidError](err)
	if !ok || invalid.Field != field {
		t.Errorf("got %v, want a refusal of %s", err, field)
	}
}

func TestADefinitionOutsideItsLimitsIsRefused(t *testing.T) {
	n := newPlant(t).gateway()
	for _, test := range []struct {
		field string
		edit  func(*meta.Group)
	}{
		{"group", func(g *meta.Group) { g.Name = "a:b" }},
		{"group", func(g *meta.Group) { g.Name = strings.Repeat("x", group.MaxName+1) }},
		{"mode", func(g *meta.Group) { g.Mode = "both" }},
		{"commit_policy", func(g *meta.Group) { g.CommitPolicy = "any" }},
		{"max_members", func(g *meta.Group) { g.MaxMembers = -1 }},
		{"consume_from", func(g *meta.Group) { g.ConsumeFrom = "middle" }},
		{"consume_timestamp", func(g *meta.Group) { g.ConsumeFrom = meta.ConsumeFromTimestamp }},
		{"consume_timestamp", func(g *meta.Group) { g.ConsumeTimestamp = 5 }},
		{"invisible_ms", func(g *meta.Group) { g.InvisibleMS = 9_999 }},
		{"session_timeout_ms", func(g *meta.Group) { g.SessionTimeoutMS = 5_999 }},
		{"resume_window_ms", func(g *meta.Group) { g.ResumeWindowMS = -1 }},
		{"revoke_timeout_ms", func(g *meta.Group) { g.RevokeTimeoutMS = 0 }},
		{"nack_delays_ms", func(g *meta.Group) { g.NackDelaysMS = nil }},
		{"nack_delays_ms", func(g *meta.Group) { g.NackDelaysMS = []int64{-1} }},
		{"strategy", func(g *meta.Group) { g.Strategy = "fairly" }},
		{"strategy_config", func(g *meta.Group) { g.Strategies.Inner = "machine_room_nearby" }},
		{"strategy_config", func(g *meta.Group) { g.Strategies.VirtualNodes = 1001 }},
		{"allow_ips", func(g *meta.Group) { g.AllowIPs = []string{"10.0.0.0/33"} }},
		{"deny_ips", func(g *meta.Group) { g.DenyIPs = []string{"localhost"} }},
		{"attributes", func(g *meta.Group) { g.Attributes = map[string]string{"a": strings.Repeat("x", 4096)} }},
	} {
		definition := group.Default("billing")
		test.edit(&definition)
		_, err := n.Create(t.Context(), definition)
		wantInvalid(t, err, test.field)
	}
	created, err := n.Create(t.Context(), group.Default("billing"))
	must(t, err)
	_, err = n.Create(t.Context(), group.Default("billing"))
	if exists, ok := errors.AsType[*meta.GroupExistsError](err); !ok || exists.Current.ID != created.ID {
		t.Errorf("the same name again: %v", err)
	}
	created.MaxMembers = 3
	updated, err := n.Update(t.Context(), created, created.Version)
	must(t, err)
	_, err = n.Update(t.Context(), created, created.Version)
	if conflict, ok := errors.AsType[*meta.GroupConflictError](err); !ok || conflict.Current.Version != updated.Version {
		t.Errorf("an update of an old version: %v", err)
	}
}

func TestAGroupThatGoesByRoomsNeedsThatOfItsMembers(t *testing.T) {
	n := newPlant(t).gateway()
	n.topic("orders", 2)
	n.group("billing", group.DefaultInvisible, func(g *meta.Group) { g.Strategy = "machine_room_nearby" })
	r := group.JoinRequest{Group: "billing", Subscriptions: []meta.Subscription{{Topic: "orders"}}}
	_, err := n.Join(t.Context(), r)
	wantInvalid(t, err, "room")
	r.Room = "east"
	if _, err = n.Join(t.Context(), r); err != nil {
		t.Errorf("with a room: %v", err)
	}
}

// SEMANTICS 54, 84 and 108: a consumer that sets nothing gets what RocketMQ gives it.
func TestTheDefaultsAreRocketMQs(t *testing.T) {
	g := group.Default("billing")
	if g.Mode != meta.ModeClustering || g.Strategy != "averagely" || g.ConsumeFrom != meta.ConsumeFromLast || g.CommitPolicy != meta.CommitMonotonic || g.Ordered {
		t.Errorf("default definition %+v", g)
	}
	var waits []string
	for _, ms := range g.NackDelaysMS {
		waits = append(waits, (time.Duration(ms) * time.Millisecond).String())
	}
	if got, want := strings.Join(waits, " "), "10s 30s 1m0s 2m0s 3m0s 4m0s 5m0s 6m0s 7m0s 8m0s 9m0s 10m0s 20m0s 30m0s 1h0m0s 2h0m0s"; got != want {
		t.Errorf("waits %s, want %s", got, want)
	}
	if group.DefaultPullBatch != 32 || group.DefaultThresholdMessages != 1000 || group.DefaultThresholdBytes != 100<<20 || group.DefaultMaxSpan != 2000 {
		t.Error("default limits of what a queue may have in flight")
	}
}
