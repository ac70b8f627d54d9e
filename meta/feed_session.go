package meta

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// feedPing is how often a session asks for a sign of life, feedSilence how
// long it lives without one.
const (
	feedPing    = 3 * time.Second
	feedSilence = 10 * time.Second
)

var errFeedSilent = errors.New("meta: feed connection is silent")

// session is the life of one connection of a feed. One goroutine receives, one
// sends; go-redis would reconnect silently, so a session ends at the first error.
type session struct {
	f        *Feed
	pubsub   *redis.PubSub
	renewed  bool         // not the first session: its completion is a Lost notice
	heard    atomic.Int64 // when something was last received, Unix nanoseconds
	first    int          // confirmations still due of the first subscription; owned by the receiver
	complete bool         // those have all come; owned by the receiver

	outstanding map[string]int // per channel: subscriptions sent and not confirmed; guarded by f.mu
}

func (f *Feed) newSession(renewed bool) *session {
	return &session{f: f, renewed: renewed, outstanding: map[string]int{}}
}

func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.pubsub = s.f.db.reads.Subscribe(ctx)
	s.heard.Store(time.Now().UnixNano())
	if err := s.begin(ctx); err != nil {
		return errors.Join(err, s.pubsub.Close())
	}
	var sender sync.WaitGroup
	var sendErr error
	sender.Go(func() {
		sendErr = s.send(ctx)
		_ = s.pubsub.Close() // ends the receiver
	})
	err := s.receive(ctx)
	cancel()
	sender.Wait()
	if sendErr != nil && !errors.Is(sendErr, context.Canceled) {
		return sendErr
	}
	return err
}

// begin forgets the last session's subscriptions and asks for all of them anew.
func (s *session) begin(ctx context.Context) error {
	s.f.mu.Lock()
	for _, w := range s.f.watches {
		if w.live {
			w.live, w.confirmed = false, make(chan struct{})
		}
		w.sent = false
	}
	wanted, _ := s.changes()
	s.f.mu.Unlock()
	if s.f.only != "" {
		wanted = append(wanted, s.f.only)
	} else {
		wanted = append(wanted, channelChange, channelGroups)
	}
	s.first = len(wanted)
	return subscribe(ctx, wanted, s.pubsub.Subscribe)
}

// changes takes what must be subscribed and unsubscribed; f.mu is held.
func (s *session) changes() (wanted, unwanted []string) {
	for topic, w := range s.f.watches {
		channel := channelTopic(topic)
		switch {
		case w.count == 0:
			delete(s.f.watches, topic)
			if w.sent {
				unwanted = append(unwanted, channel)
			}
		case !w.sent:
			w.sent = true
			s.outstanding[channel]++
			wanted = append(wanted, channel)
		}
	}
	return wanted, unwanted
}

// subscribe sends a long list of channels in parts.
func subscribe(ctx context.Context, channels []string, send func(context.Context, ...string) error) error {
	const most = 500
	for part := range slices.Chunk(channels, most) {
		if err := send(ctx, part...); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) send(ctx context.Context) error {
	ping := time.NewTicker(feedPing)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ping.C:
			if time.Since(time.Unix(0, s.heard.Load())) > feedSilence {
				return errFeedSilent
			}
			if err := s.pubsub.Ping(ctx); err != nil {
				return err
			}
		case <-s.f.wake:
			s.f.mu.Lock()
			wanted, unwanted := s.changes()
			s.f.mu.Unlock()
			if err := subscribe(ctx, unwanted, s.pubsub.Unsubscribe); err != nil {
				return err
			}
			if err := subscribe(ctx, wanted, s.pubsub.Subscribe); err != nil {
				return err
			}
		}
	}
}

func (s *session) receive(ctx context.Context) error {
	for {
		message, err := s.pubsub.Receive(ctx)
		if err != nil {
			return err
		}
		s.heard.Store(time.Now().UnixNano())
		switch m := message.(type) {
		case *redis.Subscription:
			if m.Kind == "subscribe" {
				s.confirm(m.Channel)
			}
		case *redis.Message:
			s.deliver(m)
		}
	}
}

// confirm counts: a channel may be unsubscribed and subscribed again before
// the first confirmation comes, which then says nothing about the second.
func (s *session) confirm(channel string) {
	if topic, ok := topicOfChannel(channel); ok {
		s.f.mu.Lock()
		s.outstanding[channel]--
		if s.outstanding[channel] <= 0 {
			delete(s.outstanding, channel)
			if w := s.f.watches[topic]; w != nil && w.sent && !w.live {
				w.live = true
				close(w.confirmed)
			}
		}
		s.f.mu.Unlock()
	}
	s.first--
	if s.first == 0 {
		s.complete = true
		if s.renewed || s.f.only != "" {
			s.f.on(Notice{Lost: true})
		}
	}
}

func (s *session) deliver(m *redis.Message) {
	if m.Channel == channelChange {
		s.f.on(Notice{TopicChanged: m.Payload})
		return
	}
	if m.Channel == channelGroups {
		if group, what, ok := parseGroupNotice(m.Payload); ok {
			s.f.on(Notice{GroupChanged: group, GroupWhat: what})
		}
		return
	}
	if m.Channel == channelReplies {
		if request, err := uuid.Parse(m.Payload); err == nil {
			s.f.on(Notice{Replied: request})
		}
		return
	}
	if m.Channel == channelTimers {
		if topic, due, ok := parseTimerNotice(m.Payload); ok {
			s.f.on(Notice{Timers: topic, TimersDue: due})
		}
		return
	}
	topic, ok := topicOfChannel(m.Channel)
	if !ok {
		return
	}
	n := Notice{Topic: topic}
	var err error
	if n.Epoch, n.Entries, err = parseNews(m.Payload); err != nil {
		s.f.db.log.Error("redis feed", slog.Any("topic", topic), slog.Any("error", err))
		n = Notice{Topic: topic} // still a reason to look
	}
	s.f.on(n)
}

// parseNews reads what lua/commit.lua publishes: 7 bytes epoch, then for each
// entry 4 bytes queue, 1 byte length, the packed entry.
func parseNews(payload string) (epoch int64, entries []Entry, err error) {
	if len(payload) < 7 {
		return 0, nil, ErrCorrupt
	}
	epoch, payload = bigEndian(payload[:7]), payload[7:]
	for payload != "" {
		if len(payload) < 5 || len(payload) < 5+int(payload[4]) {
			return 0, nil, ErrCorrupt
		}
		end := 5 + int(payload[4])
		e, err := parseEntry(uint32(bigEndian(payload[:4])), payload[5:end])
		if err != nil {
			return 0, nil, err
		}
		entries = append(entries, e)
		payload = payload[end:]
	}
	return epoch, entries, nil
}
