package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

type receiveRequest struct {
	Topics      []topicSelection `json:"topics"`
	MaxMessages *int64           `json:"max_messages"`
	MaxBytes    *int64           `json:"max_bytes"`
	WaitMS      *int64           `json:"wait_ms"`
	InvisibleMS *int64           `json:"invisible_ms"`
	AttemptID   *string          `json:"attempt_id"`
}

// receiveMessages hides messages for the caller and answers them with receipts.
func (s *Server) receiveMessages(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	encoder := messageEncoder{base64: forceBase64(p)}
	if err := p.err(); err != nil {
		return err
	}
	var body receiveRequest
	if err := s.readJSON(c, &body); err != nil {
		return err
	}
	request, err := body.read(name)
	if err != nil {
		return err
	}
	reply, err := s.groups.Receive(c.Request().Context(), request)
	if err != nil {
		return s.receiveFault(c, unsure(err), name, request.Subscriptions)
	}
	out := newPageWriter(c)
	defer out.release()
	out.b = append(out.b, `{"messages":[`...)
	for i := range reply.Messages {
		if i > 0 {
			out.b = append(out.b, ',')
		}
		out.b = encoder.appendReceived(out.b, &reply.Messages[i])
		if err := out.spill(); err != nil {
			return err
		}
	}
	out.b = append(appendGaps(out.b, reply.Gaps), `,"wait_ms":`...)
	out.b = append(strconv.AppendInt(out.b, request.Wait.Milliseconds(), 10), '}')
	return out.finish(jsonType)
}

// receiveFault points at the topics of a receive, and names the one there is not.
func (s *Server) receiveFault(c echo.Context, err error, name string, subscriptions []meta.Subscription) error {
	if e, ok := errors.AsType[*meta.SubscriptionMismatchError](err); ok {
		p := groupProblem(e)
		p.faults[0].Pointer = "/topics"
		return p
	}
	if errors.Is(err, journal.ErrTopicNotFound) {
		for _, sub := range subscriptions {
			if _, missing := s.journal.Topic(c.Request().Context(), sub.Topic); errors.Is(missing, journal.ErrTopicNotFound) {
				return namedTopic(err, sub.Topic)
			}
		}
	}
	return namedGroup(err, name)
}

// appendReceived appends a message with what names its delivery.
func (e *messageEncoder) appendReceived(dst []byte, m *group.Received) []byte {
	dst = e.appendOpen(dst, m.Topic, m.Queue, &m.Stored)
	dst = append(append(append(dst, `,"receipt":"`...), m.Receipt...), `","attempt":`...)
	dst = append(strconv.AppendInt(dst, m.Attempt, 10), `,"deadline":"`...)
	return append(e.clock.append(dst, m.Deadline), `"}`...)
}

// read tests the limits that the contract states.
func (r *receiveRequest) read(name string) (request group.ReceiveRequest, err error) {
	request.Group = name
	if request.Subscriptions, err = selections(r.Topics, "topics", false); err != nil {
		return request, err
	}
	messages, err := limitOf("max_messages", r.MaxMessages, group.MaxReceive)
	if err != nil {
		return request, err
	}
	request.MaxMessages = int(messages)
	if request.MaxBytes, err = limitOf("max_bytes", r.MaxBytes, maxReadBytes); err != nil {
		return request, err
	}
	if request.Wait, err = waitOf(r.WaitMS); err != nil {
		return request, err
	}
	if request.Invisible, err = invisibleOf("invisible_ms", r.InvisibleMS); err != nil {
		return request, err
	}
	if r.AttemptID != nil {
		if request.AttemptID = *r.AttemptID; *r.AttemptID == "" || len(*r.AttemptID) > group.MaxAttemptID {
			return request, fieldFault("attempt_id", outOf(1, group.MaxAttemptID)+" bytes")
		}
	}
	return request, nil
}

// invisibleOf reads how long a message is to be hidden; 0 = it is not given.
func invisibleOf(field string, ms *int64) (time.Duration, error) {
	if ms == nil {
		return 0, nil
	}
	if low, high := group.MinInvisible.Milliseconds(), group.MaxInvisible.Milliseconds(); *ms < low || *ms > high {
		return 0, fieldFault(field, outOf(low, high))
	}
	return time.Duration(*ms) * time.Millisecond, nil
}

type ackRequest struct {
	Receipts []string `json:"receipts"`
}

type nackRequest struct {
	Items []nackItem `json:"items"`
}

type nackItem struct {
	Receipt    *string `json:"receipt"`
	DelayMS    *int64  `json:"delay_ms"`
	Reason     *string `json:"reason"`
	DeadLetter bool    `json:"dead_letter"`
	Unhandled  bool    `json:"unhandled"`
}

type extendRequest struct {
	Items []extendItem `json:"items"`
}

type extendItem struct {
	Receipt     *string `json:"receipt"`
	InvisibleMS *int64  `json:"invisible_ms"`
}

