package meta_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
	"github.com/bucketmq/bucketmq/meta/redistest"
)

// BenchmarkCommit commits one segment that holds one block in each of so many queues.
func BenchmarkCommit(b *testing.B) {
	for _, kind := range []string{"embedded", "standalone"} {
		e := newEngine(b, kind)
		for _, queues := range []uint32{1, 16, 128} {
			b.Run(fmt.Sprintf("%s/queues=%d", kind, queues), func(b *testing.B) {
				topic, w := newTopic(b, e.db, queues), uuid.New()
				parts := map[uint32][]uint32{}
				for q := range queues {
					parts[q] = []uint32{100}
				}
				c := commitTo(topic, w, 0, parts)
				b.ReportAllocs()
				defer reportScripts(b, e)()
				for b.Loop() {
					c.Seq++
					if res := e.db.Commit(b.Context(), []meta.Commit{c})[0]; res.Err != nil {
						b.Fatal(res.Err)
					}
				}
			})
		}
	}
}

// BenchmarkLookup looks up offsets at the head, in the middle and at the tail of 500,000 entries.
func BenchmarkLookup(b *testing.B) {
	const entries = 500_000
	q := queueOf(0, entries, 0)
	for _, kind := range []string{"embedded", "standalone"} {
		e := newEngine(b, kind)
		topic := restoreQueue(b, e.db, q)
		for _, at := range []struct {
			name string
			i    int
		}{{"head", 0}, {"middle", entries / 2}, {"tail", entries - 1}} {
			entry := q.Entries[at.i]
			b.Run(kind+"/offset/"+at.name, func(b *testing.B) {
				defer reportScripts(b, e)()
				for b.Loop() {
					win, err := e.db.Lookup(b.Context(), topic.ID, 0, entry.First(), 16)
					if err != nil || win.Entries[0] != entry {
						b.Fatal(win, err)
					}
				}
			})
			b.Run(kind+"/time/"+at.name, func(b *testing.B) {
				defer reportScripts(b, e)()
				for b.Loop() {
					if _, _, err := e.db.LookupTime(b.Context(), topic.ID, 0, entry.StoredAt, 16); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkMemory reports what Redis needs for an index entry, for a queue
// that has had messages, and for one that never had any.
func BenchmarkMemory(b *testing.B) {
	server := redistest.New(b)
	db := open(b, server.Options())
	makeReady(b, db)
	client := server.Client()
	usage := func(topic meta.Topic, key string) float64 {
		n, err := client.MemoryUsage(b.Context(), "{t:"+topic.ID.String()+"}:"+key, 0).Result()
		check(b, err)
		return float64(n)
	}
	const entries = 100_000
	for b.Loop() {
		long := restoreQueue(b, db, queueOf(0, entries, 1_000_000_000))
		idle, used := newTopic(b, db, 1000), newTopic(b, db, 1000)
		heads := meta.TopicSnapshot{Topic: used, Term: 1, Queues: map[uint32]meta.QueueSnapshot{}}
		for queue := range uint32(1000) {
			heads.Queues[queue] = meta.QueueSnapshot{Min: 1_000_000, Next: 1_000_000}
		}
		check(b, db.RestoreTopic(b.Context(), heads))
		b.ReportMetric(usage(long, "hot:0")/entries, "B/entry")
		b.ReportMetric((usage(used, "head")-usage(idle, "head"))/1000, "B/used-queue")
		b.ReportMetric(usage(idle, "head")+usage(idle, "meta"), "B/idle-topic-of-1000-queues")
	}
}

// reportScripts reports how long a real server itself takes for a script: unlike
// the round trip it depends little on what else the machine does.
func reportScripts(b *testing.B, e engine) func() {
	if e.server == nil {
		return func() {}
	}
	client := e.server.Client()
	check(b, client.ConfigResetStat(b.Context()).Err())
	return func() {
		info, err := client.Info(b.Context(), "commandstats").Result()
		check(b, err)
		_, rest, _ := strings.Cut(info, "cmdstat_evalsha:")
		_, rest, _ = strings.Cut(rest, "usec_per_call=")
		text, _, _ := strings.Cut(rest, ",")
		usec, err := strconv.ParseFloat(text, 64)
		check(b, err)
		b.ReportMetric(usec, "server-µs/op")
	}
}
