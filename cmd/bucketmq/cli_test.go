package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/client"
	"github.com/bucketmq/bucketmq/objstore"
)

func TestHelpExplainsEveryFlagAndItsVariable(t *testing.T) {
	o := command(t, nil, "", "help", "gateway")
	if o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.stderr)
	}
	for _, flag := range []string{
		"listen", "management-listen", "redis", "s3-endpoint", "s3-bucket", "s3-access-key", "s3-secret-key",
		"s3-region", "s3-prefix", "linger", "segment-bytes", "buffer-bytes", "log-format", "insecure", "shutdown-grace",
	} {
		variable := "BUCKETMQ_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		for _, want := range []string{"--" + flag, "$" + variable} {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("help gateway lacks %s", want)
			}
		}
	}
	parser, err := newParser(&environment{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, node := range parser.Model.Children {
		if !slices.Contains([]string{"serve", "gateway", "coordinator"}, node.Name) {
			continue
		}
		for _, flag := range node.Flags {
			variable := "BUCKETMQ_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
			if flag.Name != "help" && (flag.Help == "" || !slices.Contains(flag.Envs, variable)) {
				t.Errorf("%s --%s: help %q, variables %v, want %s among them", node.Name, flag.Name, flag.Help, flag.Envs, variable)
			}
			checked++
		}
	}
	if checked < 30 {
		t.Errorf("only %d flags were checked", checked)
	}
	if all := command(t, nil, "", "help").stdout; !strings.Contains(all, "serve") || !strings.Contains(all, "Exit codes") {
		t.Errorf("help: %s", all)
	}
}

func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(os.NewFile(null.Fd(), "/dev/stdin")) {
		t.Error("nobody types into the null device")
	}
}

func TestStartFailuresSayWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := command(t, nil, "", "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--management-listen", taken.Addr().String())
	if o.code != exitFailure || !strings.Contains(o.stderr, "--management-listen") {
		t.Errorf("a taken address: exit code %d, %s", o.code, o.stderr)
	}
	if got := hintFor(&client.Problem{Code: "topic_exists"}); !strings.Contains(got, "--if-not-exists") {
		t.Errorf("a topic that exists: %q", got)
	}
	if got := hintFor(fmt.Errorf("probe: %w", objstore.ErrNoBucket)); !strings.Contains(got, "--s3-create-bucket") {
		t.Errorf("no bucket: %q", got)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	env := []string{
		"BUCKETMQ_S3_SECRET_KEY=canary-secret", "BUCKETMQ_S3_ACCESS_KEY=canary-access", "BUCKETMQ_S3_BUCKET=b",
		"BUCKETMQ_S3_ENDPOINT=http://127.0.0.1:1", "BUCKETMQ_REDIS=redis://user:canary-password@127.0.0.1:1",
		"BUCKETMQ_MANAGEMENT_LISTEN=", "BUCKETMQ_LISTEN=127.0.0.1:0", "BUCKETMQ_LOG_LEVEL=debug",
	}
	for _, args := range [][]string{{"help", "gateway"}, {"gateway", "--log-format", "xml"}, {"gateway", "--s3-bucket", ""}} {
		o := command(t, env, "", args...)
		if strings.Contains(o.stdout+o.stderr, "canary") {
			t.Errorf("bucketmq %s prints a secret:\n%s%s", strings.Join(args, " "), o.stdout, o.stderr)
		}
	}
}

func TestWrongUsageExitsTwoAndSaysWhere(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--nonsense"}, "bucketmq help serve"},
		{[]string{"produce"}, "bucketmq help produce"},
		{[]string{"topic", "create"}, "bucketmq help topic create"},
		{[]string{"frobnicate"}, "bucketmq help"},
		{[]string{"serve", "--buffer-bytes", "lots"}, "size \"lots\""},
		{[]string{"gateway"}, "--redis"},
		{[]string{"serve", "--commit-interval", "1ms"}, "at least 100ms"},
		{[]string{"produce", "t", "--batch", "1001", "x"}, "1 to 1000"},
		{[]string{"produce", "t", "--whole", "x"}, "--whole"},
		{[]string{"produce", "t", "--if-next-offset", "3", "x"}, "--queue"},
		{[]string{"topic", "search", "t"}, "--key"},
		{[]string{"topic", "search", "t", "--key", "k", "--to", "never"}, "--to never"},
	} {
		o := command(t, nil, "", c.args...)
		if o.code != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("bucketmq %s: exit code %d, want 2 and %q:\n%s", strings.Join(c.args, " "), o.code, c.want, o.stderr)
		}
	}
}

