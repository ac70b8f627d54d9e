package meta_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
)

func conditionalRequest(key, body string, next int64) meta.Request {
	r := keyRequest(key, body)
	r.Identity.Kind, r.Identity.Epoch = segment.IdentityCondition, next
	return r
}

// Chunks have two messages each; see requestCommit.
func conditionsAreMetOrLeftOut(t *testing.T, e engine) {
	topic, w := newTopic(t, e.db, 1), uuid.New()
	c := requestCommit(topic, w, 1, keyRequest("plain", "b"), conditionalRequest("a", "b", 2), conditionalRequest("late", "b", 2),
		conditionalRequest("late", "b", 2), producerRequest("p", 1, 1), conditionalRequest("z", "b", 6))
	res := mustCommit(t, e.db, c)
	equal(t, "offsets", res.Firsts, [][]int64{{0, 2, -1, -1, 4, 6}})
	missed := meta.RequestOutcome{Status: meta.RequestMissed, Current: 4}
	equal(t, "what is too late", res.Requests[2], missed)
	equal(t, "and sent twice", res.Requests[3], missed)
	again := mustCommit(t, e.db, c)
	again.Repeated = false
	equal(t, "the receipt", again, res)

	// A stored one is known by its key; one that was left out is decided anew.
	res = mustCommit(t, e.db, requestCommit(topic, uuid.New(), 1, conditionalRequest("a", "b", 2), conditionalRequest("a", "other", 8),
		conditionalRequest("late", "b", 2), conditionalRequest("late", "again", 8), keyRequest("z", "b")))
	equal(t, "sent again", res.Requests[0].Parts, []meta.Part{{Queue: 0, First: 2, Count: 2}})
	equal(t, "sent again", res.Requests[0].Status, meta.RequestDuplicate)
	equal(t, "the key for something else", res.Requests[1].Status, meta.RequestKeyReused)
	equal(t, "left out again", res.Requests[2], meta.RequestOutcome{Status: meta.RequestMissed, Current: 8})
	equal(t, "a key is one key, with a condition or without", res.Requests[4].Status, meta.RequestDuplicate)
	equal(t, "offsets", res.Firsts, [][]int64{{-1, -1, -1, -1, -1}})
	res = mustCommit(t, e.db, requestCommit(topic, uuid.New(), 1, conditionalRequest("late", "again", 8)))
	equal(t, "the key of what was left out", res.Requests[0].Status, meta.RequestStored)
}

func oneOfManyConditionalWritersWins(t *testing.T, e engine) {
	topic := newTopic(t, e.db, 1)
	const writers, rounds = 8, 20
	won := make([][rounds]bool, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			w := uuid.New()
			for round := range rounds {
				r := conditionalRequest(uuid.NewString(), "b", int64(2*round))
				res := e.db.Commit(t.Context(), []meta.Commit{requestCommit(topic, w, uint64(round+1), r)})[0]
				if res.Err != nil {
					t.Error(res.Err)
					return
				}
				won[i][round] = res.Requests[0].Status == meta.RequestStored
				if !won[i][round] && res.Requests[0].Current <= int64(2*round) {
					t.Errorf("round %d lost at %d", round, res.Requests[0].Current)
				}
			}
		})
	}
	all.Wait()
	for round := range rounds {
		n := 0
		for i := range writers {
			if won[i][round] {
				n++
			}
		}
		// A writer that is late finds the round over; the first that is not wins.
		if n != 1 {
			t.Errorf("round %d has %d winners", round, n)
		}
	}
}
