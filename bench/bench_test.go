package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/segment"
)

func TestQuantilesAreWithinTwoPercent(t *testing.T) {
	var l latencies
	var all []time.Duration
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		d := time.Duration(random.ExpFloat64() * float64(3*time.Millisecond))
		l.add(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.5, 0.99, 0.999, 1} {
		want := all[max(int(q*float64(len(all)))-1, 0)]
		got := l.quantile(q)
		if q == 0 {
			want = 0
		}
		if off := float64(got-want) / float64(max(want, 1)); q > 0 && (off < -0.02 || off > 0.02) {
			t.Errorf("quantile %v: got %v, want %v", q, got, want)
		}
	}
}

func TestBucketsCoverEveryDuration(t *testing.T) {
	for _, v := range []uint64{0, 1, 63, 64, 65, 127, 128, 1 << 20, 1<<62 + 12345, 1<<63 - 1} {
		i := bucketOf(v)
		if v > bucketEnd(i) || i > 0 && v <= bucketEnd(i-1) {
			t.Errorf("%d is in bucket %d, which ends at %d", v, i, bucketEnd(i))
		}
	}
}

func TestWireReadsBothKindsOfBodies(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Bmq-Next-Offset", "42")
		if r.URL.Path == "/chunked" {
			for i := range 10 {
				fmt.Fprint(w, big[i*10_000:(i+1)*10_000])
				w.(http.Flusher).Flush()
			}
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(big)))
		fmt.Fprint(w, big)
	}))
	defer server.Close()
	host, err := hostOf(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	w, err := dialWire(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for _, path := range []string{"/chunked", "/plain", "/chunked"} {
		status, err := w.do(rawRequest("GET", host, path, "", nil))
		if err != nil || status != 200 || string(w.body) != big {
			t.Fatalf("%s: status %d, %d bytes, %v", path, status, len(w.body), err)
		}
		if next, err := w.header("bmq-next-offset"); err != nil || next != 42 {
			t.Errorf("%s: header %d, %v", path, next, err)
		}
	}
	w.drop = true
	for _, path := range []string{"/chunked", "/plain", "/chunked"} {
		status, err := w.do(rawRequest("GET", host, path, "", nil))
		if err != nil || status != 200 || len(w.body) < dropLeft || len(w.body) > dropLeft+dropPiece || !strings.HasSuffix(big, string(w.body)) {
			t.Fatalf("%s, dropped: status %d, %d bytes, %v", path, status, len(w.body), err)
		}
	}
	if _, err := w.header("Nothing"); err == nil {
		t.Error("a header that is not there was found")
	}
}

func TestStampsAreFoundInAnswers(t *testing.T) {
	at := time.Unix(0, 1796083200123456789)
	o := Options{Mode: ModeJSON, Batch: 3, Message: 64}
	request := o.sendRequest("h", "t", stampOf(at))
	found := 0
	stampedAt(request, func(got time.Time) {
		found++
		if !got.Equal(at) {
			t.Errorf("stamp: got %v, want %v", got, at)
		}
	})
	if found != 3 {
		t.Errorf("found %d stamps, want 3", found)
	}
	stampedAt([]byte(`{"body":"short`), func(time.Time) { t.Error("found a stamp in a short text") })
}

func TestFramedRequestIsWhatTheServerReads(t *testing.T) {
	request := Options{Mode: ModeFramed, Batch: 5, Message: 100}.sendRequest("h", "t", nil)
	_, body, _ := strings.Cut(string(request), "\r\n\r\n")
	n := 0
	for r, err := range segment.Records([]byte(body)) {
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Body) != 100 || string(r.Tag) != "paid" {
			t.Errorf("record %d: %d bytes, tag %s", n, len(r.Body), r.Tag)
		}
		n++
	}
	if n != 5 {
		t.Errorf("%d records, want 5", n)
	}
}

func TestMetricsAreRead(t *testing.T) {
	var s spent
	err := s.parseMetrics(strings.NewReader(`# HELP go_memstats_mallocs_total x
go_memstats_mallocs_total 1.5e+06
process_cpu_seconds_total 2.5
go_memstats_heap_inuse_bytes 100
go_memstats_stack_inuse_bytes 20
bucketmq_store_requests_total{verb="put"} 7
bucketmq_store_requests_total{verb="get"} 3
bucketmq_store_bytes_total{direction="sent"} 4096
bucketmq_store_bytes_total{direction="received"} 512
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.mallocs != 1.5e6 || s.cpuSeconds != 2.5 || s.inUse != 120 || s.puts != 7 || s.gets != 3 || s.sent != 4096 || s.received != 512 {
		t.Errorf("read %+v", s)
	}
}

func TestLoadKeepsItsRate(t *testing.T) {
	sum, err := load{workers: 4, rate: 200, length: 500 * time.Millisecond}.run(t.Context(), nothing)
	if err != nil {
		t.Fatal(err)
	}
	if sum.requests != 100 {
		t.Errorf("%d requests at 200/s in 500 ms, want 100", sum.requests)
	}
}

func TestLatencyCountsFromWhenARequestWasDue(t *testing.T) {
	first := true
	sum, err := load{workers: 1, rate: 100, length: 200 * time.Millisecond}.run(t.Context(),
		func(_ context.Context, _ int) (func() error, func(), error) {
			return func() error {
				if first {
					first = false
					<-time.After(150 * time.Millisecond) // a stall of the server
				}
				return nil
			}, func() {}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if p50 := sum.latencies.quantile(0.5); p50 < 20*time.Millisecond {
		t.Errorf("p50 is %v: the requests that waited behind the stall were not counted", p50)
	}
}

func TestGoalsCompareTheMedian(t *testing.T) {
	s := &suite{samples: map[string][]float64{}, skipped: map[string]string{}}
	for _, v := range []float64{0.1, 0.6, 0.7} {
		s.note("framed ingest ÷ raw PUT, S3", v)
	}
	for _, v := range []float64{50, 50, 10} {
		s.note("allocations per single POST", v)
	}
	s.note("raw PUT, S3, MiB/s", 300)
	s.skip(figureFanOut, errors.New("needs a peer"))
	goals := s.goals()
	if goals[0].Row != "" || goals[0].Met != nil {
		t.Errorf("a raw limit has no goal: %+v", goals[0])
	}
	if !*goals[1].Met || goals[1].Median != 0.6 {
		t.Errorf("0.6 is at least 0.55: %+v", goals[1])
	}
	if g := goals[2]; g.Row != "8" || g.Met != nil || *g.Min != 1 {
		t.Errorf("what is not measured is neither met nor missed: %+v", g)
	}
	if *goals[3].Met {
		t.Errorf("50 is not at most 40: %+v", goals[3])
	}
	var out strings.Builder
	if err := PrintGoals(&out, goals); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MISSED", "≥ 0.55", "1 goals met, 1 missed, 1 not measured", "needs a peer"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

func nothing(context.Context, int) (func() error, func(), error) {
	return func() error { return nil }, func() {}, nil
}