func TestUnreachableServerExitsThree(t *testing.T) {
	o := command(t, nil, "", "topic", "list", "--url", "http://127.0.0.1:1")
	if o.code != exitUnreachable || !strings.Contains(o.stderr, "bucketmq serve") {
		t.Errorf("exit code %d:\n%s", o.code, o.stderr)
	}
}

func TestAddressOthersReachNeedsInsecure(t *testing.T) {
	data := t.TempDir()
	for _, args := range [][]string{
		{"--listen", "0.0.0.0:0"}, {"--listen", ":0"}, {"--listen", "[::]:0"},
		{"--listen", "127.0.0.1:0", "--management-listen", "0.0.0.0:0"},
	} {
		o := command(t, nil, "", append([]string{"serve", "--data", data + "/d"}, args...)...)
		if o.code != exitUsage || !strings.Contains(o.stderr, "--insecure") {
			t.Errorf("%v: exit code %d:\n%s", args, o.code, o.stderr)
		}
	}
	if _, err := os.Stat(data + "/d"); !os.IsNotExist(err) {
		t.Errorf("the data directory was touched before the refusal: %v", err)
	}
}

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		text string
		want time.Time
		ok   bool
	}{
		{"2026-12-01T08:00:00Z", now.Add(-30 * time.Minute), true},
		{"2026-12-01T09:00:00.5+01:00", now.Add(-30*time.Minute + 500*time.Millisecond), true},
		{"15m", now.Add(-15 * time.Minute), true},
		{"-2h", now.Add(-2 * time.Hour), true},
		{"42", time.Time{}, false},
		{"0", time.Time{}, false},
		{"soon", time.Time{}, false},
	} {
		got, ok := parseTime(c.text, now)
		if ok != c.ok || !got.Equal(c.want) {
			t.Errorf("%q: got %v %v, want %v %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1000": 1000, "64KiB": 65536, "8 MiB": 8 << 20, "1GiB": 1 << 30, "-1": -1, "1TB": -1, "9223372036854775807GiB": -1, "": -1} {
		var b byteSize
		err := b.UnmarshalText([]byte(text))
		if want < 0 && err == nil || want >= 0 && (err != nil || int64(b) != want) {
			t.Errorf("%q: got %d, %v, want %d", text, b, err, want)
		}
	}
}

func TestBatchesFillUpAndKeepOrder(t *testing.T) {
	in := make(chan []byte, 100)
	for i := range 25 {
		in <- []byte{byte(i)}
	}
	in <- make([]byte, maxBatchBytes) // does not fit beside others
	in <- []byte{26}
	close(in)
	var sizes, first []int
	for batch := range batches(in, 10) {
		sizes = append(sizes, len(batch))
		first = append(first, int(batch[0][0]))
	}
	want := []int{10, 10, 5, 1, 1}
	if len(sizes) != len(want) {
		t.Fatalf("sizes %v, want %v", sizes, want)
	}
	for i := range want {
		if sizes[i] != want[i] {
			t.Errorf("sizes %v, want %v", sizes, want)
			break
		}
	}
	if first[4] != 26 {
		t.Errorf("the last batch begins with %d, want 26", first[4])
	}
}

func TestStoredMessagesAreMergedByTime(t *testing.T) {
	at := func(queue, offset int64, second int) client.Stored {
		body := string(rune('a' + second))
		return client.Stored{Queue: queue, Offset: offset, StoredAt: time.Unix(int64(second), 0), Body: &body}
	}
	queues := []*cursor{
		{queue: 0, end: 2, offset: 2, page: []client.Stored{at(0, 0, 1), at(0, 1, 4), at(0, 2, 9)}},
		{queue: 1, end: 2, offset: 2, page: []client.Stored{at(1, 0, 0), at(1, 1, 2)}},
	}
	var out strings.Builder
	p := &printer{out: bufio.NewWriter(&out)}
	if err := mergeStored(queues, func(*cursor) error { return nil }, p); err != nil {
		t.Fatal(err)
	}
	if err := p.out.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.ReplaceAll(out.String(), "\n", ""), "abce"; got != want {
		t.Errorf("printed %q, want %q (and what came after the start left for later)", got, want)
	}
	if len(queues[0].page) != 1 {
		t.Errorf("%d messages left, want 1", len(queues[0].page))
	}
}
