package gateway

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/segment"
	"github.com/bucketmq/bucketmq/transaction"
)

type transactionRequest struct {
	ProducerGroup *string         `json:"producer_group"`
	Topics        []topicMessages `json:"topics"`
	CheckAfterMS  *int64          `json:"check_after_ms"`
	Reference     string          `json:"reference"`
}

type topicMessages struct {
	Topic    *string          `json:"topic"`
	Messages []jsontext.Value `json:"messages"`
}

// beginTransaction stores half messages of several topics.
func (s *Server) beginTransaction(c echo.Context) error {
	return s.answerOnce(c, "beginTransaction", maxRequestBytes, func(ctx context.Context, body []byte) (int, any, error) {
		var request transactionRequest
		if err := decodeStrict(body, &request); err != nil {
			return 0, nil, err
		}
		draft, err := s.transactionDraft(ctx, &request)
		if err != nil {
			return 0, nil, err
		}
		tx, err := draft.Begin(ctx)
		if err != nil {
			return 0, nil, transactionFault(err)
		}
		c.Response().Header().Set("Location", "/v1/transactions/"+transaction.ID(&tx))
		return http.StatusCreated, transactionOf(&tx, true), nil
	})
}

// transactionDraft checks a whole request. Its error names every faulty message.
func (s *Server) transactionDraft(ctx context.Context, r *transactionRequest) (*transaction.Draft, error) {
	if r.ProducerGroup == nil {
		return nil, missing("producer_group")
	}
	after := time.Duration(0)
	if r.CheckAfterMS != nil {
		if *r.CheckAfterMS < 1 || *r.CheckAfterMS > transaction.MaxCheckAfter.Milliseconds() {
			return nil, fieldFault("check_after_ms", outOf(1, transaction.MaxCheckAfter.Milliseconds()))
		}
		after = time.Duration(*r.CheckAfterMS) * time.Millisecond
	}
	draft, err := s.transactions.Draft(*r.ProducerGroup, after, r.Reference)
	if e, ok := errors.AsType[*journal.InvalidError](err); ok {
		return nil, fieldFault(e.Field, e.Detail)
	}
	if err != nil {
		return nil, err
	}
	var found faults
	for i := range r.Topics {
		if err := s.topicMessages(ctx, draft, &r.Topics[i], "/topics/"+strconv.Itoa(i), &found); err != nil {
			return nil, err
		}
	}
	if len(r.Topics) == 0 {
		found.add("/topics", journal.CodeRequired, "a transaction has at least one topic")
	}
	if len(found.list) > 0 {
		return nil, invalidMessages(found.list)
	}
	return draft, nil
}

// topicMessages adds the messages of one topic and collects what is wrong with
// them.
func (s *Server) topicMessages(ctx context.Context, draft *transaction.Draft, in *topicMessages, pointer string, f *faults) error {
	if in.Topic == nil {
		f.add(pointer+"/topic", journal.CodeRequired, "messages have a topic")
		return nil
	}
	if err := journal.ValidateTopicName(*in.Topic); err != nil {
		const detail = "1 to 127 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"
		return newProblem("invalid_name", detail, fault{Pointer: pointer + "/topic", Code: "invalid_name", Detail: detail})
	}
	topic, err := s.journal.Topic(ctx, *in.Topic)
	if err != nil {
		return namedTopic(err, *in.Topic)
	}
	to, err := draft.Topic(topic)
	if e, ok := errors.AsType[*journal.InvalidError](err); ok {
		f.add(pointer+"/topic", e.Code, e.Detail)
		return nil
	}
	if err != nil {
		return err
	}
	switch n := len(in.Messages); {
	case n == 0:
		f.add(pointer+"/messages", journal.CodeRequired, "a topic has at least one message")
	case n > maxBatch:
		f.add(pointer+"/messages", journal.CodeTooMany, fmt.Sprintf("a transaction has at most %d messages", maxBatch))
	default:
		return addMessages(to, in.Messages, pointer+"/messages/", f)
	}
	return nil
}

// transactionFault turns what a draft finds wrong with the whole into a problem.
func transactionFault(err error) error {
	if errors.Is(err, transaction.ErrTooMany) {
		return newProblem("too_many_transactions", fmt.Sprintf("a producer group has at most %d undecided transactions", transaction.MaxOpen))
	}
	return err
}

