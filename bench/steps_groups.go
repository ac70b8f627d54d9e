package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	groupQueues  = 1000
	groupMembers = 100
	// groupRest is how long the coordinator leaves a group alone that it has just
	// changed, and a little more.
	groupRest      = 1200 * time.Millisecond
	groupSession   = 10 * time.Minute
	commitWorkers  = 8
	commitQueues   = 100 // in a commit of many
	groupsWaitMost = 30 * time.Second
)

const (
	figureRebalance     = "rebalance of 1,000 queues × 100 members, ms"
	figureCommits       = "offset commits of one queue, /s"
	figureCommitsRaw    = "offset commits of one queue ÷ raw Redis script"
	figureCommittedMany = "offsets committed, 100 in a commit, /s"
)

// roundGroups measures how soon a coordinator has written another assignment
// when a member comes and when one goes, and how fast offsets are committed.
// Both are a matter of Redis alone, so no gateway is in between.
func (s *suite) roundGroups(ctx context.Context) error {
	options, err := meta.ParseURL([]string{s.out.redis})
	if err != nil {
		return err
	}
	db, err := meta.Open(ctx, options)
	if err != nil {
		return err
	}
	defer db.Close()
	o := s.options(s.first.Server, ModeJSON, 1)
	o.Queues = groupQueues
	_, name, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	topic, err := db.Topic(ctx, name)
	if err != nil {
		return err
	}
	if err := s.rebalances(ctx, db, topic); err != nil {
		return err
	}
	return s.commits(ctx, db, topic)
}

// rebalances measures with a group of its own.
func (s *suite) rebalances(ctx context.Context, db *meta.DB, topic meta.Topic) error {
	coordinator, err := s.startCoordinator(ctx)
	if err != nil {
		return err
	}
	defer coordinator.Kill()
	g, err := newBenchGroup(ctx, db, topic)
	if err != nil {
		return err
	}
	defer g.remove(ctx)
	changes, stop := g.listen(ctx)
	defer stop()
	for i := range groupMembers - 1 {
		if _, err := g.join(ctx, i); err != nil {
			return err
		}
	}
	if err := g.settle(ctx, groupMembers-1); err != nil {
		return err
	}
	var last string
	came, err := g.timed(ctx, changes, func() (err error) { last, err = g.join(ctx, groupMembers); return err })
	if err != nil {
		return fmt.Errorf("a member comes: %w", err)
	}
	if err := g.settle(ctx, groupMembers); err != nil {
		return err
	}
	went, err := g.timed(ctx, changes, func() error { return db.Leave(ctx, g.ID, last) })
	if err != nil {
		return fmt.Errorf("a member goes: %w", err)
	}
	s.note(figureRebalance, milliseconds(max(came, went)))
	return nil
}

func (s *suite) startCoordinator(ctx context.Context) (*Child, error) {
	env := []string{"BUCKETMQ_S3_ACCESS_KEY=" + benchAccessKey, "BUCKETMQ_S3_SECRET_KEY=" + benchSecretKey}
	return Start(ctx, s.Binary, env, "coordinator", "--redis", s.out.redis, "--s3-endpoint", s.out.s3,
		"--s3-bucket", benchBucket, "--s3-prefix", "mq/", "--management-listen", "127.0.0.1:0", "--leader-lease", "1s")
}

// commits measures with a group that has no members: its queues are free.
func (s *suite) commits(ctx context.Context, db *meta.DB, topic meta.Topic) error {
	g, err := newBenchGroup(ctx, db, topic)
	if err != nil {
		return err
	}
	defer g.remove(ctx)
	if err := db.InitOffsets(ctx, g.ID, 0, g.starts()); err != nil {
		return err
	}
	one, err := g.commitFor(ctx, 1, s.Step/4)
	if err != nil {
		return err
	}
	many, err := g.commitFor(ctx, commitQueues, s.Step/4)
	if err != nil {
		return err
	}
	raw, err := rawRedis(ctx, s.out.redis, commitWorkers, s.Step/4)
	if err != nil {
		return err
	}
	s.note(figureCommits, one)
	s.note(figureCommitsRaw, one/raw.PerSecond)
	s.note(figureCommittedMany, many*commitQueues)
	return nil
}

// benchGroup is a group that consumes one topic.
type benchGroup struct {
	meta.Group
	db    *meta.DB
	topic meta.Topic
}

func newBenchGroup(ctx context.Context, db *meta.DB, topic meta.Topic) (*benchGroup, error) {
	g, err := db.CreateGroup(ctx, meta.Group{
		Name: "bench-" + uuid.NewString(), Mode: meta.ModeClustering, Strategy: "averagely",
		RevokeTimeoutMS: 1, // nobody is there to give a queue back
	})
	return &benchGroup{g, db, topic}, err
}

