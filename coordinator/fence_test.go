package coordinator_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/coordinator"
	"github.com/bucketmq/bucketmq/meta"
)

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) has(part string) bool { return strings.Contains(l.String(), part) }

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// dam stands between a client and Redis. Once armed, it holds the first request
// that contains the armed text, and whatever any connection (alone: that one)
// asks after it, until it is opened.
type dam struct {
	net.Listener
	opened chan struct{}
	alone  bool

	mu      sync.Mutex
	text    []byte          // guarded by mu; nil: not armed
	held    chan struct{}   // guarded by mu; closed when a request is held
	answers strings.Builder // guarded by mu; what Redis said to the connection held first, once opened
}

func newDam(t *testing.T, redis string) *dam {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &dam{Listener: l, opened: make(chan struct{}), held: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { d.forward(ctx, &open, client, redis) })
		}
	})
	t.Cleanup(func() { cancel(); l.Close(); open.Wait() })
	return d
}

func (d *dam) arm(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text = []byte(text)
}

// holds says whether a request has to wait; first: it is the one that was waited for.
func (d *dam) holds(request []byte) (holds, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.held:
		return !d.alone, false
	default:
	}
	if d.text == nil || !bytes.Contains(request, d.text) {
		return false, false
	}
	close(d.held)
	return true, true
}

func (d *dam) answer() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers.String()
}

func (d *dam) forward(ctx context.Context, open *sync.WaitGroup, client net.Conn, redis string) {
	server, err := net.Dial("tcp", redis)
	if err != nil {
		client.Close()
		return
	}
	context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	watched := make(chan struct{}) // closed: the answers are what the test asks about
	open.Go(func() {
		for part := make([]byte, 64<<10); ; {
			n, err := server.Read(part)
			if err != nil {
				client.Close()
				return
			}
			select {
			case <-watched:
				d.mu.Lock()
				d.answers.Write(part[:n])
				d.mu.Unlock()
			default:
			}
			_, _ = client.Write(part[:n]) // it may have given up
		}
	})
	for part := make([]byte, 1<<20); ; {
		n, err := client.Read(part)
		if err != nil {
			return
		}
		if holds, first := d.holds(part[:n]); holds {
			if first {
				close(watched)
			}
			select {
			case <-d.opened:
			case <-ctx.Done():
				return
			}
		}
		if _, err := server.Write(part[:n]); err != nil {
			return
		}
	}
}

// A leader is cut off in the middle of writing an assignment. Three leases
// later, under another leader, its request arrives.
func TestAnAssignmentOfAnOvertakenLeaderChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("overtaken", 4)
	c := s.crowd(meta.Group{})
	c.join("c0", time.Minute, topic).live()

	d := newDam(t, s.redis.Addr())
	db, err := meta.Open(t.Context(), meta.Options{Addrs: []string{d.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	const lease = 500 * time.Millisecond
	brief := func(o *coordinator.Options) { seldom(o); o.Lease = lease }
	old := &logged{}
	s.lead(db, func(o *coordinator.Options) { brief(o); o.Log = old.logger() })
	first := c.becomes("map[c0:4]")

	d.arm("members changed: 2 members") // the reason, which its script is given
	cut := time.Now()
	c.join("c1", time.Minute, topic).live()
	<-d.held
	s.lead(s.db, brief)
	c.becomes("map[c0:2 c1:2]")
	c.join("c2", time.Minute, topic).live()
	before := c.becomes("map[c0:2 c1:1 c2:1]")
	if before.Term <= first.Term {
		t.Errorf("term %d under the first leader, %d under the second", first.Term, before.Term)
	}
	time.Sleep(time.Until(cut.Add(3 * lease)))
	close(d.opened)
	eventually(t, func() string {
		if !strings.Contains(d.answer(), "FENCED") {
			return fmt.Sprintf("the late request was answered %q", d.answer())
		}
		return ""
	})
	after := c.state()
	after.Now = before.Now
	for i := range after.Members { // they go on living
		after.Members[i].LastHeartbeat, after.Members[i].Deadline = before.Members[i].LastHeartbeat, before.Members[i].Deadline
	}
	if got, want := fmt.Sprintf("%+v", after), fmt.Sprintf("%+v", before); got != want {
		t.Errorf("the late request changed something:\n got %s\nwant %s", got, want)
	}
	if !old.has("leads=false") {
		t.Error("the old leader thinks that it leads")
	}
}

// What changes while a new leader's subscription is on its way is not noticed.
func TestALeaderLooksAtEverythingOnceItListens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("unnoticed", 2)
	d := newDam(t, s.redis.Addr())
	d.alone = true
	db, err := meta.Open(t.Context(), meta.Options{Addrs: []string{d.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	d.arm("{bmq}:changes") // of the subscription
	early := s.crowd(meta.Group{})
	early.join("c0", time.Minute, topic).live()
	s.lead(db, seldom)
	<-d.held
	early.becomes("map[c0:2]") // it has looked at all groups there are
	late := s.crowd(meta.Group{})
	late.join("c0", time.Minute, topic).live()
	late.stays(0, 500*time.Millisecond) // the test shows nothing otherwise
	close(d.opened)
	late.becomes("map[c0:2]")
}

func TestALeaderFencedByAGroupStepsDown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	topic := s.makeTopic("stepping", 2)
	c := s.crowd(meta.Group{})
	c.join("c0", time.Minute, topic).live()
	state := c.state()
	// As after a loss of the lease's key: the group has seen a later term.
	ahead := state.Now + 3000
	if _, _, err := s.db.Assign(t.Context(), c.group.ID, ahead, state.Revision, "from the future", nil, nil); err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	s.lead(s.db, func(o *coordinator.Options) { often(o); o.Log = log.logger() })
	c.becomes("map[c0:2]") // once a term of its own is above it
	if !log.has("fenced") {
		t.Error("it was never fenced: the test shows nothing")
	}
}
