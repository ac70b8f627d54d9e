package group

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// receiver is one who receives for a group: a request, or a session.
type receiver struct {
	e             *sharedEngine
	group         meta.Group
	subscriptions []meta.Subscription // in their normal form
	settings      []meta.Settings     // the group's, for each of them
	filters       []filter.Filter     // of subscriptions, narrowed by settings
	invisible     time.Duration
	attemptID     string // only in an ordered group
}

func (e *sharedEngine) newReceiver(ctx context.Context, req ReceiveRequest) (*receiver, error) {
	g, err := e.Group(ctx, req.Group)
	if err != nil {
		return nil, fmt.Errorf("receive for group %s: %w", req.Group, unavailable(err))
	}
	if g.Mode == meta.ModeBroadcasting {
		return nil, ErrBroadcasting
	}
	r := &receiver{e: e, group: g, invisible: req.Invisible}
	if r.invisible == 0 {
		r.invisible = time.Duration(g.InvisibleMS) * time.Millisecond
	}
	if g.Ordered {
		r.attemptID = req.AttemptID
	}
	if r.subscriptions, r.filters, err = compile(req.Subscriptions); err != nil {
		return nil, err
	}
	topics, err := r.topics(ctx)
	if err != nil {
		return nil, err
	}
	for i := range r.subscriptions {
		r.subscriptions[i].TopicID = topics[i].ID
	}
	r.settings = make([]meta.Settings, len(r.subscriptions))
	if _, err := e.Signer.Seal(ctx, PurposeReceipt, nil); err != nil { // before anything is granted
		return nil, err
	}
	return r, nil
}

// compile gives subscriptions their normal form, sorted by topic, and compiles
// their filters.
func compile(subscriptions []meta.Subscription) ([]meta.Subscription, []filter.Filter, error) {
	if len(subscriptions) == 0 {
		return nil, nil, invalid("topics", journal.CodeRequired, "a receive names the topics that the group consumes")
	}
	normal := make([]meta.Subscription, len(subscriptions))
	for i, s := range subscriptions {
		f, err := compileFilter(i, s)
		if err != nil {
			return nil, nil, err
		}
		normal[i] = meta.Subscription{Topic: s.Topic}
		if f.SQL() {
			normal[i].SQL = f.String()
		} else if !f.All() {
			normal[i].Tags = f.String()
		}
	}
	slices.SortFunc(normal, func(a, b meta.Subscription) int { return strings.Compare(a.Topic, b.Topic) })
	filters := make([]filter.Filter, len(normal))
	for i, s := range normal {
		if i > 0 && s.Topic == normal[i-1].Topic {
			return nil, nil, invalid("topics", journal.CodeInvalid, "topic "+s.Topic+" is named twice")
		}
		filters[i], _ = compileFilter(i, s) // it was compiled before
	}
	return normal, filters, nil
}

func compileFilter(index int, s meta.Subscription) (f filter.Filter, err error) {
	field := "tags"
	if s.SQL != "" {
		if field = "sql"; s.Tags != "" {
			return f, &journal.InvalidError{Index: index, Field: field, Code: journal.CodeConflict, Detail: "a topic is filtered by tags or by sql"}
		}
		f, err = filter.ParseSQL(s.SQL)
	} else {
		f, err = filter.ParseTags(s.Tags)
	}
	if err != nil {
		return f, &journal.InvalidError{Index: index, Field: field, Code: journal.CodeInvalid, Detail: err.Error()}
	}
	return f, nil
}

// filterAt is the filter of a topic of receiver.topics: what is in the retry topic
// has passed its own.
func (r *receiver) filterAt(i int) filter.Filter {
	if i >= len(r.filters) {
		return filter.Filter{}
	}
	return r.filters[i]
}

// settingsAt is what the group says of a topic of receiver.topics.
func (r *receiver) settingsAt(i int) *meta.Settings {
	if i >= len(r.settings) {
		return &meta.Settings{}
	}
	return &r.settings[i]
}

// refresh takes over what has changed of the group's live settings.
func (r *receiver) refresh(ctx context.Context) error {
	all, err := r.e.Meta.GroupSettings(ctx, r.group.ID)
	if err != nil {
		return fmt.Errorf("settings of group %s: %w", r.group.Name, unavailable(err))
	}
	for i, s := range r.subscriptions {
		settings := all[s.TopicID]
		if settings.Tags != r.settings[i].Tags {
			if r.filters[i], err = filterOf(s, settings); err != nil {
				return err
			}
		}
		r.settings[i] = settings
	}
	return nil
}

// enter registers the receiver's subscriptions with the group, and that it will
// wait: members that own queues cannot join meanwhile.
func (r *receiver) enter(ctx context.Context, wait time.Duration) error {
	if err := r.e.Meta.SharedEnter(ctx, r.group.ID, r.subscriptions, wait); err != nil {
		return fmt.Errorf("receive for group %s: %w", r.group.Name, unavailable(err))
	}
	return nil
}
