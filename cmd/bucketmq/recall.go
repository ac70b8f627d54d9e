package main

type recallCmd struct {
	clientFlags
	Topic  string `arg:"" help:"The topic that the message was sent to."`
	Handle string `arg:"" help:"The recall handle that produce --json prints of a delayed message."`
}

// Run recalls the message.
func (c *recallCmd) Run(env *environment) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	return cl.Recall(env.ctx, c.Topic, c.Handle)
}
