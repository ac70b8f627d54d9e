package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

type topicCmd struct {
	Create   topicCreateCmd   `cmd:"" help:"Create a topic."`
	List     topicListCmd     `cmd:"" help:"List topics."`
	Describe topicDescribeCmd `cmd:"" help:"Show a topic's settings and its queues."`
	Update   topicUpdateCmd   `cmd:"" help:"Change a topic's settings."`
	Delete   topicDeleteCmd   `cmd:"" help:"Delete a topic and its messages."`
	Search   topicSearchCmd   `cmd:"" help:"Find messages by key, time or id."`
}

// topicSettings are the flags of create and update; what is not given is left
// to the server, or as it is.
type topicSettings struct {
	Queues          *int64            `placeholder:"N" help:"Number of queues: messages are in order within one. It can grow later, not shrink."`
	Retention       *time.Duration    `placeholder:"DURATION" help:"How long messages are kept, such as 72h."`
	RetentionBytes  *byteSize         `placeholder:"SIZE" help:"Bytes of messages that are kept; the oldest go first. 0: no limit."`
	MaxMessageBytes *byteSize         `placeholder:"SIZE" help:"Largest body that is accepted."`
	Attribute       map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"A note of your own about the topic. Repeatable."`
}

func (s topicSettings) settings() client.TopicSettings {
	out := client.TopicSettings{Queues: s.Queues, Attributes: s.Attribute}
	if s.Retention != nil {
		ms := s.Retention.Milliseconds()
		out.RetentionMS = &ms
	}
	out.RetentionBytes = (*int64)(s.RetentionBytes)
	out.MaxMessageBytes = (*int64)(s.MaxMessageBytes)
	return out
}

type topicCreateCmd struct {
	clientFlags
	Name        string  `arg:"" help:"The topic's name: letters, digits, '.', '_' and '-', at most 127."`
	Type        *string `placeholder:"TYPE" enum:"normal,fifo,delay,transaction,mixed" help:"What the topic is for: normal, fifo, delay, transaction or mixed. It cannot change later."`
	IfNotExists bool    `help:"Succeed without a change when the topic exists."`
	JSON        bool    `name:"json" help:"Print the topic as JSON."`
	topicSettings
}

// Run creates the topic and shows it.
func (c *topicCreateCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	settings := c.settings()
	settings.Type = c.Type
	t, err := cl.CreateTopic(env.ctx, c.Name, settings)
	var problem *client.Problem
	switch {
	case errors.As(err, &problem) && problem.Status == 412 && c.IfNotExists:
		if t, err = cl.Topic(env.ctx, c.Name); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	return printTopic(env, t, c.JSON)
}

// printTopic shows a topic in a line, or as JSON.
func printTopic(env *environment, t client.Topic, asJSON bool) error {
	if asJSON {
		return printJSON(env.stdout, t)
	}
	_, err := fmt.Fprintf(env.stdout, "%s: %s, %s, kept %s\n", t.Name, t.Type, plural(t.Queues, "queue"), retention(t))
	return err
}

type topicListCmd struct {
	clientFlags
	Prefix string `placeholder:"PREFIX" help:"Only topics whose names start so."`
	JSON   bool   `name:"json" help:"Print one JSON object per line."`
}

// Run prints one line for each topic.
func (c *topicListCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	table := newTable(env.stdout, "NAME", "TYPE", "QUEUES", "KEPT", "CREATED")
	for t, err := range cl.Topics(env.ctx, c.Prefix) {
		if err != nil {
			return err
		}
		if c.JSON {
			if err := printJSON(env.stdout, t); err != nil {
				return err
			}
			continue
		}
		table.row(t.Name, t.Type, t.Queues, retention(t), t.CreatedAt.Local().Format(time.DateTime))
	}
	if c.JSON {
		return nil
	}
	return table.flush()
}

type topicDescribeCmd struct {
	clientFlags
	Name string `arg:"" help:"The topic's name."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints the topic's settings and a table of its queues.
func (c *topicDescribeCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	t, err := cl.Topic(env.ctx, c.Name)
	if err != nil {
		return err
	}
	queues, err := cl.Queues(env.ctx, c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.stdout, struct {
			client.Topic
			QueueStates []client.Queue `json:"queue_states"`
		}{t, queues})
	}
	head := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(head, "name\t%s\ntype\t%s\nepoch\t%d\nkept\t%s\n", t.Name, t.Type, t.Epoch, retention(t))
	fmt.Fprintf(head, "largest body\t%s\n", humanBytes(t.MaxMessageBytes))
	fmt.Fprintf(head, "created\t%s\nchanged\t%s\netag\t%s\n", localTime(t.CreatedAt), localTime(t.UpdatedAt), t.ETag)
	for _, name := range sortedNames(t.Attributes) {
		fmt.Fprintf(head, "attribute %s\t%s\n", name, t.Attributes[name])
	}
	fmt.Fprintln(head)
	if err := head.Flush(); err != nil {
		return err
	}
	table := newTable(env.stdout, "QUEUE", "MESSAGES", "FIRST", "NEXT", "SIZE", "LAST STORED")
	for _, q := range queues {
		last := "-"
		if q.LastStoredAt != nil {
			last = localTime(*q.LastStoredAt)
		}
		table.row(q.Queue, q.NextOffset-q.MinOffset, q.MinOffset, q.NextOffset, humanBytes(q.Bytes), last)
	}
	return table.flush()
}

