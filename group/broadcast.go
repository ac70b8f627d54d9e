package group

import (
	"context"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// beginBroadcast gives a broadcasting member the queues that its topics have got
// since it joined, at their minimum.
func (g *Groups) beginBroadcast(ctx context.Context, m *member) error {
	for _, s := range m.Subscriptions {
		topic, err := g.options.Journal.Topic(ctx, s.Topic)
		if err != nil {
			return err
		}
		records, err := g.recordsOf(ctx, m.definition.ID, m.Member, s.TopicID)
		if err != nil {
			return err
		}
		if len(records) >= int(topic.Queues) {
			if err := g.options.Meta.TouchBroadcast(ctx, m.definition.ID, m.ClientID, []uuid.UUID{s.TopicID}); err != nil {
				return unavailable(err)
			}
			continue
		}
		starts, err := g.starts(ctx, m.definition, []meta.Topic{topic})
		if err != nil {
			return err
		}
		if err := g.options.Meta.InitBroadcast(ctx, m.definition.ID, m.ClientID, starts); err != nil {
			return unavailable(err)
		}
	}
	return nil
}
