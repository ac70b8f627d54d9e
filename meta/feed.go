package meta

import (
	"context"

	"github.com/google/uuid"
)

// Notice is a hint that something changed. It may be lost or come twice.
type Notice struct {
	Topic        uuid.UUID
	Epoch        int64
	Entries      []Entry // what a commit of Topic added
	Lost         bool    // the connection was renewed: re-check everything
	TopicChanged string  // name of a topic that was created, changed or deleted
}

// Feed delivers notices of watched topics and of all topic changes.
type Feed struct{ db *DB }

// NewFeed makes a feed that calls on from its Run goroutine, one notice after
// the other; on must not block.
func (db *DB) NewFeed(on func(Notice)) *Feed { panic("unwritten") }

// Run receives until ctx ends; it reconnects by itself and returns ctx's error.
func (f *Feed) Run(ctx context.Context) error { panic("unwritten") }

// Watch asks for the notices of a topic and returns once Redis has confirmed
// it: what is committed from then on is noticed. Calls are counted; each needs one Unwatch,
// also when it returned an error no Unwatch is needed.
func (f *Feed) Watch(ctx context.Context, topic uuid.UUID) error { panic("unwritten") }

// Unwatch takes one Watch of the topic back.
func (f *Feed) Unwatch(topic uuid.UUID) { panic("unwritten") }
