package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/replies"
	"github.com/bucketmq/bucketmq/transaction"
)

// kind is what every problem of one code has in common.
type kind struct {
	status     int
	title      string
	retryable  bool // the same request may succeed later
	definite   bool // the request surely changed nothing
	retryAfter time.Duration
}

const (
	codeInternal = "internal"
	codeStopping = "shutting_down"
)

// kinds are all codes; docs/errors.md explains each.
var kinds = map[string]kind{
	"body_unreadable":   {400, "The body cannot be read", false, true, 0},
	"duplicate_field":   {400, "Field given twice", false, true, 0},
	"invalid_field":     {400, "Invalid field", false, true, 0},
	"invalid_frame":     {400, "The body is not a sequence of records", false, true, 0},
	"invalid_header":    {400, "Invalid header", false, true, 0},
	"invalid_json":      {400, "The body is not valid JSON", false, true, 0},
	"invalid_name":      {400, "Invalid name", false, true, 0},
	"invalid_parameter": {400, "Invalid parameter", false, true, 0},
	"reserved_property": {400, "Reserved property", false, true, 0},
	"unknown_field":     {400, "Unknown field", false, true, 0},
	"unknown_parameter": {400, "Unknown query parameter", false, true, 0},

	"cursor_invalid":   {400, "The cursor is none of this member's", false, true, 0},
	"receipt_invalid":  {400, "The receipt is none of this group's", false, true, 0},
	"address_denied":   {403, "Address not allowed", false, true, 0},
	"group_not_found":  {404, "No such group", false, true, 0},
	"member_unknown":   {404, "No such member", false, true, 0},
	"offset_not_found": {404, "The group does not consume the queue", false, true, 0},

	"generation_stale":      {409, "The group is not in this generation", false, true, 0},
	"group_active":          {409, "The group has members", false, true, 0},
	"group_broadcasting":    {409, "The group is broadcasting", false, true, 0},
	"group_in_queue_mode":   {409, "Members own the queues of the group", false, true, 0},
	"group_in_shared_mode":  {409, "The group is consumed in shared mode", true, true, 0},
	"not_owner":             {409, "The queue is another's", false, true, 0},
	"receipt_expired":       {409, "The receipt has expired", false, true, 0},
	"receipt_superseded":    {409, "The receipt counts no more", false, true, 0},
	"session_taken":         {409, "A newer session of the client is there", false, true, 0},
	"subscription_mismatch": {409, "The group consumes something else", false, true, 0},
	"group_exists":          {412, "The group exists", false, true, 0},

	"reply_address_invalid":  {400, "Not an address of a request", false, true, 0},
	"unknown_operation":      {400, "Unknown operation", false, true, 0},
	"hello_required":         {401, "Say hello first", false, true, 0},
	"subscription_not_found": {404, "No such subscription", false, true, 0},
	"subscription_exists":    {409, "The subscription exists", false, true, 0},
	"too_many_subscriptions": {429, "Too many subscriptions", false, true, 0},

	"origin_denied":            {403, "Origin not allowed", false, true, 0},
	"message_not_found":        {404, "No such message", false, true, 0},
	"queue_not_found":          {404, "No such queue", false, true, 0},
	"route_not_found":          {404, "No such path", false, true, 0},
	"transaction_not_found":    {404, "No such transaction", false, true, 0},
	"transaction_decided":      {409, "The transaction was decided otherwise", false, true, 0},
	"too_many_transactions":    {429, "Too many undecided transactions", true, true, time.Second},
	"too_many_producer_groups": {429, "Too many producer groups", false, true, 0},

	"handle_not_found":   {404, "No such delayed message", false, true, 0},
	"topic_not_found":    {404, "No such topic", false, true, 0},
	"method_not_allowed": {405, "Method not allowed", false, true, 0},
	"not_acceptable":     {406, "Not acceptable", false, true, 0},
	"request_timeout":    {408, "The body came too slowly", true, true, 0},

	"already_replied":       {409, "There was a reply before", false, true, 0},
	"already_delivered":     {409, "The message was delivered", false, true, 0},
	"epoch_changed":         {409, "The topic is in another epoch", false, true, 0},
	"idempotency_in_flight": {409, "A request with this key is still running", true, true, time.Second},
	"producer_fenced":       {409, "Producer epoch is stale", false, true, 0},
	"producer_gap":          {409, "Producer sequence leaves a gap", false, true, 0},
	"queue_shrink_refused":  {409, "A topic keeps its queues", false, true, 0},
	"topic_type_immutable":  {409, "A topic keeps its type", false, true, 0},

	"request_over":         {410, "The request is over", false, true, 0},
	"data_corrupt":         {410, "The stored bytes are damaged or gone", false, true, 0},
	"next_offset_conflict": {412, "The queue goes on at another offset", false, true, 0},

	"offset_trimmed":   {410, "The offset is no longer kept", false, true, 0},
	"topic_exists":     {412, "The topic exists", false, true, 0},
	"version_conflict": {412, "It has another version", false, true, 0},

	"body_too_large":               {413, "The body is too large", false, true, 0},
	"message_too_large":            {413, "A message is too large", false, true, 0},
	"unsupported_content_encoding": {415, "Unsupported content encoding", false, true, 0},
	"unsupported_media_type":       {415, "Unsupported media type", false, true, 0},
	"offset_beyond_end":            {416, "The offset is beyond the end", false, true, 0},
	"idempotency_key_reused":       {422, "The key was used for another request", false, true, 0},
	"invalid_message":              {422, "A message breaks a rule", false, true, 0},
	"upgrade_required":             {426, "This is a WebSocket", false, true, 0},

	"headers_too_large": {431, "The headers are too large", false, true, 0},

	"canceled":        {499, "The caller has gone", true, false, 0},
	codeInternal:      {500, "Internal error", false, false, 0},
	"buffer_full":     {503, "Too much is waiting to be stored", true, true, time.Second},
	"recovering":      {503, "The index is being rebuilt", true, true, 2 * time.Second},
	codeStopping:      {503, "This server is stopping", true, true, time.Second},
	"unavailable":     {503, "Redis or the store cannot be reached", true, true, time.Second},
	"reply_timeout":   {504, "No reply in time", false, true, 0},
	"outcome_unknown": {504, "It may have been stored", true, false, 0},
}

