package gateway

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bucketmq/bucketmq/journal"
)

const (
	maxOpID = 64
	// byeWithin bounds how long a client that said bye waits for answers.
	byeWithin        = 30 * time.Second
	maxClientName    = 256
	maxSubscriptions = 100
	maxCreditItems   = 1_000_000
	maxCreditBytes   = 1 << 30
)

// opHead is what every operation of a client has.
type opHead struct {
	Op string `json:"op"`
	ID string `json:"id"`
}

// sessionClaim names a session that a client had, and proves it.
type sessionClaim struct {
	Session string `json:"session"`
	Key     string `json:"key"`
}

type helloOp struct {
	opHead
	Token  string        `json:"token"` // nobody is asked for one
	Client string        `json:"client"`
	Resume *sessionClaim `json:"resume"`
}

type authOp struct {
	opHead
	Token *string `json:"token"`
}

type pongOp struct {
	opHead
	N *int64 `json:"n"`
}

// subOp is an operation on a subscription that says no more.
type subOp struct {
	opHead
	Sub string `json:"sub"`
}

// operate carries out one operation. It returns false when the socket is to be
// read no more.
func (s *socket) operate(frame []byte) bool {
	if s.bye {
		return true
	}
	text, bodies := frame, []byte(nil)
	if s.bin {
		var err error
		if text, bodies, err = splitBin(frame); err != nil {
			return s.answerFirst("", err)
		}
	}
	s.awaitRoom()
	if !s.bin && s.greeted.Load() && s.sendText(text) {
		return true
	}
	head, err := headOf(text)
	if err != nil {
		return s.answerFirst(head.ID, err)
	}
	if !s.greeted.Load() {
		return s.hello(head, text)
	}
	if len(bodies) > 0 && head.Op != "send" {
		s.refuse(head.ID, newProblem("invalid_frame", "only send has bodies"))
		return true
	}
	if head.Op == "bye" {
		if err = decodeStrict(text, new(opHead)); err == nil {
			s.bye = true
			s.mu.Lock()
			s.leaveLocked(closing{closeNormal, "bye"}, byeWithin)
			s.mu.Unlock()
		}
	} else {
		err = s.dispatch(head, text, bodies)
	}
	if err != nil {
		s.refuse(head.ID, err)
	}
	return true
}

// dispatch carries out an operation of an open session.
func (s *socket) dispatch(head opHead, text, bodies []byte) error {
	switch head.Op {
	case "send":
		if s.bin {
			return s.sendRecords(text, bodies)
		}
		return s.sendStrict(text)
	case "subscribe":
		return s.subscribe(text)
	case "credit":
		return s.credit(text)
	case "pause", "resume":
		return s.pause(text, head.Op == "pause")
	case "unsubscribe":
		return s.unsubscribe(text)
	case "seek":
		return s.seek(text)
	case "ack":
		return s.ack(text)
	case "nack":
		return s.nack(text)
	case "extend":
		return s.extend(text)
	case "commit":
		return s.commit(text)
	case "request":
		return s.requestOp(text)
	case "reply":
		return s.replyOp(text)
	case "producer":
		return s.producer(text)
	case "tx_result":
		return s.decideTransaction(text)
	case "auth":
		var op authOp
		if err := decodeStrict(text, &op); err != nil {
			return err
		}
		if op.Token == nil {
			return missing("token")
		}
		s.ok(op.ID) // nobody is asked for a token
		return nil
	case "pong":
		var op pongOp
		if err := decodeStrict(text, &op); err != nil {
			return err
		}
		if op.N == nil {
			return missing("n")
		}
		return nil
	case "hello":
		return newProblem("invalid_field", "hello comes once", fault{Pointer: "/op", Code: "invalid_field", Detail: "hello comes once"})
	}
	return newProblem("unknown_operation", "there is no such operation", fault{Pointer: "/op", Code: "unknown_operation"})
}

// headOf reads what every operation has, whatever else it says.
func headOf(text []byte) (head opHead, err error) {
	if pointer, deep := tooDeep(text); deep {
		detail := fmt.Sprintf("nested deeper than %d levels", maxDepth)
		return head, newProblem("invalid_json", detail, fault{Pointer: pointer, Code: "invalid_json", Detail: detail})
	}
	if err := json.Unmarshal(text, &head); err != nil {
		bad := jsonFault(err)
		return opHead{}, newProblem(bad.Code, bad.Detail, bad)
	}
	if len(head.ID) > maxOpID {
		head.ID = ""
		detail := fmt.Sprintf("at most %d bytes", maxOpID)
		return head, newProblem("invalid_field", "id: "+detail, fault{Pointer: "/id", Code: "invalid_field", Detail: detail})
	}
	if head.Op == "" {
		return head, missing("op")
	}
	return head, nil
}

func missing(field string) *problem {
	return newProblem("invalid_field", field+" is missing", fault{Pointer: "/" + field, Code: journal.CodeRequired, Detail: "is missing"})
}

func wrong(field, detail string) *problem {
	return newProblem("invalid_field", field+": "+detail, fault{Pointer: "/" + field, Code: "invalid_field", Detail: detail})
}

// answerFirst refuses an operation that cannot be read. Before hello that ends
// the socket.
func (s *socket) answerFirst(id string, err error) bool {
	if !s.greeted.Load() {
		s.refuse(id, err)
		s.close(closing{closeUnauthenticated, "say hello first"})
		return false
	}
	s.refuse(id, err)
	return true
}

// hello opens the session.
func (s *socket) hello(head opHead, text []byte) bool {
	var op helloOp
	err := error(nil)
	switch {
	case head.Op != "hello":
		err = newProblem("hello_required", "hello is the first operation")
	default:
		err = decodeStrict(text, &op)
	}
	if err == nil && len(op.Client) > maxClientName {
		err = wrong("client", fmt.Sprintf("at most %d bytes", maxClientName))
	}
	if err != nil {
		return s.answerFirst(head.ID, err)
	}
	key, resumed := s.hub.begin(s, op.Resume)
	s.hub.server.log.DebugContext(s.ctx, "hello", "client", op.Client, "session", s.session, "resumed", resumed, "request_id", s.requestID)
	s.conn.SetReadLimit(maxFrameBytes)
	s.pushOp(appendWelcome(nil, op.ID, s.session, key, resumed))
	s.greeted.Store(true)
	return true
}

// ok answers an operation that was carried out, if it has an id.
func (s *socket) ok(id string) {
	if id == "" {
		return
	}
	s.pushOp(append(appendHead(nil, "ok", id), '}'))
}

// refuse answers an operation that was not carried out.
func (s *socket) refuse(id string, err error) {
	s.pushOp(append(append(append(appendHead(nil, "error", id), `,"problem":`...), s.problem(err)...), '}'))
}

// problem is the JSON of an error. Its request id finds the socket in the log.
func (s *socket) problem(err error) []byte {
	p, expected := toProblem(err)
	if !expected && s.ctx.Err() == nil {
		s.hub.server.log.ErrorContext(s.ctx, "operation failed", "err", err, "operation", "socket", "request_id", s.requestID)
	}
	return p.encode("", s.requestID)
}
