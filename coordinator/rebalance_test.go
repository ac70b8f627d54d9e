package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/assign"
	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

// often makes the periodic check frequent, so that a test sees what it does.
func often(o *coordinator.Options) { o.RebalanceEvery = 100 * time.Millisecond }

func TestFiftyMembersJoiningAtOnceSettleInFewGenerations(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("fifty", 200)
	c := s.crowd(meta.Group{})
	s.lead(s.db, often)
	began := time.Now()
	var joining sync.WaitGroup
	want := map[string]int{}
	for i := range 50 {
		client := fmt.Sprint("c", i)
		want[client] = 4
		time.Sleep(10 * time.Millisecond) // 50 processes do not start within the same few milliseconds
		joining.Go(func() {
			m, err := c.tryJoin(meta.Member{ClientID: client, Kind: meta.KindQueue}, time.Minute, topic)
			if err != nil {
				t.Error(err)
				return
			}
			m.live()
		})
	}
	joining.Wait()
	state := c.becomes(fmt.Sprint(want))
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("50 members settled after %v", took)
	}
	if state.Generation > 4 {
		t.Errorf("50 members joining at once took %d generations", state.Generation)
	}
	c.stays(state.Generation, 500*time.Millisecond)
}

func TestTheEmbeddedServerRebalancesToo(t *testing.T) {
	t.Parallel()
	db, err := meta.OpenEmbedded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteOn(t, db)
	topic := s.makeTopic("embedded", 1000)
	c := s.crowd(meta.Group{RevokeTimeoutMS: 100})
	s.lead(s.db, seldom)
	want := map[string]int{}
	for i := range 20 {
		client := fmt.Sprint("c", i)
		want[client] = 50
		c.join(client, time.Minute, topic)
	}
	began := time.Now()
	c.becomes(fmt.Sprint(want))
	c.join("d", time.Minute, topic)
	eventually(t, func() string {
		if n := len(spread(c.state())); n != 21 {
			return fmt.Sprintf("%d of 21 members own queues", n)
		}
		return ""
	})
	t.Logf("twice 1,000 queues: %v", time.Since(began))
}

func TestAChangeIsOneGenerationAndMovesOnlyWhatItMust(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("moving", 40)
	c := s.crowd(meta.Group{Strategy: assign.NameConsistentHash})
	var members []*member
	for i := range 4 {
		m := c.join(fmt.Sprint("c", i), time.Minute, topic)
		m.live()
		members = append(members, m)
	}
	s.lead(s.db, often)
	settled := func(generation int64) (state meta.GroupState) {
		t.Helper()
		eventually(t, func() string {
			state = c.state()
			owned := 0
			for _, n := range spread(state) {
				owned += n
			}
			if owned != 40 || state.Generation != generation {
				return fmt.Sprintf("%d of 40 queues are owned in generation %d, want %d", owned, state.Generation, generation)
			}
			return ""
		})
		return state
	}
	before := settled(1)
	newcomer := c.join("c9", time.Minute, topic)
	newcomer.live()
	with := settled(2)
	compare(t, before, with, newcomer.id)
	newcomer.leave()
	after := settled(3)
	compare(t, after, with, newcomer.id)
	members[0].leave()
	compare(t, settled(4), after, members[0].id)
	c.stays(4, 500*time.Millisecond)
}

// compare checks that without and with differ only in the queues of one member:
// all others have kept owner and assignment epoch.
func compare(t *testing.T, without, with meta.GroupState, member string) {
	t.Helper()
	moved := 0
	for _, a := range with.Assignments {
		for _, b := range without.Assignments {
			if a.Topic != b.Topic || a.Queue != b.Queue {
				continue
			}
			if a.Owner == member {
				moved++
			} else if a.Owner != b.Owner || a.Epoch != b.Epoch {
				t.Errorf("queue %d moved from %s (%d) to %s (%d)", a.Queue, b.Owner, b.Epoch, a.Owner, a.Epoch)
			}
		}
	}
	if moved == 0 {
		t.Error("nothing moved: the test shows nothing")
	}
}