// nacksOf reads what is to be given back.
func nacksOf(in []nackItem) ([]group.NackItem, error) {
	if n := len(in); n == 0 || n > group.MaxReceipts {
		return nil, fieldFault("items", outOf(1, group.MaxReceipts)+" receipts")
	}
	items := make([]group.NackItem, len(in))
	for i, item := range in {
		if item.Receipt == nil {
			return nil, missing(fmt.Sprintf("items/%d/receipt", i))
		}
		if item.DelayMS != nil && (*item.DelayMS < 0 || *item.DelayMS > group.MaxInvisible.Milliseconds()) {
			return nil, fieldFault(fmt.Sprintf("items/%d/delay_ms", i), outOf(0, group.MaxInvisible.Milliseconds()))
		}
		if item.DelayMS != nil && item.DeadLetter {
			return nil, fieldFault(fmt.Sprintf("items/%d/delay_ms", i), "a dead letter does not come again")
		}
		if item.Unhandled && (item.DelayMS != nil || item.DeadLetter || item.Reason != nil) {
			return nil, fieldFault(fmt.Sprintf("items/%d/unhandled", i), "what was not handled has no delay and no reason, and is no dead letter")
		}
		items[i] = group.NackItem{Receipt: *item.Receipt, DelayMS: item.DelayMS, DeadLetter: item.DeadLetter, Unhandled: item.Unhandled}
		if item.Reason != nil {
			if items[i].Reason = *item.Reason; len(*item.Reason) > group.MaxReason {
				return nil, fieldFault(fmt.Sprintf("items/%d/reason", i), outOf(0, group.MaxReason)+" bytes")
			}
		}
	}
	return items, nil
}

// extendsOf reads what is to be hidden for longer.
func extendsOf(in []extendItem) ([]group.ExtendItem, error) {
	if n := len(in); n == 0 || n > group.MaxReceipts {
		return nil, fieldFault("items", outOf(1, group.MaxReceipts)+" receipts")
	}
	items := make([]group.ExtendItem, len(in))
	for i, item := range in {
		if item.Receipt == nil {
			return nil, missing(fmt.Sprintf("items/%d/receipt", i))
		}
		invisible, err := invisibleOf(fmt.Sprintf("items/%d/invisible_ms", i), item.InvisibleMS)
		if err != nil {
			return nil, err
		}
		items[i] = group.ExtendItem{Receipt: *item.Receipt, Invisible: invisible}
	}
	return items, nil
}

// ackMessages finishes messages.
func (s *Server) ackMessages(c echo.Context) error {
	var body ackRequest
	return s.settle(c, &body, "receipts", func(ctx context.Context, name string) ([]group.ReceiptResult, error) {
		if n := len(body.Receipts); n == 0 || n > group.MaxReceipts {
			return nil, fieldFault("receipts", outOf(1, group.MaxReceipts)+" receipts")
		}
		return s.groups.Ack(ctx, name, body.Receipts)
	})
}

// nackMessages gives messages back.
func (s *Server) nackMessages(c echo.Context) error {
	var body nackRequest
	return s.settle(c, &body, "items", func(ctx context.Context, name string) ([]group.ReceiptResult, error) {
		items, err := nacksOf(body.Items)
		if err != nil {
			return nil, err
		}
		return s.groups.Nack(ctx, name, items)
	})
}

// extendMessages keeps messages hidden for longer.
func (s *Server) extendMessages(c echo.Context) error {
	var body extendRequest
	return s.settle(c, &body, "items", func(ctx context.Context, name string) ([]group.ReceiptResult, error) {
		items, err := extendsOf(body.Items)
		if err != nil {
			return nil, err
		}
		return s.groups.Extend(ctx, name, items)
	})
}

// receiptResults is api.ReceiptResults with errors as problems have them.
type receiptResults struct {
	Done    int64           `json:"done"`
	Failed  int64           `json:"failed"`
	Results []receiptResult `json:"results"`
}

type receiptResult struct {
	Index    int64     `json:"index"`
	Status   string    `json:"status"`
	Receipt  string    `json:"receipt,omitempty"`
	Deadline *api.Time `json:"deadline,omitempty"`
	Dead     bool      `json:"dead_letter,omitzero"`
	Error    *fault    `json:"error,omitempty"`
}

// settle reads a body with receipts, and answers what became of each: 200 when
// all are done, 207 when some are, and a problem when none is.
func (s *Server) settle(c echo.Context, body any, field string, do func(context.Context, string) ([]group.ReceiptResult, error)) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	if err := s.readJSON(c, body); err != nil {
		return err
	}
	results, err := do(c.Request().Context(), name)
	if err != nil {
		return namedGroup(unsure(err), name)
	}
	answer, faults := settled(results, field)
	switch {
	case answer.Done == 0:
		return refusedAll(faults)
	case answer.Failed > 0:
		return writeJSON(c, http.StatusMultiStatus, answer)
	}
	return writeJSON(c, http.StatusOK, answer)
}

// settled shows what became of receipts, and what was wrong with those that failed.
func settled(results []group.ReceiptResult, field string) (answer receiptResults, faults []fault) {
	answer.Results = make([]receiptResult, len(results))
	for i, r := range results {
		out := receiptResult{Index: int64(i), Status: "done"}
		if r.Err != nil {
			f := itemProblem(r.Err, fmt.Sprintf("/%s/%d", field, i))
			faults = append(faults, f)
			out.Status, out.Error = "failed", &f
			answer.Failed++
		} else {
			out.Receipt, out.Dead = r.Receipt, r.Dead
			if r.Deadline > 0 {
				at := api.Time(r.Deadline)
				out.Deadline = &at
			}
			answer.Done++
		}
		answer.Results[i] = out
	}
	return answer, faults
}
