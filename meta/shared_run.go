package meta

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Keys of shared consumption, all of a group's slot.
//
//	key                 type  content                                              written by      expires
//	{g:<id>}:leases     ZSET  <topic id>:<q> by the latest deadline in flight      shared scripts  when nothing is in flight
//	{g:<id>}:s:<t>:<q>  HASH  what is in flight in a queue (lua/shared.lua)        shared scripts  with the group, a reset or a recovery
//	{g:<id>}:d:<t>:<q>  ZSET  offsets in flight by deadline                        shared scripts  when nothing is in flight
//	{g:<id>}:f:<t>:<q>  ZSET  offsets in flight by offset                          shared scripts  when nothing is in flight
func keyLeases(group uuid.UUID) string { return groupKey(group, "leases") }

// sharedKeys are the keys that hold what is in flight in one queue. Removing
// them drops it: the messages come again, and receipts for them are superseded.
func sharedKeys(group, topic uuid.UUID, queue uint32) []string {
	place := sharedField(topic, queue)
	return []string{groupKey(group, "s:"+place), groupKey(group, "d:"+place), groupKey(group, "f:"+place)}
}

func sharedField(topic uuid.UUID, queue uint32) string {
	return topic.String() + ":" + queueField(queue)
}

func (q SharedQueue) String() string {
	return fmt.Sprintf("queue %d of topic %s for group %s", q.Queue, q.Topic, q.Group)
}

func (q SharedQueue) keys() []string {
	return append([]string{keyGroupMeta(q.Group), keyOffsets(q.Group, q.Topic), keyLeases(q.Group)}, sharedKeys(q.Group, q.Topic, q.Queue)...)
}

// sharedCall is one run of a script of shared consumption.
type sharedCall struct {
	queue SharedQueue
	args  []any
}

type sharedAnswer struct {
	reply reply
	err   error
}

// runShared runs a script for each call in one pipeline, on the client that
// repeats nothing. What proves by NOSCRIPT that it did not run is sent once
// more with the script's text.
func (db *DB) runShared(ctx context.Context, script *redis.Script, calls []sharedCall) []sharedAnswer {
	answers := make([]sharedAnswer, len(calls))
	unknown := make([]int, len(calls))
	for i := range calls {
		unknown[i] = i
	}
	for attempt := 0; attempt < 2 && len(unknown) > 0; attempt++ {
		run := script.EvalSha
		if attempt > 0 {
			run = script.Eval
		}
		pipe := db.commits.Pipeline()
		cmds := make([]*redis.Cmd, len(unknown))
		for j, i := range unknown {
			q := calls[i].queue
			args := append([]any{queueField(q.Queue), sharedField(q.Topic, q.Queue)}, calls[i].args...)
			cmds[j] = run(ctx, pipe, q.keys(), args...)
		}
		_, _ = pipe.Exec(ctx) // every command carries its own error
		var again []int
		for j, i := range unknown {
			if redis.HasErrorPrefix(cmds[j].Err(), "NOSCRIPT") && attempt == 0 {
				again = append(again, i)
				continue
			}
			answers[i].reply, answers[i].err = parseShared(cmds[j])
		}
		unknown = again
	}
	return answers
}

func parseShared(cmd *redis.Cmd) (reply, error) {
	r, err := parseReply(cmd)
	if err != nil {
		return nil, err
	}
	switch r.status() {
	case "MOVED":
		return nil, ErrSharedMoved
	case "NO_RECORD":
		return nil, ErrNoOffset
	case "QUEUED":
		return nil, ErrGroupQueued
	}
	return r, nil
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}
