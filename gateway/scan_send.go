package gateway

import (
	"errors"
	"sync"

	"github.com/bucketmq/bucketmq/journal"
)

// adder takes messages one by one and copies them; a *journal.Draft is one.
type adder interface {
	Add(m *journal.Message) error
}

// producer names a request among those of one producer.
type producer struct {
	id         string
	epoch, seq int64
}

// sendRequest is what a request to send says besides its messages.
type sendRequest struct {
	count    int
	producer *producer
	ack      journal.Ack
	ifNext   *int64 // the queue's next offset, or nothing is stored
}

// errUnusual says that the strict decoder has to look at a request: it is
// faulty, or written in a way that the scanner does not read.
var errUnusual = errors.New("gateway: request for the strict decoder")

// maxBatch is how many messages a request may have.
const maxBatch = 1000

// maxScratch is how much memory a scanner keeps between requests.
const maxScratch = 1 << 20

var messageScanners = sync.Pool{New: func() any { return new(messageScanner) }}

// takeScanner returns a scanner over a text; give it back with release.
func takeScanner(text []byte) *messageScanner {
	s := messageScanners.Get().(*messageScanner)
	s.reset(text)
	return s
}

// release gives the scanner back. Nothing that it returned may be used after.
func (s *messageScanner) release() {
	s.reset(nil)
	s.message = journal.Message{}
	if cap(s.scratch) <= maxScratch {
		messageScanners.Put(s)
	}
}

// sendRequest reads a whole request and adds its messages to a draft as they
// come. After an error the draft is worth nothing.
func (s *messageScanner) sendRequest(to adder) (sendRequest, error) {
	r := sendRequest{ack: journal.Durable}
	const seenMessages, seenProducer, seenAck, seenNext = 1, 2, 4, 8
	seen := 0
	s.take('{')
	for name, more := s.member(true); more; name, more = s.member(false) {
		member := 0
		switch string(name) {
		case "messages":
			member = seenMessages
		case "producer":
			member = seenProducer
		case "ack":
			member = seenAck
		case "if_next_offset":
			member = seenNext
		}
		if member == 0 || seen&member != 0 {
			return r, errUnusual
		}
		seen |= member
		if s.null() {
			continue
		}
		switch member {
		case seenMessages:
			var err error
			if r.count, err = s.messages(to); err != nil {
				return r, err
			}
		case seenProducer:
			r.producer = s.producer()
		case seenAck:
			r.ack = s.ack()
		case seenNext:
			r.ifNext = s.nextOffset()
		}
	}
	if !s.end() || r.count == 0 {
		return r, errUnusual
	}
	return r, nil
}

// messages adds the elements of an array of messages.
func (s *messageScanner) messages(to adder) (count int, err error) {
	s.take('[')
	for more := s.element(true, ']'); more; more = s.element(false, ']') {
		s.next()
		if count++; s.bad || count > maxBatch {
			return 0, errUnusual
		}
		if err := to.Add(&s.message); err != nil {
			if _, ok := errors.AsType[*journal.InvalidError](err); ok {
				return 0, errUnusual // other messages may be faulty too
			}
			return 0, err
		}
	}
	return count, nil
}

// nextOffset reads the offset of a condition.
func (s *messageScanner) nextOffset() *int64 {
	next := s.integer()
	if next < 0 || next > maxInt53 {
		s.fail()
	}
	return &next
}

func (s *messageScanner) ack() journal.Ack {
	switch string(s.str()) {
	case "durable":
		return journal.Durable
	case "none":
		return journal.None
	}
	s.fail()
	return journal.Durable
}

// producer reads the identity of a producer.
func (s *messageScanner) producer() *producer {
	const seenID, seenEpoch, seenSeq, all = 1, 2, 4, 7
	p, seen := new(producer), 0
	s.take('{')
	for name, more := s.member(true); more; name, more = s.member(false) {
		member := 0
		switch string(name) {
		case "id":
			member = seenID
			p.id = string(s.str())
		case "epoch":
			member = seenEpoch
			p.epoch = s.integer()
		case "seq":
			member = seenSeq
			p.seq = s.integer()
		}
		if member == 0 || seen&member != 0 {
			s.fail()
			return nil
		}
		seen |= member
	}
	if seen != all || !p.valid() {
		s.fail()
		return nil
	}
	return p
}

// maxProducerID bounds the name of a producer, in bytes.
const maxProducerID = 128

func (p *producer) valid() bool {
	return len(p.id) > 0 && len(p.id) <= maxProducerID &&
		0 <= p.epoch && p.epoch <= maxInt53 && 0 <= p.seq && p.seq <= maxInt53
}
