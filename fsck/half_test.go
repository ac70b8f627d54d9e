package fsck_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/fsck"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

func TestHalfMessagesAreReportedAndTheirDamageIsAFault(t *testing.T) {
	transaction := uuid.MustParse("0198a000-0000-7000-8000-0000000000ff")
	b := segment.NewBuilder(writerA, 1, 1_700_000_000_000)
	half := chunk("half", "of it")
	half.Transaction, half.DueID = transaction, uuid.MustParse("0198a000-0000-7000-8000-0000000000fe")
	b.AddChunks(segment.Messages, topic, 0, []segment.Chunk{chunk("plain"), half})
	body, f := b.Finish()
	store := objstore.NewMemory()
	key := segment.ObjectKey(writerA, 1)
	put(t, store, key, body)
	var object fsck.Object
	options := fsck.Options{Object: func(o fsck.Object) { object = o }}
	r := run(t, store, options)
	if len(r.Faults) > 0 || r.Records != 3 || r.Half != 2 || len(object.Blocks) != 2 || object.Blocks[1].Transaction != transaction {
		t.Errorf("report %+v, object %+v", r, object)
	}
	var text bytes.Buffer
	if err := object.WriteText(&text); err != nil || !strings.Contains(text.String(), "half messages of "+transaction.String()) {
		t.Errorf("%v in\n%s", err, &text)
	}
	replace(t, store, key, func(b []byte) []byte { b[f.Blocks[1].Position+64] ^= 1; return b }) // in the transaction's id
	if r = run(t, store, options); len(r.Faults) != 1 || r.Faults[0].Kind != fsck.DamagedBlock {
		t.Errorf("faults %+v", r.Faults)
	}
}
