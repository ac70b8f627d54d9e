package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

type groupCmd struct {
	Create      groupCreateCmd      `cmd:"" help:"Create a consumer group."`
	List        groupListCmd        `cmd:"" help:"List consumer groups."`
	Describe    groupDescribeCmd    `cmd:"" help:"Show a group's settings, its members and how far it is."`
	Update      groupUpdateCmd      `cmd:"" help:"Change a group's settings."`
	Delete      groupDeleteCmd      `cmd:"" help:"Delete a group and its progress."`
	Members     groupMembersCmd     `cmd:"" help:"List the members of a group."`
	Assignments groupAssignmentsCmd `cmd:"" help:"Show whose the queues of a group are."`
	Offsets     groupOffsetsCmd     `cmd:"" help:"Show how far a group is in every queue."`
	Export      groupExportCmd      `cmd:"" help:"Print a group's offsets as RocketMQ's consumerOffset.json has them."`
	Reset       groupResetCmd       `cmd:"" help:"Move a group's progress in a topic."`
	Stop        groupStopCmd        `cmd:"" help:"Stop the consumption of a queue by a group."`
	Start       groupStartCmd       `cmd:"" help:"Start the consumption of a stopped queue again."`
	Retries     groupRetriesCmd     `cmd:"" help:"List the messages that a group is to get again."`
	DeadLetters groupDeadLettersCmd `cmd:"" name:"dead-letters" help:"List the messages that a group gave up."`
	Redrive     groupRedriveCmd     `cmd:"" help:"Deliver dead letters to the group once more."`
	Purge       groupPurgeCmd       `cmd:"" help:"Drop dead letters of a group."`
	Settings    groupSettingsCmd    `cmd:"" help:"Show a group's live settings for its topics, or change those for one."`
}

