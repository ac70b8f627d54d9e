package meta

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/segment"
)

// WriterMemo is what commits of one writer to one topic are remembered by.
type WriterMemo struct {
	Seq    uint64
	Recent []Memo // ascending by Seq; the last 8 are kept
}

// Memo restores the receipt of one commit in which every request was stored:
// its writer may ask for it again.
type Memo struct {
	Seq      uint64
	StoredAt int64
	Firsts   map[uint32]int64 // per queue of the commit: the first offset given there
}

// DedupeEntry restores what is known of one identified request.
type DedupeEntry struct {
	Request  Request
	StoredAt int64 // it is remembered from then on
	Parts    []Part
}

// The numbers that the scripts keep.
const (
	receiptsKept = 8
	answersKept  = 5
)

func (db *DB) restoreWriters(ctx context.Context, s *TopicSnapshot) error {
	writers := slices.Collect(maps.Keys(s.Writers))
	for part := range slices.Chunk(writers, restoreBatch/2) {
		args := []any{formatNumber(s.Term)}
		for _, w := range part {
			args = append(args, string(w[:]), formatNumber(s.Writers[w].Seq))
		}
		keys := []string{keyHead(s.Topic.ID), keyTopicWriters(s.Topic.ID)}
		if err := db.restore(ctx, scriptRestoreWriters, keys, args...); err != nil {
			return err
		}
	}
	return nil
}

// expiring is a value that Redis forgets.
type expiring struct {
	key, value string
	ttl        int64 // ms
}

func (db *DB) restoreStrings(ctx context.Context, s *TopicSnapshot) error {
	if len(s.Writers) == 0 && len(s.Dedupe) == 0 {
		return nil
	}
	now, err := db.Now(ctx)
	if err != nil {
		return err
	}
	values := s.receipts()
	values = append(values, s.answers(now)...)
	for part := range slices.Chunk(values, restoreBatch/2) {
		keys, args := []string{keyHead(s.Topic.ID)}, []any{formatNumber(s.Term)}
		for _, v := range part {
			keys = append(keys, v.key)
			args = append(args, v.value, v.ttl)
		}
		if err := db.restore(ctx, scriptRestoreStrings, keys, args...); err != nil {
			return err
		}
	}
	return nil
}

// receipts writes what lua/receipts.lua reads. A writer without receipts gets
// an empty value: older ones must not stay.
func (s *TopicSnapshot) receipts() []expiring {
	var values []expiring
	for writer, memo := range s.Writers {
		recent := memo.Recent[max(0, len(memo.Recent)-receiptsKept):]
		lines := make([]string, 0, len(recent))
		for _, m := range recent {
			firsts := make([]string, 0, len(m.Firsts))
			for _, q := range slices.Sorted(maps.Keys(m.Firsts)) {
				firsts = append(firsts, formatNumber(m.Firsts[q]))
			}
			if len(firsts) == 0 {
				firsts = []string{"-"}
			}
			lines = append(lines, strings.Join([]string{formatNumber(m.Seq), formatNumber(s.Topic.Epoch),
				formatNumber(m.StoredAt), strings.Join(firsts, ",")}, " "))
		}
		values = append(values, expiring{keyReceipts(s.Topic.ID, writer), strings.Join(lines, "\n"), receiptTTL.Milliseconds()})
	}
	return values
}

// answers writes what lua/remember.lua reads, without what has expired.
func (s *TopicSnapshot) answers(now int64) []expiring {
	var values []expiring
	producers := map[[16]byte][]*DedupeEntry{}
	left := func(e *DedupeEntry, ttl time.Duration) int64 { return e.StoredAt + ttl.Milliseconds() - now }
	for i := range s.Dedupe {
		e := &s.Dedupe[i]
		id := e.Request.Identity
		if id.Kind == segment.IdentityProducer {
			producers[id.Key] = append(producers[id.Key], e)
		} else if ttl := left(e, keyTTL); ttl > 0 {
			values = append(values, expiring{keyIdentity(s.Topic.ID, id), string(id.Body[:]) + s.answer(e), ttl})
		}
	}
	for _, entries := range producers {
		last := entries[len(entries)-1]
		ttl := left(last, producerTTL)
		if ttl <= 0 {
			continue
		}
		id := last.Request.Identity
		lines := []string{formatNumber(id.Epoch) + " " + formatNumber(id.Seq)}
		for _, e := range entries[max(0, len(entries)-answersKept):] {
			if e.Request.Identity.Epoch == id.Epoch {
				lines = append(lines, formatNumber(e.Request.Identity.Seq)+"="+s.answer(e))
			}
		}
		values = append(values, expiring{keyIdentity(s.Topic.ID, id), strings.Join(lines, "\n"), ttl})
	}
	return values
}

func (s *TopicSnapshot) answer(e *DedupeEntry) string {
	parts := make([]string, 0, len(e.Parts))
	for _, p := range e.Parts {
		parts = append(parts, queueField(p.Queue)+"."+formatNumber(p.First)+"."+queueField(p.Count))
	}
	return answerPrefix(s.Topic.Epoch, &e.Request) + strings.Join(parts, ",")
}
