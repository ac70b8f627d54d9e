package meta

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// knownBatch is how many topics one step of KnownTopics reads.
const knownBatch = 1000

// KnownTopics returns every topic that Redis has a name and a state of, also
// while Redis is not ready. It is for a recovery, which must hold them all.
func (db *DB) KnownTopics(ctx context.Context) ([]Topic, error) {
	var topics []Topic
	for after := "-"; ; {
		names, err := db.reads.ZRangeByLex(ctx, keyNames, &redis.ZRangeBy{Min: after, Max: "+", Count: knownBatch}).Result()
		if err != nil {
			return nil, fmt.Errorf("list every topic: %w", err)
		}
		if len(names) == 0 {
			return topics, nil
		}
		page, err := db.topicsNamed(ctx, names)
		if err != nil {
			return nil, fmt.Errorf("list every topic: %w", err)
		}
		topics = append(topics, page...)
		after = "(" + names[len(names)-1]
	}
}
