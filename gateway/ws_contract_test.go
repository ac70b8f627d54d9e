package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"github.com/bucketmq/bucketmq"
)

// wsContract has the schemas of asyncapi.yaml, for every operation that a
// server sends, as schemas that openapi3 can check. What a schema does not list
// is refused here, though clients must ignore it.
type wsContract struct {
	byOp   map[string]*openapi3.Schema // "messages" → schema
	binary map[string]*openapi3.Schema // those that differ in binary frames
}

var theWSContract = sync.OnceValues(loadWSContract)

func loadWSContract() (*wsContract, error) {
	var async, open map[string]any
	if err := yaml.Unmarshal(bucketmq.AsyncAPI, &async); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(bucketmq.OpenAPI, &open); err != nil {
		return nil, err
	}
	schemas := map[string]any{}
	for name, schema := range dig(open, "components", "schemas") {
		schemas[name] = schema
	}
	for name, schema := range dig(async, "components", "schemas") {
		schemas["Ws"+name] = rewrite(schema)
	}
	doc := map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"title": "socket", "version": "1"}, "paths": map[string]any{},
		"components": map[string]any{"schemas": closed(schemas)},
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	loaded, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	k := &wsContract{byOp: map[string]*openapi3.Schema{}, binary: map[string]*openapi3.Schema{}}
	messages := dig(async, "components", "messages")
	for _, operation := range dig(async, "operations") {
		o := operation.(map[string]any)
		if o["action"] != "send" {
			continue
		}
		for i, ref := range o["messages"].([]any) {
			name := lastOf(ref.(map[string]any)["$ref"].(string))
			message := messages[name].(map[string]any)
			payload := lastOf(message["payload"].(map[string]any)["$ref"].(string))
			into := k.byOp
			if i > 0 {
				into = k.binary
			}
			into[message["name"].(string)] = loaded.Components.Schemas["Ws"+payload].Value
		}
	}
	return k, nil
}

func lastOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

func dig(from map[string]any, path ...string) map[string]any {
	for _, name := range path {
		from = from[name].(map[string]any)
	}
	return from
}

// rewrite makes references local and const an enum, which OpenAPI 3.0 knows.
func rewrite(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			switch ref, _ := value.(string); {
			case name == "$ref" && strings.HasPrefix(ref, "openapi.yaml#"):
				out[name] = strings.TrimPrefix(ref, "openapi.yaml")
			case name == "$ref":
				out[name] = strings.Replace(ref, "/schemas/", "/schemas/Ws", 1)
			case name == "const":
				out["enum"] = []any{value}
			default:
				out[name] = rewrite(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = rewrite(v[i])
		}
		return out
	}
	return v
}

// closed refuses members that no schema lists.
func closed(schemas map[string]any) map[string]any {
	for _, schema := range schemas {
		s := schema.(map[string]any)
		if _, said := s["additionalProperties"]; !said && s["type"] == "object" && s["properties"] != nil {
			s["additionalProperties"] = false
		}
	}
	return schemas
}

// check fails unless an operation of the server is as asyncapi.yaml says.
func (k *wsContract) check(t testing.TB, text []byte, binary bool) {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Errorf("operation %.300s: %v", text, err)
		return
	}
	op := fmt.Sprint(v["op"])
	schema := k.byOp[op]
	if binary && k.binary[op] != nil {
		schema = k.binary[op]
	}
	if schema == nil {
		t.Errorf("asyncapi.yaml has no operation %q of the server: %.300s", op, text)
		return
	}
	if err := schema.VisitJSON(v); err != nil {
		t.Errorf("%s breaks asyncapi.yaml: %v\n%.500s", op, err, text)
	}
}

func TestExamplesOfAsyncAPIAreRight(t *testing.T) {
	k, err := theWSContract()
	must(t, err)
	var async map[string]any
	must(t, yaml.Unmarshal(bucketmq.AsyncAPI, &async))
	count := 0
	for name, message := range dig(async, "components", "messages") {
		m := message.(map[string]any)
		for _, example := range m["examples"].([]any) {
			if k.byOp[m["name"].(string)] == nil {
				continue // of a client
			}
			text, err := json.Marshal(example.(map[string]any)["payload"])
			must(t, err)
			k.check(t, text, name == "MessageRuns")
			count++
		}
	}
	if count < 9 {
		t.Errorf("%d examples of operations of the server", count)
	}
}
