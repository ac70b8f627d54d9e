package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bucketmq/bucketmq/journal"
)

const (
	// maxAcks is how many sends a socket may have that are not answered.
	maxAcks = 1024
	// maxAckBytes bounds their encoded messages together.
	maxAckBytes = 16 << 20
)

// acks are the sends of a socket that are not answered yet, in their order.
type acks struct {
	list    []ack
	at      int   // the next to be answered
	bytes   int64 // of the messages
	running bool  // a goroutine runs answer
}

// ack is one of them.
type ack struct {
	id      string
	pending *journal.Pending
	bytes   int64
	level   journal.Ack
	keyed   bool
	err     error // refused before it was stored
}

func (a *acks) empty() bool { return a.at == len(a.list) }

func (a *acks) full() bool { return len(a.list)-a.at >= maxAcks || a.bytes > maxAckBytes }

// sendOp is a send, but for its messages.
type sendOp struct {
	id, topic, key string
	request        sendRequest
	draft          *journal.Draft
	raw            []byte // the messages as they came
}

// sendText carries out a send in its usual form. It returns false when the
// operation is another one, or for the strict decoder.
func (s *socket) sendText(text []byte) bool {
	scan := takeScanner(text)
	op, err := s.scanSend(scan)
	scan.release()
	if errors.Is(err, errUnusual) {
		return false
	}
	s.enqueue(&op, err)
	return true
}

// scanSend reads a send whose operation comes first and whose topic comes
// before its messages.
func (s *socket) scanSend(scan *messageScanner) (op sendOp, err error) {
	op.request.ack = journal.Durable
	scan.take('{')
	if name, more := scan.member(true); !more || string(name) != "op" || string(scan.str()) != "send" || scan.bad {
		return op, errUnusual
	}
	const seenID, seenTopic, seenMessages, seenProducer, seenKey, seenAck, seenNext = 1, 2, 4, 8, 16, 32, 64
	seen := 0
	for name, more := scan.member(false); more; name, more = scan.member(false) {
		member := 0
		switch string(name) {
		case "id":
			member, op.id = seenID, string(scan.str())
		case "topic":
			member, op.topic = seenTopic, string(scan.str())
			if op.draft == nil && !scan.bad {
				if op.draft, err = s.draft(op.topic); err != nil {
					return op, errUnusual // says so with the operation's id
				}
			}
		case "messages":
			if member = seenMessages; op.draft == nil {
				return op, errUnusual
			}
			scan.peek()
			from := scan.at
			if op.request.count, err = scan.messages(op.draft); err != nil {
				return op, errUnusual
			}
			op.raw = scan.text[from:scan.at]
		case "producer":
			member, op.request.producer = seenProducer, scan.producer()
		case "idempotency_key":
			member, op.key = seenKey, string(scan.str())
		case "ack":
			member, op.request.ack = seenAck, scan.ack()
		case "if_next_offset":
			member, op.request.ifNext = seenNext, scan.nextOffset()
		}
		if member == 0 || seen&member != 0 {
			return op, errUnusual
		}
		seen |= member
	}
	if !scan.end() || op.request.count == 0 || len(op.id) > maxOpID || seen&seenKey != 0 && !validIdempotencyKey(op.key) {
		return op, errUnusual
	}
	if err = s.identify(&op, "ws.json"); err == nil {
		err = op.require()
	}
	return op, err
}

// identify names the request by its key or producer.
func (s *socket) identify(op *sendOp, form string) error {
	return identifySend(op.draft, op.key, op.request.producer, func(h *fingerprint) {
		h.add(form, op.raw)
		h.add("ack", []byte{byte(op.request.ack)})
		if next := op.request.ifNext; next != nil {
			h.add("if_next_offset", strconv.AppendInt(nil, *next, 10))
		}
	})
}

// require makes the send conditional, if it asks for that.
func (op *sendOp) require() error {
	return require(op.draft, op.request.ifNext, op.request.ack, "/if_next_offset", "invalid_field")
}

// identifySend is identify with pointers into an operation.
func identifySend(draft *journal.Draft, key string, p *producer, describe func(*fingerprint)) error {
	if key != "" && p != nil {
		return wrong("idempotency_key", "a send has an idempotency key or a producer, not both")
	}
	return identify(draft, key, p, describe)
}

// draft begins a request to a topic that is named in an operation.
func (s *socket) draft(topic string) (*journal.Draft, error) {
	t, err := s.topic(topic, "/topic")
	if err != nil {
		return nil, err
	}
	return s.hub.server.journal.NewDraft(t)
}

type strictSend struct {
	opHead
	Topic    *string         `json:"topic"`
	Messages jsontext.Value  `json:"messages"`
	Producer *strictProducer `json:"producer"`
	Key      *string         `json:"idempotency_key"`
	Ack      *string         `json:"ack"`
	IfNext   *int64          `json:"if_next_offset"`
}

// sendStrict carries out a send by the strict decoder, which names every fault.
func (s *socket) sendStrict(text []byte) error {
	var in strictSend
	if err := decodeStrict(text, &in); err != nil {
		return err
	}
	if in.Topic == nil {
		return missing("topic")
	}
	op := sendOp{id: in.ID, topic: *in.Topic, raw: bytes.TrimSpace(in.Messages)}
	var err error
	if op.draft, err = s.draft(op.topic); err != nil {
		return err
	}
	if op.key, err = keyOf(in.Key); err != nil {
		return err
	}
	strict := strictRequest{Producer: in.Producer, Ack: in.Ack, IfNext: in.IfNext}
	var found faults
	if op.request, err = strict.decodeParts(in.Messages, op.draft, &found); err == nil && len(found.list) > 0 {
		err = invalidMessages(found.list)
	}
	if err == nil {
		err = s.identify(&op, "ws.json")
	}
	if err == nil {
		err = op.require()
	}
	s.enqueue(&op, err)
	return nil
}