func (g *benchGroup) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, _ = g.db.DeleteGroup(ctx, g.Name, 0, true) // a leftover group harms nobody
}

func (g *benchGroup) starts() []meta.OffsetStart {
	starts := make([]meta.OffsetStart, g.topic.Queues)
	for q := range starts {
		starts[q] = meta.OffsetStart{Topic: g.topic.ID, Queue: uint32(q)}
	}
	return starts
}

// join makes a member. The coordinator gives offsets to the queues.
func (g *benchGroup) join(ctx context.Context, number int) (id string, err error) {
	joined, err := g.db.Join(ctx, meta.JoinRequest{Group: g.ID, Timeout: groupSession, Member: meta.Member{
		ClientID: fmt.Sprint("client-", number), Kind: meta.KindQueue,
		Subscriptions: []meta.Subscription{{Topic: g.topic.Name, TopicID: g.topic.ID}},
	}})
	return joined.Member.ID, err
}

// listen tells when the group's assignment was written, as far as hints go.
func (g *benchGroup) listen(ctx context.Context) (changes <-chan time.Time, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	all := make(chan time.Time, 100)
	feed := g.db.NewFeed(func(n meta.Notice) {
		if n.GroupChanged == g.ID && n.GroupWhat == meta.ChangedAssignment {
			select {
			case all <- time.Now():
			default: // nobody reads
			}
		}
	})
	var running sync.WaitGroup
	running.Go(func() { _ = feed.Run(ctx) }) // ends with ctx
	return all, func() { cancel(); running.Wait() }
}

// settle waits until the members own all queues and the coordinator would look
// at the group at once.
func (g *benchGroup) settle(ctx context.Context, members int) error {
	began := time.Now()
	for {
		state, err := g.db.GroupState(ctx, g.ID)
		if err != nil {
			return err
		}
		owners, owned := map[string]bool{}, 0
		for _, a := range state.Assignments {
			if a.State == meta.StateOwned {
				owners[a.Owner] = true
				owned++
			}
		}
		if owned == groupQueues && len(owners) == members {
			break
		}
		if time.Since(began) > groupsWaitMost {
			return fmt.Errorf("%d of %d queues have %d of %d owners after %v", owned, groupQueues, len(owners), members, groupsWaitMost)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return pause(ctx, groupRest)
}

// timed makes a change and returns how long after it the next generation was
// written.
func (g *benchGroup) timed(ctx context.Context, changes <-chan time.Time, change func() error) (time.Duration, error) {
	before, err := g.db.GroupState(ctx, g.ID)
	if err != nil {
		return 0, err
	}
	for len(changes) > 0 {
		<-changes
	}
	began := time.Now()
	if err := change(); err != nil {
		return 0, err
	}
	select {
	case at := <-changes:
		state, err := g.db.GroupState(ctx, g.ID)
		if err == nil && state.Generation != before.Generation+1 {
			err = fmt.Errorf("generation %d became %d: %s", before.Generation, state.Generation, state.Reason)
		}
		return at.Sub(began), err
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(groupsWaitMost):
		return 0, errors.New("no new assignment")
	}
}

// commitFor commits offsets of several queues at once, flat out, and returns how
// many commits there were in a second.
func (g *benchGroup) commitFor(ctx context.Context, queues int, length time.Duration) (float64, error) {
	sum, err := load{workers: commitWorkers, length: length}.run(ctx, func(ctx context.Context, n int) (func() error, func(), error) {
		commits := make([]meta.OffsetCommit, queues)
		for i := range commits {
			commits[i] = meta.OffsetCommit{Topic: g.topic.ID, Queue: uint32(n*queues + i), Version: 1}
		}
		records, err := g.db.Offsets(ctx, g.ID, g.topic.ID)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range records {
			if i := int(r.Queue) - n*queues; i >= 0 && i < queues {
				commits[i].Offset = r.Offset
			}
		}
		return func() error {
			for i := range commits {
				commits[i].Offset++
			}
			results, err := g.db.CommitOffsets(ctx, g.ID, meta.Committer{By: "bench"}, commits)
			if err == nil && results[0].Status != meta.OffsetStored {
				err = fmt.Errorf("a commit of %d came to: %s", commits[0].Offset, results[0].Status)
			}
			return err
		}, func() {}, nil
	})
	if err != nil {
		return 0, err
	}
	if sum.errors > 0 {
		return 0, fmt.Errorf("%d commits failed: %w", sum.errors, sum.firstError)
	}
	return sum.raw(0).PerSecond, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
