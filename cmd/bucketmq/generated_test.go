package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A client that is generated from openapi.yaml compiles, and what it sends
// comes back: text as JSON, and every byte there is as a raw body. The library
// that such clients import is stood in for by testdata/generated/runtime.
func TestGeneratedClientRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "generated"))); err != nil {
		t.Fatal(err)
	}
	const yaml = "go.yaml.in/yaml/v3"
	version, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", yaml).Output()
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join("..", "..", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const runtime = "github.com/oapi-codegen/runtime"
	for name, text := range map[string]string{
		"go.mod": "module generated\n\ngo 1.24\n\nrequire " + runtime + " v1.0.0\nrequire " + yaml + " " + strings.TrimSpace(string(version)) +
			"\nreplace " + runtime + " => ./runtime\n",
		"go.sum":      string(sums),
		"config.yaml": "package: main\noutput: " + filepath.Join(dir, "client.gen.go") + "\ngenerate: {models: true, client: true}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	run := func(dir, name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(ctx, name, args...)
		if cmd.Dir = dir; dir != "" {
			cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	run("", "go", "tool", "oapi-codegen", "-config", filepath.Join(dir, "config.yaml"), filepath.Join("..", "..", "openapi.yaml"))
	program := filepath.Join(dir, "roundtrip")
	run(dir, "go", "build", "-o", program, ".")
	server := startServer(t, nil, "serve", "--data", t.TempDir())
	run(dir, program, server.URL)
}
