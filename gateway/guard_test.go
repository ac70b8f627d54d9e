package gateway

import (
	"strings"
	"testing"
)

func TestAccepts(t *testing.T) {
	for _, row := range []struct {
		accept string
		want   bool
	}{
		{"", true}, // as if it were not there
		{"*/*", true},
		{"application/json", true},
		{"application/*", true},
		{"APPLICATION/JSON;q=0.5", true},
		{"text/html, application/json;q=0.1", true},
		{"text/html", false},
		{"application/json;q=0, */*", false},
		{"*/*;q=0, application/json", true},
		{"application/*;q=0, */*", false},
		{strings.Repeat(",", 100_000), false},
	} {
		if got := accepts([]string{row.accept}, jsonType); got != row.want {
			t.Errorf("Accept %.40q: got %v, want %v", row.accept, got, row.want)
		}
	}
	if !accepts(nil, jsonType) {
		t.Error("no Accept header must allow everything")
	}
}

func TestStrictJSONRefuses(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
	}
	type outer struct {
		Topic string           `json:"topic"`
		N     *int64           `json:"n"`
		List  []inner          `json:"list"`
		Map   map[string]inner `json:"map"`
	}
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for name, row := range map[string]struct{ text, code, pointer string }{
		"nothing":              {``, "invalid_json", ""},
		"half an object":       {`{"topic":"a"`, "invalid_json", ""},
		"trailing data":        {`{} {}`, "invalid_json", ""},
		"byte order mark":      {"\ufeff{}", "invalid_json", ""},
		"unknown field":        {`{"topik":"a"}`, "unknown_field", "/topik"},
		"case variant":         {`{"topic":"a","TOPIC":"b"}`, "unknown_field", "/TOPIC"},
		"duplicate":            {`{"topic":"a","topic":"b"}`, "duplicate_field", "/topic"},
		"duplicate in a map":   {`{"map":{"x":{},"x":{}}}`, "duplicate_field", "/map/x"},
		"unknown field inside": {`{"list":[{},{"nam":"x"}]}`, "unknown_field", "/list/1/nam"},
		"wrong type":           {`{"topic":5}`, "invalid_field", "/topic"},
		"fraction":             {`{"n":1.5}`, "invalid_field", "/n"},
		"number too large":     {`{"n":` + strings.Repeat("9", 1000) + `}`, "invalid_field", "/n"},
		"invalid UTF-8":        {"{\"topic\":\"\xff\"}", "invalid_json", "/topic"},
		"lone surrogate":       {`{"topic":"\ud800"}`, "invalid_json", "/topic"},
		"depth 33":             {`{"topic":` + nested(32) + `}`, "invalid_json", "/topic" + strings.Repeat("/0", 31)},
		"depth 10 000":         {nested(10_000), "invalid_json", strings.Repeat("/0", 32)},
		"not an object":        {`[]`, "invalid_field", ""},
		"null":                 {` null `, "invalid_field", ""},
		"single quotes":        {`{'topic':'a'}`, "invalid_json", ""},
		"slash in the name":    {`{"a/b~c":1}`, "unknown_field", "/a~1b~0c"},
		"control character":    {"{\"topic\":\"a\nb\"}", "invalid_json", "/topic"},
		"hexadecimal number":   {`{"n":0x10}`, "invalid_json", ""},
	} {
		var v outer
		p, _ := decodeStrict([]byte(row.text), &v).(*problem)
		if p == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if p.code != row.code || len(p.faults) != 1 || p.faults[0].Pointer != row.pointer {
			t.Errorf("%s: got %s at %+v, want %s at %q", name, p.code, p.faults, row.code, row.pointer)
		}
	}
	var v outer
	if err := decodeStrict([]byte(`{"topic":"😀","list":[{"name":"x"}],"map":{"X":{},"x":{}}}`), &v); err != nil {
		t.Errorf("a good document: %v", err)
	}
}

func TestConditionalHeaderLists(t *testing.T) {
	for text, want := range map[string][]string{
		`"a"`:          {`"a"`},
		`"a", W/"b"`:   {`"a"`, `W/"b"`},
		`"a" , ,"b,c"`: {`"a"`, `"b,c"`},
	} {
		var got []string
		for rest := text; rest != ""; {
			tag, after, ok := cutETag(rest)
			if !ok {
				t.Errorf("%s: refused at %q", text, rest)
				break
			}
			got, rest = append(got, tag), after
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{`a`, `"a`, `"a" "b"`, `W/a`, `*, "a"`} {
		if _, rest, ok := cutETag(text); ok && rest == "" {
			t.Errorf("%s: accepted", text)
		}
	}
}
