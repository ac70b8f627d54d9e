package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

const (
	// lagPage is how many groups are listed at once.
	lagPage = 100
	// lagLookups bounds the queues of which a measurement looks up how old the
	// next message is.
	lagLookups = 2000
	// lagShare is the least pause between two measurements, as a multiple of what
	// the last one took.
	lagShare = 10
)

// lagger measures the lag of all groups for as long as this process leads.
type lagger struct{ *coordinator }

func (l lagger) run(ctx context.Context) {
	defer l.metrics.lag.show(nil, 0)
	for {
		began := time.Now()
		m := lagMeasurement{meta: l.Meta, lookups: lagLookups, all: map[pair]lag{}, ends: map[uuid.UUID]end{}}
		if err := m.take(ctx); errors.Is(err, meta.ErrRecovering) {
			l.Log.Debug("lag not measured", "err", err)
		} else if err != nil {
			l.failed(ctx, fmt.Errorf("measure the lag: %w", err))
		} else {
			l.metrics.lag.show(m.all, m.at)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(l.LagEvery, lagShare*time.Since(began))):
		}
	}
}

// lagMeasurement is one measurement of all groups.
type lagMeasurement struct {
	meta    *meta.DB
	at      int64 // Redis' clock
	lookups int   // that are left
	all     map[pair]lag
	ends    map[uuid.UUID]end
}

// end is where the queues of a topic end.
type end struct {
	name   string // empty: the topic does not exist
	queues []meta.QueueState
}

func (m *lagMeasurement) take(ctx context.Context) (err error) {
	if m.at, err = m.meta.Now(ctx); err != nil {
		return err
	}
	for after := ""; ; {
		groups, err := m.meta.Groups(ctx, "", after, lagPage)
		if err != nil {
			return err
		}
		for _, g := range groups {
			if err := m.addGroup(ctx, g); err != nil {
				return fmt.Errorf("group %s: %w", g.Name, err)
			}
		}
		if len(groups) < lagPage {
			return nil
		}
		after = groups[len(groups)-1].Name
	}
}

func (m *lagMeasurement) addGroup(ctx context.Context, g meta.Group) error {
	records, err := m.meta.AllOffsets(ctx, g.ID)
	if errors.Is(err, meta.ErrGroupNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	settings, err := m.meta.GroupSettings(ctx, g.ID)
	if err != nil {
		return err
	}
	known := map[uuid.UUID]int{} // topic → queues with an offset
	for _, r := range records {
		e, err := m.endOf(ctx, r.Topic)
		if err != nil {
			return err
		}
		if int64(r.Queue) >= int64(len(e.queues)) { // the topic has gone
			continue
		}
		known[r.Topic]++
		p := pair{g.Name, e.name}
		sum := m.all[p]
		q := e.queues[r.Queue]
		r.Offset = max(r.Offset, q.Min) // what retention has removed nobody waits for
		if behind := q.Next - r.Offset; behind > 0 {
			sum.messages += behind
			if most := settings[r.Topic].MaxLag; most > 0 && behind > most {
				sum.exceeded++
			}
			since, err := m.storedAt(ctx, r)
			if err != nil {
				return err
			}
			if since > 0 && (sum.since == 0 || since < sum.since) {
				sum.since = since
			}
		}
		m.all[p] = sum
	}
	for topic, n := range known {
		p := pair{g.Name, m.ends[topic].name}
		sum := m.all[p]
		sum.unknown = int64(len(m.ends[topic].queues) - n)
		m.all[p] = sum
	}
	return nil
}

// storedAt is when the next message of the queue was stored, 0 when that is not
// known.
func (m *lagMeasurement) storedAt(ctx context.Context, r meta.OffsetRecord) (int64, error) {
	if m.lookups == 0 {
		return 0, nil
	}
	m.lookups--
	w, err := m.meta.Lookup(ctx, r.Topic, r.Queue, r.Offset, 1)
	if errors.Is(err, meta.ErrTopicNotFound) || err == nil && len(w.Entries) == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return w.Entries[0].StoredAt, nil
}

func (m *lagMeasurement) endOf(ctx context.Context, topic uuid.UUID) (end, error) {
	e, known := m.ends[topic]
	if known {
		return e, nil
	}
	t, err := m.meta.TopicByID(ctx, topic)
	if err == nil {
		if e.queues, err = m.meta.Queues(ctx, t); err == nil {
			e.name = t.Name
		}
	}
	if err != nil && !errors.Is(err, meta.ErrTopicNotFound) {
		return end{}, err
	}
	m.ends[topic] = e
	return e, nil
}
