package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/objstore"
)

// Connections that keep a server busy: enough unanswered batches for four
// segments in flight, and enough single requests for a full linger.
const (
	fileConnections   = 160
	bucketConnections = 400
	singleConnections = 512
	readConnections   = 8
	putsInFlight      = 4
	idleConnections   = 1000
	pipelinedSockets  = 8
	// Few, so that what a connection allocates once does not count.
	allocationConnections = 32
)

// coldStart measures an embedded server on an empty directory, from the start
// of its process.
func (s *suite) coldStart(ctx context.Context) error {
	for i := range 5 {
		c, err := StartServer(ctx, s.Binary, nil, "serve", "--data", filepath.Join(s.dir, fmt.Sprint("cold-", i)))
		if err != nil {
			return err
		}
		cl, err := client.New(client.Options{URL: c.URL})
		if err == nil {
			_, err = cl.CreateTopic(ctx, "first", client.TopicSettings{})
		}
		if err == nil {
			m := client.Message{}
			m.SetBody([]byte("first"))
			_, err = cl.Send(ctx, "first", []client.Message{m}, "")
		}
		acknowledged := time.Since(c.Began)
		c.Kill()
		if err != nil {
			return err
		}
		s.note("cold start to healthy, ms", milliseconds(c.Ready))
		s.note("cold start to first acknowledged produce, ms", milliseconds(acknowledged))
	}
	return nil
}

// idle counts what servers without any work ask of the store.
func (s *suite) idle(ctx context.Context) error {
	time.Sleep(3 * time.Second) // receipts of the start are written after 1 s
	for _, c := range []*Child{s.embedded, s.first, s.second} {
		m, err := newMeter(ctx, Server{Management: c.Management})
		if err != nil {
			return err
		}
		time.Sleep(1500 * time.Millisecond)
		after, err := m.read(ctx)
		if err != nil {
			return err
		}
		b := m.before
		s.note("store requests while idle", float64(after.puts+after.gets+after.lists-b.puts-b.gets-b.lists))
	}
	return nil
}

// redisMemory measures what the index takes in Redis.
func (s *suite) redisMemory(ctx context.Context) error {
	o := s.options(s.first.Server, ModeFramed, bucketConnections)
	_, topic, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	r, err := o.produceTo(ctx, topic)
	if err != nil {
		return err
	}
	total, _, _, err := s.indexMemory(ctx)
	if err != nil {
		return err
	}
	s.note("redis bytes per million messages, MB", float64(total)/float64(r.Messages))
	remove()
	if err := s.entryMemory(ctx); err != nil {
		return err
	}
	return s.idleQueueMemory(ctx)
}

// entryMemory fills one queue with many entries, which takes a gateway that
// stores every few requests by themselves.
func (s *suite) entryMemory(ctx context.Context) error {
	quick, err := s.startGateway(ctx, "--linger", "1ms")
	if err != nil {
		return err
	}
	defer quick.Kill()
	o := s.options(quick.Server, ModeSingle, 4)
	o.Queues, o.Length = 1, 2*time.Second
	_, topic, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	if _, err := o.produceTo(ctx, topic); err != nil {
		return err
	}
	_, index, entries, err := s.indexMemory(ctx)
	if err != nil {
		return err
	}
	if entries < 20 { // the list's own few bytes would count
		return fmt.Errorf("only %d index entries were made", entries)
	}
	s.note("redis bytes per index entry", float64(index)/float64(entries))
	return nil
}

// indexMemory sums what topics take in Redis, all of it and the queues alone.
func (s *suite) indexMemory(ctx context.Context) (total, index, entries int64, err error) {
	keys := s.db.Scan(ctx, 0, "{t:*", 1000).Iterator()
	for keys.Next(ctx) {
		n, err := s.db.MemoryUsage(ctx, keys.Val(), 0).Result()
		if err != nil {
			continue // gone since
		}
		total += n
		if strings.Contains(keys.Val(), ":hot:") {
			index += n
			entries += s.db.LLen(ctx, keys.Val()).Val()
		}
	}
	return total, index, entries, keys.Err()
}

func (s *suite) idleQueueMemory(ctx context.Context) error {
	const queues = 200
	before, err := newMeter(ctx, Server{Redis: s.out.redis})
	if err != nil {
		return err
	}
	defer before.close()
	o := s.options(s.first.Server, ModeFramed, 1)
	o.Queues = queues
	_, _, remove, err := o.topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	after, err := before.read(ctx)
	if err != nil {
		return err
	}
	s.note("redis bytes per idle queue", max(after.redisBytes-before.before.redisBytes, 0)/queues)
	return nil
}

