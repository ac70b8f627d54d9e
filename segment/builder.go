package segment

import (
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/google/uuid"
)

// BlockBytes is the payload above which a block is cut: what is lost when a byte
// of it is damaged, and the least that a reader of it fetches.
const BlockBytes = 256 << 10

// Chunk is one request's records for one queue, as encoded records.
type Chunk struct {
	Payload          []byte
	Count            uint32
	MinBorn, MaxBorn int64
	Tags             uint64
	Identity         *Identity // nil when the request has none
	Due              int64     // when the records become readable, Unix milliseconds; 0 = at once
	DueID            uuid.UUID // with Due or Transaction: the id of the first record
	Transaction      uuid.UUID // of half messages; not together with Due
}

// Span says where a chunk's records ended up: in Blocks blocks from
// Footer.Blocks[First] on, after Skip records of other chunks in the first of
// them. A chunk with an identity, a due time or a transaction is one block of its own.
type Span struct {
	First, Blocks int
	Skip          uint32
}

// Builder makes one segment. It copies every payload once, into one contiguous
// buffer. It is not safe for concurrent use.
type Builder struct {
	footer Footer
	object []byte
	row    Block // the open block; its header's place is already in object
	open   bool
	keys   keyFilters
}

// NewBuilder returns a builder of the given writer's segment seq; createdAt is
// the writer's clock in Unix milliseconds.
func NewBuilder(writer uuid.UUID, seq uint64, createdAt int64) *Builder {
	return &Builder{footer: Footer{Writer: writer, Seq: seq, CreatedAt: createdAt}}
}

// Reuse makes the builder write into buf from its start. It must be called
// before anything is added; buf is the object's from then on.
func (b *Builder) Reuse(buf []byte) { b.object = buf[:0] }

// Grow makes room for that many bytes of payload in that many blocks besides
// those that BlockBytes cuts, for the footer and for the receipts and burnt seqs
// added so far. With room for all, the object is never moved while it is built.
func (b *Builder) Grow(payload, blocks int) {
	b.object = slices.Grow(b.object, b.Need(payload, blocks))
	b.footer.Blocks = slices.Grow(b.footer.Blocks, blocks+payload/BlockBytes+1)
}

// Need returns the bytes that Grow makes room for.
func (b *Builder) Need(payload, blocks int) int {
	blocks += payload/BlockBytes + 1
	return payload + 2*blocks*(blockHeaderSize+identitySize+halfSize) + footerSize(&b.footer) + TrailerSize
}

// Size returns the size that the object would have if it were finished now.
func (b *Builder) Size() int {
	return len(b.object) + footerSize(&b.footer) + b.keys.size() + TrailerSize
}

// AddReceipts adds receipts of earlier commits to the footer.
func (b *Builder) AddReceipts(r []Receipt) {
	b.footer.Receipts = append(b.footer.Receipts, r...)
}

// AddBurnt adds given-up seqs to the footer.
func (b *Builder) AddBurnt(seqs []uint64) {
	b.footer.Burnt = append(b.footer.Burnt, seqs...)
}

// AddChunks appends chunks of one queue in order and returns a span for each. A
// chunk with an identity, a due time or a transaction becomes one block, whatever
// its size. Chunks without share blocks, which are cut between records at BlockBytes. Blocks of two calls
// are never merged. A chunk without records gets a span of no blocks.
//
// Payload must hold exactly Count records, which AppendRecord made or
// DecodeRecord accepted; a chunk that has to be cut and does not makes it panic,
// before bytes that nobody can read become durable.
func (b *Builder) AddChunks(kind Kind, topic uuid.UUID, queue uint32, chunks []Chunk) []Span {
	spans := make([]Span, len(chunks))
	base := Block{Kind: kind, Topic: topic, Queue: queue, MinBorn: math.MaxInt64, MaxBorn: math.MinInt64}
	for i := range chunks {
		chunk := &chunks[i]
		switch {
		case chunk.Count == 0:
			spans[i].First = len(b.footer.Blocks)
		case chunk.Identity != nil || chunk.Due != 0 || chunk.Transaction != uuid.Nil:
			b.closeBlock()
			spans[i] = Span{First: len(b.footer.Blocks), Blocks: 1}
			own := base
			own.Identity, own.Due, own.DueID, own.Transaction = chunk.Identity, chunk.Due, chunk.DueID, chunk.Transaction
			b.openBlock(own)
			b.append(chunk)
			b.closeBlock()
		default:
			spans[i] = b.share(base, chunk)
		}
	}
	b.closeBlock()
	return spans
}

