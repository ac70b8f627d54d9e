package group_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore/faulty"
)

// pushed is a session whose messages a test takes.
type pushed struct {
	*group.Session
	t      *testing.T
	n      *gateway
	bell   chan struct{}
	events []group.Event
}

// subscribe starts a session of billing.
func (n *gateway) subscribe(client, key string, edit ...func(*group.SessionOptions)) *pushed {
	n.t.Helper()
	s := &pushed{t: n.t, n: n, bell: make(chan struct{}, 1)}
	o := group.SessionOptions{
		JoinRequest: group.JoinRequest{
			Group: "billing", ClientID: client, SessionKey: key, Transport: "websocket", Address: "127.0.0.1:1",
			Subscriptions: []meta.Subscription{{Topic: "orders"}},
		},
		Notify: func() {
			select {
			case s.bell <- struct{}{}:
			default:
			}
		},
	}
	for _, e := range edit {
		e(&o)
	}
	session, err := n.Subscribe(n.t.Context(), o)
	must(n.t, err)
	s.Session = session
	n.t.Cleanup(func() { _ = session.Lost(context.Background()) })
	return s
}

func inOrder(o *group.SessionOptions) { o.Ordered = true }

func (s *pushed) id() string {
	id, _, _, _ := s.Joined()
	return id
}

// give makes members the next owners of queues of orders, as a coordinator would.
func (n *gateway) give(owners map[uint32]string) {
	n.t.Helper()
	g, err := n.db.Group(n.t.Context(), "billing")
	must(n.t, err)
	topic, err := n.db.Topic(n.t.Context(), "orders")
	must(n.t, err)
	state, err := n.db.GroupState(n.t.Context(), g.ID)
	must(n.t, err)
	var targets []meta.Target
	for queue, owner := range owners {
		targets = append(targets, meta.Target{Topic: topic.ID, Queue: queue, Owner: owner})
	}
	_, _, err = n.db.Assign(n.t.Context(), g.ID, max(1, state.Term), state.Revision, "test", targets, nil)
	must(n.t, err)
}

// look polls once.
func (s *pushed) look(messages int) ([]group.Pushed, error) {
	p, err := s.Poll(s.t.Context(), messages, 1<<20)
	if err != nil {
		return nil, err
	}
	s.events = append(s.events, p.Events...)
	if p.More {
		select {
		case s.bell <- struct{}{}:
		default:
		}
	}
	return p.Items, nil
}

// take polls, when it is told to, until count messages have come.
func (s *pushed) take(count int) (all []group.Pushed) {
	s.t.Helper()
	s.until(fmt.Sprintf("%d messages come", count), func() bool {
		items, err := s.look(count - len(all))
		must(s.t, err)
		all = append(all, items...)
		return len(all) >= count
	})
	return all
}

// until calls done each time that the session may have something.
func (s *pushed) until(what string, done func() bool) {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	for !done() {
		select {
		case <-s.bell:
		case <-deadline:
			s.t.Fatalf("not in time: %s; events %+v", what, s.events)
		}
	}
}

func (s *pushed) finish(all ...group.Pushed) {
	s.t.Helper()
	for _, err := range s.Ack(s.t.Context(), receiptsOf(all)) {
		must(s.t, err)
	}
}

func (s *pushed) back(delay int64, all ...group.Pushed) {
	s.t.Helper()
	for _, r := range receiptsOf(all) {
		must(s.t, s.Nack(s.t.Context(), []group.NackItem{{Receipt: r, DelayMS: &delay}})[0].Err)
	}
}

func receiptsOf(all []group.Pushed) (receipts []string) {
	for _, m := range all {
		receipts = append(receipts, m.Receipt)
	}
	return receipts
}

