package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/segment"
)

func TestReadKeepsToItsBounds(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":2}`)
	for i := range 5 {
		n.send("orders", fmt.Sprintf(`[{"body":"%d","queue":0,"tag":"%s"}]`, i, []string{"even", "odd"}[i%2]))
	}
	third := n.read("orders", 0, "offset=2&limit=1").Messages[0].StoredAt.Format("2006-01-02T15:04:05.000Z")
	for query, want := range map[string]struct {
		status, bodies string
		next           int64
	}{
		"":                               {"found", "0 1 2 3 4", 5},
		"offset=3":                       {"found", "3 4", 5},
		"offset=5":                       {"no_new", "", 5},
		"offset=9&clamp=true":            {"no_new", "", 5},
		"limit=2":                        {"found", "0 1", 2},
		"max_bytes=1&offset=1":           {"found", "1", 2},
		"position=latest":                {"no_new", "", 5},
		"position=earliest&limit=1":      {"found", "0", 1},
		"timestamp=" + third:             {"found", "2 3 4", 5},
		"timestamp=2100-01-01T00:00:00Z": {"no_new", "", 5},
		"tags=odd":                       {"found", "1 3", 5},
		"tags=odd%20||%20even&limit=3":   {"found", "0 1 2", 3},
		"tags=none":                      {"no_match", "", 5},
		"tags=*&epoch=1&limit=1":         {"found", "0", 1},
	} {
		got := n.read("orders", 0, query)
		if got.Status != want.status || texts(got.Messages) != want.bodies || got.Next != want.next || got.Min != 0 || got.Max != 5 || got.Epoch != 1 {
			t.Errorf("%s: got %+v, want %+v", query, got, want)
		}
	}
	if empty := n.read("orders", 1, ""); empty.Status != "no_new" || empty.Messages == nil || empty.Next != 0 {
		t.Errorf("an empty queue gives %+v", empty)
	}
}

func TestReadRefusesWhatItCannotGive(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	n.send("orders", `[{"body":"x"}]`)
	const path = "/v1/topics/orders/queues/0/messages"
	for query, want := range map[string]struct {
		status        int
		code, pointer string
	}{
		"?offset=2":                 {416, "offset_beyond_end", "query:offset"},
		"?epoch=2":                  {409, "epoch_changed", "query:epoch"},
		"?offset=-1":                {400, "invalid_parameter", "query:offset"},
		"?offset=x":                 {400, "invalid_parameter", "query:offset"},
		"?offset=1&position=latest": {400, "invalid_parameter", "query:offset"},
		"?position=middle":          {400, "invalid_parameter", "query:position"},
		"?timestamp=now":            {400, "invalid_parameter", "query:timestamp"},
		"?limit=0":                  {400, "invalid_parameter", "query:limit"},
		"?limit=1001":               {400, "invalid_parameter", "query:limit"},
		"?wait_ms=30001":            {400, "invalid_parameter", "query:wait_ms"},
		"?max_bytes=0":              {400, "invalid_parameter", "query:max_bytes"},
		"?encoding=hex":             {400, "invalid_parameter", "query:encoding"},
		"?tags=a%20b":               {400, "invalid_parameter", "query:tags"},
		"?clamp=yes":                {400, "invalid_parameter", "query:clamp"},
		"?nope=1":                   {400, "unknown_parameter", "query:nope"},
		"?offset=0&offset=1":        {400, "unknown_parameter", "query:offset"},
	} {
		refusedAs(t, n.get(path+query), want.status, want.code, want.pointer)
	}
	beyond := refusedAs(t, n.get(path+"?offset=7&wait_ms=5000"), 416, "offset_beyond_end", "query:offset")
	if f := beyond.Errors[0]; f["min_offset"] != 0.0 || f["next_offset"] != 1.0 {
		t.Errorf("bounds %+v", f)
	}
	refusedAs(t, n.get("/v1/topics/none/queues/0/messages"), 404, "topic_not_found", "")
	refusedAs(t, n.get("/v1/topics/orders/queues/1/messages"), 404, "queue_not_found", "path:queue")
	refusedAs(t, n.get(path+"/1"), 404, "message_not_found", "path:offset")
	refusedAs(t, n.get(path+"/5"), 404, "message_not_found", "path:offset")
}

