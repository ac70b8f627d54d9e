package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// A dead letter that was redriven or purged stays where it is, and a note behind it
// says that it is handled: a message without an origin, whose tag is handledTag and
// whose body lists the offsets, as in "0-7,9". So it is as durable as the dead
// letters themselves, and any gateway finds out by reading the notes.

const (
	handledTag = "__handled"
	// maxHandled bounds the topics of which a process remembers what is handled.
	maxHandled = 1000
)

// handled remembers what the notes of dead-letter topics say. The zero value is
// ready.
type handled struct {
	mu     sync.Mutex
	topics map[uuid.UUID]*handledTopic // guarded by mu
}

type handledTopic struct {
	mu    sync.Mutex
	epoch int64    // guarded by mu; of the topic
	next  int64    // guarded by mu; notes before it are known
	bits  []uint64 // guarded by mu; a bit for each offset
}

func (t *handledTopic) set(offset int64) {
	word := int(offset / 64)
	if word >= len(t.bits) {
		t.bits = append(t.bits, make([]uint64, word+1-len(t.bits))...)
	}
	t.bits[word] |= 1 << (offset % 64)
}

// has needs mu.
func (t *handledTopic) has(offset int64) bool {
	word := int(offset / 64)
	return word < len(t.bits) && t.bits[word]&(1<<(offset%64)) != 0
}

func (h *handled) of(topic uuid.UUID) *handledTopic {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[topic]
	if t == nil {
		if h.topics == nil || len(h.topics) >= maxHandled {
			h.topics = map[uuid.UUID]*handledTopic{}
		}
		t = &handledTopic{}
		h.topics[topic] = t
	}
	return t
}

// known returns what is handled of a dead-letter topic, up to its end now. The
// caller holds the result's mu after it, and unlocks it.
func (h *handled) known(ctx context.Context, j *journal.Journal, topic meta.Topic) (*handledTopic, error) {
	t := h.of(topic.ID)
	t.mu.Lock()
	notes, err := filter.ParseTags(handledTag)
	for err == nil {
		var page *journal.Page
		page, err = j.Read(ctx, journal.Read{Topic: topic, Offset: t.next, Filter: notes, MaxMessages: journal.MaxReadMessages, Clamp: true})
		if corrupt, ok := errors.AsType[*journal.CorruptError](err); ok {
			t.next, err = corrupt.Next, nil
			continue
		}
		if err != nil {
			break
		}
		if page.Epoch != t.epoch {
			again := t.epoch != 0 // offsets were given anew
			t.epoch, t.next, t.bits = page.Epoch, 0, nil
			if again {
				continue
			}
		}
		for i := range page.Messages {
			if o, m := OriginOf(page.Messages[i]); o.Topic == "" {
				t.note(string(m.Record.Body), m.Offset)
			}
		}
		t.next = page.Next
		if page.Next >= page.Max {
			return t, nil
		}
	}
	t.mu.Unlock()
	return nil, err
}

// note takes a list of offsets, which are all before its own.
func (t *handledTopic) note(list string, at int64) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, found := strings.Cut(part, "-")
		if !found {
			last = first
		}
		from, err := strconv.ParseInt(first, 10, 64)
		to, err2 := strconv.ParseInt(last, 10, 64)
		if err != nil || err2 != nil || from < 0 || to >= at {
			continue
		}
		for offset := from; offset <= to; offset++ {
			t.set(offset)
		}
	}
}

// handledNote lists offsets.
func handledNote(offsets []int64) string {
	offsets = slices.Sorted(slices.Values(offsets))
	var b strings.Builder
	for i := 0; i < len(offsets); {
		last := i
		for last+1 < len(offsets) && offsets[last+1] <= offsets[last]+1 {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", offsets[i])
		if last > i {
			fmt.Fprintf(&b, "-%d", offsets[last])
		}
		i = last + 1
	}
	return b.String()
}

// writeHandled notes that dead letters are handled, durably.
func (f *failures) writeHandled(ctx context.Context, topic meta.Topic, offsets []int64) error {
	draft, err := f.journal.NewSystemDraft(topic)
	if err != nil {
		return err
	}
	err = draft.Add(&journal.Message{Text: true, Tag: []byte(handledTag), Body: []byte(handledNote(offsets))})
	if err != nil {
		return err
	}
	_, err = f.journal.Append(ctx, draft, journal.Durable)
	return unavailable(err)
}
