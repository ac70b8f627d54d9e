package api_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The generated types are those of the contract as it is now.
func TestTypesAreGeneratedFromTheContract(t *testing.T) {
	config, err := os.ReadFile("config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	generated, changed := filepath.Join(dir, "api.gen.go"), filepath.Join(dir, "config.yaml")
	config = bytes.Replace(config, []byte("output: api.gen.go"), []byte("output: "+generated), 1)
	if err := os.WriteFile(changed, config, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "tool", "oapi-codegen", "-config", changed, "../../openapi.yaml").CombinedOutput(); err != nil {
		t.Fatalf("oapi-codegen: %v\n%s", err, out)
	}
	want, err := os.ReadFile(generated)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("api.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("api.gen.go is not what openapi.yaml makes now: run go generate ./gateway/api")
	}
}
