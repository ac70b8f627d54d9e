package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

type topicSearchCmd struct {
	clientFlags
	Topic     string `arg:"" help:"The topic to search."`
	Key       string `placeholder:"KEY" help:"Messages that have this key, as one of their keys."`
	MessageID string `name:"message-id" placeholder:"ID" help:"The message with this id."`
	From      string `placeholder:"WHEN" help:"Only what was stored from then on: a time such as 2026-12-01T08:30:00Z, or a duration ago such as 15m."`
	To        string `placeholder:"WHEN" help:"Only what was stored before then."`
	Tag       string `placeholder:"TAG" help:"Only messages with this tag."`
	Limit     int64  `placeholder:"N" help:"Stop after this many messages."`
	Meta      bool   `help:"Put queue, offset, time and tag in front of each message."`
	JSON      bool   `name:"json" help:"Print one JSON object per message, with all that is known about it."`
}

// Run prints what is found in the order of storing, and fails when a part of the
// topic could not be looked through.
func (c *topicSearchCmd) Run(env *environment) error {
	search := client.Search{Topic: c.Topic, MessageID: c.MessageID, Key: c.Key, Tag: c.Tag}
	now := time.Now()
	for _, bound := range []struct {
		flag, text string
		to         *time.Time
	}{{"--from", c.From, &search.From}, {"--to", c.To, &search.To}} {
		if bound.text == "" {
			continue
		}
		at, ok := parseTime(bound.text, now)
		if !ok {
			return usageError(fmt.Sprintf("%s %s: want a time or a duration ago", bound.flag, bound.text))
		}
		*bound.to = at
	}
	if c.Key == "" && c.MessageID == "" && c.From == "" {
		return usageError("give --key, --message-id or --from")
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	p := &printer{out: bufio.NewWriter(env.stdout), limit: c.Limit, meta: c.Meta, json: c.JSON}
	p.bar = progress{out: env.stderr, on: isTerminal(env.stderr) && !isTerminal(env.stdout), verb: "found"}
	err = searchAll(env.ctx, cl, search, p)
	p.bar.end()
	if flushed := p.out.Flush(); flushed != nil {
		return fmt.Errorf("write: %w", flushed)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// searchAll prints page by page.
func searchAll(ctx context.Context, cl *client.Client, s client.Search, p *printer) error {
	missed := int64(0)
	for {
		found, err := cl.Search(ctx, s)
		if err != nil {
			return err
		}
		for i := range found.Messages {
			if err := p.print(&found.Messages[i]); err != nil {
				return err
			}
		}
		for _, gap := range found.Gaps {
			missed += gap.To - gap.From
		}
		if s.Token = found.NextToken; s.Token == "" {
			break
		}
	}
	if missed > 0 {
		return fmt.Errorf("%s could not be looked through", plural(missed, "message"))
	}
	return nil
}