// groupSettings are the flags of create and update; what is not given is left to
// the server, or as it is.
type groupSettings struct {
	Strategy       *string           `placeholder:"NAME" help:"How queues are dealt out: averagely, averagely_by_circle, consistent_hash, by_config, by_machine_room, machine_room_nearby or circle_all_topics."`
	From           *string           `placeholder:"WHERE" help:"Where the group begins in a topic that is new to it: first, last, or a time such as 2026-12-01T08:30:00Z or 15m ago."`
	Ordered        *bool             `negatable:"" help:"Messages of a queue are handled one batch after another."`
	Invisible      *time.Duration    `placeholder:"DURATION" help:"How long a message that was received is hidden from others."`
	SessionTimeout *time.Duration    `placeholder:"DURATION" help:"A member that is silent for longer is removed."`
	ResumeWindow   *time.Duration    `placeholder:"DURATION" help:"How long a member whose WebSocket broke keeps its queues."`
	RevokeTimeout  *time.Duration    `placeholder:"DURATION" help:"How long a member may take to give a queue back."`
	RetryDelay     []time.Duration   `placeholder:"DURATION" xor:"retry" help:"Wait before a message that was given back comes again, after the first attempt, the second and so on; the last one repeats. Repeatable."`
	Backoff        *string           `placeholder:"INITIAL,MAX,FACTOR" xor:"retry" help:"Waits that grow, in place of --retry-delay, such as 5s,2h,2."`
	MaxAttempts    *int64            `placeholder:"N" help:"After so many deliveries that failed a message is a dead letter. 0: any number."`
	CommitPolicy   *string           `placeholder:"POLICY" enum:"monotonic,overwrite" help:"monotonic: progress is committed forward only. overwrite: anywhere, as RocketMQ does."`
	MaxMembers     *int64            `placeholder:"N" help:"How many members get queues; more stand by. 0: any number."`
	AllowIP        []string          `name:"allow-ip" placeholder:"CIDR" help:"Only clients from here may join. Repeatable; none: everybody may."`
	DenyIP         []string          `name:"deny-ip" placeholder:"CIDR" help:"Clients from here may not join. Repeatable; none: nobody is denied."`
	Attribute      map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"A note of your own about the group. Repeatable."`
}

func (s groupSettings) settings() (client.GroupSettings, error) {
	out := client.GroupSettings{
		Strategy: s.Strategy, Ordered: s.Ordered, CommitPolicy: s.CommitPolicy, MaxMembers: s.MaxMembers,
		InvisibleMS: milliseconds(s.Invisible), SessionTimeoutMS: milliseconds(s.SessionTimeout),
		ResumeWindowMS: milliseconds(s.ResumeWindow), RevokeTimeoutMS: milliseconds(s.RevokeTimeout),
		AllowIPs: orNone(s.AllowIP), DenyIPs: orNone(s.DenyIP), Attributes: s.Attribute,
	}
	if len(s.RetryDelay) > 0 || s.Backoff != nil || s.MaxAttempts != nil {
		out.Retry = &client.Retry{MaxAttempts: s.MaxAttempts}
		for _, d := range s.RetryDelay {
			out.Retry.DelaysMS = append(out.Retry.DelaysMS, d.Milliseconds())
		}
		if s.Backoff != nil {
			var err error
			if out.Retry.Exponential, err = parseBackoff(*s.Backoff); err != nil {
				return out, err
			}
		}
	}
	if s.From == nil {
		return out, nil
	}
	from := *s.From
	if at, ok := parseTime(from, time.Now()); ok {
		at = at.UTC().Truncate(time.Millisecond)
		from, out.ConsumeTimestamp = "timestamp", &at
	} else if from != "first" && from != "last" {
		return out, usageError(fmt.Sprintf("--from %s: want first, last, a time or a duration", from))
	}
	out.ConsumeFrom = &from
	return out, nil
}

// orNone is a list that was given; the one word "none" empties it.
func orNone(list []string) *[]string {
	switch {
	case len(list) == 0:
		return nil
	case len(list) == 1 && list[0] == "none":
		return &[]string{}
	}
	return &list
}

func milliseconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

type groupCreateCmd struct {
	clientFlags
	Name        string `arg:"" help:"The group's name: letters, digits, '.', '_' and '-', at most 120."`
	Broadcast   bool   `help:"Every member gets every message, instead of one of them."`
	IfNotExists bool   `help:"Succeed without a change when the group exists."`
	JSON        bool   `name:"json" help:"Print the group as JSON."`
	groupSettings
}

// Run creates the group and shows it.
func (c *groupCreateCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	settings, err := c.settings()
	if err != nil {
		return err
	}
	if c.Broadcast {
		mode := "broadcasting"
		settings.Mode = &mode
	}
	g, err := cl.CreateGroup(env.ctx, c.Name, settings)
	var problem *client.Problem
	switch {
	case errors.As(err, &problem) && problem.Code == "group_exists" && c.IfNotExists:
		if g, err = cl.Group(env.ctx, c.Name); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	return printGroup(env, g, c.JSON)
}

// printGroup shows a group in a line, or as JSON.
func printGroup(env *environment, g client.Group, asJSON bool) error {
	if asJSON {
		return printJSON(env.stdout, g)
	}
	ordered := ""
	if g.Ordered {
		ordered = ", ordered"
	}
	_, err := fmt.Fprintf(env.stdout, "%s: %s%s, queues dealt out %s, begins at %s\n", g.Name, g.Mode, ordered, g.Strategy, beginning(g))
	return err
}

func beginning(g client.Group) string {
	switch {
	case g.ConsumeFrom == "first":
		return "the first message that is kept"
	case g.ConsumeFrom == "last":
		return "the end"
	case g.ConsumeTimestamp != nil:
		return localTime(*g.ConsumeTimestamp)
	}
	return g.ConsumeFrom
}

type groupListCmd struct {
	clientFlags
	Prefix string `placeholder:"PREFIX" help:"Only groups whose names start so."`
	JSON   bool   `name:"json" help:"Print one JSON object per line."`
}

// Run prints one line for each group.
func (c *groupListCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	table := newTable(env.stdout, "NAME", "MODE", "STRATEGY", "ORDERED", "CREATED")
	for g, err := range cl.Groups(env.ctx, c.Prefix) {
		if err != nil {
			return err
		}
		if c.JSON {
			if err := printJSON(env.stdout, g); err != nil {
				return err
			}
			continue
		}
		table.row(g.Name, g.Mode, g.Strategy, yesNo(g.Ordered), localTime(g.CreatedAt))
	}
	if c.JSON {
		return nil
	}
	return table.flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

type groupDescribeCmd struct {
	clientFlags
	Name string `arg:"" help:"The group's name."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints the group's settings, its members and its progress.
func (c *groupDescribeCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	g, err := cl.Group(env.ctx, c.Name)
	if err != nil {
		return err
	}
	members, err := cl.Members(env.ctx, c.Name)
	if err != nil {
		return err
	}
	offsets, err := cl.GroupOffsets(env.ctx, c.Name, "")
	if err != nil {
		return err
	}
	assignments, err := cl.Assignments(env.ctx, c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.stdout, struct {
			client.Group
			Members     []client.Member      `json:"members"`
			Assignments client.Assignments   `json:"assignments"`
			Offsets     []client.GroupOffset `json:"offsets"`
		}{g, members, assignments, offsets})
	}
	head := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(head, "name\t%s\nmode\t%s\nstrategy\t%s\nbegins at\t%s\nordered\t%s\n", g.Name, g.Mode, g.Strategy, beginning(g), yesNo(g.Ordered))
	fmt.Fprintf(head, "hidden for\t%s\nsession timeout\t%s\ncommit policy\t%s\n",
		shortDuration(time.Duration(g.InvisibleMS)*time.Millisecond), shortDuration(time.Duration(g.SessionTimeoutMS)*time.Millisecond), g.CommitPolicy)
	fmt.Fprintf(head, "created\t%s\nchanged\t%s\netag\t%s\n", localTime(g.CreatedAt), localTime(g.UpdatedAt), g.ETag)
	for _, name := range sortedNames(g.Attributes) {
		fmt.Fprintf(head, "attribute %s\t%s\n", name, g.Attributes[name])
	}
	fmt.Fprintln(head)
	if err := head.Flush(); err != nil {
		return err
	}
	if err := printMembers(env, members); err != nil {
		return err
	}
	fmt.Fprintln(env.stdout)
	if err := printAssignments(env, assignments); err != nil {
		return err
	}
	fmt.Fprintln(env.stdout)
	return printOffsets(env, offsets)
}

