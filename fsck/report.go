package fsck

import (
	"time"

	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/uuid"
)

// FaultKind says what is wrong.
type FaultKind string

// Kinds of faults.
const (
	StrayKey       FaultKind = "stray_key"       // an object under log/ that is no segment's
	Unreadable     FaultKind = "unreadable"      // the store does not give the bytes
	Truncated      FaultKind = "truncated"       // the object ends early
	DamagedFooter  FaultKind = "damaged_footer"  // its blocks are found without it; its receipts are lost
	DamagedBlock   FaultKind = "damaged_block"   // the messages of this block are lost
	DamagedRecord  FaultKind = "damaged_record"  // a whole block holds something that is no record
	UnknownVersion FaultKind = "unknown_version" // written by a newer version; not damage
	Mismatch       FaultKind = "mismatch"        // whole parts contradict each other
	MissingSegment FaultKind = "missing_segment" // receipts prove a segment that is not there
)

// Fault is one thing that is wrong. Block is set when it concerns one block that
// the directory, or the block itself, still describes.
type Fault struct {
	Kind   FaultKind `json:"kind"`
	Key    string    `json:"key"`
	Block  *Block    `json:"block,omitempty"`
	Detail string    `json:"detail"`
}

// Block is one block of a segment.
type Block struct {
	Position int64     `json:"position"`
	Length   int64     `json:"length"`
	Kind     string    `json:"kind"` // messages | control
	Topic    uuid.UUID `json:"topic_id"`
	Queue    uint32    `json:"queue"`
	Count    uint32    `json:"count"`
	Due      int64     `json:"due,omitempty"` // Unix milliseconds; when its messages become readable, of a delayed one
	// Transaction is what its messages are half messages of, if they are.
	Transaction uuid.UUID `json:"transaction_id,omitzero"`
	Identity    bool      `json:"identity"` // its request can be recognised when sent again
	MinBorn     time.Time `json:"min_born_at"`
	MaxBorn     time.Time `json:"max_born_at"`
	Fault       FaultKind `json:"fault,omitempty"`
}

func blockOf(row segment.Block) Block {
	kind := "messages"
	if row.Kind == segment.Control {
		kind = "control"
	}
	return Block{
		Position: row.Position, Length: row.Length, Kind: kind,
		Topic: row.Topic, Queue: row.Queue, Count: row.Count, Identity: row.Identity != nil, Due: row.Due, Transaction: row.Transaction,
		MinBorn: time.UnixMilli(row.MinBorn).UTC(), MaxBorn: time.UnixMilli(row.MaxBorn).UTC(),
	}
}

// Object is one segment. Blocks are those of its directory, or what was found
// without one.
type Object struct {
	Key       string    `json:"key"`
	Size      int64     `json:"size"`
	Writer    uuid.UUID `json:"writer"`
	Seq       uint64    `json:"seq"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	Blocks    []Block   `json:"blocks"`
	Receipts  int       `json:"receipts"`
	Burnt     []uint64  `json:"burnt,omitempty"`
	Faults    int       `json:"faults"`
}

// Writer is the summary of one writer's segments.
type Writer struct {
	Writer      uuid.UUID `json:"writer"`
	Segments    uint64    `json:"segments"`
	LastSeq     uint64    `json:"last_seq"`
	Burnt       []Range   `json:"burnt,omitempty"`        // given up by the writer
	Missing     []Range   `json:"missing,omitempty"`      // committed and gone: each is a fault
	NeverStored []Range   `json:"never_stored,omitempty"` // in flight when the writer died, never acknowledged
}

// Report is what Run found. The log is whole when Complete is set and Faults is
// empty.
type Report struct {
	Complete      bool     `json:"complete"` // everything was looked at
	Objects       int64    `json:"objects"`
	Bytes         int64    `json:"bytes"`
	Segments      int64    `json:"segments"`
	Blocks        int64    `json:"blocks"`
	DamagedBlocks int64    `json:"damaged_blocks"`
	Records       int64    `json:"records"` // of whole blocks
	Delayed       int64    `json:"delayed"` // of Records: those whose blocks have a due time
	Half          int64    `json:"half"`    // of Records: those of transactions
	Receipts      int64    `json:"receipts"`
	Writers       []Writer `json:"writers"`
	Faults        []Fault  `json:"faults"`
	FaultsOmitted int64    `json:"faults_omitted"` // beyond Options.MaxFaults
}