// transactionProblem translates what a decision finds instead.
func transactionProblem(err error) *problem {
	if e, ok := errors.AsType[*transaction.DecidedError](err); ok {
		detail := "the transaction is " + e.Current.State
		return newProblem("transaction_decided", detail, fault{Pointer: "path:transaction", Code: "transaction_decided", Outcome: e.Current.State})
	}
	return nil
}

// getTransaction answers a transaction.
func (s *Server) getTransaction(c echo.Context) error {
	tx, err := s.transactions.Transaction(c.Request().Context(), c.Param("transaction"))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, transactionOf(&tx, true))
}

// listTransactionMessages answers the half messages of an undecided transaction.
func (s *Server) listTransactionMessages(c echo.Context) error {
	p := paramsOf(c)
	encoder := messageEncoder{base64: forceBase64(p)}
	if err := p.err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	tx, err := s.transactions.Transaction(ctx, c.Param("transaction"))
	switch {
	case err != nil:
		return err
	case tx.State == meta.TxBegun:
		return transaction.ErrNotFound
	case tx.State != meta.TxOpen && tx.State != meta.TxExpired:
		return &transaction.DecidedError{Current: tx}
	}
	out := newPageWriter(c)
	defer out.release()
	out.b = append(out.b, `{"items":[`...)
	first := true
	for _, topic := range tx.Topics {
		for _, half := range topic.Halves {
			if topic.Gone {
				continue
			}
			records, err := s.journal.HalfRecords(ctx, topic.Topic, half)
			if err != nil {
				return err
			}
			for r, err := range segment.Records(records) {
				if err != nil {
					return err
				}
				if !first {
					out.b = append(out.b, ',')
				}
				first = false
				out.b = encoder.appendHalf(out.b, topic.Name, half.Queue, &r)
				if err := out.spill(); err != nil {
					return err
				}
			}
		}
	}
	out.b = append(out.b, "]}"...)
	return out.finish(jsonType)
}

// appendHalf appends a half message: it has no offset.
func (e *messageEncoder) appendHalf(dst []byte, topic string, queue uint32, r *segment.Record) []byte {
	dst = append(append(dst, `{"topic":"`...), topic...) // a topic's name needs no escaping
	dst = append(appendUUID(append(dst, `","message_id":"`...), r.ID), `","queue":`...)
	dst = append(strconv.AppendUint(dst, uint64(queue), 10), `,"born_at":"`...)
	return e.appendContent(append(e.clock.append(dst, r.BornAt), '"'), r)
}

// commitTransaction makes the messages of a transaction readable.
func (s *Server) commitTransaction(c echo.Context) error {
	p := paramsOf(c)
	force := p.boolean("force")
	if err := p.err(); err != nil {
		return err
	}
	tx, err := s.transactions.Commit(c.Request().Context(), c.Param("transaction"), force)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, transactionOf(&tx, true))
}

// rollbackTransaction drops the messages of a transaction.
func (s *Server) rollbackTransaction(c echo.Context) error {
	tx, err := s.transactions.Rollback(c.Request().Context(), c.Param("transaction"))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, transactionOf(&tx, true))
}

// transactionsList is the letter of listTransactions.
const transactionsList = 'x'

// listedTransaction reports whether a list of transactions may go on after it.
func listedTransaction(place string) bool {
	_, err := hex.DecodeString(place)
	return err == nil && len(place) == 2*len(uuid.UUID{})
}

// listTransactions answers a page of the transactions of a producer group.
func (s *Server) listTransactions(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	p := paramsOf(c)
	limit := int(p.integer("limit", 100, 1, maxPageItems))
	state := p.choice("state", "", meta.TxBegun, meta.TxOpen, meta.TxCommitted, meta.TxRolledBack, meta.TxExpired)
	place := p.after(transactionsList, listedTransaction)
	if err := p.err(); err != nil {
		return err
	}
	var after uuid.UUID
	_, _ = hex.Decode(after[:], []byte(place)) // it was tested
	found, err := s.transactions.List(c.Request().Context(), name, after, maxPageItems+1)
	if err != nil {
		return err
	}
	list := api.TransactionList{Items: []api.Transaction{}}
	for i := range found {
		if len(list.Items) == limit || i == maxPageItems {
			token := pageToken(transactionsList, hex.EncodeToString(found[i-1].ID[:]))
			list.NextPageToken = &token
			break
		}
		if t := &found[i]; t.Group == name && (state == "" || t.State == state) {
			list.Items = append(list.Items, transactionOf(t, false))
		}
	}
	return writeJSON(c, http.StatusOK, list)
}

