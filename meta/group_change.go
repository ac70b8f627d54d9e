package meta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// CreateGroup registers g under its name. A zero ID is filled in; Version starts
// at 1; the times are Redis'. The name taken: *GroupExistsError. It claims the
// name first, like CreateTopic.
func (db *DB) CreateGroup(ctx context.Context, g Group) (Group, error) {
	created, err := db.createGroup(ctx, g)
	if err != nil {
		return Group{}, fmt.Errorf("create group %s: %w", g.Name, err)
	}
	return created, nil
}

func (db *DB) createGroup(ctx context.Context, g Group) (Group, error) {
	now, err := db.Now(ctx)
	if err != nil {
		return Group{}, err
	}
	own := g.ID
	if own == uuid.Nil {
		if own, err = uuid.NewV7(); err != nil {
			return Group{}, err
		}
	}
	g.Version, g.Deleted, g.CreatedAt, g.UpdatedAt = 1, false, now, now
	for range casTries {
		r, err := db.change(ctx, scriptClaimName, []string{keyState, keyGroups, keyGroupNames}, g.Name, own.String())
		if err != nil {
			return Group{}, err
		}
		if g.ID, err = uuid.Parse(r.text(1)); err != nil {
			return Group{}, fmt.Errorf("%w: id of group %s", ErrCorrupt, g.Name)
		}
		current, err := db.writeNewGroup(ctx, g)
		if err != nil {
			return Group{}, err
		}
		switch {
		case current == nil:
			return g, nil
		case !current.Deleted:
			return Group{}, &GroupExistsError{Current: *current}
		case g.ID == own: // the id given to us was used and deleted before
			return Group{}, fmt.Errorf("id %s of a deleted group", own)
		}
		if err := db.cleanGroup(ctx, *current); err != nil { // its deletion ended halfway
			return Group{}, err
		}
	}
	return Group{}, errors.New("too many others want the name")
}

// writeNewGroup writes the state of a group, or returns what is there.
func (db *DB) writeNewGroup(ctx context.Context, g Group) (*Group, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	r, err := db.change(ctx, scriptCreateGroup, []string{keyGroupMeta(g.ID)},
		text, formatNumber(g.Version), channelGroups, groupNotice(g.ID, ChangedGroup))
	if err != nil || r.status() == "CREATED" {
		return nil, err
	}
	current, err := groupsByName.parse(r.text(1), nil)
	return &current, err
}

// UpdateGroup replaces the definition of the group with g.ID (or, when that is
// zero, g.Name) if its version is ifVersion; 0 stands for any version. Name, ID
// and creation time stay. *GroupConflictError, ErrGroupNotFound.
func (db *DB) UpdateGroup(ctx context.Context, g Group, ifVersion int64) (Group, error) {
	updated, err := db.changeGroup(ctx, g.ID, g.Name, ifVersion, false, func(current Group) Group {
		next := g
		next.ID, next.Name, next.CreatedAt, next.Deleted = current.ID, current.Name, current.CreatedAt, false
		return next
	})
	if err != nil {
		return Group{}, fmt.Errorf("update group %s: %w", g.Name, err)
	}
	return updated, nil
}

// DeleteGroup ends the group: its name is free, its members and offsets are gone.
// It returns the tombstone. ErrGroupActive: it has members, and force is not set.
func (db *DB) DeleteGroup(ctx context.Context, name string, ifVersion int64, force bool) (Group, error) {
	deleted, err := db.changeGroup(ctx, uuid.Nil, name, ifVersion, force, func(current Group) Group {
		current.Deleted = true
		return current
	})
	if err == nil {
		err = db.cleanGroup(ctx, deleted)
	}
	if err != nil {
		return Group{}, fmt.Errorf("delete group %s: %w", name, err)
	}
	return deleted, nil
}

// changeGroup applies change to the current state and writes it under the next version.
func (db *DB) changeGroup(ctx context.Context, id uuid.UUID, name string, ifVersion int64, force bool, change func(Group) Group) (Group, error) {
	now, err := db.Now(ctx)
	if err != nil {
		return Group{}, err
	}
	for range casTries {
		var current Group
		if id == uuid.Nil {
			current, err = groupsByName.find(ctx, db, name)
		} else {
			current, err = groupsByName.live(ctx, db, id)
		}
		if err != nil {
			return Group{}, err
		}
		if ifVersion != 0 && ifVersion != current.Version {
			return Group{}, &GroupConflictError{Current: current}
		}
		next := change(current)
		next.Version = current.Version + 1
		next.UpdatedAt = max(now, current.UpdatedAt)
		won, err := db.writeGroup(ctx, next, current.Version, force)
		if err != nil {
			return Group{}, err
		}
		if won {
			return next, nil
		}
	}
	return Group{}, errors.New("too many others change the group")
}

func (db *DB) writeGroup(ctx context.Context, g Group, ifVersion int64, force bool) (won bool, err error) {
	text, err := json.Marshal(g)
	if err != nil {
		return false, err
	}
	state := "live"
	if g.Deleted {
		state = "deleted"
	}
	r, err := db.change(ctx, scriptUpdateGroup, []string{keyGroupMeta(g.ID), keyMembers(g.ID)},
		formatNumber(ifVersion), text, formatNumber(g.Version), state, flag(force), channelGroups, groupNotice(g.ID, ChangedGroup))
	if err != nil {
		return false, err
	}
	return r.status() == "OK", nil
}

// cleanGroup removes what a deleted group leaves behind, its name last. The
// tombstone stays, so that a late commit is refused.
func (db *DB) cleanGroup(ctx context.Context, g Group) error {
	keys, err := db.groupKeys(ctx, g.ID)
	if err != nil {
		return err
	}
	if err := db.unlink(ctx, keys); err != nil {
		return err
	}
	_, err = db.change(ctx, scriptFreeName, []string{keyGroups, keyGroupNames}, g.Name, g.ID.String())
	return err
}

// groupKeys lists the keys that a group may have besides its definition.
func (db *DB) groupKeys(ctx context.Context, group uuid.UUID) ([]string, error) {
	topics, err := db.groupTopics(ctx, group)
	if err != nil {
		return nil, err
	}
	clients, err := db.reads.HKeys(ctx, keyBroadcastClients(group)).Result()
	if err != nil {
		return nil, err
	}
	keys := []string{
		keyMembers(group), keyBeats(group), keyClients(group), keyFenced(group), keyRefused(group),
		keyAssignments(group), keyDeliveries(group), keySettings(group), keyLeases(group),
	}
	for _, topic := range topics {
		queues, err := db.reads.HKeys(ctx, keyOffsets(group, topic)).Result()
		if err != nil {
			return nil, err
		}
		for _, text := range queues {
			if queue, ok := parseQueue(text); ok {
				keys = append(keys, sharedKeys(group, topic, queue)...)
			}
		}
		keys = append(keys, keyOffsets(group, topic))
		for _, client := range clients {
			keys = append(keys, keyBroadcast(group, client, topic))
		}
	}
	return append(keys, keyBroadcastClients(group), keyGroupTopics(group)), nil
}
