package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/client"
)

type txCmd struct {
	Begin    txBeginCmd    `cmd:"" help:"Store messages of several topics that become readable together, or never."`
	Commit   txCommitCmd   `cmd:"" help:"Make the messages of a transaction readable."`
	Rollback txRollbackCmd `cmd:"" help:"See to it that nobody reads the messages of a transaction."`
	Show     txShowCmd     `cmd:"" help:"Show a transaction."`
	List     txListCmd     `cmd:"" help:"List the transactions of a producer group."`
	Checks   txChecksCmd   `cmd:"" help:"Take transactions that somebody has to decide, as a producer of the group."`
}

type txBeginCmd struct {
	clientFlags
	Group      string        `arg:"" help:"The producer group that is asked about the transaction."`
	Message    []string      `arg:"" name:"topic=message" help:"Messages, each behind its topic, such as orders=hello. Topics are of type transaction or mixed."`
	Reference  string        `placeholder:"TEXT" help:"Your own name for the transaction, such as an order number; checks tell it."`
	CheckAfter time.Duration `placeholder:"DURATION" help:"When producers are first asked if it is not decided (6s)."`
	RetryFor   time.Duration `default:"30s" placeholder:"DURATION" help:"How long to repeat a request that was not answered; nothing begins twice."`
	JSON       bool          `name:"json" help:"Print JSON."`
}

// Run begins the transaction and prints its id.
func (c *txBeginCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	if c.CheckAfter < 0 || c.CheckAfter > 0 && c.CheckAfter < time.Millisecond {
		return usageError(fmt.Sprintf("--check-after %v: at least 1ms", c.CheckAfter))
	}
	t := client.NewTransaction{ProducerGroup: c.Group, Reference: c.Reference, CheckAfterMS: c.CheckAfter.Milliseconds()}
	if t.Topics, err = byTopic(c.Message); err != nil {
		return err
	}
	key := uuid.NewString()
	tx, err := repeated(env, c.RetryFor, func() (client.Transaction, error) { return cl.Begin(env.ctx, t, key) })
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.stdout, tx)
	}
	_, err = fmt.Fprintln(env.stdout, tx.ID)
	return err
}

// byTopic reads messages of the form topic=message; a topic's keep their order.
func byTopic(messages []string) ([]client.TopicMessages, error) {
	var out []client.TopicMessages
	at := map[string]int{}
	for _, text := range messages {
		topic, body, ok := strings.Cut(text, "=")
		if !ok || topic == "" {
			return nil, usageError(fmt.Sprintf("message %q: want TOPIC=MESSAGE", text))
		}
		if _, known := at[topic]; !known {
			at[topic] = len(out)
			out = append(out, client.TopicMessages{Topic: topic})
		}
		var m client.Message
		m.SetBody([]byte(body))
		out[at[topic]].Messages = append(out[at[topic]].Messages, m)
	}
	return out, nil
}

// repeated makes a request that may be repeated until it is answered.
func repeated[T any](env *environment, within time.Duration, do func() (T, error)) (T, error) {
	deadline := time.Now().Add(within)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		v, err := do()
		pause := max(wait/2+rand.N(wait), retryAfter(err))
		if err == nil || !mayRepeat(err) || time.Now().Add(pause).After(deadline) {
			return v, err
		}
		if err := sleep(env.ctx, pause); err != nil {
			return v, err
		}
	}
}

// txDecision are the flags of commit and rollback.
type txDecision struct {
	clientFlags
	ID       string        `arg:"" help:"The transaction."`
	RetryFor time.Duration `default:"30s" placeholder:"DURATION" help:"How long to repeat a request that was not answered; a decision is taken once."`
	JSON     bool          `name:"json" help:"Print JSON."`
}

func (c *txDecision) run(env *environment, decide func(*client.Client) (client.Transaction, error)) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	tx, err := repeated(env, c.RetryFor, func() (client.Transaction, error) { return decide(cl) })
	if err != nil {
		return err
	}
	return printTransaction(env, tx, c.JSON)
}

