package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq"
	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/transaction"
)

const (
	// keyWindow is how long an Idempotency-Key is remembered.
	keyWindow = 10 * time.Minute
	// maxPageItems bounds the items of a page.
	maxPageItems = 1000
	// maxReadBytes bounds max_bytes of a read.
	maxReadBytes = 16 << 20
)

// getInfo answers what this server is and accepts.
func (s *Server) getInfo(c echo.Context) error {
	return writeJSON(c, http.StatusOK, api.Info{
		Name:                "bucketmq",
		Version:             s.options.Version,
		AuthModes:           []string{"none"},
		IdempotencyWindowMs: keyWindow.Milliseconds(),
		WebsocketProtocols:  []string{"bmq.v1.json", "bmq.v1.bin"},
		Limits: api.Limits{
			TopicNameChars:   journal.MaxTopicName,
			QueuesPerTopic:   journal.MaxQueues,
			MessageBytes:     journal.MaxBodyBytes,
			RequestBytes:     maxRequestBytes,
			BatchMessages:    journal.MaxBatchMessages,
			BatchBytes:       journal.MaxBatchBytes,
			Properties:       journal.MaxProperties,
			PropertiesBytes:  journal.MaxPropertyBytes,
			TagBytes:         journal.MaxTagBytes,
			OrderingKeyChars: journal.MaxOrderingKey,
			PageItems:        maxPageItems,
			ReadBytes:        maxReadBytes,
			WaitMs:           journal.MaxWait.Milliseconds(),
			HeaderBytes:      maxHeaderBytes,
			JsonDepth:        maxDepth,
			TicketTtlMs:      maxTicketTTL.Milliseconds(),

			GroupNameChars:     group.MaxName,
			GroupSubscriptions: group.MaxSubscriptions,
			ReceiveMessages:    group.MaxReceive,
			Receipts:           group.MaxReceipts,
			InvisibleMs:        group.MaxInvisible.Milliseconds(),
			DelayMs:            journal.MaxDelay.Milliseconds(),

			TransactionTopics: transaction.MaxTopics,
			CheckAfterMs:      transaction.MaxCheckAfter.Milliseconds(),
			ReferenceBytes:    transaction.MaxReference,
			OpenTransactions:  transaction.MaxOpen,
		},
	})
}

// getOpenAPI answers openapi.yaml.
func (s *Server) getOpenAPI(c echo.Context) error { return document(c, bucketmq.OpenAPI) }

// getAsyncAPI answers asyncapi.yaml.
func (s *Server) getAsyncAPI(c echo.Context) error { return document(c, bucketmq.AsyncAPI) }

func document(c echo.Context, text []byte) error {
	sum := sha256.Sum256(text)
	c.Response().Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	return c.Blob(http.StatusOK, yamlType, text)
}