func TestLongPollWakesAtOnceOnEveryGateway(t *testing.T) {
	a, b := pair(t)
	a.topic("orders", `{"queues":1}`)
	for i := range 10 {
		var wait sync.WaitGroup
		arrived := make([]time.Time, 2)
		for at, n := range []*node{a, b} {
			wait.Go(func() {
				got := n.read("orders", 0, fmt.Sprintf("offset=%d&wait_ms=20000", i))
				arrived[at] = time.Now()
				if texts(got.Messages) != strconv.Itoa(i) {
					t.Errorf("poll %d on gateway %d: %+v", i, at, got)
				}
			})
		}
		n := []*node{a, b}[i%2]
		n.send("orders", fmt.Sprintf(`[{"body":"%d"}]`, i))
		stored := time.Now()
		wait.Wait()
		for at, when := range arrived {
			if late := when.Sub(stored); late > 300*time.Millisecond {
				t.Errorf("poll %d on gateway %d came %v after the message was stored", i, at, late)
			}
		}
	}
}

func TestLongPollEndsOnTime(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	n.send("orders", `[{"body":"x","tag":"a"}]`)
	for query, want := range map[string]string{"offset=1&wait_ms=400": "no_new", "offset=1&wait_ms=400&tags=b": "no_new", "position=latest&wait_ms=400": "no_new"} {
		start := time.Now()
		got := n.read("orders", 0, query)
		if took := time.Since(start); got.Status != want || took < 400*time.Millisecond || took > 1400*time.Millisecond {
			t.Errorf("%s: %s after %v, want %s", query, got.Status, took, want)
		}
	}
}

// A poll for one tag sleeps through messages with another and is then told how
// far it may skip.
func TestLongPollWaitsForItsTag(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	polled := make(chan page, 1)
	go func() { polled <- n.read("orders", 0, "offset=0&wait_ms=10000&tags=b") }()
	n.send("orders", `[{"body":"1","tag":"a"}]`)
	n.send("orders", `[{"body":"2","tag":"b"}]`)
	if got := <-polled; texts(got.Messages) != "2" || got.Next != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestParkedPollsDoNotBlockProducers(t *testing.T) {
	n, parked := counted(t)
	n.topic("quiet", `{"queues":8}`)
	n.topic("busy", `{"queues":1}`)
	ctx, cancel := context.WithCancel(t.Context())
	var polls sync.WaitGroup
	for i := range 1000 {
		polls.Go(func() {
			_, err := n.poll(ctx, fmt.Sprintf("/v1/topics/quiet/queues/%d/messages?wait_ms=30000", i%8))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("poll %d ended with %v", i, err)
			}
		})
	}
	eventually(t, "1000 polls are parked", func() bool { return parked() == 1000 })
	start := time.Now()
	for i := range 20 {
		n.send("busy", fmt.Sprintf(`[{"body":"%d"}]`, i))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("20 requests took %v beside 1000 parked polls", took)
	}
	cancel()
	polls.Wait()
	eventually(t, "polls end with their clients", func() bool { return parked() == 0 })
}

