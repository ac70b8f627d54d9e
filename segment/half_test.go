package segment_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

// halfBlock is a block of half messages: header, transaction, half id, records.
func halfBlock(t *testing.T) []byte {
	t.Helper()
	b := segment.NewBuilder(writer, 1, 0)
	half := chunk(message(0, "half"))
	half.Transaction, half.DueID = transaction, segment.MessageID(idBase, 0)
	b.AddChunks(segment.Messages, topicA, 3, []segment.Chunk{half})
	object, footer := b.Finish()
	if row := footer.Blocks[0]; !row.Deferred() || row.Due != 0 || row.Transaction != transaction || row.DueID != half.DueID {
		t.Fatalf("row %+v", row)
	}
	return object[:footer.Blocks[0].Length]
}

// A bit of a flag never turns half messages into ones that a reader would index.
func TestHalfMessagesAreRefusedWhereTheyAreNotUnderstood(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   error
	}{
		"with a due time too":   {func(b []byte) []byte { b[15] |= 0x40; return b }, segment.ErrVersion},
		"with the next flag":    {func(b []byte) []byte { b[14] |= 0x01; return b }, segment.ErrVersion},
		"of no transaction":     {func(b []byte) []byte { copy(b[64:], uuid.Nil[:]); return b }, segment.ErrCorrupt},
		"of a cut transaction":  {func(b []byte) []byte { b = b[:64+31]; b[11] = byte(len(b)); return b }, segment.ErrCorrupt},
		"without their records": {func(b []byte) []byte { b = b[:64+32]; b[11] = byte(len(b)); return b }, segment.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.change(bytes.Clone(halfBlock(t)))
			resealBlock(b)
			if _, _, err := segment.DecodeBlock(b); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
