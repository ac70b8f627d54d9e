package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

const (
	groupPage = 100
	// quietFor is how long nothing may come before a group that is not followed ends.
	quietFor = 3 * time.Second
	// leaveWithin bounds how long the end of a membership may take.
	leaveWithin = 5 * time.Second
)

// consume prints messages of a group. What was printed is committed by the next
// request, so a message is printed again rather than lost.
func (c *consumeCmd) consume(ctx context.Context, env *environment, cl *client.Client, p *printer) error {
	selection := []client.Selection{{Topic: c.Topic, Tags: c.Tags, SQL: c.SQL}}
	wait := quietFor
	if c.Follow {
		wait = pollWait
	}
	if c.Shared {
		return c.receive(ctx, env, cl, p, selection, wait)
	}
	m, err := cl.JoinGroup(ctx, c.Group, client.Join{Subscriptions: selection})
	if err != nil {
		return err
	}
	cursor := ""
	defer func() { c.leave(ctx, cl, m.ID, cursor) }()
	return c.repeat(ctx, env, p, func(most int) (int, error) {
		got, err := cl.PollMember(ctx, c.Group, m.ID, client.Poll{Cursor: cursor, AutoCommit: true, MaxMessages: most, WaitMS: wait.Milliseconds()})
		var problem *client.Problem
		if errors.As(err, &problem) && problem.Code == "member_unknown" { // the server did not hear of us for too long
			again, err := cl.JoinGroup(ctx, c.Group, client.Join{ClientID: m.ClientID, Subscriptions: selection})
			if err != nil {
				return 0, err // m stays: the next try finds it unknown once more
			}
			m, cursor = again, ""
			return -1, nil
		}
		if err != nil {
			return 0, err
		}
		tellLost(env, got.Gaps)
		for i := range got.Messages {
			if err := p.print(&got.Messages[i]); err != nil && !errors.Is(err, errEnough) {
				return 0, err
			}
		}
		if err := p.out.Flush(); err != nil {
			return 0, fmt.Errorf("write: %w", err)
		}
		cursor = got.Cursor
		if len(got.Messages) == 0 && got.Rebalancing {
			return -1, nil
		}
		return len(got.Messages), nil
	})
}

// leave commits what was printed and ends the membership.
func (c *consumeCmd) leave(ctx context.Context, cl *client.Client, member, cursor string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	if cursor != "" {
		_, _ = cl.PollMember(ctx, c.Group, member, client.Poll{Cursor: cursor, AutoCommit: true, MaxMessages: 1})
	}
	_ = cl.LeaveGroup(ctx, c.Group, member) // else it expires
}

// receive prints messages and then acknowledges them.
func (c *consumeCmd) receive(ctx context.Context, env *environment, cl *client.Client, p *printer, selection []client.Selection, wait time.Duration) error {
	return c.repeat(ctx, env, p, func(most int) (int, error) {
		got, err := cl.ReceiveMessages(ctx, c.Group, client.Receive{Topics: selection, MaxMessages: min(most, 32), WaitMS: wait.Milliseconds()})
		if err != nil || len(got.Messages)+len(got.Gaps) == 0 {
			return 0, err
		}
		tellLost(env, got.Gaps)
		receipts := make([]string, len(got.Messages))
		for i := range got.Messages {
			receipts[i] = got.Messages[i].Receipt
			if err := p.print(&got.Messages[i]); err != nil && !errors.Is(err, errEnough) {
				return 0, err
			}
		}
		if err := p.out.Flush(); err != nil {
			return 0, fmt.Errorf("write: %w", err)
		}
		if len(receipts) == 0 {
			return -1, nil
		}
		settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
		defer cancel()
		return len(receipts), cl.AckMessages(settle, c.Group, receipts)
	})
}

// repeat calls fetch until the limit is reached, or nothing came and nobody waits
// for more. fetch prints up to so many messages; -1: ask again at once. It outlives
// restarts of the server.
func (c *consumeCmd) repeat(ctx context.Context, env *environment, p *printer, fetch func(most int) (int, error)) error {
	pause, told := 100*time.Millisecond, false
	for {
		most := int64(groupPage)
		if p.limit > 0 {
			if most = min(most, p.limit-p.count); most <= 0 {
				return nil
			}
		}
		n, err := fetch(int(most))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !mayRepeat(err):
			return err
		case err != nil:
			if !told {
				fmt.Fprintln(env.stderr, "bucketmq: waiting for the server:", err)
			}
			told = true
			var problem *client.Problem
			if errors.As(err, &problem) {
				pause = max(pause, problem.RetryAfter())
			}
			if err := sleep(ctx, pause/2+rand.N(pause)); err != nil {
				return err
			}
			pause = min(2*pause, 5*time.Second)
			continue
		case n == 0 && !c.Follow:
			return nil
		}
		pause, told = 100*time.Millisecond, false
	}
}

func tellLost(env *environment, gaps []client.Lost) {
	for _, g := range gaps {
		fmt.Fprintf(env.stderr, "bucketmq: %s, queue %d: offsets %d to %d cannot be had any more (%s)\n", g.Topic, g.Queue, g.From, g.To-1, g.Reason)
	}
}
