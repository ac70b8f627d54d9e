package meta

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// Settings are what a group's members go by in one topic; they may be changed
// while they run (SEMANTICS 43, 54). 0 means the default, where there is one.
type Settings struct {
	Topic             uuid.UUID `json:"topic"`
	Concurrency       int       `json:"concurrency"`              // handlers at a time, for SDKs
	PullBatch         int       `json:"pull_batch"`               // messages fetched at a time
	ConsumeBatch      int       `json:"consume_batch"`            // messages handled at a time, for SDKs
	DelayMS           int64     `json:"delay_ms"`                 // a message is consumed this long after it was stored, at the earliest
	RetryCount        int       `json:"retry_count"`              // for SDKs
	Tags              string    `json:"tags"`                     // narrows what members subscribe; "": does not
	TimeoutMS         int64     `json:"timeout_ms"`               // of a handler, for SDKs; 0: none
	MaxLag            int64     `json:"max_lag"`                  // messages behind, above which the lag is reported
	ThresholdMessages int       `json:"pull_threshold_for_queue"` // in flight in one queue
	ThresholdBytes    int64     `json:"pull_threshold_size_for_queue"`
	MaxSpan           int64     `json:"consume_max_span"` // offsets between the first and the last in flight
	Version           int64     `json:"version"`
	UpdatedAt         int64     `json:"updated_at"`
}

// GroupSettings returns the settings of a group for each topic that has some.
func (db *DB) GroupSettings(ctx context.Context, group uuid.UUID) (map[uuid.UUID]Settings, error) {
	texts, err := db.reads.HGetAll(ctx, keySettings(group)).Result()
	if err != nil {
		return nil, fmt.Errorf("settings of group %s: %w", group, err)
	}
	all := make(map[uuid.UUID]Settings, len(texts))
	for _, text := range texts {
		var s Settings
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, fmt.Errorf("settings of group %s: %w: %w", group, ErrCorrupt, err)
		}
		all[s.Topic] = s
	}
	return all, nil
}

// PutGroupSettings replaces the settings for s.Topic if they have the version
// ifVersion (0: there are none yet), and returns them under the next version.
// *SettingsConflictError.
func (db *DB) PutGroupSettings(ctx context.Context, group uuid.UUID, s Settings, ifVersion int64) (Settings, error) {
	now, err := db.Now(ctx)
	if err != nil {
		return Settings{}, err
	}
	s.Version, s.UpdatedAt = ifVersion+1, now
	text, err := json.Marshal(s)
	if err != nil {
		return Settings{}, err
	}
	r, err := db.change(ctx, scriptPutSettings, []string{keyGroupMeta(group), keySettings(group)},
		s.Topic.String(), ifVersion, text, channelGroups, groupNotice(group, ChangedSettings))
	if err != nil {
		return Settings{}, fmt.Errorf("settings of group %s: %w", group, err)
	}
	if r.status() == "CONFLICT" {
		conflict := &SettingsConflictError{}
		if text := r.text(1); text != "" {
			if err := json.Unmarshal([]byte(text), &conflict.Current); err != nil {
				return Settings{}, fmt.Errorf("settings of group %s: %w: %w", group, ErrCorrupt, err)
			}
		}
		return Settings{}, conflict
	}
	return s, nil
}
