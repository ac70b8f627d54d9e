package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/segment"
)

// filterRuns is how often one expression is evaluated in a round.
const filterRuns = 200_000

// filters are ten expressions as subscriptions have them, each for a message that it
// looks at to its end.
var filters = [...]struct {
	name, tags, sql string
}{
	{"one tag", "refunded", ""},
	{"tag of three", "paid || refunded || open", ""},
	{"equal text", "", "region = 'eu'"},
	{"number above", "", "amount > 100"},
	{"and", "", "region = 'eu' AND amount > 100"},
	{"or of three", "", "region = 'us' OR region = 'cn' OR amount > 100"},
	{"between", "", "amount BETWEEN 100 AND 200"},
	{"in a list", "", "region IN ('us', 'cn', 'eu')"},
	{"null or prefix", "", "coupon IS NULL AND customer STARTSWITH 'cust'"},
	{"nested", "", "(region = 'eu' AND amount > 100) OR (region = 'us' AND NOT (vip = TRUE AND amount < 50))"},
}

// roundFilters measures how long it takes to match a message.
func (s *suite) roundFilters(ctx context.Context) error {
	r := segment.Record{Tag: []byte("paid"), Body: []byte("{}")}
	for _, p := range [][2]string{{"region", "eu"}, {"amount", "150"}, {"customer", "customer-7"}, {"vip", "false"}} {
		r.Properties = segment.AppendProperty(r.Properties, p[0], p[1])
	}
	for _, f := range filters {
		parsed, err := filter.ParseTags(f.tags)
		if f.sql != "" {
			parsed, err = filter.ParseSQL(f.sql)
		}
		if err != nil {
			return fmt.Errorf("filter %s: %w", f.name, err)
		}
		began := time.Now()
		for range filterRuns {
			parsed.Match(&r)
		}
		s.note("filter, "+f.name+", ns", float64(time.Since(began).Nanoseconds())/filterRuns)
	}
	return ctx.Err()
}
