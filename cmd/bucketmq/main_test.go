package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/bench"
	"github.com/bucketmq/bucketmq/client"
)

// binary is the program under test, built once with the race detector if the
// tests have it.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "bucketmq-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "bucketmq")
	args := []string{"build", "-o", binary}
	if raceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, ".")...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the binary:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// startServer runs the binary in a role, until the end of the test.
func startServer(t *testing.T, env []string, args ...string) *bench.Child {
	t.Helper()
	c, err := bench.StartServer(t.Context(), binary, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

func clientOf(t *testing.T, url string) *client.Client {
	t.Helper()
	cl, err := client.New(client.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// output is what a command left behind.
type output struct {
	code           int
	stdout, stderr string
}

// command runs the binary to its end.
func command(t *testing.T, env []string, stdin string, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if failure := cmd.Run(); failure != nil && cmd.ProcessState == nil {
		t.Fatal(failure)
	}
	return output{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

// succeed runs a command that must exit 0.
func succeed(t *testing.T, server, stdin string, args ...string) string {
	t.Helper()
	o := command(t, []string{"BUCKETMQ_URL=" + server}, stdin, args...)
	if o.code != 0 {
		t.Fatalf("bucketmq %s: exit code %d\n%s%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

func status(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}