// decodeParts is decode for a request whose parts came in another document.
func (r *strictRequest) decodeParts(messages jsontext.Value, to adder, f *faults) (sendRequest, error) {
	if len(messages) == 0 {
		messages = jsontext.Value("null")
	}
	text := append(append([]byte(`{"messages":`), messages...), '}')
	producer, ack, next := r.Producer, r.Ack, r.IfNext
	var only strictRequest
	if err := decodeStrict(text, &only); err != nil {
		return sendRequest{}, err
	}
	only.Producer, only.Ack, only.IfNext = producer, ack, next
	return only.read(to, f)
}

type recordsOp struct {
	opHead
	Topic    *string         `json:"topic"`
	Queue    *int64          `json:"queue"`
	Producer *strictProducer `json:"producer"`
	Key      *string         `json:"idempotency_key"`
	Ack      *string         `json:"ack"`
	IfNext   *int64          `json:"if_next_offset"`
}

// sendRecords carries out a binary send: the bodies are records, which the
// journal keeps as they lie.
func (s *socket) sendRecords(text, records []byte) error {
	var in recordsOp
	if err := decodeStrict(text, &in); err != nil {
		return err
	}
	if in.Topic == nil {
		return missing("topic")
	}
	op := sendOp{id: in.ID, topic: *in.Topic}
	queue := journal.AnyQueue
	if in.Queue != nil {
		if queue = *in.Queue; queue < 0 {
			return wrong("queue", "a queue's number is not negative")
		}
	}
	var err error
	if op.draft, err = s.draft(op.topic); err != nil {
		return err
	}
	if op.key, err = keyOf(in.Key); err != nil {
		return err
	}
	request := strictRequest{Producer: in.Producer, Ack: in.Ack, IfNext: in.IfNext}
	var found faults
	op.request = request.options(&found)
	if len(found.list) > 0 {
		return invalidMessages(found.list)
	}
	if cap(records) > 2*len(records)+len(text) {
		records = bytes.Clone(records) // or a small one would keep a large frame
	}
	op.raw = records
	err = s.identify(&op, fmt.Sprint("ws.bin ", queue)) // before ids are written into the records
	if err == nil {
		err = framedFault(op.draft.AddFramed(records, queue))
	}
	if err == nil {
		err = op.require()
	}
	s.enqueue(&op, err)
	return nil
}

// keyOf reads an idempotency key.
func keyOf(key *string) (string, error) {
	if key == nil {
		return "", nil
	}
	if !validIdempotencyKey(*key) {
		return "", wrong("idempotency_key", "1 to 255 visible ASCII characters")
	}
	return *key, nil
}

func validIdempotencyKey(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] >= 0x7f {
			return false
		}
	}
	return len(key) >= 1 && len(key) <= maxKeyBytes
}

// enqueue gives a send its place in the log and in the order of the answers.
// A send that was refused, with err, has its place among the answers too.
func (s *socket) enqueue(op *sendOp, err error) {
	a := ack{id: op.id, level: op.request.ack, keyed: op.key != "", err: err}
	if err == nil {
		a.bytes = int64(op.draft.Size())
		a.pending, a.err = s.hub.server.journal.Enqueue(op.draft, op.request.ack)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acks.list = append(s.acks.list, a)
	s.acks.bytes += a.bytes
	if !s.acks.running {
		s.acks.running = true
		s.hub.running.Go(s.answer)
	}
}

// answer answers sends as they become durable, until there is none left.
func (s *socket) answer() {
	out := takeBuffer()
	defer out.release()
	for {
		s.mu.Lock()
		if s.acks.empty() || s.outbox.last {
			s.acks = acks{}
			s.leaveIfAnswered()
			s.changed.Broadcast()
			s.mu.Unlock()
			return
		}
		a := s.acks.list[s.acks.at]
		s.mu.Unlock()
		out.b = s.appendAnswer(out.b[:0], &a)
		s.mu.Lock()
		if len(out.b) > 0 {
			s.appendOpLocked(out.b)
		}
		s.acks.list[s.acks.at] = ack{}
		s.acks.at++
		s.acks.bytes -= a.bytes
		if s.acks.at >= maxAcks {
			s.acks.list = append(s.acks.list[:0], s.acks.list[s.acks.at:]...)
			s.acks.at = 0
		}
		s.changed.Broadcast()
		s.mu.Unlock()
	}
}

// appendAnswer waits for what became of a send. A failure is told also to a
// client that asked for no answer.
func (s *socket) appendAnswer(dst []byte, a *ack) []byte {
	appended, err := (*journal.Appended)(nil), a.err
	if err == nil {
		appended, err = a.pending.Wait(s.ctx)
	}
	if err != nil {
		dst = append(appendHead(dst, "error", a.id), `,"problem":`...)
		return append(append(dst, s.problem(err)...), '}')
	}
	if a.id == "" {
		return dst
	}
	dst = append(appendHead(dst, "ok", a.id), `,"result":`...)
	answer := sendAnswer{Appended: appended, ack: a.level, tellDuplicates: appended.Duplicate && !a.keyed}
	dst = answer.appendTo(dst)
	if appended.Duplicate && a.keyed {
		dst = append(dst, `,"replayed":true`...)
	}
	return append(dst, '}')
}