type groupUpdateCmd struct {
	clientFlags
	Name    string `arg:"" help:"The group's name."`
	IfMatch string `placeholder:"ETAG" help:"Only if the group still has this version, as describe shows it."`
	JSON    bool   `name:"json" help:"Print the group as JSON."`
	groupSettings
}

// Run changes what was given and shows the group.
func (c *groupUpdateCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	settings, err := c.settings()
	if err != nil {
		return err
	}
	g, err := cl.UpdateGroup(env.ctx, c.Name, settings, c.IfMatch)
	if err != nil {
		return err
	}
	return printGroup(env, g, c.JSON)
}

type groupDeleteCmd struct {
	clientFlags
	Name  string `arg:"" help:"The group's name."`
	Force bool   `help:"Also when it has members."`
	Yes   bool   `short:"y" help:"Do not ask."`
}

// Run deletes the group, after a question when there is someone to ask.
func (c *groupDeleteCmd) Run(env *environment) error {
	if !c.Yes {
		if !isTerminal(env.stdin) {
			return usageError("deleting a group deletes its progress: pass --yes")
		}
		fmt.Fprintf(env.stderr, "Delete group %s and its progress? Type its name: ", c.Name)
		answer, err := bufio.NewReader(env.stdin).ReadString('\n')
		if err != nil || strings.TrimSpace(answer) != c.Name {
			return errors.New("not deleted")
		}
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	return cl.DeleteGroup(env.ctx, c.Name, c.Force)
}

type groupMembersCmd struct {
	clientFlags
	Name string `arg:"" help:"The group's name."`
	JSON bool   `name:"json" help:"Print one JSON object per line."`
}

// Run prints one line for each member.
func (c *groupMembersCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	members, err := cl.Members(env.ctx, c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		return printLines(env, members)
	}
	return printMembers(env, members)
}

func printLines[T any](env *environment, items []T) error {
	for _, item := range items {
		if err := printJSON(env.stdout, item); err != nil {
			return err
		}
	}
	return nil
}

func printMembers(env *environment, members []client.Member) error {
	table := newTable(env.stdout, "CLIENT", "MEMBER", "KIND", "TRANSPORT", "ADDRESS", "HEARD OF", "TOPICS")
	for _, m := range members {
		topics := make([]string, len(m.Subscriptions))
		for i, s := range m.Subscriptions {
			topics[i] = s.Topic
		}
		kind := m.Kind
		if m.Standby {
			kind += " (stand-by)"
		}
		table.row(m.ClientID, m.ID, kind, m.Transport, m.Address, localTime(m.LastHeartbeat), strings.Join(topics, ","))
	}
	return table.flush()
}
