package gateway_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/segment"
)

// A page of records has no more limit than its bytes, and any limit gives the
// same records.
func TestFramesComeInPagesOfAnySize(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	const total = 2400
	for at := 0; at < total; at += 800 {
		var batch []string
		for i := at; i < at+800; i++ {
			batch = append(batch, fmt.Sprintf(`{"body":"%d:%s"}`, i, strings.Repeat("x", i%1500)))
		}
		n.send("orders", "["+strings.Join(batch, ",")+"]")
	}
	const path = "/v1/topics/orders/queues/0/frames"
	for query, pages := range map[string]int{
		"limit=100000&max_bytes=16777216": 1, "limit=2399&max_bytes=16777216": 2,
		"limit=1000&max_bytes=16777216": 3, "limit=100000&max_bytes=400000": 5, "limit=7&max_bytes=1": total,
	} {
		next, got := int64(0), 0
		for ; next < total && got <= pages; got++ {
			a := n.get(fmt.Sprintf("%s?%s&offset=%d", path, query, next))
			count := 0
			for r, err := range segment.Records(a.body) {
				if want := fmt.Sprintf("%d:", next+int64(count)); err != nil || !strings.HasPrefix(string(r.Body), want) {
					t.Fatalf("%s: record %d is %.20q, %v", query, next+int64(count), r.Body, err)
				}
				count++
			}
			if a.status != 200 || a.header.Get("Bmq-Count") != strconv.Itoa(count) || a.header.Get("Bmq-Next-Offset") != strconv.FormatInt(next+int64(count), 10) {
				t.Fatalf("%s: %d with %d records from %d on, %v", query, a.status, count, next, a.header)
			}
			next += int64(count)
		}
		if got != pages || next != total {
			t.Errorf("%s: %d pages up to %d, want %d up to %d", query, got, next, pages, total)
		}
	}
	refusedAs(t, n.get(path+"?limit=100001"), 400, "invalid_parameter", "query:limit")
}
