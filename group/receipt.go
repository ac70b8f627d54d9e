package group

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

const (
	receiptVersion = 1
	// maxNumber is the largest number in a receipt: larger ones are no numbers in JSON.
	maxNumber = 1<<53 - 1
)

// receipt names one grant of one message to a receiver. It holds everything
// that is needed to find the grant, so that any gateway can judge it; until when
// it is good is written down where the message is in flight.
type receipt struct {
	group, topic uuid.UUID
	queue        uint32
	offset       int64
	version      int64 // of the group's offset: a reset raises it
	era          int64 // of what is in flight: changes when that was dropped
	attempt      int64
	before       int64 // deliveries that failed before the message came here, to the retry topic
}

// seal encodes the receipt for clients, signed:
//
//	version 1 | group 16 | topic 16 | queue | offset | offset version | era | attempt | before
//
// where numbers without a width are unsigned varints.
func (r *receipt) seal(ctx context.Context, s *Signer) (string, error) {
	b := make([]byte, 0, 72)
	b = append(b, receiptVersion)
	b = append(b, r.group[:]...)
	b = append(b, r.topic[:]...)
	b = binary.AppendUvarint(b, uint64(r.queue))
	for _, n := range [...]int64{r.offset, r.version, r.era, r.attempt, r.before} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return s.Seal(ctx, PurposeReceipt, b)
}

// openReceipt decodes what seal made for a group. Anything else, also a receipt
// of another group, is ErrReceiptInvalid; other errors say that the secret is
// not known now.
func openReceipt(ctx context.Context, s *Signer, group uuid.UUID, text string) (receipt, error) {
	b, err := s.Open(ctx, PurposeReceipt, text)
	if errors.Is(err, ErrSignature) {
		return receipt{}, ErrReceiptInvalid
	}
	if err != nil {
		return receipt{}, err
	}
	r, ok := parseReceipt(b)
	if !ok || r.group != group {
		return receipt{}, ErrReceiptInvalid
	}
	return r, nil
}

func parseReceipt(b []byte) (r receipt, ok bool) {
	if len(b) < 1+16+16 || b[0] != receiptVersion {
		return r, false
	}
	r.group, r.topic = uuid.UUID(b[1:17]), uuid.UUID(b[17:33])
	b = b[33:]
	var numbers [6]uint64
	for i := range numbers {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > maxNumber {
			return r, false
		}
		numbers[i], b = n, b[size:]
	}
	if numbers[0] > 1<<32-1 || len(b) > 0 {
		return r, false
	}
	r.queue = uint32(numbers[0])
	r.offset, r.version, r.era = int64(numbers[1]), int64(numbers[2]), int64(numbers[3])
	r.attempt, r.before = int64(numbers[4]), int64(numbers[5])
	return r, true
}
