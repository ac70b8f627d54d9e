package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// Goal is one figure and what it has to be. A figure without a limit is a raw
// limit of the machine, or told for information.
type Goal struct {
	Row    string    `json:"row,omitempty"`
	Figure string    `json:"figure"`
	Median float64   `json:"median"` // 0 with a note
	Rounds []float64 `json:"rounds"` // empty with a note
	Min    *float64  `json:"min,omitempty"`
	Max    *float64  `json:"max,omitempty"`
	Met    *bool     `json:"met,omitempty"`
	Note   string    `json:"note,omitempty"` // why it was not measured
}

// Figures that name what is compared at length.
const (
	figureJetStream       = "batches on files, fsync before ack ÷ JetStream async×16, ack before fsync"
	figureJetStreamSynced = "batches on files ÷ JetStream async×16, both fsync before ack"
	figureJetStreamRead   = "catch-up framed ÷ JetStream ordered consumer"
	figureFanOut          = "fan-out, durable, one frame a message ÷ Centrifugo, memory"
	figureBacklog         = "fan-out, durable, under backlog ÷ Centrifugo, memory"
	figureMarginal        = "allocations per further message in a batch (200 less 100, ÷ 100)"
)

// limits are the goals of the log over HTTP and of consumer groups, by the
// number of their row in the list of goals.
var limits = map[string]struct {
	row   string
	limit float64
	least bool
}{
	"framed ingest ÷ raw PUT, S3":                         {"1", 0.55, true},
	"framed ingest ÷ raw PUT, filesystem":                 {"1", 0.40, true},
	"JSON ÷ framed, embedded":                             {"2", 0.6, true},
	"JSON ÷ framed, S3":                                   {"2", 0.6, true},
	"single POST ÷ empty handler":                         {"3", 0.45, true},
	"WebSocket CPU per message ÷ single POST":             {"4", 0.25, false},
	figureJetStream:                                       {"5", 2, true},
	figureJetStreamSynced:                                 {"5", 40, true},
	figureFanOut:                                          {"8", 1, true},
	figureBacklog:                                         {"8", 3, true},
	figureJetStreamRead:                                   {"13", 2, true},
	"tail p99 beside a catch-up reader ÷ alone":           {"14", 2, false},
	"produce above linger + PUT, p50 ms":                  {"6", 3, false},
	"produce above linger + PUT, p99 ms":                  {"6", 8, false},
	"delivery on the same gateway above produce, p99 ms":  {"7", 5, false},
	"delivery on the other gateway above produce, p99 ms": {"7", 15, false},
	"KiB of heap and stacks per idle ws":                  {"9", 12, false},
	"KiB of heap and stacks per idle poll":                {"9", 20, false},
	"redis bytes per index entry":                         {"10", 90, false},
	"redis bytes per idle queue":                          {"10", 512, false},
	"redis bytes per million messages, MB":                {"10", 1, false},
	"Redis scripts per segment, one topic":                {"11", 1.1, false},
	"PUTs ÷ ideal at saturation":                          {"11", 1.15, false},
	"store requests while idle":                           {"11", 0, false},
	"GETs per segment, tail on the same gateway":          {"12", 0, false},
	"GETs per segment, tail on the other gateway":         {"12", 1, false},
	"GETs per MiB of catch-up":                            {"12", 1.2, false},
	"catch-up framed ÷ raw GET":                           {"13", 0.6, true},
	"catch-up JSON ÷ raw GET":                             {"13", 0.25, true},
	"cold start to healthy, ms":                           {"15", 100, false},
	"cold start to first acknowledged produce, ms":        {"15", 250, false},
	"allocations per single POST":                         {"16", 40, false},
	figureMarginal:                                        {"16", 0.2, false},
	"resident at saturation, MiB":                         {"16", 256, false},
	"gateway CPU per KiB, framed, µs":                     {"17", 4, false},
	"gateway CPU per KiB, JSON, µs":                       {"17", 5, false},
	figureRebalance:                                       {"18", 1000, false},
	figureTimersLate:                                      {"18", 200, false},
}

// goals turns the samples into figures, the ones with a limit by row.
func (s *suite) goals() []Goal {
	var all []Goal
	for _, name := range s.order {
		g := Goal{Figure: name, Median: median(s.samples[name]), Rounds: s.samples[name]}
		if l, ok := limits[name]; ok {
			g.Row = l.row
			met := g.Median <= l.limit
			if l.least {
				met = g.Median >= l.limit
				g.Min = &l.limit
			} else {
				g.Max = &l.limit
			}
			g.Met = &met
		}
		all = append(all, g)
	}
	for _, name := range slices.Sorted(maps.Keys(s.skipped)) {
		l := limits[name]
		g := Goal{Row: l.row, Figure: name, Rounds: []float64{}, Max: &l.limit, Note: s.skipped[name]}
		if l.least {
			g.Min, g.Max = g.Max, nil
		}
		all = append(all, g)
	}
	slices.SortStableFunc(all, func(a, b Goal) int { return rowNumber(a) - rowNumber(b) })
	return all
}

func rowNumber(g Goal) int {
	n := 0
	_, _ = fmt.Sscan(g.Row, &n) // no row: first
	return n
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// PrintGoals writes figures as a table and says how many goals were met.
func PrintGoals(out io.Writer, all []Goal) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ROW\tFIGURE\tMEDIAN\tROUNDS\tGOAL\t")
	met, missed, skipped := 0, 0, 0
	for _, g := range all {
		goal, mark := "", ""
		switch {
		case g.Min != nil:
			goal = fmt.Sprintf("≥ %s", number(*g.Min))
		case g.Max != nil:
			goal = fmt.Sprintf("≤ %s", number(*g.Max))
		}
		if g.Met != nil {
			if *g.Met {
				mark, met = "met", met+1
			} else {
				mark, missed = "MISSED", missed+1
			}
		}
		value := number(g.Median)
		if g.Note != "" {
			value, mark, skipped = "-", g.Note, skipped+1
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", g.Row, g.Figure, value, spread(g.Rounds), goal, mark)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%d goals met, %d missed, %d not measured\n", met, missed, skipped)
	return err
}

func number(v float64) string {
	switch {
	case v == float64(int64(v)):
		return fmt.Sprintf("%d", int64(v))
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// spread is the least and the largest sample.
func spread(values []float64) string {
	if len(values) < 2 {
		return ""
	}
	return number(slices.Min(values)) + " to " + number(slices.Max(values))
}