func TestANewQueueStartsAtItsMinimumAndNothingElseMoves(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("growing", 1)
	s.fill(topic, 0, 5)
	c := s.crowd(meta.Group{})
	c.join("c0", time.Minute, topic).live()
	stop := s.lead(s.db, nil)
	first := ownerOf(t, c.becomes("map[c0:1]"), topic, 0)
	stop()
	topic.Queues = 3
	topic, err := s.journal.UpdateTopic(t.Context(), topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.fill(topic, 1, 3) // before the coordinator has heard of it
	s.lead(s.db, nil)
	state := c.becomes("map[c0:3]")
	if got, want := fmt.Sprint(c.offsets(topic)), "map[0:5 1:0 2:0]"; got != want {
		t.Errorf("offsets %s, want %s", got, want)
	}
	if a := ownerOf(t, state, topic, 0); a.Epoch != first.Epoch {
		t.Errorf("queue 0 was disturbed: epoch %d became %d", first.Epoch, a.Epoch)
	}
}

func TestTopicsThatComeAndGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	kept := s.makeTopic("kept", 2)
	log := &logged{}
	s.lead(s.db, func(o *coordinator.Options) { seldom(o); o.Log = log.logger() })
	c := s.crowd(meta.Group{})
	c.join("c0", time.Minute, kept, meta.Topic{Name: "wanted"}).live()
	state := c.becomes("map[c0:2]") // the other topic goes on
	if !strings.Contains(state.Reason, "no such topic: wanted") {
		t.Errorf("reason: %s", state.Reason)
	}
	if !log.has("no such topic: wanted") {
		t.Error("no warning of the topic that does not exist")
	}
	wanted := s.makeTopic("wanted", 2)
	c.becomes("map[c0:4]")
	s.fill(wanted, 0, 3)
	if _, err := s.journal.DeleteTopic(t.Context(), wanted.Name, 0); err != nil {
		t.Fatal(err)
	}
	c.becomes("map[c0:2]")
	again := s.makeTopic("wanted", 1)
	s.fill(again, 0, 3)
	state = c.becomes("map[c0:3]")
	if a := ownerOf(t, state, again, 0); a.Owner == "" {
		t.Error("the topic made again has no owner")
	}
	if got, want := fmt.Sprint(c.offsets(again)), "map[0:0]"; got != want {
		t.Errorf("offsets of the topic made again: %s, want %s", got, want)
	}
}

func TestLostNoticesAreMadeUpFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("unheard", 2)
	c := s.crowd(meta.Group{})
	s.lead(s.db, seldom)
	c.join("c0", time.Minute, topic).live()
	c.becomes("map[c0:2]")
	for range 3 { // the feed's connection ends; what happens meanwhile is not heard
		if err := s.redis.Client().ClientKillByFilter(t.Context(), "TYPE", "PUBSUB").Err(); err != nil {
			t.Fatal(err)
		}
	}
	c.join("c1", time.Minute, topic).live()
	c.becomes("map[c0:1 c1:1]")
}

func TestSlowAdoptionHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("patient", 2)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	listing := s.store.Add(&faulty.Rule{Op: faulty.List, Fault: func(ctx context.Context, next func() ([]byte, error)) ([]byte, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return next()
	}})
	dead := uuid.Must(uuid.NewV7())
	s.leave(dead, 1, "left")
	if err := s.db.Beat(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	s.lead(s.db, func(o *coordinator.Options) { o.Lease, o.DeadAfter = 300*time.Millisecond, time.Millisecond })
	eventually(t, func() string {
		if listing.Hits() == 0 {
			return "no adoption was tried"
		}
		return ""
	})
	_, term, _, err := s.db.LeaseHolder(t.Context(), coordinator.LeaseName)
	if err != nil {
		t.Fatal(err)
	}
	c := s.crowd(meta.Group{})
	c.join("c0", time.Minute, topic).live()
	c.becomes("map[c0:2]")
	began := time.Now()
	eventually(t, func() string {
		if _, now, held, err := s.db.LeaseHolder(t.Context(), coordinator.LeaseName); err != nil || !held || now != term {
			t.Errorf("the lease was lost behind a slow adoption: held %v, term %d then %d, %v", held, term, now, err)
		}
		if time.Since(began) < time.Second { // three leases
			return "the lease is not old enough"
		}
		return ""
	})
}

func TestAStrategyThatFailsIsLoggedAndLeavesTheAssignment(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("failing", 2)
	log := &logged{}
	s.lead(s.db, func(o *coordinator.Options) { seldom(o); o.Log = log.logger() })
	c := s.crowd(meta.Group{})
	c.join("c0", time.Minute, topic).live()
	before := c.becomes("map[c0:2]")
	c.group.Strategy = assign.NameMachineRoomNearby // nothing here is in a room
	if _, err := c.db.UpdateGroup(t.Context(), c.group, 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		if !log.has("left as it was: failing") {
			return "no warning of the strategy"
		}
		return ""
	})
	c.join("c1", time.Minute, topic).live()
	c.stays(before.Generation, 300*time.Millisecond)
	if got := fmt.Sprint(spread(c.state())); got != "map[c0:2]" {
		t.Errorf("got %s", got)
	}
}

func TestAGroupThatIsDeletedIsForgotten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("forgotten", 2)
	log := &logged{}
	s.lead(s.db, func(o *coordinator.Options) { often(o); o.Log = log.logger() })
	c := s.crowd(meta.Group{})
	c.join("c0", time.Second, topic)
	c.becomes("map[c0:2]")
	if _, err := c.db.DeleteGroup(t.Context(), c.group.Name, 0, true); err != nil {
		t.Fatal(err)
	}
	if _, err := c.db.GroupState(t.Context(), c.group.ID); !errors.Is(err, meta.ErrGroupNotFound) {
		t.Fatalf("state of a deleted group: %v", err)
	}
	other := s.crowd(meta.Group{}) // after several checks all is well
	other.join("c0", time.Second, topic)
	other.becomes("map[c0:2]")
	other.becomes("map[]")
	if log.has("trying again") {
		t.Errorf("rounds failed: %s", log)
	}
}
