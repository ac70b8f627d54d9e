package group

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// Settings returns the live settings of a group: topic → settings, where there
// are some. Topics that have ended are left out.
func (g *Groups) Settings(ctx context.Context, group string) (map[string]meta.Settings, error) {
	definition, err := g.Get(ctx, group)
	if err != nil {
		return nil, err
	}
	all, err := g.options.Meta.GroupSettings(ctx, definition.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	named := make(map[string]meta.Settings, len(all))
	for id, s := range all {
		if t, err := g.options.Meta.TopicByID(ctx, id); err == nil {
			named[t.Name] = s
		}
	}
	return named, nil
}

// AnyVersion asks for no certain version.
const AnyVersion = -1

// UpdateSettings changes the settings of a group for one topic if they have the
// version ifVersion (AnyVersion: whatever they have; 0: there are none yet), and
// returns them once they are durable.
// Members are told at once. *meta.SettingsConflictError, *journal.InvalidError.
func (g *Groups) UpdateSettings(ctx context.Context, group, topic string, change func(*meta.Settings), ifVersion int64) (meta.Settings, error) {
	definition, err := g.Get(ctx, group)
	if err != nil {
		return meta.Settings{}, err
	}
	t, err := g.options.Journal.Topic(ctx, topic)
	if err != nil {
		return meta.Settings{}, err
	}
	for {
		all, err := g.options.Meta.GroupSettings(ctx, definition.ID)
		if err != nil {
			return meta.Settings{}, unavailable(err)
		}
		s := all[t.ID]
		if ifVersion != AnyVersion && s.Version != ifVersion {
			return meta.Settings{}, &meta.SettingsConflictError{Current: s}
		}
		s.Topic = t.ID
		change(&s)
		if err := checkSettings(&s); err != nil {
			return meta.Settings{}, err
		}
		stored, err := g.options.Meta.PutGroupSettings(ctx, definition.ID, s, all[t.ID].Version)
		if is[*meta.SettingsConflictError](err) && ifVersion == AnyVersion {
			continue // another change came first: this one goes on top of it
		}
		if err != nil {
			return meta.Settings{}, unavailable(err)
		}
		if err := g.options.Journal.RecordGroupSettings(ctx, definition.ID, stored); err != nil {
			return meta.Settings{}, fmt.Errorf("settings of group %s: %w", group, err)
		}
		return stored, nil
	}
}

func checkSettings(s *meta.Settings) error {
	for _, n := range []struct {
		field       string
		value, high int64
	}{
		{"concurrency", int64(s.Concurrency), 1000}, {"pull_batch", int64(s.PullBatch), 1000}, {"consume_batch", int64(s.ConsumeBatch), 1000},
		{"delay_ms", s.DelayMS, MaxInvisible.Milliseconds()}, {"retry_count", int64(s.RetryCount), 1000},
		{"timeout_ms", s.TimeoutMS, MaxInvisible.Milliseconds()}, {"max_lag", s.MaxLag, 1<<53 - 1},
		{"pull_threshold_for_queue", int64(s.ThresholdMessages), 65535}, {"pull_threshold_size_for_queue", s.ThresholdBytes, 1 << 30},
		{"consume_max_span", s.MaxSpan, 65535},
	} {
		if n.value < 0 || n.value > n.high {
			return invalid(n.field, journal.CodeOutOfRange, fmt.Sprintf("0 to %d", n.high))
		}
	}
	if _, err := filter.ParseTags(s.Tags); err != nil {
		return invalid("tags", journal.CodeInvalid, "tags separated by ||, or *")
	}
	return nil
}

// settingsOf returns the settings for the topics of a member.
func (g *Groups) settingsOf(ctx context.Context, group uuid.UUID, m meta.Member) (map[string]meta.Settings, error) {
	all, err := g.options.Meta.GroupSettings(ctx, group)
	if err != nil {
		return nil, unavailable(err)
	}
	named := map[string]meta.Settings{}
	for _, s := range m.Subscriptions {
		if settings, ok := all[s.TopicID]; ok {
			named[s.Topic] = settings
		}
	}
	return named, nil
}