type topicUpdateCmd struct {
	clientFlags
	Name    string `arg:"" help:"The topic's name."`
	IfMatch string `placeholder:"ETAG" help:"Only if the topic still has this version, as describe shows it."`
	JSON    bool   `name:"json" help:"Print the topic as JSON."`
	topicSettings
}

// Run changes what was given and shows the topic.
func (c *topicUpdateCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	t, err := cl.UpdateTopic(env.ctx, c.Name, c.settings(), c.IfMatch)
	if err != nil {
		return err
	}
	return printTopic(env, t, c.JSON)
}

type topicDeleteCmd struct {
	clientFlags
	Name string `arg:"" help:"The topic's name."`
	Yes  bool   `short:"y" help:"Do not ask."`
}

// Run deletes the topic, after a question when there is someone to ask.
func (c *topicDeleteCmd) Run(env *environment) error {
	if !c.Yes {
		if !isTerminal(env.stdin) {
			return usageError("deleting a topic deletes its messages: pass --yes")
		}
		fmt.Fprintf(env.stderr, "Delete topic %s and its messages? Type its name: ", c.Name)
		answer, err := bufio.NewReader(env.stdin).ReadString('\n')
		if err != nil || strings.TrimSpace(answer) != c.Name {
			return errors.New("not deleted")
		}
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	return cl.DeleteTopic(env.ctx, c.Name)
}

// table prints aligned columns.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, columns ...string) table {
	t := table{w: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t.w, strings.Join(columns, "\t"))
	return t
}

func (t table) row(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(t.w, "\t")
		}
		fmt.Fprint(t.w, cell)
	}
	fmt.Fprintln(t.w)
}

func (t table) flush() error { return t.w.Flush() }

func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

func retention(t client.Topic) string {
	age := "for ever"
	if t.RetentionMS > 0 {
		age = shortDuration(time.Duration(t.RetentionMS) * time.Millisecond)
	}
	if t.RetentionBytes > 0 {
		age += ", " + humanBytes(t.RetentionBytes)
	}
	return age
}

// shortDuration is d without its zero parts: 72h, not 72h0m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func humanBytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/(1<<10), "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB", "PiB"} {
		if value < 1<<10 {
			break
		}
		value, unit = value/(1<<10), next
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + unit
}

func localTime(t time.Time) string { return t.Local().Format(time.DateTime) }

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isTerminal says whether f is a terminal, so that someone watches.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	// The null device is one of characters too, also when it is called /dev/stdin.
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
