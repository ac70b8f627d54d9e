package journal_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta/redistest"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/segment"
)

// Whatever restarts, a request that is sent again within the window is answered as
// the first time: the gateway, Redis with its data, Redis without.
func TestTheIdempotencyWindowOutlivesRestarts(t *testing.T) {
	for name, restart := range map[string]func(p *plant, j *process) *process{
		"the gateway": func(p *plant, j *process) *process {
			j.stop()
			return p.start()
		},
		"redis with its data": func(p *plant, j *process) *process {
			p.redis.Kill()
			p.redis.Start()
			return j
		},
		"redis, empty": func(p *plant, j *process) *process {
			p.redis.Flush()
			return j
		},
		"all of them": func(p *plant, j *process) *process {
			j.stop()
			p.redis.Flush()
			p.redis.Kill()
			p.redis.Start()
			return p.start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plant{t: t, redis: redistest.New(t, "--appendonly", "yes", "--appendfsync", "always"), store: faulty.Wrap(objstore.NewMemory())}
			j := p.start()
			j.topic(t, "orders", 2)
			first := map[string]at{}
			ids := map[string]segment.Identity{"key": key("k", "key"), "seq": producer("p", 1, 7)}
			for body, id := range ids {
				where, _, err := j.send(t.Context(), "orders", body, 0, id)
				if err != nil {
					t.Fatal(err)
				}
				first[body] = where
			}
			where, _, err := j.sendIf(t, "only", "only", 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			j = restart(p, j)
			j.mustSend(t, "orders", "between", 0)
			for end := time.Now().Add(20 * time.Second); ; {
				problem := ""
				for body, id := range ids {
					if got, duplicate, err := j.send(t.Context(), "orders", body, 0, id); err != nil || !duplicate || got != first[body] {
						problem = fmt.Sprintf("%s: %+v, duplicate %v, %v; want %+v", body, got, duplicate, err, first[body])
						if err == nil {
							t.Fatal(problem)
						}
					}
				}
				if got, duplicate, err := j.sendIf(t, "only", "only", 1, 0); err != nil || !duplicate || got != where {
					var conflict *journal.NextOffsetError
					if problem = fmt.Sprintf("only: %+v, duplicate %v, %v; want %+v", got, duplicate, err, where); err == nil || errors.As(err, &conflict) {
						t.Fatal(problem)
					}
				}
				if problem == "" {
					return
				}
				if time.Now().After(end) {
					t.Fatal(problem)
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
}
