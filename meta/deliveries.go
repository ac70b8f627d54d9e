package meta

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// maxDeliveries is of how many connections is known how far they were given a
// queue's messages: as many as a group may count attempts.
const maxDeliveries = 1000

// Delivered says how far a member was given messages of one of its queues.
type Delivered struct {
	Topic          uuid.UUID
	Queue          uint32
	Epoch, Version int64 // of the assignment, and of the group's offset
	Progress       int64 // the first message that is not finished
	Next           int64 // behind the last message given
}

// MarkDelivered notes how far a member was given messages by a connection. Of a queue
// that it does not have any more nothing is noted.
func (db *DB) MarkDelivered(ctx context.Context, group uuid.UUID, member, connection string, list []Delivered) error {
	args := []any{member, connection, maxDeliveries}
	for _, d := range list {
		args = append(args, sharedField(d.Topic, d.Queue), d.Epoch, d.Version, d.Progress, d.Next)
	}
	if _, err := db.change(ctx, scriptMark, []string{keyGroupMeta(group), keyAssignments(group), keyDeliveries(group)}, args...); err != nil {
		return fmt.Errorf("deliveries of group %s: %w", group, err)
	}
	return nil
}

// Deliveries returns how far other connections were given messages of a queue since
// the group's offset had this version; order says nothing.
func (db *DB) Deliveries(ctx context.Context, group, topic uuid.UUID, queue uint32, version int64, connection string) ([]int64, error) {
	values, err := db.reads.HMGet(ctx, keyDeliveries(group), sharedField(topic, queue)).Result()
	if err != nil {
		return nil, fmt.Errorf("deliveries of group %s: %w", group, err)
	}
	text, _ := values[0].(string)
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != strconv.FormatInt(version, 10) {
		return nil, nil
	}
	var marks []int64
	for i := 1; i+1 < len(words); i += 2 {
		if n, ok := parseNumber(words[i+1]); ok && words[i] != connection {
			marks = append(marks, n)
		}
	}
	return marks, nil
}
