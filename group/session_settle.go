package group

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

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

// Nack gives messages back: each comes again after its delay, or the group's for
// the attempt, through the group's retry topic unless the wait is short. In order
// it comes again in place, and everything behind it in the queue waits and comes
// with it. One that has had all its attempts, or is said to be, is a dead letter.
// When broadcasting, a message that failed is only counted (SEMANTICS 106).
func (s *Session) Nack(ctx context.Context, nacks []NackItem) []ReceiptResult {
	results, rest := s.BeginNack(ctx, nacks)
	if rest != nil {
		rest(ctx)
	}
	return results
}

// BeginNack is the first half of Nack: it takes back the deliveries. Where messages
// are to be stored elsewhere, rest does that and completes the results; it is called
// once.
func (s *Session) BeginNack(ctx context.Context, nacks []NackItem) (_ []ReceiptResult, rest func(context.Context)) {
	results := make([]ReceiptResult, len(nacks))
	moved := map[*sessionQueue]struct{}{}
	var leaving []leaver
	s.mu.Lock()
	for i := range nacks {
		n := &nacks[i]
		if results[i].Err = n.check(i); results[i].Err != nil {
			continue
		}
		q, d, err := s.delivered(n.Receipt)
		if results[i].Err = err; err != nil || d == nil {
			continue
		}
		moved[q] = struct{}{}
		s.g.metrics.nacked.WithLabelValues(s.m.Kind).Inc()
		if s.m.Kind == meta.KindBroadcast {
			q.finish(d)
			continue
		}
		wait, dead := n.sentence(s.group, d.attempt-d.spared)
		if n.Unhandled {
			wait, dead = 0, false
		}
		d.unhandled = n.Unhandled
		now := time.Now()
		if dead {
			wait = heldFor
		} else {
			results[i].Deadline = now.Add(wait).UnixMilli()
		}
		d.again = now.Add(wait)
		if dead || !s.ordered && moves(s.group, wait) {
			leaving = append(leaving, leaver{index: i, queue: q, offset: d.offset, attempt: d.attempt, failed: failed{
				topic: q.Topic, queue: q.Queue, attempts: d.attempt - d.spared, reason: cmp.Or(n.Reason, ReasonNacked), dead: dead,
			}, wait: wait})
		}
		if !dead {
			s.pauseBehind(q, d)
		}
	}
	s.settled(moved)
	s.mu.Unlock()
	s.wakeFor(ctx, moved)
	if len(leaving) > 0 {
		rest = func(ctx context.Context) { s.leave(ctx, leaving, results) }
	}
	return results, rest
}

// pauseBehind makes what is behind a message wait with it, in order. It needs mu.
func (s *Session) pauseBehind(q *sessionQueue, d *delivery) {
	for j := range q.flight {
		if other := &q.flight[j]; s.ordered && !other.finished && other.offset > d.offset && other.again.Before(d.again) {
			other.unhandled = other.unhandled || other.again.IsZero()
			other.again = d.again
		}
	}
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
