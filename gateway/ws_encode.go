package gateway

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/bucketmq/bucketmq/journal"
)

// appendHead begins an operation of the server; the caller closes the object.
func appendHead(dst []byte, op, id string) []byte {
	dst = append(dst, `{"op":"`...)
	dst = append(dst, op...)
	dst = append(dst, '"')
	if id == "" {
		return dst
	}
	return appendString(append(dst, `,"id":`...), []byte(id))
}

func appendWelcome(dst []byte, id, session, key string, resumed bool) []byte {
	dst = appendHead(dst, "welcome", id)
	dst = appendString(append(dst, `,"session":`...), []byte(session))
	if key != "" {
		dst = appendString(append(dst, `,"key":`...), []byte(key))
	}
	dst = strconv.AppendBool(append(dst, `,"resumed":`...), resumed)
	dst = strconv.AppendInt(append(dst, `,"heartbeat_ms":`...), pingAfter.Milliseconds(), 10)
	dst = strconv.AppendInt(append(dst, `,"session_ttl_ms":`...), sessionTTL.Milliseconds(), 10)
	dst = strconv.AppendInt(append(dst, `,"limits":{"frame_bytes":`...), maxFrameBytes, 10)
	dst = strconv.AppendInt(append(dst, `,"subscriptions":`...), maxSubscriptions, 10)
	dst = strconv.AppendInt(append(dst, `,"sends_in_flight":`...), maxAcks, 10)
	dst = strconv.AppendInt(append(dst, `,"producer_groups":`...), maxProducerGroups, 10)
	dst = strconv.AppendInt(append(dst, `,"credit_messages":`...), maxCreditItems, 10)
	dst = strconv.AppendInt(append(dst, `,"credit_bytes":`...), maxCreditBytes, 10)
	return append(dst, "}}"...)
}

func appendPing(dst []byte, n int64) []byte {
	return append(strconv.AppendInt(append(appendHead(dst, "ping", ""), `,"n":`...), n, 10), '}')
}

func appendGoaway(dst []byte, grace, reconnect time.Duration) []byte {
	dst = append(appendHead(dst, "goaway", ""), `,"reason":"shutdown","grace_ms":`...)
	dst = strconv.AppendInt(dst, grace.Milliseconds(), 10)
	dst = strconv.AppendInt(append(dst, `,"reconnect_after_ms":`...), reconnect.Milliseconds(), 10)
	return append(dst, '}')
}

// appendSub begins an operation of a subscription.
func appendSub(dst []byte, op, id, sub string) []byte {
	return appendString(append(appendHead(dst, op, id), `,"sub":`...), []byte(sub))
}

func appendSubscribed(dst []byte, id string, sub *subscription, recovered bool, gaps []topicGap) []byte {
	dst = appendSub(dst, "subscribed", id, sub.name)
	dst = strconv.AppendBool(append(dst, `,"recovered":`...), recovered)
	dst = appendString(append(dst, `,"cursor":`...), []byte(sub.cursor()))
	for i, gap := range gaps {
		dst = append(dst, [2]string{`,"gap":[{`, `,{`}[min(i, 1)]...)
		dst = append(gap.appendTo(dst), '}')
	}
	if len(gaps) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// topicGap is a gap in one of several topics.
type topicGap struct {
	topic string
	journal.Gap
}

// appendTo appends the members of a gap.
func (g *topicGap) appendTo(dst []byte) []byte {
	dst = appendString(append(dst, `"topic":`...), []byte(g.topic))
	dst = strconv.AppendUint(append(dst, `,"queue":`...), uint64(g.Queue), 10)
	dst = strconv.AppendInt(append(dst, `,"from":`...), g.From, 10)
	dst = strconv.AppendInt(append(dst, `,"to":`...), g.To, 10)
	return appendString(append(dst, `,"reason":`...), []byte(g.Reason))
}

// binPrefix is the size of what precedes the header of a binary frame: the kind
// and the header's length.
const binPrefix = 5

// binOperation is the one kind of binary frame that there is.
const binOperation = 1

func appendBinPrefix(dst []byte, headerBytes int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, binOperation), uint32(headerBytes))
}

// splitBin takes a binary frame apart.
func splitBin(frame []byte) (header, bodies []byte, err error) {
	if len(frame) < binPrefix || frame[0] != binOperation {
		return nil, nil, newProblem("invalid_frame", "a frame is: kind 1, four bytes header length, header, bodies")
	}
	size := binary.BigEndian.Uint32(frame[1:])
	if uint64(size) > uint64(len(frame)-binPrefix) {
		return nil, nil, newProblem("invalid_frame", "the header goes on after the end of the frame")
	}
	end := binPrefix + int(size)
	return frame[binPrefix:end:end], frame[end:], nil
}
