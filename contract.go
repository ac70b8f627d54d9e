// Package bucketmq embeds the two documents that are the contract of its HTTP
// and WebSocket interfaces.
package bucketmq

import _ "embed" // for the documents below

// OpenAPI is openapi.yaml, the HTTP contract.
//
//go:embed openapi.yaml
var OpenAPI []byte

// AsyncAPI is asyncapi.yaml, the WebSocket's contract.
//
//go:embed asyncapi.yaml
var AsyncAPI []byte
