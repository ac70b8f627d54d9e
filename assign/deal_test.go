package assign_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/assign"
)

// dealt writes who owns what as "a0=c0 a1=c1", sorted.
func dealt(owners map[assign.Queue]string) string {
	var all []string
	for q, id := range owners {
		all = append(all, fmt.Sprint(q.Topic, q.ID, "=", id))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestDealGivesEachTopicByItselfButCircleAllTopics(t *testing.T) {
	queues := join(some("b", "", 0, 1), some("a", "", 0, 3))
	for _, c := range []struct {
		config assign.Config
		want   string
	}{
		{assign.Config{}, "a0=c0 a1=c0 a2=c1 b0=c0"},
		{assign.Config{Name: assign.NameAveragely}, "a0=c0 a1=c0 a2=c1 b0=c0"},
		{assign.Config{Name: assign.NameAveragelyByCircle}, "a0=c0 a1=c1 a2=c0 b0=c0"},
		{assign.Config{Name: assign.NameCircleAllTopics}, "a0=c0 a1=c1 a2=c0 b0=c1"},
		{assign.Config{Name: assign.NameByMachineRoom, Rooms: []string{"r"}}, ""},
	} {
		owners, failed := assign.Deal(c.config, queues, numbered("c", 2))
		if got := dealt(owners); got != c.want || len(failed) > 0 {
			t.Errorf("%s: got %q and %v, want %q", c.config.Name, got, failed, c.want)
		}
	}
}

func TestDealGivesAListedQueueToTheFirstLiveMember(t *testing.T) {
	config := assign.Config{Name: assign.NameByConfig, Queues: map[string][]assign.Queue{
		"c0": some("a", "", 0, 2),
		"c1": join(some("a", "", 1, 2), some("b", "", 0, 1), some("gone", "", 0, 1)),
	}}
	queues := join(some("a", "", 0, 4), some("b", "", 0, 1))
	owners, _ := assign.Deal(config, queues, numbered("c", 2))
	if got, want := dealt(owners), "a0=c0 a1=c0 a2=c1 b0=c1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	owners, _ = assign.Deal(config, queues, []assign.Member{{ID: "c1"}})
	if got, want := dealt(owners), "a1=c1 a2=c1 b0=c1"; got != want {
		t.Errorf("without c0: got %q, want %q", got, want)
	}
}

func TestDealTellsWhichTopicsFailed(t *testing.T) {
	queues := join(some("a", assign.BrokerIn("r"), 0, 1), some("b", "", 0, 1))
	owners, failed := assign.Deal(assign.Config{Name: assign.NameMachineRoomNearby}, queues, inRoom("r", "c0"))
	if got := dealt(owners); got != "a0=c0" {
		t.Errorf("got %q", got)
	}
	if len(failed) != 1 || !errors.Is(failed["b"], assign.ErrNoRoom) {
		t.Errorf("failed: %v", failed)
	}
	for _, config := range []assign.Config{
		{Name: "of the future"},
		{Name: assign.NameMachineRoomNearby, Inner: assign.NameMachineRoomNearby},
		{Name: assign.NameMachineRoomNearby, Inner: "of the future"},
	} {
		owners, failed = assign.Deal(config, queues, inRoom("r", "c0"))
		if len(owners) > 0 || !errors.Is(failed["a"], assign.ErrStrategy) || !errors.Is(failed["b"], assign.ErrStrategy) {
			t.Errorf("%+v: %v, %v", config, owners, failed)
		}
	}
}

func TestDealNeedsQueuesAndMembers(t *testing.T) {
	for _, name := range []string{"", assign.NameCircleAllTopics, "of the future"} {
		owners, failed := assign.Deal(assign.Config{Name: name}, some("a", "", 0, 2), nil)
		if len(owners)+len(failed) > 0 {
			t.Errorf("no members: %v, %v", owners, failed)
		}
		owners, failed = assign.Deal(assign.Config{Name: name}, nil, numbered("c", 2))
		if len(owners)+len(failed) > 0 {
			t.Errorf("no queues: %v, %v", owners, failed)
		}
	}
}

func BenchmarkDeal(b *testing.B) {
	members := numbered("member-", 100)
	for _, name := range []string{assign.NameAveragely, assign.NameConsistentHash, assign.NameCircleAllTopics} {
		b.Run(name, func(b *testing.B) {
			queues := some("orders", "", 0, 1000)
			for b.Loop() {
				assign.Deal(assign.Config{Name: name}, queues, members)
			}
		})
	}
}
