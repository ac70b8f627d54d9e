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
		topics = "/v1/topics"
		topic  = topics + "/:topic"
		queue  = topic + "/queues/:queue"
	)
	from := []string{"offset", "position", "timestamp", "limit", "max_bytes", "wait_ms", "tags", "sql", "epoch", "clamp"}
	producer := []string{"queue", "ack", "producer_id", "producer_epoch", "producer_seq"}
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
			query: append([]string{"ordering_key", "tag", "keys", "content_type"}, producer...), repeatable: "keys"},
		{method: http.MethodPost, path: topic + "/messages/framed", operation: "sendFramedMessages", handle: s.sendFramedMessages, takes: bytesType, answers: jsonType, query: producer},

		{method: http.MethodGet, path: queue + "/messages", operation: "readMessages", handle: s.readMessages, answers: jsonType, query: append([]string{"encoding"}, from...)},
		{method: http.MethodGet, path: queue + "/frames", operation: "readFrames", handle: s.readFrames, answers: bytesType, query: from},
		{method: http.MethodGet, path: queue + "/messages/:offset", operation: "getMessage", handle: s.getMessage, answers: jsonType, query: []string{"encoding"}},
		{method: http.MethodGet, path: queue + "/messages/:offset/raw", operation: "getRawMessage", handle: s.getRawMessage, answers: bytesType},
		{method: http.MethodGet, path: topic + "/search", operation: "searchMessages", handle: s.searchMessages, answers: jsonType,
			query: []string{"message_id", "from", "to", "tag", "encoding", "limit", "page_token"}},

		{method: http.MethodGet, path: topic + "/stream", operation: "streamMessages", handle: s.streamMessages, answers: streamType,
			query: []string{"queues", "position", "timestamp", "tags", "sql", "encoding"}},
		{method: http.MethodPost, path: "/v1/ws/tickets", operation: "createTicket", handle: s.createTicket, takes: jsonType, answers: jsonType},
		{method: http.MethodGet, path: "/v1/ws", operation: "openWebSocket", handle: s.openWebSocket, query: []string{"ticket"}},
		{method: http.MethodGet, path: "/v1/cluster", operation: "getCluster", handle: s.getCluster, answers: jsonType},
	}
}
