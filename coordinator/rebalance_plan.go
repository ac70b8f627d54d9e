package coordinator

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/assign"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// plan is what a group's assignment is to become.
type plan struct {
	targets []meta.Target
	active  int              // members that queues are dealt out to
	standby []string         // members that max_members keeps out
	denied  []string         // client ids whose address is not admitted
	missing []string         // subscribed topics that do not exist
	failed  map[string]error // topic → why its strategy gave nothing: it stays as it is
}

// place is a queue of a topic.
type place struct {
	topic uuid.UUID
	queue uint32
}

// makePlan deals out the queues of the group's topics. A subscribed name that
// is not in topics does not exist.
func makePlan(state meta.GroupState, topics map[string]meta.Topic) plan {
	var p plan
	if state.Group.Mode == meta.ModeBroadcasting {
		return p
	}
	owners := p.deal(state, p.choose(state), topics)
	for _, a := range state.Assignments {
		at := place{a.Topic, a.Queue}
		if _, wanted := owners[at]; !wanted { // unsubscribed, or the topic is gone
			owners[at] = ""
		}
	}
	for at, owner := range owners {
		p.targets = append(p.targets, meta.Target{Topic: at.topic, Queue: at.queue, Owner: owner})
	}
	slices.SortFunc(p.targets, func(a, b meta.Target) int {
		return cmp.Or(bytes.Compare(a.Topic[:], b.Topic[:]), cmp.Compare(a.Queue, b.Queue))
	})
	return p
}

// choose picks the members that get queues: those whose address is admitted, in
// the order in which they joined, up to max_members.
func (p *plan) choose(state meta.GroupState) []meta.Member {
	var active []meta.Member
	for _, m := range state.Members {
		switch {
		case m.Kind != meta.KindQueue: // it names its queues itself, or owns none
		case !group.Admits(state.Group.AllowIPs, state.Group.DenyIPs, m.Address):
			p.denied = append(p.denied, m.ClientID)
		default:
			active = append(active, m)
		}
	}
	slices.SortFunc(active, func(a, b meta.Member) int {
		return cmp.Or(cmp.Compare(a.JoinedAt, b.JoinedAt), strings.Compare(a.ID, b.ID))
	})
	if most := state.Group.MaxMembers; most > 0 && len(active) > most {
		for _, m := range active[most:] {
			p.standby = append(p.standby, m.ID)
		}
		active = active[:most]
	}
	slices.Sort(p.standby)
	slices.Sort(p.denied)
	p.active = len(active)
	return active
}

// deal asks the group's strategy for the owner, a member id, of every queue of
// the subscribed topics.
func (p *plan) deal(state meta.GroupState, active []meta.Member, topics map[string]meta.Topic) map[place]string {
	var queues []assign.Queue
	owners := map[place]string{}
	for _, name := range subscribed(active) {
		t, exists := topics[name]
		if !exists {
			p.missing = append(p.missing, name)
			continue
		}
		for q := range t.Queues {
			queues = append(queues, queueOf(state.Group, t, q))
			owners[place{t.ID, q}] = ""
		}
	}
	var members []assign.Member
	ids := map[string]string{} // client id → member id
	for _, m := range active {
		members = append(members, assign.Member{ID: m.ClientID, Room: m.Room})
		ids[m.ClientID] = m.ID
	}
	dealt, failed := assign.Deal(strategyOf(state.Group, topics), queues, members)
	for q, client := range dealt {
		owners[place{topics[q.Topic].ID, q.ID}] = ids[client]
	}
	p.failed = failed
	for name := range failed {
		leave(owners, state, topics[name].ID)
	}
	dealRetry(owners, state, topics, members, ids)
	return owners
}

// dealRetry deals out the group's retry topic, of which no strategy of the user's
// knows.
func dealRetry(owners map[place]string, state meta.GroupState, topics map[string]meta.Topic, members []assign.Member, ids map[string]string) {
	t, exists := topics[journal.RetryTopic(state.Group.Name)]
	if !exists || !journal.OwnedBy(t, state.Group.ID) {
		return
	}
	var queues []assign.Queue
	for q := range t.Queues {
		queues = append(queues, assign.Queue{Topic: t.Name, ID: q})
		owners[place{t.ID, q}] = ""
	}
	dealt, _ := assign.Deal(assign.Config{Name: assign.NameAveragely}, queues, members)
	for q, client := range dealt {
		owners[place{t.ID, q.ID}] = ids[client]
	}
}

// leave plans for a topic what its assignment is coming to anyway, as far as
// the owners are still members.
func leave(owners map[place]string, state meta.GroupState, topic uuid.UUID) {
	for _, a := range state.Assignments {
		if owner := comingOwner(a); a.Topic == topic && isMember(state, owner) {
			owners[place{a.Topic, a.Queue}] = owner
		}
	}
}

// comingOwner is who has the queue once it has changed hands.
func comingOwner(a meta.Assignment) string {
	if a.State == meta.StateRevoking {
		return a.Next
	}
	return a.Owner
}

func isMember(state meta.GroupState, id string) bool {
	return slices.ContainsFunc(state.Members, func(m meta.Member) bool { return m.ID == id })
}

// settled says whether the assignment is what is planned, or is coming to it.
func (p *plan) settled(state meta.GroupState) bool {
	coming := make(map[place]string, len(state.Assignments))
	members := map[string]bool{"": true}
	var standby []string
	for _, m := range state.Members {
		members[m.ID] = true
		if m.Standby {
			standby = append(standby, m.ID)
		}
	}
	for _, a := range state.Assignments {
		if !members[a.Owner] { // what it owned can be granted
			return false
		}
		coming[place{a.Topic, a.Queue}] = comingOwner(a)
	}
	slices.Sort(standby)
	return slices.Equal(standby, p.standby) && !slices.ContainsFunc(p.targets, func(t meta.Target) bool {
		return coming[place{t.Topic, t.Queue}] != t.Owner
	})
}

// retryOf names the topic in which messages of the group that failed may be; "": it
// can have none.
func retryOf(state meta.GroupState) string {
	if state.Group.Mode == meta.ModeBroadcasting || len(state.Members) == 0 {
		return ""
	}
	return journal.RetryTopic(state.Group.Name)
}

// subscribed lists the topics of the members, each once, sorted.
func subscribed(members []meta.Member) []string {
	names := map[string]bool{}
	for _, m := range members {
		for _, s := range m.Subscriptions {
			names[s.Topic] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
