package bench

import (
	"context"
	"math"
	"time"
)

const (
	segmentBytes = 8 << 20 // the gateways' default
	linger       = 100 * time.Millisecond
)

// roundBucket compares a gateway with the S3 server it writes to, and another
// gateway with the S3 server it reads from.
func (s *suite) roundBucket(ctx context.Context) error {
	o := s.options(s.first.Server, ModeFramed, bucketConnections)
	_, topic, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	m, err := newMeter(ctx, s.first.Server)
	if err != nil {
		return err
	}
	defer m.close()
	framed, err := o.produceTo(ctx, topic)
	if err != nil {
		return err
	}
	after, err := m.read(ctx)
	if err != nil {
		return err
	}
	size := s.noteSegments(m.before, after, framed)
	put, keys, err := rawPut(ctx, s.bucket, size, putsInFlight, s.Step)
	if err != nil {
		return err
	}
	o.Mode = ModeJSON
	_, jsonTopic, removeJSON, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer removeJSON()
	json, err := o.produceTo(ctx, jsonTopic)
	if err != nil {
		return err
	}
	s.note("raw PUT, S3, MiB/s", put.MiBPerSecond)
	s.note("framed ingest, S3, MiB/s", framed.MiBPerSecond)
	s.note("framed ingest ÷ raw PUT, S3", framed.MiBPerSecond/put.MiBPerSecond)
	s.note("JSON ÷ framed, S3", json.MessagesPerSecond/framed.MessagesPerSecond)
	s.note("resident at saturation, MiB", *framed.ResidentMiB)
	s.note("gateway CPU per KiB, framed, µs", *framed.CPUMicrosPerMessage)
	s.note("gateway CPU per KiB, JSON, µs", *json.CPUMicrosPerMessage)
	if err := s.noteAllocations(ctx); err != nil {
		return err
	}
	if err := s.catchUp(ctx, topic, jsonTopic, keys, size); err != nil {
		return err
	}
	for _, key := range keys {
		if err := s.bucket.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// noteSegments compares requests with what the bytes need at least, and
// returns the mean size of a segment.
func (s *suite) noteSegments(before, after spent, r *Result) int {
	puts := float64(max(after.puts-before.puts, 1))
	bytes := after.sent - before.sent
	ideal := max(math.Ceil(bytes/segmentBytes), math.Floor(r.Seconds/linger.Seconds()))
	s.note("PUTs ÷ ideal at saturation", puts/ideal)
	s.note("Redis scripts per segment, one topic", (after.redisCalls-before.redisCalls)/puts)
	return int(bytes / puts)
}

// catchUp reads back through the gateway that did not write; each mode reads a
// topic that this gateway has not read before.
func (s *suite) catchUp(ctx context.Context, topic, jsonTopic string, keys []string, size int) error {
	get, err := rawGet(ctx, s.bucket, keys, size, size, readConnections, s.Step)
	if err != nil {
		return err
	}
	ranges, err := rawGet(ctx, s.bucket, keys, size, 1<<20, readConnections, s.Step)
	if err != nil {
		return err
	}
	framed, err := s.options(s.second.Server, ModeFramed, readConnections).readFrom(ctx, topic)
	if err != nil {
		return err
	}
	json, err := s.options(s.second.Server, ModeJSON, readConnections).readFrom(ctx, jsonTopic)
	if err != nil {
		return err
	}
	s.note("raw GET of ranges as large as a segment, S3, MiB/s", get.MiBPerSecond)
	s.note("raw GET of ranges of 1 MiB, S3, MiB/s", ranges.MiBPerSecond)
	s.note("catch-up framed, MiB/s", framed.MiBPerSecond)
	s.note("catch-up JSON, MiB/s", json.MiBPerSecond)
	s.note("catch-up framed ÷ raw GET of ranges of 1 MiB", framed.MiBPerSecond/ranges.MiBPerSecond)
	s.note("catch-up JSON ÷ raw GET of ranges of 1 MiB", json.MiBPerSecond/ranges.MiBPerSecond)
	s.note("catch-up framed ÷ raw GET", framed.MiBPerSecond/get.MiBPerSecond)
	s.note("catch-up JSON ÷ raw GET", json.MiBPerSecond/get.MiBPerSecond)
	s.note("GETs per MiB of catch-up", float64(*framed.StoreGets)/(float64(framed.Messages)*float64(framed.Size)/(1<<20)))
	return nil
}

// roundLatency measures produce and delivery at low load, against the linger
// and a raw PUT of the same time.
func (s *suite) roundLatency(ctx context.Context) error {
	put, keys, err := rawPut(ctx, s.bucket, 4<<10, 1, s.Step/2)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := s.bucket.Delete(ctx, key); err != nil {
			return err
		}
	}
	o := s.options(s.first.Server, ModeSingle, 32)
	o.Rate = 200
	produce, err := Produce(ctx, o)
	if err != nil {
		return err
	}
	wait := milliseconds(linger)
	s.note("raw PUT of 4 KiB, S3, p50 ms", put.Latency.P50)
	s.note("raw PUT of 4 KiB, S3, p99 ms", put.Latency.P99)
	s.note("produce at low load, p50 ms", produce.LatencyMS.P50)
	s.note("produce at low load, p99 ms", produce.LatencyMS.P99)
	s.note("produce above linger + PUT, p50 ms", produce.LatencyMS.P50-wait-put.Latency.P50)
	s.note("produce above linger + PUT, p99 ms", produce.LatencyMS.P99-wait-put.Latency.P99)
	return s.delivery(ctx)
}

// delivery follows messages to a WebSocket on the gateway that stored them,
// and on the other one.
func (s *suite) delivery(ctx context.Context) error {
	for _, to := range []struct {
		name  string
		child *Child
	}{{"same", s.first}, {"other", s.second}} {
		o := s.options(s.first.Server, ModeJSON, 32)
		o.Rate, o.Batch, o.Via = 200, 1, ViaWebSocket
		writes, err := newMeter(ctx, Server{Management: s.first.Management})
		if err != nil {
			return err
		}
		reads, err := newMeter(ctx, Server{Management: to.child.Management})
		if err != nil {
			return err
		}
		r, err := o.deliver(ctx, "e2e", to.child.Server, 1)
		if err != nil {
			return err
		}
		wrote, err := writes.read(ctx)
		if err != nil {
			return err
		}
		read, err := reads.read(ctx)
		if err != nil {
			return err
		}
		s.note("delivery on the "+to.name+" gateway above produce, p99 ms", r.LatencyMS.P99-r.ProduceLatencyMS.P99)
		s.note("GETs per segment, tail on the "+to.name+" gateway",
			float64(read.gets-reads.before.gets)/float64(max(wrote.puts-writes.before.puts, 1)))
	}
	return nil
}
