package journal

import (
	"context"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal/replay"
	"github.com/bucketmq/bucketmq/meta"
)

// Kinds of the control records that hold the state of consumer groups.
const (
	controlGroup         = "group"          // a meta.Group
	controlGroupSettings = "group_settings" // a replay.GroupSettings
	controlGroupOffsets  = "group_offsets"  // a replay.GroupOffsets
)

// RecordGroup makes the definition of a group durable, or its tombstone. Errors
// are those of Control.
func (j *Journal) RecordGroup(ctx context.Context, g meta.Group) error {
	return j.Control(ctx, controlGroup, &g)
}

// RecordGroupSettings makes the settings of a group for one topic durable.
func (j *Journal) RecordGroupSettings(ctx context.Context, group uuid.UUID, s meta.Settings) error {
	return j.Control(ctx, controlGroupSettings, &replay.GroupSettings{Group: group, Settings: s})
}

// RecordGroupOffsets makes the progress of a group durable, or that of one client
// of a broadcasting group. A recovery takes the newest record of each queue: what
// was consumed after it is consumed again, and nothing is skipped.
func (j *Journal) RecordGroupOffsets(ctx context.Context, group uuid.UUID, client string, records []meta.OffsetRecord) error {
	if len(records) == 0 {
		return nil
	}
	return j.Control(ctx, controlGroupOffsets, &replay.GroupOffsets{Group: group, Client: client, Records: records})
}