// idleConnections measures a server's memory per WebSocket and per long poll
// that wait.
func (s *suite) idleConnections(ctx context.Context) error {
	for _, via := range []string{ViaWebSocket, ViaPoll} {
		o := s.options(s.second.Server, ModeJSON, 1)
		o.Queues = 1
		_, topic, remove, err := o.topic(ctx)
		if err != nil {
			return err
		}
		err = s.holdConnections(ctx, via, topic)
		remove()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) holdConnections(ctx context.Context, via, topic string) error {
	server := Server{URL: s.second.URL, Management: s.second.Management}
	if err := collectGarbage(ctx, server); err != nil {
		return err
	}
	m, err := newMeter(ctx, server)
	if err != nil {
		return err
	}
	d := &deliveries{parts: make([]latencies, 0)}
	var subs []subscriber
	defer func() {
		for _, sub := range subs {
			sub.close()
		}
	}()
	for range idleConnections {
		sub, err := subscribe(ctx, server, via, topic, 0)
		if err != nil {
			return err
		}
		subs = append(subs, sub)
		go d.receive(sub, nil) // ends with close; nothing is sent
	}
	time.Sleep(time.Second) // the last ones park
	if err := collectGarbage(ctx, server); err != nil {
		return err
	}
	after, err := m.read(ctx)
	if err != nil {
		return err
	}
	s.note("KiB of heap and stacks per idle "+via, (after.inUse-m.before.inUse)/idleConnections/1024)
	s.note("idle "+via+" per MiB of heap and stacks", idleConnections*(1<<20)/max(1, after.inUse-m.before.inUse))
	s.note("KiB resident per idle "+via, (after.resident-m.before.resident)/idleConnections/1024)
	return nil
}

// roundFiles compares the embedded server with its filesystem.
func (s *suite) roundFiles(ctx context.Context) error {
	framed, size, err := s.ingest(ctx, s.embedded, ModeFramed, fileConnections)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "raw")
	put, _, err := rawPut(ctx, s.files, size, putsInFlight, s.Step)
	if err != nil {
		return err
	}
	if s.files, err = reopen(s.files, dir); err != nil {
		return err
	}
	json, _, err := s.ingest(ctx, s.embedded, ModeJSON, fileConnections)
	if err != nil {
		return err
	}
	s.note("raw PUT, filesystem, MiB/s", put.MiBPerSecond)
	s.note("framed ingest, embedded, MiB/s", framed.MiBPerSecond)
	s.note("framed ingest ÷ raw PUT, filesystem", framed.MiBPerSecond/put.MiBPerSecond)
	s.note("JSON ÷ framed, embedded", json.MessagesPerSecond/framed.MessagesPerSecond)
	return nil
}

// reopen empties a raw store, so that rounds do not fill the disk.
func reopen(f *objstore.Filesystem, dir string) (*objstore.Filesystem, error) {
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	return objstore.OpenFilesystem(dir)
}

// ingest produces flat out and returns the mean size of the objects it made.
func (s *suite) ingest(ctx context.Context, c *Child, mode string, workers int) (*Result, int, error) {
	o := s.options(c.Server, mode, workers)
	m, err := newMeter(ctx, c.Server)
	if err != nil {
		return nil, 0, err
	}
	defer m.close()
	r, err := Produce(ctx, o)
	if err != nil {
		return nil, 0, err
	}
	if r.Errors > 0 {
		return nil, 0, fmt.Errorf("%d of %d requests failed: %s", r.Errors, r.Errors+r.Requests, r.FirstError)
	}
	after, err := m.read(ctx)
	if err != nil {
		return nil, 0, err
	}
	puts := max(after.puts-m.before.puts, 1)
	return r, int(after.sent-m.before.sent) / int(puts), nil
}

// roundRequests compares single requests with an empty handler.
func (s *suite) roundRequests(ctx context.Context) error {
	null, err := rawPost(ctx, s.null.URL, 1024, singleConnections, s.Step)
	if err != nil {
		return err
	}
	single, _, err := s.ingest(ctx, s.embedded, ModeSingle, singleConnections)
	if err != nil {
		return err
	}
	// Without the embedded Redis, which allocates in the same process.
	shared, _, err := s.ingest(ctx, s.first, ModeSingle, singleConnections)
	if err != nil {
		return err
	}
	scripts, err := rawRedis(ctx, s.out.redis, 8, s.Step/4)
	if err != nil {
		return err
	}
	s.note("raw Redis script, /s", scripts.PerSecond)
	s.note("raw POST 1 KiB to an empty handler, /s", null.PerSecond)
	s.note("single POST, /s", single.MessagesPerSecond)
	s.note("single POST ÷ empty handler", single.MessagesPerSecond/null.PerSecond)
	s.note("allocations per single POST", *shared.AllocationsPerMessage)
	s.note("gateway CPU per message, single POST, µs", *shared.CPUMicrosPerMessage)
	return s.roundSockets(ctx)
}
