package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"
)

// Reply is the reply to a request, and where the request's message is.
type Reply struct {
	MessageID     string `json:"message_id"`
	Queue         int64  `json:"queue"`
	Offset        int64  `json:"offset"`
	CorrelationID string `json:"correlation_id"`
	Reply         struct {
		Body        *string           `json:"body"`
		Encoding    string            `json:"encoding"`
		ContentType string            `json:"content_type,omitempty"`
		Properties  map[string]string `json:"properties,omitempty"`
	} `json:"reply"`
}

// Bytes is the reply's body, nil when it has none.
func (r *Reply) Bytes() ([]byte, error) {
	switch {
	case r.Reply.Body == nil:
		return nil, nil
	case r.Reply.Encoding == "base64":
		return base64.StdEncoding.DecodeString(*r.Reply.Body)
	}
	return []byte(*r.Reply.Body), nil
}

// Request sends a message and waits for the reply to it. A *Problem of code
// reply_timeout says that the message is stored and no reply came.
func (cl *Client) Request(ctx context.Context, topic string, m Message, timeout time.Duration) (r Reply, err error) {
	body := struct {
		Message   Message `json:"message"`
		TimeoutMS int64   `json:"timeout_ms"`
	}{m, timeout.Milliseconds()}
	_, err = cl.json(ctx, http.MethodPost, []string{"topics", topic, "requests"}, nil, nil, body, &r)
	return r, err
}

// SendReply replies to a request: to is the property __reply_to of its message.
func (cl *Client) SendReply(ctx context.Context, to string, body []byte) error {
	reply := map[string]json.RawMessage{}
	put := func(name, value string) { reply[name], _ = json.Marshal(value) } // text always can be
	put("reply_to", to)
	if utf8.Valid(body) {
		put("body", string(body))
	} else {
		put("body", base64.StdEncoding.EncodeToString(body))
		put("encoding", "base64")
	}
	_, err := cl.json(ctx, http.MethodPost, []string{"replies"}, nil, nil, reply, nil)
	return err
}
