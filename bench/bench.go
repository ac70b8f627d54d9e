// Package bench measures a BucketMQ server from outside, through its public
// API and its management listener: throughput, latency, what a message costs
// in CPU, allocations, store requests and Redis memory. It also takes the raw
// limits of the machine, and compares the two.
package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/client"
)

// Options say what to measure, and on which server.
type Options struct {
	Server  Server
	Message int           // bytes of a body; 1024 when zero
	Batch   int           // messages per request; 100 when zero
	Workers int           // connections; 8 when zero
	Rate    float64       // messages per second; as many as go when zero
	Length  time.Duration // how long to measure; 5 s when zero
	Mode    string        // ModeJSON, ModeFramed or ModeSingle; ModeFramed when empty
	Via     string        // ViaPoll, ViaSSE or ViaWebSocket, for Tail and EndToEnd
	Queues  int           // queues of the topic that is made; 8 when zero

	TopicType string // of the topic that is made; normal when empty
}

// How messages are sent and read.
const (
	ModeJSON   = "json"
	ModeFramed = "framed"
	ModeSingle = "single"

	ViaPoll      = "poll"
	ViaSSE       = "sse"
	ViaWebSocket = "ws"
)

// Server is where the load goes and where its cost is read.
type Server struct {
	URL        string // the public API
	Management string // /metrics and pprof; empty: costs are not measured
	Redis      string // redis:// URL of its Redis; empty: memory is not measured
	Token      string
}

// Result is one measurement. A figure that could not be taken is null.
type Result struct {
	Workload    string  `json:"workload"`
	Mode        string  `json:"mode"`
	Size        int     `json:"size"`
	Batch       int     `json:"batch"`
	Connections int     `json:"connections"`
	Rate        float64 `json:"rate"`
	Seconds     float64 `json:"seconds"`

	Messages          int64      `json:"messages"`
	Requests          int64      `json:"requests"`
	Errors            int64      `json:"errors"`
	FirstError        string     `json:"first_error,omitempty"`
	MessagesPerSecond float64    `json:"messages_per_second"`
	MiBPerSecond      float64    `json:"mib_per_second"`
	LatencyMS         *Quantiles `json:"latency_ms"`
	ProduceLatencyMS  *Quantiles `json:"produce_latency_ms,omitempty"`

	AllocationsPerMessage *float64 `json:"allocations_per_message"`
	AllocatedPerMessage   *float64 `json:"allocated_bytes_per_message"`
	CPUMicrosPerMessage   *float64 `json:"cpu_us_per_message"`
	ResidentMiB           *float64 `json:"resident_mib"`
	StorePuts             *int64   `json:"store_puts"`
	StoreGets             *int64   `json:"store_gets"`
	StoreLists            *int64   `json:"store_lists"`
	RedisBytesPerMessage  *float64 `json:"redis_bytes_per_message"`
}

func (o Options) withDefaults() (Options, error) {
	if o.Message == 0 {
		o.Message = 1024
	}
	if o.Mode == "" {
		o.Mode = ModeFramed
	}
	if o.Batch == 0 {
		o.Batch = 100
	}
	if o.Mode == ModeSingle {
		o.Batch = 1
	}
	if o.Workers == 0 {
		o.Workers = 8
	}
	if o.Length == 0 {
		o.Length = 5 * time.Second
	}
	if o.Queues == 0 {
		o.Queues = 8
	}
	if o.Via == "" {
		o.Via = ViaWebSocket
	}
	if o.Batch < 1 || o.Batch > 1000 {
		return o, fmt.Errorf("batch %d: want 1 to 1000", o.Batch)
	}
	if o.Message < stampBytes || o.Message > 4<<20 {
		return o, fmt.Errorf("size %d: want %d to 4194304", o.Message, stampBytes)
	}
	return o, nil
}

// topic makes a topic for one measurement and returns how to remove it.
func (o Options) topic(ctx context.Context) (*client.Client, string, func(), error) {
	cl, err := client.New(client.Options{URL: o.Server.URL, Token: o.Server.Token, UserAgent: "bucketmq-bench"})
	if err != nil {
		return nil, "", nil, err
	}
	name := "bench-" + uuid.NewString()
	queues := int64(o.Queues)
	settings := client.TopicSettings{Queues: &queues}
	if o.TopicType != "" {
		settings.Type = &o.TopicType
	}
	if _, err := cl.CreateTopic(ctx, name, settings); err != nil {
		return nil, "", nil, fmt.Errorf("make a topic to measure with: %w", err)
	}
	return cl, name, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = cl.DeleteTopic(ctx, name) // a leftover topic harms nobody
	}, nil
}

// start makes the result of a workload and the measurement of its cost.
func (o Options) start(ctx context.Context, workload string) (*Result, *meter, error) {
	m, err := newMeter(ctx, o.Server)
	if err != nil {
		return nil, nil, err
	}
	return &Result{
		Workload: workload, Mode: o.Mode, Size: o.Message, Batch: o.Batch,
		Connections: o.Workers, Rate: o.Rate,
	}, m, nil
}

// finish computes the rates of r from its counts.
func (r *Result) finish(began time.Time, l *latencies) {
	r.Seconds = time.Since(began).Seconds()
	r.MessagesPerSecond = float64(r.Messages) / r.Seconds
	r.MiBPerSecond = r.MessagesPerSecond * float64(r.Size) / (1 << 20)
	r.LatencyMS = l.quantiles()
}

// errStatus is an answer that was not a success.
type errStatus struct {
	status int
	body   string
}

func (e *errStatus) Error() string {
	return fmt.Sprintf("%d %s: %.200s", e.status, http.StatusText(e.status), e.body)
}

var errNothing = errors.New("nothing was measured: every request failed")
