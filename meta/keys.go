package meta

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/segment"
)

// The schema. Everything of one topic shares the hash tag of its id and thus
// one slot of a cluster; everything of the whole installation shares {bmq}.
// Names never appear in keys.
//
//	key                      type    content                                        written by         expires
//	{t:<id>}:meta            HASH    json, version, queues                          topic scripts      never
//	{t:<id>}:head            HASH    epoch; state live|deleted|restoring; term      topic, restore     never
//	                                 (of the last recovery); per queue that ever    and commit
//	                                 had a message: <q> → "next min bytes stored_at"
//	{t:<id>}:writers         HASH    16 bytes of the writer → last seq              commit, restore    with the topic
//	{t:<id>}:r:<writer>      STRING  receipts of its last ≤ 8 commits, one a line   commit, restore    24 h after the last
//	{t:<id>}:hot:<q>         LIST    packed entries (entry.go), dense, ascending    commit, restore    with the topic
//	{t:<id>}:i:<hex>         STRING  idempotency key: 16 bytes body hash, answer    commit, restore    10 min
//	{t:<id>}:p:<hex>         STRING  producer: epoch, last seq, last ≤ 5 answers    commit, restore    24 h
//	{t:<id>}:due             ZSET    message id → when it is due, ms                commit, fire       with the topic
//	{t:<id>}:timers          HASH    message id → what fires (timer.go)             commit, fire       with the topic
//	{t:<id>}:half            HASH    id of half messages → where they are (half.go) commit, place      until their transaction ends
//	{t:<id>}:fired           LIST    news of firings that are not in the log yet    fire               when they are
//	{t:<id>}:x:<message id>  STRING  what a recalled timer pointed to               recall             24 h after its due time
//	{t:<id>}:c               channel packed entries of each commit                  commit             –
//	{bmq}:state              HASH    store, generation, phase, server (run ids)     recovery           never
//	{bmq}:topics             HASH    name → id                                      create, delete     never
//	{bmq}:names              ZSET    names, all at score 0, for ordered listing     create, delete     never
//	{bmq}:writers            HASH    16 bytes of the writer → "beats beat_at retired"  beats           never
//	{bmq}:lease:<name>       HASH    holder, term, until                            leases             never
//	{bmq}:ticket:<hex>       STRING  payload under the SHA-256 of its token         PutTicket          with the ticket
//	{bmq}:a:<hex>            STRING  body hash, P or D, answer                      answers            with the answer
//	{bmq}:reply:<id>         STRING  the reply to a request                         PutReply           30 s after the request
//	{bmq}:replies            channel request that was replied to                    PutReply           –
//	{bmq}:producers          ZSET    producer group → when it last began a          transactions       a day after its last
//	                                 transaction                                                       transaction is forgotten
//	{x:<key of group>}:txs   HASH    16 bytes of a transaction → its json; state,   transactions       with the transaction
//	                                 term of the last recovery
//	{x:<key of group>}:ids   ZSET    ids, all at score 0, for ordered listing       transactions       with the transaction
//	{x:<key of group>}:agenda ZSET   id → when something is to be done about it     transactions       when it is settled
//	{x:<key of group>}:kept  ZSET    id of a decided one → when it is forgotten     transactions       with the transaction
//	{bmq}:timers             channel topic and time of a delayed message            commit             –
//	{bmq}:changes            channel name of a topic that changed                   topic scripts      –
const (
	keyState      = "{bmq}:state"
	keyTopics     = "{bmq}:topics"
	keyNames      = "{bmq}:names"
	keyWriters    = "{bmq}:writers"
	keyProducers  = "{bmq}:producers"
	channelChange = "{bmq}:changes"
	channelTimers = "{bmq}:timers"

	channelReplies = "{bmq}:replies"

	topicPrefix = "{t:"
	feedSuffix  = "}:c"
)

func keyLease(name string) string       { return "{bmq}:lease:" + name }
func keyTicket(digest string) string    { return "{bmq}:ticket:" + digest }
func keyReply(request uuid.UUID) string { return "{bmq}:reply:" + request.String() }
func keyAnswer(digest string) string    { return "{bmq}:a:" + digest }

func topicKey(topic uuid.UUID, rest string) string { return topicPrefix + topic.String() + "}:" + rest }

func keyMeta(topic uuid.UUID) string         { return topicKey(topic, "meta") }
func keyHead(topic uuid.UUID) string         { return topicKey(topic, "head") }
func keyTopicWriters(topic uuid.UUID) string { return topicKey(topic, "writers") }
func keyReceipts(topic, writer uuid.UUID) string {
	return topicKey(topic, "r:"+writer.String())
}
func keyHot(topic uuid.UUID, queue uint32) string {
	return topicKey(topic, "hot:"+queueField(queue))
}
func keyDue(topic uuid.UUID) string    { return topicKey(topic, "due") }
func keyTimers(topic uuid.UUID) string { return topicKey(topic, "timers") }
func keyHalves(topic uuid.UUID) string { return topicKey(topic, "half") }
func keyFired(topic uuid.UUID) string  { return topicKey(topic, "fired") }
func keyRecalled(topic, id uuid.UUID) string {
	return topicKey(topic, "x:"+id.String())
}
func keyIdentity(topic uuid.UUID, id segment.Identity) string {
	if id.Kind == segment.IdentityProducer {
		return topicKey(topic, "p:"+hex.EncodeToString(id.Key[:]))
	}
	return topicKey(topic, "i:"+hex.EncodeToString(id.Key[:]))
}

func channelTopic(topic uuid.UUID) string { return topicPrefix + topic.String() + feedSuffix }

func topicOfChannel(channel string) (uuid.UUID, bool) {
	id, found := strings.CutPrefix(channel, topicPrefix)
	if !found {
		return uuid.Nil, false
	}
	id, found = strings.CutSuffix(id, feedSuffix)
	if !found {
		return uuid.Nil, false
	}
	topic, err := uuid.Parse(id)
	return topic, err == nil
}

func queueField(queue uint32) string { return strconv.FormatUint(uint64(queue), 10) }
