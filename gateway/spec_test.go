package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"github.com/bucketmq/bucketmq"
)

// TestContractKeepsItsOwnRules holds openapi.yaml to what makes generated
// clients clean.
func TestContractKeepsItsOwnRules(t *testing.T) {
	k := newContract(t)
	if k.doc.OpenAPI != "3.0.3" || len(k.doc.Servers) != 1 || k.doc.Servers[0].URL != "/" {
		t.Errorf("openapi %s, servers %v", k.doc.OpenAPI, k.doc.Servers)
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		if strings.Contains(string(bucketmq.OpenAPI), word) {
			t.Errorf("openapi.yaml uses %s", word)
		}
	}
	for name, schema := range k.doc.Components.Schemas {
		if schema.Value.Example == nil {
			t.Errorf("schema %s has no example", name)
		}
		for property, inner := range schema.Value.Properties {
			if inner.Ref == "" && inner.Value.Description == "" {
				t.Errorf("%s.%s says nothing about itself", name, property)
			}
			if inner.Ref == "" && len(inner.Value.Properties) > 0 {
				t.Errorf("%s.%s is an inline schema", name, property)
			}
		}
	}
	ids := map[string]bool{}
	for path, item := range k.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" || ids[op.OperationID] || len(op.Tags) != 1 || op.Summary == "" {
				t.Errorf("%s %s: operationId %q, tags %v, summary %q", method, path, op.OperationID, op.Tags, op.Summary)
			}
			ids[op.OperationID] = true
			if op.RequestBody != nil {
				checkContent(t, op.OperationID+" request", op.RequestBody.Value.Content)
			}
			for status, response := range op.Responses.Map() {
				if len(response.Value.Content) > 0 {
					checkContent(t, op.OperationID+" "+status, response.Value.Content)
				}
				if problem := response.Value.Content["application/problem+json"]; problem != nil && len(problem.Examples) == 0 {
					t.Errorf("%s %s names no code", op.OperationID, status)
				}
			}
		}
	}
}

func checkContent(t *testing.T, where string, content openapi3.Content) {
	t.Helper()
	if len(content) != 1 {
		t.Errorf("%s has %d media types, want 1", where, len(content))
	}
	for _, media := range content {
		if media.Schema == nil || media.Schema.Ref == "" {
			t.Errorf("%s has an inline schema", where)
		}
	}
}

// TestInfoTellsTheLimitsOfTheContract compares what the server enforces with
// what openapi.yaml says.
func TestInfoTellsTheLimitsOfTheContract(t *testing.T) {
	k := newContract(t)
	n := start(t, nodeOptions{})
	var info struct{ Limits map[string]any }
	must(t, json.Unmarshal(n.call("GET", "/v1/info", "").want(t, 200).body, &info))
	example := k.doc.Components.Schemas["Limits"].Value.Example.(map[string]any)
	for name, want := range example {
		if got := info.Limits[name]; got != want {
			t.Errorf("limit %s is %v, openapi.yaml says %v", name, got, want)
		}
	}
	for parameter, limit := range map[string]string{"LimitParam": "page_items", "MaxBytesParam": "read_bytes", "WaitMsParam": "wait_ms"} {
		if got := *k.doc.Components.Parameters[parameter].Value.Schema.Value.Max; got != example[limit] {
			t.Errorf("%s goes up to %v, the limit is %v", parameter, got, example[limit])
		}
	}
}

// TestSocketContractIsWhole resolves every reference of asyncapi.yaml, also
// into openapi.yaml.
func TestSocketContractIsWhole(t *testing.T) {
	documents := map[string]any{}
	for name, text := range map[string][]byte{"": bucketmq.AsyncAPI, "openapi.yaml": bucketmq.OpenAPI} {
		var document any
		must(t, yaml.Unmarshal(text, &document))
		documents[name] = document
	}
	references := 0
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			if ref, ok := value["$ref"].(string); ok {
				references++
				if !resolves(documents, ref) {
					t.Errorf("%s names nothing", ref)
				}
			}
			for name, inner := range value {
				if inner == nil {
					t.Errorf("%q has no value", name)
				}
				walk(inner)
			}
		case []any:
			for _, inner := range value {
				walk(inner)
			}
		}
	}
	walk(documents[""])
	if references < 100 {
		t.Errorf("only %d references were found", references)
	}
}

func resolves(documents map[string]any, ref string) bool {
	file, pointer, ok := strings.Cut(ref, "#/")
	value := documents[file]
	for part := range strings.SplitSeq(pointer, "/") {
		object, isObject := value.(map[string]any)
		if !isObject {
			return false
		}
		value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return ok && value != nil
}