// share puts a chunk without identity into the open block, or into new ones when
// it does not fit in there.
func (b *Builder) share(base Block, chunk *Chunk) Span {
	if b.open && b.payload()+len(chunk.Payload) > BlockBytes {
		b.closeBlock()
	}
	if !b.open {
		b.openBlock(base)
	}
	span := Span{First: len(b.footer.Blocks), Blocks: 1, Skip: b.row.Count}
	if len(chunk.Payload) <= BlockBytes {
		b.append(chunk)
		return span
	}
	rest, count := chunk.Payload, chunk.Count
	for {
		piece := cut(rest)
		b.append(&piece)
		count -= piece.Count
		if rest = rest[len(piece.Payload):]; len(rest) == 0 {
			break
		}
		b.closeBlock()
		b.openBlock(base)
		span.Blocks++
	}
	if count != 0 {
		panic(fmt.Sprintf("segment: a chunk of %d records was counted as %d", chunk.Count-count, chunk.Count))
	}
	return span
}

// cut returns the first records of payload, up to BlockBytes but at least one.
func cut(payload []byte) Chunk {
	piece := Chunk{MinBorn: math.MaxInt64, MaxBorn: math.MinInt64}
	n := 0
	for n < len(payload) {
		r, size, err := DecodeRecord(payload[n:])
		if err != nil {
			panic(fmt.Sprintf("segment: a chunk holds no records at byte %d: %v", n, err))
		}
		if n > 0 && n+size > BlockBytes {
			break
		}
		n += size
		piece.Count++
		piece.MinBorn = min(piece.MinBorn, r.BornAt)
		piece.MaxBorn = max(piece.MaxBorn, r.BornAt)
		piece.Tags |= TagBloom(r.Tag)
	}
	piece.Payload = payload[:n]
	return piece
}

func (b *Builder) openBlock(row Block) {
	b.row, b.open = row, true
	b.row.Position = int64(len(b.object))
	b.object = appendBlockHeader(b.object, &b.row)
}

// payload is the size of the open block's payload.
func (b *Builder) payload() int {
	return len(b.object) - int(b.row.Position+b.row.headerSize())
}

func (b *Builder) append(chunk *Chunk) {
	b.object = append(b.object, chunk.Payload...)
	b.row.Count += chunk.Count
	b.row.MinBorn = min(b.row.MinBorn, chunk.MinBorn)
	b.row.MaxBorn = max(b.row.MaxBorn, chunk.MaxBorn)
	b.row.Tags |= chunk.Tags
}

// closeBlock writes the header of the open block, now that all of it is known.
func (b *Builder) closeBlock() {
	if !b.open {
		return
	}
	block := b.object[b.row.Position:]
	if int64(len(block)) > math.MaxUint32 {
		panic("segment: a block is longer than its length prefix allows")
	}
	b.row.Length = int64(len(block))
	appendBlockHeader(block[:0], &b.row)
	b.row.CRC = crc32.Checksum(block[8:], castagnoli)
	order.PutUint32(block[4:], b.row.CRC)
	if b.row.Kind == Messages {
		b.keys.add(len(b.footer.Blocks), block[b.row.headerSize():])
	}
	b.footer.Blocks = append(b.footer.Blocks, b.row)
	b.open = false
}

// Finish returns the object's bytes and its footer. The builder must not be used
// again.
func (b *Builder) Finish() (object []byte, footer Footer) {
	b.object = slices.Grow(b.object, footerSize(&b.footer)+b.keys.size()+TrailerSize)
	b.object = appendFooter(b.object, &b.footer, &b.keys)
	return b.object, b.footer
}
