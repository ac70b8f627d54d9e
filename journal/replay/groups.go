package replay

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// GroupSettings is what a control record says of a group's settings for a topic.
type GroupSettings struct {
	Group    uuid.UUID     `json:"group"`
	Settings meta.Settings `json:"settings"`
}

// GroupOffsets is what a control record says of a group's progress, or of that of
// one client of a broadcasting group.
type GroupOffsets struct {
	Group   uuid.UUID           `json:"group"`
	Client  string              `json:"client,omitempty"`
	Records []meta.OffsetRecord `json:"records"`
}

// Group is one group as replayed.
type Group struct {
	Snapshot meta.GroupSnapshot
	// Rewound are the records that this replay moved back, under a new version,
	// because offsets were given anew. They must be durable before the group is
	// opened: otherwise another replay could take the older ones.
	Rewound []GroupOffsets
}

// progress names one offset record.
type progress struct {
	client string
	topic  uuid.UUID
	queue  uint32
}

// groupLog is what the log says of one group.
type groupLog struct {
	group    meta.Group // zero: its definition is in no readable record
	settings map[uuid.UUID]meta.Settings
	offsets  map[progress]meta.OffsetRecord
}

func (l *log) groupOf(id uuid.UUID) *groupLog {
	if l.groups[id] == nil {
		l.groups[id] = &groupLog{settings: map[uuid.UUID]meta.Settings{}, offsets: map[progress]meta.OffsetRecord{}}
	}
	return l.groups[id]
}

// addGroups takes the states of groups: of each the one of the highest version.
func (l *log) addGroups(s *Segment) {
	for _, g := range s.Groups {
		if known := l.groupOf(g.ID); g.Version > known.group.Version {
			known.group = g
		}
	}
	for _, set := range s.Settings {
		settings := l.groupOf(set.Group).settings
		if set.Settings.Version > settings[set.Settings.Topic].Version {
			settings[set.Settings.Topic] = set.Settings
		}
	}
	for _, o := range s.Offsets {
		l.addOffsets(o)
	}
}

// addOffsets keeps of each record the newest: a reset raises the version, and
// within one the time tells, as a commit policy may let offsets go back.
func (l *log) addOffsets(o GroupOffsets) {
	offsets := l.groupOf(o.Group).offsets
	for _, r := range o.Records {
		at := progress{o.Client, r.Topic, r.Queue}
		old, known := offsets[at]
		if !known || cmp.Or(cmp.Compare(r.Version, old.Version), cmp.Compare(r.UpdatedAt, old.UpdatedAt), cmp.Compare(old.Offset, r.Offset)) > 0 {
			offsets[at] = r
		}
	}
}

// replayGroups decides which groups exist and how far each of them is, given the
// topics as replayed.
func (l *log) replayGroups(plan *Plan) {
	topics := make(map[uuid.UUID]*Topic, len(plan.Topics))
	for i := range plan.Topics {
		topics[plan.Topics[i].Snapshot.Topic.ID] = &plan.Topics[i]
	}
	named := map[string]uuid.UUID{} // the living group of a name: the one created last
	for id, g := range l.groups {
		if other, ok := l.groups[named[g.group.Name]]; !g.group.Deleted && g.group.ID != uuid.Nil && (!ok || g.group.CreatedAt > other.group.CreatedAt) {
			named[g.group.Name] = id
		}
	}
	for id, g := range l.groups {
		switch {
		case g.group.ID == uuid.Nil: // its definition was never answered
		case g.group.Deleted || named[g.group.Name] != id:
			plan.EndedGroups[id] = true
		default:
			plan.Groups = append(plan.Groups, g.replay(topics, l.opts.Now))
		}
	}
	slices.SortFunc(plan.Groups, func(a, b Group) int { return compareIDs(a.Snapshot.Group.ID, b.Snapshot.Group.ID) })
}

func (g *groupLog) replay(topics map[uuid.UUID]*Topic, now int64) Group {
	out := Group{Snapshot: meta.GroupSnapshot{Group: g.group, Broadcast: map[string][]meta.OffsetRecord{}}}
	for topic, s := range g.settings {
		if topics[topic] != nil {
			out.Snapshot.Settings = append(out.Snapshot.Settings, s)
		}
	}
	rewound := map[string][]meta.OffsetRecord{}
	for at, r := range g.offsets {
		t := topics[at.topic]
		if t == nil {
			continue // the topic has ended
		}
		if limit, moved := t.limit(at.queue); r.Offset > limit {
			r.Offset, r.Version, r.UpdatedAt, r.By = limit, r.Version+1, max(now, r.UpdatedAt), "recovery"
			if !moved {
				r.By = "recovery: beyond the end"
			}
			rewound[at.client] = append(rewound[at.client], r)
		}
		if at.client == "" {
			out.Snapshot.Offsets = append(out.Snapshot.Offsets, r)
		} else {
			out.Snapshot.Broadcast[at.client] = append(out.Snapshot.Broadcast[at.client], r)
		}
	}
	for client, records := range rewound {
		out.Rewound = append(out.Rewound, GroupOffsets{Group: g.group.ID, Client: client, Records: records})
	}
	return out
}

// limit is the highest offset of a queue that a group may keep: up to there every
// message has the offset that it had. moved says that later ones have others.
func (t *Topic) limit(queue uint32) (limit int64, moved bool) {
	if first, ok := t.Renumbered[queue]; ok {
		return first, true
	}
	return t.Snapshot.Queues[queue].Next, false
}