func TestStoppingAnswersParkedPolls(t *testing.T) {
	n, parked := counted(t)
	n.topic("orders", `{"queues":1}`)
	polled := make(chan int, 1)
	go func() {
		status, err := n.poll(t.Context(), "/v1/topics/orders/queues/0/messages?wait_ms=30000")
		if err != nil {
			t.Errorf("the poll was not answered: %v", err)
		}
		polled <- status
	}()
	eventually(t, "the poll is parked", func() bool { return parked() == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	must(t, n.server.Shutdown(ctx))
	if status := <-polled; status != 200 {
		t.Errorf("got %d", status)
	}
}

func TestFramesAreTheStoredRecords(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	n.send("orders", `[{"body":"a","tag":"x","keys":["k"],"properties":{"p":"v"}},{"body":null},{"body":"`+strings.Repeat("l", 200_000)+`"}]`)
	n.send("orders", `[{"body":"d","tag":"x"}]`)
	const path = "/v1/topics/orders/queues/0/frames"
	a := n.get(path)
	if a.status != 200 || a.header.Get("Content-Type") != "application/octet-stream" || a.header.Get("Content-Length") != strconv.Itoa(len(a.body)) {
		t.Fatalf("%d %v", a.status, a.header)
	}
	for name, want := range map[string]string{"Status": "found", "Next-Offset": "4", "Min-Offset": "0", "Max-Offset": "4", "Epoch": "1", "Count": "4"} {
		if got := a.header.Get("Bmq-" + name); got != want {
			t.Errorf("Bmq-%s is %q, want %s", name, got, want)
		}
	}
	stored := n.read("orders", 0, "").Messages
	i := 0
	for r, err := range segment.Records(a.body) {
		if err != nil {
			t.Fatal(err)
		}
		if m := stored[i]; r.ID.String() != m.MessageID || (m.Body != nil) != (r.Attributes&segment.AttrNull == 0) || m.Body != nil && *m.Body != string(r.Body) {
			t.Errorf("record %d is %+v, want %+v", i, r, m)
		}
		i++
	}
	if i != 4 {
		t.Errorf("%d records", i)
	}
	runs := fmt.Sprintf("0+3@%d,3+1@%d", stored[0].StoredAt.UnixMilli(), stored[3].StoredAt.UnixMilli())
	if got := a.header.Get("Bmq-Runs"); got != runs {
		t.Errorf("runs %s, want %s", got, runs)
	}
	tagged := n.get(path + "?tags=x")
	if got := tagged.header.Get("Bmq-Runs"); !strings.HasPrefix(got, "0+1@") || !strings.Contains(got, ",3+1@") {
		t.Errorf("runs of tag x: %s", got)
	}
	again := as[sent](t, n.post("/v1/topics/orders/messages/framed", a.body, binary()...), 200)
	if again.Stored != 4 {
		t.Errorf("what was read cannot be sent: %+v", again)
	}
	if none := n.get(path + "?position=latest"); none.status != 200 || len(none.body) != 0 || none.header.Get("Bmq-Status") != "no_new" || none.header.Get("Bmq-Count") != "0" {
		t.Errorf("at the end: %d %v", none.status, none.header)
	}
	refusedAs(t, n.get(path+"?offset=99"), 416, "offset_beyond_end", "query:offset")
}

// A page with too many runs ends early and says where to go on.
func TestFramesWithManyRunsGoOn(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	var batch []string
	for i := range 600 {
		batch = append(batch, fmt.Sprintf(`{"body":"%d","tag":"%s"}`, i, []string{"a", "b"}[i%2]))
	}
	n.send("orders", "["+strings.Join(batch, ",")+"]")
	next, records := int64(0), 0
	for pages := 0; next < 600; pages++ {
		a := n.get(fmt.Sprintf("/v1/topics/orders/queues/0/frames?tags=a&limit=1000&offset=%d", next))
		if a.status != 200 || pages > 10 || len(a.header.Get("Bmq-Runs")) > 8<<10 {
			t.Fatalf("page %d: %d %v", pages, a.status, a.header)
		}
		for r, err := range segment.Records(a.body) {
			if want := strconv.Itoa(2 * records); err != nil || string(r.Body) != want {
				t.Fatalf("record %d is %q, %v", records, r.Body, err)
			}
			records++
		}
		next, _ = strconv.ParseInt(a.header.Get("Bmq-Next-Offset"), 10, 64)
	}
	if records != 300 {
		t.Errorf("%d records, want 300", records)
	}
}

func TestOneMessageMayBeCached(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	n.send("orders", `[{"body":"hello","tag":"paid","keys":["a","b"],"properties":{"Name":"grüße %","q":"\t"}},{"body":null}]`)
	const path = "/v1/topics/orders/queues/0/messages/0"
	a := n.get(path)
	m := as[message](t, a, 200)
	if *m.Body != "hello" || m.Offset != 0 || m.Tag != "paid" {
		t.Errorf("got %+v", m)
	}
	tags := map[string]bool{}
	for _, variant := range []string{path, path + "?encoding=base64", path + "/raw"} {
		first := n.get(variant)
		etag := first.header.Get("ETag")
		if etag == "" || tags[etag] || !strings.Contains(first.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", variant, first.header)
		}
		tags[etag] = true
		again := n.get(variant, "If-None-Match", etag)
		if again.status != http.StatusNotModified || len(again.body) != 0 || again.header.Get("ETag") != etag {
			t.Errorf("%s again: %d %s", variant, again.status, again.body)
		}
	}
	raw := n.get(path + "/raw")
	if !bytes.Equal(raw.body, []byte("hello")) || raw.header.Get("Bmq-Keys") != "a b" || raw.header.Get("Bmq-Message-Id") != m.MessageID ||
		raw.header.Get("Bmq-Property-Name") != "gr%C3%BC%C3%9Fe %25" || raw.header.Get("Bmq-Property-Q") != "%09" || raw.header.Get("Bmq-Tombstone") != "" {
		t.Errorf("raw: %q %v", raw.body, raw.header)
	}
	tombstone := n.get("/v1/topics/orders/queues/0/messages/1/raw")
	if tombstone.status != 200 || len(tombstone.body) != 0 || tombstone.header.Get("Bmq-Tombstone") != "true" {
		t.Errorf("tombstone: %d %v", tombstone.status, tombstone.header)
	}
}

// Headers that many clients would refuse are not sent; the count says that
// something is missing.
func TestRawMessageLeavesOutWhatHeadersCannotCarry(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":1}`)
	n.send("orders", `[{"body":"x","properties":{"a":"1","b":"`+strings.Repeat("v", 20_000)+`"}}]`)
	raw := n.get("/v1/topics/orders/queues/0/messages/0/raw").want(t, 200)
	if raw.header.Get("Bmq-Properties-Omitted") != "2" || raw.header.Get("Bmq-Property-A") != "" || string(raw.body) != "x" {
		t.Errorf("got %v", raw.header)
	}
	if m := n.read("orders", 0, "").Messages[0]; len(m.Properties["b"]) != 20_000 {
		t.Errorf("read %d bytes of property b", len(m.Properties["b"]))
	}
}

// A key of many, page by page, through a gateway that has nothing in memory, while
// messages go on to come.
func TestSearchFindsByKeyWhileMessagesCome(t *testing.T) {
	n, other := pair(t)
	n.topic("orders", `{"queues":3}`)
	sent := 0
	more := func(count int) {
		for range count {
			n.send("orders", fmt.Sprintf(`[{"body":"%d","keys":["all","k%d"],"queue":%d},{"body":"none","queue":%d}]`, sent, sent%5, sent%3, sent%3))
			sent++
		}
	}
	more(20)
	for _, at := range []*node{n, other} {
		var bodies []string
		query := "/v1/topics/orders/search?key=k3&limit=2"
		for token := ""; ; more(1) {
			p := as[page](t, at.get(query+token), 200)
			for _, m := range p.Items {
				bodies = append(bodies, *m.Body)
			}
			if p.Token == "" {
				break
			}
			token = "&page_token=" + p.Token
		}
		for i, body := range bodies {
			if body != fmt.Sprint(3+5*i) {
				t.Fatalf("found %v", bodies)
			}
		}
		if len(bodies) < 4 {
			t.Errorf("found %v of %d", bodies, sent)
		}
	}
	if p := as[page](t, other.get("/v1/topics/orders/search?key=k&limit=100"), 200); len(p.Items) != 0 || p.Token != "" {
		t.Errorf("a part of a key finds %+v", p)
	}
}

func TestSearchFindsByIDAndByTime(t *testing.T) {
	n := alone(t)
	n.topic("orders", `{"queues":4}`)
	var wanted string
	before := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	for i := range 12 {
		r := n.send("orders", fmt.Sprintf(`[{"body":"%d","queue":%d,"tag":"%s"}]`, i, i%4, []string{"a", "b"}[i%2]))
		if i == 7 {
			wanted = r.Results[0].MessageID
		}
	}
	found := as[page](t, n.get("/v1/topics/orders/search?message_id="+wanted), 200)
	if texts(found.Items) != "7" || found.Items[0].Queue != 3 {
		t.Errorf("by id: %+v", found)
	}
	var bodies []string
	query := "/v1/topics/orders/search?tag=b&limit=2&from=" + before
	for token := ""; ; {
		p := as[page](t, n.get(query+token), 200)
		for _, m := range p.Items {
			bodies = append(bodies, *m.Body)
		}
		if p.Token == "" {
			break
		}
		token = "&page_token=" + p.Token
	}
	if got := strings.Join(bodies, " "); got != "1 3 5 7 9 11" {
		t.Errorf("by time and tag: %s", got)
	}
	for q, pointer := range map[string]string{"?": "query:from", "?key=": "query:key", "?key=a%20b": "query:key", "?key=a&message_id=" + wanted: "query:message_id", "?message_id=x": "query:message_id", "?from=x": "query:from", "?from=" + before + "&tag=a||b": "query:tag",
		"?from=" + before + "&page_token=zz": "query:page_token", "?message_id=" + wanted + "&from=" + before: "query:message_id", "?from=" + before + "&to=" + before: "query:to"} {
		refusedAs(t, n.get("/v1/topics/orders/search"+q), 400, "invalid_parameter", pointer)
	}
}
