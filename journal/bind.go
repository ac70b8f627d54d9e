package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

// bindingKey is the object that says which store a bucket is.
const bindingKey = "bucketmq.json"

// binding is its content. It is written once, by whoever comes first.
type binding struct {
	ID     uuid.UUID `json:"id"`
	Format int       `json:"format"`
}

// bind reads or makes the bucket's identity, refuses a Redis of another one,
// and recovers a Redis that holds nothing or was being recovered.
func (j *Journal) bind(ctx context.Context) error {
	b, err := readBinding(ctx, j.store)
	if err != nil {
		return err
	}
	j.storeID = b.ID
	state, err := j.meta.State(ctx)
	switch {
	case errors.Is(err, meta.ErrNoState), err == nil && state.Phase != meta.PhaseReady:
		if err := j.recover(ctx, uuid.Nil); err != nil {
			return fmt.Errorf("recover redis from the bucket: %w", err)
		}
	case err != nil:
		return fmt.Errorf("read the state of redis: %w", err)
	case state.StoreID != b.ID:
		return fmt.Errorf("%w: the bucket is store %s, redis belongs to %s", ErrWrongStore, b.ID, state.StoreID)
	}
	return j.guard.trust(ctx)
}

func readBinding(ctx context.Context, store objstore.Store) (binding, error) {
	for {
		raw, err := store.Get(ctx, bindingKey, 0, -1)
		switch {
		case err == nil:
			return parseBinding(raw)
		case !errors.Is(err, objstore.ErrNotFound):
			return binding{}, fmt.Errorf("read the bucket's identity: %w", err)
		}
		id, err := uuid.NewV7()
		if err != nil {
			return binding{}, fmt.Errorf("make a store id: %w", err)
		}
		raw, err = json.Marshal(binding{ID: id, Format: segment.Version})
		if err != nil {
			return binding{}, fmt.Errorf("encode the bucket's identity: %w", err)
		}
		// ErrExists: another process was first, and its identity is the bucket's.
		if err := store.Put(ctx, bindingKey, raw); err != nil && !errors.Is(err, objstore.ErrExists) {
			return binding{}, fmt.Errorf("write the bucket's identity: %w", err)
		}
	}
}

func parseBinding(raw []byte) (binding, error) {
	var b binding
	if err := json.Unmarshal(raw, &b); err != nil {
		return binding{}, fmt.Errorf("decode %s: %w", bindingKey, err)
	}
	if b.ID == uuid.Nil || b.Format != segment.Version {
		return binding{}, fmt.Errorf("%s names store %s and format %d, this build reads format %d", bindingKey, b.ID, b.Format, segment.Version)
	}
	return b, nil
}
