package gateway

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/meta"
)

// listQueues answers the bounds of every queue of a topic.
func (s *Server) listQueues(c echo.Context) error {
	t, epoch, states, err := s.queueStates(c)
	if err != nil {
		return err
	}
	list := api.QueueList{Items: make([]api.Queue, 0, len(states))}
	for _, state := range states {
		queue := api.Queue{
			Queue:      int64(state.Queue),
			Epoch:      epoch,
			MinOffset:  state.Min,
			NextOffset: state.Next,
			Bytes:      state.Bytes,
			Writable:   state.Queue < t.Queues,
		}
		if state.LastStoredAt > 0 {
			at := api.Time(state.LastStoredAt)
			queue.LastStoredAt = &at
		}
		list.Items = append(list.Items, queue)
	}
	return writeJSON(c, http.StatusOK, list)
}

// findOffsets answers where every queue is at a time or position.
func (s *Server) findOffsets(c echo.Context) error {
	p := paramsOf(c)
	timestamp, byTime := p.time("timestamp")
	position := p.choice("position", "", "earliest", "latest")
	if p.has("timestamp") == p.has("position") {
		p.fail("position", "give either position or timestamp")
	}
	if err := p.err(); err != nil {
		return err
	}
	t, epoch, states, err := s.queueStates(c)
	if err != nil {
		return err
	}
	list := api.OffsetList{Epoch: epoch, Items: make([]api.QueueOffset, 0, len(states))}
	for _, state := range states {
		offset := state.Min
		switch {
		case byTime:
			if offset, err = s.journal.Find(c.Request().Context(), t, state.Queue, timestamp); err != nil {
				return fmt.Errorf("find offset of queue %d: %w", state.Queue, err)
			}
		case position == "latest":
			offset = state.Next
		}
		list.Items = append(list.Items, api.QueueOffset{Queue: int64(state.Queue), Offset: offset})
	}
	return writeJSON(c, http.StatusOK, list)
}

// queueStates returns the topic that the path names with the state of all its
// queues, of one epoch.
func (s *Server) queueStates(c echo.Context) (meta.Topic, int64, []meta.QueueState, error) {
	t, err := s.freshTopic(c)
	if err != nil {
		return t, 0, nil, err
	}
	queues := make([]uint32, t.Queues)
	for i := range queues {
		queues[i] = uint32(i)
	}
	epoch, states, err := s.meta.Bounds(c.Request().Context(), t.ID, queues)
	if err != nil {
		return t, 0, nil, namedTopic(viaRedis(err), t.Name)
	}
	return t, epoch, states, nil
}
