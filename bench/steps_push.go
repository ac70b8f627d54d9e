package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"github.com/bucketmq/bucketmq/client"
)

const (
	figurePushed  = "group push: produce sent to message on a socket, "
	figureSettled = "group push: produce sent to ack answered, "
	// pushPause is how far apart the messages are, so that each is alone.
	pushPause = 5 * time.Millisecond
)

// push measures how long a message takes from the producer to a member of a group
// on a socket of the same gateway, and until its acknowledgement is answered.
func (s *suite) push(ctx context.Context) error {
	coordinator, err := s.startCoordinator(ctx)
	if err != nil {
		return err
	}
	defer coordinator.Kill()
	o := s.options(s.first.Server, ModeJSON, 1)
	o.Queues = 1
	cl, topic, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	if _, err := cl.CreateGroup(ctx, topic, client.GroupSettings{}); err != nil {
		return fmt.Errorf("make a group to measure with: %w", err)
	}
	defer func() { _ = cl.DeleteGroup(context.WithoutCancel(ctx), topic, true) }()
	m, err := joinSocket(ctx, s.first.Server, topic)
	if err != nil {
		return err
	}
	defer m.close()
	var pushed, settled latencies
	body := string(bytes.Repeat([]byte("x"), 1024))
	for end := time.Now().Add(s.Step / 2); time.Now().Before(end); {
		began := time.Now()
		sending := make(chan error, 1)
		go func() {
			_, err := cl.Send(ctx, topic, []client.Message{{Body: &body}}, "")
			sending <- err
		}()
		receipt, err := m.message()
		if err != nil {
			return errors.Join(err, <-sending)
		}
		pushed.add(time.Since(began))
		if err := m.ack(receipt); err != nil {
			return errors.Join(err, <-sending)
		}
		settled.add(time.Since(began))
		if err := <-sending; err != nil {
			return err
		}
		if err := pause(ctx, pushPause); err != nil {
			return err
		}
	}
	for name, l := range map[string]*latencies{figurePushed: &pushed, figureSettled: &settled} {
		s.note(name+"p50 ms", milliseconds(l.quantile(0.5)))
		s.note(name+"p99 ms", milliseconds(l.quantile(0.99)))
	}
	return nil
}

// groupSocket is a member of a group on a socket.
type groupSocket struct{ *socket }

// joinSocket returns a member of the group with the topic's name, once it owns the
// topic's queue.
func joinSocket(ctx context.Context, server Server, topic string) (*groupSocket, error) {
	conn, _, err := socketDialer.DialContext(ctx, socketAddress(server), nil)
	if err != nil {
		return nil, fmt.Errorf("open websocket: %w", err)
	}
	m := &groupSocket{&socket{conn: conn}}
	if err = hello(conn); err == nil {
		err = m.exchange(fmt.Sprintf(`{"op":"subscribe","id":"2","sub":"s","mode":"group","group":%q,"topics":[{"topic":%q}],`+
			`"credit":{"messages":1000000,"bytes":1073741824}}`, topic, topic), `"subscribed"`)
	}
	if err == nil {
		err = m.await(`"op":"assigned"`)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return m, nil
}

// await reads until an operation has a certain text.
func (m *groupSocket) await(want string) error {
	_, err := m.read(want)
	return err
}

func (m *groupSocket) read(want string) ([]byte, error) {
	if err := m.conn.SetReadDeadline(time.Now().Add(groupsWaitMost)); err != nil {
		return nil, err
	}
	for {
		_, text, err := m.conn.ReadMessage()
		if err != nil {
			return nil, fmt.Errorf("websocket: %w", err)
		}
		if bytes.Contains(text, []byte(`"op":"error"`)) {
			return nil, fmt.Errorf("websocket: %.300s", text)
		}
		if bytes.Contains(text, []byte(want)) {
			return text, nil
		}
	}
}

// message returns the receipt of the next message.
func (m *groupSocket) message() (string, error) {
	text, err := m.read(`"op":"messages"`)
	if err != nil {
		return "", err
	}
	_, rest, found := bytes.Cut(text, []byte(`"receipt":"`))
	receipt, _, closed := bytes.Cut(rest, []byte(`"`))
	if !found || !closed {
		return "", fmt.Errorf("websocket: no receipt in %.300s", text)
	}
	return string(receipt), nil
}

// ack finishes a message and waits for the answer.
func (m *groupSocket) ack(receipt string) error {
	op := fmt.Appendf(nil, `{"op":"ack","id":"a","sub":"s","receipts":[%q]}`, receipt)
	if err := m.conn.WriteMessage(websocket.TextMessage, op); err != nil {
		return fmt.Errorf("websocket: %w", err)
	}
	return m.await(`"op":"ok"`)
}
