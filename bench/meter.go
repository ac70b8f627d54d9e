package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// meter reads what a server has spent, before and after a load, from its own
// metrics and from its Redis.
type meter struct {
	server Server
	redis  *redis.Client
	before spent
}

// spent is a reading of a server's counters.
type spent struct {
	mallocs, allocated  float64
	cpuSeconds          float64
	resident            float64
	inUse               float64 // heap and stacks
	puts, gets, lists   int64
	sent, received      float64 // object bytes
	redisBytes          float64
	redisCalls          float64 // scripts run
	haveProcess, haveDB bool
}

func newMeter(ctx context.Context, s Server) (*meter, error) {
	m := &meter{server: s}
	if s.Redis != "" {
		o, err := redis.ParseURL(s.Redis)
		if err != nil {
			return nil, fmt.Errorf("redis address: %w", err)
		}
		m.redis = redis.NewClient(o)
	}
	var err error
	m.before, err = m.read(ctx)
	return m, err
}

func (m *meter) close() {
	if m.redis != nil {
		_ = m.redis.Close()
	}
}

// charge puts the cost since newMeter into r.
func (m *meter) charge(ctx context.Context, r *Result) error {
	after, err := m.read(ctx)
	if err != nil {
		return err
	}
	n := float64(max(r.Messages, 1))
	if after.haveProcess {
		r.AllocationsPerMessage = rounded((after.mallocs - m.before.mallocs) / n)
		r.AllocatedPerMessage = rounded((after.allocated - m.before.allocated) / n)
		r.CPUMicrosPerMessage = rounded((after.cpuSeconds - m.before.cpuSeconds) * 1e6 / n)
		r.ResidentMiB = rounded(after.resident / (1 << 20))
		puts, gets, lists := after.puts-m.before.puts, after.gets-m.before.gets, after.lists-m.before.lists
		r.StorePuts, r.StoreGets, r.StoreLists = &puts, &gets, &lists
	}
	if after.haveDB {
		r.RedisBytesPerMessage = rounded((after.redisBytes - m.before.redisBytes) / n)
	}
	return nil
}

func (m *meter) read(ctx context.Context) (spent, error) {
	var s spent
	if m.server.Management != "" {
		if err := s.readMetrics(ctx, m.server.Management); err != nil {
			return s, err
		}
	}
	if m.redis != nil {
		if err := s.readRedis(ctx, m.redis); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *spent) readMetrics(ctx context.Context, management string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(management, "/")+"/metrics", nil)
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("read metrics: %s", resp.Status)
	}
	s.haveProcess = true
	return s.parseMetrics(resp.Body)
}

func (s *spent) parseMetrics(in io.Reader) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name, number, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue
		}
		switch name {
		case "go_memstats_mallocs_total":
			s.mallocs = value
		case "go_memstats_alloc_bytes_total":
			s.allocated = value
		case "process_cpu_seconds_total":
			s.cpuSeconds = value
		case "process_resident_memory_bytes":
			s.resident = value
		case "go_memstats_heap_inuse_bytes", "go_memstats_stack_inuse_bytes":
			s.inUse += value
		case `bucketmq_store_requests_total{verb="put"}`:
			s.puts = int64(value)
		case `bucketmq_store_requests_total{verb="get"}`:
			s.gets = int64(value)
		case `bucketmq_store_requests_total{verb="list"}`:
			s.lists = int64(value)
		case `bucketmq_store_bytes_total{direction="sent"}`:
			s.sent = value
		case `bucketmq_store_bytes_total{direction="received"}`:
			s.received = value
		}
	}
	return lines.Err()
}

func (s *spent) readRedis(ctx context.Context, db *redis.Client) error {
	info, err := db.Info(ctx, "memory", "commandstats").Result()
	if err != nil {
		return fmt.Errorf("read redis: %w", err)
	}
	s.haveDB = true
	for line := range strings.SplitSeq(info, "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_memory":
			s.redisBytes, _ = strconv.ParseFloat(value, 64)
		case "cmdstat_evalsha":
			calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
			s.redisCalls, _ = strconv.ParseFloat(calls, 64)
		}
	}
	return nil
}

// rounded keeps four digits after the point, so that a line stays readable.
func rounded(v float64) *float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
	return &v
}
