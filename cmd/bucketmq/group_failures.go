package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

// parseBackoff reads --backoff.
func parseBackoff(text string) (*client.Backoff, error) {
	wrong := usageError(fmt.Sprintf("--backoff %s: want INITIAL,MAX,FACTOR such as 5s,2h,2", text))
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return nil, wrong
	}
	initial, err := time.ParseDuration(parts[0])
	most, err2 := time.ParseDuration(parts[1])
	factor, err3 := strconv.ParseFloat(parts[2], 64)
	if err != nil || err2 != nil || err3 != nil {
		return nil, wrong
	}
	return &client.Backoff{InitialMS: initial.Milliseconds(), MaxMS: most.Milliseconds(), Multiplier: factor}, nil
}

type groupRetriesCmd struct {
	clientFlags
	Name  string `arg:"" help:"The group's name."`
	Due   bool   `help:"Those whose time has come and that are not finished, in place of those that wait."`
	Limit int    `placeholder:"N" help:"Stop after so many."`
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
}

// Run lists the retries.
func (c *groupRetriesCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	return printFailures(env, cl.Retries(env.ctx, c.Name, c.Due), c.Limit, c.JSON)
}

// deadLetters are the arguments that pick dead letters.
type deadLetters struct {
	clientFlags
	Name   string  `arg:"" help:"The group's name."`
	Topic  string  `placeholder:"NAME" help:"Only messages that were sent to this topic."`
	Reason string  `placeholder:"TEXT" help:"Only with this reason."`
	ID     string  `name:"id" placeholder:"ID" help:"Only the message with this id."`
	From   *string `placeholder:"WHEN" help:"Only those that became dead letters then or later: a time such as 2026-12-01T08:30:00Z, or a duration ago such as 15m."`
	To     *string `placeholder:"WHEN" help:"Only those that became dead letters before."`
}

func (d *deadLetters) pick() (client.DeadLetters, error) {
	out := client.DeadLetters{Topic: d.Topic, Reason: d.Reason, MessageID: d.ID}
	for _, t := range []struct {
		flag string
		text *string
		to   **time.Time
	}{{"from", d.From, &out.From}, {"to", d.To, &out.To}} {
		if t.text == nil {
			continue
		}
		at, ok := parseTime(*t.text, time.Now())
		if !ok {
			return out, usageError(fmt.Sprintf("--%s %s: want a time or a duration", t.flag, *t.text))
		}
		at = at.UTC().Truncate(time.Millisecond)
		*t.to = &at
	}
	return out, nil
}

type groupDeadLettersCmd struct {
	deadLetters
	Limit int  `placeholder:"N" help:"Stop after so many."`
	JSON  bool `name:"json" help:"Print one JSON object per line."`
}

// Run lists the dead letters.
func (c *groupDeadLettersCmd) Run(env *environment) error {
	pick, err := c.pick()
	if err != nil {
		return err
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	return printFailures(env, cl.DeadLetters(env.ctx, c.Name, pick), c.Limit, c.JSON)
}

func printFailures(env *environment, list iter.Seq2[client.FailedMessage, error], limit int, asJSON bool) error {
	table := newTable(env.stdout, "AT", "TOPIC", "QUEUE", "OFFSET", "ATTEMPTS", "REASON", "ID", "BODY")
	n := 0
	for m, err := range list {
		if err != nil {
			return err
		}
		if limit > 0 && n == limit {
			break
		}
		n++
		if asJSON {
			if err := printLines(env, []client.FailedMessage{m}); err != nil {
				return err
			}
			continue
		}
		body, err := m.Message.Bytes()
		if err != nil {
			return err
		}
		table.row(m.At.Format(time.RFC3339), m.Topic, m.Message.Queue, m.Message.Offset, m.Attempts, m.Reason, m.Message.MessageID, shortened(body))
	}
	if asJSON {
		return nil
	}
	return table.flush()
}

// shortened shows the beginning of a body in a table.
func shortened(body []byte) string {
	const most = 40
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(body), "?"))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

type groupRedriveCmd struct {
	deadLetters
	Rate   int64 `placeholder:"N" help:"Messages per second; all at once when left out."`
	DryRun bool  `help:"Change nothing; only count them."`
}

// Run redrives the dead letters that are picked.
func (c *groupRedriveCmd) Run(env *environment) error {
	return c.handle(env, c.DryRun, "redriven", func(cl *client.Client, pick client.DeadLetters) (client.Handled, error) {
		pick.Rate = c.Rate
		h, err := cl.Redrive(env.ctx, c.Name, pick)
		if err == nil && c.Rate > 0 && h.Next != "" { // each call begins to count anew
			select {
			case <-time.After(time.Duration(h.Done) * time.Second / time.Duration(c.Rate)):
			case <-env.ctx.Done():
				return h, context.Cause(env.ctx)
			}
		}
		return h, err
	})
}

type groupPurgeCmd struct {
	deadLetters
	DryRun bool `help:"Change nothing; only count them."`
}

// Run drops the dead letters that are picked.
func (c *groupPurgeCmd) Run(env *environment) error {
	return c.handle(env, c.DryRun, "purged", func(cl *client.Client, pick client.DeadLetters) (client.Handled, error) {
		return cl.Purge(env.ctx, c.Name, pick)
	})
}

// handle calls do until everything is done.
func (d *deadLetters) handle(env *environment, dryRun bool, verb string, do func(*client.Client, client.DeadLetters) (client.Handled, error)) error {
	pick, err := d.pick()
	if err != nil {
		return err
	}
	pick.DryRun = dryRun
	cl, err := d.client()
	if err != nil {
		return err
	}
	var total int64
	for {
		h, err := do(cl, pick)
		if err != nil {
			if total > 0 {
				fmt.Fprintf(env.stderr, "%d %s before this:\n", total, verb)
			}
			return err
		}
		if dryRun {
			total += h.Matched
		} else {
			total += h.Done
		}
		if pick.PageToken = h.Next; h.Next != "" {
			continue
		}
		if dryRun {
			verb = "would be " + verb
		}
		fmt.Fprintf(env.stdout, "%d %s\n", total, verb)
		return nil
	}
}
