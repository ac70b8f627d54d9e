package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/bucketmq/bucketmq"
)

// contract checks every exchange against openapi.yaml and remembers which
// outcomes it has seen.
type contract struct {
	doc    *openapi3.T
	router routers.Router

	mu   sync.Mutex
	seen map[string]bool // guarded by mu; "operation status code"
}

func newContract(t testing.TB) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(bucketmq.OpenAPI)
	must(t, err)
	must(t, doc.Validate(context.Background(), openapi3.EnableExamplesValidation()))
	router, err := legacy.NewRouter(doc)
	must(t, err)
	return &contract{doc: doc, router: router, seen: map[string]bool{}}
}

// plain reads a body as a string.
func plain(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
	text, err := io.ReadAll(body)
	return string(text), err
}

func init() {
	openapi3filter.RegisterBodyDecoder("application/yaml", plain)
	openapi3filter.RegisterBodyDecoder("text/event-stream", plain)
}

// step is one request and what must come of it.
type step struct {
	name      string
	operation string
	method    string
	path      string
	body      string
	headers   []string
	status    int
	code      string // of the problem; "" = a good answer
	breaks    bool   // the request is meant to break the contract
}

// run sends the request of a step and checks both sides of the exchange.
func (k *contract) run(t testing.TB, n *node, s step) answer {
	t.Helper()
	label := s.name
	if label == "" {
		label = fmt.Sprintf("%s → %d %s", s.operation, s.status, s.code)
	}
	req, err := n.request(s.method, s.path, s.body, s.headers...)
	must(t, err)
	input, found := k.input(t, req, s, label)
	a := n.call(s.method, s.path, s.body, s.headers...)
	if a.status != s.status {
		t.Errorf("%s: status %d, want %d; body %.300s", label, a.status, s.status, a.body)
		return a
	}
	if s.code != "" {
		if p := a.problem(t); p.Code != s.code || p.Status != s.status || p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
			t.Errorf("%s: problem %.300s", label, a.body)
		}
	}
	if found {
		k.check(t, input, s.operation, a, s.code, label)
	}
	return a
}

// input validates the request and returns what its answer is validated with.
func (k *contract) input(t testing.TB, req *http.Request, s step, label string) (*openapi3filter.RequestValidationInput, bool) {
	t.Helper()
	lookup := req.Clone(context.Background())
	lookup.URL = &url.URL{Path: req.URL.Path, RawQuery: req.URL.RawQuery}
	lookup.RequestURI = ""
	route, params, err := k.router.FindRoute(lookup)
	if err != nil {
		t.Errorf("%s: no operation for %s %s: %v", label, s.method, s.path, err)
		return nil, false
	}
	if route.Operation.OperationID != s.operation {
		t.Errorf("%s: %s %s is operation %s, want %s", label, s.method, s.path, route.Operation.OperationID, s.operation)
		return nil, false
	}
	input := &openapi3filter.RequestValidationInput{
		Request: lookup, PathParams: params, Route: route,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	encoded := slices.Contains(s.headers, "Content-Encoding")
	if !s.breaks && !encoded {
		if s.body != "" {
			lookup.Body = io.NopCloser(strings.NewReader(s.body))
		}
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			t.Errorf("%s: the request breaks the contract: %v", label, err)
		}
	}
	return input, true
}

// check validates an answer and marks it as seen.
func (k *contract) check(t testing.TB, input *openapi3filter.RequestValidationInput, operation string, a answer, code, label string) {
	t.Helper()
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		if len(a.body) > 0 {
			t.Errorf("%s: %d with a body", label, a.status)
		}
	}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s: the answer breaks the contract: %v", label, err)
	}
	documented := k.documented(operation)
	key := outcome(operation, a.status, code)
	if !documented[key] {
		t.Errorf("%s: openapi.yaml does not document %s", label, key)
	}
	k.mu.Lock()
	k.seen[key] = true
	k.mu.Unlock()
}

func outcome(operation string, status int, code string) string {
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", operation, status, code))
}

// documented lists every outcome that openapi.yaml promises of an operation
// ("" = of all), but "default".
func (k *contract) documented(operation string) map[string]bool {
	all := map[string]bool{}
	for _, item := range k.doc.Paths.Map() {
		for _, op := range item.Operations() {
			if operation != "" && op.OperationID != operation {
				continue
			}
			for text, response := range op.Responses.Map() {
				status, err := strconv.Atoi(text)
				if err != nil {
					continue
				}
				media := response.Value.Content["application/problem+json"]
				if media == nil {
					all[outcome(op.OperationID, status, "")] = true
					continue
				}
				for code := range media.Examples {
					all[outcome(op.OperationID, status, code)] = true
				}
			}
		}
	}
	return all
}

// operations calls f for every operation, with a path that exists for the topic
// and a body that is right.
func (k *contract) operations(topic string, f func(s step, op *openapi3.Operation)) {
	for _, path := range k.doc.Paths.InMatchingOrder() {
		for method, op := range k.doc.Paths.Value(path).Operations() {
			if op.OperationID == "openWebSocket" {
				continue // its requests need headers of their own: see upgrades
			}
			s := step{operation: op.OperationID, method: method}
			s.path = strings.NewReplacer("{topic}", topic, "{queue}", "0", "{offset}", "0", "{group}", "billing", "{member}", "nobody", "{handle}", "nothing", "{transaction}", noTransaction).Replace(path)
			s.body = strings.ReplaceAll(groupBodies[op.OperationID], "orders", topic)
			switch op.OperationID {
			case "findOffsets":
				s.path += "?position=earliest"
			case "searchMessages":
				s.path += "?from=2026-01-01T00:00:00Z"
			case "sendMessages":
				s.body = `{"messages":[{"body":"x"}]}`
			case "requestReply":
				s.body = `{"message":{"body":"x"},"timeout_ms":100}`
			case "sendReply":
				s.body = `{"reply_to":"x","body":"y"}`
			case "beginTransaction":
				s.body = `{"producer_group":"billing","topics":[{"topic":"` + topic + `","messages":[{"body":"x"}]}]}`
			case "putTopic", "updateTopic", "createTicket", "pollChecks":
				s.body = `{}`
			case "sendRawMessage":
				s.body, s.headers = "x", []string{"Content-Type", "application/octet-stream"}
			case "sendFramedMessages":
				s.body, s.headers = frames("x"), []string{"Content-Type", "application/octet-stream"}
			}
			f(s, op)
		}
	}
}

// promises reports whether an operation documents an outcome.
func promises(op *openapi3.Operation, status int, code string) bool {
	response := op.Responses.Status(status)
	if response == nil {
		return false
	}
	media := response.Value.Content["application/problem+json"]
	return media != nil && media.Examples[code] != nil
}

// with adds a query parameter to a path.
func with(path, parameter string) string {
	if strings.Contains(path, "?") {
		return path + "&" + parameter
	}
	return path + "?" + parameter
}
