package coordinator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/meta"
)

// seldom leaves everything to notices.
func seldom(o *coordinator.Options) { o.RebalanceEvery = time.Hour }

func TestAPausedOwnerLosesItsQueuesWithItsLeaseAndNotBefore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("paused", 4)
	c := s.crowd(meta.Group{})
	s.lead(s.db, often)
	s.fill(topic, 0, 10)
	sleeper := c.join("c0", 2*time.Second, topic)
	pause := sleeper.live()
	c.becomes("map[c0:4]")
	c.join("c1", time.Minute, topic).live()
	state := c.becomes("map[c0:2 c1:2]")
	epoch := ownerOf(t, state, topic, 0).Epoch
	pause()
	var deadline int64
	for _, m := range c.state().Members {
		if m.ID == sleeper.id {
			deadline = m.Deadline
		}
	}
	eventually(t, func() string {
		state := c.state()
		a := ownerOf(t, state, topic, 0)
		if a.Owner != sleeper.id {
			if state.Now < deadline {
				t.Errorf("the queue changed hands %d ms before the member's lease had passed", deadline-state.Now)
			}
			return ""
		}
		return "the queue has its owner still"
	})
	c.becomes("map[c1:4]")
	if status, err := sleeper.commit(topic, 0, 10, epoch); status == meta.OffsetStored || err == nil && status == "" {
		t.Errorf("the commit of an owner that slept: %q, %v", status, err)
	}
	if got := c.offsets(topic)[0]; got != 10 { // where the group began
		t.Errorf("offset %d, want 10", got)
	}
}

func TestALostConnectionEndsTheMembershipAfterItsWindow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("lost", 4)
	c := s.crowd(meta.Group{})
	s.lead(s.db, seldom)
	lost := c.join("c0", time.Hour, topic)
	c.join("c1", time.Hour, topic).live()
	c.becomes("map[c0:2 c1:2]")
	now := c.state().Now
	const window = 1500 * time.Millisecond
	if err := c.db.MemberLost(t.Context(), c.group.ID, lost.id, "", window); err != nil {
		t.Fatal(err)
	}
	state := c.becomes("map[c1:4]")
	if state.AssignedAt < now+window.Milliseconds() {
		t.Errorf("its queues were given away %d ms after its connection broke, before %v", state.AssignedAt-now, window)
	}
}

func TestAnOwnerThatDoesNotGiveBackLosesTheQueueAfterItsTime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("kept", 2)
	c := s.crowd(meta.Group{RevokeTimeoutMS: 1500})
	s.lead(s.db, seldom)
	keeper := c.join("c0", time.Minute, topic)
	epoch := ownerOf(t, c.becomes("map[c0:2]"), topic, 1).Epoch
	c.join("c1", time.Minute, topic).live()
	var revoked meta.Assignment
	eventually(t, func() string {
		if revoked = ownerOf(t, c.state(), topic, 1); revoked.State != meta.StateRevoking {
			return "queue 1 is not being revoked"
		}
		return ""
	})
	if revoked.Owner != keeper.id {
		t.Errorf("while it is revoked, queue 1 belongs to %s, want %s", revoked.Owner, keeper.id)
	}
	if status, err := keeper.commit(topic, 1, 0, epoch); err != nil || status == meta.OffsetNotOwner {
		t.Errorf("commit while the queue is being revoked: %q, %v", status, err)
	}
	state := c.becomes("map[c0:1 c1:1]")
	if a := ownerOf(t, state, topic, 1); state.Now < revoked.Deadline {
		t.Errorf("queue 1 went to %s %d ms too early", a.Owner, revoked.Deadline-state.Now)
	}
	if status, err := keeper.commit(topic, 1, 0, epoch); err != nil || status != meta.OffsetNotOwner {
		t.Errorf("commit after the queue was taken: %q, %v, want %q", status, err, meta.OffsetNotOwner)
	}
	if state.Generation != 2 {
		t.Errorf("two joins made %d generations", state.Generation)
	}
}

func TestMembersThatAreDeniedOrTooManyStandBy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("listed", 4)
	s.lead(s.db, seldom)
	c := s.crowd(meta.Group{MaxMembers: 2})
	var members []*member
	for i := range 3 {
		m, err := c.tryJoin(meta.Member{ClientID: fmt.Sprint("c", 2-i), Kind: meta.KindQueue, Address: fmt.Sprintf("10.0.%d.1:99", i)}, time.Minute, topic)
		if err != nil {
			t.Fatal(err)
		}
		m.live()
		members = append(members, m)
		time.Sleep(2 * time.Millisecond) // the order of joining is by the millisecond
	}
	state := c.becomes("map[c1:2 c2:2]")
	for _, m := range state.Members {
		if m.Standby != (m.ClientID == "c0") {
			t.Errorf("%s: stand-by %v", m.ClientID, m.Standby)
		}
	}
	c.group.DenyIPs = []string{"10.0.0.0/24"}
	if _, err := c.db.UpdateGroup(t.Context(), c.group, 0); err != nil {
		t.Fatal(err)
	}
	state = c.becomes("map[c0:2 c1:2]")
	if !strings.Contains(state.Reason, "group changed") || !strings.Contains(state.Reason, "address denied: c2") {
		t.Errorf("reason: %s", state.Reason)
	}
	members[1].leave()
	state = c.becomes("map[c0:4]")
	for _, m := range state.Members {
		if m.Standby {
			t.Errorf("%s is on stand-by among %d members", m.ClientID, len(state.Members))
		}
	}
}

func TestOnlyMembersThatAskForQueuesGetSome(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("mixed", 4)
	s.lead(s.db, often)
	for _, kind := range []string{meta.KindAssign, meta.KindBroadcast, meta.KindShared} {
		c := s.crowd(meta.Group{})
		if _, err := c.tryJoin(meta.Member{ClientID: "c0", Kind: kind}, time.Minute, topic); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		c.stays(0, 300*time.Millisecond)
	}
	c := s.crowd(meta.Group{Mode: meta.ModeBroadcasting})
	if _, err := c.tryJoin(meta.Member{ClientID: "c0", Kind: meta.KindBroadcast}, time.Minute, topic); err != nil {
		t.Fatal(err)
	}
	c.stays(0, 300*time.Millisecond)
}

func TestTheLastMemberLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("left", 2)
	s.lead(s.db, seldom)
	c := s.crowd(meta.Group{})
	m := c.join("c0", time.Minute, topic)
	c.becomes("map[c0:2]")
	m.leave()
	c.becomes("map[]")
	if _, err := c.db.DeleteGroup(t.Context(), c.group.Name, 0, false); err != nil {
		t.Errorf("delete a group without members: %v", err)
	}
}

func TestSilentMembersOfManyGroupsExpire(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("many", 2)
	s.lead(s.db, seldom)
	var all []*crowd
	for range 30 {
		c := s.crowd(meta.Group{})
		c.join("c0", time.Second, topic)
		c.join("c1", time.Minute, topic).live()
		all = append(all, c)
	}
	for _, c := range all {
		c.becomes("map[c1:2]")
	}
}
