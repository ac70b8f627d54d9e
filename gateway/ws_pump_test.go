package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

// Subscriptions of different names share what is read for them as long as they
// can take it. Those that have no credit or pause get the same later, and go on
// with the others.
func TestTailSharesWithThoseThatLeaveAndComeBack(t *testing.T) {
	for _, protocol := range []string{"bmq.v1.json", "bmq.v1.bin"} {
		t.Run(protocol, func(t *testing.T) {
			n := alone(t)
			n.topic("orders", `{"queues":1}`)
			steady, poor, pausing := n.socket(protocol), n.socket(protocol), n.socket(protocol)
			steady.tail("s1", "orders", `{"position":"latest"}`, 1000, 1<<20)
			poor.tail(strings.Repeat("\"", 64), "orders", `{"position":"latest"}`, 2, 1<<20)
			pausing.tail("another", "orders", `{"position":"latest"}`, 1000, 1<<20)
			next, seqs := map[*sock]int64{}, map[*sock]int64{}
			receive := func(s *sock, count int64) {
				t.Helper()
				for end := next[s] + count; next[s] < end; {
					o := s.want("messages")
					if seqs[s]++; o.Seq != seqs[s] {
						t.Fatalf("seq %d after %d", o.Seq, seqs[s]-1)
					}
					all := o.Items
					for _, r := range o.Runs {
						all = append(all, s.records(r.Queue, r.First, r.Count, &o.bodies)...)
					}
					for _, m := range all {
						if m.Offset != next[s] || *m.Body != fmt.Sprint(next[s]) {
							t.Fatalf("got %q at %d, want %d", *m.Body, m.Offset, next[s])
						}
						next[s]++
					}
				}
			}
			for round := range 5 {
				pausing.call(`{"op":"pause","id":"p","sub":"another"}`, "ok")
				for i := range 4 {
					n.send("orders", fmt.Sprintf(`[{"body":"%d"}]`, 4*round+i))
				}
				receive(steady, 4)
				receive(poor, 2)
				poor.want("stalled")
				poor.call(fmt.Sprintf(`{"op":"credit","id":"c","sub":%q,"messages":4,"bytes":0}`, strings.Repeat("\"", 64)), "ok")
				receive(poor, 2)
				pausing.call(`{"op":"resume","id":"r","sub":"another"}`, "ok")
				receive(pausing, 4)
			}
		})
	}
}
