package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bucketmq/bucketmq"

// mayImport says which of our packages each of them may import. Packages for
// tests (…test, faulty) are no part of the program; what they import is free.
var mayImport = map[string][]string{
	"":               nil, // the two contracts
	"segment":        nil,
	"filter":         {"segment"},
	"assign":         nil,
	"objstore":       nil,
	"meta":           {"segment"},
	"journal/replay": {"meta", "objstore", "segment"},
	"journal":        {"meta", "objstore", "segment", "filter", "journal/replay"},
	"fsck":           {"meta", "objstore", "segment", "journal/replay"},
	"transaction":    {"meta", "journal"},
	"group":          {"meta", "segment", "filter", "journal"},
	"replies":        {"meta", "group"},
	"gateway/api":    nil,
	"gateway":        {"", "meta", "objstore", "segment", "filter", "journal", "group", "transaction", "replies", "gateway/api"},
	"coordinator":    {"meta", "objstore", "segment", "filter", "assign", "journal", "journal/replay", "group", "transaction"},
	"client":         nil,
	"bench":          {"client", "filter", "meta", "objstore", "segment"},
	"cmd/bucketmq":   {"bench", "client", "coordinator", "fsck", "gateway", "group", "journal", "meta", "objstore", "segment"},
}

// notFor says which libraries stay out of a package.
var notFor = map[string][]string{
	"gateway":     {"github.com/redis/", "github.com/minio/"},
	"journal":     {"github.com/redis/", "github.com/minio/", "github.com/labstack/"},
	"coordinator": {"github.com/redis/", "github.com/minio/", "github.com/labstack/"},
	"segment":     {"os", "net", "net/http", "time"},
	"filter":      {"os", "net", "net/http", "time"},
	"assign":      {"os", "net", "net/http", "time"},
	"group":       {"github.com/redis/", "github.com/minio/", "github.com/labstack/"},
}

func TestImportsPointOneWay(t *testing.T) {
	list := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if strings.HasSuffix(name, "test") || strings.HasSuffix(name, "/faulty") {
			continue
		}
		seen++
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %q is new: say in this test what it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, module)
			if ours = strings.TrimPrefix(ours, "/"); isOurs && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s", name, imported)
			}
			for _, library := range notFor[name] {
				if imported == library || strings.HasSuffix(library, "/") && strings.HasPrefix(imported, library) {
					t.Errorf("%s imports %s", name, imported)
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d packages were checked", seen)
	}
}
