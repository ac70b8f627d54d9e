package meta

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// broadcastGrace is how long the progress of a broadcasting client is kept after
// it was last heard of.
const broadcastGrace = 24 * time.Hour

// broadcastClient stands for a client id in keys.
func broadcastClient(client string) string {
	sum := sha256.Sum256([]byte(client))
	return hex.EncodeToString(sum[:16])
}

// touchBroadcast keeps the progress of a client for another broadcastGrace.
func (db *DB) touchBroadcast(ctx context.Context, group uuid.UUID, client string, starts []OffsetStart) error {
	topics := map[uuid.UUID]bool{}
	for _, s := range starts {
		topics[s.Topic] = true
	}
	pipe := db.reads.Pipeline()
	pipe.HSet(ctx, keyBroadcastClients(group), broadcastClient(client), client)
	for topic := range topics {
		pipe.PExpire(ctx, keyBroadcast(group, broadcastClient(client), topic), broadcastGrace)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("keep the progress of client %s: %w", client, err)
	}
	return nil
}

// TouchBroadcast keeps the progress of a broadcasting client for another day; its
// member calls it while it lives.
func (db *DB) TouchBroadcast(ctx context.Context, group uuid.UUID, client string, topics []uuid.UUID) error {
	starts := make([]OffsetStart, len(topics))
	for i, topic := range topics {
		starts[i].Topic = topic
	}
	return db.touchBroadcast(ctx, group, client, starts)
}

// InitBroadcast gives a broadcasting client start offsets in queues that it has
// none in, and keeps its progress for another day.
func (db *DB) InitBroadcast(ctx context.Context, group uuid.UUID, client string, starts []OffsetStart) error {
	of := func(topic uuid.UUID) string { return keyBroadcast(group, broadcastClient(client), topic) }
	keys, topics, args := startArguments([]string{keyGroupMeta(group), keyGroupTopics(group)}, starts, of)
	args = append([]any{0, client, topics}, args...)
	if _, err := db.change(ctx, scriptInitOffsets, keys, args...); err != nil {
		return fmt.Errorf("start offsets of client %s: %w", client, err)
	}
	return db.touchBroadcast(ctx, group, client, starts)
}

// BroadcastProgress is how far one client of a broadcasting group is.
type BroadcastProgress struct {
	ClientID string
	Offsets  []OffsetRecord
}

// BroadcastClient returns the progress of one client in a topic, in no order.
func (db *DB) BroadcastClient(ctx context.Context, group uuid.UUID, client string, topic uuid.UUID) ([]OffsetRecord, error) {
	return db.offsetsIn(ctx, keyBroadcast(group, broadcastClient(client), topic), topic)
}

// BroadcastOffsets returns the progress of every client that is known, also of
// those that left within a day. Clients of which nothing is left are forgotten.
func (db *DB) BroadcastOffsets(ctx context.Context, group uuid.UUID) ([]BroadcastProgress, error) {
	clients, err := db.reads.HGetAll(ctx, keyBroadcastClients(group)).Result()
	if err != nil {
		return nil, fmt.Errorf("clients of group %s: %w", group, err)
	}
	topics, err := db.groupTopics(ctx, group)
	if err != nil {
		return nil, err
	}
	var all []BroadcastProgress
	for digest, client := range clients {
		progress := BroadcastProgress{ClientID: client}
		for _, topic := range topics {
			records, err := db.offsetsIn(ctx, keyBroadcast(group, digest, topic), topic)
			if err != nil {
				return nil, err
			}
			progress.Offsets = append(progress.Offsets, records...)
		}
		if len(progress.Offsets) == 0 {
			if err := db.reads.HDel(ctx, keyBroadcastClients(group), digest).Err(); err != nil {
				return nil, fmt.Errorf("forget client %s: %w", client, err)
			}
			continue
		}
		all = append(all, progress)
	}
	return all, nil
}
