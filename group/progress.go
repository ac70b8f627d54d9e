package group

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// moved are the groups whose progress is newer than the log. The zero value is
// ready.
type moved struct {
	mu     sync.Mutex
	groups map[uuid.UUID]struct{} // guarded by mu
}

func (m *moved) add(group uuid.UUID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups == nil {
		m.groups = map[uuid.UUID]struct{}{}
	}
	m.groups[group] = struct{}{}
}

func (m *moved) take() map[uuid.UUID]struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.groups
	m.groups = nil
	return taken
}

// record writes the progress of every group that has moved to the log. What
// cannot be written is kept for the next time.
func (g *Groups) record(ctx context.Context) error {
	var errs []error
	for id := range g.moved.take() {
		err := g.recordGroup(ctx, id)
		if errors.Is(err, meta.ErrGroupNotFound) {
			continue
		}
		if err != nil {
			g.moved.add(id)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (g *Groups) recordGroup(ctx context.Context, id uuid.UUID) error {
	records, err := g.options.Meta.AllOffsets(ctx, id)
	if err != nil {
		return unavailable(err)
	}
	clients, err := g.options.Meta.BroadcastOffsets(ctx, id)
	if err != nil {
		return unavailable(err)
	}
	for _, c := range clients {
		if err := g.options.Journal.RecordGroupOffsets(ctx, id, c.ClientID, c.Offsets); err != nil {
			return err
		}
	}
	return g.options.Journal.RecordGroupOffsets(ctx, id, "", records)
}

// begin gives the group a start, by its consume_from, in each queue of the topics
// that it has no offset in, and returns once that is durable: a loss of Redis then
// leads back there, and skips nothing.
func (g *Groups) begin(ctx context.Context, definition meta.Group, topics []meta.Topic) error {
	starts, err := g.starts(ctx, definition, topics)
	if err != nil {
		return err
	}
	if err := g.options.Meta.InitOffsets(ctx, definition.ID, 0, starts); err != nil {
		return unavailable(err)
	}
	return g.recordGroup(ctx, definition.ID)
}

// starts finds where the group would begin in each queue of the topics.
func (g *Groups) starts(ctx context.Context, definition meta.Group, topics []meta.Topic) ([]meta.OffsetStart, error) {
	var starts []meta.OffsetStart
	for _, topic := range topics {
		queues, err := g.options.Meta.Queues(ctx, topic)
		if err != nil {
			return nil, unavailable(err)
		}
		for _, q := range queues {
			start := meta.OffsetStart{Topic: topic.ID, Queue: q.Queue, First: q.Next, Min: q.Min}
			switch {
			case definition.ConsumeFrom == meta.ConsumeFromFirst, journal.IsRetryTopic(topic.Name):
				start.First = q.Min
			case definition.ConsumeFrom == meta.ConsumeFromTimestamp:
				if start.First, err = g.options.Journal.Find(ctx, topic, q.Queue, definition.ConsumeTimestamp); err != nil {
					return nil, err
				}
			}
			starts = append(starts, start)
		}
	}
	return starts, nil
}

// QueueProgress is how far a group is in one queue.
type QueueProgress struct {
	Topic string
	Type  meta.TopicType // of the topic
	meta.OffsetRecord
	// Member and Client say who owns the queue; when broadcasting, Client is whose
	// progress it is, and Member is empty once it has gone.
	Member, Client string
	Begun          bool // the group has an offset in the queue; else Offset is where it would begin
	Min, Next      int64
	Lag            int64 // messages from Offset on; of a filtered subscription also those that will not pass
	LagMS          int64 // how long the next message has been waiting; 0 without one
	LagKnown       bool  // false: the topic could not be asked, and Min to LagMS say nothing
	LagExceeded    bool  // Lag is above the max_lag of the group's settings for the topic
}

// Progress returns how far a group is in every queue of the topics that it
// consumes, or those named, by topic, queue and client. A broadcasting group has
// one for each client that is known. It takes the clock of Redis.
func (g *Groups) Progress(ctx context.Context, name string, topics ...string) ([]QueueProgress, error) {
	definition, err := g.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	state, err := g.options.Meta.GroupState(ctx, definition.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	sets, err := g.progressSets(ctx, definition, &state)
	if err != nil {
		return nil, err
	}
	settings, err := g.options.Meta.GroupSettings(ctx, definition.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	known := map[uuid.UUID]*meta.Topic{}
	var all []QueueProgress
	for _, set := range sets {
		for id, queues := range set.records {
			topic, asked := known[id]
			if !asked {
				found, err := g.options.Meta.TopicByID(ctx, id)
				if err != nil && !errors.Is(err, meta.ErrTopicNotFound) {
					return nil, unavailable(err)
				}
				if topic = &found; err != nil || len(topics) > 0 && !slices.Contains(topics, found.Name) {
					topic = nil // it has ended, or is not asked for
				}
				known[id] = topic
			}
			if topic == nil {
				continue
			}
			rows := g.topicProgress(ctx, *topic, queues, state.Now)
			for i := range rows {
				most := settings[id].MaxLag
				rows[i].LagExceeded = rows[i].LagKnown && most > 0 && rows[i].Lag > most
				rows[i].Member, rows[i].Client = set.who(rows[i].OffsetRecord.Topic, rows[i].Queue)
			}
			all = append(all, rows...)
		}
	}
	slices.SortFunc(all, func(a, b QueueProgress) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Client, b.Client))
	})
	return all, nil
}

// progressSet is the progress of a group, or of one client of a broadcasting one.
type progressSet struct {
	records map[uuid.UUID]map[uint32]meta.OffsetRecord
	who     func(topic uuid.UUID, queue uint32) (member, client string)
}

func newProgressSet(records []meta.OffsetRecord, who func(uuid.UUID, uint32) (string, string)) progressSet {
	set := progressSet{records: map[uuid.UUID]map[uint32]meta.OffsetRecord{}, who: who}
	for _, r := range records {
		if set.records[r.Topic] == nil {
			set.records[r.Topic] = map[uint32]meta.OffsetRecord{}
		}
		set.records[r.Topic][r.Queue] = r
	}
	return set
}

func (g *Groups) progressSets(ctx context.Context, definition meta.Group, state *meta.GroupState) ([]progressSet, error) {
	if definition.Mode != meta.ModeBroadcasting {
		records, err := g.options.Meta.AllOffsets(ctx, definition.ID)
		if err != nil {
			return nil, unavailable(err)
		}
		clients := map[string]string{}
		for _, m := range state.Members {
			clients[m.ID] = m.ClientID
		}
		owners := map[sharedPlace]string{}
		for _, a := range state.Assignments {
			if _, live := clients[a.Owner]; live {
				owners[sharedPlace{a.Topic, a.Queue}] = a.Owner
			}
		}
		return []progressSet{newProgressSet(records, func(topic uuid.UUID, queue uint32) (string, string) {
			owner := owners[sharedPlace{topic, queue}]
			return owner, clients[owner]
		})}, nil
	}
	clients, err := g.options.Meta.BroadcastOffsets(ctx, definition.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	members := map[string]string{}
	for _, m := range state.Members {
		members[m.ClientID] = m.ID
	}
	sets := make([]progressSet, len(clients))
	for i, c := range clients {
		sets[i] = newProgressSet(c.Offsets, func(uuid.UUID, uint32) (string, string) { return members[c.ClientID], c.ClientID })
	}
	return sets, nil
}

// topicProgress adds to the records what the topic says.
func (g *Groups) topicProgress(ctx context.Context, topic meta.Topic, records map[uint32]meta.OffsetRecord, now int64) []QueueProgress {
	states, err := g.options.Meta.Queues(ctx, topic)
	if err != nil {
		g.log.Warn("lag is not known", "topic", topic.Name, "err", err)
		states = make([]meta.QueueState, topic.Queues)
		for q := range states {
			states[q].Queue = uint32(q)
		}
	}
	all := make([]QueueProgress, 0, len(states))
	for _, state := range states {
		p := QueueProgress{Topic: topic.Name, Type: topic.Type, Min: state.Min, Next: state.Next, LagKnown: err == nil}
		p.OffsetRecord, p.Begun = records[state.Queue]
		if !p.Begun {
			p.OffsetRecord = meta.OffsetRecord{Topic: topic.ID, Queue: state.Queue, Offset: state.Min, Start: state.Min}
		}
		if p.LagKnown {
			p.Lag = max(0, state.Next-max(p.Offset, state.Min))
		}
		if p.Lag > 0 {
			if w, err := g.options.Meta.Lookup(ctx, topic.ID, state.Queue, max(p.Offset, state.Min), 1); err == nil && len(w.Entries) > 0 {
				p.LagMS = max(0, now-w.Entries[0].StoredAt)
			} else {
				p.LagKnown = false
			}
		}
		all = append(all, p)
	}
	return all
}

// SetStopped stops the consumption of a queue, or starts it again, and returns the
// record once that is durable. Messages that are hidden may still be acknowledged.
// meta.ErrNoOffset: the group does not consume the queue. A broadcasting group has
// no queue to stop: *journal.InvalidError.
func (g *Groups) SetStopped(ctx context.Context, name, topic string, queue uint32, stopped bool, by string) (meta.OffsetRecord, error) {
	definition, err := g.Get(ctx, name)
	if err != nil {
		return meta.OffsetRecord{}, err
	}
	if definition.Mode == meta.ModeBroadcasting {
		return meta.OffsetRecord{}, invalid("stopped", journal.CodeConflict, ownProgress)
	}
	t, err := g.options.Journal.Topic(ctx, topic)
	if err != nil {
		return meta.OffsetRecord{}, err
	}
	record, err := g.options.Meta.SetStopped(ctx, definition.ID, t.ID, queue, stopped, by)
	if err != nil {
		return meta.OffsetRecord{}, unavailable(err)
	}
	if err := g.options.Journal.RecordGroupOffsets(ctx, definition.ID, "", []meta.OffsetRecord{record}); err != nil {
		return meta.OffsetRecord{}, fmt.Errorf("stop queue %d of topic %s: %w", queue, topic, err)
	}
	return record, nil
}