type txCommitCmd struct {
	txDecision
	Force bool `help:"Commit it although it has expired."`
}

// Run commits the transaction.
func (c *txCommitCmd) Run(env *environment) error {
	return c.run(env, func(cl *client.Client) (client.Transaction, error) { return cl.Commit(env.ctx, c.ID, c.Force) })
}

type txRollbackCmd struct{ txDecision }

// Run rolls the transaction back.
func (c *txRollbackCmd) Run(env *environment) error {
	return c.run(env, func(cl *client.Client) (client.Transaction, error) { return cl.Rollback(env.ctx, c.ID) })
}

type txShowCmd struct {
	clientFlags
	ID       string `arg:"" help:"The transaction."`
	Messages bool   `help:"Print its messages, one JSON object per line, while it is open or expired."`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// Run shows the transaction and where its messages are.
func (c *txShowCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	if c.Messages {
		messages, err := cl.TransactionMessages(env.ctx, c.ID)
		for _, m := range messages {
			if err := printJSON(env.stdout, m); err != nil {
				return err
			}
		}
		return err
	}
	tx, err := cl.Transaction(env.ctx, c.ID)
	if err != nil {
		return err
	}
	return printTransaction(env, tx, c.JSON)
}

// printTransaction shows a transaction, a line for each topic, or as JSON.
func printTransaction(env *environment, t client.Transaction, asJSON bool) error {
	if asJSON {
		return printJSON(env.stdout, t)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", t.ID, t.State)
	if t.Reason != "" {
		fmt.Fprintf(&b, " (%s)", t.Reason)
	}
	fmt.Fprintf(&b, ", of %s, begun %s", t.ProducerGroup, localTime(t.CreatedAt))
	if t.Reference != "" {
		fmt.Fprintf(&b, ", reference %s", t.Reference)
	}
	if t.Checks > 0 {
		fmt.Fprintf(&b, ", checked %d of %d times", t.Checks, t.MaxChecks)
	}
	b.WriteByte('\n')
	for _, topic := range t.Topics {
		fmt.Fprintf(&b, "  %s: %s", topic.Topic, plural(int64(topic.Messages), "message"))
		for _, p := range topic.Places {
			fmt.Fprintf(&b, "; queue %d from offset %d", p.Queue, p.Offset)
		}
		if topic.Gone {
			b.WriteString("; the topic was deleted")
		}
		b.WriteByte('\n')
	}
	_, err := env.stdout.Write([]byte(b.String()))
	return err
}

type txListCmd struct {
	clientFlags
	Group string `arg:"" help:"The producer group."`
	State string `default:"" enum:",begun,open,committed,rolled_back,expired" placeholder:"STATE" help:"Only those in this state: begun, open, committed, rolled_back or expired."`
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
}

// Run prints one line for each transaction.
func (c *txListCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	table := newTable(env.stdout, "TRANSACTION", "STATE", "CHECKS", "BEGUN", "REFERENCE")
	for t, err := range cl.Transactions(env.ctx, c.Group, c.State) {
		if err != nil {
			return err
		}
		if c.JSON {
			if err := printJSON(env.stdout, t); err != nil {
				return err
			}
			continue
		}
		table.row(t.ID, t.State, fmt.Sprint(t.Checks), localTime(t.CreatedAt), t.Reference)
	}
	if c.JSON {
		return nil
	}
	return table.flush()
}

type txChecksCmd struct {
	clientFlags
	Group string        `arg:"" help:"The producer group."`
	Max   int           `default:"16" placeholder:"N" help:"At most so many (1 to 32)."`
	Wait  time.Duration `placeholder:"DURATION" help:"How long to wait for one, up to 30s."`
	JSON  bool          `name:"json" help:"Print one JSON object per line."`
}

// Run prints the transactions to decide. Each counts as asked.
func (c *txChecksCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	checks, err := cl.Checks(env.ctx, c.Group, c.Max, c.Wait)
	if err != nil {
		return err
	}
	for _, t := range checks {
		if err := printTransaction(env, t, c.JSON); err != nil {
			return err
		}
	}
	return nil
}
