// The program sends and reads with the client that was generated beside it.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := roundTrip(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func roundTrip(ctx context.Context, url string) error {
	c, err := NewClientWithResponses(url)
	if err != nil {
		return err
	}
	queues := int64(1)
	topic, err := c.PutTopicWithResponse(ctx, "orders", nil, TopicSettings{Queues: &queues})
	if err != nil || topic.JSON201 == nil {
		return fmt.Errorf("put topic: %v, %+v", err, topic)
	}
	text := "héllo \"wörld\""
	sent, err := c.SendMessagesWithResponse(ctx, "orders", nil, SendRequest{Messages: []NewMessage{{Body: &text}}})
	if err != nil || sent.JSON200 == nil || sent.JSON200.Stored != 1 {
		return fmt.Errorf("send: %v, %+v", err, sent)
	}
	offset := int64(0)
	page, err := c.ReadMessagesWithResponse(ctx, "orders", 0, &ReadMessagesParams{Offset: &offset})
	if err != nil || page.JSON200 == nil || len(page.JSON200.Messages) != 1 || *page.JSON200.Messages[0].Body != text {
		return fmt.Errorf("read: %v, %+v", err, page)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	raw, err := c.SendRawMessageWithBodyWithResponse(ctx, "orders", nil, "application/octet-stream", bytes.NewReader(all))
	if err != nil || raw.JSON200 == nil || raw.JSON200.Stored != 1 {
		return fmt.Errorf("send raw: %v, %+v", err, raw)
	}
	got, err := c.GetRawMessageWithResponse(ctx, "orders", 0, 1, nil)
	if err != nil || got.StatusCode() != 200 || !bytes.Equal(got.Body, all) {
		return fmt.Errorf("get raw: %v, %+v", err, got)
	}
	return nil
}
