package gateway

import (
	"strconv"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// headRoom is enough for what stands before a run in its frame: the frame's
// header, and the subscription's name and seq.
var headRoom [512]byte

// run is the part of a messages operation that does not depend on who receives
// it: everything after seq.
type run struct {
	before, after string // cursors
	items         int
	bytes         int64 // of bodies
	rest          []byte
	header        int // how much of rest belongs to the header of a binary frame
}

func bodyBytes(items []journal.Item) (bytes int64) {
	for i := range items {
		bytes += int64(len(items[i].Record.Body))
	}
	return bytes
}

// encode fills rest, in out.
func (r *run) encode(out *buffer, shared *sharedItems, topic meta.Topic, batch *journal.Batch, base64, bin bool, cursor string) {
	dst := out.b[:0]
	if bin {
		dst = appendRuns(append(dst, `,"runs":[`...), topic.Name, batch.Items)
	} else {
		dst = append(dst, `,"items":[`...)
		for i, part := range shared.items(topic, batch.Items, base64) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, part...)
		}
	}
	dst = appendString(append(dst, `],"cursor":`...), []byte(cursor))
	dst = append(strconv.AppendBool(append(dst, `,"caught_up":`...), batch.CaughtUp), '}')
	r.header = len(dst)
	for i := 0; bin && i < len(batch.Items); i++ {
		dst = append(dst, batch.Items[i].Raw...)
	}
	out.b, r.rest = dst, dst
}

// appendRuns says where each run of records belongs.
func appendRuns(dst []byte, topic string, items []journal.Item) []byte {
	var c clock
	for rest := items; len(rest) > 0; {
		n := runOf(rest, true)
		if len(rest) < len(items) {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"topic":`...), []byte(topic))
		dst = strconv.AppendUint(append(dst, `,"queue":`...), uint64(rest[0].Queue), 10)
		dst = strconv.AppendInt(append(dst, `,"first":`...), rest[0].Offset, 10)
		dst = strconv.AppendInt(append(dst, `,"count":`...), int64(n), 10)
		dst = c.append(append(dst, `,"stored_at":"`...), rest[0].StoredAt)
		dst = append(dst, `"}`...)
		rest = rest[n:]
	}
	return dst
}

// takeRun takes the credit of a run and returns what stands before it. It needs
// the socket's mu.
func (sub *subscription) takeRun(dst []byte, r *run) []byte {
	sub.seq++
	sub.creditItems -= int64(r.items)
	sub.creditBytes -= r.bytes
	var space [len(headRoom)]byte
	text := appendSub(space[:0], "messages", "", sub.name)
	text = strconv.AppendInt(append(text, `,"seq":`...), sub.seq, 10)
	if !sub.socket.bin {
		return append(appendFrameHeader(dst, opText, len(text)+len(r.rest)), text...)
	}
	dst = appendFrameHeader(dst, opBinary, binPrefix+len(text)+len(r.rest))
	return append(appendBinPrefix(dst, len(text)+r.header), text...)
}
