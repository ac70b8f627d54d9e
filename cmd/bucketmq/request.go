package main

import (
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

type requestCmd struct {
	clientFlags
	Topic       string            `arg:"" help:"The topic to send to."`
	Message     string            `arg:"" help:"The message."`
	Tag         string            `placeholder:"TAG" help:"Tag of the message."`
	Key         []string          `sep:"none" placeholder:"KEY" help:"Key to find the message by. Repeatable."`
	OrderingKey string            `placeholder:"KEY" help:"Its ordering key."`
	Property    map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"Property of the message. Repeatable."`
	Timeout     time.Duration     `default:"5s" placeholder:"DURATION" help:"How long to wait for the reply, up to 1m."`
	JSON        bool              `name:"json" help:"Print the reply as one JSON object, with where the request's message is."`
}

// Run sends the request and prints the reply.
func (c *requestCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	m := client.Message{Tag: c.Tag, Keys: c.Key, OrderingKey: c.OrderingKey, Properties: c.Property}
	m.SetBody([]byte(c.Message))
	reply, err := cl.Request(env.ctx, c.Topic, m, c.Timeout)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.stdout, reply)
	}
	body, err := reply.Bytes()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "%s\n", body)
	return err
}

type replyCmd struct {
	clientFlags
	To      string `arg:"" help:"The property __reply_to of the request's message."`
	Message string `arg:"" help:"The reply."`
}

// Run sends the reply.
func (c *replyCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	return cl.SendReply(env.ctx, c.To, []byte(c.Message))
}