// problems maps what the packages below say to a code. What is neither here nor
// in problemOf is an internal error: logged, never sent.
var problems = []struct {
	err    error
	code   string
	detail string
}{
	// First: an error may wrap the reason why the outcome is unknown.
	{journal.ErrOutcomeUnknown, "outcome_unknown", "send again with the same key or sequence to be sure"},
	{journal.ErrTopicNotFound, "topic_not_found", "there is no such topic"},
	{journal.ErrTimerUnknown, "handle_not_found", "there is no delayed message of this handle"},
	{journal.ErrDelivered, "already_delivered", "the message became readable before"},
	{journal.ErrNoHalf, "transaction_not_found", "it was decided just now"},
	{transaction.ErrNotFound, "transaction_not_found", "there is no such transaction, or none any more"},
	{journal.ErrBufferFull, "buffer_full", "nothing was stored"},
	{journal.ErrUnavailable, "unavailable", "nothing was stored"},
	{journal.ErrRecovering, "recovering", "nothing was stored"},
	{journal.ErrDraining, codeStopping, "another server can answer"},
	{journal.ErrKeyReused, "idempotency_key_reused", "the body differs from the first one of this key"},
	{journal.ErrKeyInFlight, "idempotency_in_flight", "send again to get its answer"},
	{meta.ErrRecovering, "recovering", "nothing was changed"},
	{meta.ErrNoState, "recovering", "nothing was changed"},
	{meta.ErrRolledBack, "recovering", "nothing was changed"},
	{meta.ErrKeyReused, "idempotency_key_reused", "the body differs from the first one of this key"},
	{meta.ErrAnswerPending, "idempotency_in_flight", "send again to get its answer"},
	{meta.ErrQueueShrink, "queue_shrink_refused", "a topic keeps its queues"},
	{meta.ErrGroupNotFound, "group_not_found", "there is no such group"},
	{meta.ErrGroupActive, "group_active", "the group has members"},
	{meta.ErrGroupQueued, "group_in_queue_mode", "members own queues of the group"},
	{meta.ErrMemberUnknown, "member_unknown", "the member left, expired or never was: join again"},
	{meta.ErrFencedMember, "session_taken", "a newer session of the same client replaced the member"},
	{meta.ErrNoOffset, "offset_not_found", "the group has no offset in the queue"},
	{group.ErrAddressDenied, "address_denied", "the group takes no members from this address"},
	{group.ErrBroadcasting, "group_broadcasting", "every member of the group gets every message: join it"},
	{group.ErrReceiptInvalid, "receipt_invalid", "not a receipt of this group"},
	{replies.ErrAddress, "reply_address_invalid", "take __reply_to of the message"},
	{meta.ErrReplied, "already_replied", "the first reply counts"},
	{meta.ErrRequestOver, "request_over", "nobody waits for the reply any more"},
	{group.ErrCursor, "cursor_invalid", "take the cursor of the last poll, or none"},
	{journal.ErrCursor, "invalid_parameter", "not a cursor or token of this topic"},
	{filter.ErrSyntax, "invalid_parameter", "not a tag filter"},
	{os.ErrDeadlineExceeded, "request_timeout", "the body must arrive in time"},
	{echo.ErrNotFound, "route_not_found", "there is nothing at this path"},
	{context.Canceled, "canceled", "the connection ended before the answer"},
	{echo.ErrMethodNotAllowed, "method_not_allowed", "the Allow header lists the methods of this path"},
}

// toProblem says what the client is told about an error. expected is false for
// an internal error, whose text stays in the log.
func toProblem(err error) (p *problem, expected bool) {
	if p, ok := errors.AsType[*problem](err); ok {
		return p, true
	}
	if p := problemOf(err); p != nil {
		return p, true
	}
	for _, row := range problems {
		if errors.Is(err, row.err) {
			return newProblem(row.code, row.detail), true
		}
	}
	return newProblem(codeInternal, "the server's log has the reason under this request id"), false
}

