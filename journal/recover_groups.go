package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
)

// heldGroups are the groups that Redis had when a recovery began.
type heldGroups struct {
	groups  map[uuid.UUID]meta.Group
	offsets []replay.GroupOffsets // what Redis says of their progress
}

// holdGroups makes every group that Redis still has refuse everything, and reads
// how far it is: that may be newer than what was logged.
func (j *Journal) holdGroups(ctx context.Context, term int64) (heldGroups, error) {
	held := heldGroups{groups: map[uuid.UUID]meta.Group{}}
	groups, err := j.meta.KnownGroups(ctx)
	if err != nil {
		return held, err
	}
	for _, g := range groups {
		if err := j.meta.HoldGroup(ctx, g.ID, term); err != nil {
			return held, err
		}
		held.groups[g.ID] = g
		records, err := j.meta.AllOffsets(ctx, g.ID)
		if err != nil {
			return held, err
		}
		held.offsets = append(held.offsets, replay.GroupOffsets{Group: g.ID, Records: records})
		clients, err := j.meta.BroadcastOffsets(ctx, g.ID)
		if err != nil {
			return held, err
		}
		for _, c := range clients {
			held.offsets = append(held.offsets, replay.GroupOffsets{Group: g.ID, Client: c.ClientID, Records: c.Offsets})
		}
	}
	return held, nil
}

// restoreGroups writes the planned groups into Redis. Members have to join again.
// A group that Redis had and the log does not know was never answered: it keeps
// its definition, without progress, unless the log holds its tombstone.
func (j *Journal) restoreGroups(ctx context.Context, plan replay.Plan, held heldGroups, term int64) error {
	for _, g := range plan.Groups {
		g.Snapshot.Term = term
		if err := j.meta.RestoreGroup(ctx, g.Snapshot); err != nil {
			return fmt.Errorf("restore group %s: %w", g.Snapshot.Group.Name, err)
		}
		delete(held.groups, g.Snapshot.Group.ID)
	}
	for id, g := range held.groups {
		err := j.meta.RestoreGroup(ctx, meta.GroupSnapshot{Group: g, Term: term})
		if err == nil && plan.EndedGroups[id] {
			_, err = j.meta.DeleteGroup(ctx, g.Name, 0, true)
		}
		if err != nil && !errors.Is(err, meta.ErrGroupNotFound) {
			return fmt.Errorf("restore group %s: %w", g.Name, err)
		}
	}
	return nil
}