// texts are bodies, with the attempt where it is not the first.
func texts(all []group.Pushed) string {
	var list []string
	for _, m := range all {
		text := string(m.Record.Body)
		if m.Attempt > 1 {
			text += fmt.Sprint("/", m.Attempt)
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func wantPushed(t testing.TB, all []group.Pushed, want string) {
	t.Helper()
	if got := texts(all); got != want {
		t.Fatalf("%q came, want %q", got, want)
	}
}

// pushGroup is a gateway with a group and a topic of so many queues.
func pushGroup(t *testing.T, queues uint32, edit ...func(*meta.Group)) (*plant, *gateway, meta.Topic, meta.Group) {
	p := newPlant(t)
	n := p.gateway()
	topic := n.topic("orders", queues)
	return p, n, topic, n.group("billing", time.Minute, edit...)
}

// A message that was given back is not given up when reading it again fails for a
// reason of this process.
func TestAFaultWhileReadingAgainFinishesNothing(t *testing.T) {
	p, n, topic, _ := pushGroup(t, 1)
	n.send(topic, 0, "", "a", "b")
	n = p.gateway(func(o *journal.Options) { o.CacheBytes = 1 }) // it keeps nothing in memory
	s := n.subscribe("c", "")
	n.give(map[uint32]string{0: s.id()})
	all := s.take(2)
	s.finish(all[1])
	const delay = 300
	s.back(delay, all[0])
	for due := time.Now().Add(delay * time.Millisecond); time.Now().Before(due.Add(-100 * time.Millisecond)); time.Sleep(time.Millisecond) {
		_, err := s.look(10) // so that it is not its membership that the next one looks at
		must(t, err)
	}
	time.Sleep(150 * time.Millisecond)
	gone, cancel := context.WithCancel(t.Context())
	cancel() // as when its socket ends
	if push, err := s.Poll(gone, 10, 1000); err == nil {
		t.Errorf("a read that cannot be done came to %+v", push)
	}
	must(t, s.Commit(t.Context()))
	if at := n.offset("billing", 0); at != 0 {
		t.Fatalf("progress %d though a was never finished", at)
	}
	wantPushed(t, s.take(1), "a/2")
}

// A queue that cannot be read does not keep the others waiting.
func TestAQueueThatCannotBeReadKeepsNoOtherWaiting(t *testing.T) {
	p, n, topic, _ := pushGroup(t, 2)
	before := p.keys()
	n.send(topic, 0, "", "a")
	store := faulty.Wrap(p.store)
	for key := range p.keys() {
		if !before[key] {
			store.Add(&faulty.Rule{Op: faulty.Get, Prefix: key, Fault: faulty.FailBefore(errors.New("503 slow down"))})
		}
	}
	n.send(topic, 1, "", "b")
	n = p.gateway(func(o *journal.Options) { o.Store = store })
	s := n.subscribe("c", "")
	n.give(map[uint32]string{0: s.id(), 1: s.id()})
	var all []group.Pushed
	take := func() bool {
		items, err := s.look(10)
		if err != nil && !errors.Is(err, journal.ErrUnavailable) {
			t.Fatal(err)
		}
		if err != nil {
			time.AfterFunc(10*time.Millisecond, func() {
				select {
				case s.bell <- struct{}{}:
				default:
				}
			})
		}
		all = append(all, items...)
		return len(all) > 0
	}
	s.until("b comes", take)
	wantPushed(t, all, "b")
	store.Clear()
	all = nil
	s.until("a comes", take)
	wantPushed(t, all, "a")
}

// keys lists the objects of the store.
func (p *plant) keys() map[string]bool {
	keys := map[string]bool{}
	for object, err := range p.store.List(p.t.Context(), "", "") {
		must(p.t, err)
		keys[object.Key] = true
	}
	return keys
}

// In order nothing overtakes what was given back before it, whatever the delays.
func TestInOrderALaterMessageNeverComesFirst(t *testing.T) {
	t.Run("given back one after another", func(t *testing.T) {
		_, n, topic, _ := pushGroup(t, 1)
		n.send(topic, 0, "", "a", "b", "c")
		s := n.subscribe("c", "", inOrder)
		n.give(map[uint32]string{0: s.id()})
		all := s.take(3)
		s.back(0, all[2])
		s.back(200, all[1])
		s.finish(all[0])
		wantPushed(t, s.take(2), "b/2 c/2")
	})
	t.Run("without room for both", func(t *testing.T) {
		_, n, topic, _ := pushGroup(t, 1)
		n.send(topic, 0, "", "a", "b")
		s := n.subscribe("c", "", inOrder)
		n.give(map[uint32]string{0: s.id()})
		s.back(0, s.take(2)[0])
		s.back(200, s.take(1)[0])
		wantPushed(t, s.take(2), "a/3 b/2")
	})
}

// fenced waits until the session has heard that another one took it up.
func (s *pushed) fenced() {
	s.t.Helper()
	s.until("the session is told that it was taken up", func() bool {
		_, err := s.look(100)
		if err != nil && !errors.Is(err, meta.ErrFencedMember) {
			s.t.Fatal(err)
		}
		return err != nil
	})
}

// Of sockets with the same client id and session key the last one is the member:
// the others hear of it, and their end changes nothing.
func TestASessionThatIsTakenUpElsewhereEnds(t *testing.T) {
	p, n, topic, g := pushGroup(t, 1, func(g *meta.Group) { g.ResumeWindowMS = 0 })
	other := p.gateway()
	n.send(topic, 0, "", "a", "b")
	first := n.subscribe("c", "key")
	n.give(map[uint32]string{0: first.id()})
	first.finish(first.take(2)[0])
	must(t, first.Commit(t.Context()))
	second := other.subscribe("c", "key")
	if !second.Reattached() || second.id() != first.id() {
		t.Fatalf("the second session is member %s, reattached %v; the first is %s", second.id(), second.Reattached(), first.id())
	}
	first.fenced()
	wantPushed(t, second.take(1), "b/2")
	third := n.subscribe("c", "key")
	second.fenced()
	must(t, first.Lost(t.Context()))
	must(t, second.Close(t.Context()))
	gone, err := n.db.ExpireMembers(t.Context(), g.ID, 1)
	must(t, err)
	state, err := n.db.GroupState(t.Context(), g.ID)
	must(t, err)
	if len(gone) > 0 || len(state.Members) != 1 || state.Generation != 1 {
		t.Fatalf("%v expired; members %+v in generation %d", gone, state.Members, state.Generation)
	}
	n.send(topic, 0, "", "c")
	third.finish(third.take(2)...)
	must(t, third.Close(t.Context()))
	if at := n.offset("billing", 0); at != 3 {
		t.Errorf("progress %d, want 3", at)
	}
}

// A client whose socket takes nothing for a while is still there.
func TestASessionLivesThoughNobodyPolls(t *testing.T) {
	t.Parallel()
	_, n, _, g := pushGroup(t, 1)
	s := n.subscribe("c", "", func(o *group.SessionOptions) { o.Timeout = group.MinSessionTimeout })
	for end := time.Now().Add(group.MinSessionTimeout + 2*time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		gone, err := n.db.ExpireMembers(t.Context(), g.ID, 1)
		must(t, err)
		if len(gone) > 0 {
			t.Fatal("the member expired though its session lives")
		}
	}
	must(t, s.Close(t.Context()))
}

// Everything of a session may be used while it is polled, and ends it.
func TestASessionEndsWhileItIsUsed(t *testing.T) {
	_, n, topic, _ := pushGroup(t, 4)
	for q := range int64(4) {
		n.send(topic, q, "", numbered(20)...)
	}
	for round := range 10 {
		s := n.subscribe("c", "key")
		if round == 0 {
			n.give(map[uint32]string{0: s.id(), 1: s.id(), 2: s.id(), 3: s.id()})
		}
		var using sync.WaitGroup
		receipts := make(chan string, 1000)
		stop := make(chan struct{})
		using.Go(func() {
			defer close(receipts)
			for {
				select {
				case <-stop:
					return
				default:
				}
				push, err := s.Poll(t.Context(), 10, 1000)
				if err != nil {
					return
				}
				for _, m := range push.Items {
					receipts <- m.Receipt
				}
			}
		})
		using.Go(func() {
			for r := range receipts {
				s.Nack(t.Context(), []group.NackItem{{Receipt: r, DelayMS: new(int64)}})
				_ = s.AckUpTo(t.Context(), "orders", 1, 3)
			}
		})
		time.Sleep(20 * time.Millisecond)
		must(t, s.Lost(t.Context()))
		close(stop)
		using.Wait()
	}
}