// maxChecks is how many checks a producer gets at once.
const maxChecks = 32

type checkRequest struct {
	MaxChecks *int64 `json:"max_checks"`
	WaitMS    *int64 `json:"wait_ms"`
}

// pollChecks gives a producer the transactions that somebody has to decide.
func (s *Server) pollChecks(c echo.Context) error {
	name, err := groupName(c)
	if err != nil {
		return err
	}
	var request checkRequest
	if err := s.readJSON(c, &request); err != nil {
		return err
	}
	most, err := limitOf("max_checks", request.MaxChecks, maxChecks)
	if err != nil {
		return err
	}
	if most == 0 {
		most = 16
	}
	wait, err := waitOf(request.WaitMS)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	checks, err := s.transactions.Await(ctx, name, int(most), wait)
	if err != nil {
		return unsure(err)
	}
	if ctx.Err() != nil { // nobody is there to read them
		s.giveBack(checks)
		return ctx.Err()
	}
	list := api.CheckList{Transactions: make([]api.Transaction, 0, len(checks))}
	for i := range checks {
		list.Transactions = append(list.Transactions, transactionOf(&checks[i], true))
	}
	if err := writeJSON(c, http.StatusOK, list); err != nil {
		s.giveBack(checks)
		return err
	}
	return nil
}

// giveBack says of checks that they did not reach their producer.
func (s *Server) giveBack(checks []meta.Transaction) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, t := range checks {
		if err := s.transactions.GiveBack(ctx, t); err != nil {
			s.log.Warn("a check that reached nobody counts all the same", "transaction", t.ID, "err", err)
		}
	}
}

// transactionOf is a transaction as the contract writes it, with the ids of its
// messages or without.
func transactionOf(t *meta.Transaction, ids bool) api.Transaction {
	out := api.Transaction{
		TransactionId: transaction.ID(t), ProducerGroup: t.Group, State: api.TransactionState(t.State),
		CreatedAt: api.Time(t.CreatedAt), Deadline: api.Time(t.CreatedAt + t.CheckAfter), CheckAfterMs: t.CheckAfter,
		Checks: int64(t.Checks), MaxChecks: transaction.MaxChecks, Readable: t.Placed, Topics: make([]api.TransactionTopic, len(t.Topics)),
	}
	if t.Reason != "" {
		out.Reason = &t.Reason
	}
	if t.Reference != "" {
		out.Reference = &t.Reference
	}
	for _, at := range []struct {
		to   **api.Time
		time int64
	}{{&out.CheckedAt, t.CheckedAt}, {&out.NextCheckAt, t.NextCheck}, {&out.DecidedAt, t.DecidedAt}} {
		if at.time != 0 {
			value := api.Time(at.time)
			*at.to = &value
		}
	}
	for i := range t.Topics {
		out.Topics[i] = transactionTopicOf(&t.Topics[i], ids)
	}
	return out
}

func transactionTopicOf(t *meta.TransactionTopic, ids bool) api.TransactionTopic {
	out := api.TransactionTopic{Topic: t.Name, Messages: int64(t.Messages), Places: []api.TransactionPlace{}}
	if t.Gone {
		out.Gone = &t.Gone
	}
	if ids && t.Base != uuid.Nil {
		all := make([]string, t.Messages)
		for i := range all {
			all[i] = segment.MessageID(t.Base, i).String()
		}
		out.MessageIds = &all
	}
	for _, h := range t.Halves {
		if h.Epoch > 0 && h.First >= 0 {
			out.Places = append(out.Places, api.TransactionPlace{
				Queue: int64(h.Queue), Offset: h.First, Messages: int64(h.Count), Epoch: h.Epoch, FirstMessageId: h.ID.String(),
			})
		}
	}
	return out
}
