package meta

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// GroupSnapshot is what is kept of a group over the loss of Redis. Members and
// what was in flight are not.
type GroupSnapshot struct {
	Group     Group
	Settings  []Settings
	Offsets   []OffsetRecord
	Broadcast map[string][]OffsetRecord // client id → its progress
	Term      int64                     // of the recovery lease: a lower one than seen before is fenced
}

// HoldGroup makes a group answer ErrRecovering, before its log is read, so that
// nothing is committed between reading and RestoreGroup. ErrFenced.
func (db *DB) HoldGroup(ctx context.Context, group uuid.UUID, term int64) error {
	if _, err := db.change(ctx, scriptHoldGroup, []string{keyGroupMeta(group)}, formatNumber(term)); err != nil {
		return fmt.Errorf("hold group %s: %w", group, err)
	}
	return nil
}

// RestoreGroup replaces everything of a group; until it returns nil the group
// answers ErrRecovering. It may be repeated after any error. ErrFenced: a newer
// recovery took over.
func (db *DB) RestoreGroup(ctx context.Context, s GroupSnapshot) error {
	if err := db.HoldGroup(ctx, s.Group.ID, s.Term); err != nil {
		return err
	}
	for _, step := range []func(context.Context, *GroupSnapshot) error{db.clearGroup, db.restoreProgress, db.openGroup, db.nameGroup} {
		if err := step(ctx, &s); err != nil {
			return fmt.Errorf("restore group %s: %w", s.Group.ID, err)
		}
	}
	return nil
}

func (db *DB) clearGroup(ctx context.Context, s *GroupSnapshot) error {
	keys, err := db.groupKeys(ctx, s.Group.ID)
	if err != nil {
		return err
	}
	return db.unlink(ctx, keys)
}

func (db *DB) restoreProgress(ctx context.Context, s *GroupSnapshot) error {
	if err := db.restoreOffsets(ctx, s, groupHash(s.Group.ID), s.Offsets); err != nil {
		return err
	}
	for client, records := range s.Broadcast {
		of := func(topic uuid.UUID) string { return keyBroadcast(s.Group.ID, broadcastClient(client), topic) }
		if err := db.restoreOffsets(ctx, s, of, records); err != nil {
			return err
		}
		topics := make([]OffsetStart, len(records))
		for i, r := range records {
			topics[i].Topic = r.Topic
		}
		if err := db.touchBroadcast(ctx, s.Group.ID, client, topics); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) restoreOffsets(ctx context.Context, s *GroupSnapshot, of func(uuid.UUID) string, records []OffsetRecord) error {
	for part := range slices.Chunk(records, offsetsPerScript) {
		h := newHashes([]string{keyGroupMeta(s.Group.ID), keyGroupTopics(s.Group.ID)}, of)
		var rows []any
		for i := range part {
			rows = append(rows, h.at(part[i].Topic), queueField(part[i].Queue), part[i].text())
		}
		args := append([]any{formatNumber(s.Term), strings.Join(h.topics, " ")}, rows...)
		if err := db.restore(ctx, scriptRestoreOffsets, h.keys, args...); err != nil {
			return err
		}
	}
	return nil
}

// text is the record as lua/offset.lua writes it.
func (r *OffsetRecord) text() string {
	return fmt.Sprintf("%d %d %d %s %d %d %s", r.Offset, r.Version, r.Start, flag(r.Stopped), r.UpdatedAt, r.CreatedAt, r.By)
}

func (db *DB) openGroup(ctx context.Context, s *GroupSnapshot) error {
	text, err := json.Marshal(s.Group)
	if err != nil {
		return err
	}
	args := []any{formatNumber(s.Term), text, formatNumber(s.Group.Version), channelGroups, groupNotice(s.Group.ID, ChangedGroup)}
	for _, settings := range s.Settings {
		text, err := json.Marshal(settings)
		if err != nil {
			return err
		}
		args = append(args, settings.Topic.String(), text)
	}
	return db.restore(ctx, scriptRestoreGroup, []string{keyGroupMeta(s.Group.ID), keySettings(s.Group.ID)}, args...)
}

// nameGroup comes last: a name never leads to a group that is not there yet.
func (db *DB) nameGroup(ctx context.Context, s *GroupSnapshot) error {
	return groupsByName.give(ctx, db, s.Group.Name, s.Group.ID)
}
