package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

type consumeCmd struct {
	clientFlags
	Topic  string  `arg:"" help:"The topic to read."`
	Follow bool    `short:"f" help:"Wait for new messages after the last one, until interrupted."`
	From   string  `default:"earliest" placeholder:"WHERE" help:"Where to start: earliest, latest, an offset (with --queue), a time such as 2026-12-01T08:30:00Z, or a duration ago such as 15m."`
	Tags   string  `xor:"filter" placeholder:"FILTER" help:"Only messages with one of these tags, such as 'paid || refunded'."`
	SQL    string  `name:"sql" xor:"filter" placeholder:"CONDITION" help:"Only messages that meet this condition over their properties, such as \"region = 'eu' AND amount > 100\"."`
	Queue  []int64 `placeholder:"N" help:"Only this queue. Repeatable."`
	Limit  int64   `placeholder:"N" help:"Stop after this many messages."`
	Group  string  `placeholder:"NAME" help:"Consume for this group: it remembers how far it is, and its members share the queues. Without --follow it ends when nothing has come for a while."`
	Shared bool    `help:"With --group: receive messages of any queue and acknowledge each once it is printed, instead of owning queues."`
	Meta   bool    `help:"Put queue, offset, time and tag in front of each message."`
	JSON   bool    `name:"json" help:"Print one JSON object per message, with all that is known about it."`
}

// errEnough ends reading when the limit is reached.
var errEnough = errors.New("limit reached")

// Run prints what is stored, oldest first, and with --follow what comes then.
func (c *consumeCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	var starts []*cursor
	if c.Group == "" {
		if c.Shared {
			return usageError("--shared is for --group")
		}
		if starts, err = c.starts(env.ctx, cl); err != nil {
			return err
		}
	} else if c.From != "earliest" || len(c.Queue) > 0 {
		return usageError("a group goes on where it is: move it with bucketmq group reset, not with --from or --queue")
	}
	ctx, cancel := context.WithCancel(env.ctx)
	defer cancel()
	p := &printer{
		out:   bufio.NewWriterSize(env.stdout, 64<<10),
		bar:   progress{out: env.stderr, on: isTerminal(env.stderr) && !isTerminal(env.stdout), verb: "read"},
		limit: c.Limit, meta: c.Meta, json: c.JSON,
	}
	if c.Group == "" {
		err = c.read(ctx, env, cl, starts, p)
	} else {
		err = c.consume(ctx, env, cl, p)
	}
	p.bar.end()
	if flushed := p.out.Flush(); flushed != nil {
		return fmt.Errorf("write: %w", flushed)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (c *consumeCmd) read(ctx context.Context, env *environment, cl *client.Client, starts []*cursor, p *printer) error {
	if err := mergeStored(starts, func(q *cursor) error { return q.fill(ctx, cl, 0) }, p); err != nil {
		return err
	}
	if !c.Follow {
		return nil
	}
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return followAll(ctx, env, cl, starts, p)
}

// starts finds the offset at which each wanted queue begins.
func (c *consumeCmd) starts(ctx context.Context, cl *client.Client) ([]*cursor, error) {
	queues, err := cl.Queues(ctx, c.Topic)
	if err != nil {
		return nil, err
	}
	offsets, err := c.offsets(ctx, cl)
	if err != nil {
		return nil, err
	}
	var all []*cursor
	for _, q := range queues {
		if len(c.Queue) > 0 && !slices.Contains(c.Queue, q.Queue) {
			continue
		}
		from, ok := offsets[q.Queue]
		if !ok {
			from = max(q.MinOffset, offsets[-1])
		}
		all = append(all, &cursor{topic: c.Topic, queue: q.Queue, tags: c.Tags, sql: c.SQL, offset: from, end: q.NextOffset, epoch: q.Epoch})
	}
	for _, wanted := range c.Queue {
		if !slices.ContainsFunc(all, func(q *cursor) bool { return q.queue == wanted }) {
			return nil, usageError(fmt.Sprintf("topic %s has no queue %d", c.Topic, wanted))
		}
	}
	return all, nil
}

// offsets reads --from: per queue, or under -1 for all of them.
func (c *consumeCmd) offsets(ctx context.Context, cl *client.Client) (map[int64]int64, error) {
	var found []client.QueueOffset
	var err error
	switch at, isTime := parseTime(c.From, time.Now()); {
	case c.From == "earliest" || c.From == "latest":
		found, err = cl.OffsetsOf(ctx, c.Topic, c.From)
	case isTime:
		found, err = cl.OffsetsAt(ctx, c.Topic, at)
	default:
		offset, bad := strconv.ParseInt(c.From, 10, 64)
		if bad != nil || offset < 0 {
			return nil, usageError(fmt.Sprintf("--from %s: want earliest, latest, an offset, a time or a duration", c.From))
		}
		if len(c.Queue) != 1 {
			return nil, usageError("an offset belongs to one queue: add --queue")
		}
		return map[int64]int64{-1: offset}, nil
	}
	if err != nil {
		return nil, err
	}
	offsets := make(map[int64]int64, len(found))
	for _, f := range found {
		offsets[f.Queue] = f.Offset
	}
	return offsets, nil
}

// parseTime understands a time, a day, and a duration before now.
func parseTime(s string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return at, true
		}
	}
	d, err := time.ParseDuration(strings.TrimPrefix(s, "-"))
	if err != nil || strings.Trim(s, "0123456789") == "" {
		return time.Time{}, false
	}
	return now.Add(-d), true
}

// printer writes messages for people or for programs.
type printer struct {
	out   *bufio.Writer
	bar   progress
	limit int64
	count int64
	meta  bool
	json  bool
}

// print writes one message; errEnough says that it was the last one wanted.
func (p *printer) print(m *client.Stored) error {
	if err := p.write(m); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	p.bar.add(1)
	p.count++
	if p.limit > 0 && p.count >= p.limit {
		return errEnough
	}
	return nil
}

func (p *printer) write(m *client.Stored) error {
	if p.json {
		return printJSON(p.out, m)
	}
	body, err := m.Bytes()
	if err != nil {
		return fmt.Errorf("message %s: %w", m.MessageID, err)
	}
	if p.meta {
		tag := m.Tag
		if tag == "" {
			tag = "-"
		}
		fmt.Fprintf(p.out, "%d:%d\t%s\t%s\t", m.Queue, m.Offset, m.StoredAt.UTC().Format("2006-01-02T15:04:05.000Z"), tag)
	}
	if _, err := p.out.Write(body); err != nil {
		return err
	}
	return p.out.WriteByte('\n')
}
