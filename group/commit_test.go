package group_test

import (
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/meta"
)

// In a group whose progress may go back, the last commit counts, stored at once
// or merged; one that is refused leaves what was merged.
func TestTheLastCommitCountsWherePositionsGoBack(t *testing.T) {
	n := newPlant(t).gateway()
	n.coordinate()
	topic := n.topic("orders", 1)
	n.group("billing", time.Minute, func(g *meta.Group) { g.CommitPolicy = meta.CommitOverwrite })
	n.send(topic, 0, "", numbered(9)...)
	j := n.join("billing", "c1", "orders")
	epoch := n.owned("billing", j.Member.ID, 1).Assignments[0].Epoch
	commit := func(sync bool, offset, version int64) string {
		t.Helper()
		results, err := n.Commit(t.Context(), group.CommitRequest{Group: "billing", Member: j.Member.ID, Sync: sync, Items: []group.CommitItem{
			{Topic: "orders", Offset: offset, Version: version, Epoch: epoch},
		}})
		must(t, err)
		return results[0].Status
	}
	flushed := func(want int64) {
		t.Helper()
		must(t, n.Close(t.Context())) // stores what is merged
		if got := n.offset("billing", 0); got != want {
			t.Errorf("progress %d, want %d", got, want)
		}
	}
	commit(false, 7, 1)
	commit(true, 4, 1)
	flushed(4)
	commit(false, 8, 1)
	commit(false, 4, 1) // what is stored already
	flushed(4)
	commit(false, 6, 1)
	if status := commit(true, 2, 9); status != meta.OffsetVersionConflict {
		t.Errorf("a version that nobody gave: %s", status)
	}
	flushed(6)
}
