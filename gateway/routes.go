package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

const (
	jsonType   = "application/json"
	yamlType   = "application/yaml"
	bytesType  = "application/octet-stream"
	streamType = "text/event-stream"
)

// route is one operation of openapi.yaml and what is checked before its
// handler runs.
type route struct {
	method, path string
	operation    string // operationId
	handle       echo.HandlerFunc
	takes        string   // media type of the body; "" = it reads none
	answers      string   // media type of a good answer; "" = it has none
	query        []string // the parameters that it knows
	repeatable   string   // the one of them that may come more than once
}

// routes lists every operation, in the order of openapi.yaml.
func (s *Server) routes() []route {
	const (
		groups = "/v1/groups"
		group  = groups + "/:group"
		member = group + "/members/:member"
		topics = "/v1/topics"
		topic  = topics + "/:topic"
		queue  = topic + "/queues/:queue"

		tx        = "/v1/transactions/:transaction"
		producers = "/v1/producer-groups/:group"
	)
	from := []string{"offset", "position", "timestamp", "limit", "max_bytes", "wait_ms", "tags", "sql", "epoch", "clamp"}
	producer := []string{"queue", "ack", "producer_id", "producer_epoch", "producer_seq", "if_next_offset"}
	return []route{
		{method: http.MethodGet, path: "/v1/info", operation: "getInfo", handle: s.getInfo, answers: jsonType},
		{method: http.MethodGet, path: "/v1/openapi.yaml", operation: "getOpenAPI", handle: s.getOpenAPI, answers: yamlType},
		{method: http.MethodGet, path: "/v1/asyncapi.yaml", operation: "getAsyncAPI", handle: s.getAsyncAPI, answers: yamlType},

		{method: http.MethodGet, path: topics, operation: "listTopics", handle: s.listTopics, answers: jsonType, query: []string{"prefix", "limit", "page_token"}},
		{method: http.MethodGet, path: topic, operation: "getTopic", handle: s.getTopic, answers: jsonType},
		{method: http.MethodPut, path: topic, operation: "putTopic", handle: s.putTopic, takes: jsonType, answers: jsonType},
		{method: http.MethodPatch, path: topic, operation: "updateTopic", handle: s.updateTopic, takes: jsonType, answers: jsonType},
		{method: http.MethodDelete, path: topic, operation: "deleteTopic", handle: s.deleteTopic},
		{method: http.MethodGet, path: topic + "/queues", operation: "listQueues", handle: s.listQueues, answers: jsonType},
		{method: http.MethodGet, path: topic + "/offsets", operation: "findOffsets", handle: s.findOffsets, answers: jsonType, query: []string{"timestamp", "position"}},

		{method: http.MethodPost, path: topic + "/messages", operation: "sendMessages", handle: s.sendMessages, takes: jsonType, answers: jsonType},
		{method: http.MethodPost, path: topic + "/messages/raw", operation: "sendRawMessage", handle: s.sendRawMessage, takes: bytesType, answers: jsonType,
			query: append([]string{"ordering_key", "tag", "keys", "content_type", "delay_ms", "deliver_at", "delay_level"}, producer...), repeatable: "keys"},
		{method: http.MethodPost, path: topic + "/messages/framed", operation: "sendFramedMessages", handle: s.sendFramedMessages, takes: bytesType, answers: jsonType, query: producer},
		{method: http.MethodDelete, path: topic + "/scheduled/:handle", operation: "recallMessage", handle: s.recallMessage},

		{method: http.MethodGet, path: queue + "/messages", operation: "readMessages", handle: s.readMessages, answers: jsonType, query: append([]string{"encoding"}, from...)},
		{method: http.MethodGet, path: queue + "/frames", operation: "readFrames", handle: s.readFrames, answers: bytesType, query: from},
		{method: http.MethodGet, path: queue + "/messages/:offset", operation: "getMessage", handle: s.getMessage, answers: jsonType, query: []string{"encoding"}},
		{method: http.MethodGet, path: queue + "/messages/:offset/raw", operation: "getRawMessage", handle: s.getRawMessage, answers: bytesType},
		{method: http.MethodGet, path: topic + "/search", operation: "searchMessages", handle: s.searchMessages, answers: jsonType,
			query: []string{"message_id", "key", "from", "to", "tag", "encoding", "limit", "page_token"}},

		{method: http.MethodPost, path: topic + "/requests", operation: "requestReply", handle: s.requestReply, takes: jsonType, answers: jsonType},
		{method: http.MethodPost, path: "/v1/replies", operation: "sendReply", handle: s.sendReply, takes: jsonType, answers: jsonType},

		{method: http.MethodGet, path: groups, operation: "listGroups", handle: s.listGroups, answers: jsonType, query: []string{"prefix", "limit", "page_token"}},
		{method: http.MethodGet, path: group, operation: "getGroup", handle: s.getGroup, answers: jsonType},
		{method: http.MethodPut, path: group, operation: "putGroup", handle: s.putGroup, takes: jsonType, answers: jsonType},
		{method: http.MethodPatch, path: group, operation: "updateGroup", handle: s.updateGroup, takes: jsonType, answers: jsonType},
		{method: http.MethodDelete, path: group, operation: "deleteGroup", handle: s.deleteGroup, query: []string{"force"}},
		{method: http.MethodGet, path: group + "/subscriptions", operation: "listSubscriptions", handle: s.listSubscriptions, answers: jsonType},
		{method: http.MethodGet, path: group + "/subscriptions/:topic", operation: "getSubscription", handle: s.getSubscription, answers: jsonType},
		{method: http.MethodPatch, path: group + "/subscriptions/:topic", operation: "updateSubscription", handle: s.updateSubscription, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: group + "/members", operation: "listMembers", handle: s.listMembers, answers: jsonType},
		{method: http.MethodPost, path: group + "/members", operation: "joinGroup", handle: s.joinGroup, takes: jsonType, answers: jsonType},
		{method: http.MethodDelete, path: member, operation: "leaveGroup", handle: s.leaveGroup},
		{method: http.MethodPost, path: member + "/heartbeat", operation: "heartbeatMember", handle: s.heartbeatMember, takes: jsonType, answers: jsonType},
		{method: http.MethodPost, path: member + "/poll", operation: "pollMember", handle: s.pollMember, takes: jsonType, answers: jsonType, query: []string{"encoding"}},
		{method: http.MethodPost, path: member + "/seek", operation: "seekMember", handle: s.seekMember, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: group + "/assignments", operation: "listAssignments", handle: s.listAssignments, answers: jsonType},
		{method: http.MethodPost, path: group + "/receive", operation: "receiveMessages", handle: s.receiveMessages, takes: jsonType, answers: jsonType, query: []string{"encoding"}},
		{method: http.MethodPost, path: group + "/ack", operation: "ackMessages", handle: s.ackMessages, takes: jsonType, answers: jsonType},
		{method: http.MethodPost, path: group + "/nack", operation: "nackMessages", handle: s.nackMessages, takes: jsonType, answers: jsonType},
		{method: http.MethodPost, path: group + "/extend", operation: "extendMessages", handle: s.extendMessages, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: group + "/retries", operation: "listRetries", handle: s.listRetries, answers: jsonType,
			query: []string{"state", "encoding", "limit", "page_token"}},
		{method: http.MethodGet, path: group + "/dead-letters", operation: "listDeadLetters", handle: s.listDeadLetters, answers: jsonType,
			query: []string{"topic", "reason", "message_id", "from", "to", "encoding", "limit", "page_token"}},
		{method: http.MethodPost, path: group + "/dead-letters/redrive", operation: "redriveDeadLetters", handle: s.redriveDeadLetters, takes: jsonType, answers: jsonType},
		{method: http.MethodPost, path: group + "/dead-letters/purge", operation: "purgeDeadLetters", handle: s.purgeDeadLetters, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: group + "/offsets", operation: "listOffsets", handle: s.listOffsets, answers: jsonType, query: []string{"topic", "client_id"}},
		{method: http.MethodPut, path: group + "/offsets", operation: "commitOffsets", handle: s.commitOffsets, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: group + "/offsets/export", operation: "exportOffsets", handle: s.exportOffsets, answers: jsonType},
		{method: http.MethodPost, path: group + "/offsets/reset", operation: "resetOffsets", handle: s.resetOffsets, takes: jsonType, answers: jsonType},
		{method: http.MethodPatch, path: group + "/queues/:topic/:queue", operation: "updateGroupQueue", handle: s.updateGroupQueue, takes: jsonType, answers: jsonType},

		{method: http.MethodGet, path: topic + "/stream", operation: "streamMessages", handle: s.streamMessages, answers: streamType,
			query: []string{"queues", "position", "timestamp", "tags", "sql", "encoding"}},
		{method: http.MethodPost, path: "/v1/transactions", operation: "beginTransaction", handle: s.beginTransaction, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: tx, operation: "getTransaction", handle: s.getTransaction, answers: jsonType},
		{method: http.MethodGet, path: tx + "/messages", operation: "listTransactionMessages", handle: s.listTransactionMessages, answers: jsonType, query: []string{"encoding"}},
		{method: http.MethodPost, path: tx + "/commit", operation: "commitTransaction", handle: s.commitTransaction, answers: jsonType, query: []string{"force"}},
		{method: http.MethodPost, path: tx + "/rollback", operation: "rollbackTransaction", handle: s.rollbackTransaction, answers: jsonType},
		{method: http.MethodGet, path: producers + "/transactions", operation: "listTransactions", handle: s.listTransactions, answers: jsonType, query: []string{"state", "limit", "page_token"}},
		{method: http.MethodPost, path: producers + "/checks", operation: "pollChecks", handle: s.pollChecks, takes: jsonType, answers: jsonType},

		{method: http.MethodPost, path: "/v1/ws/tickets", operation: "createTicket", handle: s.createTicket, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: "/v1/ws", operation: "openWebSocket", handle: s.openWebSocket, query: []string{"ticket"}},
		{method: http.MethodGet, path: "/v1/cluster", operation: "getCluster", handle: s.getCluster, answers: jsonType},
	}
}
