package segment_test

import (
	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/uuid"
)

var (
	writer      = uuid.MustParse("0198a000-0000-7000-8000-000000000001")
	topicA      = uuid.MustParse("0198a000-0000-7000-8000-00000000000a")
	topicB      = uuid.MustParse("0198a000-0000-7000-8000-00000000000b")
	transaction = uuid.MustParse("0198a000-2222-7222-8333-444444444400")
	idBase      = uuid.MustParse("0198a000-1111-7222-8333-444444444400")
)

// chunk encodes records into one chunk.
func chunk(records ...segment.Record) segment.Chunk {
	c := segment.Chunk{Count: uint32(len(records)), MinBorn: 1<<63 - 1, MaxBorn: -1 << 63}
	for i := range records {
		r := &records[i]
		c.Payload = segment.AppendRecord(c.Payload, r)
		c.MinBorn = min(c.MinBorn, r.BornAt)
		c.MaxBorn = max(c.MaxBorn, r.BornAt)
		c.Tags |= segment.TagBloom(r.Tag)
	}
	return c
}

func message(i int, body string) segment.Record {
	return segment.Record{ID: segment.MessageID(idBase, i), BornAt: 1_700_000_000_000 + int64(i), Body: []byte(body)}
}

// sample is a segment with one of everything; its bytes are testdata/v1-keys.seg.
func sample() ([]byte, segment.Footer) {
	b := segment.NewBuilder(writer, 7, 1_700_000_000_500)
	full := message(0, "hello")
	full.Attributes = segment.AttrText
	full.Tag = []byte("greeting")
	full.Keys = []byte("a b")
	full.OrderingKey = []byte("user-7")
	full.ContentType = []byte("text/plain")
	full.Properties = segment.AppendProperty(nil, "lang", "en")
	full.Properties = segment.AppendProperty(full.Properties, "empty", "")
	tombstone := message(1, "")
	tombstone.Attributes = segment.AttrNull
	tombstone.Keys = []byte("a")

	keyed := chunk(message(2, "keyed"))
	keyed.Identity = &segment.Identity{
		Kind: segment.IdentityKey, Key: [16]byte{1, 2, 3}, Body: [16]byte{4, 5, 6},
		Queues: 8, Part: 0, Parts: 2, AutoQueue: 3, IDBase: idBase,
	}
	sequenced := chunk(message(3, "sequenced"), message(4, "twice"))
	sequenced.Identity = &segment.Identity{
		Kind: segment.IdentityProducer, Key: [16]byte{7, 8, 9}, Epoch: 2, Seq: 41,
		Queues: 8, Part: 1, Parts: 2, AutoQueue: 3, IDBase: idBase,
	}
	b.AddChunks(segment.Messages, topicA, 3, []segment.Chunk{chunk(full, tombstone), keyed, chunk(message(5, "plain")), chunk(message(6, "merged"))})
	b.AddChunks(segment.Messages, topicB, 0, []segment.Chunk{sequenced})
	state := message(7, `{"name":"orders","version":1}`)
	state.Attributes, state.Tag = segment.AttrText, []byte("topic")
	b.AddChunks(segment.Control, uuid.Nil, 0, []segment.Chunk{chunk(state)})
	b.AddReceipts([]segment.Receipt{
		{Writer: writer, Seq: 5, Topic: topicA, Epoch: 1, Queue: 3, First: 100, Count: 4, Position: 64, Length: 500, StoredAt: 1_700_000_000_400, Tags: 3},
		{Writer: topicB, Seq: 1, Topic: topicB, Epoch: 2},
	})
	b.AddBurnt([]uint64{4, 6})
	return b.Finish()
}

// fataler is testing.TB or *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func mustParse(t fataler, object []byte) segment.Footer {
	t.Helper()
	f, missing, err := segment.ParseFooter(object, int64(len(object)))
	if err != nil || missing != 0 {
		t.Fatalf("ParseFooter: missing %d, %v", missing, err)
	}
	return f
}
