package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

type groupAssignmentsCmd struct {
	clientFlags
	Name string `arg:"" help:"The group's name."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints one line for each queue.
func (c *groupAssignmentsCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	a, err := cl.Assignments(env.ctx, c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.stdout, a)
	}
	return printAssignments(env, a)
}

func printAssignments(env *environment, a client.Assignments) error {
	fmt.Fprintf(env.stdout, "generation %d, %s\n\n", a.Generation, a.Reason)
	table := newTable(env.stdout, "TOPIC", "QUEUE", "STATE", "CLIENT", "MEMBER", "NEXT")
	for _, q := range a.Items {
		table.row(q.Topic, q.Queue, q.State, dash(q.ClientID), dash(q.MemberID), dash(q.Next))
	}
	return table.flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

type groupOffsetsCmd struct {
	clientFlags
	Name  string `arg:"" help:"The group's name."`
	Topic string `placeholder:"TOPIC" help:"Only this topic."`
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
}

// Run prints one line for each queue.
func (c *groupOffsetsCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	offsets, err := cl.GroupOffsets(env.ctx, c.Name, c.Topic)
	if err != nil {
		return err
	}
	if c.JSON {
		return printLines(env, offsets)
	}
	return printOffsets(env, offsets)
}

func printOffsets(env *environment, offsets []client.GroupOffset) error {
	table := newTable(env.stdout, "TOPIC", "QUEUE", "OFFSET", "END", "LAG", "BEHIND", "VERSION", "CLIENT", "STATE")
	for _, o := range offsets {
		behind := "-"
		if o.LagMS != nil {
			behind = shortDuration((time.Duration(*o.LagMS) * time.Millisecond).Round(time.Second / 10))
		}
		state := "running"
		if o.Stopped {
			state = "stopped"
		}
		table.row(o.Topic, o.Queue, number(o.Offset), o.Next, number(o.Lag), behind, o.Version, dash(o.ClientID), state)
	}
	return table.flush()
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

type groupExportCmd struct {
	clientFlags
	Name string `arg:"" help:"The group's name."`
}

// Run prints the offsets.
func (c *groupExportCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	text, err := cl.ExportOffsets(env.ctx, c.Name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "%s\n", text)
	return err
}

type groupResetCmd struct {
	clientFlags
	Name   string  `arg:"" help:"The group's name."`
	Topic  string  `arg:"" help:"The topic."`
	To     string  `required:"" placeholder:"WHERE" help:"Where to: earliest, latest, an offset (of every queue that is moved), +N or -N messages, a time such as 2026-12-01T08:30:00Z, or a duration ago such as 15m."`
	Queue  []int64 `placeholder:"N" help:"Only this queue. Repeatable."`
	DryRun bool    `help:"Change nothing; only show what would happen."`
	JSON   bool    `name:"json" help:"Print one JSON object per line."`
}

// Run moves the group and shows from where to where.
func (c *groupResetCmd) Run(env *environment) error {
	reset, err := c.reset(time.Now())
	if err != nil {
		return err
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	changes, err := cl.ResetOffsets(env.ctx, c.Name, reset)
	if err != nil {
		return err
	}
	if c.JSON {
		return printLines(env, changes)
	}
	table := newTable(env.stdout, "TOPIC", "QUEUE", "FROM", "TO", "VERSION")
	for _, o := range changes {
		table.row(o.Topic, o.Queue, number(o.OldOffset), o.NewOffset, o.NewVersion)
	}
	if err := table.flush(); err != nil {
		return err
	}
	if c.DryRun {
		fmt.Fprintln(env.stderr, "Nothing was changed.")
	}
	return nil
}

// reset reads --to.
func (c *groupResetCmd) reset(now time.Time) (client.Reset, error) {
	r := client.Reset{Topic: c.Topic, Queues: c.Queue, DryRun: c.DryRun}
	signed := strings.HasPrefix(c.To, "+") || strings.HasPrefix(c.To, "-")
	n, err := strconv.ParseInt(c.To, 10, 64)
	switch {
	case c.To == "earliest" || c.To == "latest":
		r.To = c.To
	case err == nil && signed:
		r.To, r.Shift = "shift", &n
	case err == nil:
		r.To, r.Offset = "offset", &n
	default:
		at, ok := parseTime(c.To, now)
		if !ok {
			return r, usageError(fmt.Sprintf("--to %s: want earliest, latest, an offset, +N, -N, a time or a duration", c.To))
		}
		at = at.UTC().Truncate(time.Millisecond)
		r.To, r.Timestamp = "timestamp", &at
	}
	return r, nil
}

// groupQueue are the arguments of stop and start.
type groupQueue struct {
	clientFlags
	Name  string `arg:"" help:"The group's name."`
	Topic string `arg:"" help:"The topic."`
	Queue int64  `arg:"" help:"The queue."`
}

type groupStopCmd struct{ groupQueue }

// Run stops the queue.
func (c *groupStopCmd) Run(env *environment) error { return c.set(env, true) }

type groupStartCmd struct{ groupQueue }

// Run starts the queue.
func (c *groupStartCmd) Run(env *environment) error { return c.set(env, false) }

func (q *groupQueue) set(env *environment, stopped bool) error {
	cl, err := q.client()
	if err != nil {
		return err
	}
	return cl.StopQueue(env.ctx, q.Name, q.Topic, q.Queue, stopped)
}

type groupSettingsCmd struct {
	clientFlags
	Name  string   `arg:"" help:"The group's name."`
	Topic string   `arg:"" optional:"" help:"The topic whose settings are changed."`
	Set   []string `placeholder:"NAME=VALUE" help:"Change this setting: concurrency, pull_batch, consume_batch, delay_ms, retry_count, tags, timeout_ms, max_lag, pull_threshold_for_queue, pull_threshold_size_for_queue or consume_max_span. Repeatable."`
	JSON  bool     `name:"json" help:"Print one JSON object per line."`
}

// Run shows the settings, after changing them if that is asked for.
func (c *groupSettingsCmd) Run(env *environment) error {
	change, err := c.change()
	if err != nil {
		return err
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	var all []client.LiveSettings
	if len(change) > 0 {
		now, err := cl.SetLiveSettings(env.ctx, c.Name, c.Topic, change)
		if err != nil {
			return err
		}
		all = append(all, now)
	} else if all, err = cl.LiveSettings(env.ctx, c.Name); err != nil {
		return err
	}
	if c.JSON {
		return printLines(env, all)
	}
	for _, s := range all {
		if c.Topic != "" && s["topic"] != c.Topic {
			continue
		}
		fmt.Fprintf(env.stdout, "%v\n", s["topic"])
		table := newTable(env.stdout, "  SETTING", "VALUE")
		for _, name := range slices.Sorted(maps.Keys(s)) {
			switch name {
			case "topic", "etag", "subscription", "subscribed", "updated_at":
				continue
			}
			text, _ := json.Marshal(s[name])
			table.row("  "+name, string(text))
		}
		if err := table.flush(); err != nil {
			return err
		}
	}
	return nil
}

// change reads --set. Values are numbers, but for tags.
func (c *groupSettingsCmd) change() (client.LiveSettings, error) {
	if len(c.Set) > 0 && c.Topic == "" {
		return nil, usageError("--set changes the settings for one topic: name it")
	}
	change := client.LiveSettings{}
	for _, set := range c.Set {
		name, value, ok := strings.Cut(set, "=")
		if !ok {
			return nil, usageError(fmt.Sprintf("--set %s: want NAME=VALUE", set))
		}
		if name == "tags" {
			change[name] = value
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, usageError(fmt.Sprintf("--set %s: want a number", set))
		}
		change[name] = n
	}
	return change, nil
}
