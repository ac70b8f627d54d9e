package group

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// sessionReceipt names a delivery of a session. It is good in that session and in
// those that take it up, so it is not signed.
type sessionReceipt struct {
	topic                           uuid.UUID
	queue                           uint32
	epoch, version, offset, attempt int64
}

func (r sessionReceipt) String() string {
	b := make([]byte, 0, 48)
	b = append(b, r.topic[:]...)
	b = binary.AppendUvarint(b, uint64(r.queue))
	for _, n := range [...]int64{r.epoch, r.version, r.offset, r.attempt} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseSessionReceipt(text string) (r sessionReceipt, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 16 {
		return r, ErrReceiptInvalid
	}
	r.topic = uuid.UUID(b[:16])
	b = b[16:]
	var numbers [5]int64
	for i := range numbers {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > maxNumber {
			return r, ErrReceiptInvalid
		}
		numbers[i], b = int64(n), b[size:]
	}
	if len(b) > 0 || numbers[0] > 1<<32-1 {
		return r, ErrReceiptInvalid
	}
	r.queue, r.epoch, r.version, r.offset, r.attempt = uint32(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4]
	return r, nil
}

// delivered finds the delivery that a receipt names. It needs mu. A nil delivery
// without an error is one that was finished before.
func (s *Session) delivered(text string) (*sessionQueue, *delivery, error) {
	r, err := parseSessionReceipt(text)
	if err != nil {
		return nil, nil, err
	}
	q := s.queues[sharedPlace{r.topic, r.queue}]
	if q == nil || q.Epoch != r.epoch || q.Version != r.version {
		return nil, nil, &ReceiptError{Reason: ErrReceiptSuperseded, Attempt: r.attempt}
	}
	d := q.find(r.offset)
	switch {
	case d == nil && r.offset < q.progress(), d != nil && d.finished:
		return q, nil, nil
	case d == nil:
		return nil, nil, &ReceiptError{Reason: ErrReceiptSuperseded, Attempt: r.attempt}
	case d.attempt != r.attempt || !d.again.IsZero():
		return nil, nil, &ReceiptError{Reason: ErrReceiptSuperseded, Attempt: r.attempt, Current: d.attempt}
	}
	return q, d, nil
}

// Ack finishes the messages that the receipts name, and reports of each whether
// it counted: ErrReceiptInvalid, *ReceiptError. Repeating it is fine.
func (s *Session) Ack(ctx context.Context, receipts []string) []error {
	errs := make([]error, len(receipts))
	moved := map[*sessionQueue]struct{}{}
	s.mu.Lock()
	for i, text := range receipts {
		q, d, err := s.delivered(text)
		if errs[i] = err; err == nil && d != nil {
			q.finish(d)
			moved[q] = struct{}{}
		}
	}
	s.settled(moved)
	s.mu.Unlock()
	s.wakeFor(ctx, moved)
	return errs
}

// AckUpTo finishes everything that was delivered of a queue up to an offset, that
// one included. *OwnerError: the member does not have the queue.
func (s *Session) AckUpTo(ctx context.Context, topic string, queue uint32, offset int64) error {
	moved := map[*sessionQueue]struct{}{}
	s.mu.Lock()
	defer s.wakeFor(ctx, moved)
	defer s.mu.Unlock()
	for _, q := range s.order {
		if q.Topic != topic || q.Queue != queue {
			continue
		}
		for len(q.flight) > 0 && q.flight[0].offset <= offset {
			q.finish(&q.flight[0])
		}
		moved[q] = struct{}{}
		s.settled(moved)
		return nil
	}
	return &OwnerError{topic, queue}
}

// Nack gives messages back: each is delivered again in place after its delay, or
// the group's for the attempt. In order, everything behind it in the queue waits
// and comes again with it. When broadcasting, a message that failed is only counted
// (SEMANTICS 106).
func (s *Session) Nack(ctx context.Context, nacks []NackItem) []error {
	errs := make([]error, len(nacks))
	moved := map[*sessionQueue]struct{}{}
	s.mu.Lock()
	for i, n := range nacks {
		if n.DelayMS != nil && (*n.DelayMS < 0 || *n.DelayMS > MaxInvisible.Milliseconds()) {
			errs[i] = &journal.InvalidError{Index: i, Field: "delay_ms", Code: journal.CodeOutOfRange,
				Detail: fmt.Sprintf("a delay is 0 to %d ms", MaxInvisible.Milliseconds())}
			continue
		}
		q, d, err := s.delivered(n.Receipt)
		if errs[i] = err; err != nil || d == nil {
			continue
		}
		moved[q] = struct{}{}
		s.g.metrics.nacked.WithLabelValues(s.m.Kind).Inc()
		if s.m.Kind == meta.KindBroadcast {
			q.finish(d)
			continue
		}
		delay := nackDelay(s.group, d.attempt)
		if n.DelayMS != nil {
			delay = *n.DelayMS
		}
		again := time.Now().Add(time.Duration(delay) * time.Millisecond)
		d.again = again
		for j := range q.flight {
			if other := &q.flight[j]; s.ordered && !other.finished && other.offset > d.offset && other.again.Before(again) {
				other.again = again
			}
		}
	}
	s.settled(moved)
	s.mu.Unlock()
	s.wakeFor(ctx, moved)
	return errs
}

// settled commits the progress of queues. It needs mu.
func (s *Session) settled(moved map[*sessionQueue]struct{}) {
	for q := range moved {
		s.commitLocked(q)
	}
}

// commitLocked merges the progress of a queue with what is to be committed. It
// needs mu.
func (s *Session) commitLocked(q *sessionQueue) {
	progress := q.progress()
	if progress <= q.Offset {
		return
	}
	item := meta.OffsetCommit{Topic: q.TopicID, Queue: q.Queue, Offset: progress, Version: q.Version, Epoch: q.Epoch}
	if !s.g.commits.add(s.m.definition.ID, s.m.committer(), item) {
		s.excess = append(s.excess, item)
	}
}

// storeExcess stores commits that there was no room to keep.
func (s *Session) storeExcess(ctx context.Context) error {
	s.mu.Lock()
	items := s.excess
	s.excess = nil
	s.mu.Unlock()
	if len(items) == 0 {
		return nil
	}
	_, err := s.g.storeCommits(ctx, s.m.definition.ID, s.m.committer(), items)
	return err
}

// wakeFor has Poll called where there may be something to do now.
func (s *Session) wakeFor(ctx context.Context, moved map[*sessionQueue]struct{}) {
	if err := s.storeExcess(ctx); err != nil {
		s.g.log.Warn("progress is not stored: the next commit of the queues covers it", "member", s.m.ID, "err", err)
	}
	if len(moved) > 0 {
		s.options.Notify()
	}
}
