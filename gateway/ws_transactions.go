package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/transaction"
)

const (
	// maxProducerGroups is how many producer groups a socket speaks for.
	maxProducerGroups = 16
	// maxDeciding is how many transactions a socket may have decided at a time; it is
	// not listened to before one of them is done.
	maxDeciding = 64
	// checksAtOnce is how many checks a socket gets at a time.
	checksAtOnce = 8
	// checksEvery is how long one wait for checks takes at most, and checksRetry the
	// pause after a fault.
	checksEvery, checksRetry = 30 * time.Second, time.Second
	// decideWithin bounds a decision that a socket asked for.
	decideWithin = time.Minute
)

type producerOp struct {
	opHead
	Group *string `json:"group"`
	Stop  bool    `json:"stop"`
}

// producer makes the socket a producer of a group: checks may come to it.
func (s *socket) producer(text []byte) error {
	var op producerOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	if op.Group == nil {
		return missing("group")
	}
	group := *op.Group
	if err := transaction.ValidateGroup(group); err != nil {
		return wrong("group", fmt.Sprintf("1 to %d of A-Z a-z 0-9 . _ -, beginning with a letter or digit", transaction.MaxGroupName))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch stop, known := s.asked[group]; {
	case op.Stop && known:
		stop()
		delete(s.asked, group)
	case !op.Stop && !known && len(s.asked) == maxProducerGroups:
		return newProblem("too_many_producer_groups", fmt.Sprintf("at most %d", maxProducerGroups))
	case !op.Stop && !known && !s.outbox.last:
		ctx, stop := context.WithCancel(s.ctx)
		if s.asked == nil {
			s.asked = map[string]context.CancelFunc{}
		}
		s.asked[group] = stop
		s.hub.running.Go(func() { s.check(ctx, group) })
	}
	s.okLocked(op.ID)
	return nil
}

// check hands the checks of a producer group to the client until ctx ends.
func (s *socket) check(ctx context.Context, group string) {
	server := s.hub.server
	for ctx.Err() == nil && !server.draining.Load() && s.awaitQuiet(ctx) {
		checks, err := server.transactions.Await(ctx, group, checksAtOnce, checksEvery)
		if err != nil {
			timer := time.NewTimer(checksRetry)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
		for i := range checks {
			if ctx.Err() != nil || !s.tell(&checks[i]) {
				server.giveBack(checks[i:])
				return
			}
		}
	}
}

// awaitQuiet waits until the client has read most of what was sent; false: there
// is nobody to send to any more.
func (s *socket) awaitQuiet(ctx context.Context) bool {
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.outbox.last && ctx.Err() == nil && s.outbox.queued() > deliverBelow {
		s.changed.Wait()
	}
	return !s.outbox.last && ctx.Err() == nil
}

// tell sends a check; false: the socket is closing.
func (s *socket) tell(t *meta.Transaction) bool {
	text := append(appendTransaction(append(appendHead(nil, "tx_check", ""), `,"transaction":`...), transactionOf(t, true)), '}')
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outbox.last || !s.leaveAt.IsZero() {
		return false
	}
	s.appendOpLocked(text)
	return true
}

func appendTransaction(dst []byte, t api.Transaction) []byte {
	text, err := json.Marshal(t, json.Deterministic(true), allowInvalidUTF8)
	if err != nil {
		panic("gateway: encode a transaction: " + err.Error())
	}
	return append(dst, text...)
}

type resultOp struct {
	opHead
	TransactionID *string `json:"transaction_id"`
	Outcome       *string `json:"outcome"`
}

// outcomes are what a producer may answer, and which state that means.
var outcomes = map[string]string{"commit": meta.TxCommitted, "rollback": meta.TxRolledBack, "unknown": ""}

// decideTransaction carries out what a producer answers. It takes as long as the
// store does, so other operations go on meanwhile, and the answers come in the
// order in which they are known.
func (s *socket) decideTransaction(text []byte) error {
	var op resultOp
	if err := decodeStrict(text, &op); err != nil {
		return err
	}
	switch {
	case op.TransactionID == nil:
		return missing("transaction_id")
	case op.Outcome == nil:
		return missing("outcome")
	}
	state, known := outcomes[*op.Outcome]
	if !known {
		return wrong("outcome", "commit, rollback or unknown")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.deciding >= maxDeciding && !s.outbox.last {
		s.changed.Wait()
	}
	if s.outbox.last {
		return journal.ErrDraining
	}
	s.deciding++
	s.hub.running.Go(func() { s.answerDecision(op.ID, *op.TransactionID, state) })
	return nil
}

// answerDecision takes a decision, also when the client leaves meanwhile, and
// answers. A failure is told also to a client that asked for no answer.
func (s *socket) answerDecision(id, tx, state string) {
	ctx, cancel := context.WithTimeout(s.hub.ctx, decideWithin)
	defer cancel()
	t, err := s.hub.server.transactions.Answer(ctx, tx, state)
	switch {
	case err != nil:
		s.refuse(id, err)
	case id != "":
		s.pushOp(append(appendTransaction(append(appendHead(nil, "ok", id), `,"transaction":`...), transactionOf(&t, true)), '}'))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deciding--
	s.leaveIfAnswered()
	s.changed.Broadcast()
}