// problemOf translates errors that carry the current state.
func problemOf(err error) *problem {
	if e, ok := errors.AsType[*journal.InvalidError](err); ok {
		return invalidMessages([]fault{{Pointer: invalidPointer(e), Code: e.Code, Detail: e.Detail}})
	}
	if e, ok := errors.AsType[*journal.GapError](err); ok {
		return newProblem("producer_gap", fmt.Sprintf("the next sequence is %d", e.Expected),
			fault{Pointer: "/producer/seq", Code: "producer_gap", ExpectedSeq: at(e.Expected)})
	}
	if e, ok := errors.AsType[*journal.FencedError](err); ok {
		return newProblem("producer_fenced", fmt.Sprintf("a producer of this id has epoch %d", e.Current),
			fault{Pointer: "/producer/epoch", Code: "producer_fenced", CurrentEpoch: at(e.Current)})
	}
	if e, ok := errors.AsType[*journal.NextOffsetError](err); ok {
		return newProblem("next_offset_conflict", fmt.Sprintf("queue %d goes on at %d", e.Queue, e.Current),
			fault{Pointer: "/if_next_offset", Code: "next_offset_conflict", NextOffset: at(e.Current)})
	}
	if e, ok := errors.AsType[*meta.EpochError](err); ok {
		return newProblem("epoch_changed", fmt.Sprintf("the epoch is %d", e.Current),
			fault{Pointer: "query:epoch", Code: "epoch_changed", CurrentEpoch: at(e.Current)})
	}
	if e, ok := errors.AsType[*meta.ExistsError](err); ok {
		p := newProblem("topic_exists", "If-None-Match is * and the topic exists",
			fault{Pointer: "header:If-None-Match", Code: "topic_exists", ETag: topicETag(e.Current)})
		p.etag = topicETag(e.Current)
		return p
	}
	if e, ok := errors.AsType[*meta.ConflictError](err); ok {
		return versionConflict(topicETag(e.Current))
	}
	if p := transactionProblem(err); p != nil {
		return p
	}
	if p := groupProblem(err); p != nil {
		return p
	}
	return readProblem(err)
}

// readProblem translates what a read found instead of messages.
func readProblem(err error) *problem {
	if e, ok := errors.AsType[*journal.BoundsError](err); ok {
		code, detail := "offset_beyond_end", fmt.Sprintf("the queue ends at %d", e.Next)
		if e.Trimmed {
			code, detail = "offset_trimmed", fmt.Sprintf("the queue begins at %d", e.Min)
		}
		return newProblem(code, detail, fault{Pointer: "query:offset", Code: code, MinOffset: at(e.Min), NextOffset: at(e.Next)})
	}
	if e, ok := errors.AsType[*journal.CorruptError](err); ok {
		detail := fmt.Sprintf("offsets %d to %d cannot be read; %d can", e.First, e.Next-1, e.Next)
		return newProblem("data_corrupt", detail, fault{Pointer: "query:offset", Code: "data_corrupt", FirstOffset: at(e.First), NextOffset: at(e.Next)})
	}
	return nil
}

// versionConflict says that If-Match does not hold; etag is the current one, if
// there is one.
func versionConflict(etag string) *problem {
	p := newProblem("version_conflict", "If-Match does not match", fault{Pointer: "header:If-Match", Code: "version_conflict", ETag: etag})
	p.etag = etag
	return p
}

// invalidPointer points at the field of an InvalidError.
func invalidPointer(e *journal.InvalidError) string {
	if e.Index < 0 {
		return "/" + e.Field
	}
	return "/messages/" + strconv.Itoa(e.Index) + "/" + e.Field
}

// invalidMessages makes one problem of all faults of a request to send. The
// gravest decides the code: bytes that are no records, a reserved name, a
// message that is too large, then any other broken rule.
func invalidMessages(faults []fault) *problem {
	code := "invalid_message"
	for _, f := range faults {
		rank := map[string]string{
			journal.CodeMalformed: "invalid_frame",
			journal.CodeReserved:  "reserved_property",
			journal.CodeTooLarge:  "message_too_large",
			"unknown_field":       "unknown_field",
			"duplicate_field":     "duplicate_field",
			"invalid_field":       "invalid_field",
			"invalid_json":        "invalid_json",
		}[f.Code]
		if rank != "" && (code == "invalid_message" || kinds[rank].status < kinds[code].status) {
			code = rank
		}
	}
	detail := "a message breaks a rule"
	if len(faults) > 0 && faults[0].Detail != "" {
		detail = faults[0].Detail
	}
	return newProblem(code, detail, faults...)
}

// headerFault says that a request header is not what it must be.
func headerFault(name, detail string) *problem {
	return newProblem("invalid_header", detail, fault{Pointer: "header:" + http.CanonicalHeaderKey(name), Code: "invalid_header", Detail: detail})
}
